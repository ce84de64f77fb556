/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/stacks.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct gathering {
    const struct mpiq_job_state *job;
    const struct mpiq_rank_set *only;
    struct mpiq_stack_tree *tree;
    bool *added; /* by process */
    bool all_threads;
    int look;
};

/* The process of a state, as the job has it; MPIQ_NONE: a state that nobody believes, or of no rank. */
static uint32_t process_of(const struct mpiq_job_state *job, const struct mpiq_rank_state *state)
{
    for (uint32_t world = 0; state->name.rank >= 0 && world < job->world_count; world++) {
        if (job->worlds[world].job == state->name.job)
            return mpiq_job_process(job, world, (uint32_t)state->name.rank);
    }
    return MPIQ_NONE;
}

/* A later look comes first: what it has of a rank counts. */
static struct mpiq_error *add(void *context, int look, struct mpiq_rank_state **state)
{
    struct gathering *gathering = context;
    const struct mpiq_job_state *job = gathering->job;
    uint32_t process = look == gathering->look ? process_of(job, *state) : MPIQ_NONE;
    if (process == MPIQ_NONE || gathering->added[process])
        return NULL;
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    if (gathering->only && !mpiq_rank_set_contains(gathering->only, name.world, name.rank))
        return NULL;
    gathering->added[process] = true;
    return mpiq_stack_tree_add(gathering->tree, name.world, name.rank, *state, gathering->all_threads)
               ? NULL
               : mpiq_error_no_memory();
}

static struct mpiq_error *add_looks(const struct mpiq_job *job, struct gathering *gathering)
{
    const struct mpiq_look_sources *sources = &job->sources;
    struct mpiq_error *error = NULL;
    for (gathering->look = 2; gathering->look > 0 && !error; gathering->look--) {
        if (job->remote)
            error = mpiq_remote_each(job->remote, add, gathering);
        for (size_t i = 0; i < sources->snapshot_state_count && !error; i++)
            error = add(gathering, sources->snapshot_states[i].look, &sources->snapshot_states[i].state);
        for (size_t i = 0; i < sources->count && !error; i++) {
            struct mpiq_rank_state **state = &sources->items[i].looks[gathering->look - 1];
            error = *state ? add(gathering, gathering->look, state) : NULL;
        }
    }
    return error;
}

struct mpiq_error *mpiq_job_stacks(const struct mpiq_job *job, const struct mpiq_rank_set *only,
                                   bool all_threads, struct mpiq_stack_tree **ret)
{
    bool *added _cleanup_free_ = calloc((size_t)job->state->process_count + 1, sizeof *added);
    struct gathering gathering = {.job = job->state,
                                  .only = only,
                                  .tree = added ? mpiq_stack_tree_create() : NULL,
                                  .added = added,
                                  .all_threads = all_threads};
    if (!gathering.tree)
        return mpiq_error_no_memory();
    struct mpiq_error *error = add_looks(job, &gathering);
    if (!error && !mpiq_stack_tree_finish(gathering.tree))
        error = mpiq_error_no_memory();
    if (error)
        mpiq_stack_tree_destroy(gathering.tree);
    else
        *ret = gathering.tree;
    return error;
}
