/* SPDX-License-Identifier: BSD-3-Clause */
/* The last MPI calls of each rank, as its last look saw them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "merge/adding_private.h"
#include "names/errors.h"

/* Whether that thread sleeps outside MPI between two calls, as short as the time between its calls is: just
   now, or, by the processor time of its rank, for most of the time between the looks. */
static bool naps(const struct mpiq_adding *adding, int32_t tid)
{
    enum { SHARE = 10 }; /* of the time between the looks: one in so many */
    const struct mpiq_rank_state *state = adding->state;
    int64_t between = adding->old ? state->taken_ns - adding->old->taken_ns : 0;
    if (between > 0 && state->cpu_ns >= adding->old->cpu_ns &&
        state->cpu_ns - adding->old->cpu_ns < (uint64_t)between / SHARE)
        return true;
    for (size_t i = 0; i < state->thread_count; i++) {
        if (state->threads[i].tid == tid)
            return state->threads[i].state == 'S' && !state->threads[i].mpi_call[0];
    }
    return false;
}

bool mpiq_repeats_reads(const struct mpiq_adding *adding)
{
    const struct mpiq_rank_state *state = adding->state;
    enum {
        FEWEST = 64,
        BETWEEN_NS = 2000
    }; /* from one call to the next, the recorder's own share included */
    int64_t outside = 0;
    bool any = false;
    if (state->history_count < FEWEST)
        return false;
    const struct mpiq_past_call *first = &state->history[0];
    for (size_t i = 0; i < state->history_count; i++) {
        const struct mpiq_past_call *call = &state->history[i];
        bool reads = mpiq_call_reads_window(call->call);
        if (call->tid != first->tid || !(reads || mpiq_is_poll(call->call)))
            return false;
        any = any || reads;
        int64_t gap = i == 0 ? 0 : call->begin_ns - state->history[i - 1].end_ns;
        outside += gap > BETWEEN_NS ? gap : 0;
    }
    return any && (outside <= (state->history[state->history_count - 1].begin_ns - first->begin_ns) / 2 ||
                   naps(adding, first->tid));
}

bool mpiq_goes_on_calling(const struct mpiq_adding *adding)
{
    enum { TIMES = 4 };
    const struct mpiq_rank_state *state = adding->state;
    size_t count = state->history_count;
    int64_t longest = 0;
    if (!adding->old || count == 0)
        return false;
    const struct mpiq_past_call *last = &state->history[count - 1];
    for (size_t i = 1; i < count; i++) {
        int64_t outside = state->history[i].begin_ns - state->history[i - 1].end_ns;
        longest = outside > longest ? outside : longest;
    }
    return last->begin_ns > adding->old->taken_ns ||
           (last->end_ns > 0 && state->taken_ns - last->end_ns < TIMES * longest);
}

/* As a word: of the error's class, or its number. */
static bool add_error(struct mpiq_job_state *job, const char *library, int32_t error, mpiq_string_id *ret)
{
    const char *name = error ? mpiq_error_class(library, error) : NULL;
    char number[32];
    snprintf(number, sizeof number, "error %" PRId32, error);
    return error == 0 || mpiq_job_intern(job, name ? name : number, ret);
}

static bool add_past_call(struct mpiq_job_state *job, const struct mpiq_past_call *from, const char *library,
                          uint32_t first_member, struct mpiq_job_past_call *ret)
{
    *ret = (struct mpiq_job_past_call){
        .begin_ns = from->begin_ns,
        .end_ns = from->end_ns,
        .bytes = from->bytes,
        .comm = from->comm < 0 ? MPIQ_NONE : first_member + (uint32_t)from->comm,
        .peer_local = from->peer_local,
        .root = from->root,
        .tag = from->tag,
        .tid = from->tid,
        .tag_group = from->tag_group,
        .made = MPIQ_NONE,
        .any_source = from->any_source,
        .any_tag = from->any_tag,
        .proc_null = from->proc_null,
    };
    return mpiq_job_intern_cached(job, from->call, &ret->call) &&
           add_error(job, library, from->error, &ret->error) &&
           mpiq_job_intern_place(job, &from->place, &ret->site);
}

bool mpiq_job_add_history(struct mpiq_job_state *job, const struct mpiq_rank_state *state,
                          uint32_t first_member, struct mpiq_job_rank *rank)
{
    size_t most = mpiq_history_share(state->world_size);
    size_t skipped = state->history_count > most ? state->history_count - most : 0;
    size_t count = state->history_count - skipped;
    /* The first look's calls give their rows to the second one's, where these fit. */
    if (count > rank->past_count) {
        if (!MPIQ_RESERVE(job->past_calls, job->past_call_count, job->builder->past_call_capacity, count))
            return false;
        rank->first_past = job->past_call_count;
        job->past_call_count += (uint32_t)count;
    }
    rank->past_count = (uint32_t)count;
    rank->past_dropped = state->history_dropped + skipped;
    for (size_t i = 0; i < count; i++) {
        if (!add_past_call(job, &state->history[skipped + i], state->library, first_member,
                           &job->past_calls[rank->first_past + i]))
            return false;
    }
    return true;
}

static bool is_same_place(const struct mpiq_job_past_call *a, const struct mpiq_job_past_call *b)
{
    return a->call == b->call && a->site == b->site;
}

/* The call that made the request for which a wait failed: the newest one before with its envelope, if all
   that are kept were made at one place. */
static uint32_t maker(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                      const struct mpiq_job_past_call *wait)
{
    uint32_t found = MPIQ_NONE;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        const char *name = mpiq_job_string(job, call->call);
        bool makes =
            mpiq_call_messages(name) && mpiq_blocking_call(name) == MPIQ_BLOCKING_NOT && !mpiq_is_poll(name);
        if (!makes || call->error || call->begin_ns > wait->begin_ns || call->comm != wait->comm ||
            call->tag != wait->tag || call->any_tag != wait->any_tag || call->peer != wait->peer ||
            call->any_source != wait->any_source)
            continue;
        if (found != MPIQ_NONE && !is_same_place(&job->past_calls[found], call))
            return MPIQ_NONE;
        if (found == MPIQ_NONE || call->begin_ns >= job->past_calls[found].begin_ns)
            found = rank->first_past + i;
    }
    return found;
}

static bool completes_requests(const char *call)
{
    return call && (mpiq_blocking_call(call) == MPIQ_BLOCKING_REQUESTS || strncmp(call, "MPI_Test", 8) == 0);
}

void mpiq_job_finish_history(struct mpiq_job_state *job, const uint32_t *member_map)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        for (uint32_t j = 0; j < job->ranks[i].past_count; j++) {
            struct mpiq_job_past_call *call = &job->past_calls[job->ranks[i].first_past + j];
            uint32_t index = call->comm == MPIQ_NONE ? MPIQ_NONE : member_map[call->comm];
            call->peer = MPIQ_NONE;
            call->comm = MPIQ_NONE;
            if (index == MPIQ_NONE)
                continue;
            const struct mpiq_job_member *member = &job->members[index];
            call->comm = member->comm;
            /* A collective's root is of the remote group, where there is one and it is no member here. */
            call->peer =
                mpiq_job_local_process(job, member, true, call->root >= 0 ? call->root : call->peer_local);
        }
        for (uint32_t j = 0; j < job->ranks[i].past_count; j++) {
            struct mpiq_job_past_call *call = &job->past_calls[job->ranks[i].first_past + j];
            if (call->error && call->comm != MPIQ_NONE &&
                completes_requests(mpiq_job_string(job, call->call)))
                call->made = maker(job, &job->ranks[i], call);
        }
    }
}
