/* SPDX-License-Identifier: BSD-3-Clause */
/* step_row - a rank in the step mode, or one of its threads: the call that it is held before, or is in. */
#ifndef MPIQ_REPORT_STEP_ROW_H
#define MPIQ_REPORT_STEP_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum { MPIQ_STEP_PEERS = 16, MPIQ_STEP_DATA = 64, MPIQ_STEP_NAME = 64 };

enum mpiq_step_state {
    MPIQ_STEP_STARTING, /* MPI is being initialised */
    MPIQ_STEP_OUTSIDE,  /* between two calls */
    MPIQ_STEP_HELD,     /* before the call */
    MPIQ_STEP_INSIDE,   /* in it */
    MPIQ_STEP_FINALIZED,
    MPIQ_STEP_ENDED
};

/* In place of a rank or a tag. */
enum { MPIQ_STEP_NONE = -1, MPIQ_STEP_ANY = -2, MPIQ_STEP_NULL = -3, MPIQ_STEP_ROOT = -4 };

struct mpiq_step_peer {
    int32_t rank; /* in the world of the one that names it, or one of the above */
    int32_t tag;
    bool receives;             /* from it; else to it */
    bool window;               /* neither: it is the target of a one-sided call */
    bool collective;           /* the request is of a collective: no rank and no tag */
    char call[MPIQ_STEP_NAME]; /* that made the request; "": the call's own message */
};

/* One thread of a rank.  Its strings are as the process had them. */
struct mpiq_step_row {
    uint32_t world;
    int32_t rank;
    int32_t thread; /* of several that call MPI, its tid; 0 */
    enum mpiq_step_state state;
    char call[MPIQ_STEP_NAME]; /* "MPI_Send"; "": none so far */
    char comm[MPIQ_STEP_NAME];
    char type[MPIQ_STEP_NAME];
    char op[MPIQ_STEP_NAME];
    char place[2 * MPIQ_STEP_NAME]; /* "ring.c:20 main"; "": not known yet */
    int32_t comm_size;              /* 0: it has no communicator */
    int32_t root;                   /* MPIQ_STEP_NONE: none */
    uint64_t repeats;               /* equal calls right before it */
    uint32_t broke;                 /* number of the breakpoint that holds it; 0 */
    uint64_t requests;              /* that the call is given */
    struct mpiq_step_peer peers[MPIQ_STEP_PEERS];
    uint32_t peer_count;
    uint32_t *missing; /* of a collective that it is in: ranks that have not come; borrowed */
    uint32_t missing_count;
    int64_t count; /* -1: none */
    int64_t bytes; /* of the data that it sends; -1: none, or not known */
    bool in_place;
    char kind;        /* of its elements, as in mpiq_record_base.code; 0: of no predefined type */
    uint32_t element; /* bytes of one */
    uint32_t data_size;
    unsigned char data[MPIQ_STEP_DATA]; /* its first bytes */
};

#endif
