/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
    const char *sequence;
    const char *class;
} styles[] = {
    [MPIQ_STYLE_NONE] = {"\033[0m", ""},
    [MPIQ_STYLE_BOLD] = {"\033[1m", " class=\"bold\""},
    [MPIQ_STYLE_BAD] = {"\033[1;31m", " class=\"bad\""},
    [MPIQ_STYLE_GOOD] = {"\033[32m", " class=\"good\""},
    [MPIQ_STYLE_DOUBT] = {"\033[33m", " class=\"doubt\""},
    [MPIQ_STYLE_COLLECTIVE] = {"\033[38;5;32m", " class=\"bold\""},
    [MPIQ_STYLE_RECEIVE] = {"\033[38;5;214m", " class=\"bold\""},
    [MPIQ_STYLE_SEND] = {"\033[38;5;36m", " class=\"bold\""},
    [MPIQ_STYLE_WAIT] = {"\033[38;5;175m", " class=\"bold\""},
    [MPIQ_STYLE_SUSPECT] = {"\033[1;7m", " class=\"bad\""},
};

static bool is_html(const struct mpiq_page *page)
{
    return page->options->format == MPIQ_FORMAT_HTML;
}

const char *mpiq_style_sequence(const struct mpiq_page *page, enum mpiq_style style)
{
    return page->options->color && !is_html(page) ? styles[style].sequence : "";
}

const char *mpiq_style_class(enum mpiq_style style)
{
    return styles[style].class;
}

enum mpiq_style mpiq_verdict_style(enum mpiq_verdict verdict)
{
    switch (verdict) {
    case MPIQ_VERDICT_DEADLOCK:
    case MPIQ_VERDICT_STALLED:
        return MPIQ_STYLE_BAD;
    case MPIQ_VERDICT_UNKNOWN:
        return MPIQ_STYLE_DOUBT;
    default:
        return MPIQ_STYLE_GOOD;
    }
}

/* The length of what must not be broken into two lines: "rank 0", "ranks w1:0-3", "tag 7", "2.3 s"; 0:
   nothing begins here. */
static size_t unbroken(const char *text)
{
    static const char *const words[] = {"rank ", "ranks ", "Rank ", "Ranks ", "tag ", "root ", "collective "};
    enum { LONGEST = 32 };
    size_t number = strspn(text, "0123456789.");
    size_t unit = number > 0 && text[number] == ' ' ? strspn(text + number + 1, "dhimnsu") : 0;
    if (unit > 0 && unit <= 3 && !isalnum((unsigned char)text[number + 1 + unit]))
        return number + 1 + unit;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t word = strlen(words[i]);
        if (strncmp(text, words[i], word) == 0 && (isdigit((unsigned char)text[word]) || text[word] == 'w')) {
            size_t length = word + strspn(text + word, "w0123456789:,-");
            while (length > word && strchr(":,-", text[length - 1]))
                length--;
            return length <= LONGEST ? length : 0;
        }
    }
    return 0;
}

void mpiq_put_html(struct mpiq_buffer *buffer, const char *string)
{
    struct mpiq_buffer escaped _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(buffer);
    mpiq_put_escaped(&escaped, MPIQ_ESCAPE_HTML, string);
    bool begins = true; /* a word */
    for (const char *at = mpiq_buffer_text(&escaped); *at;) {
        size_t length = begins ? unbroken(at) : 0;
        begins = strchr(" (\n", *at) != NULL;
        if (length == 0) {
            mpiq_buffer_char(buffer, *at++);
            continue;
        }
        mpiq_buffer_string(buffer, "<span class=\"nb\">");
        mpiq_buffer_add(buffer, at, length);
        mpiq_buffer_string(buffer, "</span>");
        at += length;
    }
}

void mpiq_print_gap(struct mpiq_page *page)
{
    if (!is_html(page))
        mpiq_buffer_char(&page->out, '\n');
}

void mpiq_print_heading(struct mpiq_page *page, const char *text)
{
    mpiq_print_gap(page);
    if (is_html(page)) {
        mpiq_buffer_string(&page->out, "<h2>");
        mpiq_put_html(&page->out, text);
        mpiq_buffer_string(&page->out, "</h2>\n");
        return;
    }
    mpiq_buffer_string(&page->out, mpiq_style_sequence(page, MPIQ_STYLE_BOLD));
    mpiq_put_plain(&page->out, text);
    mpiq_buffer_printf(&page->out, "%s\n", mpiq_style_sequence(page, MPIQ_STYLE_NONE));
}

/* Adds words from `column` on, those that do not fit the width after `hang` columns. */
static void put_wrapped(struct mpiq_page *page, size_t column, size_t hang, const char *text)
{
    struct mpiq_buffer *out = &page->out;
    size_t width = page->options->width > 0 ? (size_t)page->options->width : SIZE_MAX;
    bool first = true;

    size_t blanks = strspn(text, " ");
    mpiq_buffer_add(out, text, blanks);
    column += blanks;
    for (const char *at = text + blanks;;) {
        at += strspn(at, " ");
        size_t word = strcspn(at, " ");
        if (word == 0)
            return;
        if ((!first || column > hang) && column + !first + word > width) {
            mpiq_buffer_printf(out, "\n%*s", (int)hang, "");
            column = hang;
        } else if (!first) {
            mpiq_buffer_char(out, ' ');
            column++;
        }
        mpiq_buffer_add(out, at, word);
        column += word;
        at += word;
        first = false;
    }
}

static void put_text_line(struct mpiq_page *page, struct mpiq_paragraph line, const char *text)
{
    struct mpiq_buffer *out = &page->out;
    const char *plain = mpiq_style_sequence(page, MPIQ_STYLE_NONE);
    size_t column = line.indent;

    mpiq_buffer_printf(out, "%*s", (int)line.indent, "");
    if (line.lead) {
        mpiq_buffer_string(out, mpiq_style_sequence(page, line.lead_style));
        size_t before = out->length;
        mpiq_put_plain(out, line.lead);
        column += out->length - before;
        mpiq_buffer_string(out, line.lead_style == MPIQ_STYLE_NONE ? "" : plain);
    }
    mpiq_buffer_string(out, line.style == MPIQ_STYLE_NONE ? "" : mpiq_style_sequence(page, line.style));
    put_wrapped(page, column, line.hang, text);
    mpiq_buffer_string(out, line.style == MPIQ_STYLE_NONE ? "" : plain);
    mpiq_buffer_char(out, '\n');
}

static void put_html_span(struct mpiq_buffer *out, enum mpiq_style style, const char *text)
{
    if (style != MPIQ_STYLE_NONE)
        mpiq_buffer_printf(out, "<span%s>", mpiq_style_class(style));
    mpiq_put_html(out, text);
    if (style != MPIQ_STYLE_NONE)
        mpiq_buffer_string(out, "</span>");
}

static void put_html_line(struct mpiq_page *page, struct mpiq_paragraph line, const char *text)
{
    const char *element = line.element ? line.element : "p";
    mpiq_buffer_printf(&page->out, "<%s%s>", element, line.indent > 0 ? " class=\"in\"" : "");
    if (line.lead)
        put_html_span(&page->out, line.lead_style, line.lead);
    put_html_span(&page->out, line.style, text);
    mpiq_buffer_printf(&page->out, "</%s>\n", element);
}

void mpiq_print_line(struct mpiq_page *page, struct mpiq_paragraph line, const char *text)
{
    struct mpiq_buffer plain _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_put_plain(&plain, text);
    if (is_html(page))
        put_html_line(page, line, mpiq_buffer_text(&plain));
    else
        put_text_line(page, line, mpiq_buffer_text(&plain));
}

void mpiq_print(struct mpiq_page *page, size_t indent, const char *format, ...)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    va_list arguments;
    va_start(arguments, format);
    mpiq_buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    mpiq_print_line(page, (struct mpiq_paragraph){.indent = indent, .hang = indent + 2},
                    mpiq_buffer_text(&text));
}

static const char *source_phrase(enum mpiq_source source)
{
    switch (source) {
    case MPIQ_SOURCE_STACKS:
        return "stacks only";
    case MPIQ_SOURCE_CALLS:
        return "stacks and arguments only";
    default:
        return mpiq_source_word(source);
    }
}

/* "all 64 ranks read", "8 of 9 ranks read". */
static void put_ranks_read(const struct mpiq_job_state *job, struct mpiq_buffer *text)
{
    uint32_t read = mpiq_job_ranks_read(job);
    if (job->process_count == 2 && read == 2)
        mpiq_buffer_string(text, "both ranks read");
    else if (job->process_count > 2 && read == job->process_count)
        mpiq_buffer_printf(text, "all %" PRIu32 " ranks read", read);
    else if (job->process_count == 0)
        mpiq_buffer_string(text, "no ranks read");
    else {
        mpiq_buffer_printf(text, "%" PRIu32 " of ", read);
        mpiq_put_count(text, job->process_count, "rank");
        mpiq_buffer_string(text, " read");
    }
}

/* "Open MPI 4.1.4"; with the file where the user may not know which of several libraries it is: a patched one
   has been built on purpose. */
static void put_library_name(struct mpiq_buffer *text, const struct mpiq_library *library)
{
    mpiq_put_plain(text, library->name);
    if (library->file && library->source != MPIQ_SOURCE_PATCHED) {
        mpiq_buffer_string(text, library->name ? " in " : "");
        mpiq_put_plain(text, library->file);
    }
}

/* "(Open MPI 4.1.4, patched; all 64 ranks read on 4 hosts)" */
static void put_library(const struct mpiq_page *page, struct mpiq_buffer *text)
{
    struct mpiq_library library = mpiq_page_library(page);
    mpiq_buffer_char(text, '(');
    if (mpiq_job_ranks_read(page->job) > 0) {
        put_library_name(text, &library);
        if (library.name || library.file)
            mpiq_buffer_string(text, ", ");
        mpiq_buffer_printf(text, "%s; ",
                           library.source == MPIQ_SOURCE_NONE ? "MPI not readable"
                                                              : source_phrase(library.source));
    }
    put_ranks_read(page->job, text);
    if (page->job->host_count > 1)
        mpiq_buffer_printf(text, " on %" PRIu32 " hosts", page->job->host_count);
    mpiq_buffer_char(text, ')');
}

/* The sentence of a job of which nothing but stacks is known; false if this is another one. */
static bool put_stacks_only(const struct mpiq_page *page, struct mpiq_buffer *text)
{
    const struct mpiq_job_state *job = page->job;
    struct mpiq_library library = mpiq_page_library(page);
    if (!page->diagnosis->by_stacks || library.source == MPIQ_SOURCE_NONE)
        return false;
    mpiq_buffer_string(text, library.source == MPIQ_SOURCE_CALLS
                                 ? "only stacks and the arguments of calls could be read ("
                                 : "only stacks could be read (");
    put_library_name(text, &library);
    if ((library.name || library.file) && mpiq_job_ranks_read(job) < job->process_count)
        mpiq_buffer_string(text, "; ");
    if (!(library.name || library.file) || mpiq_job_ranks_read(job) < job->process_count)
        put_ranks_read(job, text);
    mpiq_buffer_string(text, "), so nothing can be proven");
    return true;
}

void mpiq_print_verdict(struct mpiq_page *page)
{
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);

    mpiq_buffer_string(&text, ": ");
    if (!put_stacks_only(page, &text)) {
        if (diagnosis->text && *diagnosis->text)
            mpiq_buffer_printf(&text, "%s ", diagnosis->text);
        put_library(page, &text);
    }
    mpiq_print_line(page,
                    (struct mpiq_paragraph){.hang = 2,
                                            .lead = mpiq_verdict_word(diagnosis->verdict),
                                            .lead_style = mpiq_verdict_style(diagnosis->verdict),
                                            .element = "h1"},
                    mpiq_buffer_text(&text));
}
