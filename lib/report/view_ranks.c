/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq ranks`: one line per rank. */
#include "base/cleanup.h"
#include "report/columns.h"
#include "report/views.h"
#include "words/wait_text.h"

/* Rows of which a table aligns its columns: more would take their time and memory. */
#define ROWS_AT_ONCE 5000

static void put_row(struct mpiq_page *page, struct mpiq_columns *table, uint32_t process, bool suspect,
                    struct mpiq_buffer *cell)
{
    const struct mpiq_job_state *job = page->job;
    const struct mpiq_rank_diagnosis *diagnosis = &page->diagnosis->ranks[process];
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);

    mpiq_columns_row(table, suspect ? MPIQ_STYLE_BAD : MPIQ_STYLE_NONE);
    mpiq_put_process(page->job, cell, process);
    mpiq_columns_set(table, 0, cell);
    if (rank && rank->pid > 0)
        mpiq_buffer_signed(cell, rank->pid);
    mpiq_columns_set(table, 1, cell);
    mpiq_columns_set_string(table, 2, rank ? mpiq_job_string(job, rank->host) : NULL);
    mpiq_columns_set_string(table, 3,
                            diagnosis->stuck ? "stuck" : mpiq_rank_activity_word(diagnosis->activity));
    mpiq_put_call(page->job, cell, diagnosis);
    if (diagnosis->before) {
        mpiq_buffer_string(cell, "before ");
        mpiq_buffer_string(cell, diagnosis->before);
    }
    mpiq_columns_set(table, 4, cell);
    mpiq_put_duration(cell, diagnosis->since);
    mpiq_columns_set(table, 5, cell);
    mpiq_put_site(page->job, cell, diagnosis->site);
    mpiq_columns_set(table, 6, cell);
    mpiq_put_wait(page->job, cell, diagnosis->waits_for, diagnosis->call, process, MPIQ_WAIT_EXACT);
    if (!diagnosis->waits_for && !diagnosis->call)
        mpiq_put_last_call(cell, &diagnosis->last);
    mpiq_columns_set(table, 7, cell);
}

void mpiq_show_ranks(struct mpiq_page *page)
{
    static const struct mpiq_column headings[] = {
        {.heading = "RANK", .number = true},
        {.heading = "PID", .number = true},
        {.heading = "HOST"},
        {.heading = "STATE"},
        {.heading = "CALL"},
        {.heading = "FOR"},
        {.heading = "AT"},
        {.heading = "WAITING FOR"},
    };
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    uint32_t count = page->diagnosis->rank_count;

    page->out.failed |= !mpiq_page_suspects(page, &suspects);

    mpiq_print_gap(page);
    for (uint32_t first = 0; first < count && !page->out.failed; first += ROWS_AT_ONCE) {
        struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
            mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
        for (uint32_t i = first; i < count && i - first < ROWS_AT_ONCE; i++) {
            struct mpiq_world_rank name = mpiq_job_world_rank(page->job, i);
            if (mpiq_page_wants(page, i))
                put_row(page, table, i, mpiq_rank_set_contains(&suspects, name.world, name.rank), &cell);
        }
        mpiq_columns_print(table, 0, true);
        mpiq_buffer_drain(&page->out, false);
    }
}
