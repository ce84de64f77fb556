/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * budget - the memory that the states of a job may use together.
 *
 * Each state has a guaranteed share; whatever it needs beyond that comes from one pool.  So a malicious rank
 * can use up the pool, but not what an ordinary rank needs.
 */
#ifndef MPIQ_STATE_BUDGET_H
#define MPIQ_STATE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define MPIQ_BUDGET_SHARE (UINT64_C(64) << 10)
#ifndef MPIQ_BUDGET_POOL
#define MPIQ_BUDGET_POOL (UINT64_C(2) << 30)
#endif

/* All zeros is one of which nothing is used. */
struct mpiq_budget {
    uint64_t used; /* of the pool, in bytes */
};

static inline uint64_t mpiq_budget_beyond_share(uint64_t bytes)
{
    return bytes > MPIQ_BUDGET_SHARE ? bytes - MPIQ_BUDGET_SHARE : 0;
}

/* False, and nothing taken, if the pool does not have what is needed beyond the share. */
static inline bool mpiq_budget_take(struct mpiq_budget *budget, uint64_t bytes)
{
    uint64_t needed = mpiq_budget_beyond_share(bytes);
    if (needed > MPIQ_BUDGET_POOL - budget->used)
        return false;
    budget->used += needed;
    return true;
}

/* Gives back what was taken for so many bytes. */
static inline void mpiq_budget_give(struct mpiq_budget *budget, uint64_t bytes)
{
    budget->used -= mpiq_budget_beyond_share(bytes);
}

#endif
