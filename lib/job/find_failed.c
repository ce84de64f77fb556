/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that returned an error and that ranks wait for: the rank went on, and perhaps nobody looked at the
 * error.
 *
 * A failed call that nobody misses is no finding: a program may deal with it.
 */
#include <string.h>

#include "job/evidence.h"
#include "job/find.h"
#include "job/past_messages.h"
#include "state/calls.h"

static const struct mpiq_job_past_call *past_calls_of(const struct mpiq_job_state *job, uint32_t process,
                                                      uint32_t *count)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    *count = rank ? rank->past_count : 0;
    return &job->past_calls[rank ? rank->first_past : 0];
}

static bool is_same_call(const struct mpiq_job_past_call *a, const struct mpiq_job_past_call *b)
{
    return a->call == b->call && a->comm == b->comm;
}

/* How often a process has failed in such a call.  The newest one that it has returned from goes to `last`. */
static uint32_t failures_of(const struct mpiq_job_state *job, uint32_t process,
                            const struct mpiq_job_past_call *like, const struct mpiq_job_past_call **last)
{
    uint32_t count, failures = 0;
    const struct mpiq_job_past_call *calls = past_calls_of(job, process, &count);
    *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_same_call(&calls[i], like) || calls[i].end_ns == 0)
            continue;
        failures += calls[i].error != 0;
        *last = !*last || calls[i].begin_ns >= (*last)->begin_ns ? &calls[i] : *last;
    }
    return failures;
}

/* Whether the last calls of a process that are kept reach back to that time. */
static bool reaches_back(const struct mpiq_job_state *job, uint32_t process, int64_t time)
{
    uint32_t count;
    const struct mpiq_job_past_call *calls = past_calls_of(job, process, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (calls[i].begin_ns > 0 && calls[i].begin_ns <= time)
            return true;
    }
    return false;
}

static bool is_in(const struct mpiq_analysis *analysis, uint32_t process,
                  const struct mpiq_job_past_call *call)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    return rank->call && rank->comm == call->comm &&
           strcmp(rank->call, mpiq_job_string(analysis->job, call->call)) == 0;
}

/* Whether a process waits in the collective that failed for another one, and did not fail in it as often. */
static bool misses(const struct mpiq_analysis *analysis, uint32_t process,
                   const struct mpiq_job_past_call *failed, uint32_t failures)
{
    const struct mpiq_job_past_call *last;
    enum mpiq_rank_activity does = analysis->diagnosis->ranks[process].activity;
    return (does == MPIQ_ACTIVITY_BLOCKED || does == MPIQ_ACTIVITY_POLLING) &&
           is_in(analysis, process, failed) && reaches_back(analysis->job, process, failed->begin_ns) &&
           failures_of(analysis->job, process, failed, &last) < failures;
}

/* A collective in which one member failed and others wait. */
static void find_collective(struct mpiq_analysis *analysis, uint32_t process,
                            const struct mpiq_job_past_call *failed, uint32_t failures)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_finding *finding = NULL;
    for (uint32_t other = 0; other < job->process_count && !analysis->failed; other++) {
        if (other == process || !misses(analysis, other, failed, failures))
            continue;
        if (!finding) {
            finding = mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_COLLECTIVE_INCOMPLETE);
            if (!finding) {
                analysis->failed = true;
                return;
            }
            finding->failed = (uint32_t)(failed - job->past_calls);
            finding->comm = failed->comm;
            finding->collective = mpiq_job_string(job, failed->call);
            finding->proven = true;
            mpiq_analysis_add(analysis, &finding->missing, process);
            mpiq_analysis_add(analysis, &finding->suspects, process);
        }
        finding->proven = finding->proven && mpiq_analysis_stuck(analysis, other);
        finding->number = analysis->diagnosis->ranks[other].number;
        mpiq_analysis_add(analysis, &finding->ranks, other);
        mpiq_analysis_site(analysis, finding, other, MPIQ_NONE);
        mpiq_analysis_since(analysis, finding, other, MPIQ_NONE);
        mpiq_add_evidence(analysis, finding, other, MPIQ_NONE, MPIQ_NONE);
    }
    if (finding)
        mpiq_add_evidence(analysis, finding, process, MPIQ_NONE, MPIQ_NONE);
}

void mpiq_find_failed_collectives(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    size_t before = analysis->diagnosis->finding_count;
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        uint32_t count;
        const struct mpiq_job_past_call *calls = past_calls_of(job, process, &count);
        for (uint32_t i = 0; i < count; i++) {
            const struct mpiq_job_past_call *last, *failed = &calls[i];
            if (!failed->error || !failed->call || failed->comm == MPIQ_NONE ||
                is_in(analysis, process, failed) ||
                mpiq_collective_class(mpiq_job_string(job, failed->call)) < 0)
                continue;
            uint32_t failures = failures_of(job, process, failed, &last);
            if (last == failed && analysis->diagnosis->finding_count < before + MPIQ_MOST_FINDINGS)
                find_collective(analysis, process, failed, failures);
        }
    }
}

/* Whether a call with one peer receives from it. */
static bool receives(const char *call)
{
    unsigned does = mpiq_call_messages(call);
    return (does & MPIQ_CALL_RECEIVES) && !(does & MPIQ_CALL_PREPARES);
}

/* Whether a call of a peer, had it not failed, would have answered that operation of a process. */
static bool would_answer(const struct mpiq_job_state *job, const struct mpiq_job_past_call *call,
                         uint32_t process, const struct mpiq_job_operation *op)
{
    bool sends = mpiq_is_receive(op);
    const char *name = mpiq_job_string(job, call->call);
    bool kind = sends ? mpiq_past_call_sends(name) : receives(name);
    bool peer = call->peer == process || (!sends && call->any_source);
    bool tag = call->tag == op->tag || (sends ? op->tag_any : call->any_tag);
    return call->error && kind && peer && tag && op->comm != MPIQ_NONE &&
           call->comm == job->communicators[op->comm].user;
}

void mpiq_find_failed_messages(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        bool message =
            finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED || finding->kind == MPIQ_FINDING_SEND_UNMATCHED;
        if (!message || finding->operation == MPIQ_NONE || finding->ranks.size != 1)
            continue;
        const struct mpiq_job_operation *op = &job->operations[finding->operation];
        const struct mpiq_rank_range *range = &finding->ranks.ranges[0];
        uint32_t count, process = mpiq_job_process(job, range->world, range->first);
        if (op->peer == MPIQ_NONE)
            continue;
        const struct mpiq_job_past_call *calls = past_calls_of(job, op->peer, &count);
        for (uint32_t j = 0; j < count; j++) {
            if (would_answer(job, &calls[j], process, op))
                finding->failed = (uint32_t)(&calls[j] - job->past_calls);
        }
    }
}

/* The newest call in which a process failed; NULL: it has not. */
static const struct mpiq_job_past_call *last_failed(const struct mpiq_job_state *job, uint32_t process)
{
    uint32_t count;
    const struct mpiq_job_past_call *calls = past_calls_of(job, process, &count), *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (calls[i].error && (!last || calls[i].begin_ns >= last->begin_ns))
            last = &calls[i];
    }
    return last;
}

/* The last call of a process that failed, if no other process's last one did at the same place; MPIQ_NONE. */
static uint32_t failed_alone(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_past_call *failed = last_failed(job, process);
    if (!failed || failed->site == MPIQ_NONE)
        return MPIQ_NONE;
    for (uint32_t other = 0; other < job->process_count; other++) {
        const struct mpiq_job_past_call *last = other == process ? NULL : last_failed(job, other);
        if (last && last->site == failed->site)
            return MPIQ_NONE;
    }
    return (uint32_t)(failed - job->past_calls);
}

void mpiq_note_failures(struct mpiq_analysis *analysis)
{
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        for (size_t j = 0; finding->failed == MPIQ_NONE && j < finding->evidence_count; j++) {
            struct mpiq_evidence *evidence = &finding->evidence[j];
            if (evidence->remark != MPIQ_REMARK_NONE || evidence->ranks.size != 1)
                continue;
            evidence->failed = failed_alone(analysis->job, evidence->process);
            if (evidence->failed != MPIQ_NONE)
                evidence->remark = MPIQ_REMARK_FAILED;
        }
    }
}
