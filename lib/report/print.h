/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print - headings, lines and gaps of a page, as text for a terminal or a file, or as HTML.
 *
 * All text goes through mpiq_put_plain, so it is ASCII without control characters, whatever the processes
 * had in memory, and the same bytes in every locale.
 */
#ifndef MPIQ_REPORT_PRINT_H
#define MPIQ_REPORT_PRINT_H

#include "report/page.h"

enum mpiq_style {
    MPIQ_STYLE_NONE,
    MPIQ_STYLE_BOLD,
    MPIQ_STYLE_BAD,
    MPIQ_STYLE_GOOD,
    MPIQ_STYLE_DOUBT,
    /* Of cells, whose letters say the same: colours that people of all kinds of colour vision can tell apart.
     */
    MPIQ_STYLE_COLLECTIVE,
    MPIQ_STYLE_RECEIVE,
    MPIQ_STYLE_SEND,
    MPIQ_STYLE_WAIT,
    MPIQ_STYLE_SUSPECT
};

/* The terminal's sequence for a style, "" without colours; NONE switches all off again. */
const char *mpiq_style_sequence(const struct mpiq_page *page, enum mpiq_style style);
/* HTML's class for it, " class=\"bad\"" as it stands in a tag; "" for NONE. */
const char *mpiq_style_class(enum mpiq_style style);
enum mpiq_style mpiq_verdict_style(enum mpiq_verdict verdict);

/* Adds a string as HTML's text: plain, its own marks escaped; "rank 0" and the like are never broken into two
   lines. */
void mpiq_put_html(struct mpiq_buffer *buffer, const char *string);

/* An empty line. */
void mpiq_print_gap(struct mpiq_page *page);
/* After a gap. */
void mpiq_print_heading(struct mpiq_page *page, const char *text);

struct mpiq_paragraph {
    size_t indent;    /* columns before it */
    size_t hang;      /* columns before what does not fit the width */
    const char *lead; /* what it begins with, in a style of its own; NULL */
    enum mpiq_style lead_style;
    enum mpiq_style style;
    const char *element; /* of HTML; NULL: a paragraph */
};

/* A line, or as many as the width asks for. */
void mpiq_print_line(struct mpiq_page *page, struct mpiq_paragraph line, const char *text);
/* The same without more ado than an indent. */
void mpiq_print(struct mpiq_page *page, size_t indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The first line of every view: the verdict. */
void mpiq_print_verdict(struct mpiq_page *page);

#endif
