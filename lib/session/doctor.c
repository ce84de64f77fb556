/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor - what this machine and a job allow mpiq to see, and what would help it see more: lines that begin
   with "ok", "note" or "bad", and after an arrow what to do. */
#include "mpiq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/proc.h"
#include "session/job.h"
#include "session/other_hosts.h"
#include "session/reader_pool.h"

static void tell(FILE *out, const char *how, const char *what, const char *remedy)
{
    fprintf(out, "%-5s ", how);
    mpiq_escape_write(MPIQ_ESCAPE_TEXT, what, out);
    fputc('\n', out);
    if (remedy)
        fprintf(out, "      -> %s\n", remedy);
}

/* "" if it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
    line[0] = '\0';
    mpiq_error_destroy(mpiq_proc_read_line(path, line, size));
    line[strcspn(line, "\n")] = '\0';
}

static void check_yama(FILE *out)
{
    char scope[16], text[160];
    read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    if (scope[0] == '\0' || scope[0] == '0') {
        tell(out, "ok", "the kernel lets a user look at processes of the same user", NULL);
        return;
    }
    snprintf(text, sizeof text, "ptrace_scope is %s: %s may look at other processes", scope,
             scope[0] == '3'   ? "nobody"
             : scope[0] == '2' ? "only root"
                               : "only a parent (or root)");
    if (geteuid() == 0 && scope[0] != '3')
        tell(out, "ok", "ptrace_scope is set, but does not bind root", NULL);
    else if (scope[0] == '3')
        tell(out, "bad", text,
             "it stays so until the next boot: write core files (gcore cannot, abort can) or change "
             "the boot's sysctl settings");
    else
        tell(out, "bad", text,
             "start the job with '--mca mpi_mqs_allow_ptrace 1' (patched Open MPI), run mpiq as root, or as "
             "root: "
             "echo 0 > /proc/sys/kernel/yama/ptrace_scope");
}

/* Tried on a child of ours: where a filter forbids the call it does so for everybody. */
static void check_reading(FILE *out)
{
    static volatile long mark;
    mark = 42;
    long copy = 0;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    struct iovec here = {&copy, sizeof copy}, there = {(void *)&mark, sizeof mark};
    bool read = child > 0 && process_vm_readv(child, &here, 1, &there, 1, 0) == (ssize_t)sizeof copy;
    int reason = errno;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (read && copy == 42) {
        tell(out, "ok", "memory of another process can be read without stopping it", NULL);
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "process_vm_readv does not work here: %s", strerror(reason));
    tell(out, "bad", text,
         "in a container: allow the call (docker run --cap-add SYS_PTRACE), or run mpiq outside of it");
}

static void check_core_files(FILE *out)
{
    char pattern[256], text[400];
    struct rlimit limit;
    read_line("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
    bool off = getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0;
    snprintf(text, sizeof text, "core files: limit %s, pattern '%s'",
             off ? "0 (none are written)" : "allows them", pattern);
    tell(out, off ? "note" : "ok", text,
         off ? "to keep a hung job for later: ulimit -c unlimited before mpirun, or gcore PID of each rank"
             : NULL);
}

/* Who reads debug files has no network: they may be anybody's. */
static void check_debuginfod(FILE *out)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (urls && *urls)
        tell(out, "note",
             "debuginfod is configured, but mpiq fetches nothing: it reads the debug files that are "
             "installed",
             "install the debug packages of the program and its MPI library");
}

static void tell_machine(FILE *out)
{
    fputs("This machine\n", out);
    check_yama(out);
    check_reading(out);
    check_core_files(out);
    check_debuginfod(out);
}

/* What the ranks have in common, counted. */
struct census {
    size_t ranks;
    size_t by_source[MPIQ_SOURCE_STACKS + 1];
    size_t off; /* patched, but recording is switched off */
    size_t queues;
    size_t user_frames;
    size_t lines; /* the user's source lines are known */
    size_t gone;
    const char *library; /* of one of them; "" not known */
    const char *pml;     /* whose queues cannot be read; NULL: none */
};

static void count_rank(struct census *census, const struct mpiq_rank_state *state)
{
    census->ranks++;
    census->gone += state->gone;
    if (state->source <= MPIQ_SOURCE_STACKS)
        census->by_source[state->source]++;
    census->off += state->source == MPIQ_SOURCE_PATCHED && state->recording == MPIQ_NO;
    census->queues += state->queues == MPIQ_YES;
    if (state->queues == MPIQ_NO && !census->pml)
        census->pml = state->pml;
    if (!*census->library)
        census->library = state->library;
    for (size_t i = 0; i < state->thread_count; i++) {
        const struct mpiq_thread *thread = &state->threads[i];
        if (thread->user_frame < 0 || (size_t)thread->user_frame >= thread->frame_count)
            continue;
        census->user_frames++;
        census->lines += thread->frames[thread->user_frame].line > 0;
    }
}

/* Debug information helps where the library is an Open MPI; of others our DLLs read nothing. */
static const char *remedy_without_layout(const char *library)
{
    if (strncmp(library, "Open MPI", 8) == 0)
        return "start the job with mpiq run, install the debug package of this Open MPI (Debian: that of "
               "libopenmpi3 or "
               "libopenmpi40, from debian-debug), or build it with the patch";
    return "start the job with mpiq run: it records the calls of any MPI library";
}

/* The best level that a rank has, and what the next one takes. */
static void tell_level(FILE *out, const struct census *census)
{
    static const char *const patch =
        "for call counts, waiting times and non-blocking collectives: build Open MPI "
        "with the patch (ompi-patch/), or start the job with mpiq run";
    const char *library = *census->library ? census->library : "the MPI library";
    char text[256];
    if (census->by_source[MPIQ_SOURCE_PATCHED] > 0) {
        snprintf(text, sizeof text, "%s has the mpiq patch: collectives, waits and layout are recorded",
                 library);
        tell(out, census->off ? "note" : "ok", text,
             census->off ? "recording is switched off (mpi_mqs_record): counts and waits are missing" : NULL);
    } else if (census->by_source[MPIQ_SOURCE_RECORDER] > 0) {
        snprintf(text, sizeof text, "%s is recorded by mpiq: calls, requests and waits are known", library);
        tell(out, "ok", text, NULL);
    } else if (census->by_source[MPIQ_SOURCE_DEBUG_INFO] > 0) {
        snprintf(text, sizeof text, "%s without the mpiq patch, read by its debug information", library);
        tell(out, "note", text, patch);
    } else if (census->by_source[MPIQ_SOURCE_LAYOUTS] > 0) {
        snprintf(text, sizeof text,
                 "%s without the patch and without debug information, read by the layout of its release",
                 library);
        tell(out, "note", text, patch);
    } else {
        static const char *const without =
            "the MPI library has no patch, no debug information and no layout that mpiq knows";
        snprintf(text, sizeof text, "only stacks%s can be read: %s",
                 census->by_source[MPIQ_SOURCE_CALLS] > 0 ? " and the arguments of calls" : "", without);
        tell(out, "bad", text, remedy_without_layout(library));
    }
}

static void tell_queues(FILE *out, const struct census *census)
{
    char text[256];
    if (census->pml) {
        snprintf(text, sizeof text, "messages travel by PML '%s', whose queues cannot be read",
                 *census->pml ? census->pml : "?");
        tell(out, "note", text, "where the network allows it: mpirun --mca pml ob1");
    } else if (census->queues > 0) {
        tell(out, "ok", "message queues can be read", NULL);
    }
}

/* What is wrong with one rank or more, each thing once. */
struct problems {
    FILE *out;
    const char *told[10];
    size_t count;
};

static void tell_problems(struct problems *problems, const struct mpiq_rank_state *state)
{
    for (size_t k = 0; k < state->problem_count; k++) {
        const struct mpiq_problem *problem = &state->problems[k];
        if (!problem->what || !problem->text) /* a snapshot may leave them out */
            continue;
        bool known = problems->count == sizeof problems->told / sizeof *problems->told;
        for (size_t m = 0; m < problems->count; m++)
            known |= strcmp(problems->told[m], problem->text) == 0;
        if (known)
            continue;
        problems->told[problems->count++] = problem->text;
        fprintf(problems->out, "%-5s ", "bad");
        if (state->name.rank >= 0)
            fprintf(problems->out, "rank %d: ", state->name.rank);
        else if (state->pid > 0)
            fprintf(problems->out, "process %d, which is not a rank: ", state->pid);
        mpiq_escape_write(MPIQ_ESCAPE_TEXT, problem->what, problems->out);
        fputs(": ", problems->out);
        mpiq_escape_write(MPIQ_ESCAPE_TEXT, problem->text, problems->out);
        fputc('\n', problems->out);
    }
}

/* The first look at each, of processes and of what snapshots keep. */
static const struct mpiq_rank_state *first_look(const struct mpiq_look_sources *sources, size_t index)
{
    if (index < sources->count)
        return sources->items[index].looks[0];
    const struct mpiq_snapshot_state *stored = &sources->snapshot_states[index - sources->count];
    return stored->look == 1 ? stored->state : NULL;
}

/* where: "here". */
static void tell_job(FILE *out, const struct mpiq_look_sources *sources, const char *where)
{
    struct census census = {.library = ""};
    struct problems problems = {.out = out};
    char text[256];
    size_t count = sources->count + sources->snapshot_state_count;
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_rank_state *state = first_look(sources, i);
        if (state && state->name.rank >= 0)
            count_rank(&census, state);
    }
    fputs("This job\n", out);
    snprintf(text, sizeof text, "%zu rank%s found %s%s", census.ranks, census.ranks == 1 ? "" : "s", where,
             census.gone ? ", some of them have ended" : "");
    tell(out, census.ranks > 0 ? "ok" : "bad", text, NULL);
    if (census.ranks > census.gone) {
        tell_level(out, &census);
        tell_queues(out, &census);
    }
    if (census.user_frames > 0 && census.lines == 0)
        tell(out, "note", "the program has no line numbers: the report names functions only",
             "compile it with -g");
    else if (census.lines > 0)
        tell(out, "ok", "source lines of the program are known", NULL);
    for (size_t i = 0; i < count; i++) {
        const struct mpiq_rank_state *state = first_look(sources, i);
        if (state)
            tell_problems(&problems, state);
    }
}

/* ---- a look at the job --------------------------------------------------------------------------------- */

static struct mpiq_error *keep(void *context, int look, struct mpiq_rank_state **state)
{
    return mpiq_sources_keep(context, look, state);
}

/* Its ranks on other hosts, as their collectors see them. */
static struct mpiq_error *look_elsewhere(struct mpiq_remote *remote, struct mpiq_look_sources *sources)
{
    struct mpiq_error *error = mpiq_remote_start(remote);
    if (!error)
        error = mpiq_remote_wait(remote, 1);
    if (error)
        return error;
    mpiq_remote_go(remote);
    error = mpiq_remote_wait(remote, 2);
    if (!error)
        error = mpiq_remote_finish(remote);
    return error ? error : mpiq_remote_each(remote, keep, sources);
}

/* Where the ranks are becomes words: "on 4 hosts". */
static struct mpiq_error *look_once(const struct mpiq_options *options, struct mpiq_look_sources *sources,
                                    char *where, size_t room)
{
    struct mpiq_remote *remote = NULL;
    struct mpiq_reader_pool *readers = NULL;
    struct mpiq_error *error = mpiq_find_job(options, false, sources, &remote);
    if (!error && remote) {
        size_t hosts = mpiq_remote_host_count(remote);
        snprintf(where, room, "on %zu host%s", hosts, hosts == 1 ? "" : "s");
        error = look_elsewhere(remote, sources);
    } else if (!error) {
        error = mpiq_reader_pool_create(options, &readers);
        if (!error)
            error = mpiq_reader_pool_look(readers, sources, 1);
    }
    mpiq_reader_pool_destroy(readers);
    mpiq_remote_destroy(remote);
    return error;
}

struct mpiq_error *mpiq_doctor(const struct mpiq_options *given, char **ret)
{
    struct mpiq_options options = mpiq_options_known(given);
    struct mpiq_look_sources sources = {0};
    char where[80] = "here";
    size_t size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return mpiq_error_no_memory();
    tell_machine(out);
    struct mpiq_error *error = mpiq_check_dll(&options);
    if (!error)
        error = look_once(&options, &sources, where, sizeof where);
    if (!error)
        tell_job(out, &sources, where);
    else
        fprintf(out, "This job\n%-5s %s\n", "note", error->message);
    mpiq_sources_deinit(&sources);
    if (fclose(out) != 0 && !error)
        error = mpiq_error_no_memory();
    /* That there is no job, or more than one, is no fault of a healthy machine; a wrong target is one of the
       caller's. */
    if (error && !options.dll && options.target_count == 0 && options.wire_count == 0 &&
        (error->code == MPIQ_ERROR_NOT_FOUND || error->code == MPIQ_ERROR_STARTING ||
         error->code == MPIQ_ERROR_USAGE)) {
        mpiq_error_destroy(error);
        error = NULL;
    }
    if (error)
        free(text);
    else
        *ret = text;
    return error;
}
