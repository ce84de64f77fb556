/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulator_private - what the simulator's files share: chance, and the library that messages go through.
 *
 * simulator_program writes the programs, simulator takes their steps, simulator_exchange is the library in
 * which they send and receive, simulator_window its windows, and simulator_look reads it all as mpiq would.
 */
#ifndef TEST_SIMULATOR_PRIVATE_H
#define TEST_SIMULATOR_PRIVATE_H

#include "model.h"
#include "simulator.h"

/* Any of 0 .. limit - 1. */
static inline int sim_below(struct simulator *sim, int limit)
{
    return (int)(model_random(&sim->seed) % (uint64_t)limit);
}

static inline bool sim_once_in(struct simulator *sim, int times)
{
    return sim_below(sim, times) == 0;
}

/* Whether a step of that thread about that group is about the request; group -1: all of the user's own. */
bool sim_in_group(const struct sim_request *request, int thread, int group);

/* What a step SIM_SEND or SIM_RECEIVE of the thread does. */
void sim_start_send(struct simulator *sim, int rank, int thread, const struct sim_step *step);
void sim_start_receive(struct simulator *sim, int rank, int thread, const struct sim_step *step);
/* Whether a pending receive takes a message with that envelope. */
bool sim_fits(const struct sim_request *receive, int from, int comm, int tag);
/* What the library does whenever a rank is in it: one thing at a time; false: there was nothing to do. */
bool sim_progress(struct simulator *sim, int rank);
/* Of that, what is said of the window. */
bool sim_take_word(struct simulator *sim, int rank);
/* What a step SIM_NOTE does. */
void sim_note(struct simulator *sim, int rank, const struct sim_step *step);
/* Does what the thread's step in the window does; whether it is done. */
bool sim_window_is_over(struct simulator *sim, int rank, int thread);

#endif
