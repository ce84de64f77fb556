/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/headline.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "job/causes.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/waits.h"
#include "words/nouns.h"

static const char *capital(struct mpiq_arena *arena, const char *text)
{
    return text && islower((unsigned char)text[0])
               ? WORDS(arena, "%c%s", toupper((unsigned char)text[0]), text + 1)
               : text;
}

static bool is_plural(const struct mpiq_rank_set *set)
{
    return set->size != 1;
}

/* " on communicator \"row\"", "" for the first world's. */
static const char *on(struct mpiq_finder *finder, uint32_t comm)
{
    return mpiq_words_on(finder->arena, finder->job, comm);
}

/* ---- collectives ------------------------------------------------------------------------------------ */

/* The window or the communicator of the call that the finding is about, likewise. */
static const char *on_object(struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    if (finding->communicators > 0 && finding->comm != MPIQ_NONE) {
        char *text _cleanup_free_ =
            mpiq_memory_checked(mpiq_job_communicators_words(finder->job, finding->comm));
        return WORDS(finder->arena, " on %s", text ? text : "…");
    }
    if (finding->window == MPIQ_NONE)
        return on(finder, finding->comm);
    return WORDS(finder->arena, " on %s", mpiq_words_window(finder->arena, finder->job, finding->window));
}

/* Those in a call after those who are not were named: "the other 63 ranks" where there are no more. */
static const char *the_others(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                              const struct mpiq_rank_set *others, const struct mpiq_rank_set *named)
{
    struct mpiq_rank_set all _cleanup_(mpiq_rank_set_deinit) = {0};
    uint64_t size = 0;
    if (finding->communicators == 0 && finding->comm != MPIQ_NONE) {
        if (!mpiq_job_communicator_members(finder->job, finding->comm, &all))
            finder->failed = true;
        size = all.size;
    } else if (finding->comm == MPIQ_NONE && finder->job->world_count == 1) {
        size = finder->job->process_count;
    }
    if (others->size + named->size != size || others->size < 2)
        return mpiq_words_ranks(finder->arena, others);
    return WORDS(finder->arena, "the other %" PRIu64 " ranks", others->size);
}

/* "MPI_Bcast", of ranks that are all in that call; "other collectives". */
static const char *call_of(const struct mpiq_finder *finder, const struct mpiq_rank_set *ranks)
{
    const char *call = NULL;
    for (uint32_t i = 0; i < ranks->count; i++) {
        for (uint32_t rank = ranks->ranges[i].first; rank <= ranks->ranges[i].last; rank++) {
            uint32_t process = mpiq_job_process(finder->job, ranks->ranges[i].world, rank);
            const char *own = process == MPIQ_NONE ? NULL : finder->diagnosis->ranks[process].call;
            if (!own || (call && strcmp(call, own) != 0))
                return "other collectives";
            call = own;
        }
    }
    return call ? call : "other collectives";
}

static const char *incomplete(struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = finder->arena;
    const char *call = finding->collective ? finding->collective : "collective call";
    const char *never = finding->proven ? "never" : finding->missing.size == 1 ? "has not" : "have not";
    const char *entered = finding->restarted ? "restarted" : finding->requests ? "started" : "entered";
    const char *made = mpiq_words_place(arena, finder->job, finding->made);
    if (made[0])
        call = WORDS(arena, "%s (created at %s)", call, made);
    if (finding->may_have_left && finding->communicators == 0)
        return WORDS(arena,
                     "%s %s in %s%s, %s in %s: one of the sides took another path, or the roots differ",
                     mpiq_words_ranks(arena, &finding->ranks), is_plural(&finding->ranks) ? "wait" : "waits",
                     call, on(finder, finding->comm), mpiq_words_ranks(arena, &finding->missing),
                     call_of(finder, &finding->missing));
    /* The few are said first: they are whom to look at. */
    if (finding->missing.size > finding->ranks.size && finding->communicators == 0)
        return WORDS(arena, "%s %s %s%s, which %s %s %s%s", mpiq_words_ranks(arena, &finding->ranks),
                     finding->requests            ? is_plural(&finding->ranks) ? "wait for" : "waits for"
                     : is_plural(&finding->ranks) ? "are in"
                                                  : "is in",
                     call, on_object(finder, finding),
                     the_others(finder, finding, &finding->missing, &finding->ranks), never, entered,
                     finding->proven ? "" : " so far");
    return WORDS(arena, "%s %s %s the %s%s that %s %s waiting %s%s",
                 mpiq_words_ranks(arena, &finding->missing), never, entered, call, on_object(finder, finding),
                 the_others(finder, finding, &finding->ranks, &finding->missing),
                 is_plural(&finding->ranks) ? "are" : "is", finding->requests ? "for" : "in",
                 finding->proven ? "" : ", so far");
}

/* ---- messages --------------------------------------------------------------------------------------- */

static const char *communicator(struct mpiq_finder *finder, uint32_t comm)
{
    return comm == MPIQ_NONE
               ? "another communicator"
               : mpiq_words_communicator(finder->arena, finder->job, finder->job->communicators[comm].user);
}

/* "ranks 0-23 are receiving tag 200, but the messages sent to them have tag 100"; NULL: neither the tags nor
   the communicators differ. */
static const char *of_several_peers(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                                    const struct mpiq_job_operation *op,
                                    const struct mpiq_job_operation *other, bool receive)
{
    struct mpiq_arena *arena = finder->arena;
    const char *who = mpiq_words_ranks(arena, &finding->ranks);
    const char *tag = mpiq_words_tag(arena, op);
    if (finding->near_misses[0].differs == MPIQ_MISS_TAG)
        return receive ? WORDS(arena, "%s are receiving %s, but the messages sent to them have %s", who, tag,
                               mpiq_words_tag(arena, other))
                       : WORDS(arena, "%s are sending %s, but the ranks they send to are receiving %s", who,
                               tag, mpiq_words_tag(arena, other));
    if (finding->near_misses[0].differs != MPIQ_MISS_COMMUNICATOR)
        return NULL;
    return receive ? WORDS(arena, "%s are receiving %s on %s, but the messages sent to them are on %s", who,
                           tag, communicator(finder, op->comm), communicator(finder, other->comm))
                   : WORDS(arena, "%s are sending %s on %s, but the ranks they send to are receiving on %s",
                           who, tag, communicator(finder, op->comm), communicator(finder, other->comm));
}

/* "each of ranks 1-22 receives tag 100 from rank r-1, which sent tag 200"; NULL: they have not that much in
   common. */
static const char *related_miss(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                                const struct mpiq_job_operation *op, const struct mpiq_job_operation *other,
                                bool receive)
{
    struct mpiq_arena *arena = finder->arena;
    const char *peer = mpiq_relation_peer(finder, &finding->relation, op->any);
    if (finding->ranks.size < 2 || finding->alike_misses < finding->ranks.size)
        return NULL;
    const char *each = WORDS(arena, "each of %s", mpiq_words_ranks(arena, &finding->ranks));
    if (!peer)
        return of_several_peers(finder, finding, op, other, receive);
    switch (finding->near_misses[0].differs) {
    case MPIQ_MISS_TAG:
        return receive ? WORDS(arena, "%s receives %s from %s, which sent %s", each,
                               mpiq_words_tag(arena, op), peer, mpiq_words_tag(arena, other))
                       : WORDS(arena, "%s sends %s to %s, which receives %s", each, mpiq_words_tag(arena, op),
                               peer, mpiq_words_tag(arena, other));
    case MPIQ_MISS_COMMUNICATOR:
        return receive ? WORDS(arena, "%s receives %s on %s from %s, which sent it on %s", each,
                               mpiq_words_tag(arena, op), communicator(finder, op->comm), peer,
                               communicator(finder, other->comm))
                       : WORDS(arena, "%s sends %s on %s to %s, which receives it on %s", each,
                               mpiq_words_tag(arena, op), communicator(finder, op->comm), peer,
                               communicator(finder, other->comm));
    default:
        return NULL;
    }
}

/* "rank 3 has sent one": who else has sent what is awaited from one rank. */
static const char *senders(struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    for (size_t i = 0; i < finding->near_miss_count; i++) {
        if (finding->near_misses[i].differs == MPIQ_MISS_SOURCE)
            mpiq_finder_add(finder, &set, finding->near_misses[i].process);
    }
    if (finding->near_miss_count >= MPIQ_MOST_NEAR_MISSES) /* there may be more */
        return "other ranks have sent theirs";
    return is_plural(&set)
               ? WORDS(finder->arena, "%s have sent theirs", mpiq_words_ranks(finder->arena, &set))
               : WORDS(finder->arena, "%s has sent one", mpiq_words_ranks(finder->arena, &set));
}

/* "rank 0 sent tag 41, but rank 1 is receiving tag 14". */
static const char *near_miss(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                             const struct mpiq_job_operation *op, bool receive)
{
    struct mpiq_arena *arena = finder->arena;
    const struct mpiq_near_miss *miss = &finding->near_misses[0];
    const struct mpiq_job_operation *other = &finder->job->operations[miss->operation];
    if (finding->swapped)
        return WORDS(arena, "%s %s with %s what is %s with %s, and with %s what is %s with %s",
                     mpiq_words_ranks(arena, &finding->ranks), receive ? "receive" : "send",
                     mpiq_words_tag(arena, op), receive ? "sent" : "received", mpiq_words_tag(arena, other),
                     mpiq_words_tag(arena, other), receive ? "sent" : "received", mpiq_words_tag(arena, op));
    const char *related = related_miss(finder, finding, op, other, receive);
    if (related)
        return related;
    const char *here = mpiq_words_ranks(arena, &finding->ranks);
    const char *is = is_plural(&finding->ranks) ? "are" : "is";
    const char *there = mpiq_words_rank(arena, finder->job, miss->process);
    const char *does = receive ? "receiving" : "sending";
    switch (miss->differs) {
    case MPIQ_MISS_TAG:
        return receive ? WORDS(arena, "%s sent %s, but %s %s receiving %s", there,
                               mpiq_words_tag(arena, other), here, is, mpiq_words_tag(arena, op))
                       : WORDS(arena, "%s %s sending %s, but %s is receiving %s", here, is,
                               mpiq_words_tag(arena, op), there, mpiq_words_tag(arena, other));
    case MPIQ_MISS_COMMUNICATOR:
        return receive ? WORDS(arena, "%s sent %s on %s, but %s %s receiving it on %s", there,
                               mpiq_words_tag(arena, op->tag_any ? other : op),
                               communicator(finder, other->comm), here, is, communicator(finder, op->comm))
                       : WORDS(arena, "%s %s sending %s on %s, but %s is receiving it on %s", here, is,
                               mpiq_words_tag(arena, op), communicator(finder, op->comm), there,
                               communicator(finder, other->comm));
    case MPIQ_MISS_SOURCE:
        if (finding->other != MPIQ_NONE)
            return WORDS(arena,
                         "%s sent %s to %s and is receiving %s from it, but it is %s that waits for the one "
                         "and sent the other",
                         here, mpiq_words_tag(arena, &finder->job->operations[finding->other]),
                         mpiq_words_rank(arena, finder->job, op->peer), mpiq_words_tag(arena, other), there);
        if (receive && finding->relation.same_peer)
            return WORDS(arena, "%s never sent the message with %s%s that %s %s waiting for; %s",
                         mpiq_words_rank(arena, finder->job, op->peer), mpiq_words_tag(arena, op),
                         on(finder, finding->comm), here, is, senders(finder, finding));
        return receive ? WORDS(arena, "%s sent %s to %s, which %s receiving it from %s", there,
                               mpiq_words_tag(arena, other), here, is,
                               mpiq_words_rank(arena, finder->job, op->peer))
                       : WORDS(arena, "%s %s sending %s to %s, which is receiving it from %s", here, is,
                               mpiq_words_tag(arena, op), there,
                               mpiq_words_rank(arena, finder->job, other->peer));
    case MPIQ_MISS_DESTINATION:
        return WORDS(arena, "%s sent %s to %s, but %s %s %s it", there, mpiq_words_tag(arena, other),
                     mpiq_words_rank(arena, finder->job, miss->holder), here,
                     is_plural(&finding->ranks) ? "wait for" : "waits for", does);
    default:
        return NULL;
    }
}

/* Whether the peer is in MPI_Finalize or past it. */
bool mpiq_has_left(const struct mpiq_finder *finder, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(finder->job, process);
    return rank && (rank->phase >= MPIQ_PHASE_FINALIZING ||
                    mpiq_blocking_call(finder->diagnosis->ranks[process].call) == MPIQ_BLOCKING_FINALIZE);
}

static const char *persistent(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                              const struct mpiq_job_operation *op, bool receive)
{
    struct mpiq_arena *arena = finder->arena;
    const char *place =
        mpiq_words_place(arena, finder->job, finder->job->operations[finding->never_started].started);
    return WORDS(arena, "%s never started its persistent %s with %s%s%s%s, which %s %s for",
                 mpiq_words_rank(arena, finder->job, op->peer), receive ? "send" : "receive",
                 mpiq_words_tag(arena, op), place[0] ? " (made at " : "", place, place[0] ? ")" : "",
                 mpiq_words_ranks(arena, &finding->ranks), is_plural(&finding->ranks) ? "wait" : "waits");
}

static const char *message(struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    const struct mpiq_job_operation *op = &finder->job->operations[finding->operation];
    struct mpiq_arena *arena = finder->arena;
    bool receive = !mpiq_is_send(op);
    bool plural = is_plural(&finding->ranks);
    const struct mpiq_relation *relation = &finding->relation;
    if (finding->never_started != MPIQ_NONE)
        return persistent(finder, finding, op, receive);
    bool astray = finding->near_miss_count > 0 && finding->near_misses[0].differs == MPIQ_MISS_DESTINATION;
    if (finding->near_miss_count > 0 && !astray)
        return near_miss(finder, finding, op, receive);
    const char *who = mpiq_words_ranks(arena, &finding->ranks);
    const char *where = on(finder, finding->comm);
    if (op->any)
        return op->tag_any
                   ? WORDS(arena,
                           "no rank will ever send the message%s that %s %s waiting for (any tag "
                           "from any rank)",
                           where, who, plural ? "are" : "is")
                   : WORDS(arena, "no rank will ever send the message with %s%s that %s %s waiting for",
                           mpiq_words_tag(arena, op), where, who, plural ? "are" : "is");
    if (op->peer == MPIQ_NONE)
        return WORDS(arena, "%s %s for a message with %s that will never come", who,
                     plural ? "wait" : "waits", mpiq_words_tag(arena, op));
    if (relation->same_peer && mpiq_has_left(finder, op->peer) &&
        finder->diagnosis->ranks[op->peer].doing != MPIQ_DOING_GONE)
        return WORDS(arena,
                     receive ? "%s is in MPI_Finalize while %s still %s for a message from it"
                             : "%s is in MPI_Finalize while %s still %s to it",
                     mpiq_words_rank(arena, finder->job, op->peer), who,
                     receive  ? plural ? "wait" : "waits"
                     : plural ? "send"
                              : "sends");
    const char *peer = mpiq_relation_peer(finder, relation, false);
    bool self = relation->offset == 0 && (relation->relative || relation->wraps) &&
                finder->job->communicators[op->comm].remote == MPIQ_NONE;
    if (self)
        return WORDS(arena,
                     receive ? "%s%s %s for a message from itself (%s) that it never sent"
                             : "%s%s %s a message to itself (%s) that it never receives",
                     plural ? "each of " : "", who, receive ? "waits" : "sends", mpiq_words_tag(arena, op));
    if (!peer)
        return WORDS(arena,
                     receive ? "%s %s for messages with %s%s that are never sent"
                             : "%s %s messages with %s%s that are never received",
                     who,
                     receive  ? plural ? "wait" : "waits"
                     : plural ? "send"
                              : "sends",
                     mpiq_words_tag(arena, op), where);
    if (!relation->same_peer)
        return WORDS(arena,
                     receive ? "each of %s waits for a message with %s from %s, which never sent it%s"
                             : "each of %s sends a message with %s to %s, which never receives it%s",
                     who, mpiq_words_tag(arena, op), peer, where);
    if (receive && !astray && mpiq_last_received(finder, finding))
        return WORDS(arena, "%s never sent another message with %s%s, which %s is waiting for", peer,
                     mpiq_words_tag(arena, op), where, who);
    return receive ? WORDS(arena, "%s never sent the message with %s%s that %s %s waiting for%s", peer,
                           mpiq_words_tag(arena, op), where, who, plural ? "are" : "is",
                           astray ? WORDS(arena, "; it sent one to %s",
                                          mpiq_words_rank(arena, finder->job, finding->near_misses[0].holder))
                                  : "")
                   : WORDS(arena, "%s never received the message with %s%s that %s %s sending", peer,
                           mpiq_words_tag(arena, op), where, who, plural ? "are" : "is");
}

/* ---- circles ---------------------------------------------------------------------------------------- */

/* Whether all evidence is of sends (1), of receives (-1), of both or other things (0). */
static int messages_of(const struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    int all = 0;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        uint32_t operation = finding->evidence[i].operation;
        const struct mpiq_job_operation *op =
            operation == MPIQ_NONE ? NULL : &finder->job->operations[operation];
        int one = !op || op->internal ? 0 : mpiq_is_send(op) ? 1 : mpiq_is_receive(op) ? -1 : 0;
        if (one == 0 || (all != 0 && one != all))
            return 0;
        all = one;
    }
    return all;
}

/* "rank 2 is in MPI_Finalize, but ranks 0-1,3 wait in MPI_Allreduce": some have left.  NULL: nobody has. */
static const char *left_early(struct mpiq_finder *finder, struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = finder->arena;
    struct mpiq_rank_set left _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set stay _cleanup_(mpiq_rank_set_deinit) = {0};
    const char *call = NULL;
    uint32_t comm = MPIQ_NONE;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        bool finalizes = mpiq_blocking_call(evidence->call) == MPIQ_BLOCKING_FINALIZE;
        if (!finalizes && call && evidence->call && strcmp(call, evidence->call) != 0)
            return NULL; /* those who are left are in more than one call */
        call = finalizes ? call : evidence->call;
        comm = finalizes ? comm : finder->diagnosis->ranks[evidence->process].comm;
        if (!mpiq_rank_set_add_set(finalizes ? &left : &stay, &evidence->ranks))
            finder->failed = true;
    }
    if (left.size == 0 || stay.size == 0 || !call)
        return NULL;
    if (left.size != stay.size && finding->suspects.size == 0 &&
        !mpiq_rank_set_add_set(&finding->suspects, left.size < stay.size ? &left : &stay))
        finder->failed = true;
    return WORDS(arena, "%s %s in MPI_Finalize, but %s %s in %s%s", mpiq_words_ranks(arena, &left),
                 is_plural(&left) ? "are" : "is", mpiq_words_ranks(arena, &stay),
                 is_plural(&stay) ? "wait" : "waits", call, on(finder, comm));
}

static const char *opposite_order(struct mpiq_finder *finder, struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = finder->arena;
    const char *left = left_early(finder, finding);
    if (left)
        return left;
    const char *text = NULL;
    uint32_t comms[2] = {MPIQ_NONE, MPIQ_NONE};
    bool two = finding->evidence_count == 2;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        uint32_t comm = finder->diagnosis->ranks[evidence->process].comm;
        comms[i > 0] = comm;
        two = two && comm != MPIQ_NONE;
        const char *one =
            WORDS(arena, "%s %s in %s%s%s", mpiq_words_ranks(arena, &evidence->ranks),
                  is_plural(&evidence->ranks) ? "are" : "is", evidence->call ? evidence->call : "MPI",
                  comm == MPIQ_NONE ? "" : " on ", comm == MPIQ_NONE ? "" : communicator(finder, comm));
        text = text ? WORDS(arena, "%s, %s", text, one) : one;
    }
    return WORDS(arena, "%s: %s",
                 two && comms[0] != comms[1]
                     ? "two communicators are entered in opposite order, or a call was skipped"
                     : "collectives wait for each other",
                 text ? text : "");
}

/* ": rank 1 waits for partition 3 of 4, tag 1 from rank 0": the first of them that waits for a partition; "".
 */
static const char *partition(struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = finder->job;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        const struct mpiq_job_operation *op =
            evidence->operation == MPIQ_NONE ? NULL : &job->operations[evidence->operation];
        if (!op || mpiq_job_more(job, op)->partitions == 0)
            continue;
        if (is_plural(&evidence->ranks)) /* each has another peer */
            return ", for partitions";
        return WORDS(finder->arena, ": %s waits for %s", mpiq_words_ranks(finder->arena, &evidence->ranks),
                     mpiq_words_operation(finder->arena, job, mpiq_job_rank_of(job, evidence->process),
                                          evidence->operation));
    }
    return "";
}

static const char *circle(struct mpiq_finder *finder, struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = finder->arena;
    const char *who = mpiq_words_ranks(arena, &finding->ranks);
    int messages = messages_of(finder, finding);
    if (finding->through == 2)
        return opposite_order(finder, finding);
    if (finding->step_count == 1) {
        const char *why = finding->evidence_count > 0 && finding->evidence[0].call
                              ? WORDS(arena, " in %s", finding->evidence[0].call)
                              : "";
        return WORDS(arena, "%s%s waits for itself%s%s", is_plural(&finding->ranks) ? "each of " : "", who,
                     why, partition(finder, finding));
    }
    const char *how =
        finding->circles > 1 ? WORDS(arena, "in %" PRIu64 " circles", finding->circles) : "in a circle";
    if (finding->ranks.size == 2)
        how = "";
    const char *space = how[0] ? " " : "";
    if (messages > 0)
        return WORDS(arena, "%s send to each other%s%s, and none has posted the receive", who, space, how);
    if (messages < 0)
        return WORDS(arena, "%s receive from each other%s%s, and none has sent", who, space, how);
    return WORDS(arena, "%s wait for each other%s%s%s", who, space, how, partition(finder, finding));
}

/* ---- consequences ----------------------------------------------------------------------------------- */

/* "ranks 1-2 wait in MPI_Barrier at exchange.c:12 for rank 0": those whom the cause does not name. */
static const char *consequence(struct mpiq_finder *finder, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = finder->arena;
    struct mpiq_rank_set beyond _cleanup_(mpiq_rank_set_deinit) = {0};
    const struct mpiq_finding *cause = &finder->diagnosis->findings[finding->consequence_of];
    mpiq_ranks_beyond(finder, cause, finding, &beyond);
    const struct mpiq_rank_set *ranks = beyond.size > 0 ? &beyond : &finding->ranks;
    const struct mpiq_evidence *evidence = finding->evidence_count > 0 ? &finding->evidence[0] : NULL;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (mpiq_rank_set_overlaps(&finding->evidence[i].ranks, ranks)) {
            evidence = &finding->evidence[i];
            break;
        }
    }
    bool one_place = evidence && mpiq_rank_set_includes(&evidence->ranks, ranks);
    const char *place = one_place ? mpiq_words_place(arena, finder->job, evidence->site) : "";
    const char *call = evidence && evidence->call ? evidence->call
                       : finding->collective      ? finding->collective
                                                  : NULL;
    const char *what = "";
    if (finding->missing.size > 0)
        what = mpiq_words_ranks(arena, &finding->missing);
    else if (evidence && evidence->wait && ranks->size > 1)
        what = evidence->wait->text;
    else if (evidence && evidence->wait) {
        uint32_t process = mpiq_job_process(finder->job, ranks->ranges[0].world, ranks->ranges[0].first);
        what = finder->diagnosis->ranks[process].what ? finder->diagnosis->ranks[process].what : "";
    }
    return WORDS(arena, "%s %s%s%s%s%s%s%s", mpiq_words_ranks(arena, ranks),
                 is_plural(ranks) ? "wait" : "waits", call ? " in " : "", call ? call : "",
                 place[0] ? " at " : "", place, what[0] ? " for " : "", what);
}

/* ---- all of them ------------------------------------------------------------------------------------ */

static const char *headline(struct mpiq_finder *finder, struct mpiq_finding *finding)
{
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
        return incomplete(finder, finding);
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
        return message(finder, finding);
    case MPIQ_FINDING_WAIT_CYCLE:
        return circle(finder, finding);
    case MPIQ_FINDING_COLLECTIVE_MISMATCH: /* these have theirs since they were found */
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
    case MPIQ_FINDING_COLLECTIVE_OVERLAP:
    case MPIQ_FINDING_TRUNCATION:
    case MPIQ_FINDING_RANK_GONE:
    case MPIQ_FINDING_RANK_STOPPED:
    case MPIQ_FINDING_RANK_ELSEWHERE:
    case MPIQ_FINDING_REQUEST_LEAK:
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
    case MPIQ_FINDING_WINDOW_WAIT:
    case MPIQ_FINDING_FILE_LOCK:
    case MPIQ_FINDING_POLLING_UNMATCHED:
    case MPIQ_FINDING_STACKS_DIFFER:
    case MPIQ_FINDING_MESSAGE_LOST:
    case MPIQ_FINDING_TYPE_MISMATCH:
    case MPIQ_FINDING_NOT_FREED:
        break;
    }
    return finding->text;
}

void mpiq_find_headlines(struct mpiq_finder *finder)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count && !finder->failed; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        bool waits = finding->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE ||
                     finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED ||
                     finding->kind == MPIQ_FINDING_SEND_UNMATCHED ||
                     finding->kind == MPIQ_FINDING_WAIT_CYCLE || finding->kind == MPIQ_FINDING_WINDOW_WAIT ||
                     finding->kind == MPIQ_FINDING_FILE_LOCK;
        const char *text = finding->consequence_of != MPIQ_NONE && waits ? consequence(finder, finding)
                                                                         : headline(finder, finding);
        finding->text = finding->consequence_of == MPIQ_NONE && finding->proven
                            ? capital(finder->arena, text ? text : finding->text)
                        : text ? text
                               : finding->text;
    }
}
