/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about calls that returned an error. */
#include "words/say_private.h"

const char *mpiq_say_error(struct mpiq_speaker *s, uint32_t failed, const char *whose)
{
    const struct mpiq_job_past_call *call = &s->job->past_calls[failed];
    const char *place = mpiq_words_place(s->arena, s->job, call->site);
    if (call->made != MPIQ_NONE) {
        const struct mpiq_job_past_call *made = &s->job->past_calls[call->made];
        const char *from = mpiq_words_place(s->arena, s->job, made->site);
        return WORDS(s->arena, "%s%s%s%s failed with %s in %s%s%s", whose,
                     mpiq_job_string(s->job, made->call), from[0] ? " at " : "", from,
                     mpiq_job_string(s->job, call->error), mpiq_job_string(s->job, call->call),
                     place[0] ? " at " : "", place);
    }
    return WORDS(s->arena, "%s%s%s%s returned %s", whose, mpiq_job_string(s->job, call->call),
                 place[0] ? " at " : "", place, mpiq_job_string(s->job, call->error));
}

/* The rank whose call failed: of a message the other side, else the one that is missing. */
static const char *whose(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const char *rank = finding->operation != MPIQ_NONE
                           ? mpiq_words_rank(s->arena, s->job, s->job->operations[finding->operation].peer)
                           : mpiq_words_ranks(s->arena, &finding->missing);
    return WORDS(s->arena, "%s's ", rank);
}

const char *mpiq_say_failed(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const char *error = mpiq_say_error(s, finding->failed, whose(s, finding));
    const char *ranks = mpiq_words_ranks(s->arena, &finding->ranks);
    bool many = mpiq_is_plural(&finding->ranks);
    if (finding->operation == MPIQ_NONE)
        return WORDS(s->arena, "%s, and it went on; %s %s in theirs", error, ranks, many ? "wait" : "waits");
    const struct mpiq_job_operation *op = &s->job->operations[finding->operation];
    const char *tag = mpiq_words_tag(s->arena, op);
    return mpiq_is_receive(op) ? WORDS(s->arena, "%s, and it went on; %s %s for its message with %s", error,
                                       ranks, many ? "wait" : "waits", tag)
                               : WORDS(s->arena, "%s, and it went on; %s %s it a message with %s", error,
                                       ranks, many ? "send" : "sends", tag);
}
