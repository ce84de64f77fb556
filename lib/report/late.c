/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/late.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "report/late_private.h"

/* ---- JSON -----------------------------------------------------------------------------------------------
 */

static void put_seconds(struct mpiq_text *text, const char *key, double seconds)
{
    mpiq_text_key(text, key);
    mpiq_buffer_printf(mpiq_text_value(text), "%.9f", seconds);
}

static void put_site(struct mpiq_text *text, const struct mpiq_late_site *site)
{
    mpiq_text_put_string(text, "call", site->call);
    mpiq_text_put_string(text, "function", site->function);
    mpiq_text_put_string(text, "file", site->file);
    if (site->line > 0)
        mpiq_text_put_signed(text, "line", site->line);
    mpiq_text_put_string(text, "path", site->path);
}

static void put_trace(struct mpiq_text *text, const struct mpiq_late_report *report)
{
    mpiq_text_put_string(text, "creator", report->creator);
    mpiq_text_put_unsigned(text, "ranks", report->ranks);
    mpiq_text_put_unsigned(text, "broken_ranks", report->broken);
    mpiq_text_put_unsigned(text, "events", report->events);
    mpiq_text_put_unsigned(text, "messages", report->messages);
    mpiq_text_put_unsigned(text, "unreceived_messages", report->unreceived);
    mpiq_text_put_unsigned(text, "collectives", report->collectives);
    mpiq_text_put_unsigned(text, "contradictions", report->contradictions);
    mpiq_text_put_unsigned(text, "backwards", report->backwards);
    put_seconds(text, "seconds", report->seconds);
    put_seconds(text, "mpi", report->mpi);
    put_seconds(text, "waiting", report->waiting);
    mpiq_text_put_unsigned(text, "wrong_orders", report->wrong_orders);
    put_seconds(text, "wrong_order", report->wrong_order);
    put_seconds(text, "barrier_completion", report->barrier_completion);
    put_seconds(text, "nxn_completion", report->nxn_completion);
    put_seconds(text, "unattributed", report->unattributed);
}

static void write_json(struct mpiq_page *page, const struct mpiq_late_report *report)
{
    struct mpiq_text text = {.out = &page->out};
    mpiq_text_open(&text, '{');
    mpiq_text_key(&text, "trace");
    mpiq_text_open(&text, '{');
    put_trace(&text, report);
    mpiq_text_close(&text, '}');
    mpiq_text_key(&text, "delays");
    mpiq_text_open(&text, '[');
    for (size_t i = 0; i < report->delay_count; i++) {
        const struct mpiq_lateness *delay = &report->delays[i];
        mpiq_text_break(&text);
        mpiq_text_open(&text, '{');
        mpiq_text_put_unsigned(&text, "rank", delay->rank);
        put_site(&text, &delay->site);
        put_seconds(&text, "late", delay->late);
        put_seconds(&text, "short_term_cost", delay->direct);
        put_seconds(&text, "long_term_cost", delay->further);
        mpiq_text_close(&text, '}');
    }
    mpiq_text_close(&text, ']');
    mpiq_text_key(&text, "waits");
    mpiq_text_open(&text, '[');
    for (size_t i = 0; i < report->wait_count; i++) {
        const struct mpiq_late_waiting *wait = &report->waits[i];
        mpiq_text_break(&text);
        mpiq_text_open(&text, '{');
        mpiq_text_put_string(&text, "kind", mpiq_late_word((enum mpiq_late_kind)wait->kind));
        mpiq_text_put_unsigned(&text, "rank", wait->rank);
        put_site(&text, &wait->site);
        mpiq_text_put_unsigned(&text, "count", wait->count);
        put_seconds(&text, "seconds", wait->seconds);
        put_seconds(&text, "longest", wait->longest);
        mpiq_text_close(&text, '}');
    }
    mpiq_text_close(&text, ']');
    mpiq_text_close(&text, '}');
    mpiq_buffer_char(&page->out, '\n');
}

/* ---- order ----------------------------------------------------------------------------------------------
 */

static int compare_waits(const void *left, const void *right)
{
    const struct mpiq_late_waiting *a = left;
    const struct mpiq_late_waiting *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int order = mpiq_late_compare_sites(&a->site, &b->site);
    if (!order)
        order = strcmp(a->site.path ? a->site.path : "", b->site.path ? b->site.path : "");
    return order ? order : a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int compare_rank_sites(const void *left, const void *right)
{
    const struct mpiq_lateness *a = left;
    const struct mpiq_lateness *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return mpiq_late_compare_sites(&a->site, &b->site);
}

static int compare_costs(const void *left, const void *right)
{
    const struct mpiq_lateness *a = left;
    const struct mpiq_lateness *b = right;
    double first = a->direct + a->further;
    double second = b->direct + b->further;
    if (first != second)
        return first > second ? -1 : 1;
    return compare_rank_sites(left, right);
}

/* A rank's delays at one place, on whatever path, are one. */
static void join_paths(struct mpiq_late_report *report)
{
    size_t kept = 0;
    qsort(report->delays, report->delay_count, sizeof *report->delays, compare_rank_sites);
    for (size_t i = 0; i < report->delay_count; i++) {
        struct mpiq_lateness *last = kept > 0 ? &report->delays[kept - 1] : NULL;
        if (!last || compare_rank_sites(last, &report->delays[i]) != 0) {
            report->delays[kept++] = report->delays[i];
            continue;
        }
        last->late += report->delays[i].late;
        last->direct += report->delays[i].direct;
        last->further += report->delays[i].further;
    }
    report->delay_count = kept;
}

struct mpiq_error *mpiq_late_render(struct mpiq_late_report *report,
                                    const struct mpiq_report_options *options, char **ret)
{
    struct mpiq_page page = {.options = options};
    if (report->delay_count > 0 && options->format != MPIQ_FORMAT_JSON)
        join_paths(report);
    if (report->delay_count > 0)
        qsort(report->delays, report->delay_count, sizeof *report->delays, compare_costs);
    if (report->wait_count > 0)
        qsort(report->waits, report->wait_count, sizeof *report->waits, compare_waits);
    if (options->format == MPIQ_FORMAT_JSON)
        write_json(&page, report);
    else if (options->format == MPIQ_FORMAT_HTML)
        mpiq_html_late(&page, report);
    else
        mpiq_show_late(&page, report);
    return mpiq_buffer_end(&page.out, ret);
}
