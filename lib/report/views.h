/* SPDX-License-Identifier: BSD-3-Clause */
/* views - what a page can show below its verdict; each view has its own file. */
#ifndef MPIQ_REPORT_VIEWS_H
#define MPIQ_REPORT_VIEWS_H

#include "report/behaviour.h"
#include "report/page.h"

void mpiq_show_report(struct mpiq_page *page);
void mpiq_show_why(struct mpiq_page *page);
void mpiq_show_collectives(struct mpiq_page *page);
void mpiq_show_queues(struct mpiq_page *page);
void mpiq_show_comms(struct mpiq_page *page);
void mpiq_show_history(struct mpiq_page *page);
void mpiq_show_ranks(struct mpiq_page *page);
void mpiq_show_stacks(struct mpiq_page *page);
/* As many lines as options->height, where the job has so much to say; the verdict stands above. */
void mpiq_show_screen(struct mpiq_page *page);
/* One line, the verdict in it. */
void mpiq_show_line(struct mpiq_page *page);

/* A part of the report and of the screen: what ranks do, at most so many lines and one more. */
void mpiq_put_behaviours(struct mpiq_page *page, const struct mpiq_behaviours *all, const char *heading,
                         size_t most);
/* Another: notes or assumptions. */
void mpiq_put_notes(struct mpiq_page *page, const char *heading, const struct mpiq_note *notes, size_t count,
                    size_t most);
/* Lines that a text has so far. */
size_t mpiq_lines_of(const struct mpiq_buffer *buffer);

/* A part of the report: what would let it say more. */
void mpiq_show_help(struct mpiq_page *page);

/* A whole page. */
void mpiq_json_view(struct mpiq_page *page, enum mpiq_view view);

void mpiq_html_report(struct mpiq_page *page);
/* How every page begins, up to the first element of its body; the title is plain. */
void mpiq_html_begin(struct mpiq_page *page, const char *title);
/* The page of one view: that view, who waits for whom, and the ranks. */
void mpiq_html_view(struct mpiq_page *page, void (*show)(struct mpiq_page *page));

#endif
