/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq why RANK`: the chain from a rank to the cause, one step per line. */
#include <stdio.h>

#include "base/cleanup.h"
#include "report/finding_text.h"
#include "report/print.h"
#include "report/views.h"

/* Steps at either end of a chain that is too long for a screen. */
#define MOST_STEPS 40
#define LAST_STEPS 5

static void put_numbered(struct mpiq_page *page, size_t number, const struct mpiq_step *step)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    char lead[32];
    snprintf(lead, sizeof lead, "%3zu. ", number);
    mpiq_put_step(page, &text, step);
    mpiq_print_line(page, (struct mpiq_paragraph){.hang = 7, .lead = lead}, mpiq_buffer_text(&text));
}

void mpiq_show_why(struct mpiq_page *page)
{
    const struct mpiq_chain *chain = page->chain;
    bool all = chain->step_count <= MOST_STEPS;

    mpiq_print_gap(page);
    for (size_t i = 0; i < chain->step_count; i++) {
        if (all || i < MOST_STEPS - LAST_STEPS || i >= chain->step_count - LAST_STEPS)
            put_numbered(page, i + 1, &chain->steps[i]);
        else if (i == MOST_STEPS - LAST_STEPS)
            mpiq_print(page, 5, "... %zu more steps", chain->step_count - MOST_STEPS);
    }
    if (chain->cycle && chain->step_count > 0)
        mpiq_print(page, 5, "and back to step %zu: a circle", chain->cycle_step + 1);
    if (chain->text && *chain->text)
        mpiq_print_line(
            page,
            (struct mpiq_paragraph){.indent = 2, .hang = 5, .lead = "=> ", .lead_style = MPIQ_STYLE_BOLD},
            chain->text);
    if (chain->finding < page->diagnosis->finding_count) {
        mpiq_print_gap(page);
        mpiq_put_cause(page, mpiq_finding_cause(page->diagnosis, chain->finding), 0, 8, 0);
    }
}
