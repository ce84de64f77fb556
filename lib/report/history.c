/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "words/quantities.h"

static int compare_begins(const void *left, const void *right)
{
    const struct mpiq_history_call *a = left;
    const struct mpiq_history_call *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void from_recorder(const struct mpiq_page *page, const struct mpiq_job_rank *rank,
                          struct mpiq_history *ret)
{
    const struct mpiq_job_state *job = page->job;
    const uint32_t *partners = page->options->past_messages;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *past = &job->past_calls[rank->first_past + i];
        if (past->begin_ns <= 0 || !past->call)
            continue;
        ret->calls[ret->count++] = (struct mpiq_history_call){
            .call = mpiq_job_string(job, past->call),
            .begin_ns = past->begin_ns,
            .end_ns = past->end_ns,
            .bytes = past->bytes,
            .comm = past->comm,
            .peer = past->peer,
            .tag = past->tag,
            .tid = past->tid,
            .error = mpiq_job_string(job, past->error),
            .site = past->site,
            .past = rank->first_past + i,
            .partner = partners ? partners[rank->first_past + i] : MPIQ_NONE,
            .open = past->end_ns == 0,
            .any_source = past->any_source,
            .any_tag = past->any_tag,
            .proc_null = past->proc_null,
            .root = past->root >= 0,
        };
    }
}

static void from_ring(const struct mpiq_job_state *job, const struct mpiq_job_call *calls, uint32_t count,
                      const struct mpiq_job_member *member, struct mpiq_history *ret)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct mpiq_call_shape *shape = &job->shapes[calls[i].shape];
        const char *name = mpiq_collective_name(shape->collective);
        if (calls[i].begin_ns <= 0 || !name)
            continue;
        ret->calls[ret->count++] = (struct mpiq_history_call){
            .call = name,
            .begin_ns = calls[i].begin_ns,
            .bytes = shape->bytes,
            .comm = member ? member->comm : MPIQ_NONE,
            .peer = member ? mpiq_job_local_process(job, member, true, shape->root) : MPIQ_NONE,
            .tag = -1,
            .tid = calls[i].tid,
            .site = calls[i].started,
            .past = MPIQ_NONE,
            .partner = MPIQ_NONE,
            .open = !calls[i].done && calls[i].request == 0,
            .root = shape->root >= 0,
        };
    }
}

static void from_rings(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                       struct mpiq_history *ret)
{
    from_ring(job, &job->calls[rank->first_call], rank->call_count, NULL, ret);
    for (uint32_t i = 0; i < rank->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[job->member_order[rank->first_member + i]];
        from_ring(job, &job->calls[member->first_call], member->call_count, member, ret);
    }
}

static size_t room_for(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    size_t room = (size_t)rank->past_count + rank->call_count;
    for (uint32_t i = 0; i < rank->member_count; i++)
        room += job->members[job->member_order[rank->first_member + i]].call_count;
    return room;
}

bool mpiq_history_collect(const struct mpiq_page *page, uint32_t process, struct mpiq_history *ret)
{
    const struct mpiq_job_state *job = page->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    *ret = (struct mpiq_history){0};
    if (!rank)
        return true;
    ret->calls = calloc(room_for(job, rank) + 1, sizeof *ret->calls);
    if (!ret->calls)
        return false;
    ret->taken_ns = rank->taken_ns;
    ret->dropped = rank->past_dropped;
    if (rank->past_count > 0)
        from_recorder(page, rank, ret);
    else
        from_rings(job, rank, ret);
    ret->only_rings = rank->past_count == 0;
    if (ret->count > 1)
        qsort(ret->calls, ret->count, sizeof *ret->calls, compare_begins);
    for (size_t i = 0; i < ret->count; i++) {
        const struct mpiq_history_call *call = &ret->calls[i];
        int64_t last = call->end_ns > call->begin_ns ? call->end_ns : call->begin_ns;
        ret->several_tasks |= call->tid != ret->calls[0].tid;
        if (ret->taken_ns < last) /* of a core file: when it was written is not known */
            ret->taken_ns = last;
    }
    return true;
}

bool mpiq_history_wanted(const struct mpiq_page *page, uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(page->job, process);
    return mpiq_rank_set_contains(page->options->history, name.world, name.rank);
}

void mpiq_history_deinit(struct mpiq_history *history)
{
    free(history->calls);
    *history = (struct mpiq_history){0};
}

static bool begins(const char *call, const char *const *words)
{
    for (; *words; words++) {
        if (strncmp(call, *words, strlen(*words)) == 0)
            return true;
    }
    return false;
}

enum mpiq_history_kind mpiq_history_kind_of(const char *call)
{
    static const char *const waits[] = {"Wait", "Test", "Start", "Pready", "Parrived", NULL};
    static const char *const windows[] = {"Win_", "Put",         "Get",          "Accumulate",       "Rput",
                                          "Rget", "Raccumulate", "Fetch_and_op", "Compare_and_swap", NULL};
    const char *name = strncmp(call, "MPI_", 4) == 0 ? call + 4 : call;
    if (begins(name, windows))
        return MPIQ_HISTORY_WINDOW;
    if (mpiq_collective_class(call) >= 0)
        return MPIQ_HISTORY_COLLECTIVE;
    const unsigned does = mpiq_call_messages(call);
    return does & MPIQ_CALL_SENDS ? MPIQ_HISTORY_SEND
           : does                 ? MPIQ_HISTORY_RECEIVE
           : begins(name, waits)  ? MPIQ_HISTORY_WAIT
                                  : MPIQ_HISTORY_OTHER;
}

bool mpiq_history_alike(const struct mpiq_history_call *a, const struct mpiq_history_call *b)
{
    return strcmp(a->call, b->call) == 0 && a->bytes == b->bytes && a->comm == b->comm &&
           a->peer == b->peer && a->tag == b->tag && a->tid == b->tid && a->site == b->site &&
           a->error == b->error && a->open == b->open && a->any_source == b->any_source &&
           a->any_tag == b->any_tag && a->proc_null == b->proc_null && a->root == b->root &&
           (a->partner == MPIQ_PAST_UNRECEIVED) == (b->partner == MPIQ_PAST_UNRECEIVED);
}

double mpiq_history_seconds(const struct mpiq_history *history, const struct mpiq_history_call *call)
{
    int64_t end = call->open ? history->taken_ns : call->end_ns;
    return end > 0 && end >= call->begin_ns ? (double)(end - call->begin_ns) * 1e-9 : -1;
}

void mpiq_put_span(struct mpiq_buffer *buffer, double seconds)
{
    if (!(seconds >= 0))
        return;
    double micros = seconds * 1e6;
    if (micros < 9.95)
        mpiq_buffer_printf(buffer, "%.1f us", micros);
    else if (micros < 999.5)
        mpiq_buffer_printf(buffer, "%.0f us", micros);
    else if (micros < 9950)
        mpiq_buffer_printf(buffer, "%.1f ms", micros / 1e3);
    else if (micros < 999500)
        mpiq_buffer_printf(buffer, "%.0f ms", micros / 1e3);
    else
        mpiq_put_duration(buffer, seconds);
}

void mpiq_put_past_peer(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                        const struct mpiq_history_call *call)
{
    if (call->proc_null) {
        mpiq_buffer_string(buffer, "MPI_PROC_NULL");
    } else if (call->any_source) {
        mpiq_buffer_string(buffer, "any");
    } else if (call->peer != MPIQ_NONE) {
        mpiq_buffer_string(buffer, call->root ? "root " : "");
        mpiq_put_process(page->job, buffer, call->peer);
    }
}

void mpiq_put_partner(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                      const struct mpiq_history_call *call)
{
    if (call->partner == MPIQ_NONE)
        return;
    if (call->partner == MPIQ_PAST_UNRECEIVED) {
        mpiq_buffer_string(buffer, "-> nobody has received it");
        return;
    }
    const struct mpiq_job_past_call *other = &page->job->past_calls[call->partner];
    bool sends = mpiq_history_kind_of(call->call) != MPIQ_HISTORY_RECEIVE;
    mpiq_buffer_string(buffer, sends ? "-> rank " : "<- rank ");
    mpiq_put_process(page->job, buffer, call->peer);
    mpiq_buffer_char(buffer, ' ');
    mpiq_put_plain(buffer, mpiq_job_string(page->job, other->call));
    mpiq_buffer_char(buffer, ' ');
    mpiq_put_site(page->job, buffer, other->site);
}

void mpiq_put_history_call(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                           const struct mpiq_history *history, const struct mpiq_history_call *call)
{
    double seconds = mpiq_history_seconds(history, call);
    mpiq_put_plain(buffer, call->call);
    mpiq_buffer_string(buffer, seconds >= 0 ? ", " : "");
    mpiq_put_span(buffer, seconds);
    mpiq_buffer_string(buffer, call->open ? " so far" : "");
    if (call->comm != MPIQ_NONE) {
        mpiq_buffer_string(buffer, ", on ");
        mpiq_put_communicator(page->job, buffer, call->comm);
    }
    if (call->peer != MPIQ_NONE || call->any_source || call->proc_null) {
        mpiq_buffer_string(buffer, call->root ? ", " : ", peer ");
        mpiq_put_past_peer(page, buffer, call);
    }
    if (call->tag >= 0)
        mpiq_buffer_printf(buffer, ", tag %d", call->tag);
    if (call->bytes >= 0)
        mpiq_buffer_printf(buffer, ", %s", mpiq_size_text(call->bytes, (char[MPIQ_SIZE_ROOM]){0}));
    if (call->error)
        mpiq_buffer_printf(buffer, ", failed: %s", call->error);
    if (call->site != MPIQ_NONE) {
        mpiq_buffer_string(buffer, ", ");
        mpiq_put_site(page->job, buffer, call->site);
    }
    if (call->partner != MPIQ_NONE)
        mpiq_buffer_string(buffer, ", ");
    mpiq_put_partner(page, buffer, call);
}
