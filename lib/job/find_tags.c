/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that make a communicator by messages with a tag of the user's, given different tags:
 * MPI_Comm_create_group by the members of the group, MPI_Intercomm_create by the two leaders.
 *
 * Others may make the same call with other tags at the same time.  So tags are compared only among those who
 * need each other: by the recorder's word, or because one has posted the receive for the other's message.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/find.h"
#include "job/given.h"
#include "job/matching.h"

/* A thread in such a call. */
struct tagged {
    const struct mpiq_job_rank *rank;
    const struct mpiq_job_past_call *past; /* NULL: not recorded */
    int collective;
    int64_t tag;
    uint32_t comm; /* MPIQ_NONE: not known */
    uint32_t process;
    uint32_t thread;
    uint32_t leader; /* in the list: of those who need each other */
};

struct tagged_list {
    struct tagged *list;
    uint32_t count;
    uint32_t *of_process; /* for each process: its last one plus 1; 0 */
};

static const struct mpiq_job_past_call *open_call(const struct mpiq_job_state *job,
                                                  const struct mpiq_job_rank *rank,
                                                  const struct mpiq_job_thread *thread)
{
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        if (call->end_ns == 0 && call->tid == thread->tid && call->tag >= 0 && call->call == thread->call)
            return call;
    }
    return NULL;
}

static void add_thread(const struct mpiq_job_state *job, struct tagged_list *tagged,
                       const struct mpiq_job_rank *rank, uint32_t thread)
{
    const struct mpiq_job_thread *row = &job->threads[thread];
    const char *call = row->call ? mpiq_job_string(job, row->call) : NULL;
    int collective = call ? mpiq_collective_class(call) : -1;
    if (!mpiq_collective_has_tag(collective) || !mpiq_is_waiting(row) ||
        (rank->looks == 3 && row->same_wait != MPIQ_YES))
        return;
    const struct mpiq_job_past_call *past = open_call(job, rank, row);
    int64_t tag = past ? past->tag : mpiq_given_tag(job, thread);
    if (tag < 0)
        return;
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, rank, row, &in);
    tagged->list[tagged->count] = (struct tagged){.rank = rank,
                                                  .past = past,
                                                  .collective = collective,
                                                  .tag = tag,
                                                  .comm = in.comm,
                                                  .process = rank->process,
                                                  .thread = thread,
                                                  .leader = tagged->count};
    tagged->of_process[rank->process] = ++tagged->count;
}

static uint32_t leader_of(struct tagged_list *tagged, uint32_t i)
{
    while (tagged->list[i].leader != i)
        i = tagged->list[i].leader = tagged->list[tagged->list[i].leader].leader;
    return i;
}

static void join(struct tagged_list *tagged, uint32_t a, uint32_t b)
{
    a = leader_of(tagged, a);
    b = leader_of(tagged, b);
    tagged->list[a > b ? a : b].leader = a < b ? a : b;
}

static int compare_groups(const void *left, const void *right, void *context)
{
    const struct tagged *a = &((const struct tagged *)context)[*(const uint32_t *)left];
    const struct tagged *b = &((const struct tagged *)context)[*(const uint32_t *)right];
    if (a->collective != b->collective)
        return a->collective < b->collective ? -1 : 1;
    if (a->past->tag_group != b->past->tag_group)
        return a->past->tag_group < b->past->tag_group ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Those of whom the recorder says that they need each other. */
static void join_groups(struct mpiq_analysis *analysis, struct tagged_list *tagged)
{
    uint32_t count = 0, *order _cleanup_free_ = calloc((size_t)tagged->count + 1, sizeof *order);
    if (!order) {
        analysis->failed = true;
        return;
    }
    for (uint32_t i = 0; i < tagged->count; i++) {
        if (tagged->list[i].past && tagged->list[i].past->tag_group)
            order[count++] = i;
    }
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_groups, tagged->list);
    for (uint32_t i = 1; i < count; i++) {
        const struct tagged *a = &tagged->list[order[i - 1]], *b = &tagged->list[order[i]];
        if (a->collective == b->collective && a->past->tag_group == b->past->tag_group)
            join(tagged, order[i - 1], order[i]);
    }
}

/* Those whose messages one of them has posted receives for. */
static void join_receivers(const struct mpiq_job_state *job, struct tagged_list *tagged, uint32_t i)
{
    const struct tagged *own = &tagged->list[i];
    for (uint32_t j = 0; j < own->rank->operation_count; j++) {
        const struct mpiq_job_operation *op = &job->operations[own->rank->first_operation + j];
        if (!mpiq_is_receive(op) || op->queue == MPIQ_QUEUE_UNEXPECTED || op->any || op->tag_any ||
            op->peer == MPIQ_NONE || op->tag != own->tag)
            continue;
        uint32_t other = tagged->of_process[op->peer];
        if (other && tagged->list[other - 1].collective == own->collective)
            join(tagged, i, other - 1);
    }
}

/* How often a rank has made the call that another one is in: with that tag, among the same ranks. */
static uint32_t made(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                     const struct mpiq_job_past_call *like)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        count += call->call == like->call && call->tag == like->tag && call->tag_group == like->tag_group;
    }
    return count;
}

/* Whether neither has come to the other's call: one may have left that, and be ahead by one. */
static bool are_apart(const struct mpiq_job_state *job, const struct tagged *a, const struct tagged *b)
{
    if (a->tag == b->tag || a->process == b->process)
        return false;
    if (!a->past || !b->past)
        return true;
    return made(job, b->rank, a->past) < made(job, a->rank, a->past) &&
           made(job, a->rank, b->past) < made(job, b->rank, b->past);
}

void mpiq_find_tags(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct tagged *list _cleanup_free_ = calloc((size_t)job->thread_count + 1, sizeof *list);
    uint32_t *of_process _cleanup_free_ = calloc((size_t)job->process_count + 1, sizeof *of_process);
    struct mpiq_tagged_call *members _cleanup_free_ = calloc((size_t)job->thread_count + 1, sizeof *members);
    struct tagged_list tagged = {.list = list, .of_process = of_process};
    analysis->failed = analysis->failed || !list || !of_process || !members;
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        enum mpiq_rank_activity does = analysis->diagnosis->ranks[process].activity;
        if (!rank || (does != MPIQ_ACTIVITY_BLOCKED && does != MPIQ_ACTIVITY_POLLING))
            continue;
        for (uint32_t i = 0; i < rank->thread_count; i++)
            add_thread(job, &tagged, rank, rank->first_thread + i);
    }
    if (analysis->failed || tagged.count < 2)
        return;
    join_groups(analysis, &tagged);
    for (uint32_t i = 0; i < tagged.count; i++)
        join_receivers(job, &tagged, i);
    for (uint32_t i = 0; i < tagged.count && !analysis->failed; i++) {
        uint32_t count = 0;
        bool apart = false, proven = true;
        for (uint32_t j = i; leader_of(&tagged, i) == i && j < tagged.count; j++) {
            const struct tagged *one = &list[j];
            if (leader_of(&tagged, j) != i)
                continue;
            members[count++] = (struct mpiq_tagged_call){.process = one->process, .tag = one->tag};
            apart = apart || are_apart(job, &list[i], one);
            proven = proven && mpiq_is_stuck(analysis->graph, one->thread);
        }
        if (apart)
            mpiq_add_tag_mismatch(analysis, list[i].collective,
                                  mpiq_collective_is_tagged(list[i].collective) ? list[i].comm : MPIQ_NONE,
                                  proven, members, count);
    }
}
