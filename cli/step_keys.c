/* SPDX-License-Identifier: BSD-3-Clause */
/* What a key does in the step mode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "screen.h"
#include "step_private.h"

static const char break_prompt[] = "breakpoint", delete_prompt[] = "delete breakpoint number";

void step_note_error(struct step *step, struct mpiq_error *error)
{
    if (error)
        snprintf(step->message, sizeof step->message, "%s", mpiq_error_message(error));
    mpiq_error_destroy(error);
}

void step_take_typed(struct step *step, int key)
{
    if (key == 'b')
        step_note_error(step, mpiq_stepper_break(step->stepper, step->typed));
    else if (!mpiq_stepper_unbreak(step->stepper, (unsigned)strtoul(step->typed, NULL, 10)))
        snprintf(step->message, sizeof step->message, "there is no breakpoint %s", step->typed);
}

static void take_character(struct step *step, int key)
{
    size_t length = strlen(step->typed);
    if (key == KEY_ESCAPE) {
        step->asking = NULL;
    } else if (key == KEY_ERASE) {
        step->typed[length - (length > 0)] = '\0';
    } else if (key == KEY_RETURN) {
        if (length > 0)
            step_take_typed(step, step->asking == break_prompt ? 'b' : 'd');
        step->asking = NULL;
    } else if (key >= ' ' && key <= '~' && length + 1 < TYPED_ROOM) {
        step->typed[length] = (char)key;
        step->typed[length + 1] = '\0';
    }
}

static void go(struct step *step, bool all, enum mpiq_step_how how)
{
    if (all) {
        if (mpiq_stepper_go_all(step->stepper, how) == 0)
            snprintf(step->message, sizeof step->message, "no rank is held before a call");
    } else if (!mpiq_stepper_go_one(step->stepper, how)) {
        snprintf(step->message, sizeof step->message, "this rank is not held before a call");
    }
    step->next = now() + looks_interval(&step->looks);
}

bool step_key(struct step *step, int key)
{
    if (key == KEY_ANOTHER_SIZE)
        return true;
    step->message[0] = '\0';
    if (step->asking) {
        take_character(step, key);
        return true;
    }
    if (step->helping || step->reporting) {
        bool down = key == KEY_LINE_DOWN || key == KEY_SCREEN_DOWN;
        if (down || key == KEY_LINE_UP || key == KEY_SCREEN_UP) {
            step->top = down ? step->top + 1 : step->top - (step->top > 0);
            return true;
        }
        step->helping = step->reporting = false;
        step->top = 0;
        if (key == KEY_ESCAPE || key == '?' || key == 'r')
            return true;
    }
    switch (key) {
    case 'q':
        return false;
    case 's':
    case KEY_RETURN:
        go(step, false, MPIQ_STEP_NEXT);
        break;
    case 'a':
    case ' ':
        go(step, true, MPIQ_STEP_NEXT);
        break;
    case 'o':
    case 'O':
        go(step, key == 'O', MPIQ_STEP_OTHER);
        break;
    case 'c':
    case 'C':
        go(step, key == 'c', MPIQ_STEP_RUN);
        break;
    case 'p':
        mpiq_stepper_pause(step->stepper);
        break;
    case 'b':
    case 'd':
        step->asking = key == 'b' ? break_prompt : delete_prompt;
        step->typed[0] = '\0';
        break;
    case 'l':
        step->looked = 0;
        step->next = now();
        break;
    case 'r':
        step->reporting = step->looks.count > 0;
        step->top = 0;
        if (!step->reporting)
            snprintf(step->message, sizeof step->message, "there was no look yet");
        break;
    case '?':
        step->helping = true;
        step->top = 0;
        break;
    case KEY_LINE_UP:
    case KEY_LINE_DOWN:
        mpiq_stepper_select(step->stepper, key == KEY_LINE_UP ? -1 : 1);
        break;
    case KEY_SCREEN_UP:
    case KEY_SCREEN_DOWN:
        mpiq_stepper_select(step->stepper, key == KEY_SCREEN_UP ? -10 : 10);
        break;
    default:
        break;
    }
    return true;
}
