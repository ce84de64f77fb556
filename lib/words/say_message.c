/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about messages. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "words/quantities.h"
#include "words/say_private.h"

static const char *communicator(struct mpiq_speaker *s, uint32_t comm)
{
    return comm == MPIQ_NONE ? "another communicator"
                             : mpiq_words_communicator(s->arena, s->job, s->job->communicators[comm].user);
}

/* "ranks 0-23 are receiving tag 200, but the messages sent to them have tag 100"; NULL: neither the tags nor
   the communicators differ. */
static const char *of_several_peers(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                                    const struct mpiq_job_operation *op,
                                    const struct mpiq_job_operation *other, bool receive)
{
    struct mpiq_arena *arena = s->arena;
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
                           tag, communicator(s, op->comm), communicator(s, other->comm))
                   : WORDS(arena, "%s are sending %s on %s, but the ranks they send to are receiving on %s",
                           who, tag, communicator(s, op->comm), communicator(s, other->comm));
}

/* "each of ranks 1-22 receives tag 100 from rank r-1, which sent tag 200"; NULL: they have not that much in
   common. */
static const char *related_miss(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                                const struct mpiq_job_operation *op, const struct mpiq_job_operation *other,
                                bool receive)
{
    struct mpiq_arena *arena = s->arena;
    const char *peer = mpiq_say_peer(s, &finding->relation, op->any);
    if (finding->ranks.size < 2 || finding->alike_misses < finding->ranks.size)
        return NULL;
    const char *each = WORDS(arena, "each of %s", mpiq_words_ranks(arena, &finding->ranks));
    if (!peer)
        return of_several_peers(s, finding, op, other, receive);
    switch (finding->near_misses[0].differs) {
    case MPIQ_MISS_TAG:
        return receive ? WORDS(arena, "%s receives %s from %s, which sent %s", each,
                               mpiq_words_tag(arena, op), peer, mpiq_words_tag(arena, other))
                       : WORDS(arena, "%s sends %s to %s, which receives %s", each, mpiq_words_tag(arena, op),
                               peer, mpiq_words_tag(arena, other));
    case MPIQ_MISS_COMMUNICATOR:
        return receive ? WORDS(arena, "%s receives %s on %s from %s, which sent it on %s", each,
                               mpiq_words_tag(arena, op), communicator(s, op->comm), peer,
                               communicator(s, other->comm))
                       : WORDS(arena, "%s sends %s on %s to %s, which receives it on %s", each,
                               mpiq_words_tag(arena, op), communicator(s, op->comm), peer,
                               communicator(s, other->comm));
    default:
        return NULL;
    }
}

static void add(struct mpiq_speaker *s, struct mpiq_rank_set *set, uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(s->job, process);
    if (process != MPIQ_NONE && !mpiq_rank_set_add(set, name.world, name.rank))
        s->failed = true;
}

/* "rank 3 has sent one": who else has sent what is awaited from one rank. */
static const char *senders(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    for (size_t i = 0; i < finding->near_miss_count; i++) {
        if (finding->near_misses[i].differs == MPIQ_MISS_SOURCE)
            add(s, &set, finding->near_misses[i].process);
    }
    if (finding->near_miss_count >= MPIQ_MOST_NEAR_MISSES) /* there may be more */
        return "other ranks have sent theirs";
    return mpiq_is_plural(&set) ? WORDS(s->arena, "%s have sent theirs", mpiq_words_ranks(s->arena, &set))
                                : WORDS(s->arena, "%s has sent one", mpiq_words_ranks(s->arena, &set));
}

/* "rank 0 sent tag 41, but rank 1 is receiving tag 14". */
static const char *near_miss(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                             const struct mpiq_job_operation *op, bool receive)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_near_miss *miss = &finding->near_misses[0];
    const struct mpiq_job_operation *other = &s->job->operations[miss->operation];
    if (finding->swapped)
        return WORDS(arena, "%s %s with %s what is %s with %s, and with %s what is %s with %s",
                     mpiq_words_ranks(arena, &finding->ranks), receive ? "receive" : "send",
                     mpiq_words_tag(arena, op), receive ? "sent" : "received", mpiq_words_tag(arena, other),
                     mpiq_words_tag(arena, other), receive ? "sent" : "received", mpiq_words_tag(arena, op));
    const char *related = related_miss(s, finding, op, other, receive);
    if (related)
        return related;
    const char *here = mpiq_words_ranks(arena, &finding->ranks);
    const char *is = mpiq_is_plural(&finding->ranks) ? "are" : "is";
    const char *there = mpiq_words_rank(arena, s->job, miss->process);
    const char *does = receive ? "receiving" : "sending";
    switch (miss->differs) {
    case MPIQ_MISS_TAG:
        return receive ? WORDS(arena, "%s sent %s, but %s %s receiving %s", there,
                               mpiq_words_tag(arena, other), here, is, mpiq_words_tag(arena, op))
                       : WORDS(arena, "%s %s sending %s, but %s is receiving %s", here, is,
                               mpiq_words_tag(arena, op), there, mpiq_words_tag(arena, other));
    case MPIQ_MISS_COMMUNICATOR:
        return receive ? WORDS(arena, "%s sent %s on %s, but %s %s receiving it on %s", there,
                               mpiq_words_tag(arena, op->tag_any ? other : op), communicator(s, other->comm),
                               here, is, communicator(s, op->comm))
                       : WORDS(arena, "%s %s sending %s on %s, but %s is receiving it on %s", here, is,
                               mpiq_words_tag(arena, op), communicator(s, op->comm), there,
                               communicator(s, other->comm));
    case MPIQ_MISS_SOURCE:
        if (finding->other != MPIQ_NONE)
            return WORDS(arena,
                         "%s sent %s to %s and is receiving %s from it, but it is %s that waits for the one "
                         "and sent the other",
                         here, mpiq_words_tag(arena, &s->job->operations[finding->other]),
                         mpiq_words_rank(arena, s->job, op->peer), mpiq_words_tag(arena, other), there);
        if (receive && finding->relation.same_peer)
            return WORDS(arena, "%s never sent the message with %s%s that %s %s waiting for; %s",
                         mpiq_words_rank(arena, s->job, op->peer), mpiq_words_tag(arena, op),
                         mpiq_words_on(arena, s->job, finding->comm), here, is, senders(s, finding));
        if (!finding->relation.same_peer) /* the first one's miss says nothing of the others */
            return NULL;
        return receive
                   ? WORDS(arena, "%s sent %s to %s, which %s receiving it from %s", there,
                           mpiq_words_tag(arena, other), here, is, mpiq_words_rank(arena, s->job, op->peer))
                   : WORDS(arena, "%s %s sending %s to %s, which is receiving it from %s", here, is,
                           mpiq_words_tag(arena, op), there, mpiq_words_rank(arena, s->job, other->peer));
    case MPIQ_MISS_DESTINATION:
        return WORDS(arena, "%s sent %s to %s, but %s %s %s it", there, mpiq_words_tag(arena, other),
                     mpiq_words_rank(arena, s->job, miss->holder), here,
                     mpiq_is_plural(&finding->ranks) ? "wait for" : "waits for", does);
    default:
        return NULL;
    }
}

static const char *persistent(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                              const struct mpiq_job_operation *op, bool receive)
{
    struct mpiq_arena *arena = s->arena;
    const char *place = mpiq_words_place(arena, s->job, s->job->operations[finding->never_started].started);
    return WORDS(arena, "%s never started its persistent %s with %s%s%s%s, which %s %s for",
                 mpiq_words_rank(arena, s->job, op->peer), receive ? "send" : "receive",
                 mpiq_words_tag(arena, op), place[0] ? " (made at " : "", place, place[0] ? ")" : "",
                 mpiq_words_ranks(arena, &finding->ranks),
                 mpiq_is_plural(&finding->ranks) ? "wait" : "waits");
}

const char *mpiq_say_message(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_operation *op = &s->job->operations[finding->operation];
    struct mpiq_arena *arena = s->arena;
    bool receive = !mpiq_is_send(op);
    bool plural = mpiq_is_plural(&finding->ranks);
    const struct mpiq_relation *relation = &finding->relation;
    if (finding->never_started != MPIQ_NONE)
        return persistent(s, finding, op, receive);
    bool astray = finding->near_miss_count > 0 && finding->near_misses[0].differs == MPIQ_MISS_DESTINATION;
    const char *miss = finding->near_miss_count > 0 && !astray ? near_miss(s, finding, op, receive) : NULL;
    if (miss)
        return miss;
    const char *who = mpiq_words_ranks(arena, &finding->ranks);
    const char *where = mpiq_words_on(arena, s->job, finding->comm);
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
    if (finding->peer_finalizes)
        return WORDS(arena,
                     receive ? "%s is in MPI_Finalize while %s still %s for a message from it"
                             : "%s is in MPI_Finalize while %s still %s to it",
                     mpiq_words_rank(arena, s->job, op->peer), who,
                     receive  ? plural ? "wait" : "waits"
                     : plural ? "send"
                              : "sends");
    const char *peer = mpiq_say_peer(s, relation, false);
    bool self = relation->offset == 0 && (relation->relative || relation->wraps) &&
                s->job->communicators[op->comm].remote == MPIQ_NONE;
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
    if (receive && !astray && finding->received_before != MPIQ_NONE)
        return WORDS(arena, "%s never sent another message with %s%s, which %s is waiting for", peer,
                     mpiq_words_tag(arena, op), where, who);
    return receive ? WORDS(arena, "%s never sent the message with %s%s that %s %s waiting for%s", peer,
                           mpiq_words_tag(arena, op), where, who, plural ? "are" : "is",
                           astray ? WORDS(arena, "; it sent one to %s",
                                          mpiq_words_rank(arena, s->job, finding->near_misses[0].holder))
                                  : "")
                   : WORDS(arena, "%s never received the message with %s%s that %s %s sending", peer,
                           mpiq_words_tag(arena, op), where, who, plural ? "are" : "is");
}

const char *mpiq_say_truncation(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_operation *op = &s->job->operations[finding->operation];
    uint32_t comm = op->comm == MPIQ_NONE ? MPIQ_NONE : s->job->communicators[op->comm].user;
    return WORDS(
        s->arena, "%s has room for %s in its receive of %s from %s%s, but the message has %s",
        mpiq_words_ranks(s->arena, &finding->ranks), mpiq_size_text(op->bytes, (char[MPIQ_SIZE_ROOM]){0}),
        mpiq_words_tag(s->arena, op), op->any ? "any rank" : mpiq_words_rank(s->arena, s->job, op->peer),
        mpiq_words_on(s->arena, s->job, comm), mpiq_size_text(finding->bytes, (char[MPIQ_SIZE_ROOM]){0}));
}

/* What the peer does instead: "polls for tag 9 from rank 0". */
static const char *instead(struct mpiq_speaker *s, const struct mpiq_finding *finding, uint32_t peer)
{
    const struct mpiq_rank_diagnosis *rank = &s->diagnosis->ranks[peer];
    if (!finding->peer_polls)
        return mpiq_say_does(s, peer, false);
    const char *wait = mpiq_say_wait(s, finding->peer_polls, rank->call, peer);
    return wait[0] ? WORDS(s->arena, "polls for %s", wait) : "polls, too";
}

const char *mpiq_say_polling(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_job_operation *op = &s->job->operations[finding->operation];
    bool receive = mpiq_is_receive(op);
    const char *ranks = mpiq_words_ranks(arena, &finding->ranks);
    const char *verb = mpiq_is_plural(&finding->ranks) ? "poll" : "polls";
    const char *tag = mpiq_words_tag(arena, op);
    const char *call = finding->evidence_count > 0 && finding->evidence[0].call
                           ? WORDS(arena, " with %s", finding->evidence[0].call)
                           : "";
    const char *peer = mpiq_say_peer(s, &finding->relation, op->any);
    if (mpiq_rank_set_includes(&finding->ranks, &finding->others) && finding->others.size > 1)
        peer = "each other";
    else if (!peer)
        peer = "other ranks";
    if (op->any || !finding->relation.same_peer)
        return WORDS(arena,
                     receive ? "%s %s%s for %s from %s, and nobody will send it"
                             : "%s %s%s for a send with %s to %s, and nobody will receive it",
                     ranks, verb, call, tag, peer);
    return WORDS(arena,
                 receive ? "%s %s%s for %s from %s, which will not send it: it %s"
                         : "%s %s%s for a send with %s to %s, which will not receive it: it %s",
                 ranks, verb, call, tag, peer, instead(s, finding, op->peer));
}

const char *mpiq_say_leak(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_operation *op = &s->job->operations[finding->operation];
    bool send = mpiq_is_send(op), one = finding->count == 1;
    const char *requests = one ? "a request" : WORDS(s->arena, "%" PRIu64 " requests", finding->count);
    return WORDS(
        s->arena, "%s %s called MPI_Finalize with %s never waited for or freed: %sa %s %s with %s",
        mpiq_words_ranks(s->arena, &finding->ranks), mpiq_is_plural(&finding->ranks) ? "have" : "has",
        requests, one ? "" : "the first ", send ? "send to" : "receive from",
        op->any ? "any rank" : mpiq_words_rank(s->arena, s->job, op->peer), mpiq_words_tag(s->arena, op));
}

const char *mpiq_say_backlog(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    bool plural = mpiq_is_plural(&finding->ranks);
    return WORDS(s->arena, "%s %s %s%" PRIu64 " messages that nobody has posted a receive for",
                 mpiq_words_ranks(s->arena, &finding->ranks), plural ? "hold" : "holds",
                 plural ? "up to " : "", finding->count);
}
