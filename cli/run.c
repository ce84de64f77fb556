/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "children.h"
#include "clock.h"
#include "names/variables.h"
#include "record.h"
#include "say.h"
#include "step.h"
#include "strict.h"

enum { GRACE_SECONDS = 5, DOUBTS_MOST = 5 };

/* All in seconds. */
static const double sample_period = 1;
static const double quiet_before_look = 5; /* nothing has moved, by the kernel's counters */
static const double between_proofs = 0.3;
static const double waiting_period = 0.2; /* how often the ranks' calls are counted */
static const double waits = 0.6;          /* from then on it is worth a look that ranks stay in a call */
static const double check_period = 0.05;  /* how soon ranks that wait at their end are seen */
/* A look costs the job a little: this many times as long as one took, no other follows; fewer where ranks
   stay in a call. */
static const double look_share = 200;
static const double waiting_share = 50;
static const double all_waiting_share = 5;

/* What happened so far. */
struct run {
    struct command_line *line;
    struct mpiq_watch *watch;
    struct mpiq_remains *remains; /* NULL: records end with their processes */
    double next_look;             /* of CLOCK_MONOTONIC */
    double last_look;             /* when one began, and how long it took */
    double cost;
    uint64_t looked_at;  /* who was in which call when there was a look because of that */
    bool told_silent;    /* that MPI makes no progress, but something moves */
    int doubts;          /* looks that did not call a job stalled in which nothing moves */
    double proven;       /* when a deadlock was proven first; 0: the last look proved none */
    char told[16];       /* the verdict of the report that was told last; "": none was */
    struct check *check; /* of --check; NULL */
    struct step *step;   /* of --step; NULL */
    double next_check;   /* of CLOCK_MONOTONIC: ranks are paused, and were looked at */
    int checks;          /* looks at paused ranks of which one is missing still */
    bool checked;        /* some ranks were read at their end */
    bool reported;       /* with something to say of them */
    bool gave_up;        /* some were let go unchecked */
    bool found;          /* and something was wrong */
    bool complained;     /* of a look that can never be: once is enough */
};

static pid_t launcher;
static int child_ends = -1;               /* readable after SIGCHLD */
static volatile sig_atomic_t interrupted; /* by SIGINT */

/* What a person does to mpiq run is meant for the job.  What the terminal sends (^C) the job has got itself,
   and twice is more than it should: mpirun then gives up on ending its ranks in good order. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    interrupted = interrupted || number == SIGINT;
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

/* ---- the command ----------------------------------------------------------------------------------------
 */

/* Until a child or a rank ends, a rank comes, or that time is over. */
static void wait_for_ends(struct mpiq_remains *remains, double seconds)
{
    struct pollfd wait[] = {{.fd = child_ends, .events = POLLIN},
                            {.fd = remains ? mpiq_remains_descriptor(remains) : -1, .events = POLLIN}};
    struct signalfd_siginfo ignored;
    if (poll(wait, sizeof wait / sizeof *wait, (int)(seconds * 1000) + 1) > 0 && wait[0].revents)
        (void)!read(child_ends, &ignored, sizeof ignored);
    if (remains)
        mpiq_remains_take(remains);
}

/* Waits for the launcher at most that long, with SIGCHLD blocked; true: it has ended, with *status. */
static bool ended_within(struct mpiq_remains *remains, double seconds, int *status)
{
    double end = now() + seconds;
    for (;;) {
        int ended;
        pid_t done;
        while ((done = waitpid(-1, &ended, WNOHANG)) > 0) {
            if (done != launcher) /* what a script has left behind */
                continue;
            *status = ended;
            return true;
        }
        if (done < 0 && errno == ECHILD) { /* somebody else has taken its status */
            *status = EXIT_OURS << 8;
            fprintf(stderr, "mpiq: how the command ended is not known\n");
            return true;
        }
        double left = end - now();
        if (left <= 0)
            return false;
        wait_for_ends(remains, left);
    }
}

static int exit_status(int status)
{
    if (interrupted && (WIFSIGNALED(status) || WEXITSTATUS(status) != 0))
        return EXIT_INTERRUPTED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Two descriptors for each rank. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool start(struct command_line *line, const struct step *step)
{
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* where our parent ignores it, the kernel would keep no status for us */
    sigprocmask(SIG_BLOCK, &child, &before);
    child_ends = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
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
            if (line->strict || line->check || line->step)
                _exit(EXIT_OURS);
        }
        if (step)
            step_take_streams(step);
        char **program = record_forward(line->program);
        if (!program)
            _exit(EXIT_OURS);
        execvp(program[0], program);
        int status = errno == ENOENT ? EXIT_NO_COMMAND : EXIT_CANNOT_RUN;
        fprintf(stderr, "mpiq: cannot start %s: %m\n", line->program[0]);
        _exit(status);
    }
    allow_descriptors();
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

static void write_report(const struct command_line *line, const struct mpiq_job *job, enum mpiq_format format,
                         const char *path)
{
    struct mpiq_render_options render = line->render;
    char *text = NULL;
    render.format = format;
    struct mpiq_error *error = path ? mpiq_job_render(job, MPIQ_VIEW_REPORT, &render, &text) : NULL;
    if (error)
        say_error(error);
    else if (path && put_out(path, text) == EXIT_FINE)
        fprintf(stderr, "mpiq: wrote %s\n", path);
    free(text);
}

/* On stderr, as stdout is the job's, and in the files that were asked for. */
static void tell(const struct command_line *line, const struct mpiq_job *job)
{
    struct mpiq_render_options render = line->render;
    char *text = NULL;
    render.format = MPIQ_FORMAT_TEXT;
    struct mpiq_error *error = mpiq_job_render(job, MPIQ_VIEW_REPORT, &render, &text);
    if (error)
        say_error(error);
    else
        fputs(text, stderr);
    free(text);
    write_report(line, job, MPIQ_FORMAT_HTML, line->html);
    write_report(line, job, MPIQ_FORMAT_JSON, line->json);
    write_trace(line, job);
}

/* What the batch system calls the job, else the command's pid. */
static void name_snapshot(char *ret, size_t size)
{
    const char *name = NULL;
    for (size_t i = 0; mpiq_batch_job_variables[i] && !name; i++) {
        name = getenv(mpiq_batch_job_variables[i]);
        name = name && name[0] && !strchr(name, '/') ? name : NULL;
    }
    if (name)
        snprintf(ret, size, "mpiq-%.100s.mpiq", name);
    else
        snprintf(ret, size, "mpiq-%d.mpiq", (int)launcher);
}

/* What was seen of a hung job, for later. */
static void leave_snapshot(const struct command_line *line, struct mpiq_job *job)
{
    char name[128];
    name_snapshot(name, sizeof name);
    const char *path = line->output ? line->output : name;
    struct mpiq_error *error = mpiq_job_snapshot(job, path);
    if (error)
        say_error(error);
    else
        fprintf(stderr, "mpiq: wrote the snapshot %s: mpiq report %s\n", path, path);
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
    run->last_look = now();
    struct mpiq_error *error = mpiq_watch_look(run->watch, &run->line->options, &job);
    run->cost = now() - run->last_look;
    double rest = look_share * run->cost, most = run->line->hang_after / 4;
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
static void keep(struct run *run, struct mpiq_job *job, bool hangs)
{
    const char *verdict = mpiq_job_verdict(job);
    bool again = run->told[0] != '\0';
    if (!hangs && !again)
        return;
    if (strcmp(run->told, verdict) != 0)
        tell(run->line, job);
    if (hangs && !again)
        leave_snapshot(run->line, job);
    bool files = run->line->html || run->line->json;
    snprintf(run->told, sizeof run->told, "%s", hangs || files ? verdict : ""); /* files are kept true */
}

/* ---- the end --------------------------------------------------------------------------------------------
 */

/* Before the command starts: memory in which records outlive their ranks.  Without it, they do not. */
static void keep_remains(struct run *run)
{
    mpiq_error_destroy(mpiq_remains_create(&run->remains));
    if (run->remains)
        setenv("MPIQ_REMAINS", mpiq_remains_address(run->remains), 1);
    else
        unsetenv("MPIQ_REMAINS");
}

/* Of a command that has ended by itself, and badly: how its ranks did.  False: there is nothing to say. */
static bool tell_end(struct run *run, int status)
{
    struct mpiq_job *job = NULL;
    if (status == 0 || interrupted || !run->remains)
        return false;
    run->line->options.targets = NULL;
    run->line->options.target_count = 0;
    mpiq_error_destroy(mpiq_remains_look(run->remains, &run->line->options, &job));
    if (!job)
        return false;
    struct command_line line = *run->line;
    if (run->reported) /* what the check has found stays in the files */
        line.html = line.json = NULL;
    tell(&line, job);
    mpiq_job_destroy(job);
    return true;
}

/* ---- the check ------------------------------------------------------------------------------------------
 */

static void say_clean(const struct mpiq_job *job)
{
    char *what = NULL;
    struct mpiq_error *error = mpiq_job_check_summary(job, &what);
    if (error)
        say_error(error);
    else
        fprintf(stderr,
                "mpiq: check: no errors; checked messages, requests, collectives, types and objects of %s\n",
                what);
    free(what);
}

/* Of a look that found all living ranks paused at their end: says what is wrong, and lets them go. */
static bool take_check(struct run *run, const struct mpiq_job *job)
{
    int found = run->check && job ? mpiq_job_checked(job) : -1;
    if (found < 0)
        return false;
    if (!check_any(run->check)) /* they have been let go since, and have not yet gone on */
        return true;
    if (!check_all(run->check)) /* there are others, which this look has not seen */
        return false;
    int errors = run->line->leaks ? found : found - mpiq_job_leaks(job);
    run->checked = true;
    run->found = run->found || errors > 0;
    run->reported = run->reported || found > 0;
    if (found > 0) {
        tell(run->line, job);
    } else {
        say_clean(job);
        write_report(run->line, job, MPIQ_FORMAT_HTML, run->line->html);
        write_report(run->line, job, MPIQ_FORMAT_JSON, run->line->json);
    }
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
    bool told = !hung && tell_end(run, status);
    if (!run->check)
        return status;
    check_end(run->check);
    if (hung || told)
        return status;
    if (!run->checked && !run->gave_up)
        fprintf(stderr, "mpiq: the job was not checked: no rank reached MPI_Finalize under the recorder\n");
    return run->found && status == 0 ? EXIT_CHECK : status;
}

/* Where MPI has made no progress for long, but something moves: said once, and the job lives. */
static void tell_silent(struct run *run, const struct mpiq_job *job)
{
    double still = mpiq_watch_mpi_still(run->watch);
    const char *mover = mpiq_watch_mover(run->watch);
    if (still < run->line->hang_after) {
        run->told_silent = false;
        return;
    }
    if (run->told_silent || run->told[0] || strcmp(mpiq_job_verdict(job), "deadlock") == 0)
        return;
    run->told_silent = true;
    tell(run->line, job);
    fprintf(stderr, "mpiq: MPI has made no progress for %.0f s, but %s: the job goes on\n", still,
            mover[0] ? mover : "something still moves");
}

/* Whether ranks stay in a call, and there was no look since they are there. */
static bool is_worth_a_look(struct run *run)
{
    struct mpiq_waiting_ranks ranks = mpiq_watch_waiting(run->watch, waits);
    double share = ranks.waiting == ranks.all ? all_waiting_share : waiting_share;
    if (ranks.waiting == 0 || ranks.mark == run->looked_at ||
        now() < run->last_look + (1 + share) * run->cost)
        return false;
    run->looked_at = ranks.mark;
    return true;
}

/* Looks at the job if nothing seems to move.  Returns whether the job was ended. */
static bool look_if_quiet(struct run *run, bool sample)
{
    char why[80];
    double hang_after = run->line->hang_after;
    bool told = run->told[0] != '\0'; /* then the look is for what has changed */
    bool due = (run->proven > 0 || strict_refused()) && now() >= run->next_look;
    if (!due)
        due = is_worth_a_look(run);
    if (sample) {
        double quiet = mpiq_watch_sample(run->watch, 5 * sample_period);
        bool silent = now() >= run->last_look + hang_after / 4; /* something may move that is not MPI */
        bool still = quiet >= quiet_before_look || told || silent;
        due = due || (quiet >= 0 && still && now() >= run->next_look);
    }
    if (!due)
        return false;
    struct mpiq_job *job = look(run);
    if (!job || take_check(run, job)) {
        mpiq_job_destroy(job);
        return false;
    }
    judge(run, job, why, sizeof why);
    bool hangs = why[0] != '\0';
    if (!hangs)
        tell_silent(run, job);
    if (run->line->keep)
        keep(run, job, hangs);
    else if (hangs)
        tell(run->line, job);
    if (hangs && !run->line->keep)
        leave_snapshot(run->line, job);
    mpiq_job_destroy(job);
    if (!hangs || run->line->keep)
        return false;
    fprintf(stderr, "mpiq: ending the job: %s; with --keep it would be left alive\n", why);
    children_end(GRACE_SECONDS);
    return true;
}

/* For step_through. */
struct ending {
    struct run *run;
    int *status;
};

static bool has_ended(void *argument)
{
    const struct ending *ending = argument;
    return ended_within(ending->run->remains, 0, ending->status);
}

/* The step mode, until the user lets the job go; true: it has ended meanwhile. */
static bool step_run(struct run *run, int *status)
{
    struct ending ending = {run, status};
    bool ended = step_through(run->step, launcher, has_ended, &ending);
    run->line->options.targets = NULL;
    run->line->options.target_count = 0;
    return ended;
}

int run(struct command_line *line)
{
    struct run run = {.line = line};
    int status = 0;
    bool hung = false;
    line->render.color = line->render.color && isatty(STDERR_FILENO);
    struct mpiq_error *error = mpiq_watch_create(&run.watch);
    if (error) {
        say_error(error);
        return EXIT_OURS;
    }
    keep_remains(&run);
    if (line->step)
        setenv("MPIQ_STEP", "1", 1);
    else
        unsetenv("MPIQ_STEP");
    if ((line->check && !(run.check = check_start())) ||
        (line->step && !(run.step = step_start(line, run.remains))) || !start(line, run.step)) {
        check_end(run.check);
        step_end(run.step);
        mpiq_remains_destroy(run.remains);
        mpiq_watch_destroy(run.watch);
        return EXIT_OURS;
    }
    pass_signals_on();
    double sampled = 0;
    bool ended = run.step && step_run(&run, &status);
    while (!hung && !ended &&
           !ended_within(run.remains, line->check ? check_period : waiting_period, &status)) {
        check_if_ended(&run);
        step_tend(run.step);
        bool sample = now() - sampled >= sample_period;
        sampled = sample ? now() : sampled;
        hung = look_if_quiet(&run, sample);
    }
    mpiq_watch_destroy(run.watch);
    step_end(run.step);
    status = end_check(&run, hung ? EXIT_HUNG : exit_status(status), hung);
    mpiq_remains_destroy(run.remains);
    return status;
}
