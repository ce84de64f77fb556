/* SPDX-License-Identifier: BSD-3-Clause */
/* views - what a page can show below its verdict; each view has its own file. */
#ifndef MPIQ_REPORT_VIEWS_H
#define MPIQ_REPORT_VIEWS_H

#include "report/page.h"

void mpiq_show_report(struct mpiq_page *page);
void mpiq_show_why(struct mpiq_page *page);
void mpiq_show_collectives(struct mpiq_page *page);
void mpiq_show_queues(struct mpiq_page *page);
void mpiq_show_comms(struct mpiq_page *page);
void mpiq_show_history(struct mpiq_page *page);
void mpiq_show_ranks(struct mpiq_page *page);

/* A part of the report: what would let it say more. */
void mpiq_show_help(struct mpiq_page *page);

/* A whole page. */
void mpiq_json_view(struct mpiq_page *page, enum mpiq_view view);

void mpiq_html_report(struct mpiq_page *page);

#endif
