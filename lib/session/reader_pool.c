/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/reader_pool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "session/plausibility.h"
#include "session/reader_pool_private.h"
#include "session/unread.h"

enum { PROGRESS_MS = 100 };

/* The whole look is over time: what was not asked yet is not asked any more. */
static struct mpiq_error *give_up(struct mpiq_reader_pool *pool)
{
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < pool->sources->count && !error; i++) {
        if (pool->progress[i] == MPIQ_SOURCE_WAITING || pool->progress[i] == MPIQ_SOURCE_SUSPECT)
            error = mpiq_pool_finish_with(
                pool, i, mpiq_error_create(MPIQ_ERROR_TIMEOUT, "the look timed out before it was read"));
    }
    return error;
}

/* Milliseconds until somebody is late, or there is progress to report. */
static int patience_ms(const struct mpiq_reader_pool *pool)
{
    enum { NS_A_MS = 1000 * 1000 };
    int64_t now = mpiq_monotonic_ns();
    int64_t end = now + (int64_t)PROGRESS_MS * NS_A_MS;
    for (size_t i = 0; i < pool->reader_count; i++) {
        for (size_t k = 0; k < pool->readers[i].task_count; k++) {
            int64_t late = mpiq_pool_deadline(pool, &pool->readers[i].tasks[k]);
            end = late < end ? late : end;
        }
    }
    return end > now ? (int)((end - now + NS_A_MS - 1) / NS_A_MS) : 0;
}

static struct mpiq_error *wait_for_any(struct mpiq_reader_pool *pool)
{
    _cleanup_free_ struct pollfd *ends = calloc(pool->reader_count + 1, sizeof *ends);
    if (!ends)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < pool->reader_count; i++) {
        bool busy = pool->readers[i].task_count > 0;
        ends[i] = (struct pollfd){.fd = busy ? pool->readers[i].process.socket : -1, .events = POLLIN};
    }
    if (poll(ends, pool->reader_count, patience_ms(pool)) < 0 && errno != EINTR)
        return mpiq_error_create_os(errno, "cannot wait for the processes that read ranks");
    return NULL;
}

/* What a debugger serves over a wire is read here: the debugger opens and parses, not we. */
static struct mpiq_error *read_wire(struct mpiq_reader_pool *pool, struct mpiq_look_source *source)
{
    const struct mpiq_stack_options stacks = {.all_threads = pool->options->all_threads,
                                              .before = pool->look == 2 ? source->looks[0] : NULL};
    mpiq_target_forget(source->target);
    return mpiq_rank_read(pool->host, source->target, pool->options->stacks ? &stacks : NULL,
                          &source->looks[pool->look - 1]);
}

static bool changes(const struct mpiq_look_source *source)
{
    const struct mpiq_rank_state *first = source->looks[0];
    return !first || !(first->final || first->gone);
}

/* What needs no reader is done at once; the rest finds its reader. */
static struct mpiq_error *prepare(struct mpiq_reader_pool *pool, size_t index)
{
    struct mpiq_look_source *source = mpiq_pool_source(pool, index);
    int world_size = pool->sources->world_size;
    struct mpiq_rank_state **ret = &source->looks[pool->look - 1];
    pool->progress[index] = MPIQ_SOURCE_WAITING;
    if (pool->look == 2 && (!changes(source) || pool->failed[index] || source->other)) {
        mpiq_pool_finish(pool, index);
        return NULL;
    }
    if (source->other)
        return mpiq_pool_finish_with(
            pool, index,
            mpiq_error_create(MPIQ_ERROR_CORRUPT,
                              "processes %d and %d both say that they are rank %d: neither is read",
                              (int)source->pid, (int)source->other, source->rank));
    if (source->gone) {
        mpiq_pool_finish(pool, index);
        return mpiq_unread_gone(source, world_size, ret);
    }
    if (source->wire) {
        pool->progress[index] = MPIQ_SOURCE_ASKED; /* by us, when the readers are at work */
        return NULL;
    }
    if (pool->reader_of[index] != MPIQ_NO_READER)
        return NULL;
    const struct mpiq_owner owner = mpiq_owner_of(source);
    return mpiq_pool_find_reader(pool, &owner, &pool->reader_of[index]);
}

static struct mpiq_error *read_wires(struct mpiq_reader_pool *pool)
{
    struct mpiq_error *error = NULL;
    mpiq_dll_host_begin_look(pool->host);
    for (size_t i = 0; i < pool->sources->count && !error; i++) {
        struct mpiq_look_source *source = mpiq_pool_source(pool, i);
        if (!source->wire || pool->progress[i] != MPIQ_SOURCE_ASKED)
            continue;
        error = read_wire(pool, source);
        mpiq_pool_finish(pool, i);
    }
    /* The readers' time went on meanwhile, but nobody listened to them. */
    int64_t now = mpiq_monotonic_ns();
    for (size_t i = 0; i < pool->reader_count; i++) {
        for (size_t k = 0; k < pool->readers[i].task_count; k++)
            pool->readers[i].tasks[k].start = now;
    }
    return error;
}

static void report_progress(const struct mpiq_reader_pool *pool)
{
    char text[80];
    snprintf(text, sizeof text, "look %d of 2: %zu of %zu ranks read", pool->look, pool->done,
             pool->sources->count);
    if (pool->options->progress)
        pool->options->progress(pool->options->argument, text);
}

static struct mpiq_error *read_all(struct mpiq_reader_pool *pool)
{
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < pool->sources->count && !error; i++)
        error = prepare(pool, i);
    for (size_t i = 0; i < pool->sources->count; i++)
        pool->unasked += pool->progress[i] != MPIQ_SOURCE_WAITING;
    for (size_t i = 0; i < pool->reader_count && !error; i++)
        error = mpiq_pool_ask_more(pool, i);
    if (!error)
        error = read_wires(pool);
    int64_t told = pool->begin;
    while (!error && pool->done < pool->sources->count) {
        error = wait_for_any(pool);
        for (size_t i = 0; i < pool->reader_count && !error; i++) {
            error = mpiq_pool_hear(pool, &pool->readers[i]);
            if (!error)
                error = mpiq_pool_keep_time(pool, &pool->readers[i]);
            if (!error)
                error = mpiq_pool_ask_more(pool, i);
        }
        int64_t now = mpiq_monotonic_ns();
        if (!error && now > pool->begin + MPIQ_POOL_LOOK_NS)
            error = give_up(pool);
        if (now - told > PROGRESS_MS * (MPIQ_SECOND_NS / 1000)) {
            told = now;
            report_progress(pool);
        }
    }
    report_progress(pool); /* what follows may take long, too */
    return error;
}

/* Among ranks that spin, more of them than processors, a thread mostly waits: for its turn, for its helper's,
   for that of a thread which is to stop.  So there are several a processor, if there are ranks enough to make
   up for the start of their helpers; and two at least, so that one rank alone holds up none. */
static size_t choose_thread_count(const struct mpiq_options *options, size_t ranks)
{
    enum { A_PROCESSOR = 4, RANKS_A_THREAD = 8, LEAST = 2 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t processors = online > LEAST ? (size_t)online : LEAST;
    size_t count = ranks / RANKS_A_THREAD;
    if (options->threads)
        count = options->threads;
    else if (count < processors)
        count = processors;
    else if (count > A_PROCESSOR * processors)
        count = A_PROCESSOR * processors;
    count = count < ranks ? count : ranks;
    return count < MPIQ_POOL_MAX_THREADS ? count : MPIQ_POOL_MAX_THREADS;
}

struct mpiq_error *mpiq_reader_pool_create(const struct mpiq_options *options, struct mpiq_reader_pool **ret)
{
    struct mpiq_reader_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return mpiq_error_no_memory();
    const struct mpiq_dll_host_options host_options = {.dll = options->dll};
    pool->options = options;
    struct mpiq_error *error = mpiq_dll_host_create(&host_options, &pool->host);
    if (error)
        free(pool);
    else
        *ret = pool;
    return error;
}

void mpiq_reader_pool_destroy(struct mpiq_reader_pool *pool)
{
    if (!pool)
        return;
    for (size_t i = 0; i < pool->reader_count; i++)
        mpiq_reader_process_end(&pool->readers[i].process);
    mpiq_dll_host_destroy(pool->host);
    free(pool->readers);
    free(pool->failed);
    free(pool->late);
    free(pool->torn);
    free(pool->reader_of);
    free(pool->waited_ns);
    free(pool);
}

static struct mpiq_error *make_room(struct mpiq_reader_pool *pool, size_t count)
{
    if (pool->source_count >= count && pool->failed)
        return NULL;
    bool *failed = calloc(count + 1, sizeof *failed);
    uint8_t *late = calloc(count + 1, sizeof *late);
    uint8_t *torn = calloc(count + 1, sizeof *torn);
    size_t *reader_of = calloc(count + 1, sizeof *reader_of);
    int64_t *waited_ns = calloc(count + 1, sizeof *waited_ns);
    if (!failed || !late || !torn || !reader_of || !waited_ns) {
        free(failed);
        free(late);
        free(torn);
        free(reader_of);
        free(waited_ns);
        return mpiq_error_no_memory();
    }
    for (size_t i = 0; i < count; i++)
        reader_of[i] = MPIQ_NO_READER;
    free(pool->failed);
    free(pool->late);
    free(pool->torn);
    free(pool->reader_of);
    free(pool->waited_ns);
    pool->failed = failed;
    pool->late = late;
    pool->torn = torn;
    pool->reader_of = reader_of;
    pool->waited_ns = waited_ns;
    pool->source_count = count;
    return NULL;
}

/* Ctrl-Z while ranks are stopped would leave those stopped over which a reader hangs, as nobody keeps the
   time: it waits until the look is over. */
static void hold_terminal_stops(sigset_t *ret)
{
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigaddset(&stops, SIGTTIN);
    sigaddset(&stops, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stops, ret);
}

struct mpiq_error *mpiq_reader_pool_look(struct mpiq_reader_pool *pool, struct mpiq_look_sources *sources,
                                         int look)
{
    size_t count = sources->count;
    _cleanup_free_ uint8_t *progress = calloc(count + 1, sizeof *progress);
    if (!progress)
        return mpiq_error_no_memory();
    struct mpiq_error *error = make_room(pool, count);
    if (error)
        return error;
    pool->sources = sources;
    pool->look = look;
    pool->progress = progress;
    pool->threads = choose_thread_count(pool->options, count);
    pool->unasked = 0;
    pool->done = 0;
    pool->last_answer = 0;
    memset(pool->late, 0, count * sizeof *pool->late);
    memset(pool->torn, 0, count * sizeof *pool->torn);
    if (look == 1) {
        memset(pool->waited_ns, 0, count * sizeof *pool->waited_ns);
        memset(pool->failed, 0, count * sizeof *pool->failed);
        pool->answers = 0;
    }
    pool->begin = mpiq_monotonic_ns();
    sigset_t before;
    if (pool->options->stop)
        hold_terminal_stops(&before);
    error = read_all(pool);
    if (pool->options->stop)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        error = mpiq_check_jobs(sources, look);
    mpiq_debug("look", "look %d of %zu ranks took %.1f ms", look, count,
               (double)(mpiq_monotonic_ns() - pool->begin) / 1e6);
    pool->sources = NULL;
    pool->progress = NULL;
    return error;
}
