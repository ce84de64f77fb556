/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as one self-contained HTML page, made of the text views, pictures, and tables. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "report/history.h"
#include "report/page_data.h"
#include "report/picture_svg.h"
#include "report/print.h"
#include "report/views.h"
#include "report/wait_picture.h"

/* Rows of the table of ranks without scripts: the one with them shows part of any number. */
#define MOST_RANKS 256

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<style>\n"
#include "page.css.inc" /* made of page.css by the build */
    "</style>\n";

/* ---- head --------------------------------------------------------------------------------------------- */

/* One line of what the page is about; nothing for an empty text, which it empties. */
static void put_fact(struct mpiq_page *page, const char *name, struct mpiq_buffer *text)
{
    if (text->length > 0) {
        mpiq_buffer_printf(&page->out, "<dt>%s</dt><dd>", name);
        mpiq_put_html(&page->out, mpiq_buffer_text(text));
        mpiq_buffer_string(&page->out, "</dd>\n");
    }
    text->length = 0;
}

/* The programs that the ranks run, or how they were started: each once, in the order of the ranks. */
static void put_each_once(const struct mpiq_page *page, struct mpiq_buffer *text, bool command)
{
    enum { MOST = 3 };
    mpiq_string_id told[MOST] = {0};
    size_t count = 0, more = 0;
    for (uint32_t process = 0; process < page->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(page->job, process);
        mpiq_string_id string = !rank ? 0 : command ? rank->command : rank->executable;
        size_t k = 0;
        while (k < count && told[k] != string)
            k++;
        if (!string || k < count)
            continue;
        if (count == MOST) {
            more++;
            continue;
        }
        told[count++] = string;
        mpiq_buffer_string(text, k > 0 ? ", " : "");
        mpiq_put_plain(text, mpiq_job_string(page->job, string));
    }
    mpiq_buffer_string(text, more > 0 ? " and others" : "");
}

static void put_hosts(const struct mpiq_page *page, struct mpiq_buffer *text)
{
    enum { MOST = 8 };
    for (uint32_t i = 0; i < page->job->host_count && i < MOST; i++) {
        mpiq_buffer_string(text, i > 0 ? ", " : "");
        mpiq_put_plain(text, mpiq_job_string(page->job, page->job->hosts[i]));
    }
    if (page->job->host_count > MOST)
        mpiq_buffer_printf(text, " and %" PRIu32 " more", page->job->host_count - MOST);
}

static void put_date(struct mpiq_page *page)
{
    int64_t taken = 0;
    char words[32];
    struct tm date;
    for (uint32_t i = 0; i < page->job->rank_count; i++)
        taken = page->job->ranks[i].taken_ns > taken ? page->job->ranks[i].taken_ns : taken;
    time_t seconds = (time_t)(taken / 1000000000);
    if (taken <= 0 || !gmtime_r(&seconds, &date))
        return;
    strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%SZ", &date);
    mpiq_buffer_printf(&page->out, "<dt>Looked at</dt><dd><time datetime=\"%s\">", words);
    strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S UTC", &date);
    mpiq_buffer_printf(&page->out, "%s</time></dd>\n", words);
}

static void put_head(struct mpiq_page *page)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_buffer_string(&page->out, "<header>\n");
    mpiq_print_verdict(page);
    mpiq_buffer_string(&page->out, "<dl class=\"facts\">\n");
    put_each_once(page, &text, false);
    put_fact(page, "Program", &text);
    put_each_once(page, &text, true);
    put_fact(page, "Command", &text);
    mpiq_put_plain(&text, page->options->user);
    put_fact(page, "User", &text);
    put_hosts(page, &text);
    put_fact(page, page->job->host_count == 1 ? "Host" : "Hosts", &text);
    put_date(page);
    mpiq_buffer_string(&page->out, "</dl>\n</header>\n");
}

/* ---- who waits for whom ------------------------------------------------------------------------------- */

static void put_node(struct mpiq_buffer *text, const struct mpiq_wait_picture *picture, uint32_t node)
{
    if (node == MPIQ_PICTURE_ALL_OF_CIRCLE)
        mpiq_buffer_string(text, "all ranks of the circle");
    else
        mpiq_put_who(text, &picture->nodes[node].ranks, MPIQ_MOST_RANGES);
}

static void put_edge(struct mpiq_page *page, const struct mpiq_wait_picture *picture,
                     const struct mpiq_picture_edge *edge)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    const struct mpiq_rank_set *from = &picture->nodes[edge->from].ranks;
    put_node(&text, picture, edge->from);
    if (edge->line == MPIQ_LINE_STRAY)
        mpiq_buffer_string(&text, " sent a message that nobody takes to ");
    else
        mpiq_buffer_string(&text, from->size == 1 ? " waits for " : " wait for ");
    if (edge->from == edge->to)
        mpiq_buffer_string(&text, from->size == 1 ? "itself" : "each other");
    else
        put_node(&text, picture, edge->to);
    mpiq_buffer_string(&text, ": ");
    mpiq_put_edge_words(page, &text, edge);
    mpiq_print(page, 2, "%s", mpiq_buffer_text(&text));
}

/* The picture, and the same as text for those who cannot see it. */
static void put_picture(struct mpiq_page *page)
{
    struct mpiq_wait_picture picture _cleanup_(mpiq_wait_picture_deinit) = {0};
    page->out.failed |= !mpiq_wait_picture_collect(page, &picture);
    if (page->out.failed || picture.edge_count == 0)
        return;
    mpiq_buffer_string(&page->out,
                       "<section id=\"waits\">\n<h2 id=\"waits-title\">Who waits for whom</h2>\n");
    mpiq_buffer_string(&page->out, "<p class=\"small\">");
    if (picture.circle_count > 0)
        mpiq_buffer_string(&page->out, "Red: ranks that wait for each other in a circle. ");
    mpiq_buffer_string(&page->out, "An arrow points to whom they wait for");
    bool stray = false;
    for (size_t i = 0; i < picture.edge_count; i++)
        stray |= picture.edges[i].line == MPIQ_LINE_STRAY;
    mpiq_buffer_string(&page->out,
                       stray ? "; a dashed one is a message that nobody takes.</p>\n" : ".</p>\n");
    mpiq_put_picture_svg(page, &page->out, &picture);
    if (picture.left_out > 0)
        mpiq_print(page, 0, "The circle has %" PRIu64 " more ranks, which are drawn as groups.",
                   picture.left_out);
    mpiq_buffer_string(&page->out, "<details><summary>The same as text</summary>\n");
    for (size_t i = 0; i < picture.edge_count; i++)
        put_edge(page, &picture, &picture.edges[i]);
    mpiq_buffer_string(&page->out, "</details>\n</section>\n");
}

/* ---- the rest ----------------------------------------------------------------------------------------- */

static void open_section(struct mpiq_page *page, const char *title)
{
    mpiq_buffer_printf(&page->out, "<section><details><summary>%s</summary>\n", title);
}

static void close_section(struct mpiq_page *page)
{
    mpiq_buffer_string(&page->out, "</details></section>\n");
    mpiq_buffer_drain(&page->out, false);
}

static const char script_tail[] = "</script>\n<script>\n"
#include "page.js.inc" /* made of page.js by the build */
                                  "</script>\n</body>\n</html>\n";

void mpiq_html_begin(struct mpiq_page *page, const char *title)
{
    mpiq_buffer_string(&page->out, page_head);
    mpiq_buffer_printf(&page->out, "<title>mpiq: %s</title>\n</head>\n<body>\n", title);
}

static void begin_page(struct mpiq_page *page)
{
    mpiq_html_begin(page, mpiq_verdict_word(page->diagnosis->verdict));
    put_head(page);
    mpiq_buffer_string(&page->out, "<main>\n");
}

static void end_page(struct mpiq_page *page)
{
    mpiq_buffer_string(&page->out, "</main>\n<script type=\"application/json\" id=\"data\">\n");
    mpiq_put_page_data(page);
    mpiq_buffer_string(&page->out, script_tail);
}

/* The script puts its grid and tables in place of what is here. */
static void put_ranks(struct mpiq_page *page)
{
    mpiq_buffer_string(&page->out, "<section id=\"ranks\">\n<h2>Ranks</h2>\n<div id=\"ranks-tools\">\n");
    if (page->diagnosis->rank_count <= MOST_RANKS)
        mpiq_show_ranks(page);
    else
        mpiq_print(page, 0, "Without scripts a page has no table of so many ranks: `mpiq ranks` shows them.");
    mpiq_buffer_string(&page->out, "</div>\n</section>\n<section id=\"messages\" hidden>\n<h2>Messages</h2>\n"
                                   "<div id=\"messages-tools\"></div>\n</section>\n");
    mpiq_buffer_drain(&page->out, false);
}

void mpiq_html_report(struct mpiq_page *page)
{
    begin_page(page);
    mpiq_show_report(page);
    put_picture(page);
    mpiq_put_history_svg(page);
    put_ranks(page);
    open_section(page, "Collectives");
    mpiq_show_collectives(page);
    close_section(page);
    open_section(page, "Message queues");
    mpiq_show_queues(page);
    close_section(page);
    open_section(page, "Communicators");
    mpiq_show_comms(page);
    close_section(page);
    end_page(page);
}

void mpiq_html_view(struct mpiq_page *page, void (*show)(struct mpiq_page *page))
{
    begin_page(page);
    show(page);
    put_picture(page);
    put_ranks(page);
    end_page(page);
}
