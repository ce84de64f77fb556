/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/poll_measure.h"

#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "base/proc.h"
#include "job/diagnose_options.h"

/* Seconds that a half may take longer, and between two checks whether it has to. */
static const double patience = 0.75;
static const double glance = 0.005;

static void sleep_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) < 0)
        ;
}

/* Of a process of this machine that may still move. */
static bool is_live(const struct mpiq_look_source *source)
{
    const struct mpiq_rank_state *state = source->looks[0];
    return source->pid > 0 && !source->target && state && !state->final && !state->gone;
}

static bool is_in_mpi(const struct mpiq_thread *thread)
{
    return thread->tid > 0 && (thread->wait_count > 0 || thread->mpi_call[0]);
}

/* The threads that were in MPI in the first look. */
static struct mpiq_error *find_threads(const struct mpiq_look_sources *sources, struct mpiq_poll_measure *ret)
{
    size_t most = 0;
    for (size_t i = 0; i < sources->count; i++)
        most += sources->items[i].looks[0] ? sources->items[i].looks[0]->thread_count : 0;
    ret->count = 0;
    ret->threads = calloc(most + 1, sizeof *ret->threads);
    if (!ret->threads)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_rank_state *state = sources->items[i].looks[0];
        for (size_t k = 0; is_live(&sources->items[i]) && k < state->thread_count; k++) {
            if (is_in_mpi(&state->threads[k]))
                ret->threads[ret->count++] = (struct mpiq_poll_measure_thread){
                    .source = i, .tid = state->threads[k].tid, .least = INT64_MAX};
        }
    }
    return NULL;
}

static int64_t time_of(const struct mpiq_look_sources *sources, const struct mpiq_poll_measure_thread *thread)
{
    uint64_t ns = 0;
    return mpiq_proc_thread_time(sources->items[thread->source].pid, thread->tid, &ns) ? (int64_t)ns : -1;
}

/* Whether a thread would poll in its wait if it had a processor. */
static bool starves(const struct mpiq_look_sources *sources, const struct mpiq_poll_measure_thread *thread)
{
    struct mpiq_proc_stat stat;
    int64_t now = thread->begin < 0 ? -1 : time_of(sources, thread);
    if (now < 0 || now - thread->begin >= MPIQ_POLLED_NS)
        return false;
    struct mpiq_error *error = mpiq_proc_stat(sources->items[thread->source].pid, thread->tid, &stat);
    bool wants = !error && stat.state == 'R';
    mpiq_error_destroy(error);
    return wants;
}

static bool has_background(const struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->communicator_count; i++) {
        if (state->communicators[i].outstanding_count > 0)
            return true;
    }
    for (size_t i = 0; i < state->operation_count; i++) {
        if (state->operations[i].kind == MPIQ_OPERATION_COLLECTIVE)
            return true;
    }
    return false;
}

/* A communicator as one of its members lists it. */
struct listing {
    uint64_t key; /* equal at all members */
    uint64_t size;
};

static int compare_listings(const void *a, const void *b)
{
    uint64_t one = ((const struct listing *)a)->key, other = ((const struct listing *)b)->key;
    return one < other ? -1 : one > other;
}

/* Whether not all members of some communicator list it: one may have freed it. */
static bool is_freed_by_some(const struct mpiq_look_sources *sources)
{
    size_t most = 0, count = 0;
    for (size_t i = 0; i < sources->count; i++)
        most += sources->items[i].looks[0]->communicator_count;
    struct listing *listings _cleanup_free_ = mpiq_memory_checked(calloc(most + 1, sizeof *listings));
    if (!listings)
        return true;
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_rank_state *state = sources->items[i].looks[0];
        for (size_t k = 0; k < state->communicator_count; k++) {
            const struct mpiq_communicator *comm = &state->communicators[k];
            uint64_t groups = comm->local.hash + (comm->remote.count > 0 ? comm->remote.hash : 0);
            uint64_t key =
                mpiq_hash_two(mpiq_hash(MPIQ_HASH_START, groups), comm->context[0], comm->context[1]);
            listings[count++] = (struct listing){key, (uint64_t)comm->local.count + comm->remote.count};
        }
    }
    qsort(listings, count, sizeof *listings, compare_listings);
    for (size_t first = 0, i = 0; i < count; i++) {
        bool last = i + 1 == count || listings[i + 1].key != listings[first].key;
        if (last && i + 1 - first < listings[first].size)
            return true;
        first = last ? i + 1 : first;
    }
    return false;
}

bool mpiq_poll_measure_matters(const struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_rank_state *state = sources->items[i].looks[0];
        if (!state || state->gone || state->phase >= MPIQ_PHASE_FINALIZING || state->window_count > 0 ||
            state->source == MPIQ_SOURCE_RECORDER || has_background(state))
            return true;
    }
    return is_freed_by_some(sources);
}

static void pass_half(const struct mpiq_look_sources *sources, struct mpiq_poll_measure *between,
                      double seconds, bool patient)
{
    for (size_t i = 0; i < between->count; i++)
        between->threads[i].begin = time_of(sources, &between->threads[i]);
    if (seconds > 0)
        sleep_for(seconds);
    double left = patient ? patience : 0;
    for (size_t i = 0; i < between->count; i++) {
        for (; left > 0 && starves(sources, &between->threads[i]); left -= glance)
            sleep_for(glance);
    }
    for (size_t i = 0; i < between->count; i++) {
        struct mpiq_poll_measure_thread *thread = &between->threads[i];
        int64_t end = thread->begin < 0 ? -1 : time_of(sources, thread);
        int64_t got = end < thread->begin || end < 0 ? -1 : end - thread->begin;
        thread->least = got < thread->least ? got : thread->least;
    }
}

struct mpiq_error *mpiq_poll_measure_pass(const struct mpiq_look_sources *sources, double seconds,
                                          bool patient, struct mpiq_poll_measure *ret)
{
    struct mpiq_error *error = find_threads(sources, ret);
    for (int half = 0; half < 2 && !error; half++)
        pass_half(sources, ret, seconds / 2, patient);
    return error;
}

void mpiq_poll_measure_note(const struct mpiq_poll_measure *between, struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < between->count; i++) {
        const struct mpiq_poll_measure_thread *measured = &between->threads[i];
        struct mpiq_rank_state *state = sources->items[measured->source].looks[1];
        for (size_t k = 0; state && k < state->thread_count; k++) {
            if (state->threads[k].tid == measured->tid)
                state->threads[k].polled_ns = measured->least;
        }
    }
}

void mpiq_poll_measure_deinit(struct mpiq_poll_measure *between)
{
    free(between->threads);
    *between = (struct mpiq_poll_measure){0};
}
