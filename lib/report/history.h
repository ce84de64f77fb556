/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history - the last MPI calls of a rank, as the views show them: all calls from the recorder, or the
 * collectives from a patched library.
 */
#ifndef MPIQ_REPORT_HISTORY_H
#define MPIQ_REPORT_HISTORY_H

#include "report/page.h"

struct mpiq_history_call {
    const char *call; /* "MPI_Send" */
    int64_t begin_ns; /* since the epoch */
    int64_t end_ns;   /* 0: not known, or still in it */
    int64_t bytes;    /* -1 not known */
    uint32_t comm;    /* MPIQ_NONE */
    uint32_t peer;    /* process; MPIQ_NONE */
    int32_t tag;      /* -1 */
    int32_t tid;
    const char *error; /* "MPI_ERR_TAG": it failed; NULL: it did not, or that is not known */
    uint32_t site;     /* in sites; MPIQ_NONE */
    uint32_t past;     /* in past_calls; MPIQ_NONE */
    uint32_t partner;  /* in past_calls, the other end of its message; MPIQ_PAST_UNRECEIVED, MPIQ_NONE */
    bool open;         /* the rank is still in it */
    bool any_source;
    bool any_tag;
    bool proc_null;
    bool root; /* the peer is a collective's root */
};

/* What a call does, for its colour in the picture. */
#define MPIQ_HISTORY_KINDS(X)   \
    X(COLLECTIVE, "collective") \
    X(SEND, "send")             \
    X(RECEIVE, "receive")       \
    X(WAIT, "wait or test")     \
    X(WINDOW, "one-sided")      \
    X(OTHER, "other")

enum mpiq_history_kind {
#define MPIQ_ENUM(id, words) MPIQ_HISTORY_##id,
    MPIQ_HISTORY_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
        MPIQ_HISTORY_KIND_COUNT
};

struct mpiq_history {
    struct mpiq_history_call *calls; /* oldest first */
    size_t count;
    uint64_t dropped;   /* older ones that were left out for lack of room */
    int64_t taken_ns;   /* when the rank was read, since the epoch */
    bool only_rings;    /* collectives alone: a patched library's */
    bool several_tasks; /* of more than one thread */
};

/* Of one process; an empty one where nothing is known.  False without memory.  The caller deinits it. */
bool mpiq_history_collect(const struct mpiq_page *page, uint32_t process, struct mpiq_history *ret);
void mpiq_history_deinit(struct mpiq_history *history);

enum mpiq_history_kind mpiq_history_kind_of(const char *call);

/* Whether the view shows the calls of this process. */
bool mpiq_history_wanted(const struct mpiq_page *page, uint32_t process);

/* Whether two calls differ in nothing but their times. */
bool mpiq_history_alike(const struct mpiq_history_call *a, const struct mpiq_history_call *b);

/* Seconds that a call took, or has taken so far; negative: not known. */
double mpiq_history_seconds(const struct mpiq_history *history, const struct mpiq_history_call *call);

/* "12 us", "3.4 ms", "2.5 s", "3 h 12 m"; nothing for less than 0. */
void mpiq_put_span(struct mpiq_buffer *buffer, double seconds);
/* "3", "any", "root 0", "MPI_PROC_NULL"; nothing where there is none. */
void mpiq_put_past_peer(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                        const struct mpiq_history_call *call);

/* "-> rank 1 MPI_Recv x.c:7 main", "-> nobody has received it", "<- rank 0 MPI_Send x.c:5 main": the other
   end of its message; nothing where it is not known. */
void mpiq_put_partner(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                      const struct mpiq_history_call *call);

/* "MPI_Recv, 2.3 s so far, on "rows", peer 1, tag 7, 4 bytes, x.c:7": all that is known of a call. */
void mpiq_put_history_call(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                           const struct mpiq_history *history, const struct mpiq_history_call *call);

/* The picture of the last calls of all ranks that the page wants, as SVG; nothing where no rank has any. */
void mpiq_put_history_svg(struct mpiq_page *page);

#endif
