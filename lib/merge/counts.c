/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_counts - unexpected messages of ranks whose library's queues are not read: what one rank has sent to
 * another, by tag, minus what the other has received.  Both sides count each message once, so the difference
 * is exact if neither count changed between the looks.  Tags that a side summed up (mpiq_record.h) are
 * decoded from the difference of the sums.  If that fails, or a side says that its counts may be off, the
 * channel is left alone: something may be in transit.
 */
#include <stdlib.h>
#include <string.h>

#include "mpiq_record.h"
#include "merge/builder_private.h"

_Static_assert(MPIQ_TAG_CELLS == MPIQ_RECORD_CELLS, "the recorder's sums have another number of cells");

/* Different tags outstanding on one channel, and messages of one tag, of which a list is made. */
enum { TAGS_MAX = 64, MESSAGES_MAX = 4096, ALL_MESSAGES_MAX = 1 << 20 };

struct outstanding {
    int32_t tag;
    int64_t messages;
    int64_t bytes;
};

/* Messages that one process has sent to another and that were not received. */
struct difference {
    struct mpiq_record_cell cells[MPIQ_RECORD_CELLS];
    struct outstanding tags[TAGS_MAX];
    uint32_t tag_count;
    bool failed;
};

struct derived {
    uint32_t rank;  /* in ranks */
    int64_t number; /* among those of the same envelope */
    struct mpiq_job_operation operation;
};

struct work {
    struct mpiq_job_state *job;
    struct derived *derived;
    uint32_t count;
    uint32_t capacity;
};

/* ---- the difference of two sides' counts -----------------------------------------------------------------
 */

/* Adds messages of one tag to the cells, or with times = -1 takes them away. */
static void add_tag(struct difference *difference, int32_t tag, uint64_t messages, uint64_t bytes,
                    uint64_t times)
{
    uint64_t hash = mpiq_record_tag_hash(tag);
    for (unsigned table = 0; table < 3; table++) {
        struct mpiq_record_cell *cell = &difference->cells[mpiq_record_cell_of(hash, table)];
        cell->count += times * messages;
        cell->tags += times * messages * (uint32_t)tag;
        cell->hashes += times * messages * hash;
        cell->bytes += times * bytes;
    }
}

static void add_channel(struct difference *difference, const struct mpiq_job_builder *builder,
                        const struct mpiq_job_channel *channel, bool received, uint64_t times)
{
    for (uint32_t i = 0; channel && i < channel->tag_count; i++) {
        const struct mpiq_tag_count *count = &builder->tags[channel->first_tag + i];
        if (count->received != received)
            continue;
        if (count->cell < 0) {
            difference->failed |= count->tags > INT32_MAX;
            add_tag(difference, (int32_t)count->tags, count->messages, count->bytes, times);
            continue;
        }
        struct mpiq_record_cell *cell = &difference->cells[count->cell];
        cell->count += times * count->messages;
        cell->tags += times * count->tags;
        cell->hashes += times * count->hashes;
        cell->bytes += times * count->bytes;
    }
}

/* The only tag in a cell, if there is but one. */
static bool single_tag(const struct mpiq_record_cell *cell, int32_t *ret)
{
    if ((int64_t)cell->count <= 0 || cell->tags % cell->count != 0)
        return false;
    uint64_t tag = cell->tags / cell->count;
    if (tag > INT32_MAX || cell->hashes != cell->count * mpiq_record_tag_hash((int32_t)tag))
        return false;
    *ret = (int32_t)tag;
    return true;
}

static bool is_empty(const struct mpiq_record_cell *cell)
{
    return cell->count == 0 && cell->tags == 0 && cell->hashes == 0;
}

/* Takes tags out of the cells until none is left. */
static void decode(struct difference *difference)
{
    bool found = true;
    while (found && difference->tag_count < TAGS_MAX) {
        found = false;
        for (unsigned i = 0; i < MPIQ_RECORD_CELLS && difference->tag_count < TAGS_MAX; i++) {
            struct mpiq_record_cell cell = difference->cells[i];
            int32_t tag;
            if (!single_tag(&cell, &tag))
                continue;
            difference->tags[difference->tag_count++] =
                (struct outstanding){tag, (int64_t)cell.count, (int64_t)cell.bytes};
            add_tag(difference, tag, cell.count, cell.bytes, (uint64_t)-1);
            found = true;
        }
    }
    for (unsigned i = 0; i < MPIQ_RECORD_CELLS; i++)
        difference->failed |= !is_empty(&difference->cells[i]);
}

/* ---- messages --------------------------------------------------------------------------------------------
 */

/* How many of the sender's pending sends these may be: those that wait for more than room. */
static uint32_t pending_sends(const struct mpiq_job_state *job, const struct mpiq_job_rank *sender,
                              uint32_t comm, uint32_t receiver, int32_t tag)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sender->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[sender->first_operation + i];
        count += op->queue == MPIQ_QUEUE_SENDS && op->status == MPIQ_STATUS_PENDING && !op->inactive &&
                 !op->eager && op->comm == comm && op->peer == receiver && op->tag == tag;
    }
    return count;
}

/* The first of them were sent by calls that have returned; the last ones are pending at their sender. */
static bool add_messages(struct work *work, const struct mpiq_job_member *receiver, uint32_t sender,
                         int32_t sender_local, const struct outstanding *tag, bool bytes_known)
{
    const struct mpiq_job_state *job = work->job;
    uint32_t own = job->ranks[receiver->rank].process;
    uint32_t pending = pending_sends(job, mpiq_job_rank_of(job, sender), receiver->comm, own, tag->tag);
    if (!MPIQ_RESERVE(work->derived, work->count, work->capacity, (size_t)tag->messages))
        return false;
    for (int64_t i = 0; i < tag->messages; i++) {
        work->derived[work->count++] = (struct derived){
            .rank = receiver->rank,
            .number = i,
            .operation = {.bytes = bytes_known && tag->bytes % tag->messages == 0 ? tag->bytes / tag->messages
                                                                                  : -1,
                          .comm = receiver->comm,
                          .peer = sender,
                          .peer_local = sender_local,
                          .tag = tag->tag,
                          .more = MPIQ_NONE,
                          .collective = -1,
                          .started = MPIQ_NONE,
                          .kind = MPIQ_OPERATION_MESSAGE,
                          .queue = MPIQ_QUEUE_UNEXPECTED,
                          .eager = tag->messages - i > pending}};
    }
    return true;
}

static const struct mpiq_job_channel *find_channel(const struct mpiq_job_state *job,
                                                   const struct mpiq_job_member *member, uint32_t peer)
{
    for (uint32_t i = 0; i < member->channel_count; i++) {
        if (job->channels[member->first_channel + i].peer == peer)
            return &job->channels[member->first_channel + i];
    }
    return NULL;
}

/* What was sent on one channel and not received. */
static bool settle(struct work *work, const struct mpiq_job_member *sender, struct mpiq_job_channel *out)
{
    const struct mpiq_job_state *job = work->job;
    const struct mpiq_job_rank *to = mpiq_job_rank_of(job, out->peer);
    const struct mpiq_job_member *receiver =
        to && mpiq_job_is_counted(to) ? mpiq_job_member_of(job, (uint32_t)(to - job->ranks), sender->comm)
                                      : NULL;
    uint32_t process = job->ranks[sender->rank].process;
    if (!receiver || process == MPIQ_NONE)
        return true;
    const struct mpiq_job_channel *in = find_channel(job, receiver, process);
    /* Counts that move were not read at one moment: their difference is no number of messages. */
    if (out->sent_moved || (in && in->expected_moved))
        return true;
    uint32_t messages = out->sent - (in ? in->expected : 1);
    if (out->unclear || (in && (in->unclear || !in->counted)) || messages > INT32_MAX)
        return true;
    struct difference difference = {.failed = false};
    add_channel(&difference, job->builder, out, false, 1);
    add_channel(&difference, job->builder, in, true, (uint64_t)-1);
    decode(&difference);
    int64_t sum = 0;
    for (uint32_t i = 0; i < difference.tag_count; i++) {
        difference.failed |= difference.tags[i].messages > MESSAGES_MAX;
        sum += difference.tags[i].messages;
    }
    if (difference.failed || sum != messages || sum > ALL_MESSAGES_MAX - (int64_t)work->count)
        return true;
    for (uint32_t i = 0; i < difference.tag_count; i++) {
        if (!add_messages(work, receiver, process, sender->local_rank, &difference.tags[i],
                          out->bytes_known && (!in || in->bytes_known)))
            return false;
    }
    out->settled = true;
    return true;
}

/* ---- into the ranks' queues ------------------------------------------------------------------------------
 */

static int compare_ranks(const void *left, const void *right)
{
    const struct derived *a = left;
    const struct derived *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->operation.comm != b->operation.comm)
        return a->operation.comm < b->operation.comm ? -1 : 1;
    if (a->operation.peer != b->operation.peer)
        return a->operation.peer < b->operation.peer ? -1 : 1;
    if (a->operation.tag != b->operation.tag)
        return a->operation.tag < b->operation.tag ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The rank's operations move to the end of the array, the messages after them. */
static bool append(struct mpiq_job_state *job, struct mpiq_job_rank *rank, const struct derived *derived,
                   uint32_t count)
{
    struct mpiq_job_builder *builder = job->builder;
    if (!MPIQ_RESERVE(job->operations, job->operation_count, builder->operation_capacity,
                      (size_t)rank->operation_count + count))
        return false;
    struct mpiq_job_operation *to = &job->operations[job->operation_count];
    if (rank->operation_count > 0)
        memcpy(to, &job->operations[rank->first_operation], rank->operation_count * sizeof *to);
    for (uint32_t i = 0; i < count; i++)
        to[rank->operation_count + i] = derived[i].operation;
    rank->first_operation = job->operation_count;
    rank->operation_count += count;
    job->operation_count += rank->operation_count;
    return true;
}

bool mpiq_job_add_unexpected(struct mpiq_job_state *job)
{
    struct work work = {.job = job};
    bool good = true;
    for (uint32_t i = 0; good && i < job->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[i];
        for (uint32_t j = 0; good && j < member->channel_count; j++) {
            struct mpiq_job_channel *channel = &job->channels[member->first_channel + j];
            if (channel->counted && channel->peer != MPIQ_NONE)
                good = settle(&work, member, channel);
        }
    }
    if (work.count > 0)
        qsort(work.derived, work.count, sizeof *work.derived, compare_ranks);
    for (uint32_t i = 0; good && i < work.count;) {
        uint32_t end = i;
        while (end < work.count && work.derived[end].rank == work.derived[i].rank)
            end++;
        good = append(job, &job->ranks[work.derived[i].rank], &work.derived[i], end - i);
        i = end;
    }
    free(work.derived);
    return good;
}
