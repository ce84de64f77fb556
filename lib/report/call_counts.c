/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/call_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/array.h"
#include "base/hash_table.h"

struct collector {
    const struct mpiq_page *page;
    const struct mpiq_job_communicator *comm;
    struct mpiq_call_counts *ret;
    struct mpiq_hash_table rows;
    struct mpiq_hash_table numbers;
    int64_t most; /* the highest running number; INT64_MAX: one is not known, so counts alone tell */
};

static void collector_deinit(struct collector *c)
{
    mpiq_hash_table_deinit(&c->rows);
    mpiq_hash_table_deinit(&c->numbers);
}

static bool add_to(struct mpiq_rank_set *set, const struct mpiq_job_state *job, uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    return mpiq_rank_set_add(set, name.world, name.rank);
}

static const char *collective_name(int class)
{
    const char *name = mpiq_collective_name(class);
    return name ? name : "?";
}

static bool add_count(struct collector *c, const struct mpiq_job_member *member, uint32_t process,
                      struct mpiq_coll_count count)
{
    struct mpiq_call_counts *ret = c->ret;
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, (uint64_t)(uint16_t)count.collective << 33 |
                                                   (uint64_t)count.active << 32 | count.count);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&c->rows, hash, &cursor)) != UINT32_MAX;) {
        struct mpiq_call_count *row = &ret->rows[i];
        if (row->class != count.collective || row->count != count.count || row->active != count.active)
            continue;
        row->behind |= member->ordered < c->most;
        return add_to(&row->ranks, c->page->job, process);
    }
    struct mpiq_call_count *rows = mpiq_array_grown(ret->rows, ret->row_count, sizeof *rows);
    if (!rows)
        return false;
    ret->rows = rows;
    rows[ret->row_count] = (struct mpiq_call_count){.collective = collective_name(count.collective),
                                                    .class = count.collective,
                                                    .count = count.count,
                                                    .active = count.active,
                                                    .behind = member->ordered < c->most};
    if (!mpiq_hash_table_add(&c->rows, hash, (uint32_t)ret->row_count))
        return false;
    return add_to(&rows[ret->row_count++].ranks, c->page->job, process);
}

static bool add_number(struct collector *c, uint32_t process, int64_t number)
{
    struct mpiq_call_counts *ret = c->ret;
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, (uint64_t)number);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&c->numbers, hash, &cursor)) != UINT32_MAX;) {
        if (ret->numbers[i].number == number)
            return add_to(&ret->numbers[i].ranks, c->page->job, process);
    }
    struct mpiq_call_number *numbers = mpiq_array_grown(ret->numbers, ret->number_count, sizeof *numbers);
    if (!numbers)
        return false;
    ret->numbers = numbers;
    numbers[ret->number_count] = (struct mpiq_call_number){.number = number};
    if (!mpiq_hash_table_add(&c->numbers, hash, (uint32_t)ret->number_count))
        return false;
    return add_to(&numbers[ret->number_count++].ranks, c->page->job, process);
}

/* The process of a member that was read and that the page wants; MPIQ_NONE otherwise. */
static uint32_t wanted_process(const struct collector *c, const struct mpiq_job_member *member)
{
    uint32_t process = c->page->job->ranks[member->rank].process;
    return process != MPIQ_NONE && mpiq_page_wants(c->page, process) ? process : MPIQ_NONE;
}

static void find_most(struct collector *c)
{
    c->most = -1;
    for (uint32_t m = 0; m < c->comm->member_count; m++) {
        const struct mpiq_job_member *member = &c->page->job->members[c->comm->first_member + m];
        if (wanted_process(c, member) == MPIQ_NONE || c->most == INT64_MAX)
            continue;
        c->most = member->ordered < 0 ? INT64_MAX : member->ordered > c->most ? member->ordered : c->most;
    }
}

/* Whether a member's library keeps counts: one that has none may still have called nothing. */
static bool keeps_counts(const struct mpiq_job_state *job, const struct mpiq_job_member *member)
{
    return member->count_count > 0 || job->ranks[member->rank].recording == MPIQ_YES;
}

/* Adds a row for the members that never made a call which others, `callers` of the `keepers`, made. */
static bool add_zero(struct collector *c, int16_t class, uint64_t callers, uint64_t keepers)
{
    const struct mpiq_job_state *job = c->page->job;
    struct mpiq_call_counts *ret = c->ret;
    if (callers >= keepers)
        return true;
    struct mpiq_call_count *rows = mpiq_array_grown(ret->rows, ret->row_count, sizeof *rows);
    if (!rows)
        return false;
    ret->rows = rows;
    struct mpiq_call_count *row = &rows[ret->row_count];
    *row = (struct mpiq_call_count){.collective = collective_name(class), .class = class};
    ret->row_count++;
    for (uint32_t m = 0; m < c->comm->member_count; m++) {
        const struct mpiq_job_member *member = &job->members[c->comm->first_member + m];
        uint32_t process = wanted_process(c, member);
        bool called = false;
        for (uint32_t k = 0; k < member->count_count; k++)
            called |= job->counts[member->first_count + k].collective == class;
        if (process == MPIQ_NONE || called || !keeps_counts(job, member))
            continue;
        row->behind |= member->ordered < c->most;
        if (!add_to(&row->ranks, job, process))
            return false;
    }
    return true;
}

/* The rows are sorted by class. */
static bool add_zeros(struct collector *c)
{
    const struct mpiq_job_state *job = c->page->job;
    size_t rows = c->ret->row_count;
    uint64_t keepers = 0;
    uint64_t callers = 0;
    for (uint32_t m = 0; m < c->comm->member_count; m++) {
        const struct mpiq_job_member *member = &job->members[c->comm->first_member + m];
        keepers += keeps_counts(job, member) && wanted_process(c, member) != MPIQ_NONE;
    }
    for (size_t i = 0; i < rows; i++) {
        int16_t class = c->ret->rows[i].class;
        callers += c->ret->rows[i].ranks.size;
        if (i + 1 < rows && c->ret->rows[i + 1].class == class)
            continue;
        if (!add_zero(c, class, callers, keepers))
            return false;
        callers = 0;
    }
    return true;
}

static int by_class(const void *left, const void *right)
{
    const struct mpiq_call_count *a = left;
    const struct mpiq_call_count *b = right;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (int)b->active - (int)a->active;
}

static void sort_rows(struct mpiq_call_counts *ret)
{
    if (ret->row_count > 1)
        qsort(ret->rows, ret->row_count, sizeof *ret->rows, by_class);
}

static int by_number(const void *left, const void *right)
{
    int64_t a = ((const struct mpiq_call_number *)left)->number;
    int64_t b = ((const struct mpiq_call_number *)right)->number;
    return (a < b) - (a > b);
}

static void mark_behind(struct mpiq_call_counts *ret)
{
    uint32_t most = 0;
    for (size_t i = 0; i < ret->row_count; i++) {
        struct mpiq_call_count *row = &ret->rows[i];
        if (i == 0 || row->class != ret->rows[i - 1].class)
            most = row->count;
        row->behind = row->behind && row->count < most && mpiq_collective_ordered(row->class);
    }
}

bool mpiq_call_counts_collect(const struct mpiq_page *page, uint32_t comm, struct mpiq_call_counts *ret)
{
    const struct mpiq_job_state *job = page->job;
    struct collector c _cleanup_(collector_deinit) = {
        .page = page, .comm = &job->communicators[comm], .ret = ret};

    *ret = (struct mpiq_call_counts){0};
    find_most(&c);
    for (uint32_t m = 0; m < c.comm->member_count; m++) {
        const struct mpiq_job_member *member = &job->members[c.comm->first_member + m];
        uint32_t process = wanted_process(&c, member);
        if (process == MPIQ_NONE)
            continue;
        for (uint32_t i = 0; i < member->count_count; i++) {
            if (!add_count(&c, member, process, job->counts[member->first_count + i]))
                return false;
        }
        if (member->ordered >= 0 && !add_number(&c, process, member->ordered))
            return false;
    }
    /* Each rank has an MPI_COMM_SELF of its own: what one calls says nothing about the others. */
    bool shared = !(c.comm->flags & MPIQ_COMM_SELF);
    sort_rows(ret);
    if (shared && !add_zeros(&c))
        return false;
    sort_rows(ret);
    if (ret->number_count > 1)
        qsort(ret->numbers, ret->number_count, sizeof *ret->numbers, by_number);
    if (shared)
        mark_behind(ret);
    return true;
}

void mpiq_call_counts_deinit(struct mpiq_call_counts *counts)
{
    for (size_t i = 0; i < counts->row_count; i++)
        mpiq_rank_set_deinit(&counts->rows[i].ranks);
    for (size_t i = 0; i < counts->number_count; i++)
        mpiq_rank_set_deinit(&counts->numbers[i].ranks);
    free(counts->rows);
    free(counts->numbers);
    *counts = (struct mpiq_call_counts){0};
}
