/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/state_budget.h"

#include "session/plausibility.h"

struct heaviest {
    struct mpiq_look_source *source;
    struct mpiq_rank_state **state;
};

/* The state that weighs most; it is known of one that there is one. */
static struct heaviest find_heaviest(const struct mpiq_look_sources *sources, struct heaviest known)
{
    struct heaviest ret = known;
    for (size_t i = 0; i < sources->count; i++) {
        struct mpiq_look_source *source = &sources->items[i];
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state **state = &source->looks[look];
            if (*state && (*state)->weight > (*ret.state)->weight)
                ret = (struct heaviest){source, state};
        }
    }
    return ret;
}

struct mpiq_error *mpiq_take_state_budget(struct mpiq_look_sources *sources, size_t index, int look)
{
    struct mpiq_rank_state **own = &sources->items[index].looks[look - 1];
    while (!mpiq_budget_take(&sources->budget, (*own)->weight)) {
        struct heaviest heaviest = find_heaviest(sources, (struct heaviest){&sources->items[index], own});
        uint64_t weight = (*heaviest.state)->weight;
        struct mpiq_error *error = mpiq_start_state_over(
            heaviest.source,
            mpiq_error_create(MPIQ_ERROR_CORRUPT, "its state exceeds the memory limit of all ranks together"),
            heaviest.state);
        if (error)
            return error;
        if (heaviest.state != own) /* of its own, nothing is taken yet */
            mpiq_budget_give(&sources->budget, weight);
    }
    return NULL;
}
