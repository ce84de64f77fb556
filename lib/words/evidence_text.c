/* SPDX-License-Identifier: BSD-3-Clause */
/* evidence_text - the last column of a line of evidence. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "words/nouns.h"
#include "words/wait_text_private.h"

/* Of ranks that are in several communicators which the user tells apart no more: of all of them. */
static void put_communicators(const struct mpiq_teller *t, const struct mpiq_rank_set *ranks, uint32_t comm)
{
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    if (!mpiq_job_communicator_members(t->job, comm, &members)) {
        mpiq_buffer_fail(t->out);
        return;
    }
    if (mpiq_rank_set_includes(&members, ranks)) {
        mpiq_put_communicator(t->job, t->out, comm);
        return;
    }
    char *words _cleanup_free_ = mpiq_job_communicators_words(t->job, comm);
    if (words)
        mpiq_buffer_string(t->out, words);
    else
        mpiq_buffer_fail(t->out);
}

/* "collective 6 on MPI_COMM_WORLD"; nothing where neither is known. */
static void put_running_number(const struct mpiq_teller *t, const struct mpiq_evidence *evidence,
                               const struct mpiq_wait_part *part)
{
    const char *name = mpiq_job_communicator_name(t->job, part->comm);
    if (part->number > 0)
        mpiq_buffer_printf(t->out, "collective %" PRId64, part->number);
    if (!*name)
        return;
    mpiq_buffer_string(t->out, part->number > 0 ? " on " : "on ");
    put_communicators(t, &evidence->ranks, part->comm);
}

/* A frame's place names its object, one that a return address stands for does not. */
static bool same_line(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    if (a >= job->site_count || b >= job->site_count)
        return false;
    const struct mpiq_site *left = &job->sites[a];
    const struct mpiq_site *right = &job->sites[b];
    return left->file == right->file && left->line == right->line && left->function == right->function;
}

static bool put_started(const struct mpiq_teller *t, const struct mpiq_evidence *evidence, const char *before)
{
    uint32_t started = evidence->started;
    if (started == MPIQ_NONE && evidence->wait && evidence->wait->part_count > 0)
        started = evidence->wait->parts[0].started;
    if (started >= t->job->site_count || same_line(t->job, started, evidence->site))
        return false;
    const struct mpiq_site *place = &t->job->sites[started];
    mpiq_buffer_string(t->out, before);
    mpiq_put_place(t->out, mpiq_job_string(t->job, place->file), place->line,
                   place->file ? NULL : mpiq_job_string(t->job, place->function), NULL);
    return true;
}

static void put_collective_detail(const struct mpiq_teller *t, const struct mpiq_evidence *evidence,
                                  const struct mpiq_wait_part *part)
{
    if (mpiq_tells_of(t, part->collective) || !part->collective) {
        put_running_number(t, evidence, part);
        return;
    }
    mpiq_buffer_printf(t->out, "for %s", part->collective);
    put_started(t, evidence, " started at ");
    if (part->number > 0 || part->comm != MPIQ_NONE) {
        mpiq_buffer_string(t->out, ", ");
        put_running_number(t, evidence, part);
    }
}

/* Whether they are two ranks that wait for each other. */
static bool is_pair(const struct mpiq_evidence *evidence)
{
    const struct mpiq_rank_set awaited = mpiq_borrowed_set(&evidence->wait->ranks);
    return evidence->ranks.size == 2 && mpiq_rank_set_equal(&evidence->ranks, &awaited);
}

/* "each to the next rank (4 to 0), tag 3, 1 MiB": of ranks that do the same relative to themselves. */
static void put_relative_detail(const struct mpiq_teller *t, const struct mpiq_evidence *evidence,
                                const struct mpiq_wait_part *part)
{
    const struct mpiq_rank_set *ranks = &evidence->ranks;
    const char *towards = part->kind == MPIQ_PART_SEND ? "to" : "from";
    mpiq_buffer_printf(t->out, "each %s ", towards);
    if (is_pair(evidence))
        mpiq_buffer_string(t->out, "the other");
    else if (part->offset == 1 || part->offset == -1)
        mpiq_buffer_string(t->out, part->offset == 1 ? "the next rank" : "the previous rank");
    else
        mpiq_tell_offset(t->out, part->offset);
    bool all = ranks->count == 1 && ranks->size == (uint64_t)evidence->relation.size;
    if (part->wraps && !is_pair(evidence) && all && (part->offset == 1 || part->offset == -1)) {
        uint32_t edge = part->offset == 1 ? ranks->ranges[0].last : ranks->ranges[0].first;
        uint32_t other = part->offset == 1 ? ranks->ranges[0].first : ranks->ranges[0].last;
        mpiq_buffer_printf(t->out, " (%" PRIu32 " %s %" PRIu32 ")", edge, towards, other);
    }
    mpiq_buffer_string(t->out, ", ");
    mpiq_tell_tag(t, part);
    if (part->kind == MPIQ_PART_SEND && part->bytes >= 0) {
        mpiq_buffer_string(t->out, ", ");
        mpiq_put_size(t->out, part->bytes);
    }
    mpiq_put_on(t->job, t->out, part->comm);
    put_started(t, evidence, ", started at ");
}

/* "receive posted at exchange.c:7: tag 42 from rank 3"; false where that place is not known. */
static bool put_posted_detail(const struct mpiq_teller *t, const struct mpiq_evidence *evidence,
                              const struct mpiq_wait_part *part)
{
    bool sends = part->kind == MPIQ_PART_SEND;
    if (!put_started(t, evidence, sends ? "send started at " : "receive posted at "))
        return false;
    mpiq_buffer_string(t->out, ": ");
    if (!sends) {
        mpiq_tell_receive(t, part);
        return true;
    }
    mpiq_tell_tag(t, part);
    if (part->bytes >= 0) {
        mpiq_buffer_string(t->out, ", ");
        mpiq_put_size(t->out, part->bytes);
    }
    mpiq_buffer_string(t->out, " to ");
    mpiq_tell_peer(t, part);
    mpiq_put_on(t->job, t->out, part->comm);
    return true;
}

static void put_wait_detail(const struct mpiq_teller *t, const struct mpiq_evidence *evidence)
{
    const struct mpiq_waits_for *wait = evidence->wait;
    const struct mpiq_wait_part *part = wait->part_count == 1 && wait->more == 0 ? wait->parts : NULL;
    bool message =
        part && !part->internal && (part->kind == MPIQ_PART_RECEIVE || part->kind == MPIQ_PART_SEND);
    if (part && part->kind == MPIQ_PART_COLLECTIVE && part->given) {
        mpiq_tell_given_collective(t, part);
        return;
    }
    if (part && part->kind == MPIQ_PART_COLLECTIVE) {
        put_collective_detail(t, evidence, part);
        return;
    }
    if (message && !part->given &&
        (part->relative || (part->peer == MPIQ_NONE && !part->any && is_pair(evidence))))
        put_relative_detail(t, evidence, part);
    else if (!message || !put_posted_detail(t, evidence, part)) {
        mpiq_buffer_string(t->out, evidence->activity == MPIQ_ACTIVITY_POLLING ? "polls for " : "waits for ");
        mpiq_put_wait(t->job, t->out, wait, t->call, t->process, t->form);
        return;
    }
    mpiq_tell_done(t->out, wait);
}

void mpiq_put_evidence_detail(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                              const struct mpiq_evidence *evidence)
{
    uint32_t process = MPIQ_NONE;
    if (evidence->ranks.count > 0)
        process = mpiq_job_process(job, evidence->ranks.ranges[0].world, evidence->ranks.ranges[0].first);
    struct mpiq_teller t = {.job = job, .out = buffer, .call = evidence->call, .process = process};
    size_t before = buffer->length;
    if (evidence->wait && process != MPIQ_NONE)
        put_wait_detail(&t, evidence);
    if (buffer->length == before)
        mpiq_put_last_call(buffer, &evidence->last);
    if (!evidence->note || !*evidence->note)
        return;
    if (buffer->length > before)
        mpiq_buffer_string(buffer, "; ");
    mpiq_buffer_string(buffer, evidence->note);
}
