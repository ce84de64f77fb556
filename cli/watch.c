/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "looks.h"
#include "say.h"
#include "watch_screen.h"

static void wait_until(double time)
{
    double left = time - now();
    if (left <= 0)
        return;
    struct timespec rest = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
    nanosleep(&rest, NULL);
}

/* The look that was taken last, as a line. */
static int print_line(const struct looks *looks)
{
    struct mpiq_render_options render = looks->line->render;
    char *text = NULL;
    render.before = looks->count > 1 ? looks->kept[looks->count - 2] : NULL;
    struct mpiq_error *error = mpiq_job_render(looks->kept[looks->count - 1], MPIQ_VIEW_LINE, &render, &text);
    if (error)
        return say_error(error);
    int status = put_out(NULL, text);
    free(text);
    return status;
}

/* A look that fails is said, and the next one tried: a host or a rank may be there again. */
static int print_lines(struct looks *looks)
{
    int status = EXIT_FINE;
    while (status == EXIT_FINE && !looks_at_end(looks)) {
        double begin = now();
        struct mpiq_job *job = NULL;
        struct mpiq_error *error = looks_take(looks, &job);
        if (error && mpiq_error_is_gone(error)) {
            fprintf(stderr, "mpiq: %s\n", mpiq_error_message(error));
            mpiq_error_destroy(error);
            break;
        }
        if (error)
            status = say_error(error);
        else {
            looks_keep(looks, job);
            status = print_line(looks);
        }
        if (error && looks->taken > 0)
            status = EXIT_FINE;
        if (status == EXIT_FINE && looks->session)
            wait_until(begin + looks_interval(looks));
    }
    return status;
}

int watch(struct command_line *line)
{
    struct looks looks;
    struct mpiq_error *error = looks_init(&looks, line);
    if (error)
        return say_error(error);
    int status = line->plain ? print_lines(&looks) : watch_screen(&looks);
    looks_deinit(&looks);
    return status;
}
