/* SPDX-License-Identifier: BSD-3-Clause */
#include "look/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "look/claims.h"
#include "rank/rank.h"

enum { MAX_WORKERS = 32, PROGRESS_MS = 100 };

/* One thread's own.  Thread and helper live from look to look: the helper ends with the thread that started
   it. */
struct worker {
    struct mpiq_reader *reader;
    struct mpiq_dll_host *host;
    pthread_t thread;
    bool started;
    unsigned begun; /* looks that it has taken part in, or let go by */
};

struct mpiq_reader {
    const struct mpiq_options *options;
    struct worker workers[MAX_WORKERS];
    size_t worker_count;

    /* Of the look that is going on; behind the lock. */
    pthread_mutex_t lock;
    pthread_cond_t begin;    /* of a look, or the end of all */
    pthread_cond_t finished; /* a source is done, or a worker */
    struct mpiq_look_sources *sources;
    int look;
    unsigned begun; /* looks so far */
    bool ended;     /* there are no more */
    size_t wanted;  /* workers of this look */
    size_t at_work; /* of them */
    size_t next;
    size_t done;
    struct mpiq_error *error; /* the first one of our own */
};

/* A rank whose process has ended, from what its job's environment said of it. */
static struct mpiq_error *read_gone(const struct mpiq_look_source *source, int world_size,
                                    struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state->taken_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    state->gone = true;
    state->process_state = 'X';
    state->pid = source->pid;
    state->name.rank = source->rank;
    state->world_size = world_size;
    if (source->nspace) {
        state->name.job = mpiq_rank_job_of(source->nspace);
        snprintf(state->nspace, sizeof state->nspace, "%s", source->nspace);
    }
    *ret = state;
    return NULL;
}

static struct mpiq_error *open_target(const struct mpiq_options *options, struct mpiq_look_source *source)
{
    if (source->path)
        return mpiq_target_core_create(source->path, NULL, &source->target);
    return mpiq_target_live_create(source->pid, options->stop, &source->target);
}

static struct mpiq_error *read_open(struct worker *worker, struct mpiq_look_source *source,
                                    const struct mpiq_rank_state *before, struct mpiq_rank_state **ret)
{
    const struct mpiq_options *options = worker->reader->options;
    const struct mpiq_stack_options stacks = {.before = before};
    mpiq_target_forget(source->target);
    struct mpiq_error *error =
        mpiq_rank_read(worker->host, source->target, options->stacks ? &stacks : NULL, ret);
    const struct mpiq_error *loose = mpiq_target_live_not_frozen(source->target);
    if (!error && loose)
        mpiq_rank_state_problem(*ret, "stop",
                                mpiq_error_create(loose->code, "not frozen: %s", loose->message));
    /* What it needs no more it need not hold until the next look. */
    if (source->pid > 0 && !source->wire)
        mpiq_target_forget(source->target);
    /* What is frozen runs on as soon as it has been read. */
    if (options->stop && source->pid > 0 && !source->wire) {
        mpiq_target_destroy(source->target);
        source->target = NULL;
    }
    return error;
}

static bool changes(const struct mpiq_look_source *source)
{
    const struct mpiq_rank_state *first = source->looks[0];
    return !first || !(first->core || first->gone);
}

static struct mpiq_error *read_source(struct worker *worker, struct mpiq_look_source *source, int look)
{
    struct mpiq_error *error = NULL;
    struct mpiq_rank_state **ret = &source->looks[look - 1];
    if (look == 2 && !changes(source))
        return NULL;
    if (source->other)
        error = mpiq_error_create(MPIQ_ERROR_CORRUPT,
                                  "processes %d and %d both say that they are rank %d: neither is read",
                                  (int)source->pid, (int)source->other, source->rank);
    else if (!source->gone && !source->target)
        error = open_target(worker->reader->options, source);
    if (error && error->code == MPIQ_ERROR_GONE) {
        source->gone = true;
        mpiq_error_destroy(error);
        error = NULL;
    }
    int world_size = worker->reader->sources->world_size;
    if (!error && source->gone)
        return read_gone(source, world_size, ret);
    if (!error) {
        error = read_open(worker, source, look == 2 ? source->looks[0] : NULL, ret);
        return error ? error : mpiq_check_claims(source, world_size, ret);
    }

    /* A file that is no core file, or the like: part of the answer. */
    struct mpiq_error *fault = read_gone(source, world_size, ret);
    if (fault) {
        mpiq_error_destroy(error);
        return fault;
    }
    (*ret)->gone = false;
    (*ret)->process_state = '?';
    (*ret)->core = source->path != NULL;
    mpiq_rank_state_problem(*ret, "process", error);
    return NULL;
}

/* Under the lock, which is open while a source is read. */
static void read_sources(struct worker *worker)
{
    struct mpiq_reader *reader = worker->reader;
    mpiq_dll_host_begin_look(worker->host);
    while (reader->next < reader->sources->count && !reader->error) {
        struct mpiq_look_source *source = &reader->sources->items[reader->next++];
        pthread_mutex_unlock(&reader->lock);
        struct mpiq_error *error = read_source(worker, source, reader->look);
        pthread_mutex_lock(&reader->lock);
        if (error && !reader->error)
            reader->error = error;
        else
            mpiq_error_destroy(error);
        reader->done++;
        pthread_cond_signal(&reader->finished);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct mpiq_reader *reader = worker->reader;
    pthread_mutex_lock(&reader->lock);
    for (;;) {
        while (!reader->ended && worker->begun == reader->begun)
            pthread_cond_wait(&reader->begin, &reader->lock);
        if (reader->ended)
            break;
        worker->begun = reader->begun;
        if ((size_t)(worker - reader->workers) >= reader->wanted)
            continue;
        read_sources(worker);
        reader->at_work--;
        pthread_cond_signal(&reader->finished);
    }
    pthread_mutex_unlock(&reader->lock);
    return NULL;
}

/* Among ranks that spin, more of them than processors, a worker mostly waits: for its turn, for its helper's,
   for that of a thread which is to stop.  So there are several a processor, if there are ranks enough to make
   up for the start of their helpers. */
static size_t choose_worker_count(const struct mpiq_options *options, size_t ranks)
{
    enum { A_PROCESSOR = 4, RANKS_A_WORKER = 8 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t processors = online > 0 ? (size_t)online : 1;
    size_t count = ranks / RANKS_A_WORKER;
    if (options->threads)
        count = options->threads;
    else if (count < processors)
        count = processors;
    else if (count > A_PROCESSOR * processors)
        count = A_PROCESSOR * processors;
    return count < MAX_WORKERS ? count : MAX_WORKERS;
}

struct mpiq_error *mpiq_reader_create(const struct mpiq_options *options, struct mpiq_reader **ret)
{
    struct mpiq_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
    struct mpiq_dll_host_options host_options = {.dll = options->dll};
    reader->options = options;
    pthread_mutex_init(&reader->lock, NULL);
    pthread_cond_init(&reader->begin, NULL);
    pthread_cond_init(&reader->finished, NULL);
    struct mpiq_error *error = NULL;
    while (reader->worker_count < MAX_WORKERS && !error) {
        struct worker *worker = &reader->workers[reader->worker_count];
        worker->reader = reader;
        error = mpiq_dll_host_create(&host_options, &worker->host);
        reader->worker_count += !error;
    }
    if (error) {
        mpiq_reader_destroy(reader);
        return error;
    }
    *ret = reader;
    return NULL;
}

void mpiq_reader_destroy(struct mpiq_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    reader->ended = true;
    pthread_cond_broadcast(&reader->begin);
    pthread_mutex_unlock(&reader->lock);
    for (size_t i = 0; i < reader->worker_count; i++) {
        mpiq_dll_host_destroy(reader->workers[i].host);
        if (reader->workers[i].started)
            pthread_join(reader->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&reader->begin);
    pthread_cond_destroy(&reader->finished);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

/* Waits until all sources are done, and says how far it is. */
static void watch(struct mpiq_reader *reader)
{
    char text[80];
    pthread_mutex_lock(&reader->lock);
    while (reader->at_work > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROGRESS_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&reader->finished, &reader->lock, &until);
        snprintf(text, sizeof text, "look %d of 2: %zu of %zu ranks read", reader->look, reader->done,
                 reader->sources->count);
        if (reader->options->progress) {
            pthread_mutex_unlock(&reader->lock);
            reader->options->progress(reader->options->argument, text);
            pthread_mutex_lock(&reader->lock);
        }
    }
    pthread_mutex_unlock(&reader->lock);
}

/* As many threads as can be had, `wanted` at most; how many there are. */
static size_t start_workers(struct mpiq_reader *reader, size_t wanted)
{
    size_t started = 0;
    for (; started < wanted; started++) {
        struct worker *worker = &reader->workers[started];
        worker->started = worker->started || pthread_create(&worker->thread, NULL, work, worker) == 0;
        if (!worker->started)
            break;
    }
    return started;
}

struct mpiq_error *mpiq_reader_look(struct mpiq_reader *reader, struct mpiq_look_sources *sources, int look)
{
    size_t wanted = choose_worker_count(reader->options, sources->count);
    wanted = sources->count < wanted ? sources->count : wanted;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    wanted = start_workers(reader, wanted);
    if (wanted == 0 && sources->count > 0)
        return mpiq_error_create_os(EAGAIN, "cannot start a thread");
    pthread_mutex_lock(&reader->lock);
    reader->sources = sources;
    reader->look = look;
    reader->next = reader->done = 0;
    reader->wanted = reader->at_work = wanted;
    reader->begun++;
    pthread_cond_broadcast(&reader->begin);
    pthread_mutex_unlock(&reader->lock);
    watch(reader);
    clock_gettime(CLOCK_MONOTONIC, &end);
    mpiq_debug("look", "look %d of %zu ranks took %.1f ms", look, sources->count,
               (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    return mpiq_steal(reader->error);
}
