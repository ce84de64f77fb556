/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that were sent and never received, and messages whose two ends name different types. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/find.h"

/* One fact of traffic, with both of its ends. */
struct traffic {
    const struct mpiq_job_fact *fact;
    uint32_t from; /* processes */
    uint32_t to;
};

static int compare(const void *left, const void *right)
{
    const struct traffic *a = left;
    const struct traffic *b = right;
    if (a->fact->comm != b->fact->comm)
        return a->fact->comm < b->fact->comm ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->fact->tag != b->fact->tag)
        return a->fact->tag < b->fact->tag ? -1 : 1;
    return a->fact->base < b->fact->base ? -1 : a->fact->base > b->fact->base;
}

static bool is_complete(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    return rank && rank->paused_at_end && rank->lost_facts == 0;
}

/* Whether what that rank counted on the communicator is certain. */
static bool is_certain(const struct mpiq_job_state *job, uint32_t process, uint64_t comm)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && i < rank->fact_count; i++) {
        const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + i];
        if (fact->kind == MPIQ_FACT_COMMUNICATOR && fact->comm == comm)
            return fact->count == 0;
    }
    return false;
}

/* Receives that were posted and never completed may have taken a message. */
static uint64_t open_receives(const struct mpiq_job_state *job, const struct traffic *like)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, like->to);
    int32_t source = (int32_t)mpiq_job_world_rank(job, like->from).rank;
    uint64_t count = 0;
    for (uint32_t i = 0; rank && i < rank->fact_count; i++) {
        const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + i];
        bool open = fact->kind == MPIQ_FACT_OBJECT && fact->base == MPIQ_OBJECT_REQUEST;
        if (open && fact->comm == like->fact->comm && (fact->peer < 0 || fact->peer == source) &&
            (fact->tag < 0 || fact->tag == like->fact->tag))
            count += fact->count;
    }
    return count;
}

/* ---- one tag ------------------------------------------------------------------------------------------- */

static struct mpiq_finding *add_finding(struct mpiq_analysis *analysis, enum mpiq_finding_kind kind,
                                        const struct traffic *first)
{
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(analysis->diagnosis, kind);
    if (!finding) {
        analysis->failed = true;
        return NULL;
    }
    finding->comm = mpiq_check_comm_index(analysis, first->fact);
    mpiq_analysis_add(analysis, &finding->ranks, first->from);
    mpiq_analysis_add(analysis, &finding->ranks, first->to);
    finding->from = first->from;
    finding->to = first->to;
    return finding;
}

static void add_lost(struct mpiq_analysis *analysis, const struct traffic *list, size_t count, uint64_t sent,
                     uint64_t lost)
{
    struct mpiq_finding *finding = add_finding(analysis, MPIQ_FINDING_MESSAGE_LOST, list);
    const struct mpiq_job_fact *where = NULL;
    for (size_t i = 0; finding && i < count; i++) {
        if (list[i].fact->kind != MPIQ_FACT_SENT)
            continue;
        where = where ? where : list[i].fact;
        mpiq_check_site(analysis, finding, list[i].fact);
    }
    if (!finding || !where)
        return;
    finding->fact = (uint32_t)(where - analysis->job->facts);
    finding->count = sent;
    finding->lost = lost;
}

static void add_types(struct mpiq_analysis *analysis, const struct traffic *list,
                      const struct mpiq_job_fact *sent, const struct mpiq_job_fact *received)
{
    struct mpiq_finding *finding = add_finding(analysis, MPIQ_FINDING_TYPE_MISMATCH, list);
    if (!finding)
        return;
    finding->field = "type";
    mpiq_check_site(analysis, finding, sent);
    mpiq_check_site(analysis, finding, received);
    finding->fact = (uint32_t)(sent - analysis->job->facts);
    finding->received_fact = (uint32_t)(received - analysis->job->facts);
}

/* Whether more of a base was sent than received (1) or the other way round (-1). */
static int balance(const struct traffic *list, size_t count, uint32_t base)
{
    uint64_t sums[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (list[i].fact->base == base)
            sums[list[i].fact->kind == MPIQ_FACT_RECEIVED] += list[i].fact->sum;
    }
    return sums[0] > sums[1] ? 1 : sums[0] < sums[1] ? -1 : 0;
}

static void check_types(struct mpiq_analysis *analysis, const struct traffic *list, size_t count)
{
    const struct mpiq_job_fact *sent = NULL;
    const struct mpiq_job_fact *received = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_job_fact *fact = list[i].fact;
        if (fact->base == MPIQ_FACT_BASE_ANY)
            return;
        if (fact->base == MPIQ_FACT_BASE_NONE)
            continue;
        int more = balance(list, count, fact->base);
        if (more > 0 && fact->kind == MPIQ_FACT_SENT && !sent)
            sent = fact;
        if (more < 0 && fact->kind == MPIQ_FACT_RECEIVED && !received)
            received = fact;
    }
    if (sent && received)
        add_types(analysis, list, sent, received);
}

static void check_tag(struct mpiq_analysis *analysis, const struct traffic *list, size_t count)
{
    uint64_t messages[2] = {0, 0};
    for (size_t i = 0; i < count; i++)
        messages[list[i].fact->kind == MPIQ_FACT_RECEIVED] += list[i].fact->count;
    uint64_t lost = messages[0] > messages[1] ? messages[0] - messages[1] : 0;
    if (lost > 0 && open_receives(analysis->job, list) < lost)
        add_lost(analysis, list, count, messages[0], lost);
    else if (messages[0] == messages[1])
        check_types(analysis, list, count);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static void add_rank(struct mpiq_analysis *analysis, const struct mpiq_job_rank *rank, struct traffic *list,
                     size_t *count)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t world = mpiq_job_world_rank(job, rank->process).world;
    for (uint32_t i = 0; i < rank->fact_count; i++) {
        const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + i];
        bool sent = fact->kind == MPIQ_FACT_SENT;
        if ((!sent && fact->kind != MPIQ_FACT_RECEIVED) || fact->peer < 0 || fact->comm == 0)
            continue;
        uint32_t peer = mpiq_job_process(job, world, (uint32_t)fact->peer);
        if (peer == MPIQ_NONE || !is_complete(job, peer))
            continue;
        /* Every process has a MPI_COMM_SELF: its ranks tell them apart. */
        list[(*count)++] = (struct traffic){
            .fact = fact, .from = sent ? rank->process : peer, .to = sent ? peer : rank->process};
    }
}

static bool same_tag(const struct traffic *a, const struct traffic *b)
{
    return a->fact->comm == b->fact->comm && a->from == b->from && a->to == b->to &&
           a->fact->tag == b->fact->tag;
}

void mpiq_check_messages(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct traffic *list _cleanup_free_ = calloc((size_t)job->fact_count + 1, sizeof *list);
    size_t count = 0;
    if (!list) {
        analysis->failed = true;
        return;
    }
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && is_complete(job, process))
            add_rank(analysis, rank, list, &count);
    }
    if (count > 0)
        qsort(list, count, sizeof *list, compare);
    for (size_t i = 0; i < count && !analysis->failed;) {
        size_t end = i + 1;
        while (end < count && same_tag(&list[i], &list[end]))
            end++;
        if (is_certain(job, list[i].from, list[i].fact->comm) &&
            is_certain(job, list[i].to, list[i].fact->comm))
            check_tag(analysis, &list[i], end - i);
        i = end;
    }
}
