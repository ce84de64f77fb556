/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq comms`: communicators and their members. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/columns.h"
#include "report/views.h"

/* Lines where no ranks were asked for. */
#define MOST_ROWS 40

/* Whether one of the ranks that the page wants is a member. */
static bool wanted(const struct mpiq_page *page, uint32_t comm)
{
    const struct mpiq_job_state *job = page->job;
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    if (!mpiq_page_wants_communicator(page, comm))
        return false;
    for (uint32_t i = 0; page->options->ranks && i < row->member_count; i++) {
        uint32_t process = job->ranks[job->members[row->first_member + i].rank].process;
        if (process != MPIQ_NONE && mpiq_page_wants(page, process))
            return true;
    }
    return !page->options->ranks;
}

static void put_kind(const struct mpiq_page *page, struct mpiq_buffer *cell, uint32_t comm)
{
    static const struct {
        uint32_t flag;
        const char *word;
    } words[] = {
        {MPIQ_COMM_INTER, "inter"},       {MPIQ_COMM_TOPOLOGY, "topology"}, {MPIQ_COMM_SELF, "one a rank"},
        {MPIQ_COMM_INTERNAL, "internal"}, {MPIQ_COMM_FREED, "freed"},
    };
    const struct mpiq_job_communicator *row = &page->job->communicators[comm];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(row->flags & words[i].flag))
            continue;
        mpiq_buffer_string(cell, cell->length > 0 ? ", " : "");
        mpiq_buffer_string(cell, words[i].word);
    }
    if (row->user != comm && row->user < page->job->communicator_count)
        mpiq_buffer_printf(cell, " for %s", mpiq_job_communicator_name(page->job, row->user));
    const char *made_by = mpiq_job_string(page->job, row->made_by);
    if (made_by && *made_by) {
        mpiq_buffer_printf(cell, "%smade by %s", cell->length > 0 ? ", " : "", made_by);
        mpiq_buffer_string(cell, row->made != MPIQ_NONE ? " at " : "");
        mpiq_put_site(page->job, cell, row->made);
    }
}

static bool put_row(struct mpiq_page *page, struct mpiq_columns *table, uint32_t comm)
{
    const struct mpiq_job_communicator *row = &page->job->communicators[comm];
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);

    if (!mpiq_job_communicator_members(page->job, comm, &members))
        return false;
    mpiq_columns_row(table, MPIQ_STYLE_NONE);
    mpiq_buffer_unsigned(&cell, comm);
    mpiq_columns_set(table, 0, &cell);
    mpiq_columns_set_string(table, 1, mpiq_job_communicator_name(page->job, comm));
    mpiq_put_context(&cell, row);
    mpiq_columns_set(table, 2, &cell);
    mpiq_buffer_unsigned(&cell, row->flags & MPIQ_COMM_SELF ? 1 : members.size);
    mpiq_columns_set(table, 3, &cell);
    mpiq_put_ranks(&cell, &members, MPIQ_MOST_RANGES);
    mpiq_columns_set(table, 4, &cell);
    put_kind(page, &cell, comm);
    mpiq_columns_set(table, 5, &cell);
    return true;
}

void mpiq_show_comms(struct mpiq_page *page)
{
    static const struct mpiq_column headings[] = {
        {.heading = "COMM", .number = true}, {.heading = "NAME"},    {.heading = "CONTEXT"},
        {.heading = "SIZE", .number = true}, {.heading = "MEMBERS"}, {.heading = "KIND"},
    };
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    uint32_t count = page->job->communicator_count;
    size_t wanted_count = 0;
    size_t shown = 0;

    mpiq_print_gap(page);
    for (uint32_t comm = 0; comm < count; comm++)
        wanted_count += wanted(page, comm);
    size_t most = page->options->ranks || wanted_count <= MOST_ROWS + 1 ? wanted_count : MOST_ROWS;
    for (uint32_t comm = 0; comm < count && shown < most; comm++) {
        if (!wanted(page, comm))
            continue;
        page->out.failed |= !put_row(page, table, comm);
        shown++;
    }
    mpiq_columns_print(table, 0, true);
    if (wanted_count == 0)
        mpiq_print(page, 0, "No communicators are known.");
    if (shown < wanted_count)
        mpiq_print(page, 0, "%zu more communicators: --ranks LIST shows those of some ranks",
                   wanted_count - shown);
}
