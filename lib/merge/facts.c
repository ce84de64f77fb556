/* SPDX-License-Identifier: BSD-3-Clause */
/* job_fact - the facts of ranks that are paused in MPI_Finalize. */
#include "merge/builder_private.h"

static bool add_fact(struct mpiq_job_state *job, const struct mpiq_fact *fact, uint32_t row)
{
    struct mpiq_job_fact *to = &job->facts[job->fact_count++];
    *to = (struct mpiq_job_fact){
        .comm = fact->comm,
        .count = fact->count,
        .sum = fact->sum,
        .first = fact->first,
        .signature = fact->signature,
        .bytes = fact->bytes,
        .rank = row,
        .peer = fact->peer,
        .tag = fact->tag,
        .comm_size = fact->comm_size,
        .comm_flags = fact->comm_flags,
        .base = fact->base,
        .collective = fact->collective,
        .kind = fact->kind,
    };
    return mpiq_job_intern_cached(job, fact->call, &to->call) &&
           mpiq_job_intern_cached(job, fact->comm_name, &to->comm_name) &&
           mpiq_job_intern_cached(job, fact->base_name, &to->base_name) &&
           mpiq_job_intern_cached(job, fact->op, &to->op) &&
           mpiq_job_intern_place(job, &fact->place, &to->site);
}

/* Those of an earlier look stay where they are, and nobody asks for them. */
bool mpiq_job_add_facts(struct mpiq_job_state *job, const struct mpiq_rank_state *state, uint32_t row,
                        struct mpiq_job_rank *rank)
{
    rank->lost_facts = state->lost_facts;
    rank->first_fact = job->fact_count;
    rank->fact_count = (uint32_t)state->fact_count;
    if (!MPIQ_RESERVE(job->facts, job->fact_count, job->builder->fact_capacity, state->fact_count))
        return false;
    for (size_t i = 0; i < state->fact_count; i++) {
        if (!add_fact(job, &state->facts[i], row))
            return false;
    }
    return true;
}
