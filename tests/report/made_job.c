/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_job.h"

#include <stdio.h>

#include "made_parts.h"
#include "merge/merge.h"

struct made_job made_backlog(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, 2);
        add_world(state);
        add_thread(state, rank ? "MPI_Send" : "MPI_Recv", "threads.c", rank ? 9 : 20,
                   rank ? "produce" : "main");
        for (int i = 0; rank == 0 && i < 2; i++) {
            if (i == 1)
                add_thread(state, "MPI_Recv", "threads.c", 31, "helper");
            struct mpiq_thread *thread = &state->threads[i];
            struct mpiq_operation *queued =
                add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, 1, i, 4);
            struct mpiq_wait *wait = must(mpiq_thread_add_wait(thread));
            thread->tid = state->pid + i;
            wait->kind = MPIQ_WAIT_RECEIVE;
            wait->need = 1;
            wait->episode = 1;
            wait->comm = 0;
            snprintf(wait->call, sizeof wait->call, "MPI_Recv");
            struct mpiq_operation *waited = must(mpiq_wait_add_operation(wait));
            *waited = *queued;
            waited->queue = MPIQ_QUEUE_WAIT;
        }
        for (int i = 0; rank == 0 && i < 20; i++)
            add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, 1, 100 + i,
                          i < 10 ? 8 : 4096);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_RUNNING);
    made.diagnosis->text = "no rank is proven to be stuck";
    struct mpiq_finding *finding =
        must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_UNEXPECTED_BACKLOG));
    finding->comm = 0;
    no_error(mpiq_rank_set_parse("0", &finding->ranks));
    finding->text = "rank 0 holds 20 messages that nobody has posted a receive for";
    return made;
}

struct made_job made_running(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < 4; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, 4);
        state->source = MPIQ_SOURCE_DEBUG_INFO;
        state->recording = MPIQ_NO;
        add_world(state);
        add_thread(state, rank ? "MPI_Allreduce" : "", NULL, 0, rank ? "sum" : "assemble");
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_RUNNING);
    made.diagnosis->text = "1 rank computes, and 3 wait for it";
    made.diagnosis->ranks[0].activity = MPIQ_ACTIVITY_COMPUTING;
    return made;
}

struct made_job made_nothing(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    struct made_job made = finished(job, MPIQ_VERDICT_UNKNOWN);
    made.diagnosis->text = "no rank could be read";
    struct mpiq_note *note = must(mpiq_diagnosis_add_note(made.diagnosis, MPIQ_NOTE_PROBLEM));
    note->text = "the processes belong to another user: run mpiq as that user, or as root";
    return made;
}

void made_job_deinit(struct made_job *made)
{
    mpiq_chain_destroy(made->chain);
    mpiq_diagnosis_destroy(made->diagnosis);
    mpiq_job_state_destroy(made->job);
}
