/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq_record_step.h - what mpiq_record.h has for mpiq run --step.
 *
 * Threads are held before their calls until mpiq run lets them go on.  The process waits only
 * as long as mpiq run lives.  What is marked (run), mpiq run writes, through the memory file.
 */
#ifndef MPIQ_RECORD_STEP_H
#define MPIQ_RECORD_STEP_H

#include <stdint.h>

#define MPIQ_RECORD_CALL_NAME 40 /* bytes of the name of an MPI function */
#define MPIQ_RECORD_MAX_BREAKS 16
#define MPIQ_RECORD_MAX_SITES 256
#define MPIQ_RECORD_HOLD_PEERS 16
#define MPIQ_RECORD_HOLD_DATA 64 /* bytes of the data that a call sends */

enum mpiq_record_step_mode {
    MPIQ_RECORD_STEP_EACH,   /* held before each call */
    MPIQ_RECORD_STEP_BREAKS, /* before calls that a breakpoint names */
    MPIQ_RECORD_STEP_NEVER   /* no more, for good */
};

/* A breakpoint: all that it names has to hold. */
struct mpiq_record_break {
    char call[MPIQ_RECORD_CALL_NAME]; /* "MPI_Bcast", in any case of letters; "": any */
    char comm[64];                    /* the communicator's name; "": any */
    uint32_t used;                    /* 0: there is none here; written last */
    uint32_t by_line;                 /* 1: only at call sites of which mpiq_record_site.breaks says so */
};

/* A place that calls MPI, while breakpoints name source lines: mpiq run knows lines, the process does not. */
struct mpiq_record_site {
    uint64_t caller;
    uint32_t breaks; /* (run) bit i: breakpoint i names this line */
    uint32_t known;  /* (run) 1: breaks is; a thread waits for it */
};

struct mpiq_record_step {
    uint32_t mode;  /* (run) enum mpiq_record_step_mode */
    uint32_t holds; /* first struct mpiq_record_hold */
    uint32_t site_count;
    uint32_t reserved;
    struct mpiq_record_break breaks[MPIQ_RECORD_MAX_BREAKS]; /* (run) */
    struct mpiq_record_site sites[MPIQ_RECORD_MAX_SITES];
};

enum mpiq_record_hold_state {
    MPIQ_RECORD_HOLD_NONE,
    MPIQ_RECORD_HOLD_BUSY, /* the call is being written down */
    MPIQ_RECORD_HOLD_HELD, /* before the call */
    MPIQ_RECORD_HOLD_ASKS, /* before the call, until its site is known */
    MPIQ_RECORD_HOLD_WENT  /* into the call, or through it */
};

/* A rank that the call sends to or receives from, or that a request does which it waits for. */
struct mpiq_record_hold_peer {
    int32_t
        rank; /* in MPI_COMM_WORLD; MPIQ_RECORD_ANY, MPIQ_RECORD_PROC_NULL, MPIQ_RECORD_NO_PEER: not known */
    int32_t tag;
    uint16_t function; /* of a request: the call that made it */
    uint8_t kind;      /* enum mpiq_record_request_kind */
    uint8_t reserved[5];
};

/* The call that a thread is held before, or was held before last. */
struct mpiq_record_hold {
    uint32_t next;
    uint32_t tid;    /* 0: the thread has ended */
    uint32_t state;  /* enum mpiq_record_hold_state; written last */
    uint32_t number; /* of calls so far: which hold it is */
    uint32_t go;     /* (run) the number of the hold that may end */
    uint32_t skip;   /* (run) the number of the hold from which on calls that are equal to its pass */
    uint32_t broke;  /* the breakpoint that holds it, plus 1; 0 */
    uint32_t
        told; /* (run) the number of the hold of which `breaks` tells, where a call site has many lines */
    uint32_t breaks; /* (run) as in mpiq_record_site */
    uint16_t function;
    uint16_t data_kind; /* of its elements: a letter, as in mpiq_record_base.code; 0: of no predefined type */
    uint64_t repeats;   /* calls right before it that were equal */
    uint64_t caller;
    uint64_t comm_id[2];
    uint64_t ordered;  /* number that the call gets there if it is an ordered collective */
    int32_t comm_size; /* of an intercommunicator, its remote group; 0: no communicator */
    int32_t local_rank;
    int32_t root; /* MPIQ_RECORD_NO_PEER: none; of its communicator */
    uint32_t peer_count;
    uint64_t request_count; /* of MPI_Waitall and similar calls */
    int64_t count;          /* -1: none */
    int64_t data_bytes;     /* bytes that the call sends; -1: it sends nothing, or that is not known */
    uint32_t data_size;     /* bytes in `data` */
    uint32_t element;       /* bytes of one element */
    uint32_t in_place;      /* 1: MPI_IN_PLACE */
    uint32_t comm;          /* its record, which may have been freed since; 0: none */
    char comm_name[64];
    char type[48];
    char op[24];
    struct mpiq_record_hold_peer peers[MPIQ_RECORD_HOLD_PEERS];
    unsigned char data[MPIQ_RECORD_HOLD_DATA];
};

#endif
