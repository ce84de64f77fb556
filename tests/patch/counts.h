/* SPDX-License-Identifier: BSD-3-Clause */
/* counts.h - a communicator's record, read from inside the process that keeps it. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stddef.h>

#include "ompi_mqs.h"

/* Of a class that was never called: zeros. */
static inline struct ompi_mqs_count counts_of(const struct ompi_mqs_collectives *record, uint32_t collective)
{
    const struct ompi_mqs_count_block *block;
    struct ompi_mqs_count none = {0, 0};

    if (collective < record->classes && collective < OMPI_MQS_HOT) {
        return record->counts[collective];
    }
    for (block = (void *)(uintptr_t)record->more_counts; NULL != block;
         block = (void *)(uintptr_t)block->next) {
        for (int i = 0; i < OMPI_MQS_COUNT_BLOCK; i++) {
            if (collective == block->of[i].collective) {
                return block->of[i].count;
            }
        }
    }
    return none;
}

/* Where the collective call that a thread is in is recorded; 0 outside of one. */
static inline ompi_mqs_addr_t inside_of(const struct ompi_mqs_thread *thread)
{
    const volatile uint64_t *word = (const volatile void *)(uintptr_t)thread->inside;

    return NULL == word ? 0 : *word;
}

/* All of a record as it is now. */
struct snapshot {
    struct ompi_mqs_collectives record;
    struct ompi_mqs_count counts[OMPI_MQS_COLLECTIVE_COUNT];
};

static inline struct snapshot snapshot_of(const struct ompi_mqs_collectives *record)
{
    struct snapshot snapshot = {.record = *record};

    for (uint32_t i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        snapshot.counts[i] = counts_of(record, i);
    }
    return snapshot;
}

static inline const struct ompi_mqs_call *ring_of(const struct ompi_mqs_collectives *record)
{
    return (const void *)(uintptr_t)record->ring;
}

#endif
