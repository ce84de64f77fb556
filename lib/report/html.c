/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as one self-contained HTML page: the text views one below the other, and a picture of who waits
   for whom. */
#include "base/cleanup.h"
#include "report/history.h"
#include "report/picture_svg.h"
#include "report/print.h"
#include "report/views.h"
#include "report/wait_picture.h"

/* Lines of the table of ranks: browsers do not like long ones. */
#define MOST_RANKS 4096

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;"
    "color:#1b1b1b;background:#fff}\n"
    "p{margin:.15em 0}\n"
    "p.in{margin-left:1.6em}\n"
    "section{border-top:1px solid #ccc;margin-top:1.2em}\n"
    "h2{font-size:1.05em;margin:1em 0 .3em}\n"
    "summary{font-weight:600;cursor:pointer;margin:.6em 0}\n"
    "table{border-collapse:collapse;margin:.3em 0 .8em 1.6em;font-size:.93em}\n"
    "th{text-align:left;font-weight:600;color:#555;font-size:.85em}\n"
    "th,td{padding:.12em 1.2em .12em 0;vertical-align:top}\n"
    "td.number,th.number{text-align:right}\n"
    "td{font-family:ui-monospace,monospace}\n"
    ".bold{font-weight:600}.bad{color:#b00020;font-weight:600}.good{color:#1b6e2c;font-weight:600}"
    ".doubt{color:#8a5a00;font-weight:600}\n"
    "body>p:first-of-type{font-size:1.25em}\n"
    "svg{max-width:100%;height:auto;margin-left:1.6em;font:13px system-ui,sans-serif}\n"
    "svg text{text-anchor:middle;fill:currentColor}svg .name{font-weight:600}\n"
    "svg .label{paint-order:stroke;stroke:#fff;stroke-width:5px;stroke-linejoin:round;font-size:12px}\n"
    "svg .node{fill:#f4f4f6;stroke:#888}svg .node.suspect{stroke:#b00020;stroke-width:3}\n"
    "svg .edge,svg .circle{fill:none;stroke:#777;stroke-width:1.5}svg "
    ".circle{stroke:#b00020;stroke-width:2.5}\n"
    "svg .head{fill:#777}svg .circle-head{fill:#b00020}\n"
    "svg.history text{text-anchor:start;font-size:12px}svg.history .in{fill:#fff;pointer-events:none}\n"
    "svg.history .lane{text-anchor:end}svg.history .suspect{fill:#b00020;font-weight:600}\n"
    "svg.history .time{text-anchor:middle;font-size:11px;fill:#777}svg.history .doing{fill:#777}\n"
    "svg .floor{fill:#f4f4f6}svg .mark{stroke:#8884;fill:none}svg .break{stroke:#777;fill:none;"
    "stroke-dasharray:4 3}\n"
    "svg .k0{fill:#3b6fb6}svg .k1{fill:#2f8a5b}svg .k2{fill:#c9761d}svg .k3{fill:#7f6fb0}svg "
    ".k4{fill:#b0476b}svg .k5{fill:#8a9099}\n"
    "svg .call{stroke:#fff;stroke-width:.6}svg .stuck{stroke:#b00020;stroke-width:2}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th{color:#aaa}.bad{color:#ff6b7d}"
    ".good{color:#7ccf8a}.doubt{color:#e0b060}section{border-color:#444}svg .node{fill:#262628}svg "
    ".label{stroke:#181818}"
    "svg .floor{fill:#222226}svg .call{stroke:#181818}svg.history .suspect{fill:#ff6b7d}svg "
    ".stuck{stroke:#ff6b7d}"
    "svg .circle,svg .node.suspect{stroke:#ff6b7d}svg .circle-head{fill:#ff6b7d}}\n"
    "</style>\n";

static void open_section(struct mpiq_page *page, const char *title)
{
    mpiq_buffer_printf(&page->out, "<section><details><summary>%s</summary>\n", title);
}

static void close_section(struct mpiq_page *page)
{
    mpiq_buffer_string(&page->out, "</details></section>\n");
    mpiq_buffer_drain(&page->out, false);
}

static void put_edge(struct mpiq_page *page, const struct mpiq_wait_picture *picture,
                     const struct mpiq_picture_edge *edge)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    const struct mpiq_rank_set *from = &picture->nodes[edge->from].ranks;
    mpiq_put_who(&text, from, MPIQ_MOST_RANGES);
    mpiq_buffer_string(&text, from->size == 1 ? " waits for " : " wait for ");
    if (edge->from == edge->to)
        mpiq_buffer_string(&text, from->size == 1 ? "itself" : "each other");
    else
        mpiq_put_who(&text, &picture->nodes[edge->to].ranks, MPIQ_MOST_RANGES);
    mpiq_buffer_printf(&text, "%s%s%s", *edge->label ? ": " : "", edge->label,
                       edge->more ? ", and more" : "");
    mpiq_print(page, 2, "%s", mpiq_buffer_text(&text));
}

/* The picture, and the same as text for those who cannot see it. */
static void put_picture(struct mpiq_page *page)
{
    struct mpiq_wait_picture picture _cleanup_(mpiq_wait_picture_deinit) = {0};
    page->out.failed |= !mpiq_wait_picture_collect(page, &picture);
    if (page->out.failed || picture.edge_count == 0)
        return;
    mpiq_print_heading(page, "Who waits for whom");
    mpiq_put_picture_svg(page, &page->out, &picture);
    mpiq_buffer_string(&page->out, "<details><summary>The same as text</summary>\n");
    for (size_t i = 0; i < picture.edge_count; i++)
        put_edge(page, &picture, &picture.edges[i]);
    mpiq_buffer_string(&page->out, "</details>\n");
}

void mpiq_html_report(struct mpiq_page *page)
{
    mpiq_buffer_string(&page->out, page_head);
    mpiq_buffer_printf(&page->out, "<title>mpiq: %s</title>\n</head>\n<body>\n",
                       mpiq_verdict_word(page->diagnosis->verdict));
    mpiq_print_verdict(page);
    mpiq_show_report(page);
    put_picture(page);
    mpiq_put_history_svg(page);
    open_section(page, "Collectives");
    mpiq_show_collectives(page);
    close_section(page);
    open_section(page, "Message queues");
    mpiq_show_queues(page);
    close_section(page);
    open_section(page, "Communicators");
    mpiq_show_comms(page);
    close_section(page);
    open_section(page, "Ranks");
    if (page->diagnosis->rank_count <= MOST_RANKS || page->options->ranks)
        mpiq_show_ranks(page);
    else
        mpiq_print(page, 0, "There are too many ranks for a page: `mpiq ranks` shows them.");
    close_section(page);
    mpiq_buffer_string(&page->out, "</body>\n</html>\n");
}
