/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/late.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_parser.h"

/* Lines of one report. */
enum { MOST = 1 << 20, LANES_MOST = 1024 };

const char *mpiq_late_word(enum mpiq_late_kind kind)
{
    static const char *const words[] = {
#define WORD(id, word, name) [MPIQ_LATE_##id] = (word),
        MPIQ_LATE_KINDS(WORD)
#undef WORD
    };
    return words[kind];
}

const char *mpiq_late_name(enum mpiq_late_kind kind)
{
    static const char *const names[] = {
#define NAME(id, word, name) [MPIQ_LATE_##id] = (name),
        MPIQ_LATE_KINDS(NAME)
#undef NAME
    };
    return names[kind];
}

static int compare_strings(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

int mpiq_late_compare_sites(const struct mpiq_late_site *a, const struct mpiq_late_site *b)
{
    int order = compare_strings(a->call, b->call);
    if (!order)
        order = compare_strings(a->file, b->file);
    if (!order)
        order = a->line < b->line ? -1 : a->line > b->line;
    return order ? order : compare_strings(a->function, b->function);
}

/* One line, taken apart: what is not there is 0. */
struct line {
    struct mpiq_late_report *report;
    struct mpiq_parser *parser;
    struct mpiq_late_site site;
    int64_t rank, count, number;
    int kind;
    double seconds, longest, late, direct, further;
    double waited[MPIQ_LATE_BINS], caused[MPIQ_LATE_BINS];
};

/* Times are whole nanoseconds. */
static double take_seconds(struct mpiq_parser *parser)
{
    uint64_t ns = 0;
    mpiq_parser_try_unsigned(parser, &ns);
    return (double)ns / 1e9;
}

static void take_bins(struct line *line, double *bins)
{
    size_t count = 0;
    if (mpiq_parser_open(line->parser, '['))
        return;
    while (mpiq_parser_more(line->parser, ']')) {
        double seconds = take_seconds(line->parser);
        if (count < MPIQ_LATE_BINS)
            bins[count++] = seconds;
    }
}

static const char *take_string(struct line *line)
{
    const char *string = mpiq_parser_try_string(line->parser);
    return string ? mpiq_arena_string(line->report->arena, string) : NULL;
}

static void take_kind(struct line *line)
{
    const char *word = mpiq_parser_try_string(line->parser);
    line->kind = -1;
    for (int i = 0; word && i < MPIQ_LATE_KIND_COUNT; i++) {
        if (strcmp(word, mpiq_late_word((enum mpiq_late_kind)i)) == 0)
            line->kind = i;
    }
}

static void take_member(struct line *line, const char *key)
{
    struct mpiq_parser *parser = line->parser;
    if (strcmp(key, "kind") == 0)
        take_kind(line);
    else if (strcmp(key, "rank") == 0)
        mpiq_parser_try_signed(parser, 0, INT32_MAX, &line->rank);
    else if (strcmp(key, "line") == 0)
        mpiq_parser_try_signed(parser, 0, INT32_MAX, &line->number);
    else if (strcmp(key, "count") == 0)
        mpiq_parser_try_signed(parser, 0, INT64_MAX, &line->count);
    else if (strcmp(key, "call") == 0)
        line->site.call = take_string(line);
    else if (strcmp(key, "function") == 0)
        line->site.function = take_string(line);
    else if (strcmp(key, "file") == 0)
        line->site.file = take_string(line);
    else if (strcmp(key, "path") == 0)
        line->site.path = take_string(line);
    else if (strcmp(key, "ns") == 0)
        line->seconds = take_seconds(parser);
    else if (strcmp(key, "longest_ns") == 0)
        line->longest = take_seconds(parser);
    else if (strcmp(key, "late_ns") == 0)
        line->late = take_seconds(parser);
    else if (strcmp(key, "direct_ns") == 0)
        line->direct = take_seconds(parser);
    else if (strcmp(key, "further_ns") == 0)
        line->further = take_seconds(parser);
    else if (strcmp(key, "waited") == 0)
        take_bins(line, line->waited);
    else if (strcmp(key, "caused") == 0)
        take_bins(line, line->caused);
    else
        mpiq_parser_skip(parser);
}

static void take_summary(struct line *line, const char *key)
{
    struct mpiq_late_report *report = line->report;
    const struct {
        const char *key;
        uint64_t *value;
    } counts[] = {{"ranks", &report->ranks},
                  {"events", &report->events},
                  {"messages", &report->messages},
                  {"unreceived", &report->unreceived},
                  {"collectives", &report->collectives},
                  {"contradictions", &report->contradictions},
                  {"backwards", &report->backwards},
                  {"wrong_orders", &report->wrong_orders},
                  {"broken", &report->broken}};
    const struct {
        const char *key;
        double *value;
    } times[] = {{"ns", &report->seconds},
                 {"waiting_ns", &report->waiting},
                 {"mpi_ns", &report->mpi},
                 {"wrong_order_ns", &report->wrong_order},
                 {"barrier_completion_ns", &report->barrier_completion},
                 {"nxn_completion_ns", &report->nxn_completion},
                 {"unattributed_ns", &report->unattributed}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (strcmp(key, counts[i].key) == 0) {
            mpiq_parser_try_unsigned(line->parser, counts[i].value);
            return;
        }
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (strcmp(key, times[i].key) == 0) {
            *times[i].value = take_seconds(line->parser);
            return;
        }
    }
    if (strcmp(key, "creator") == 0)
        report->creator = take_string(line);
    else
        mpiq_parser_skip(line->parser);
}

static bool add_wait(struct line *line)
{
    struct mpiq_late_report *report = line->report;
    if (!mpiq_array_reserve(&report->waits, &report->wait_room, report->wait_count + 1))
        return false;
    report->waits[report->wait_count++] = (struct mpiq_late_waiting){.site = line->site,
                                                                     .count = (uint64_t)line->count,
                                                                     .seconds = line->seconds,
                                                                     .longest = line->longest,
                                                                     .rank = (uint32_t)line->rank,
                                                                     .kind = (uint8_t)line->kind};
    return true;
}

static bool add_delay(struct line *line)
{
    struct mpiq_late_report *report = line->report;
    if (!mpiq_array_reserve(&report->delays, &report->delay_room, report->delay_count + 1))
        return false;
    report->delays[report->delay_count++] = (struct mpiq_lateness){.site = line->site,
                                                                   .late = line->late,
                                                                   .direct = line->direct,
                                                                   .further = line->further,
                                                                   .rank = (uint32_t)line->rank};
    return true;
}

static bool add_lane(struct line *line)
{
    struct mpiq_late_report *report = line->report;
    if (!mpiq_array_reserve(&report->lanes, &report->lane_room, report->lane_count + 1))
        return false;
    struct mpiq_late_lane *lane = &report->lanes[report->lane_count++];
    lane->rank = (uint32_t)line->rank;
    lane->width = line->seconds;
    memcpy(lane->waited, line->waited, sizeof lane->waited);
    memcpy(lane->caused, line->caused, sizeof lane->caused);
    return true;
}

/* {"wait":{…}}, {"delay":{…}}, {"lane":{…}} or {"summary":{…}}. */
static struct mpiq_error *take(struct line *line)
{
    struct mpiq_parser *parser = line->parser;
    char what = 0;
    if (mpiq_parser_open(parser, '{') || !mpiq_parser_more(parser, '}'))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "what it says is no object");
    mpiq_parser_key(parser);
    what = parser->string ? parser->string[0] : 0;
    if (mpiq_parser_open(parser, '{'))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "what it says is no object");
    while (mpiq_parser_more(parser, '}')) {
        char key[32];
        mpiq_parser_key(parser);
        size_t length = parser->string ? strnlen(parser->string, sizeof key - 1) : 0;
        memcpy(key, parser->string ? parser->string : "", length);
        key[length] = '\0';
        if (what == 's')
            take_summary(line, key);
        else
            take_member(line, key);
    }
    line->site.line = (int32_t)line->number;
    if (parser->fault)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "what it says is no JSON: %s", parser->fault);
    if (line->report->wait_count + line->report->delay_count >= MOST ||
        line->report->lane_count >= LANES_MOST || (what == 'w' && line->kind < 0))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "what it says makes no sense");
    bool good = what == 'w'   ? add_wait(line)
                : what == 'd' ? add_delay(line)
                : what == 'l' ? add_lane(line)
                              : true;
    return good ? NULL : mpiq_error_no_memory();
}

struct mpiq_error *mpiq_late_report_take(struct mpiq_late_report *report, const char *text)
{
    struct mpiq_parser parser;
    struct line line = {.report = report, .parser = &parser, .kind = -1};
    if (!report->arena)
        report->arena = mpiq_arena_create();
    if (!report->arena)
        return mpiq_error_no_memory();
    mpiq_parser_init(&parser, text, strlen(text));
    struct mpiq_error *error = take(&line);
    mpiq_parser_deinit(&parser);
    return error;
}

void mpiq_late_report_deinit(struct mpiq_late_report *report)
{
    mpiq_arena_destroy(report->arena);
    free(report->waits);
    free(report->delays);
    free(report->lanes);
    *report = (struct mpiq_late_report){0};
}
