/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_screens.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "made_parts.h"
#include "merge/merge.h"

/* Ranks in one call at one place. */
struct place {
    const char *ranks;
    const char *call; /* "": outside MPI */
    const char *file;
    int line;
    const char *function;
    double since;
    const char *started_file; /* where what they wait for was started; NULL */
    int started_line;
};

/* A job of `size` ranks at those places; each has MPI_COMM_WORLD. */
static struct made_job job_at(uint32_t size, const struct place *places, size_t count,
                              enum mpiq_source source)
{
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    for (uint32_t rank = 0; rank < size; rank++) {
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, size);
        state->source = (uint8_t)source;
        if (source == MPIQ_SOURCE_STACKS) {
            state->queues = MPIQ_UNKNOWN;
            state->recording = MPIQ_UNKNOWN;
            snprintf(state->library, sizeof state->library, "MPICH 4.0.2");
            snprintf(state->library_file, sizeof state->library_file, "/usr/lib/libmpich.so.12");
        } else {
            add_world(state);
        }
        for (size_t i = 0; i < count; i++) {
            struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
            no_error(mpiq_rank_set_parse(places[i].ranks, &set));
            if (!mpiq_rank_set_contains(&set, 0, rank))
                continue;
            add_thread(state, places[i].call, places[i].file, places[i].line, places[i].function);
            if (places[i].started_file)
                add_operation(state, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, 0, 0, 4)->started =
                    (struct mpiq_place){.file = mpiq_rank_state_intern(state, places[i].started_file),
                                        .line = places[i].started_line};
        }
        add_rank(job, state);
    }
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    for (size_t i = 0; i < count; i++) {
        struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
        no_error(mpiq_rank_set_parse(places[i].ranks, &set));
        for (uint32_t rank = 0; rank < size; rank++) {
            if (!mpiq_rank_set_contains(&set, 0, rank))
                continue;
            made.diagnosis->ranks[rank].since = places[i].since;
            made.diagnosis->ranks[rank].stuck = made.diagnosis->ranks[rank].cause = true;
        }
    }
    return made;
}

#define JOB_AT(size, places) job_at(size, places, sizeof(places) / sizeof *(places), MPIQ_SOURCE_PATCHED)

static void consequence(struct made_job *made, const char *ranks, const char *text)
{
    struct mpiq_finding *finding = cause(made, MPIQ_FINDING_COLLECTIVE_INCOMPLETE, ranks, "", text);
    finding->consequence_of = 0;
    finding->comm = 0;
    finding->collective = "MPI_Barrier";
}

static struct made_job missing_from_a_collective(void)
{
    static const struct place places[] = {
        {"0,2-63", "MPI_Bcast", "/home/user/solver.c", 65, "share_parameters", 11520.4, NULL, 0},
        {"1", "MPI_Recv", "/home/user/solver.c", 56, "refine_mesh", 11521, NULL, 0}};
    struct made_job made = JOB_AT(64, places);
    made.diagnosis->text = "none of the 64 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_COLLECTIVE_INCOMPLETE, "0,2-63", "1",
              "rank 1 never entered the MPI_Bcast that the other 63 ranks are waiting in");
    no_error(mpiq_rank_set_parse("1", &finding->missing));
    finding->comm = 0;
    finding->collective = "MPI_Bcast";
    finding->number = 6;
    finding->since = 11520.4;
    evidence(&made, finding, "0,2-63", wait_for(&made, collective(&made, "MPI_Bcast", 6, "1"), "1"), NULL);
    evidence(&made, finding, "1", wait_for(&made, message(MPIQ_PART_RECEIVE, 63, 99, 8), "63"), NULL);
    return made;
}

static struct made_job message_never_sent(void)
{
    static const struct place places[] = {
        {"0", "MPI_Waitall", "exchange.c", 11, "main", 2.3, "exchange.c", 7},
        {"1-3", "MPI_Barrier", "exchange.c", 12, "main", 2.3, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 4 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_RECEIVE_UNMATCHED, "0", "3",
              "rank 3 never sent the message with tag 42 that rank 0 is waiting for");
    struct mpiq_waits_for *wait = wait_for(&made, message(MPIQ_PART_RECEIVE, 3, 42, 4), "3");
    wait->done = 17;
    evidence(&made, finding, "0", wait, NULL);
    struct mpiq_wait_part part = collective(&made, "MPI_Barrier", 1, "0");
    evidence(&made, finding, "3", NULL, "has moved on; to rank 0 it sent tags 40 and 41");
    made.diagnosis->ranks[3].waits_for = wait_for(&made, part, "0");
    made.diagnosis->ranks[1].waits_for = made.diagnosis->ranks[2].waits_for =
        made.diagnosis->ranks[3].waits_for;
    consequence(&made, "1-2", "ranks 1-2 wait in MPI_Barrier at exchange.c:12 for rank 0");
    return made;
}

static struct made_job tags_differ(void)
{
    static const struct place places[] = {{"1", "MPI_Recv", "pair.c", 39, "main", 2.3, NULL, 0},
                                          {"0", "MPI_Recv", "pair.c", 38, "main", 2.3, NULL, 0}};
    struct made_job made = JOB_AT(2, places);
    made.diagnosis->text = "neither rank can continue";
    struct mpiq_finding *finding = cause(&made, MPIQ_FINDING_RECEIVE_UNMATCHED, "0-1", "",
                                         "rank 0 sent tag 41, but rank 1 is receiving tag 14");
    evidence(&made, finding, "1", wait_for(&made, message(MPIQ_PART_RECEIVE, 0, 14, 4), "0"),
             "an unreceived message from rank 0 has tag 41 (4 bytes)");
    evidence(&made, finding, "0", wait_for(&made, message(MPIQ_PART_RECEIVE, 1, 7, 4), "1"), NULL);
    return made;
}

static struct made_job tags_of_a_ring_differ(void)
{
    static const struct place places[] = {{"0-23", "MPI_Recv", "ring.c", 20, "shift", 31, NULL, 0}};
    struct made_job made = JOB_AT(24, places);
    made.diagnosis->text = "none of the 24 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_RECEIVE_UNMATCHED, "0-23", "",
              "every rank receives tag 100 from the previous rank, which sent tag 200");
    struct mpiq_wait_part part = message(MPIQ_PART_RECEIVE, 23, 100, 4);
    part.relative = part.wraps = true;
    part.offset = -1;
    evidence(&made, finding, "0-23", wait_for(&made, part, "0-23"), NULL);
    return made;
}

static struct made_job left_early(void)
{
    static const struct place places[] = {{"0", "MPI_Recv", "io.c", 25, "main", 2.9, NULL, 0},
                                          {"2", "MPI_Finalize", "io.c", 20, "main", 2.9, NULL, 0},
                                          {"1,3", "MPI_Barrier", "io.c", 26, "main", 2.9, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 4 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_RECEIVE_UNMATCHED, "0", "2",
              "rank 2 is in MPI_Finalize while rank 0 still waits for a message from it");
    evidence(&made, finding, "0", wait_for(&made, message(MPIQ_PART_RECEIVE, 2, 5, 4), "2"), NULL);
    evidence(&made, finding, "2", NULL, NULL);
    consequence(&made, "1,3", "ranks 1,3 wait in MPI_Barrier at io.c:26 for rank 0");
    return made;
}

static struct made_job killed(void)
{
    static const struct place places[] = {{"0-1,3", "MPI_Allreduce", "sum.c", 9, "norm", 61, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 3 living ranks can continue";
    made.diagnosis->ranks[2].activity = MPIQ_ACTIVITY_GONE;
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_RANK_GONE, "2", "2",
              "rank 2 was killed by signal 11 (segmentation fault); ranks 0-1,3 wait for it");
    evidence(&made, finding, "0-1,3", wait_for(&made, collective(&made, "MPI_Allreduce", 3, "2"), "2"), NULL);
    return made;
}

static struct made_job circle_of_sends(void)
{
    static const struct place places[] = {{"0-4", "MPI_Ssend", "ring.c", 12, "shift", 4, NULL, 0}};
    struct made_job made = JOB_AT(5, places);
    made.diagnosis->text = "none of the 5 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_WAIT_CYCLE, "0-4", "",
              "ranks 0-4 send to each other in a circle, and none has posted the receive");
    struct mpiq_wait_part part = message(MPIQ_PART_SEND, 1, 3, 1 << 20);
    part.relative = part.wraps = true;
    part.offset = 1;
    evidence(&made, finding, "0-4", wait_for(&made, part, "0-4"), NULL);
    for (uint32_t rank = 0; rank < 5; rank++) {
        const char *next = words(&made, "%u", (unsigned)((rank + 1) % 5));
        made.diagnosis->ranks[rank].waits_for =
            wait_for(&made, message(MPIQ_PART_SEND, (rank + 1) % 5, 3, 1 << 20), next);
    }
    return made;
}

static struct made_job opposite_order(void)
{
    static const struct place places[] = {{"0,2", "MPI_Barrier", "two.c", 31, "main", 5, NULL, 0},
                                          {"1,3", "MPI_Barrier", "two.c", 36, "main", 5, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 4 ranks can continue";
    struct mpiq_finding *finding = cause(
        &made, MPIQ_FINDING_WAIT_CYCLE, "0-3", "",
        "two communicators are entered in opposite order: ranks 0,2 are in MPI_Barrier on \"beta\", ranks "
        "1,3 in MPI_Barrier on \"alpha\"");
    evidence(&made, finding, "0,2", wait_for(&made, collective(&made, "MPI_Barrier", 1, "1,3"), "1,3"), NULL);
    evidence(&made, finding, "1,3", wait_for(&made, collective(&made, "MPI_Barrier", 1, "0,2"), "0,2"), NULL);
    return made;
}

static struct made_job different_calls(void)
{
    static const struct place places[] = {{"0", "MPI_Wait", "mix.c", 63, "main", 3, "mix.c", 62},
                                          {"1", "MPI_Wait", "mix.c", 58, "main", 3, "mix.c", 57}};
    struct made_job made = JOB_AT(2, places);
    made.diagnosis->text = "neither rank can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_COLLECTIVE_MISMATCH, "0-1", "",
              "collective 1 on MPI_COMM_WORLD: rank 0 called MPI_Iallreduce, rank 1 called MPI_Ibcast");
    struct mpiq_wait_part part = collective(&made, "MPI_Iallreduce", 0, "1");
    part.comm = MPIQ_NONE;
    evidence(&made, finding, "0", wait_for(&made, part, "1"), NULL);
    part = collective(&made, "MPI_Ibcast", 0, "0");
    part.comm = MPIQ_NONE;
    evidence(&made, finding, "1", wait_for(&made, part, "0"), NULL);
    return made;
}

static struct made_job different_roots(void)
{
    static const struct place places[] = {{"0-2", "MPI_Bcast", "root.c", 14, "main", 3, NULL, 0},
                                          {"3", "MPI_Bcast", "root.c", 14, "main", 3, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 4 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH, "0-3", "3",
              "rank 3 called MPI_Bcast with root 1, ranks 0-2 with root 0 (collective 4 on MPI_COMM_WORLD)");
    evidence(&made, finding, "0-2", NULL, "root 0");
    evidence(&made, finding, "3", NULL, "root 1");
    return made;
}

static struct made_job lock_held(void)
{
    static const struct place places[] = {{"0,2-3", "MPI_Win_lock", "rma.c", 40, "update", 12, NULL, 0},
                                          {"1", "MPI_Barrier", "rma.c", 51, "main", 12, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 4 ranks can continue";
    struct mpiq_finding *finding = cause(
        &made, MPIQ_FINDING_WINDOW_WAIT, "0,2-3", "1",
        "rank 1 holds an exclusive lock on window \"field\" of rank 0 and is in MPI_Barrier; ranks 0,2-3 "
        "wait for that lock");
    struct mpiq_wait_part part = message(MPIQ_PART_WINDOW, 1, 0, -1);
    evidence(&made, finding, "0,2-3", wait_for(&made, part, "1"), NULL);
    evidence(&made, finding, "1", wait_for(&made, collective(&made, "MPI_Barrier", 2, "0,2-3"), "0,2-3"),
             NULL);
    return made;
}

static struct made_job polling(void)
{
    static const struct place places[] = {{"0", "MPI_Test", "poll.c", 9, "main", 90, NULL, 0},
                                          {"1", "MPI_Test", "poll.c", 9, "main", 90, NULL, 0}};
    struct made_job made = JOB_AT(2, places);
    made.diagnosis->verdict = MPIQ_VERDICT_STALLED;
    made.diagnosis->text = "both ranks have polled without effect for 1 m 30 s";
    struct mpiq_finding *finding = cause(
        &made, MPIQ_FINDING_POLLING_UNMATCHED, "0-1", "",
        "rank 0 polls with MPI_Test for tag 9 from rank 1, which will not send it: it polls for tag 9 from "
        "rank 0");
    for (uint32_t rank = 0; rank < 2; rank++) {
        const char *other = rank ? "0" : "1";
        made.diagnosis->ranks[rank].activity = MPIQ_ACTIVITY_POLLING;
        evidence(&made, finding, rank ? "1" : "0",
                 wait_for(&made, message(MPIQ_PART_RECEIVE, 1 - rank, 9, 4), other), NULL);
    }
    return made;
}

static struct made_job not_a_hang(void)
{
    static const struct place places[] = {{"3", "", "work.c", 71, "assemble", -1, NULL, 0},
                                          {"0-2,4-5", "MPI_Allreduce", "work.c", 88, "main", 2, NULL, 0}};
    struct made_job made = JOB_AT(6, places);
    made.diagnosis->verdict = MPIQ_VERDICT_RUNNING;
    made.diagnosis->text = "rank 3 is computing; 5 ranks have waited up to 2.0 s for it";
    for (uint32_t rank = 0; rank < 6; rank++) {
        made.diagnosis->ranks[rank].stuck = made.diagnosis->ranks[rank].cause = false;
        made.diagnosis->ranks[rank].waits_for =
            wait_for(&made, collective(&made, "MPI_Allreduce", 8, "3"), "3");
        made.diagnosis->ranks[rank].number = 8;
    }
    made.diagnosis->ranks[3].activity = MPIQ_ACTIVITY_COMPUTING;
    made.diagnosis->ranks[3].waits_for = NULL;
    made.diagnosis->ranks[3].last =
        (struct mpiq_last_call){.known = true, .call = "MPI_Allreduce", .ago = 2.1, .collective = true};
    return made;
}

static struct made_job stacks_only(void)
{
    static const struct place places[] = {{"1,3", "MPI_Bcast", "main.c", 29, "main", -1, NULL, 0},
                                          {"2", "MPI_Barrier", "main.c", 29, "main", -1, NULL, 0},
                                          {"0", "MPI_Finalize", "main.c", 101, "main", -1, NULL, 0}};
    struct made_job made = job_at(4, places, sizeof places / sizeof *places, MPIQ_SOURCE_STACKS);
    made.diagnosis->verdict = MPIQ_VERDICT_UNKNOWN;
    made.diagnosis->text = "only stacks could be read, so nothing can be proven";
    made.diagnosis->by_stacks = true;
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_STACKS_DIFFER, "0-3", "", "the ranks are in different MPI calls");
    evidence(&made, finding, "0", NULL, NULL);
    evidence(&made, finding, "2", NULL, NULL);
    evidence(&made, finding, "1,3", NULL, NULL);
    static const char *const calls[] = {"MPI_Finalize", "MPI_Barrier", "MPI_Bcast"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
        if (call)
            call->collective = calls[i];
    }
    return made;
}

struct made_job made_back_and_forth(void)
{
    static const struct place places[] = {{"0", "MPI_Recv", "io.c", 25, "main", 2.9, NULL, 0},
                                          {"1-3", "MPI_Barrier", "io.c", 26, "main", 2.9, NULL, 0}};
    struct made_job made = JOB_AT(4, places);
    made.diagnosis->text = "none of the 4 ranks can continue";
    struct mpiq_finding *finding =
        cause(&made, MPIQ_FINDING_WAIT_CYCLE, "0-3", "",
              "rank 0 waits for a message from rank 3, which waits for rank 0 in MPI_Barrier");
    evidence(&made, finding, "0", wait_for(&made, message(MPIQ_PART_RECEIVE, 3, 5, 4), "3"), NULL);
    evidence(&made, finding, "1-3", wait_for(&made, collective(&made, "MPI_Barrier", 1, "0"), "0"), NULL);
    return made;
}

const struct made_screen made_screens[] = {
    {"missing-from-a-collective", missing_from_a_collective},
    {"message-never-sent", message_never_sent},
    {"tags-differ", tags_differ},
    {"tags-of-a-ring-differ", tags_of_a_ring_differ},
    {"left-early", left_early},
    {"killed", killed},
    {"circle-of-sends", circle_of_sends},
    {"opposite-order", opposite_order},
    {"different-calls", different_calls},
    {"different-roots", different_roots},
    {"lock-held", lock_held},
    {"polling", polling},
    {"not-a-hang", not_a_hang},
    {"stacks-only", stacks_only},
};
const size_t made_screen_count = sizeof made_screens / sizeof *made_screens;
