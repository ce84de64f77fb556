/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns lines back into rank states. */
#include "state/state_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "state/group_hash.h"
#include "state/rank_state_private.h"

enum { MOST_MEMBERS = 1 << 23 /* of all groups of a source together */ };

/* A line of a few bytes stands for a whole state: of these there may be so much in one source. */
static const uint64_t most_folded = UINT64_C(1) << 30;

/* What a source calls a group, and what it is. */
struct mpiq_group_name {
    uint64_t given;
    uint64_t computed;
    uint32_t count;
};

static struct mpiq_error *corrupt(const char *what)
{
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s", what);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static const struct mpiq_group_name *find_group_name(const struct mpiq_state_lines *lines, uint64_t given,
                                                     uint32_t count)
{
    uint64_t cursor = given;
    for (uint32_t i; (i = mpiq_hash_table_next(&lines->names, given, &cursor)) != UINT32_MAX;) {
        if (lines->group_names[i].given == given && lines->group_names[i].count == count)
            return &lines->group_names[i];
    }
    return NULL;
}

static bool add_group_name(struct mpiq_state_lines *lines, const struct mpiq_group_name *name)
{
    if (!mpiq_array_reserve(&lines->group_names, &lines->group_name_room, lines->group_name_count + 1) ||
        !mpiq_hash_table_add(&lines->names, name->given, lines->group_name_count))
        return false;
    lines->group_names[lines->group_name_count++] = *name;
    return true;
}

/* A source's word for a group holds within the source alone: beyond it, its members tell. */
static bool name_group(struct mpiq_state_lines *lines, struct mpiq_group *group)
{
    const struct mpiq_group_name *known = find_group_name(lines, group->hash, group->count);
    if (group->members) {
        if (group->count > MOST_MEMBERS - lines->members)
            return false;
        lines->members += group->count;
        struct mpiq_group_name name = {group->hash, mpiq_group_hash(group->members, group->count),
                                       group->count};
        group->hash = name.computed;
        return known || add_group_name(lines, &name);
    }
    if (known)
        group->hash = known->computed;
    return true;
}

static struct mpiq_error *name_groups(struct mpiq_state_lines *lines, struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->communicator_count; i++) {
        if (!name_group(lines, &state->communicators[i].local) ||
            !name_group(lines, &state->communicators[i].remote))
            return corrupt("its groups take too much memory");
    }
    return NULL;
}

static bool names_members(const struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->communicator_count; i++) {
        if (state->communicators[i].local.members || state->communicators[i].remote.members)
            return true;
    }
    return false;
}

/* ---- a class ------------------------------------------------------------------------------------------- */

static void end_class(struct mpiq_state_lines *lines)
{
    mpiq_rank_state_destroy(mpiq_steal(lines->state));
    free(mpiq_steal(lines->json));
    free(mpiq_steal(lines->columns));
    free(mpiq_steal(lines->places));
    free(mpiq_steal(lines->values));
    mpiq_checks_deinit(&lines->checks);
    lines->column_count = 0;
    lines->look = 0;
}

/* Where the numbers of the class are in its state, and what has to hold of them. */
static struct mpiq_error *find_places(struct mpiq_state_lines *lines)
{
    struct mpiq_numbers numbers = {0};
    mpiq_checks_deinit(&lines->checks);
    if (!mpiq_schema_numbers(&mpiq_rank_state_schema, lines->state, &numbers) ||
        !mpiq_schema_checks(&mpiq_rank_state_schema, lines->state, &lines->checks)) {
        mpiq_numbers_deinit(&numbers);
        return mpiq_error_no_memory();
    }
    /* They rise: the last is the greatest. */
    bool good = lines->column_count == 0 || lines->columns[lines->column_count - 1] < numbers.count;
    for (size_t i = 0; i < lines->column_count && good; i++)
        lines->places[i] = numbers.items[lines->columns[i]];
    mpiq_numbers_deinit(&numbers);
    return good ? NULL : corrupt("a class names a number that its ranks do not have");
}

/* A decimal number, and *at behind it; false: there is none, or it is too long. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
    enum { DIGITS_MOST = 20 };
    const char *start = *at;
    uint64_t value = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *at - start < DIGITS_MOST)
        value = value * 10 + (uint64_t)(*(*at)++ - '0');
    *ret = value;
    return *at > start;
}

/* "A,B,… " */
static struct mpiq_error *take_columns(struct mpiq_state_lines *lines, const char **at, const char *end)
{
    size_t capacity = 0;
    for (bool more = true; more;) {
        uint64_t column;
        bool good = take_number(at, end, &column) && column < UINT32_MAX && *at < end;
        size_t count = lines->column_count;
        if (!good || (count > 0 && column <= lines->columns[count - 1]) || (**at != ',' && **at != ' '))
            return corrupt("a class does not say which numbers differ");
        if (!mpiq_array_reserve(&lines->columns, &capacity, count + 1))
            return mpiq_error_no_memory();
        lines->columns[lines->column_count++] = (uint32_t)column;
        more = *(*at)++ == ',';
    }
    lines->places = calloc(lines->column_count, sizeof *lines->places);
    lines->values = calloc(lines->column_count, sizeof *lines->values);
    return lines->places && lines->values ? NULL : mpiq_error_no_memory();
}

static struct mpiq_error *deliver(struct mpiq_state_lines *lines, int look, struct mpiq_rank_state **state,
                                  mpiq_snapshot_callback *callback, void *context)
{
    struct mpiq_error *error = name_groups(lines, *state);
    if (!error && callback) {
        error = callback(context, look, state);
        lines->refused = error;
    }
    lines->states++;
    return error;
}

/* As deliver, of a class: what the callback leaves is used again. */
static struct mpiq_error *deliver_member(struct mpiq_state_lines *lines, mpiq_snapshot_callback *callback,
                                         void *context)
{
    struct mpiq_rank_state *state = lines->state;
    struct mpiq_error *error = deliver(lines, lines->look, &state, callback, context);
    if (state != lines->state) { /* kept, or another one by now */
        mpiq_rank_state_destroy(state);
        lines->state = NULL;
    }
    /* cppcheck-suppress returnDanglingLifetime ; an error points to no argument of the callback's */
    return error;
}

static struct mpiq_error *begin_class(struct mpiq_state_lines *lines, int look, const char *at,
                                      const char *end, mpiq_snapshot_callback *callback, void *context)
{
    struct mpiq_error *error = take_columns(lines, &at, end);
    if (error)
        return error;
    lines->look = look;
    lines->json_length = (size_t)(end - at);
    lines->json = strndup(at, lines->json_length);
    if (!lines->json)
        return mpiq_error_no_memory();
    error = mpiq_rank_state_from_json(at, lines->json_length, &lines->state);
    if (!error && names_members(lines->state))
        error = corrupt("a class names the members of its groups");
    if (!error)
        error = find_places(lines);
    for (size_t i = 0; i < lines->column_count && !error; i++)
        lines->values[i] = mpiq_number_load(&lines->places[i]);
    return error ? error : deliver_member(lines, callback, context);
}

static struct mpiq_error *renew(struct mpiq_state_lines *lines)
{
    struct mpiq_error *error = mpiq_rank_state_from_json(lines->json, lines->json_length, &lines->state);
    return error ? error : find_places(lines);
}

/* "D D …", one for each column. */
static struct mpiq_error *take_row(struct mpiq_state_lines *lines, const char *at, const char *end)
{
    for (size_t i = 0; i < lines->column_count; i++) {
        uint64_t number;
        bool negative = at < end && *at == '-';
        at += negative;
        if (!take_number(&at, end, &number))
            return corrupt("a rank of a class has too few numbers");
        lines->values[i] += negative ? -number : number;
        if (!mpiq_number_store(&lines->places[i], lines->values[i]))
            return corrupt("a rank of a class has an impossible number");
        if (i + 1 < lines->column_count && (at == end || *at++ != ' '))
            return corrupt("a rank of a class has too few numbers");
    }
    return at == end ? NULL : corrupt("a rank of a class has too many numbers");
}

static struct mpiq_error *take_member(struct mpiq_state_lines *lines, const char *at, const char *end,
                                      mpiq_snapshot_callback *callback, void *context)
{
    if (!lines->look)
        return corrupt("a line belongs to no class");
    lines->folded += lines->json_length;
    if (lines->folded > most_folded)
        return corrupt("it has too many ranks");
    struct mpiq_error *error = lines->state ? NULL : renew(lines);
    if (!error)
        error = take_row(lines, at, end);
    if (error)
        return error;
    struct mpiq_schema_parser parser = {.state = lines->state};
    if (!mpiq_checks_hold(&parser, &lines->checks))
        error = mpiq_schema_check(&parser, &mpiq_rank_state_schema, lines->state);
    return error ? error : deliver_member(lines, callback, context);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

struct mpiq_error *mpiq_state_lines_take(struct mpiq_state_lines *lines, const char *line, size_t length,
                                         mpiq_snapshot_callback *callback, void *context)
{
    const char *end = line + length;
    if (length > 0 && line[0] == '+')
        return take_member(lines, line + 1, end, callback, context);
    end_class(lines);
    if (length < 2 || (line[0] != '1' && line[0] != '2') || (line[1] != ' ' && line[1] != '='))
        return corrupt("a line does not begin with a look");
    int look = line[0] - '0';
    if (line[1] == '=')
        return begin_class(lines, look, line + 2, end, callback, context);
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(line + 2, length - 2, &state);
    if (!error)
        error = deliver(lines, look, &state, callback, context);
    mpiq_rank_state_destroy(state);
    /* cppcheck-suppress returnDanglingLifetime ; as above */
    return error;
}

void mpiq_state_lines_deinit(struct mpiq_state_lines *lines)
{
    end_class(lines);
    mpiq_hash_table_deinit(&lines->names);
    free(lines->group_names);
    *lines = (struct mpiq_state_lines){0};
}
