/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "job_builder.h"
#include "job_builder_private.h"

int job_window(struct job_builder *job, const char *name, int comm)
{
    int index = 0;
    for (int rank = 0; rank < job->ranks; rank++) {
        FOR_LOOKS(job, rank, state)
        {
            struct mpiq_window *window = mpiq_rank_state_add_window(state);
            snprintf(window->name, sizeof window->name, "%s", name);
            window->comm = (uint32_t)comm;
            window->id[1] = state->window_count;
            window->local_rank = state->communicators[comm].local_rank;
            index = (int)state->window_count - 1;
        }
    }
    return index;
}

void job_lock(struct job_builder *job, int rank, int window, int target, enum mpiq_lock_type type, bool held)
{
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_window_lock *lock = mpiq_window_add_lock(&state->windows[window]);
        *lock = (struct mpiq_window_lock){.target_local = target, .type = (uint8_t)type, .held = held};
        state->windows[window].access = target == ANY ? MPIQ_ACCESS_LOCK_ALL : MPIQ_ACCESS_LOCK;
    }
}

void job_post(struct job_builder *job, int rank, int window, int origin)
{
    FOR_LOOKS(job, rank, state)
    {
        state->windows[window].exposure = MPIQ_EXPOSURE_POST;
        mpiq_window_add_exposure(&state->windows[window], origin);
    }
}

void job_start(struct job_builder *job, int rank, int window, int target)
{
    FOR_LOOKS(job, rank, state)
    {
        state->windows[window].access = MPIQ_ACCESS_START;
        mpiq_window_add_access(&state->windows[window], target);
    }
}

void job_wait_window(struct job_builder *job, int rank, const char *call, enum mpiq_wait_kind kind,
                     int window, int target, enum mpiq_lock_type type)
{
    job_wait(job, rank, call, kind);
    FOR_LOOKS(job, rank, state)
    {
        struct mpiq_thread *thread = job_last_thread(state);
        struct mpiq_wait *wait = &thread->waits[thread->wait_count - 1];
        wait->window = window;
        wait->window_target = target;
        wait->lock_type = (uint8_t)type;
    }
}
