/* SPDX-License-Identifier: BSD-3-Clause */
/* The step mode's looks at the job, and what is shown of it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "step_private.h"

/* Looks tell lines, and what follows for the job as a whole. */
void step_begin_looks(struct step *step, pid_t launcher)
{
    static char target[16];
    static const char *targets[] = {target};
    snprintf(target, sizeof target, "%d", (int)launcher);
    step->line->options.targets = targets;
    step->line->options.target_count = 1;
    struct mpiq_error *error = looks_init(&step->looks, step->line);
    if (!error)
        step->looking = looker_start(&step->looker, &step->looks);
    step_note_error(step, error);
}

static void take_look(struct step *step)
{
    if (!looker_ended(&step->looker))
        return;
    if (step->looker.job) {
        mpiq_stepper_learn(step->stepper, step->looker.job);
        looks_keep(&step->looks, step->looker.job);
    }
    mpiq_error_destroy(step->looker.error); /* ranks that have not come yet, or have gone, are no news */
    step->looker.job = NULL;
    step->looker.error = NULL;
}

void step_end_looks(struct step *step)
{
    const struct timespec nap = {.tv_nsec = 10000000};
    while (step->looking && step->looker.busy && !looker_ended(&step->looker))
        nanosleep(&nap, NULL);
    if (step->looking)
        looker_stop(&step->looker);
    looks_deinit(&step->looks);
    step->looking = false;
}

/* What a look says of the job comes from two readings: both of ranks as they stand now. */
bool step_wants_look(const struct step *step)
{
    return step->looker.busy || step->looked < 2 || mpiq_stepper_motion(step->stepper) != step->motion ||
           mpiq_stepper_wants_look(step->stepper);
}

void step_take(struct step *step)
{
    mpiq_stepper_take(step->stepper);
    if (step->looking)
        take_look(step);
    if (!step->looking || step->looker.busy || !step_wants_look(step) || now() < step->next)
        return;
    uint64_t motion = mpiq_stepper_motion(step->stepper);
    step->looked = motion == step->motion ? step->looked + 1 : 1;
    step->motion = motion;
    step->next = now() + looks_interval(&step->looks);
    looker_go(&step->looker);
}

static const struct mpiq_job *last_job(const struct step *step)
{
    return step->looks.count > 0 ? step->looks.kept[step->looks.count - 1] : NULL;
}

char *step_render(struct step *step, int width)
{
    struct mpiq_render_options options = step->line->render;
    char *text = NULL;
    options.width = width;
    options.format = MPIQ_FORMAT_TEXT;
    if (step->reporting && last_job(step))
        step_note_error(step, mpiq_job_render(last_job(step), MPIQ_VIEW_REPORT, &options, &text));
    else
        step_note_error(step,
                        mpiq_stepper_text(step->stepper, last_job(step), &options, &step->selected, &text));
    return text;
}
