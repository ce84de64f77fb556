/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "made_parts.h"
#include "merge/merge.h"

enum { SPAWNED_JOB = 9 };

static void mixture_findings(struct made_job *made)
{
    struct mpiq_finding *finding =
        must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_COLLECTIVE_MISMATCH));
    finding->proven = true;
    finding->comm = 0;
    finding->number = 4;
    finding->since = 42;
    no_error(mpiq_rank_set_parse("0-3", &finding->ranks));
    no_error(mpiq_rank_set_parse("3", &finding->suspects));
    struct mpiq_finding_call *call = must(mpiq_finding_add_call(finding));
    call->collective = "MPI_Barrier";
    no_error(mpiq_rank_set_parse("0-2", &call->ranks));
    call = must(mpiq_finding_add_call(finding));
    call->collective = "MPI_Reduce";
    no_error(mpiq_rank_set_parse("3", &call->ranks));
    add_site(finding, "0-2", "MPI_Barrier", "a.c", 10, "main");
    add_site(finding, "3", "MPI_Reduce", "a.c", 12, "main");
    finding->text = "call #4 is MPI_Barrier on ranks 0-2 and MPI_Reduce on rank 3";

    finding = must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH));
    finding->comm = 1;
    finding->collective = "MPI_Bcast";
    finding->number = 2;
    finding->field = "root";
    no_error(mpiq_rank_set_parse("1,3", &finding->ranks));
    struct mpiq_finding_value *value = must(mpiq_finding_add_value(finding));
    value->value = "0";
    no_error(mpiq_rank_set_parse("1", &value->ranks));
    value = must(mpiq_finding_add_value(finding));
    value->value = "1";
    no_error(mpiq_rank_set_parse("3", &value->ranks));
    finding->text = "the ranks do not agree on the root of MPI_Bcast #2";

    finding = must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_TRUNCATION));
    finding->comm = 0;
    finding->operation = operation_of(made->job, 0, MPIQ_QUEUE_RECEIVES);
    finding->other = operation_of(made->job, 0, MPIQ_QUEUE_UNEXPECTED);
    no_error(mpiq_rank_set_parse("0", &finding->ranks));
    finding->text = "rank 0 receives 8 bytes where 80 come";

    finding = must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_RANK_GONE));
    no_error(mpiq_rank_set_parse("4", &finding->ranks));
    no_error(mpiq_rank_set_parse("4", &finding->suspects));
    finding->text = "rank 4 has ended";
}

/* Requests of all kinds: of any source, taken in, persistent; and a message ahead of its turn. */
static void add_requests(struct mpiq_rank_state *state)
{
    struct mpiq_operation *any =
        add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, MPIQ_ANY, 0, 8);
    any->tag_any = true;
    any = add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, MPIQ_ANY, 0, 1 << 30);
    any->tag_any = true;
    any->status = MPIQ_STATUS_MATCHED;
    any->actual_local = 2;
    any->actual = (struct mpiq_name){.job = WORLD_JOB, .rank = 2};
    any->actual_tag = 17;
    any->actual_bytes = 1 << 20;
    struct mpiq_operation *persistent = add_operation(state, MPIQ_QUEUE_SENDS, MPIQ_OPERATION_SSEND, 1, 3, 4);
    persistent->persistent = persistent->inactive = true;
    persistent->status = MPIQ_STATUS_COMPLETE;
    struct mpiq_operation *unstarted =
        add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, MPIQ_ANY, 21, 16);
    unstarted->persistent = unstarted->inactive = true;
    unstarted->status = MPIQ_STATUS_COMPLETE;
    unstarted->actual_local = 2; /* of its last use */
    unstarted->actual_tag = 5;
    add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, 3, 2, 80)->out_of_order = true;
}

/* Ranks 0-3 are in their fourth collective, of which rank 3 has another one; rank 4 is gone, 5 is stopped. */
static struct mpiq_rank_state *mixture_rank(uint32_t rank)
{
    static const uint32_t odd[] = {1, 3};
    struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, 7);
    struct mpiq_communicator *world = add_world(state);
    const char *call = rank == 3 ? "MPI_Reduce" : "MPI_Barrier";
    world->ordered = 4;
    add_count(world, mpiq_collective_class(call), 4, rank < 4);
    if (rank % 2 > 0 && rank < 4) {
        struct mpiq_communicator *part = add_part(state, "odd \033[31m\"ones\" \xc3\xa4", 5, odd, 2);
        snprintf(part->made_by, sizeof part->made_by, "MPI_Comm_split");
        part->made = (struct mpiq_place){.file = "parts\t.c", .function = "halves", .line = 7};
        add_count(part, mpiq_collective_class("MPI_Ibcast"), 2, true);
    }
    if (rank < 4)
        add_thread(state, call, "a.c", rank == 3 ? 12 : 10, "main");
    if (rank == 0)
        add_requests(state);
    if (rank == 4) {
        state->gone = true;
        state->process_state = 'Z';
        state->queues = MPIQ_UNKNOWN;
        state->recording = MPIQ_UNKNOWN;
        mpiq_rank_state_problem(
            state, "queues", mpiq_error_create(MPIQ_ERROR_CORRUPT, "the list of requests runs in a circle"));
    }
    if (rank == 5) {
        state->source = MPIQ_SOURCE_DEBUG_INFO;
        state->recording = MPIQ_NO;
        state->queues = MPIQ_NO;
        state->process_state = 'T';
        snprintf(state->pml, sizeof state->pml, "ucx");
        add_thread(state, "", NULL, 0, "compute");
    }
    return state;
}

struct made_job made_mixture(void)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < 6; rank++)
        add_rank(job, mixture_rank(rank));
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct mpiq_rank_state *state = new_rank(SPAWNED_JOB, rank, 2);
        add_world(state)->context[1] = 9;
        add_thread(state, "MPI_Recv", "child.c", 4, "main");
        add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, 1 - (int32_t)rank, 1, 4);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    struct mpiq_rank_diagnosis *ranks = made.diagnosis->ranks;
    made.diagnosis->text = "ranks 0-3 can never continue";
    no_error(mpiq_rank_set_parse("0-3", &made.diagnosis->stuck));
    for (uint32_t rank = 0; rank < 4; rank++) {
        ranks[rank].stuck = ranks[rank].cause = true;
        ranks[rank].number = 4;
        ranks[rank].since = 42;
    }
    ranks[4].activity = MPIQ_ACTIVITY_GONE;
    ranks[5].activity = MPIQ_ACTIVITY_STOPPED;
    for (uint32_t process = 7; process < made.job->process_count; process++)
        ranks[process].comm = job->operations[operation_of(job, process, MPIQ_QUEUE_RECEIVES)].comm;
    mixture_findings(&made);
    struct mpiq_note *note = must(mpiq_diagnosis_add_note(made.diagnosis, MPIQ_NOTE_PROBLEM));
    no_error(mpiq_rank_set_parse("6", &note->ranks));
    note->text = "no process of this rank was found on n1";
    note = must(mpiq_diagnosis_add_assumption(made.diagnosis, MPIQ_NOTE_UNREAD));
    no_error(mpiq_rank_set_parse("6", &note->ranks));
    note->text = "not read: assumed able to act at any moment";
    return made;
}
