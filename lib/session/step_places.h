/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step_places - the lines in the source from which ranks call MPI, as looks tell them.
 *
 * A place is known by the file that its code is in, so what one rank's stack tells is known of all ranks.  In
 * an interpreted program one place in the interpreter calls MPI for many lines: there, a line is known of one
 * hold only.
 */
#ifndef MPIQ_SESSION_STEP_PLACES_H
#define MPIQ_SESSION_STEP_PLACES_H

#include "session/step_memory.h"
#include "state/rank_state.h"

struct mpiq_step_place {
    char *object; /* path of the file; NULL: of one hold */
    uint64_t offset;
    uint32_t tid; /* of one hold */
    uint32_t number;
    char *file; /* NULL: not known */
    int line;   /* 0: not known */
    char *text; /* "ring.c:20 main" */
};

struct mpiq_step_places {
    struct mpiq_step_place *list;
    size_t count;
    size_t capacity;
};

void mpiq_step_places_deinit(struct mpiq_step_places *places);

/* Where a thread is held; NULL: not known yet. */
const struct mpiq_step_place *mpiq_step_places_find(const struct mpiq_step_places *places,
                                                    const struct mpiq_step_memory *memory,
                                                    const struct mpiq_step_thread *thread);
/* The place of a return address. */
const struct mpiq_step_place *mpiq_step_places_at(const struct mpiq_step_places *places,
                                                  const struct mpiq_step_memory *memory, uint64_t caller);

/* Takes from a look at a rank where its threads are held. */
void mpiq_step_places_learn(struct mpiq_step_places *places, const struct mpiq_step_memory *memory,
                            const struct mpiq_step_thread *threads, size_t count,
                            const struct mpiq_rank_state *state);

#endif
