/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank states a job accepts, and the error messages for the others. */
#include <string.h>

#include "merge/merge.h"
#include "merge/builder_private.h"

/* A state may come from a file: its indexes are looked at before they are used. */
struct mpiq_error *mpiq_job_check_state(const struct mpiq_rank_state *state)
{
    const char *bad = NULL;
    for (size_t i = 0; i < state->operation_count; i++) {
        if (state->operations[i].comm >= state->communicator_count)
            bad = "an operation";
    }
    for (size_t i = 0; i < state->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        if (thread->mpi_frame >= (int64_t)thread->frame_count ||
            thread->user_frame >= (int64_t)thread->frame_count)
            bad = "a stack";
        for (size_t j = 0; j < thread->wait_count; j++) {
            const struct mpiq_wait *wait = &thread->waits[j];
            if (wait->comm >= (int64_t)state->communicator_count ||
                wait->collective_comm >= (int64_t)state->communicator_count ||
                wait->window >= (int64_t)state->window_count)
                bad = "a wait";
            for (size_t k = 0; k < wait->operation_count; k++) {
                uint32_t comm = wait->operations[k].comm;
                if (comm >= state->communicator_count && comm != MPIQ_NONE)
                    bad = "an operation of a wait";
            }
        }
    }
    for (size_t i = 0; i < state->window_count; i++) {
        if (state->windows[i].comm >= state->communicator_count)
            bad = "a window";
    }
    for (size_t i = 0; i < state->history_count; i++) {
        if (state->history[i].comm >= (int64_t)state->communicator_count)
            bad = "a past call";
    }
    if (!bad && state->world_size <= (int64_t)MPIQ_JOB_MAX_PROCESSES)
        return NULL;
    if (!bad)
        return mpiq_error_create(
            MPIQ_ERROR_CORRUPT,
            "rank %d (process %d on %s) says that its job has %d ranks: more than mpiq supports",
            state->name.rank, state->pid, state->host, state->world_size);
    return mpiq_error_create(MPIQ_ERROR_CORRUPT,
                             "rank %d (process %d on %s): %s refers to something that is not there",
                             state->name.rank, state->pid, state->host, bad);
}

struct mpiq_error *mpiq_job_refuse_double(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                                          const struct mpiq_rank_state *state)
{
    bool same = strcmp(rank->host ? mpiq_job_string(job, rank->host) : "", state->host) == 0;
    const char *host = rank->host ? mpiq_job_string(job, rank->host) : "an unknown host";
    if (state->name.rank < 0)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "process %d on %s was given twice: name it once",
                                 state->pid, host);
    if (rank->pid == state->pid && same)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT,
                                 "rank %d (process %d on %s) was given twice: name it once, in one snapshot, "
                                 "one core file or by its pid",
                                 state->name.rank, state->pid, host);
    return mpiq_error_create(MPIQ_ERROR_CORRUPT,
                             "two processes claim to be rank %d of one job: %d on %s and %d on %s",
                             state->name.rank, rank->pid, host, state->pid, state->host);
}
