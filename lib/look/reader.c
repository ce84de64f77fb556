/* SPDX-License-Identifier: BSD-3-Clause */
#include "look/reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/debug.h"
#include "rank/rank.h"

enum { MAX_WORKERS = 32, PROGRESS_MS = 100 };

/* One thread's own: a helper lives from look to look. */
struct worker {
    struct mpiq_reader *reader;
    struct mpiq_dll_host *host;
    pthread_t thread;
};

struct mpiq_reader {
    const struct mpiq_options *options;
    struct worker workers[MAX_WORKERS];
    size_t worker_count;

    /* Of the look that is going on; behind the lock. */
    pthread_mutex_t lock;
    pthread_cond_t finished; /* a source is done */
    struct mpiq_look_sources *sources;
    int look;
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
    if (!source->gone && !source->target)
        error = open_target(worker->reader->options, source);
    if (error && error->code == MPIQ_ERROR_GONE) {
        source->gone = true;
        mpiq_error_destroy(error);
        error = NULL;
    }
    int world_size = worker->reader->sources->world_size;
    if (!error && source->gone)
        return read_gone(source, world_size, ret);
    if (!error)
        return read_open(worker, source, look == 2 ? source->looks[0] : NULL, ret);

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

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct mpiq_reader *reader = worker->reader;
    mpiq_dll_host_begin_look(worker->host);
    pthread_mutex_lock(&reader->lock);
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
    for (size_t i = 0; i < reader->worker_count; i++)
        mpiq_dll_host_destroy(reader->workers[i].host);
    pthread_cond_destroy(&reader->finished);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

/* Waits until all sources are done, and says how far it is. */
static void watch(struct mpiq_reader *reader)
{
    char text[80];
    pthread_mutex_lock(&reader->lock);
    while (reader->done < reader->sources->count && !reader->error) {
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

struct mpiq_error *mpiq_reader_look(struct mpiq_reader *reader, struct mpiq_look_sources *sources, int look)
{
    size_t started = 0;
    size_t wanted = choose_worker_count(reader->options, sources->count);
    wanted = sources->count < wanted ? sources->count : wanted;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    reader->sources = sources;
    reader->look = look;
    reader->next = reader->done = 0;
    for (; started < wanted; started++) {
        struct worker *worker = &reader->workers[started];
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            break;
    }
    if (started == 0 && wanted > 0)
        work(&reader->workers[0]);
    watch(reader);
    for (size_t i = 0; i < started; i++)
        pthread_join(reader->workers[i].thread, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    mpiq_debug("look", "look %d of %zu ranks took %.1f ms", look, sources->count,
               (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    struct mpiq_error *error = reader->error;
    reader->error = NULL;
    return error;
}
