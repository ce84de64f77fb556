/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/unread.h"

#include <stdio.h>
#include <time.h>

#include "process/target.h"
#include "rank/rank.h"

struct mpiq_error *mpiq_unread_gone(const struct mpiq_look_source *source, int world_size,
                                    struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        return mpiq_error_no_memory();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state->taken_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    state->gone = true;
    state->process_state = 'X';
    state->pid = source->pid;
    const struct mpiq_core_end end = mpiq_target_live_end(source->pid > 0 ? source->pid : source->zombie);
    state->end = (struct mpiq_end){.kind = (uint8_t)end.kind, .code = end.code};
    state->name.rank = source->rank;
    state->world_size = world_size;
    if (source->nspace) {
        state->name.job = mpiq_rank_job_of(source->nspace);
        snprintf(state->nspace, sizeof state->nspace, "%s", source->nspace);
    }
    *ret = state;
    return NULL;
}

struct mpiq_error *mpiq_unread(const struct mpiq_look_source *source, int world_size,
                               struct mpiq_error *reason, struct mpiq_rank_state **ret)
{
    struct mpiq_error *error = mpiq_unread_gone(source, world_size, ret);
    if (error) {
        mpiq_error_destroy(reason);
        return error;
    }
    (*ret)->gone = false;
    (*ret)->process_state = '?';
    (*ret)->final = source->path != NULL;
    mpiq_rank_state_problem(*ret, "process", reason);
    return NULL;
}
