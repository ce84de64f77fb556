/* SPDX-License-Identifier: BSD-3-Clause */
/* reader_pool_private - what reader_pool, reader_tasks and reader_time share. */
#ifndef MPIQ_SESSION_READER_POOL_PRIVATE_H
#define MPIQ_SESSION_READER_POOL_PRIVATE_H

#include "session/reader_pool.h"
#include "session/reader_process.h"
#include "session/starved.h"
#include "rank/rank.h"

enum { MPIQ_POOL_MAX_THREADS = 32, MPIQ_POOL_ANSWERS = 2 };

#define MPIQ_SECOND_NS ((int64_t)1000 * 1000 * 1000)
#define MPIQ_POOL_LOOK_NS (300 * MPIQ_SECOND_NS)

/* One rank that a reader is at. */
struct mpiq_reader_task {
    uint64_t number;
    size_t index; /* of the source */
    int64_t start;
    int64_t extra;            /* nanoseconds that it has on top, as somebody waits for a processor */
    int64_t probed;           /* CLOCK_MONOTONIC: when the shares were taken; 0: never */
    struct mpiq_share reader; /* the reader's, with its helpers */
    struct mpiq_share rank;
};

/* The process that reads the ranks of one owner, and those that it is at. */
struct mpiq_pooled_reader {
    struct mpiq_owner owner;
    struct mpiq_reader_process process;
    struct mpiq_reader_task tasks[MPIQ_POOL_MAX_THREADS];
    size_t task_count;
    bool alone; /* the one task is a suspect: nothing else is asked beside it */
};

#define MPIQ_NO_READER SIZE_MAX

enum mpiq_source_progress { MPIQ_SOURCE_WAITING, MPIQ_SOURCE_SUSPECT, MPIQ_SOURCE_ASKED, MPIQ_SOURCE_DONE };

struct mpiq_reader_pool {
    const struct mpiq_options *options;
    struct mpiq_dll_host *host; /* of a process that a debugger serves: the debugger reads it */
    struct mpiq_pooled_reader *readers;
    size_t reader_count;
    size_t reader_capacity;
    uint64_t request;
    /* By source, from look to look. */
    size_t source_count;
    bool *failed;       /* it cost a reader its life: not asked again */
    uint8_t *late;      /* how often reading it has timed out in this look */
    uint8_t *torn;      /* how often it moved in this look while it was read */
    size_t *reader_of;  /* MPIQ_NO_READER: not known yet */
    int64_t *waited_ns; /* nanoseconds for which all others have waited for it */
    struct {
        size_t index;
        int64_t ns;
    } slowest[MPIQ_POOL_ANSWERS]; /* ranks that have answered, the slowest first */
    size_t answers;               /* of them */

    /* Of the look that is going on. */
    struct mpiq_look_sources *sources;
    int look;
    uint8_t *progress; /* enum mpiq_source_progress, by source */
    size_t threads;
    size_t unasked; /* sources that need no reader */
    size_t done;
    int64_t begin;
    int64_t last_answer;
};

struct mpiq_look_source *mpiq_pool_source(const struct mpiq_reader_pool *pool, size_t index);

/* The source has its state, and is asked no more in this look. */
void mpiq_pool_finish(struct mpiq_reader_pool *pool, size_t index);

/* The same without a state that was read; takes reason. */
struct mpiq_error *mpiq_pool_finish_with(struct mpiq_reader_pool *pool, size_t index,
                                         struct mpiq_error *reason);

/* reader_tasks.c: the reader of that owner's ranks; makes room for one that is not there yet. */
struct mpiq_error *mpiq_pool_find_reader(struct mpiq_reader_pool *pool, const struct mpiq_owner *owner,
                                         size_t *ret);

/* Asks for as many sources as that reader takes; a suspect alone, when nothing else is left. */
struct mpiq_error *mpiq_pool_ask_more(struct mpiq_reader_pool *pool, size_t reader);

/* Takes the answers that have come. */
struct mpiq_error *mpiq_pool_hear(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader);

/* Ends a reader that is late over one of its ranks: the one that it has been at for the longest. */
struct mpiq_error *mpiq_pool_keep_time(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader);

/* reader_time.c: whether a task that is late waits for a processor, or its rank does: then it gets more time,
   up to a limit. */
bool mpiq_pool_grants(const struct mpiq_reader_pool *pool, const struct mpiq_pooled_reader *reader,
                      struct mpiq_reader_task *task, int64_t now);

/* When that task is late. */
int64_t mpiq_pool_deadline(const struct mpiq_reader_pool *pool, const struct mpiq_reader_task *task);

/* Who has answered, and how long it took; of one that answers again the longest. */
void mpiq_pool_note_answer(struct mpiq_reader_pool *pool, const struct mpiq_reader_task *task, int64_t now);

#endif
