/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "simulator_private.h"

/* A rank goes round in a wait until its turn is over, or something happens. */
static bool go_round(struct simulator *sim, int rank)
{
    enum { ONE_THING_NS = 10000, TURN_NS = 3000000 };
    bool moved = sim_progress(sim, rank);
    sim->rank[rank].cpu_ns += moved ? ONE_THING_NS : TURN_NS;
    return moved;
}

bool sim_in_group(const struct sim_request *request, int group)
{
    return request->used && (group == -1 ? !request->internal : request->group == group);
}

static bool wait_is_over(struct simulator *sim, int rank, const struct sim_step *step)
{
    struct sim_rank *row = &sim->rank[rank];
    int open = 0;
    int complete = 0;
    for (int i = 0; i < SIM_REQUESTS; i++) {
        if (!sim_in_group(&row->requests[i], step->group))
            continue;
        open += row->requests[i].status != MPIQ_STATUS_COMPLETE;
        complete += row->requests[i].status == MPIQ_STATUS_COMPLETE;
    }
    return open == 0 || (!step->all && complete > 0);
}

static void free_complete(struct simulator *sim, int rank, int group)
{
    for (int i = 0; i < SIM_REQUESTS; i++) {
        struct sim_request *request = &sim->rank[rank].requests[i];
        if (sim_in_group(request, group) && request->status == MPIQ_STATUS_COMPLETE)
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
        if (sim->rank[rank].program[sim->rank[rank].at].kind != SIM_END)
            return false;
    }
    return true;
}

static bool is_over(struct simulator *sim, int rank, const struct sim_step *step)
{
    switch (step->kind) {
    case SIM_WAIT:
        return wait_is_over(sim, rank, step);
    case SIM_TEST: {
        struct sim_step wait = *step;
        wait.all = true;
        return wait_is_over(sim, rank, &wait);
    }
    case SIM_PROBE:
        return probe_is_over(&sim->rank[rank], step);
    case SIM_SHARED:
        return all_entered(sim, rank);
    default:
        return false;
    }
}

bool sim_ended(const struct simulator *sim, int rank)
{
    return sim->rank[rank].program[sim->rank[rank].at].kind == SIM_END;
}

bool sim_step_rank(struct simulator *sim, int rank)
{
    struct sim_rank *row = &sim->rank[rank];
    const struct sim_step *step = &row->program[row->at];
    switch (step->kind) {
    case SIM_COMPUTE:
        if (++row->left >= step->count) {
            row->left = 0;
            row->at++;
        }
        return true;
    case SIM_SEND:
        sim_start_send(sim, rank, step);
        row->at++;
        return true;
    case SIM_RECEIVE:
        sim_start_receive(sim, rank, step);
        row->at++;
        return true;
    case SIM_ENTER:
        row->entered++;
        row->inside = true;
        row->calls[row->entered] = step->call;
        row->at++;
        return true;
    case SIM_LEAVE:
        row->inside = false;
        row->at++;
        return true;
    case SIM_END:
        if (!row->waiting) {
            row->waiting = true;
            row->episode++;
            return true;
        }
        return !all_end(sim) && go_round(sim, rank);
    case SIM_WAIT:
    case SIM_PROBE:
    case SIM_SHARED:
    case SIM_TEST:
        break;
    }
    if (is_over(sim, rank, step)) {
        if (step->kind == SIM_WAIT || step->kind == SIM_TEST)
            free_complete(sim, rank, step->group);
        row->waiting = false;
        row->ended++;
        row->at++;
        return true;
    }
    if (!row->waiting) {
        row->waiting = true;
        row->episode++;
        return true;
    }
    return go_round(sim, rank);
}

void sim_step(struct simulator *sim)
{
    sim_step_rank(sim, sim_below(sim, sim->ranks));
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
    static const char *const kinds[] = {"send",  "receive", "wait",   "probe",   "test",
                                        "enter", "leave",   "shared", "compute", "end"};
    for (int rank = 0; rank < sim->ranks; rank++) {
        const struct sim_rank *row = &sim->rank[rank];
        printf("rank %d, entered %d\n", rank, (int)row->entered);
        for (int i = 0; i < row->length; i++) {
            const struct sim_step *step = &row->program[i];
            printf("  %s%s comm %d peer %d tag %d group %d%s%s%s\n", i == row->at ? "->" : "  ",
                   kinds[step->kind], step->comm, step->peer, step->tag, step->group,
                   step->large ? " large" : "", step->all ? " all" : "", step->internal ? " internal" : "");
        }
    }
}
