/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "say.h"

enum { GRACE_SECONDS = 5 };

static pid_t launcher;
static bool complained; /* of a look that cannot be: once is enough */

/* What a person does to mpiq run is meant for the job.  What the terminal sends (^C) the job has got itself,
   and twice is more than it should: mpirun then gives up on ending its ranks in good order. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (launcher > 0 && info->si_code != SI_KERNEL)
        kill(launcher, number);
}

static void pass_signals_on(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

/* Waits for the launcher at most that long; true: it has ended, with *status. */
static bool ended_within(double seconds, int *status)
{
    struct timespec step = {.tv_nsec = 50 * 1000 * 1000};
    for (double waited = 0;; waited += 0.05) {
        int ended;
        pid_t done;
        while ((done = waitpid(-1, &ended, WNOHANG)) > 0) {
            if (done != launcher) /* what a script has left behind */
                continue;
            *status = ended;
            return true;
        }
        if (done < 0 && errno == ECHILD)
            return true;
        if (waited >= seconds)
            return false;
        nanosleep(&step, NULL);
    }
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* In the file of --html, else on stderr: stdout is the job's. */
static void tell(const struct command_line *line, const char *text)
{
    if (!line->html)
        fputs(text, stderr);
    else if (put_out(line->html, text) == EXIT_FINE)
        fprintf(stderr, "mpiq: the job hangs: %s says why\n", line->html);
}

/* Waiting times pass in every report: what a person reads again begins with another verdict. */
static bool same_verdict(const char *a, const char *b)
{
    size_t length = strcspn(a, "\n");
    return length == strcspn(b, "\n") && memcmp(a, b, length) == 0;
}

/* Looks at the job; true: it hangs, and the report is told if it is not the one told before. */
static bool report_if_stuck(struct command_line *line, char **told)
{
    char target[16];
    const char *targets[] = {target};
    struct mpiq_job *job = NULL;
    char *text = NULL;
    snprintf(target, sizeof target, "%d", (int)launcher);
    line->look.targets = targets;
    line->look.target_count = 1;
    struct mpiq_error *error = mpiq_job_look(&line->look, &job);
    bool stuck = !error && mpiq_job_exit_status(job) == EXIT_STUCK;
    if (stuck)
        error = mpiq_job_render(job, MPIQ_VIEW_REPORT, &line->render, &text);
    if (!error && !stuck) {
        free(*told);
        *told = NULL;
    }
    if (text && (!*told || !same_verdict(text, *told))) {
        tell(line, text);
        free(*told);
        *told = text;
        text = NULL;
    }
    free(text);
    /* Not started yet, between two programs, just ended: none of that is news.  A command line that cannot
       ever work is. */
    if (error && mpiq_error_is_usage(error) && !complained) {
        complained = true;
        say_error(error);
    } else {
        mpiq_error_destroy(error);
    }
    mpiq_job_destroy(job);
    return stuck;
}

int run(struct command_line *line)
{
    char *told = NULL;
    int status = 0;
    line->render.color = line->render.color && isatty(STDERR_FILENO);
    children_adopt();
    launcher = fork();
    if (launcher < 0) {
        fprintf(stderr, "mpiq: cannot start %s: %m\n", line->program[0]);
        return EXIT_NOTHING_READ;
    }
    if (launcher == 0) {
        execvp(line->program[0], line->program);
        fprintf(stderr, "mpiq: cannot start %s: %m\n", line->program[0]);
        _exit(127);
    }
    pass_signals_on();
    while (!ended_within(line->hang_after, &status)) {
        if (!report_if_stuck(line, &told) || line->keep)
            continue;
        children_end(GRACE_SECONDS);
        free(told);
        return EXIT_STUCK;
    }
    free(told);
    return exit_status(status);
}
