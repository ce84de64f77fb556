/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_parts.h"
#include "merge/merge.h"

static struct mpiq_rank_state *wrong_turn_rank(uint32_t rank, uint32_t size)
{
    struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
    struct mpiq_communicator *comm = add_world(state);
    bool lost = rank == 1;
    comm->ordered = lost ? 5 : 6;
    add_count(comm, mpiq_collective_class("MPI_Bcast"), lost ? 4 : 5, !lost);
    add_count(comm, mpiq_collective_class("MPI_Allreduce"), 1, false);
    add_thread(state, lost ? "MPI_Recv" : "MPI_Bcast", "/home/user/solver/src/solver.c", lost ? 71 : 88,
               lost ? "exchange" : "step");
    if (lost) {
        add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, (int32_t)size - 1, 99, 8)
            ->datatype = mpiq_rank_state_intern(state, "MPI_DOUBLE");
        add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, (int32_t)size - 1, 98, 40)
            ->eager = true;
    } else if (rank != 0) {
        struct mpiq_operation *inner =
            add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, (int32_t)(rank / 2), -17, 64);
        inner->internal = true;
        inner->collective = (int16_t)mpiq_collective_class("MPI_Bcast");
    }
    return state;
}

static void wrong_turn_ranks(struct made_job *made, uint32_t last)
{
    made->diagnosis->text = words(made, "none of the %u ranks can continue", (unsigned)last + 1);
    for (uint32_t rank = 0; rank <= last; rank++) {
        struct mpiq_rank_diagnosis *row = &made->diagnosis->ranks[rank];
        row->stuck = row->cause = true;
        row->since = rank == 1 ? 11521 : 11520.4;
        row->number = rank == 1 ? 0 : 6;
    }
    for (uint32_t i = 0; i < made->job->operation_count; i++)
        made->job->operations[i].blocked = made->job->operations[i].queue == MPIQ_QUEUE_RECEIVES;
    must_be(mpiq_rank_set_add_range(&made->diagnosis->stuck, 0, 0, last));
}

static void wrong_turn_findings(struct made_job *made, uint32_t last)
{
    const char *others = words(made, "0,2-%u", (unsigned)last);
    struct mpiq_finding *finding =
        must(mpiq_diagnosis_add_finding(made->diagnosis, MPIQ_FINDING_COLLECTIVE_INCOMPLETE));
    finding->proven = true;
    finding->comm = 0;
    finding->collective = "MPI_Bcast";
    finding->number = 6;
    finding->since = 11520.4;
    no_error(mpiq_rank_set_parse(others, &finding->ranks));
    no_error(mpiq_rank_set_parse("1", &finding->missing));
    no_error(mpiq_rank_set_parse("1", &finding->suspects));
    add_site(finding, others, "MPI_Bcast", "/home/user/solver/src/solver.c", 88, "step");
    add_site(finding, "1", "MPI_Recv", "/home/user/solver/src/solver.c", 71, "exchange");
    finding->text = words(made, "rank 1 never entered the MPI_Bcast that the other %u ranks are waiting in",
                          (unsigned)last);
    evidence(made, finding, others, wait_for(made, collective(made, "MPI_Bcast", 6, "1"), "1"), NULL);
    evidence(made, finding, "1",
             wait_for(made, message(MPIQ_PART_RECEIVE, last, 99, 8), words(made, "%u", (unsigned)last)),
             NULL);
    finding->operation = operation_of(made->job, 1, MPIQ_QUEUE_RECEIVES);
    struct mpiq_near_miss *miss = must(mpiq_finding_add_near_miss(finding));
    *miss = (struct mpiq_near_miss){.differs = MPIQ_MISS_TAG,
                                    .process = last,
                                    .holder = 1,
                                    .operation = operation_of(made->job, 1, MPIQ_QUEUE_UNEXPECTED)};
}

static void wrong_turn_chain(struct made_job *made, uint32_t last)
{
    made->chain = must(mpiq_chain_create());
    struct mpiq_step *step = must(mpiq_chain_add_step(made->chain));
    step->process = 0;
    must_be(mpiq_rank_set_add(&step->waits_for, 0, 1));
    step->why = "it has not entered MPI_Bcast";
    step->site = made->diagnosis->ranks[0].site;
    step->since = 11520.4;
    step = must(mpiq_chain_add_step(made->chain));
    step->process = 1;
    must_be(mpiq_rank_set_add(&step->waits_for, 0, last));
    step->why = words(made, "MPI_Recv from rank %u, tag 99", (unsigned)last);
    step->site = made->diagnosis->ranks[1].site;
    step->since = 11521;
    made->chain->finding = 0;
    made->chain->text =
        "no message with tag 99 is in transit, and the rank that could send one waits for rank 1";
}

struct made_job made_wrong_turn(uint32_t size)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < size; rank++)
        add_rank(job, wrong_turn_rank(rank, size));
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    wrong_turn_ranks(&made, size - 1);
    wrong_turn_findings(&made, size - 1);
    wrong_turn_chain(&made, size - 1);
    return made;
}

struct made_job made_ring(uint32_t size)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
        int32_t next = (int32_t)((rank + 1) % size);
        add_world(state);
        add_thread(state, "MPI_Send", "ring.c", 23, "main");
        add_operation(state, MPIQ_QUEUE_SENDS, MPIQ_OPERATION_SEND, next, 7, 1 << 20);
        for (int i = 0; i < 3; i++)
            add_operation(state, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE,
                          (int32_t)((rank + size - 1) % size), 5, 16);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    made.diagnosis->text = words(&made, "none of the %u ranks can continue", (unsigned)size);
    must_be(mpiq_rank_set_add_range(&made.diagnosis->stuck, 0, 0, size - 1));
    const char *all = words(&made, "0-%u", (unsigned)size - 1);
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_WAIT_CYCLE, all, "",
              words(&made, "ranks %s send to each other in a circle, and none has posted the receive", all));
    finding->since = 75;
    made.chain = must(mpiq_chain_create());
    for (uint32_t rank = 0; rank < size; rank++)
        made.diagnosis->ranks[rank].since = 75 - rank % 2;
    struct mpiq_wait_part part = message(MPIQ_PART_SEND, 1, 7, 1 << 20);
    part.relative = part.wraps = true;
    part.offset = 1;
    evidence(&made, finding, all, wait_for(&made, part, all), NULL);
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_diagnosis *row = &made.diagnosis->ranks[rank];
        uint32_t next = (rank + 1) % size;
        row->stuck = row->cause = true;
        row->waits_for =
            wait_for(&made, message(MPIQ_PART_SEND, next, 7, 1 << 20), words(&made, "%u", (unsigned)next));
        for (int i = 0; i < (rank < 100 ? 2 : 0); i++) {
            struct mpiq_step *step =
                must(i ? mpiq_chain_add_step(made.chain) : mpiq_finding_add_step(finding));
            step->process = rank;
            must_be(mpiq_rank_set_add(&step->waits_for, 0, next));
            step->why = words(&made, "MPI_Send to rank %u, tag 7", (unsigned)next);
            step->site = row->site;
            step->since = row->since;
        }
    }
    made.chain->cycle = size <= 100;
    made.chain->text = "a circle: none of these ranks can continue";
    made.chain->finding = 0;
    for (uint32_t i = 0; i < job->operation_count; i++)
        job->operations[i].blocked = job->operations[i].queue == MPIQ_QUEUE_SENDS;
    return made;
}

struct made_job made_chaos(uint32_t size)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
        add_world(state)->ordered = (int64_t)rank;
        add_count(&state->communicators[0], mpiq_collective_class("MPI_Bcast"), rank, rank % 2 > 0);
        add_thread(state, "MPI_Recv", "chaos.c", (int)rank + 1, "a_function_with_a_rather_long_name");
        for (uint32_t i = 0; i < 3; i++)
            add_operation(state, (enum mpiq_queue)i,
                          i == 0   ? MPIQ_OPERATION_SEND
                          : i == 1 ? MPIQ_OPERATION_RECEIVE
                                   : MPIQ_OPERATION_MESSAGE,
                          (int32_t)((rank * 7919u + 1) % size), (int32_t)rank, (int64_t)rank * 8);
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    made.diagnosis->text = words(&made, "none of the %u ranks can continue", (unsigned)size);
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_diagnosis *row = &made.diagnosis->ranks[rank];
        row->stuck = true;
        row->since = rank;
        uint32_t peer = (rank * 7919u + 1) % size;
        row->waits_for = wait_for(&made, message(MPIQ_PART_RECEIVE, peer, (int32_t)rank, -1),
                                  words(&made, "%u", (unsigned)peer));
        if (rank >= 200)
            continue;
        struct mpiq_finding *finding =
            must(mpiq_diagnosis_add_finding(made.diagnosis, MPIQ_FINDING_RECEIVE_UNMATCHED));
        finding->proven = rank < 100;
        finding->operation = operation_of(job, rank, MPIQ_QUEUE_RECEIVES);
        finding->text = words(&made,
                              "rank %u waits for a message with tag %u that nobody will send, whatever else "
                              "happens in this job, in which nothing much will",
                              (unsigned)rank, (unsigned)rank);
        for (uint32_t i = 0; i < 30; i++) {
            add_site(finding, words(&made, "%u", (unsigned)((rank + i) % size)), "MPI_Recv", "chaos.c",
                     (int)i + 1, "f");
            struct mpiq_near_miss *miss = must(mpiq_finding_add_near_miss(finding));
            *miss = (struct mpiq_near_miss){.differs = MPIQ_MISS_TAG,
                                            .process = rank,
                                            .holder = (rank + i) % size,
                                            .operation =
                                                operation_of(job, (rank + i) % size, MPIQ_QUEUE_UNEXPECTED)};
        }
        struct mpiq_note *note = must(mpiq_diagnosis_add_note(made.diagnosis, MPIQ_NOTE_PROBLEM));
        note->text = words(&made, "something of rank %u could not be read, for a reason that takes a line",
                           (unsigned)rank);
        note = must(mpiq_diagnosis_add_assumption(made.diagnosis, MPIQ_NOTE_UNREAD));
        note->text = words(&made, "rank %u may act at any moment", (unsigned)rank);
    }
    return made;
}
