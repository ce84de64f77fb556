/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes rank states as lines, with those of the same shape folded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "state/rank_state_private.h"
#include "state/state_lines.h"

/* Ranks of one shape, in the order in which they came: first, next[first], … */
struct class
{
    size_t first;
    size_t last;
    size_t count;
};

struct folding {
    int look;
    const struct mpiq_rank_state *const *states;
    struct class *classes;
    size_t class_count;
    size_t *next; /* of each state, the next of its class */
    struct mpiq_hash_table shapes;
    mpiq_lines_callback *callback;
    void *context;
};

static bool sort(struct folding *folding, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_rank_state *state = folding->states[i];
        uint64_t hash = mpiq_schema_shape_hash(&mpiq_rank_state_schema, state);
        uint64_t cursor = hash;
        uint32_t at;
        while ((at = mpiq_hash_table_next(&folding->shapes, hash, &cursor)) != UINT32_MAX) {
            if (mpiq_schema_same_shape(&mpiq_rank_state_schema, folding->states[folding->classes[at].first],
                                       state))
                break;
        }
        if (at == UINT32_MAX) {
            at = (uint32_t)folding->class_count++;
            folding->classes[at] = (struct class){.first = i};
            if (!mpiq_hash_table_add(&folding->shapes, hash, at))
                return false;
        } else {
            folding->next[folding->classes[at].last] = i;
        }
        folding->classes[at].last = i;
        folding->classes[at].count++;
    }
    return true;
}

/* Its numbers; the state is not changed. */
static bool numbers_of(const struct mpiq_rank_state *state, struct mpiq_numbers *ret)
{
    ret->count = 0;
    return mpiq_schema_numbers(&mpiq_rank_state_schema, (void *)(uintptr_t)state, ret); /* NOLINT */
}

/* Which numbers differ within the class; false without memory. */
static bool find_columns(const struct folding *folding, const struct class *class,
                         const struct mpiq_numbers *first, struct mpiq_numbers *numbers, bool *differs)
{
    for (size_t i = 1, at = class->first; i < class->count; i++) {
        at = folding->next[at];
        if (!numbers_of(folding->states[at], numbers))
            return false;
        for (size_t k = 0; k < first->count; k++)
            differs[k] =
                differs[k] || mpiq_number_load(&first->items[k]) != mpiq_number_load(&numbers->items[k]);
        differs[0] = true; /* or there would be nothing to say of the others */
    }
    return true;
}

static struct mpiq_error *write_first(const struct folding *folding, const struct mpiq_rank_state *state,
                                      const bool *differs, size_t number_count, FILE *out)
{
    char *json _cleanup_free_ = NULL;
    struct mpiq_error *error = mpiq_rank_state_to_json(state, &json);
    if (error)
        return error;
    fprintf(out, "%d", folding->look);
    char before = '=';
    for (size_t i = 0; i < number_count; i++) {
        if (!differs[i])
            continue;
        fprintf(out, "%c%zu", before, i);
        before = ',';
    }
    fprintf(out, " %s\n", json);
    return NULL;
}

static void write_row(const struct mpiq_numbers *numbers, const bool *differs, uint64_t *values, FILE *out)
{
    char before = '+';
    for (size_t i = 0; i < numbers->count; i++) {
        if (!differs[i])
            continue;
        uint64_t value = mpiq_number_load(&numbers->items[i]);
        fprintf(out, "%c%" PRId64, before, (int64_t)(value - values[i]));
        values[i] = value;
        before = ' ';
    }
    fputc('\n', out);
}

static struct mpiq_error *write_class(const struct folding *folding, const struct class *class, FILE *out)
{
    struct mpiq_numbers first = {0}, numbers = {0};
    const struct mpiq_rank_state *state = folding->states[class->first];
    bool good = numbers_of(state, &first);
    bool *differs _cleanup_free_ = calloc(first.count + 1, sizeof *differs);
    uint64_t *values _cleanup_free_ = calloc(first.count + 1, sizeof *values);
    good = good && differs && values && find_columns(folding, class, &first, &numbers, differs);
    struct mpiq_error *error =
        good ? write_first(folding, state, differs, first.count, out) : mpiq_error_no_memory();
    for (size_t i = 0; i < first.count && !error; i++)
        values[i] = mpiq_number_load(&first.items[i]);
    for (size_t i = 1, at = class->first; i < class->count && !error; i++) {
        at = folding->next[at];
        if (numbers_of(folding->states[at], &numbers))
            write_row(&numbers, differs, values, out);
        else
            error = mpiq_error_no_memory();
    }
    mpiq_numbers_deinit(&first);
    mpiq_numbers_deinit(&numbers);
    return error;
}

static struct mpiq_error *send_class(const struct folding *folding, const struct class *class)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct mpiq_error *error = out ? write_class(folding, class, out) : mpiq_error_no_memory();
    if (out && fclose(out) != 0 && !error)
        error = mpiq_error_no_memory();
    if (!error)
        error = folding->callback(folding->context, text, length);
    free(text);
    return error;
}

struct mpiq_error *mpiq_state_lines_write(int look, const struct mpiq_rank_state *const *states, size_t count,
                                          mpiq_lines_callback *callback, void *context)
{
    struct folding folding = {.look = look, .states = states, .callback = callback, .context = context};
    folding.classes = calloc(count + 1, sizeof *folding.classes);
    folding.next = calloc(count + 1, sizeof *folding.next);
    struct mpiq_error *error =
        folding.classes && folding.next && sort(&folding, count) ? NULL : mpiq_error_no_memory();
    for (size_t i = 0; i < folding.class_count && !error; i++)
        error = send_class(&folding, &folding.classes[i]);
    free(folding.classes);
    free(folding.next);
    mpiq_hash_table_deinit(&folding.shapes);
    return error;
}
