/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/blame.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums -----------------------------------------------------------------------------------------------
 */

static void count_wait(struct mpiq_late *late, const struct mpiq_trace_mpi_call *call, uint64_t ticks)
{
    uint64_t hash =
        mpiq_hash_two(mpiq_hash_two(MPIQ_HASH_START, call->rank, call->path), call->candidate.kind, 1);
    uint64_t cursor = hash;
    struct mpiq_late_wait *wait = NULL;
    for (uint32_t i;
         (i = mpiq_hash_table_next(&late->wait_table, hash, &cursor)) != MPIQ_TRACE_NONE && !wait;) {
        if (late->waits[i].rank == call->rank && late->waits[i].path == call->path &&
            late->waits[i].kind == call->candidate.kind)
            wait = &late->waits[i];
    }
    if (!wait) {
        if (!mpiq_array_reserve(&late->waits, &late->wait_room, (size_t)late->wait_count + 1) ||
            !mpiq_hash_table_add(&late->wait_table, hash, late->wait_count)) {
            late->failed = true;
            return;
        }
        wait = &late->waits[late->wait_count++];
        *wait = (struct mpiq_late_wait){.rank = call->rank, .path = call->path, .kind = call->candidate.kind};
    }
    wait->count++;
    wait->ticks += ticks;
    wait->most = ticks > wait->most ? ticks : wait->most;
}

static struct mpiq_late_delay *delay_of(struct mpiq_late *late, uint32_t rank, uint32_t path)
{
    uint64_t hash = mpiq_hash_two(MPIQ_HASH_START, rank, path);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&late->delay_table, hash, &cursor)) != MPIQ_TRACE_NONE;) {
        if (late->delays[i].rank == rank && late->delays[i].path == path)
            return &late->delays[i];
    }
    if (!mpiq_array_reserve(&late->delays, &late->delay_room, (size_t)late->delay_count + 1) ||
        !mpiq_hash_table_add(&late->delay_table, hash, late->delay_count)) {
        late->failed = true;
        return NULL;
    }
    struct mpiq_late_delay *delay = &late->delays[late->delay_count++];
    *delay = (struct mpiq_late_delay){.rank = rank, .path = path};
    return delay;
}

/* ---- profiles -------------------------------------------------------------------------------------------
 */

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    uint64_t low = from > begin ? from : begin;
    uint64_t high = to < end ? to : end;
    return high > low ? high - low : 0;
}

static bool make_room(struct mpiq_late *late)
{
    uint32_t wanted = late->replay.paths.count + 1;
    if (late->spent_room >= wanted)
        return true;
    wanted += wanted / 2;
    double *spent[2] = {calloc(wanted, sizeof(double)), calloc(wanted, sizeof(double))};
    uint32_t *touched = calloc(wanted, sizeof *touched);
    if (!spent[0] || !spent[1] || !touched) {
        free(spent[0]);
        free(spent[1]);
        free(touched);
        late->failed = true;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        free(late->spent[i]);
        late->spent[i] = spent[i];
    }
    free(late->touched);
    late->touched = touched;
    late->spent_room = wanted;
    return true;
}

/* What a thread did from `begin` to `end`, by call path; returns what it waited. */
static double profile(struct mpiq_late *late, uint32_t location, uint64_t begin, uint64_t end, int side)
{
    const struct mpiq_journal *journal = &late->journals[location];
    double waited = 0;
    for (uint32_t i = mpiq_journal_find(journal, begin); i < journal->count; i++) {
        const struct mpiq_stretch *stretch = &journal->stretches[i];
        if (stretch->from >= end)
            break;
        uint64_t works = stretch->from + stretch->waited;
        uint64_t time = overlap(works, stretch->to, begin, end);
        waited += (double)overlap(stretch->from, works, begin, end);
        if (time == 0)
            continue;
        if (late->spent[0][stretch->path] == 0 && late->spent[1][stretch->path] == 0)
            late->touched[late->touched_count++] = stretch->path;
        late->spent[side][stretch->path] += (double)time;
    }
    return waited;
}

/* ---- blame ----------------------------------------------------------------------------------------------
 */

/* Who shares the blame for one wait, so far. */
enum { SHARES_MOST = 64 };
struct shares {
    struct mpiq_blame list[SHARES_MOST];
    uint32_t count;
};

static void share(struct shares *shares, uint32_t rank, uint32_t path, double part)
{
    for (uint32_t i = 0; i < shares->count; i++) {
        if (shares->list[i].rank == rank && shares->list[i].path == path) {
            shares->list[i].share += (float)part;
            return;
        }
    }
    if (shares->count < SHARES_MOST && part > 0)
        shares->list[shares->count++] = (struct mpiq_blame){rank, path, (float)part};
}

static int compare(const void *left, const void *right)
{
    const struct mpiq_blame *a = left;
    const struct mpiq_blame *b = right;
    return a->share > b->share ? -1 : a->share < b->share;
}

/* The largest shares stand for all. */
static void remember(struct mpiq_late *late, const struct mpiq_trace_mpi_call *call, uint64_t ticks,
                     struct shares *shares)
{
    struct mpiq_stretch *stretch = mpiq_journal_at(&late->journals[call->location], call->journal);
    if (!stretch)
        return;
    stretch->waited = ticks;
    double all = 0, kept = 0;
    qsort(shares->list, shares->count, sizeof *shares->list, compare);
    uint32_t count = shares->count < MPIQ_BLAME_MOST ? shares->count : MPIQ_BLAME_MOST;
    for (uint32_t i = 0; i < shares->count; i++) {
        all += shares->list[i].share;
        kept += i < count ? shares->list[i].share : 0;
    }
    if (count == 0)
        return;
    stretch->blame = malloc(count * sizeof *stretch->blame);
    if (!stretch->blame) {
        late->failed = true;
        return;
    }
    stretch->blamed = count;
    for (uint32_t i = 0; i < count; i++) {
        stretch->blame[i] = shares->list[i];
        stretch->blame[i].share = (float)(shares->list[i].share * all / kept);
    }
}

/* What the late one did more than the one that waits: the delay, which the wait costs. */
static void charge(struct mpiq_late *late, const struct mpiq_trace_mpi_call *call, double wait, double excess,
                   uint32_t rank, struct shares *shares)
{
    for (uint32_t i = 0; i < late->touched_count; i++) {
        uint32_t path = late->touched[i];
        double more = late->spent[0][path] - late->spent[1][path];
        late->spent[0][path] = late->spent[1][path] = 0;
        if (more <= 0 || excess <= 0)
            continue;
        struct mpiq_late_delay *delay = delay_of(late, rank, path);
        if (!delay)
            continue;
        double part = wait * more / excess;
        double before = delay->instance == call->candidate.instance ? delay->last : 0;
        delay->brief += part;
        if (part > before) { /* of a collective the longest wait says by how much */
            delay->ticks += part - before;
            delay->last = part;
            delay->instance = call->candidate.instance;
        }
        share(shares, rank, path, more / excess);
    }
    late->touched_count = 0;
}

/* What the late one had waited itself is passed on to those that it had waited for. */
static void pass_on(struct mpiq_late *late, const struct mpiq_trace_candidate *candidate, double wait,
                    double part, double waited, struct shares *shares)
{
    const struct mpiq_journal *journal = &late->journals[candidate->location];
    double passed = 0;
    for (uint32_t i = mpiq_journal_find(journal, candidate->since); i < journal->count && waited > 0; i++) {
        const struct mpiq_stretch *stretch = &journal->stretches[i];
        if (stretch->from >= candidate->until)
            break;
        double time = (double)overlap(stretch->from, stretch->from + stretch->waited, candidate->since,
                                      candidate->until);
        for (uint32_t j = 0; time > 0 && j < stretch->blamed; j++) {
            const struct mpiq_blame *blame = &stretch->blame[j];
            double fraction = part * (time / waited) * blame->share;
            struct mpiq_late_delay *delay = delay_of(late, blame->rank, blame->path);
            if (delay)
                delay->further += wait * fraction;
            passed += fraction;
            share(shares, blame->rank, blame->path, fraction);
        }
    }
    if (part > passed)
        late->unattributed += wait * (part - passed);
}

void mpiq_late_add_wait(struct mpiq_late *late, const struct mpiq_trace_mpi_call *call, uint64_t ticks)
{
    const struct mpiq_trace_candidate *candidate = &call->candidate;
    struct shares shares = {.count = 0};
    double wait = (double)ticks;
    count_wait(late, call, ticks);
    late->waited += ticks;
    uint32_t rank = late->replay.definitions->locations[candidate->location].rank;
    uint64_t since = call->enter - late->replay.start;
    mpiq_trace_lanes_add(&late->lanes, call->rank, rank, since, since + ticks);
    if (!make_room(late))
        return;
    double waited = profile(late, candidate->location, candidate->since, candidate->until, 0);
    double own = profile(late, call->location, candidate->since, call->enter, 1);
    double excess = waited > own ? waited - own : 0;
    double indirect = excess;
    for (uint32_t i = 0; i < late->touched_count; i++) {
        double more = late->spent[0][late->touched[i]] - late->spent[1][late->touched[i]];
        excess += more > 0 ? more : 0;
    }
    charge(late, call, wait, excess, rank, &shares);
    if (excess <= 0)
        late->unattributed += wait;
    else if (indirect > 0)
        pass_on(late, candidate, wait, indirect / excess, waited, &shares);
    remember(late, call, ticks, &shares);
}

void mpiq_late_blame_deinit(struct mpiq_late *late)
{
    free(late->waits);
    free(late->delays);
    mpiq_hash_table_deinit(&late->wait_table);
    mpiq_hash_table_deinit(&late->delay_table);
    free(late->spent[0]);
    free(late->spent[1]);
    free(late->touched);
}
