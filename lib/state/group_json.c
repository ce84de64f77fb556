/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/group_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct run {
    struct mpiq_name first;
    int64_t length;
    int64_t stride;
};

static struct mpiq_name name_at(const struct run *run, int64_t index)
{
    struct mpiq_name name = run->first;
    if (name.rank >= 0) {
        int64_t rank = name.rank + index * run->stride;
        name.rank = rank <= INT32_MAX ? (int32_t)rank : INT32_MIN; /* which nobody has */
    }
    return name;
}

static bool is_same(struct mpiq_name a, struct mpiq_name b)
{
    return a.job == b.job && a.rank == b.rank;
}

/* The longest run at the start of the members.  Two that are apart may belong to longer ones: one at a time.
 */
static struct run first_run(const struct mpiq_name *members, uint32_t count)
{
    struct run run = {.first = members[0], .length = 1, .stride = 1};
    if (count > 1 && members[1].job == run.first.job && run.first.rank >= 0 &&
        members[1].rank > run.first.rank)
        run.stride = members[1].rank - run.first.rank;
    while (run.length < count && is_same(members[run.length], name_at(&run, run.length)))
        run.length++;
    if (run.length == 2 && run.stride > 1)
        run.length = 1;
    if (run.length == 1)
        run.stride = 1;
    return run;
}

void mpiq_name_write(struct mpiq_text *text, const void *member)
{
    const struct mpiq_name *name = member;
    mpiq_text_open(text, '[');
    mpiq_text_unsigned(text, name->job);
    mpiq_text_signed(text, name->rank);
    mpiq_text_close(text, ']');
}

void mpiq_group_write(struct mpiq_text *text, const void *member)
{
    const struct mpiq_group *group = member;
    mpiq_text_open(text, '{');
    mpiq_text_key(text, "hash");
    mpiq_text_hex(text, group->hash);
    mpiq_text_key(text, "count");
    mpiq_text_unsigned(text, group->count);
    if (group->members) {
        mpiq_text_key(text, "members");
        mpiq_text_open(text, '[');
        for (uint32_t i = 0; i < group->count;) {
            struct run run = first_run(group->members + i, group->count - i);
            mpiq_text_open(text, '[');
            mpiq_text_unsigned(text, run.first.job);
            mpiq_text_signed(text, run.first.rank);
            mpiq_text_signed(text, run.length);
            if (run.stride != 1)
                mpiq_text_signed(text, run.stride);
            mpiq_text_close(text, ']');
            i += (uint32_t)run.length;
        }
        mpiq_text_close(text, ']');
    }
    mpiq_text_close(text, '}');
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* An array's next number, which has to be there. */
static const char *read_next(struct mpiq_parser *parser, int64_t low, int64_t high, int64_t *ret)
{
    if (!mpiq_parser_more(parser, ']'))
        return parser->fault ? NULL : "has too few numbers";
    return mpiq_parser_signed(parser, low, high, ret);
}

/* Job and rank, in an array that stays open. */
static const char *read_start(struct mpiq_parser *parser, struct mpiq_name *name)
{
    int64_t job = 0;
    int64_t rank = -1;
    const char *complaint = mpiq_parser_open(parser, '[');
    if (!complaint)
        complaint = read_next(parser, 0, UINT32_MAX, &job);
    if (!complaint)
        complaint = read_next(parser, -1, INT32_MAX, &rank);
    *name = (struct mpiq_name){.job = (uint32_t)job, .rank = (int32_t)rank};
    return complaint;
}

static const char *read_close(struct mpiq_parser *parser)
{
    return mpiq_parser_more(parser, ']') ? "has too many numbers" : NULL;
}

const char *mpiq_name_read(struct mpiq_parser *parser, void *member)
{
    const char *complaint = read_start(parser, member);
    return complaint ? complaint : read_close(parser);
}

static const char *read_run(struct mpiq_parser *parser, struct run *run)
{
    run->length = 0;
    run->stride = 1;
    const char *complaint = read_start(parser, &run->first);
    if (!complaint)
        complaint = read_next(parser, 0, MPIQ_GROUP_MAX, &run->length);
    if (complaint || !mpiq_parser_more(parser, ']'))
        return complaint;
    complaint = mpiq_parser_signed(parser, 1, INT32_MAX, &run->stride);
    return complaint ? complaint : read_close(parser);
}

/* Adds a run to the members; there is room for *room of them. */
static const char *add_run(struct mpiq_parser *parser, struct mpiq_group *group, size_t *count, size_t *room,
                           const struct run *run)
{
    bool overflows = run->first.rank >= 0 && run->length > 0 &&
                     (run->length - 1) * run->stride > INT32_MAX - (int64_t)run->first.rank;
    if ((uint64_t)run->length > parser->budget || overflows)
        return "has too many members";
    parser->budget -= (uint64_t)run->length;
    if (!mpiq_array_reserve(&group->members, room, *count + (size_t)run->length + 1)) {
        parser->starved = true;
        return "needs more memory for its members than there is";
    }
    for (int64_t i = 0; i < run->length; i++)
        group->members[(*count)++] = name_at(run, i);
    return NULL;
}

static const char *read_members(struct mpiq_parser *parser, struct mpiq_group *group, size_t *count)
{
    size_t room = 0;
    struct run run = {.length = 0};
    if (group->members)
        return "lists its members twice";
    /* A group of nobody has members, too. */
    const char *complaint = add_run(parser, group, count, &room, &run);
    if (!complaint)
        complaint = mpiq_parser_open(parser, '[');
    while (!complaint && mpiq_parser_more(parser, ']')) {
        complaint = read_run(parser, &run);
        if (!complaint && !parser->fault)
            complaint = add_run(parser, group, count, &room, &run);
    }
    return complaint;
}

const char *mpiq_group_read(struct mpiq_parser *parser, void *member)
{
    struct mpiq_group *group = member;
    uint64_t count = UINT64_MAX;
    size_t members = 0;

    const char *complaint = mpiq_parser_open(parser, '{');
    while (!complaint && mpiq_parser_more(parser, '}')) {
        mpiq_parser_key(parser);
        if (parser->fault)
            break;
        if (strcmp(parser->string, "hash") == 0)
            complaint = mpiq_parser_hex(parser, &group->hash);
        else if (strcmp(parser->string, "count") == 0)
            complaint = mpiq_parser_unsigned(parser, MPIQ_GROUP_MAX, &count);
        else if (strcmp(parser->string, "members") == 0)
            complaint = read_members(parser, group, &members);
        else
            mpiq_parser_skip(parser);
    }
    if (complaint || parser->fault)
        return complaint;
    if (count == UINT64_MAX)
        return "has no count";
    if (group->members && members != count)
        return members < count ? "has fewer members than its count" : "has more members than its count";
    group->count = (uint32_t)count;
    return NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

size_t mpiq_name_numbers(void *member, struct mpiq_number *ret)
{
    struct mpiq_name *name = member;
    ret[0] = mpiq_number_at(&name->job, sizeof name->job, false);
    ret[1] = mpiq_number_at(&name->rank, sizeof name->rank, true);
    ret[1].low = -1;
    return 2;
}

size_t mpiq_group_numbers(void *member, struct mpiq_number *ret)
{
    struct mpiq_group *group = member;
    if (group->members)
        return 0;
    ret[0] = mpiq_number_at(&group->hash, sizeof group->hash, false);
    ret[1] = mpiq_number_at(&group->count, sizeof group->count, false);
    ret[1].high = MPIQ_GROUP_MAX;
    return 2;
}
