/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/in_transit.h"

#include <stdlib.h>

#include "job/diagnose_options.h"

static const struct mpiq_job_channel *find_channel(const struct mpiq_job_state *job,
                                                   const struct mpiq_job_member *member, uint32_t peer)
{
    const struct mpiq_job_channel *channels = &job->channels[member->first_channel];
    uint32_t low = 0;
    uint32_t high = member->channel_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (channels[middle].peer < peer)
            low = middle + 1;
        else
            high = middle;
    }
    return low < member->channel_count && channels[low].peer == peer ? &channels[low] : NULL;
}

/* Sequence numbers wrap at 16 bits in ob1; a channel that was never used begins at 1. */
static bool differ(const struct mpiq_job_channel *sender, const struct mpiq_job_channel *receiver)
{
    if ((sender && sender->unclear) || (receiver && receiver->unclear))
        return true;
    if (sender && sender->settled)
        return false;
    if ((sender && sender->counted) || (receiver && receiver->counted))
        return (sender ? sender->sent : 1) != (receiver ? receiver->expected : 1);
    return (uint16_t)(sender ? sender->sent : 1) != (uint16_t)(receiver ? receiver->expected : 1);
}

bool mpiq_has_polled(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (thread->same_wait == MPIQ_YES && thread->polled_ns >= MPIQ_POLLED_NS)
            return true;
    }
    return rank->final;
}

static bool has_ended(const struct mpiq_job_rank *rank)
{
    return rank->gone || rank->phase == MPIQ_PHASE_FINALIZED;
}

bool mpiq_was_before(const struct mpiq_job_rank *rank)
{
    bool ended = has_ended(rank) && rank->looks == 1;
    return ended || rank->final || (rank->looks == 3 && !(rank->changed & MPIQ_CHANGED_STATE));
}

/* Whether messages may still arrive from a rank whose count of them is gone: it has ended, or has freed the
   communicator, which it cannot do before its sends have gone out.  If that was already so in the first
   look, everything has arrived and the receiver only has to poll; a message from another host may be in
   transit for any length of time. */
static bool may_still_come(const struct mpiq_job_state *job, const struct mpiq_job_rank *from,
                           const struct mpiq_job_rank *to)
{
    return !mpiq_was_before(from) || !mpiq_has_polled(job, to) ||
           (!has_ended(from) && from->host != to->host);
}

/* Whether one end counts messages of the program and the other the library's: they cannot be compared. */
static bool counted_differently(const struct mpiq_job_rank *from, const struct mpiq_job_rank *to)
{
    return mpiq_job_is_counted(from) != mpiq_job_is_counted(to) && !from->gone && !to->gone;
}

bool mpiq_channel_in_transit(const struct mpiq_job_state *job, const struct mpiq_job_member *receiver,
                             uint32_t sender)
{
    const struct mpiq_job_rank *from = mpiq_job_rank_of(job, sender);
    if (!mpiq_queues_known(&job->ranks[receiver->rank]))
        return true;
    if (from && counted_differently(from, &job->ranks[receiver->rank]))
        return true;
    const struct mpiq_job_channel *in = find_channel(job, receiver, sender);
    if (in && in->expected_moved)
        return true;
    const struct mpiq_job_member *other =
        from ? mpiq_job_member_of(job, (uint32_t)(from - job->ranks), receiver->comm) : NULL;
    bool counted = other && from->source == MPIQ_SOURCE_RECORDER && !from->gone;
    if (from && has_ended(from) && !counted)
        return may_still_come(job, from, &job->ranks[receiver->rank]);
    if (!from || !mpiq_queues_known(from))
        return true;
    if (!other) /* it has freed the communicator, and with it the count of what it sent there */
        return may_still_come(job, from, &job->ranks[receiver->rank]);
    const struct mpiq_job_channel *out = find_channel(job, other, job->ranks[receiver->rank].process);
    return (out && out->sent_moved) || differ(out, in);
}

/* Of a communicator's groups, those whose counts are gone: for each receiver they are alike but for what one
   of each sort stands for. */
struct departed {
    const struct mpiq_job_rank *ended; /* NULL: none */
    const struct mpiq_job_rank *freed;
    bool any_may; /* whatever the receiver did, one of them may have something under way */
};

static void add_departed(const struct mpiq_job_state *job, uint32_t comm, uint32_t index, bool counted,
                         struct departed *departed)
{
    const struct mpiq_job_group *group = index == MPIQ_NONE ? NULL : &job->groups[index];
    for (uint32_t i = 0; group && group->members && i < group->count; i++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, group->members[i]);
        if (!rank || mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm))
            continue;
        /* Where the library's queues of one end are known and of the other end are not, the communicator may
           have another id there. */
        bool unlike = !rank->gone && counted != mpiq_job_is_counted(rank);
        departed->any_may = departed->any_may || unlike || !mpiq_was_before(rank);
        if (has_ended(rank)) {
            departed->ended = rank;
            continue;
        }
        departed->any_may = departed->any_may || (departed->freed && departed->freed->host != rank->host);
        departed->freed = rank;
    }
}

/* Receivers of any source to whom those may have sent something whose counts are gone. */
static void mark_departed(const struct mpiq_in_transit *in_transit)
{
    const struct mpiq_job_state *job = in_transit->job;
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        const struct mpiq_job_communicator *comm = &job->communicators[i];
        uint64_t size = (uint64_t)(comm->group == MPIQ_NONE ? 0 : job->groups[comm->group].count) +
                        (comm->remote == MPIQ_NONE ? 0 : job->groups[comm->remote].count);
        struct departed departed = {0};
        if (comm->member_count > 0 && comm->member_count < size) {
            bool counted = mpiq_job_is_counted(&job->ranks[job->members[comm->first_member].rank]);
            add_departed(job, i, comm->group, counted, &departed);
            add_departed(job, i, comm->remote, counted, &departed);
        }
        for (uint32_t j = 0; (departed.ended || departed.freed) && j < comm->member_count; j++) {
            const struct mpiq_job_rank *to = &job->ranks[job->members[comm->first_member + j].rank];
            if (departed.any_may || (departed.ended && may_still_come(job, departed.ended, to)) ||
                (departed.freed && may_still_come(job, departed.freed, to)))
                in_transit->members[comm->first_member + j] = 1;
        }
    }
}

bool mpiq_any_in_transit(struct mpiq_in_transit *in_transit, const struct mpiq_job_member *receiver)
{
    const struct mpiq_job_state *job = in_transit->job;
    if (!mpiq_queues_known(&job->ranks[receiver->rank]))
        return true;
    if (!in_transit->members) {
        in_transit->members = calloc((size_t)job->member_count + 1, 1);
        if (!in_transit->members)
            return true;
        mark_departed(in_transit);
        for (uint32_t i = 0; i < job->member_count; i++) {
            const struct mpiq_job_member *member = &job->members[i];
            uint32_t own = job->ranks[member->rank].process;
            for (uint32_t j = 0; j < member->channel_count; j++) {
                const struct mpiq_job_channel *channel = &job->channels[member->first_channel + j];
                if (channel->expected_moved)
                    in_transit->members[i] = 1;
                const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, channel->peer);
                const struct mpiq_job_member *other =
                    rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), member->comm) : NULL;
                if (!other)
                    continue;
                const struct mpiq_job_channel *back = find_channel(job, other, own);
                bool unlike = counted_differently(rank, &job->ranks[member->rank]);
                if (channel->sent_moved || unlike || differ(channel, back))
                    in_transit->members[other - job->members] = 1;
                if (!back && differ(NULL, channel))
                    in_transit->members[i] = 1;
            }
        }
    }
    return in_transit->members[receiver - job->members];
}

void mpiq_in_transit_deinit(struct mpiq_in_transit *in_transit)
{
    free(in_transit->members);
    in_transit->members = NULL;
}
