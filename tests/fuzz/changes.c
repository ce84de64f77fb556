/* SPDX-License-Identifier: BSD-3-Clause */
#include "changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "mqs/walk.h"
#include "rank/scene_target.h"

enum { CHANGE = 10, CHANGES_MOST = 64 };

#define MEMORY_LIMIT (64ul << 20)

static struct {
    size_t index;
    unsigned char old;
} made[CHANGES_MOST * 8]; /* in the order in which they were made */
static size_t made_count;

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint64_t change_extreme(unsigned kind, uint32_t value)
{
    switch (kind) {
    case 0:
        return UINT64_C(1) << value % 64;
    case 1:
        return (UINT64_C(1) << value % 64) - 1;
    case 2:
        return (uint64_t) - (int64_t)(value % 256);
    case 3:
        return value % 256;
    default:
        return value;
    }
}

static void make(const struct changes *changes, struct made_up *made_up, const uint8_t *change)
{
    uint64_t value = changes->value(made_up, change[4], number(change + 6));
    size_t width = (size_t)changes->widths[change[5] % 8];
    size_t index = number(change) % made_up_bytes(made_up) & ~(width - 1);

    for (size_t i = 0; i < width && index + i < made_up_bytes(made_up); i++) {
        unsigned char *byte = made_up_byte(made_up, index + i);

        made[made_count].index = index + i;
        made[made_count++].old = *byte;
        *byte = (unsigned char)(value >> 8 * i);
    }
}

void changes_make(const struct changes *changes, struct made_up *made_up, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + CHANGE <= size && at < CHANGES_MOST * CHANGE; at += CHANGE) {
        make(changes, made_up, data + at);
    }
}

void changes_undo(struct made_up *made_up)
{
    while (made_count > 0) {
        made_count--;
        *made_up_byte(made_up, made[made_count].index) = made[made_count].old;
    }
}

int changes_read_twice(struct made_up *made_up)
{
    int code;

    made_up_counts()->peak = made_up_counts()->allocated;
    limit_begin();
    code = made_up_open(made_up);
    if (code == 0) {
        code = walk_all(made_up);
        walk_all(made_up);
    }
    made_up_close(made_up);
    limit_end();
    if (made_up_counts()->blocks != 0 || made_up_counts()->peak > MEMORY_LIMIT) {
        abort();
    }
    return code;
}

static void fail(const char *what, const char *first, const char *second)
{
    fprintf(stderr, "the state of a rank %s:\n%s\n%s\n", what, first, second);
    abort();
}

/* What mpiq makes of a state that the helper sent, as JSON. */
static char *taken_over(const char *sent)
{
    struct mpiq_rank_state *state = NULL;
    char *json = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(sent, strlen(sent), &state);

    if (!error) {
        error = mpiq_rank_state_to_json(state, &json);
    }
    if (error) {
        fail("is refused", sent, error->message);
    }
    mpiq_rank_state_destroy(state);
    return json;
}

int changes_look(struct made_up *made_up)
{
    struct mpiq_rank_state *state = NULL;
    char *sent = NULL, *taken, *again;
    int code;

    limit_begin();
    struct mpiq_error *error = scene_look(made_up, &state);
    if (!error) {
        error = mpiq_rank_state_to_json(state, &sent);
    }
    if (error) {
        fail("is not read", "", error->message);
    }
    taken = taken_over(sent); /* here, and only here, what is not UTF-8 is replaced */
    again = taken_over(taken);
    if (strcmp(taken, again) != 0) {
        fail("changes on its way", taken, again);
    }
    limit_end();
    free(again);
    free(taken);
    free(sent);
    code = state->problem_count > 0 ? mqs_no_information : mqs_ok;
    mpiq_rank_state_destroy(state);
    return code;
}
