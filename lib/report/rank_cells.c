/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/rank_cells.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

/* Collectives by the begin of what stands behind "MPI_", the longer one first. */
static const struct {
    const char *begin;
    char letter;
} collective_letters[] = {
    {"barrier", 'B'},  {"bcast", 'C'},          {"allreduce", 'A'}, {"allgather", 'G'},
    {"alltoall", 'T'}, {"reduce_scatter", 'S'}, {"reduce", 'R'},    {"gather", 'H'},
    {"scatter", 'D'},  {"scan", 'N'},           {"exscan", 'X'},    {"neighbor", 'E'},
};

static char collective_letter(const char *call)
{
    const char *name = strncmp(call, "MPI_", 4) == 0 ? call + 4 : call;
    for (size_t i = 0; i < sizeof collective_letters / sizeof *collective_letters; i++) {
        const char *begin = collective_letters[i].begin;
        bool started = *name == 'I' && strncasecmp(name + 1, begin, strlen(begin)) == 0;
        if (started || strncasecmp(name, begin, strlen(begin)) == 0)
            return collective_letters[i].letter;
    }
    return 'M';
}

static struct mpiq_rank_cell collective_cell(const char *call)
{
    return (struct mpiq_rank_cell){
        .letter = collective_letter(call), .style = MPIQ_STYLE_COLLECTIVE, .word = call};
}

/* The collective that all of it is about; NULL: it is about something else as well. */
static const char *only_collective(const struct mpiq_waits_for *wait)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < wait->part_count; i++) {
        const struct mpiq_wait_part *part = &wait->parts[i];
        if (part->kind != MPIQ_PART_COLLECTIVE || !part->collective ||
            (name && strcmp(name, part->collective) != 0))
            return NULL;
        name = part->collective;
    }
    return name;
}

static bool all_are(const struct mpiq_waits_for *wait, enum mpiq_wait_part_kind one,
                    enum mpiq_wait_part_kind other)
{
    for (uint32_t i = 0; i < wait->part_count; i++) {
        if (wait->parts[i].kind != one && wait->parts[i].kind != other)
            return false;
    }
    return wait->part_count > 0;
}

static struct mpiq_rank_cell blocked_cell(const struct mpiq_rank_diagnosis *rank)
{
    static const struct mpiq_rank_cell receiving = {'r', MPIQ_STYLE_RECEIVE, "receiving", 0, false};
    static const struct mpiq_rank_cell sending = {'s', MPIQ_STYLE_SEND, "sending", 0, false};
    static const struct mpiq_rank_cell waiting = {'w', MPIQ_STYLE_WAIT, "waiting", 0, false};
    const struct mpiq_waits_for *wait = rank->waits_for;
    if (rank->call && mpiq_collective_class(rank->call) >= 0)
        return collective_cell(rank->call);
    const char *collective = wait ? only_collective(wait) : NULL;
    if (collective)
        return collective_cell(collective);
    if (wait && all_are(wait, MPIQ_PART_RECEIVE, MPIQ_PART_PROBE))
        return receiving;
    return wait && all_are(wait, MPIQ_PART_SEND, MPIQ_PART_SEND) ? sending : waiting;
}

static struct mpiq_rank_cell cell_of(const struct mpiq_rank_diagnosis *rank)
{
    static const enum mpiq_style styles[MPIQ_ACTIVITY_GONE + 1] = {
        [MPIQ_ACTIVITY_UNREADABLE] = MPIQ_STYLE_DOUBT, [MPIQ_ACTIVITY_POLLING] = MPIQ_STYLE_WAIT,
        [MPIQ_ACTIVITY_ASLEEP] = MPIQ_STYLE_DOUBT,     [MPIQ_ACTIVITY_HELD] = MPIQ_STYLE_DOUBT,
        [MPIQ_ACTIVITY_STOPPED] = MPIQ_STYLE_BAD,      [MPIQ_ACTIVITY_FROZEN] = MPIQ_STYLE_BAD,
        [MPIQ_ACTIVITY_GONE] = MPIQ_STYLE_BAD,
    };
    /* In a call that waits, what it polls in is what it waits in. */
    bool waits = rank->activity == MPIQ_ACTIVITY_POLLING && rank->call && !mpiq_is_poll(rank->call);
    if (rank->activity == MPIQ_ACTIVITY_BLOCKED || waits)
        return blocked_cell(rank);
    return (struct mpiq_rank_cell){.letter = mpiq_rank_activity_letter(rank->activity),
                                   .style = styles[rank->activity],
                                   .word = mpiq_rank_activity_word(rank->activity)};
}

static bool add(struct mpiq_rank_cells *cells, const struct mpiq_rank_diagnosis *rank, uint32_t *ret)
{
    struct mpiq_rank_cell cell = cell_of(rank);
    for (size_t i = 0; i < cells->kind_count; i++) {
        struct mpiq_rank_cell *kind = &cells->kinds[i];
        if (kind->letter != cell.letter || strcmp(kind->word, cell.word) != 0)
            continue;
        kind->count++;
        kind->stuck |= rank->stuck;
        *ret = (uint32_t)i;
        return true;
    }
    struct mpiq_rank_cell *kinds = mpiq_array_grown(cells->kinds, cells->kind_count, sizeof *kinds);
    if (!kinds)
        return false;
    cells->kinds = kinds;
    cell.count = 1;
    cell.stuck = rank->stuck;
    *ret = (uint32_t)cells->kind_count;
    kinds[cells->kind_count++] = cell;
    return true;
}

bool mpiq_rank_cells_collect(const struct mpiq_page *page, struct mpiq_rank_cells *ret)
{
    uint32_t count = page->diagnosis->rank_count;
    *ret = (struct mpiq_rank_cells){.kind_of = calloc((size_t)count + 1, sizeof *ret->kind_of)};
    if (!ret->kind_of)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        ret->kind_of[i] = MPIQ_NONE;
        if (mpiq_page_wants(page, i) && !add(ret, &page->diagnosis->ranks[i], &ret->kind_of[i]))
            return false;
    }
    return true;
}

void mpiq_rank_cells_deinit(struct mpiq_rank_cells *cells)
{
    free(cells->kinds);
    free(cells->kind_of);
    *cells = (struct mpiq_rank_cells){0};
}
