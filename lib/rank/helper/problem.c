/* SPDX-License-Identifier: BSD-3-Clause */
#include "reading.h"

#include <string.h>

const char *volatile mpiq_reading_phase = "starting";

void mpiq_copy_text(char *to, size_t to_size, const char *from, size_t from_size)
{
    size_t length = strnlen(from, from_size);
    if (length >= to_size)
        length = to_size - 1;
    memset(to, 0, to_size);
    memcpy(to, from, length);
}

const char *mpiq_reading_intern(struct mpiq_reading *reading, const char *text, size_t size)
{
    char copy[256];
    mpiq_copy_text(copy, sizeof copy, text, size);
    return copy[0] ? mpiq_rank_state_intern(reading->state, copy) : NULL;
}

static const char *text_of(struct mpiq_reading *reading, int code)
{
    switch (code) {
    case mqs_ok:
        return "it should have been possible";
    case mqs_no_information:
        return "no information";
    case mqs_end_of_list:
        return "the list is at its end";
    default: {
        const char *text = reading->dll->mqs_dll_error_string(code);
        return text ? text : "an error without a name";
    }
    }
}

/* Takes error.  The same thing is said once, and not without end. */
static void add_problem(struct mpiq_reading *reading, const char *what, struct mpiq_error *error)
{
    struct mpiq_rank_state *state = reading->state;
    for (size_t i = 0; i < state->problem_count; i++) {
        if (state->problems[i].text && strcmp(state->problems[i].text, error->message) == 0) {
            mpiq_error_destroy(error);
            return;
        }
    }
    if (state->problem_count >= MPIQ_PROBLEMS_MAX)
        mpiq_error_destroy(error);
    else
        mpiq_rank_state_problem(state, what, error);
}

void mpiq_reading_forget_trouble(struct mpiq_reading *reading)
{
    mpiq_error_destroy(reading->trouble);
    reading->trouble = NULL;
}

void mpiq_reading_problem(struct mpiq_reading *reading, const char *what, int code, const char *doing)
{
    if (code == mqs_ok)
        mpiq_reading_forget_trouble(reading);
    struct mpiq_error *trouble = reading->trouble;
    reading->trouble = NULL;
    const char *text = text_of(reading, code);
    if (trouble) {
        add_problem(reading, what,
                    mpiq_error_create(trouble->code, "%s: %s (%s)", doing, text, trouble->message));
        mpiq_error_destroy(trouble);
    } else if (code == mqs_ok) {
        add_problem(reading, what, mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s", doing));
    } else {
        bool wrong = code >= mqs_first_user_code && strcmp(what, "library") != 0;
        add_problem(
            reading, what,
            mpiq_error_create(wrong ? MPIQ_ERROR_CORRUPT : MPIQ_ERROR_UNSUPPORTED, "%s: %s", doing, text));
    }
}

void mpiq_reading_forget_image(struct mpiq_reading *reading)
{
    mpiq_reading_phase = "forgetting the program";
    if (reading->image.info)
        reading->dll->mqs_destroy_image_info(reading->image.info);
    mpiq_callbacks_forget_types();
    mpiq_reading_forget_trouble(reading);
    mpiq_reading_phase = "at rest";
}
