/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "simulator_private.h"

/* A thread goes round in a wait until its turn is over, or something happens. */
static bool go_round(struct simulator *sim, int rank, struct sim_thread *thread)
{
    enum { ONE_THING_NS = 10000, TURN_NS = 3000000 };
    bool moved = sim_progress(sim, rank);
    thread->cpu_ns += moved ? ONE_THING_NS : TURN_NS;
    if (!moved && thread->stamp == 0)
        thread->stamp = sim->clock;
    return moved;
}

bool sim_in_group(const struct sim_request *request, int thread, int group)
{
    return request->used && request->thread == thread &&
           (group == -1 ? !request->internal : request->group == group);
}

bool sim_is_window(const struct sim_step *step)
{
    return step->kind >= SIM_LOCK && step->kind <= SIM_EXPOSED;
}

static bool wait_is_over(struct simulator *sim, int rank, int thread, const struct sim_step *step)
{
    struct sim_rank *row = &sim->rank[rank];
    int open = 0;
    int complete = 0;
    for (int i = 0; i < SIM_REQUESTS; i++) {
        if (!sim_in_group(&row->requests[i], thread, step->group))
            continue;
        open += row->requests[i].status != MPIQ_STATUS_COMPLETE;
        complete += row->requests[i].status == MPIQ_STATUS_COMPLETE;
    }
    return open == 0 || (!step->all && complete > 0);
}

static void free_complete(struct simulator *sim, int rank, int thread, int group)
{
    for (int i = 0; i < SIM_REQUESTS; i++) {
        struct sim_request *request = &sim->rank[rank].requests[i];
        if (sim_in_group(request, thread, group) && request->status == MPIQ_STATUS_COMPLETE)
            request->used = false;
    }
}
static bool probe_is_over(const struct sim_rank *row, const struct sim_step *step)
{
    struct sim_request probe = {.used = true, .comm = step->comm, .peer = step->peer, .tag = step->tag};
    for (int i = 0; i < row->unexpected_count; i++) {
        const struct sim_message *message = &row->unexpected[i];
        if (sim_fits(&probe, message->from, message->comm, message->tag))
            return true;
    }
    return false;
}

static bool all_entered(const struct simulator *sim, int rank)
{
    for (int other = 0; other < sim->ranks; other++) {
        int64_t number = sim->rank[rank].entered;
        if (sim->rank[other].entered < number ||
            strcmp(sim->rank[other].calls[number], sim->rank[rank].calls[number]) != 0)
            return false;
    }
    return true;
}

static bool all_end(const struct simulator *sim)
{
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (!sim_ended(sim, rank))
            return false;
    }
    return true;
}

static bool has_come_to_its_end(const struct sim_thread *thread)
{
    return thread->program[thread->at].kind == SIM_END;
}

static bool is_over(struct simulator *sim, int rank, int thread, const struct sim_step *step)
{
    switch (step->kind) {
    case SIM_WAIT:
        return wait_is_over(sim, rank, thread, step);
    case SIM_TEST: {
        struct sim_step wait = *step;
        wait.all = true;
        return wait_is_over(sim, rank, thread, &wait);
    }
    case SIM_PROBE:
        return probe_is_over(&sim->rank[rank], step);
    case SIM_SHARED:
        return all_entered(sim, rank);
    default:
        return sim_is_window(step) && sim_window_is_over(sim, rank, thread);
    }
}

bool sim_ended(const struct simulator *sim, int rank)
{
    return has_come_to_its_end(&sim->rank[rank].thread[0]);
}

bool sim_thread_ended(const struct simulator *sim, int rank, int thread)
{
    return has_come_to_its_end(&sim->rank[rank].thread[thread]);
}

static void begin_waiting(struct simulator *sim, struct sim_thread *thread)
{
    thread->waiting = true;
    thread->episode++;
    thread->stamp = 0;
    thread->began = sim->clock;
}

/* A step that ends at once; false: it does not. */
static bool take_short_step(struct simulator *sim, int rank, int number, const struct sim_step *step)
{
    struct sim_rank *row = &sim->rank[rank];
    struct sim_thread *thread = &row->thread[number];
    switch (step->kind) {
    case SIM_COMPUTE:
        if (++thread->left < step->count)
            return true;
        thread->left = 0;
        break;
    case SIM_SEND:
        sim_start_send(sim, rank, number, step);
        break;
    case SIM_RECEIVE:
        sim_start_receive(sim, rank, number, step);
        break;
    case SIM_ENTER:
        row->entered++;
        row->inside = true;
        row->entered_at = sim->clock;
        row->calls[row->entered] = step->call;
        break;
    case SIM_LEAVE:
        row->inside = false;
        row->returned++;
        break;
    case SIM_NOTE:
        sim_note(sim, rank, step);
        break;
    default:
        return false;
    }
    thread->at++;
    return true;
}

static bool step_thread(struct simulator *sim, int rank, int number)
{
    struct sim_thread *thread = &sim->rank[rank].thread[number];
    const struct sim_step *step = &thread->program[thread->at];
    sim->clock++;
    if (take_short_step(sim, rank, number, step))
        return true;
    if (step->kind == SIM_JOIN) {
        bool over = sim_thread_ended(sim, rank, 1);
        thread->at += over;
        return over;
    }
    if (step->kind == SIM_END) {
        if (number > 0)
            return false;
        if (!thread->waiting) {
            begin_waiting(sim, thread);
            return true;
        }
        return !all_end(sim) && go_round(sim, rank, thread);
    }
    uint64_t told = sim->told;
    if (is_over(sim, rank, number, step)) {
        if (step->kind == SIM_WAIT || step->kind == SIM_TEST)
            free_complete(sim, rank, number, step->group);
        thread->waiting = thread->asked = false;
        thread->ended++;
        thread->at++;
        return true;
    }
    if (!thread->waiting) {
        begin_waiting(sim, thread);
        return true;
    }
    return go_round(sim, rank, thread) || sim->told != told;
}

bool sim_step_rank(struct simulator *sim, int rank)
{
    bool moved = false;
    for (int thread = 0; thread < sim->rank[rank].threads; thread++)
        moved = step_thread(sim, rank, thread) || moved;
    return moved;
}

void sim_step(struct simulator *sim)
{
    int rank = sim_below(sim, sim->ranks);
    step_thread(sim, rank, sim->rank[rank].threads > 1 ? sim_below(sim, sim->rank[rank].threads) : 0);
}

void sim_settle(struct simulator *sim)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < sim->ranks; rank++)
            moved = sim_step_rank(sim, rank) || moved;
    }
}

void sim_print(const struct simulator *sim)
{
    static const char *const kinds[] = {"send",  "receive", "wait",     "probe",   "test", "enter",
                                        "leave", "shared",  "compute",  "note",    "lock", "unlock",
                                        "post",  "start",   "complete", "exposed", "join", "end"};
    if (sim->windows)
        printf("windows %s\n", sim->by_messages ? "by messages" : "in memory");
    for (int rank = 0; rank < sim->ranks; rank++) {
        const struct sim_rank *row = &sim->rank[rank];
        printf("rank %d, entered %d\n", rank, (int)row->entered);
        for (int i = 0; i < row->threads; i++) {
            const struct sim_thread *thread = &row->thread[i];
            for (int j = 0; j < thread->length; j++) {
                const struct sim_step *step = &thread->program[j];
                printf(" %d%s%s comm %d peer %d tag %d group %d mask %x type %d%s%s%s\n", i,
                       j == thread->at ? "->" : "  ", kinds[step->kind], step->comm, step->peer, step->tag,
                       step->group, step->mask, step->type, step->large ? " large" : "",
                       step->all ? " all" : "", step->internal ? " internal" : "");
            }
        }
    }
}
