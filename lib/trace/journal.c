/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int compare(const void *left, const void *right)
{
    const struct mpiq_stretch *a = left;
    const struct mpiq_stretch *b = right;
    return a->path < b->path ? -1 : a->path > b->path;
}

/* Waiting that two stretches of one path share the blame for. */
static void join_blame(struct mpiq_stretch *into, const struct mpiq_stretch *from)
{
    if (from->waited > into->waited) {
        free(into->blame);
        into->blame = from->blame;
        into->blamed = from->blamed;
    } else {
        free(from->blame);
    }
    into->waited += from->waited;
}

/* The older half by path: in the time that it covered, one after another. */
static void sum_up(struct mpiq_journal *journal)
{
    uint32_t half = journal->count / 2;
    uint64_t at = journal->stretches[0].from;
    uint32_t kept = 0;
    qsort(journal->stretches, half, sizeof *journal->stretches, compare);
    for (uint32_t i = 0; i < half; i++) {
        struct mpiq_stretch *last = kept > 0 ? &journal->stretches[kept - 1] : NULL;
        const struct mpiq_stretch *next = &journal->stretches[i];
        uint64_t length = next->to - next->from;
        if (last && last->path == next->path) {
            last->to += length;
            at += length;
            join_blame(last, next);
            continue;
        }
        struct mpiq_stretch moved = *next;
        moved.from = at;
        moved.to = at += length;
        journal->stretches[kept++] = moved;
    }
    if (kept == half) { /* nothing to sum up: the oldest ones go */
        kept = half / 2;
        for (uint32_t i = 0; i < half - kept; i++)
            free(journal->stretches[i].blame);
        memmove(journal->stretches, &journal->stretches[half - kept], kept * sizeof *journal->stretches);
    }
    memmove(&journal->stretches[kept], &journal->stretches[half],
            (journal->count - half) * sizeof *journal->stretches);
    journal->ordered = journal->dropped + half;
    journal->dropped += half - kept;
    journal->count -= half - kept;
}

uint64_t mpiq_journal_add(struct mpiq_journal *journal, uint32_t path, uint64_t from, uint64_t to, bool mpi,
                          bool *good)
{
    struct mpiq_stretch *last = journal->count > 0 ? &journal->stretches[journal->count - 1] : NULL;
    if (last && !mpi && last->path == path && last->waited == 0 && last->to == from) {
        last->to = to;
        return journal->dropped + journal->count - 1;
    }
    if (journal->count == MPIQ_JOURNAL_MOST)
        sum_up(journal);
    if (!mpiq_array_reserve(&journal->stretches, &journal->room, (size_t)journal->count + 1)) {
        *good = false;
        return 0;
    }
    journal->stretches[journal->count++] = (struct mpiq_stretch){.from = from, .to = to, .path = path};
    return journal->dropped + journal->count - 1;
}

struct mpiq_stretch *mpiq_journal_at(struct mpiq_journal *journal, uint64_t number)
{
    uint64_t index = number - journal->dropped;
    return number >= journal->ordered && number >= journal->dropped && index < journal->count
               ? &journal->stretches[index]
               : NULL;
}

uint32_t mpiq_journal_find(const struct mpiq_journal *journal, uint64_t time)
{
    uint32_t low = 0;
    uint32_t high = journal->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (journal->stretches[middle].to <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void mpiq_journal_deinit(struct mpiq_journal *journal)
{
    for (uint32_t i = 0; i < journal->count; i++)
        free(journal->stretches[i].blame);
    free(journal->stretches);
}
