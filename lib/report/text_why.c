/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq why RANK`: the chain from a rank to the cause, one step a line. */
#include "base/cleanup.h"
#include "report/finding_text.h"
#include "report/views.h"

/* Steps at either end of a chain that is too long for a screen. */
#define MOST_STEPS 40
#define LAST_STEPS 5

static void put_numbered(struct mpiq_page *page, size_t number, const struct mpiq_step *step)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
    mpiq_put_step(page, &text, step);
    mpiq_buffer_printf(&page->out, "%3zu. ", number);
    mpiq_put_paragraph(page, &page->out, 5, 7, mpiq_buffer_text(&text));
    page->out.failed |= text.failed;
}

void mpiq_text_why(struct mpiq_page *page)
{
    const struct mpiq_chain *chain = page->chain;
    bool all = chain->step_count <= MOST_STEPS;

    mpiq_put_verdict(page);
    mpiq_buffer_char(&page->out, '\n');
    for (size_t i = 0; i < chain->step_count; i++) {
        if (all || i < MOST_STEPS - LAST_STEPS || i >= chain->step_count - LAST_STEPS)
            put_numbered(page, i + 1, &chain->steps[i]);
        else if (i == MOST_STEPS - LAST_STEPS)
            mpiq_buffer_printf(&page->out, "     ... %zu more steps\n", chain->step_count - MOST_STEPS);
    }
    if (chain->cycle && chain->step_count > 0)
        mpiq_buffer_printf(&page->out, "     and so on from %zu: a cycle\n", chain->cycle_step + 1);
    if (chain->text && *chain->text) {
        mpiq_buffer_printf(&page->out, "%s  => %s", mpiq_page_style(page, MPIQ_STYLE_BOLD),
                           mpiq_page_style(page, MPIQ_STYLE_NONE));
        mpiq_put_paragraph(page, &page->out, 5, 5, chain->text);
    }
    if (chain->finding < page->diagnosis->finding_count) {
        const struct mpiq_finding *finding = &page->diagnosis->findings[chain->finding];
        mpiq_buffer_char(&page->out, '\n');
        mpiq_put_finding(page, finding, (size_t)chain->finding + 1, 8);
    }
}
