/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of a simulated job: its locks and epochs, in memory that all reach or by messages. */
#include <stdio.h>
#include <stdlib.h>

#include "simulator_private.h"

static void tell(struct simulator *sim, int from, int to, int kind, uint8_t type)
{
    struct sim_words *words = &sim->words[from][to];
    if (words->count == SIM_QUEUE) {
        fprintf(stderr, "simulator: too many words\n");
        abort();
    }
    sim->told++;
    words->queue[words->count].kind = kind;
    words->queue[words->count++].type = type;
}

static bool in(unsigned mask, int rank)
{
    return mask >> rank & 1;
}

/* Whether a lock of that type may be granted at the target. */
static bool is_free(const struct simulator *sim, int target, uint8_t type)
{
    const struct sim_window *window = &sim->rank[target].window;
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (window->granted[rank] == MPIQ_LOCK_EXCLUSIVE ||
            (window->granted[rank] != MPIQ_LOCK_NONE && type == MPIQ_LOCK_EXCLUSIVE))
            return false;
    }
    return true;
}

static void grant(struct simulator *sim, int target)
{
    struct sim_window *window = &sim->rank[target].window;
    while (window->queue_count > 0 && is_free(sim, target, window->queue_type[0])) {
        int rank = window->queue[0];
        window->granted[rank] = window->queue_type[0];
        window->queue_count--;
        for (int i = 0; i < window->queue_count; i++) {
            window->queue[i] = window->queue[i + 1];
            window->queue_type[i] = window->queue_type[i + 1];
        }
        if (rank != target)
            tell(sim, target, rank, SIM_WORD_GRANT, MPIQ_LOCK_NONE);
    }
}

static void ask(struct simulator *sim, int target, int rank, uint8_t type)
{
    struct sim_window *window = &sim->rank[target].window;
    window->queue[window->queue_count] = (uint8_t)rank;
    window->queue_type[window->queue_count++] = type;
    grant(sim, target);
}

static void give_back(struct simulator *sim, int target, int rank)
{
    sim->rank[target].window.granted[rank] = MPIQ_LOCK_NONE;
    grant(sim, target);
}

static void take_word(struct simulator *sim, int from, int rank)
{
    struct sim_words *words = &sim->words[from][rank];
    struct sim_window *window = &sim->rank[rank].window;
    struct sim_word word = words->queue[0];
    words->count--;
    for (int i = 0; i < words->count; i++)
        words->queue[i] = words->queue[i + 1];
    switch (word.kind) {
    case SIM_WORD_ASK:
        ask(sim, rank, from, word.type);
        break;
    case SIM_WORD_GRANT:
        window->has[from] = true;
        break;
    case SIM_WORD_FREE:
        give_back(sim, rank, from);
        tell(sim, rank, from, SIM_WORD_FREED, MPIQ_LOCK_NONE);
        break;
    case SIM_WORD_FREED:
        window->freed[from] = true;
        break;
    case SIM_WORD_POST:
        window->posts[from]++;
        break;
    case SIM_WORD_COMPLETE:
        window->completions[from]++;
        break;
    case SIM_WORD_DATA:
        sim->rank[from].window.data[rank]--;
        break;
    }
}

bool sim_take_word(struct simulator *sim, int rank)
{
    int start = sim_below(sim, sim->ranks);
    for (int i = 0; i < sim->ranks; i++) {
        int from = (start + i) % sim->ranks;
        if (sim->words[from][rank].count > 0) {
            take_word(sim, from, rank);
            return true;
        }
    }
    return false;
}

void sim_note(struct simulator *sim, int rank, const struct sim_step *step)
{
    struct sim_window *window = &sim->rank[rank].window;
    switch (step->note) {
    case SIM_NOTE_WANTED:
        window->lock_type[step->peer] = step->type;
        window->lock_held[step->peer] = false;
        break;
    case SIM_NOTE_HELD:
        window->lock_held[step->peer] = true;
        break;
    case SIM_NOTE_FREE:
        window->lock_type[step->peer] = MPIQ_LOCK_NONE;
        break;
    case SIM_NOTE_STARTING:
        window->access_group = step->mask;
        break;
    case SIM_NOTE_STARTED:
        window->access = MPIQ_ACCESS_START;
        break;
    case SIM_NOTE_COMPLETED:
        window->access = MPIQ_ACCESS_NONE;
        window->access_group = 0;
        break;
    case SIM_NOTE_POSTED:
        window->exposure = MPIQ_EXPOSURE_POST;
        window->exposure_group = step->mask;
        break;
    case SIM_NOTE_WAITED:
        window->exposure = MPIQ_EXPOSURE_NONE;
        window->exposure_group = 0;
        break;
    }
}

static bool all_have(const struct simulator *sim, const int *counts, unsigned mask)
{
    for (int rank = 0; rank < sim->ranks; rank++) {
        if (in(mask, rank) && counts[rank] == 0)
            return false;
    }
    return true;
}

static void use_up(const struct simulator *sim, int *counts, unsigned mask)
{
    for (int rank = 0; rank < sim->ranks; rank++)
        counts[rank] -= in(mask, rank);
}

static bool lock_is_over(struct simulator *sim, int rank, const struct sim_step *step, bool first)
{
    struct sim_window *target = &sim->rank[step->peer].window;
    if (!sim->by_messages) {
        bool free = is_free(sim, step->peer, step->type);
        if (free)
            target->granted[rank] = step->type;
        return free;
    }
    if (step->peer != rank) {
        tell(sim, rank, step->peer, SIM_WORD_ASK, step->type);
        return true;
    }
    if (first)
        ask(sim, rank, rank, step->type);
    return target->granted[rank] != MPIQ_LOCK_NONE;
}

static bool unlock_is_over(struct simulator *sim, int rank, const struct sim_step *step)
{
    struct sim_window *window = &sim->rank[rank].window;
    if (!sim->by_messages || step->peer == rank) {
        give_back(sim, step->peer, rank);
        return true;
    }
    if (window->has[step->peer]) {
        window->has[step->peer] = false;
        tell(sim, rank, step->peer, SIM_WORD_FREE, MPIQ_LOCK_NONE);
    }
    bool over = window->freed[step->peer];
    window->freed[step->peer] = false;
    return over;
}

/* To all of the group, which is told so at once or by a word. */
static void tell_group(struct simulator *sim, int rank, const struct sim_step *step, int kind)
{
    for (int other = 0; other < sim->ranks; other++) {
        struct sim_window *window = &sim->rank[other].window;
        if (!in(step->mask, other))
            continue;
        if (sim->by_messages)
            tell(sim, rank, other, kind, MPIQ_LOCK_NONE);
        else if (kind == SIM_WORD_POST)
            window->posts[rank]++;
        else
            window->completions[rank]++;
    }
}

static bool complete_is_over(struct simulator *sim, int rank, const struct sim_step *step, bool *told)
{
    struct sim_window *window = &sim->rank[rank].window;
    if (!sim->by_messages) {
        tell_group(sim, rank, step, SIM_WORD_COMPLETE);
        return true;
    }
    if (!*told) {
        if (!all_have(sim, window->posts, step->mask))
            return false;
        use_up(sim, window->posts, step->mask);
        *told = true;
        tell_group(sim, rank, step, SIM_WORD_COMPLETE);
        for (int other = 0; other < sim->ranks; other++) {
            if (!in(step->mask, other) || !sim_once_in(sim, 2))
                continue;
            tell(sim, rank, other, SIM_WORD_DATA, MPIQ_LOCK_NONE);
            window->data[other]++;
        }
    }
    for (int other = 0; other < sim->ranks; other++) {
        if (in(step->mask, other) && window->data[other] > 0)
            return false;
    }
    return true;
}

static bool counts_are_over(const struct simulator *sim, int *counts, unsigned mask)
{
    bool over = all_have(sim, counts, mask);
    if (over)
        use_up(sim, counts, mask);
    return over;
}

bool sim_window_is_over(struct simulator *sim, int rank, int thread)
{
    struct sim_thread *row = &sim->rank[rank].thread[thread];
    const struct sim_step *step = &row->program[row->at];
    struct sim_window *window = &sim->rank[rank].window;
    bool first = !row->asked;
    switch (step->kind) {
    case SIM_LOCK:
        row->asked = true;
        return lock_is_over(sim, rank, step, first);
    case SIM_UNLOCK:
        return unlock_is_over(sim, rank, step);
    case SIM_POST:
        tell_group(sim, rank, step, SIM_WORD_POST);
        return true;
    case SIM_START:
        return sim->by_messages || counts_are_over(sim, window->posts, step->mask);
    case SIM_COMPLETE:
        return complete_is_over(sim, rank, step, &row->asked);
    case SIM_EXPOSED:
        return counts_are_over(sim, window->completions, step->mask);
    default:
        return false;
    }
}
