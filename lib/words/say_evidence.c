/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank waits for, what ranks and their peers have in common, and remarks on lines of evidence. */
#include <inttypes.h>
#include <stdlib.h>

#include "words/quantities.h"
#include "words/say_private.h"
#include "words/wait_text.h"

const char *mpiq_say_wait(struct mpiq_speaker *s, const struct mpiq_waits_for *wait, const char *call,
                          uint32_t process)
{
    struct mpiq_buffer text = {0};
    mpiq_put_wait(s->job, &text, wait, call, process, MPIQ_WAIT_EXACT);
    return mpiq_words_taken(s->arena, &text);
}

const char *mpiq_say_wait_for(struct mpiq_speaker *s, const struct mpiq_waits_for *wait, const char *call,
                              uint32_t process, uint32_t operation)
{
    const struct mpiq_wait_part *part = wait && wait->part_count > 0 ? wait->parts : NULL;
    for (uint32_t i = 0; wait && i < wait->part_count; i++)
        part = wait->parts[i].operation == operation ? &wait->parts[i] : part;
    const struct mpiq_waits_for one = {.all = true, .parts = part, .part_count = part ? 1 : 0};
    return mpiq_say_wait(s, &one, call, process);
}

const char *mpiq_say_peer(struct mpiq_speaker *s, const struct mpiq_relation *relation, bool any)
{
    if (any)
        return "any rank";
    if (relation->same_peer)
        return mpiq_words_rank(s->arena, s->job, relation->peer);
    if (!relation->relative && !relation->wraps)
        return NULL;
    if (relation->offset == 0)
        return "itself";
    bool near = relation->relative || llabs(relation->offset) == 1;
    return WORDS(s->arena, "rank r%+" PRId64 "%s", relation->offset,
                 near ? "" : WORDS(s->arena, " (modulo %" PRId64 ")", relation->size));
}

/* What lies at a rank and would have done but for one thing. */
static const char *unreceived(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_near_miss *miss = &finding->near_misses[0];
    const struct mpiq_job_operation *op = &s->job->operations[miss->operation];
    struct mpiq_arena *arena = s->arena;
    const char *from = finding->ranks.size == 1 ? mpiq_words_rank(arena, s->job, miss->process) : "it";
    const char *what = mpiq_words_tag(arena, op);
    if (miss->differs == MPIQ_MISS_COMMUNICATOR)
        what = WORDS(arena, "%s on %s", what,
                     mpiq_words_communicator(arena, s->job, s->job->communicators[op->comm].user));
    const char *text = WORDS(arena, "an unreceived message from %s has %s", from, what);
    return op->bytes < 0
               ? text
               : WORDS(arena, "%s (%s)", text, mpiq_size_text(op->bytes, (char[MPIQ_SIZE_ROOM]){0}));
}

/* "another thread, for the mutex that the one in MPI_Recv has". */
static const char *other_thread(struct mpiq_speaker *s, const struct mpiq_evidence *evidence)
{
    const struct mpiq_job_state *job = s->job;
    const char *lock = job->threads[evidence->thread].interpreter ? "Python's interpreter lock" : "a mutex";
    if (evidence->owner == MPIQ_NONE)
        return "in another thread";
    const struct mpiq_job_thread *has = &job->threads[evidence->owner];
    const char *call = has->in_mpi ? mpiq_job_string(job, has->call) : NULL;
    const char *place = mpiq_words_place(s->arena, job, has->site);
    if (evidence->owner == evidence->thread)
        return WORDS(s->arena, "another thread, for %s that it has itself", lock);
    if (!call && !place[0])
        return WORDS(s->arena, "another thread, for %s that thread %" PRId32 " has", lock, has->tid);
    return WORDS(s->arena, "another thread, for %s that the one %s %s has", lock, call ? "in" : "at",
                 call ? call : place);
}

/* "all 4 ranks on n17" */
static const char *on_host(struct mpiq_speaker *s, const struct mpiq_rank_set *ranks)
{
    const struct mpiq_rank_range *first = &ranks->ranges[0];
    const struct mpiq_job_rank *rank =
        mpiq_job_rank_of(s->job, mpiq_job_process(s->job, first->world, first->first));
    const char *host = rank ? mpiq_job_string(s->job, rank->host) : NULL;
    return host ? WORDS(s->arena, "all %" PRIu64 " ranks on %s", ranks->size, host) : NULL;
}

const char *mpiq_say_remark(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                            const struct mpiq_evidence *evidence)
{
    const char *place;
    const struct mpiq_job_past_call *call;
    switch (evidence->remark) {
    case MPIQ_REMARK_NONE:
        return NULL;
    case MPIQ_REMARK_UNRECEIVED:
        return unreceived(s, finding);
    case MPIQ_REMARK_RECEIVED:
        place = mpiq_words_place(s->arena, s->job, s->job->past_calls[finding->received_before].site);
        return place[0] ? WORDS(s->arena, "got the one before at %s", place) : NULL;
    case MPIQ_REMARK_FAILED:
        return mpiq_say_error(s, evidence->failed, "its ");
    case MPIQ_REMARK_INSIDE:
        call = &s->job->past_calls[evidence->inside];
        place = mpiq_words_place(s->arena, s->job, call->site);
        return WORDS(s->arena, "inside its %s%s%s", mpiq_job_string(s->job, call->call),
                     place[0] ? " at " : "", place);
    case MPIQ_REMARK_SCRIPT_ENDED:
        return "its script has ended, perhaps by an exception";
    case MPIQ_REMARK_THREAD:
        return other_thread(s, evidence);
    case MPIQ_REMARK_HOST:
        return on_host(s, &evidence->ranks);
    case MPIQ_REMARK_END:
        return mpiq_say_own_end(s, evidence);
    }
    return NULL;
}
