/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq collectives`: for each communicator, how often each rank called each collective, and which ranks are
   in one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/call_counts.h"
#include "report/columns.h"
#include "report/views.h"

/* Communicators that are shown where no ranks were asked for. */
#define MOST_COMMUNICATORS 16

/* A communicator with calls, in the order of interest. */
struct entry {
    uint32_t comm;
    bool active;
    struct mpiq_call_counts counts;
};

struct entries {
    struct entry *items;
    size_t count;
};

static void entries_deinit(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        mpiq_call_counts_deinit(&entries->items[i].counts);
    free(entries->items);
}

static int by_interest(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    if (a->active != b->active)
        return a->active ? -1 : 1;
    return a->comm < b->comm ? -1 : 1;
}

static void put_title(struct mpiq_page *page, uint32_t comm)
{
    const struct mpiq_job_communicator *row = &page->job->communicators[comm];
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);

    page->out.failed |= !mpiq_job_communicator_members(page->job, comm, &members);
    mpiq_print_gap(page);
    struct mpiq_paragraph title = {
        .hang = 2, .lead = mpiq_job_communicator_name(page->job, comm), .lead_style = MPIQ_STYLE_BOLD};
    if (row->flags & MPIQ_COMM_SELF) {
        mpiq_print_line(page, title, " (each rank has its own)");
        return;
    }
    mpiq_buffer_string(&text, " (");
    mpiq_put_who(&text, &members, MPIQ_MOST_RANGES);
    mpiq_buffer_string(&text, ", context id ");
    mpiq_put_context(&text, row);
    if (row->flags & MPIQ_COMM_INTER)
        mpiq_buffer_string(&text, ", intercommunicator");
    if (row->flags & MPIQ_COMM_INTERNAL)
        mpiq_buffer_string(&text, ", internal");
    if (row->flags & MPIQ_COMM_FREED)
        mpiq_buffer_string(&text, ", freed");
    mpiq_buffer_char(&text, ')');
    mpiq_print_line(page, title, mpiq_buffer_text(&text));
}

/* "ordered calls: 6 by ranks 0,2-63; 5 by rank 1": who is how far, whatever the calls are. */
static void put_numbers(struct mpiq_page *page, const struct mpiq_call_counts *counts)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (counts->number_count < 2)
        return;
    size_t shown = counts->number_count > 6 ? 5 : counts->number_count;
    for (size_t i = 0; i < shown; i++) {
        mpiq_buffer_printf(
            &text, "%s%" PRId64 " by ",
            i > 0 ? "; " : "calls that all must make in the same order: ", counts->numbers[i].number);
        mpiq_put_who(&text, &counts->numbers[i].ranks, MPIQ_MOST_RANGES);
    }
    if (shown < counts->number_count) {
        const struct mpiq_call_number *last = &counts->numbers[counts->number_count - 1];
        mpiq_buffer_printf(&text, "; fewer by others, down to %" PRId64 " by ", last->number);
        mpiq_put_who(&text, &last->ranks, MPIQ_MOST_RANGES);
    }
    mpiq_print(page, 2, "%s", mpiq_buffer_text(&text));
}

static void put_row(struct mpiq_page *page, struct mpiq_columns *table, const struct mpiq_call_count *row,
                    bool first)
{
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_columns_row(table, row->behind ? MPIQ_STYLE_BAD : MPIQ_STYLE_NONE);
    mpiq_columns_set_string(table, 0, first ? row->collective : "");
    mpiq_put_ranks(&cell, &row->ranks, MPIQ_MOST_RANGES);
    mpiq_columns_set(table, 1, &cell);
    mpiq_buffer_unsigned(&cell, row->count);
    mpiq_columns_set(table, 2, &cell);
    mpiq_columns_set_string(table, 3, row->active ? "in it" : "");
    mpiq_columns_set_string(table, 4, row->behind ? "<- behind" : "");
}

/* The rows of one collective; of many the highest and the lowest counts. */
static void put_class(struct mpiq_page *page, struct mpiq_columns *table, const struct mpiq_call_count *rows,
                      size_t count)
{
    enum { HIGHEST = 4, LOWEST = 3 };
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    bool all = count <= HIGHEST + LOWEST + 1;
    for (size_t i = 0; i < count; i++) {
        if (all || i < HIGHEST || i >= count - LOWEST) {
            put_row(page, table, &rows[i], i == 0);
        } else if (i == HIGHEST) {
            mpiq_columns_row(table, MPIQ_STYLE_NONE);
            mpiq_buffer_printf(&cell, "... %zu more lines", count - HIGHEST - LOWEST);
            mpiq_columns_set(table, 1, &cell);
        }
    }
}

static void put_entry(struct mpiq_page *page, const struct entry *entry)
{
    static const struct mpiq_column headings[] = {
        {.heading = "COLLECTIVE"}, {.heading = "RANKS"}, {.heading = "CALLS", .number = true},
        {.heading = "NOW"},        {.heading = ""},
    };
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    const struct mpiq_call_counts *counts = &entry->counts;
    size_t first = 0;

    put_title(page, entry->comm);
    put_numbers(page, counts);
    for (size_t i = 1; i <= counts->row_count; i++) {
        if (i < counts->row_count && counts->rows[i].class == counts->rows[first].class)
            continue;
        put_class(page, table, &counts->rows[first], i - first);
        first = i;
    }
    mpiq_columns_print(table, 2, true);
}

static bool collect(const struct mpiq_page *page, struct entries *ret)
{
    const struct mpiq_job_state *job = page->job;
    ret->items = calloc(job->communicator_count ? job->communicator_count : 1, sizeof *ret->items);
    if (!ret->items)
        return false;
    for (uint32_t comm = 0; comm < job->communicator_count; comm++) {
        if (!mpiq_page_wants_communicator(page, comm))
            continue;
        struct entry *entry = &ret->items[ret->count];
        entry->comm = comm;
        if (!mpiq_call_counts_collect(page, comm, &entry->counts)) {
            mpiq_call_counts_deinit(&entry->counts);
            return false;
        }
        if (entry->counts.row_count == 0) {
            mpiq_call_counts_deinit(&entry->counts);
            continue;
        }
        for (size_t i = 0; i < entry->counts.row_count; i++)
            entry->active |= entry->counts.rows[i].active || entry->counts.rows[i].behind;
        ret->count++;
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, by_interest);
    return true;
}

/* Which MPI calls such ranks are in, by their stacks: of the collectives among them this is all there is. */
static void put_calls(struct mpiq_page *page, const struct mpiq_rank_set *ranks)
{
    enum { MOST_CALLS = 8 };
    struct {
        const char *call;
        struct mpiq_rank_set ranks;
    } calls[MOST_CALLS] = {0};
    size_t count = 0;
    const struct mpiq_job_state *job = page->job;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const char *call = page->diagnosis->ranks[process].call;
        struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
        if (!call || !mpiq_rank_set_contains(ranks, name.world, name.rank))
            continue;
        size_t i = 0;
        while (i < count && strcmp(calls[i].call, call) != 0)
            i++;
        if (i == MOST_CALLS)
            continue;
        calls[i].call = call;
        count += i == count;
        if (!mpiq_rank_set_add(&calls[i].ranks, name.world, name.rank))
            page->out.failed = true;
    }
    for (size_t i = 0; i < count; i++) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_put_who(&text, &calls[i].ranks, MPIQ_MOST_RANGES);
        mpiq_print(page, 2, "now in %s: %s", calls[i].call, mpiq_buffer_text(&text));
        mpiq_rank_set_deinit(&calls[i].ranks);
    }
}

/* Ranks whose library counts nothing: their absence from the tables is no zero. */
static void put_uncounted(struct mpiq_page *page)
{
    const struct mpiq_job_state *job = page->job;
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
        if (mpiq_page_wants(page, process) && (!rank || rank->recording != MPIQ_YES) &&
            !mpiq_rank_set_add(&ranks, name.world, name.rank))
            page->out.failed = true;
    }
    if (ranks.size == 0)
        return;
    mpiq_buffer_string(&text, "How often collectives were called is not known for ");
    mpiq_put_who(&text, &ranks, MPIQ_MOST_RANGES);
    mpiq_buffer_string(&text, ": mpiq doctor says why");
    mpiq_print_gap(page);
    mpiq_print(page, 0, "%s", mpiq_buffer_text(&text));
    put_calls(page, &ranks);
}

static void put_entries(struct mpiq_page *page, const struct entries *entries)
{
    size_t shown = page->options->ranks || entries->count <= MOST_COMMUNICATORS + 1 ? entries->count
                                                                                    : MOST_COMMUNICATORS;
    for (size_t i = 0; i < shown; i++)
        put_entry(page, &entries->items[i]);
    if (shown < entries->count) {
        mpiq_print_gap(page);
        mpiq_print(page, 0, "%zu more communicators: --comm NAME shows one, --ranks LIST those of some ranks",
                   entries->count - shown);
    }
    if (entries->count == 0) {
        mpiq_print_gap(page);
        mpiq_print(page, 0, "No collective calls are known.");
    }
}

void mpiq_show_collectives(struct mpiq_page *page)
{
    struct entries entries = {0};
    if (collect(page, &entries))
        put_entries(page, &entries);
    else
        mpiq_buffer_fail(&page->out);
    entries_deinit(&entries);
    put_uncounted(page);
}
