/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

#include "report/history.h"
#include "report/print.h"
#include "report/views.h"

static void text_view(struct mpiq_page *page, enum mpiq_view view)
{
    if (view != MPIQ_VIEW_LINE)
        mpiq_print_verdict(page);
    switch (view) {
    case MPIQ_VIEW_REPORT:
        mpiq_show_report(page);
        break;
    case MPIQ_VIEW_WHY:
        mpiq_show_why(page);
        break;
    case MPIQ_VIEW_COLLECTIVES:
        mpiq_show_collectives(page);
        break;
    case MPIQ_VIEW_QUEUES:
        mpiq_show_queues(page);
        break;
    case MPIQ_VIEW_COMMS:
        mpiq_show_comms(page);
        break;
    case MPIQ_VIEW_HISTORY:
        mpiq_show_history(page);
        break;
    case MPIQ_VIEW_RANKS:
        mpiq_show_ranks(page);
        break;
    case MPIQ_VIEW_STACKS:
        mpiq_show_stacks(page);
        break;
    case MPIQ_VIEW_SCREEN:
        mpiq_show_screen(page);
        break;
    case MPIQ_VIEW_LINE:
        mpiq_show_line(page);
        break;
    }
}

/* The calls as a picture, and one by one. */
static void show_history(struct mpiq_page *page)
{
    mpiq_put_history_svg(page);
    mpiq_show_history(page);
}

/* As it stands in a terminal. */
static void show_stacks(struct mpiq_page *page)
{
    mpiq_print_heading(page, "Stacks");
    mpiq_buffer_string(&page->out, "<div class=\"tree\">\n");
    mpiq_show_stacks(page);
    mpiq_buffer_string(&page->out, "</div>\n");
}

/* Every page has the ranks. */
static void show_no_more(struct mpiq_page *page)
{
    (void)page;
}

/* The report's page has all views but those of one rank; each other command has a page of its own view. */
static void html_view(struct mpiq_page *page, enum mpiq_view view)
{
    static void (*const shows[])(struct mpiq_page * page) = {
        [MPIQ_VIEW_WHY] = mpiq_show_why,       [MPIQ_VIEW_COLLECTIVES] = mpiq_show_collectives,
        [MPIQ_VIEW_QUEUES] = mpiq_show_queues, [MPIQ_VIEW_COMMS] = mpiq_show_comms,
        [MPIQ_VIEW_HISTORY] = show_history,    [MPIQ_VIEW_STACKS] = show_stacks,
        [MPIQ_VIEW_RANKS] = show_no_more,
    };
    if (view < sizeof shows / sizeof *shows && shows[view])
        mpiq_html_view(page, shows[view]);
    else
        mpiq_html_report(page);
}

/* That the communicator asked for by name is one of the job's. */
static struct mpiq_error *check_communicator(const struct mpiq_page *page)
{
    for (uint32_t comm = 0; page->options->comm && comm < page->job->communicator_count; comm++) {
        if (mpiq_page_wants_communicator(page, comm))
            return NULL;
    }
    return page->options->comm
               ? mpiq_error_create(MPIQ_ERROR_USAGE,
                                   "the job has no communicator '%s': mpiq comms lists those it has",
                                   page->options->comm)
               : NULL;
}

static struct mpiq_error *render(struct mpiq_page *page, enum mpiq_view view, char **ret)
{
    struct mpiq_error *error = check_communicator(page);
    if (error)
        return error;
    if (view == MPIQ_VIEW_WHY && !page->chain)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "the chain from a rank to the cause needs a rank");
    switch (page->options->format) {
    case MPIQ_FORMAT_TEXT:
        text_view(page, view);
        break;
    case MPIQ_FORMAT_JSON:
        mpiq_json_view(page, view);
        break;
    case MPIQ_FORMAT_HTML:
        html_view(page, view);
        break;
    }
    return mpiq_buffer_end(&page->out, ret);
}

struct mpiq_error *mpiq_report_render(const struct mpiq_job_state *job,
                                      const struct mpiq_diagnosis *diagnosis, enum mpiq_view view,
                                      const struct mpiq_chain *chain,
                                      const struct mpiq_report_options *options, char **ret)
{
    struct mpiq_page page = {.job = job, .diagnosis = diagnosis, .chain = chain, .options = options};
    return render(&page, view, ret);
}

struct mpiq_error *mpiq_report_write(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                                     enum mpiq_view view, const struct mpiq_chain *chain,
                                     const struct mpiq_report_options *options, FILE *out)
{
    struct mpiq_page page = {.job = job, .diagnosis = diagnosis, .chain = chain, .options = options};
    page.out.out = out;
    return render(&page, view, NULL);
}
