/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank waits for a message from another one, which waits for it in a collective: either that message was
   forgotten, or the collective was left out.

   Seen standing still, the two look the same.  What decides is which of the two is behind: by the calls that
   both have made since their last common collective, where they are recorded; else by what the one who waits
   has sent already, and by where the two stand in the source. */
#include <string.h>

#include "job/causes.h"

/* Who went wrong.  Where it may be either: the finding that the report begins with. */
enum fault { FAULT_SENDER, FAULT_RECEIVER, FAULT_EITHER_BY_MESSAGE, FAULT_EITHER_BY_COLLECTIVE };

/* The rank that waits is called the receiver here, and the one it waits for the sender, also where the one
   that waits is sending. */
struct pile {
    struct mpiq_analysis *analysis;
    const struct mpiq_finding *incomplete, *message;
    uint32_t sender, receiver; /* processes: the first of each */
};

static uint32_t first_process(const struct mpiq_job_state *job, const struct mpiq_rank_set *set)
{
    return mpiq_job_process(job, set->ranges[0].world, set->ranges[0].first);
}

/* ---- by recorded calls --------------------------------------------------------------------------------- */

/* The running number of a process's newest collective there; -1 not known. */
static int64_t newest(const struct mpiq_job_state *job, uint32_t process, uint32_t comm)
{
    const struct mpiq_job_member *member = mpiq_job_member_of_process(job, process, comm);
    return member ? member->ordered : -1;
}

/* A rank's last calls from one on, newest last. */
struct calls {
    const struct mpiq_job_past_call *first;
    uint32_t count;
};

/* A rank's calls since it returned from its newest collective there, or from the one that many before that;
   false: not known, or several threads made them, whose order is not known. */
static bool find_calls(const struct mpiq_job_state *job, uint32_t process, uint32_t comm, int64_t before,
                       struct calls *ret)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    uint32_t at = rank ? rank->past_count : 0;
    if (at == 0)
        return false;
    for (; at > 0; at--) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + at - 1];
        if (call->tid != job->past_calls[rank->first_past].tid)
            return false;
        int collective = mpiq_collective_class(call->call ? mpiq_job_string(job, call->call) : "");
        if (call->end_ns > 0 && call->comm == comm && mpiq_collective_ordered(collective) && before-- == 0)
            break;
    }
    *ret = (struct calls){&job->past_calls[rank->first_past + at], rank->past_count - at};
    return at > 0 || rank->past_dropped == 0;
}

/* How many of them were made at that place and have returned. */
static uint32_t count_at(const struct mpiq_job_state *job, const struct calls *calls, uint32_t place)
{
    const struct mpiq_site *wanted = &job->sites[place];
    uint32_t count = 0;
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct mpiq_job_past_call *call = &calls->first[i];
        const struct mpiq_site *site = call->site == MPIQ_NONE ? NULL : &job->sites[call->site];
        count += site && call->end_ns > 0 && site->line > 0 && site->line == wanted->line &&
                 site->file == wanted->file;
    }
    return count;
}

static bool has_failed(const struct calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        if (calls->first[i].error)
            return true;
    }
    return false;
}

/* By what both have done since the last collective that both made there: who was where the receiver waits
   more often is ahead, and of whom alone a call failed went wrong.  False: that tells nothing. */
static bool compare_calls(const struct pile *pile, enum fault *ret)
{
    const struct mpiq_job_state *job = pile->analysis->job;
    uint32_t comm = pile->incomplete->comm;
    uint32_t place = pile->message->evidence_count ? pile->message->evidence[0].site : MPIQ_NONE;
    int64_t common = newest(job, pile->receiver, comm), reached = newest(job, pile->sender, comm);
    struct calls sender, receiver;
    /* The sender's newest one is the one that it waits in. */
    if (common < 0 || reached <= common ||
        !find_calls(job, pile->sender, comm, reached - 1 - common, &sender) ||
        !find_calls(job, pile->receiver, comm, 0, &receiver))
        return false;
    uint32_t was_there = place == MPIQ_NONE ? 0 : count_at(job, &sender, place);
    if (was_there > 0) {
        *ret = was_there > count_at(job, &receiver, place) ? FAULT_SENDER : FAULT_RECEIVER;
        return true;
    }
    bool failed = has_failed(&sender);
    *ret = failed ? FAULT_SENDER : FAULT_RECEIVER;
    return failed != has_failed(&receiver);
}

/* ---- by what lies there -------------------------------------------------------------------------------- */

/* Whether a message of the receiver's, on the communicator on which it waits, lies unreceived at one who is
   in the collective: it has gone on to where that one has yet to come.  Not at the sender, which may have
   left out the exchange of both. */
static bool has_sent_ahead(const struct pile *pile)
{
    const struct mpiq_job_state *job = pile->analysis->job;
    uint32_t comm = job->operations[pile->message->operation].comm;
    for (uint32_t i = 0; i < pile->incomplete->ranks.count; i++) {
        const struct mpiq_rank_range *range = &pile->incomplete->ranks.ranges[i];
        for (uint32_t number = range->first; number <= range->last; number++) {
            uint32_t process = mpiq_job_process(job, range->world, number);
            const struct mpiq_job_rank *rank =
                process == pile->sender ? NULL : mpiq_job_rank_of(job, process);
            for (uint32_t j = 0; rank && j < rank->operation_count; j++) {
                uint32_t index = rank->first_operation + j;
                const struct mpiq_job_operation *op = &job->operations[index];
                if (op->queue == MPIQ_QUEUE_UNEXPECTED && !op->internal && op->peer == pile->receiver &&
                    op->comm == comm && !mpiq_is_taken(pile->analysis, index))
                    return true;
            }
        }
    }
    return false;
}

/* ---- by where they stand ------------------------------------------------------------------------------- */

enum { MOST_LINES = 64 };

/* The user's lines that led to a process's call, in sites, the outermost first; none of a stack with more. */
static uint32_t lines_of(const struct mpiq_analysis *analysis, uint32_t process, uint32_t *ret)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t thread = analysis->diagnosis->ranks[process].thread, count = 0;
    uint32_t path = thread == MPIQ_NONE ? MPIQ_NONE : job->threads[thread].path;
    for (uint32_t at = path; at != MPIQ_NONE; at = job->paths[at].caller - 1) {
        if (++count > MOST_LINES)
            return 0;
    }
    for (uint32_t at = path, i = count; i-- > 0; at = job->paths[at].caller - 1)
        ret[i] = job->paths[at].site;
    return count;
}

/* Whether the receiver's call comes before the sender's, where their ways part in one function.  *near: both
   calls are made there. */
static bool stands_before(const struct pile *pile, bool *near)
{
    uint32_t receiver[MOST_LINES] = {0}, sender[MOST_LINES] = {0};
    uint32_t count = lines_of(pile->analysis, pile->receiver, receiver);
    uint32_t other = lines_of(pile->analysis, pile->sender, sender), i = 0;
    while (i < count && i < other && receiver[i] == sender[i])
        i++;
    *near = i + 1 == count && i + 1 == other;
    if (i == count || i == other)
        return false;
    const struct mpiq_site *a = &pile->analysis->job->sites[receiver[i]];
    const struct mpiq_site *b = &pile->analysis->job->sites[sender[i]];
    return a->file == b->file && a->function == b->function && a->line < b->line;
}

/* -------------------------------------------------------------------------------------------------------- */

static enum fault find_fault(const struct pile *pile)
{
    const char *call = pile->incomplete->collective;
    enum fault fault;
    bool near;
    if (call && strcmp(call, "MPI_Finalize") == 0)
        return FAULT_SENDER;
    if (compare_calls(pile, &fault))
        return fault;
    if (!stands_before(pile, &near) || has_sent_ahead(pile))
        return FAULT_RECEIVER;
    /* Others who have not come wait for it: had it left out the collective, they would be in there. */
    if (pile->incomplete->missing.size > pile->message->ranks.size)
        return FAULT_SENDER;
    return near ? FAULT_EITHER_BY_MESSAGE : FAULT_EITHER_BY_COLLECTIVE;
}

static void settle(struct mpiq_analysis *analysis, struct mpiq_finding *incomplete,
                   struct mpiq_finding *message)
{
    if (message->suspects.size == 0 || !mpiq_rank_set_includes(&incomplete->missing, &message->ranks) ||
        !mpiq_rank_set_includes(&incomplete->ranks, &message->suspects))
        return;
    struct pile pile = {.analysis = analysis,
                        .incomplete = incomplete,
                        .message = message,
                        .sender = first_process(analysis->job, &message->suspects),
                        .receiver = first_process(analysis->job, &message->ranks)};
    enum fault fault = find_fault(&pile);
    bool by_message = fault == FAULT_SENDER || fault == FAULT_EITHER_BY_MESSAGE;
    incomplete->piled = incomplete->piled || by_message;
    if (fault == FAULT_SENDER || fault == FAULT_RECEIVER)
        return;
    struct mpiq_rank_set *suspects = by_message ? &message->suspects : &incomplete->suspects;
    bool all =
        by_message && incomplete->ranks.size > 1 && mpiq_rank_set_includes(suspects, &incomplete->ranks);
    if (all) /* both would be all there are */
        mpiq_rank_set_deinit(suspects);
    else if (suspects->size > 0 &&
             !mpiq_rank_set_add_set(suspects, by_message ? &message->ranks : &message->suspects))
        analysis->failed = true;
}

void mpiq_settle_piles(struct mpiq_analysis *analysis)
{
    struct mpiq_diagnosis *diagnosis = analysis->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *incomplete = &diagnosis->findings[i];
        for (size_t j = 0;
             incomplete->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE && j < diagnosis->finding_count; j++) {
            struct mpiq_finding *message = &diagnosis->findings[j];
            if (mpiq_is_of_message(message) && message->proven && message->root == incomplete->root)
                settle(analysis, incomplete, message);
        }
    }
}
