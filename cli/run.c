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

#include "check.h"
#include "children.h"
#include "record.h"
#include "say.h"
#include "strict.h"

enum { GRACE_SECONDS = 5, DOUBTS_MOST = 5 };

/* All in seconds. */
static const double sample_period = 1;
static const double quiet_before_look = 5; /* nothing has moved, by the kernel's counters */
static const double between_proofs = 1;
static const double check_period = 0.05; /* how soon ranks that wait at their end are seen */
/* A look costs the job a little: this many times as long as one took, no other follows. */
static const double look_share = 200;

/* What happened so far. */
struct run {
    struct command_line *line;
    struct mpiq_watch *watch;
    double next_look;    /* of CLOCK_MONOTONIC */
    int doubts;          /* looks that did not call a job stalled in which nothing moves */
    double proven;       /* when a deadlock was proven first; 0: the last look proved none */
    char told[16];       /* the verdict of the report that was told last; "": none was */
    struct check *check; /* of --check; NULL */
    double next_check;   /* of CLOCK_MONOTONIC: ranks are held, and were looked at */
    int checks;          /* looks at held ranks of which one is missing still */
    bool checked;        /* some ranks were read at their end */
    bool gave_up;        /* some were let go unchecked */
    bool found;          /* and something was wrong */
    bool complained;     /* of a look that can never be: once is enough */
};

static pid_t launcher;

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

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- the command ----------------------------------------------------------------------------------------
 */

/* Waits for the launcher at most that long, with SIGCHLD blocked; true: it has ended, with *status. */
static bool ended_within(double seconds, int *status)
{
    sigset_t child;
    double end = now() + seconds;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
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
        double left = end - now();
        if (left <= 0)
            return false;
        struct timespec wait = {.tv_sec = (time_t)left,
                                .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        sigtimedwait(&child, NULL, &wait);
    }
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool start(struct command_line *line)
{
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    children_adopt();
    if (line->strict && !strict_offer()) {
        fprintf(stderr, "mpiq: out of memory\n");
        return false;
    }
    launcher = fork();
    if (launcher < 0) {
        fprintf(stderr, "mpiq: cannot start %s: %m\n", line->program[0]);
        return false;
    }
    if (launcher == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (!record_preload()) {
            fprintf(stderr, "mpiq: the job runs without the recorder\n");
            if (line->strict || line->check)
                _exit(EXIT_NOTHING_READ);
        }
        char **program = record_forward(line->program);
        if (!program)
            _exit(EXIT_NOTHING_READ);
        execvp(program[0], program);
        fprintf(stderr, "mpiq: cannot start %s: %m\n", line->program[0]);
        _exit(127);
    }
    return true;
}

/* ---- looks ----------------------------------------------------------------------------------------------
 */

/* The trace of --otf2, once. */
static void write_trace(const struct command_line *line, const struct mpiq_job *job)
{
    static bool written;
    if (!line->otf2 || written)
        return;
    written = true;
    struct mpiq_error *error = mpiq_job_otf2(job, line->otf2);
    if (error)
        say_error(error);
    else
        fprintf(stderr, "mpiq: the trace is in %s/traces.otf2\n", line->otf2);
}

/* In the file of --html, else on stderr: stdout is the job's. */
static void tell(const struct command_line *line, const struct mpiq_job *job)
{
    char *text = NULL;
    struct mpiq_error *error = mpiq_job_render(job, MPIQ_VIEW_REPORT, &line->render, &text);
    if (error) {
        say_error(error);
        return;
    }
    if (!line->html)
        fputs(text, stderr);
    else if (put_out(line->html, text) == EXIT_FINE)
        fprintf(stderr, "mpiq: %s: the report is in %s\n", mpiq_job_verdict(job), line->html);
    free(text);
    write_trace(line, job);
}

/* A look at the job.  NULL: it has not started yet, is between two programs, or has just ended; none of that
   is news.  A command line that can never work is. */
static struct mpiq_job *look(struct run *run)
{
    char target[16];
    const char *targets[] = {target};
    struct mpiq_job *job = NULL;
    snprintf(target, sizeof target, "%d", (int)launcher);
    run->line->options.targets = targets;
    run->line->options.target_count = 1;
    run->line->options.stall_after = run->line->hang_after;
    double begin = now();
    struct mpiq_error *error = mpiq_watch_look(run->watch, &run->line->options, &job);
    double rest = look_share * (now() - begin), most = run->line->hang_after / 4;
    run->next_look = now() + (rest < most ? rest : most);
    if (error && mpiq_error_is_usage(error) && !run->complained) {
        run->complained = true;
        say_error(error);
    } else {
        mpiq_error_destroy(error);
    }
    return job;
}

/* Why the job has to be ended, as --keep avoids it; "": it goes on for all that is known. */
static void judge(struct run *run, const struct mpiq_job *job, char *why, size_t size)
{
    why[0] = '\0';
    if (strcmp(mpiq_job_verdict(job), "deadlock") == 0) {
        if (run->proven > 0)
            snprintf(why, size, "two looks %.1f s apart proved the deadlock", now() - run->proven);
        else
            run->next_look = now() + between_proofs;
        run->proven = run->proven > 0 ? run->proven : now();
        return;
    }
    /* On a busy machine a look may miss the proof that an earlier one had, though nothing has moved since. */
    if (mpiq_watch_still(run->watch) < now() - run->proven)
        run->proven = 0;
    if (mpiq_watch_still(run->watch) < run->line->hang_after) {
        run->doubts = 0;
        return;
    }
    /* A single look may see a rank that polls between two calls, where it seems to compute. */
    if (strcmp(mpiq_job_verdict(job), "stalled") != 0 && run->doubts++ < DOUBTS_MOST)
        run->next_look = now() + between_proofs;
    else
        snprintf(why, size, "nothing has moved for %.0f s (--hang-after)", mpiq_watch_still(run->watch));
}

/* With --keep: a report each time the verdict changes. */
static void keep(struct run *run, const struct mpiq_job *job, bool hangs)
{
    const char *verdict = mpiq_job_verdict(job);
    bool again = run->told[0] != '\0';
    if (!hangs && !again)
        return;
    if (strcmp(run->told, verdict) != 0)
        tell(run->line, job);
    snprintf(run->told, sizeof run->told, "%s",
             hangs || run->line->html ? verdict : ""); /* a page is kept true */
}

/* ---- the check ------------------------------------------------------------------------------------------
 */

/* Of a look that found all living ranks held at their end: says what is wrong, and lets them go. */
static bool take_check(struct run *run, const struct mpiq_job *job)
{
    int found = run->check && job ? mpiq_job_checked(job) : -1;
    if (found < 0)
        return false;
    run->checked = true;
    run->found = run->found || found > 0;
    if (found > 0 || run->line->html)
        tell(run->line, job);
    check_release(run->check);
    run->checks = 0;
    return true;
}

/* Lets go the ranks that cannot be checked.  The report of the last look says which ranks are missing, or
   what could not be read. */
static void give_up_check(struct run *run, const struct mpiq_job *job)
{
    run->gave_up = true;
    fprintf(stderr, "mpiq: some ranks were not checked: not all of the job could be read at its end%s\n",
            job ? "; the job as it is now:" : "");
    if (job)
        tell(run->line, job);
    check_release(run->check);
    run->checks = 0;
}

/* Looks at ranks that wait at their end, once all of their world do.  Where others of the job do not come, as
   with a world that it has spawned, they are let go after some looks. */
static void check_if_ended(struct run *run)
{
    enum { MOST_CHECKS = 5 };
    const double between_checks = 2;
    if (!run->check || now() < run->next_check || !check_all(run->check))
        return;
    struct mpiq_job *job = look(run);
    if (!take_check(run, job)) {
        run->next_check = now() + between_checks;
        if (++run->checks >= MOST_CHECKS)
            give_up_check(run, job);
    }
    mpiq_job_destroy(job);
}

static int end_check(struct run *run, int status, bool hung)
{
    if (!run->check)
        return status;
    check_end(run->check);
    if (hung)
        return status;
    if (!run->checked && !run->gave_up)
        fprintf(stderr, "mpiq: the job was not checked: no rank reached MPI_Finalize under the recorder\n");
    return run->found ? EXIT_CHECK : status;
}

/* Looks at the job if nothing seems to move.  Returns the exit status once the job was ended, else -1. */
static int look_if_quiet(struct run *run)
{
    char why[80];
    double hang_after = run->line->hang_after;
    double quiet = mpiq_watch_sample(run->watch, 5 * sample_period);
    double wanted = run->proven > 0 ? between_proofs : quiet_before_look;
    wanted = strict_refused() ? 0 : hang_after < wanted ? hang_after : wanted;
    bool told = run->told[0] != '\0'; /* then the look is for what has changed */
    if (quiet < 0 || (quiet < wanted && !told) || now() < run->next_look)
        return -1;
    struct mpiq_job *job = look(run);
    if (!job || take_check(run, job)) {
        mpiq_job_destroy(job);
        return -1;
    }
    judge(run, job, why, sizeof why);
    int status = strcmp(mpiq_job_verdict(job), "deadlock") == 0 ? EXIT_DEADLOCK : EXIT_STALLED;
    bool hangs = why[0] != '\0';
    if (run->line->keep)
        keep(run, job, hangs);
    else if (hangs)
        tell(run->line, job);
    mpiq_job_destroy(job);
    if (!hangs || run->line->keep)
        return -1;
    fprintf(stderr, "mpiq: ending the job: %s; with --keep it would be left alive\n", why);
    children_end(GRACE_SECONDS);
    return status;
}

int run(struct command_line *line)
{
    struct run run = {.line = line};
    int status = 0, hung = -1;
    line->render.color = line->render.color && isatty(STDERR_FILENO);
    struct mpiq_error *error = mpiq_watch_create(&run.watch);
    if (error)
        return say_error(error);
    if (line->check && !(run.check = check_start())) {
        mpiq_watch_destroy(run.watch);
        return EXIT_NOTHING_READ;
    }
    if (!start(line)) {
        check_end(run.check);
        mpiq_watch_destroy(run.watch);
        return EXIT_NOTHING_READ;
    }
    pass_signals_on();
    double period = line->hang_after / 5 < sample_period ? line->hang_after / 5 : sample_period;
    double sampled = 0;
    while (hung < 0 && !ended_within(line->check || period < check_period ? check_period : period, &status)) {
        check_if_ended(&run);
        if (now() - sampled < period)
            continue;
        sampled = now();
        hung = look_if_quiet(&run);
    }
    mpiq_watch_destroy(run.watch);
    return end_check(&run, hung >= 0 ? hung : exit_status(status), hung >= 0);
}
