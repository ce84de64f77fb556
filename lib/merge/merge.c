/* SPDX-License-Identifier: BSD-3-Clause */
#include "merge/merge.h"

#include <stdlib.h>

#include "merge/builder_private.h"
#include "state/snapshot.h"

struct mpiq_job_state *mpiq_job_state_create(void)
{
    struct mpiq_job_state *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->builder = calloc(1, sizeof *job->builder);
    if (!job->builder) {
        free(job);
        return NULL;
    }
    return job;
}

void mpiq_job_state_destroy(struct mpiq_job_state *job)
{
    if (!job)
        return;
    mpiq_job_builder_destroy(job->builder, job->group_count);
    free(job->worlds);
    free(job->processes);
    free(job->ranks);
    free(job->threads);
    free(job->waits);
    free(job->given);
    free(job->operations);
    free(job->operations_more);
    for (uint32_t i = 0; i < job->group_count; i++)
        free(job->groups[i].members);
    free(job->groups);
    free(job->communicators);
    free(job->members);
    free(job->member_order);
    free(job->counts);
    free(job->calls);
    free(job->shapes);
    free(job->channels);
    free(job->windows);
    free(job->window_views);
    free(job->persistent);
    free(job->call_sources);
    free(job->window_locks);
    free(job->window_ranks);
    free(job->past_calls);
    free(job->sites);
    free(job->paths);
    free(job->facts);
    free(job->problems);
    free(job->hosts);
    for (uint32_t i = 0; i < job->string_count; i++)
        free((char *)job->strings[i]);
    free(job->strings);
    free(job);
}

static struct mpiq_error *add_to_job(void *context, int look, struct mpiq_rank_state **state)
{
    return mpiq_job_state_add(context, look, *state);
}

struct mpiq_error *mpiq_merge_snapshot(struct mpiq_job_state *job, const char *path)
{
    return mpiq_snapshot_each(path, add_to_job, job);
}
