/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watchdog - looks at an MPI job every few seconds and, once it hangs, says why: libmpiq in a program of
 * one's own.
 *
 *   cc -o watchdog watchdog.c $(pkg-config --cflags --libs libmpiq)
 *   watchdog PID [SECONDS]        PID: mpirun's
 *
 * Ends with the exit status of mpiq: 1 as soon as the job is in a deadlock, 4 if nothing moves any more, 3
 * once none of its ranks is there to be read.
 */
#include <mpiq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    options.targets = (const char *const *)argv + 1;
    options.target_count = 1;
    struct mpiq_render_options render = MPIQ_RENDER_OPTIONS_DEFAULT;
    for (;;) {
        struct mpiq_job *job = NULL;
        char *text = NULL;
        struct mpiq_error *error = mpiq_job_look(&options, &job);
        if (error) {
            fprintf(stderr, "watchdog: %s\n", mpiq_error_message(error));
            return 3;
        }
        const char *verdict = mpiq_job_verdict(job);
        if (strcmp(verdict, "deadlock") == 0 || strcmp(verdict, "stalled") == 0) {
            if (!mpiq_job_render(job, MPIQ_VIEW_REPORT, &render, &text))
                fputs(text, stdout);
            return mpiq_job_exit_status(job);
        }
        mpiq_job_destroy(job);
        sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 10);
    }
}
