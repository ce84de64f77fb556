/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/hash_table.h"
#include "job/collective.h"
#include "job/find.h"
#include "job/rank_activity.h"

void mpiq_analysis_add(struct mpiq_analysis *analysis, struct mpiq_rank_set *set, uint32_t process)
{
    if (process == MPIQ_NONE)
        return;
    struct mpiq_world_rank name = mpiq_job_world_rank(analysis->job, process);
    if (!mpiq_rank_set_add(set, name.world, name.rank))
        analysis->failed = true;
}

void mpiq_analysis_since(const struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process,
                         uint32_t thread)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    double since = rank->since;
    if (thread != MPIQ_NONE && thread != rank->thread)
        since = mpiq_waited(analysis->job, mpiq_job_rank_of(analysis->job, process),
                            &analysis->job->threads[thread]);
    finding->since = since > finding->since ? since : finding->since;
}

void mpiq_analysis_site(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process,
                        uint32_t thread)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    struct mpiq_finding_site wanted = {.call = rank->call};
    uint32_t place = rank->site;
    if (thread != MPIQ_NONE && thread != rank->thread) {
        const struct mpiq_job_thread *row = &analysis->job->threads[thread];
        wanted.call = row->in_mpi ? mpiq_job_string(analysis->job, row->call) : NULL;
        place = row->site != MPIQ_NONE ? row->site : row->innermost;
    }
    if (place != MPIQ_NONE) {
        const struct mpiq_site *site = &analysis->job->sites[place];
        wanted.file = mpiq_job_string(analysis->job, site->file);
        wanted.function = mpiq_job_string(analysis->job, site->function);
        wanted.line = site->line;
        wanted.called_at = site->called_at;
    }
    if (!wanted.call && !wanted.file && !wanted.function)
        return;
    for (size_t i = 0; i < finding->site_count; i++) {
        struct mpiq_finding_site *site = &finding->sites[i];
        if (site->line == wanted.line && site->called_at == wanted.called_at &&
            mpiq_same_string(site->call, wanted.call) && mpiq_same_string(site->file, wanted.file) &&
            mpiq_same_string(site->function, wanted.function)) {
            mpiq_analysis_add(analysis, &site->ranks, process);
            return;
        }
    }
    if (finding->site_count >= MPIQ_MOST_SITES)
        return;
    struct mpiq_finding_site *site = mpiq_finding_add_site(finding);
    if (!site) {
        analysis->failed = true;
        return;
    }
    *site = wanted;
    mpiq_analysis_add(analysis, &site->ranks, process);
}

bool mpiq_analysis_stuck(const struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
    for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
        if (mpiq_is_stuck(analysis->graph, rank->first_thread + i))
            return true;
    }
    return false;
}

bool mpiq_has_left(const struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
    return rank && (rank->phase >= MPIQ_PHASE_FINALIZING ||
                    analysis->diagnosis->ranks[process].blocking == MPIQ_BLOCKING_FINALIZE);
}

struct mpiq_ranks mpiq_arena_ranks(struct mpiq_analysis *analysis, const struct mpiq_rank_set *set)
{
    struct mpiq_ranks ranks = {.count = set->count, .size = set->size};
    if (set->count == 0)
        return ranks;
    struct mpiq_rank_range *copy = mpiq_arena_alloc(analysis->arena, set->count * sizeof *copy);
    if (!copy) {
        analysis->failed = true;
        return (struct mpiq_ranks){0};
    }
    memcpy(copy, set->ranges, set->count * sizeof *copy);
    ranks.ranges = copy;
    return ranks;
}

bool mpiq_is_blind(const struct mpiq_job_rank *rank)
{
    bool read = rank->source == MPIQ_SOURCE_LAYOUTS || rank->source == MPIQ_SOURCE_DEBUG_INFO;
    return read && rank->queues == MPIQ_NO;
}

struct mpiq_ranks mpiq_one_rank(struct mpiq_analysis *analysis, uint32_t process)
{
    struct mpiq_rank_range *range =
        process == MPIQ_NONE ? NULL : mpiq_arena_alloc(analysis->arena, sizeof *range);
    if (!range)
        return (struct mpiq_ranks){0};
    struct mpiq_world_rank name = mpiq_job_world_rank(analysis->job, process);
    *range = (struct mpiq_rank_range){.world = name.world, .first = name.rank, .last = name.rank};
    return (struct mpiq_ranks){.ranges = range, .count = 1, .size = 1};
}

bool mpiq_is_taken(const struct mpiq_analysis *analysis, uint32_t message)
{
    uint32_t partner = analysis->diagnosis->partner[message];
    const struct mpiq_job_operation *op = partner == MPIQ_NONE ? NULL : &analysis->job->operations[partner];
    if (op && mpiq_is_send(op)) { /* its pending send: what becomes of that */
        partner = analysis->diagnosis->partner[partner];
        op = partner == MPIQ_NONE || partner == message ? NULL : &analysis->job->operations[partner];
    }
    return op && mpiq_is_receive(op) && op->kind != MPIQ_OPERATION_PROBE;
}
