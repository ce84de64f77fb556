/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "base/hash_table.h"
#include "base/proc.h"
#include "session/missing.h"
#include "session/poll_measure.h"
#include "session/other_hosts.h"
#include "session/reader_pool.h"
#include "session/starved.h"

/* Between the looks: long enough for a rank that can go on to be given a processor. */
static const double default_pause = 0.25;

struct mpiq_session {
    struct mpiq_options options;
    struct mpiq_look_sources sources;
    struct mpiq_remote *remote;       /* of the look that is going on; NULL: none */
    struct mpiq_reader_pool *readers; /* NULL: none run */
    uint64_t *started;                /* by source: when its process was, as of struct mpiq_proc_stat */
    double cost;                      /* of the last look, in seconds of processor time */
    bool still;                       /* files alone were looked at */
    bool looked;                      /* there was a look */
    bool found;                       /* sources are those of the next look */
    bool all_here;                    /* mpiq_session_all_here */
};

/* ---- where the ranks are ------------------------------------------------------------------------------- */

static void forget(struct mpiq_session *session)
{
    mpiq_reader_pool_destroy(mpiq_steal(session->readers));
    mpiq_remote_destroy(mpiq_steal(session->remote));
    mpiq_sources_deinit(&session->sources);
    free(mpiq_steal(session->started));
    session->found = false;
}

/* 0: there is no such process, or it has ended. */
static uint64_t start_time(pid_t pid)
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = pid > 0 ? mpiq_proc_stat(pid, 0, &stat) : NULL;
    mpiq_error_destroy(error);
    return pid <= 0 || error || stat.state == 'Z' || stat.state == 'X' ? 0 : stat.start_time;
}

static struct mpiq_error *note_starts(struct mpiq_session *session)
{
    const struct mpiq_look_sources *sources = &session->sources;
    session->started = calloc(sources->count + 1, sizeof *session->started);
    if (!session->started)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < sources->count; i++)
        session->started[i] = sources->items[i].gone ? 0 : start_time(sources->items[i].pid);
    return NULL;
}

static struct mpiq_error *find(struct mpiq_session *session)
{
    struct mpiq_error *error =
        mpiq_find_job(&session->options, session->all_here, &session->sources, &session->remote);
    if (!error)
        error = note_starts(session);
    session->found = !error;
    return error;
}

static bool are_files(const struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (!sources->items[i].path)
            return false;
    }
    return true;
}

/* Whether ranks of it may come and go: all are processes of this machine. */
static bool is_living(const struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->items[i].pid == 0 && !sources->items[i].gone)
            return false;
    }
    return sources->count > 0 && sources->snapshot_state_count == 0;
}

static bool equal(const struct mpiq_look_source *a, const struct mpiq_look_source *b)
{
    return a->pid == b->pid && a->rank == b->rank && a->world == b->world && a->other == b->other;
}

/* Where all that are there now were there before, and those that are missing have ended, nothing needs to be
   found anew. */
static bool is_same(const struct mpiq_look_sources *before, const struct mpiq_look_sources *now)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct mpiq_look_source *other = mpiq_find_rank(now, &before->items[i]);
        if (other && !equal(other, &before->items[i]) && !(other->gone && before->items[i].gone))
            return false;
    }
    for (size_t i = 0; i < now->count; i++) {
        if (!now->items[i].gone && !mpiq_find_rank(before, &now->items[i]))
            return false;
    }
    return true;
}

/* Ranks that came later are read too, and those that went are known to have gone.  The job is found by any of
   its ranks: another one of this user's must not take its place. */
static struct mpiq_error *find_again(struct mpiq_session *session)
{
    struct mpiq_look_sources *sources = &session->sources, now = {0};
    pid_t pid = 0;
    for (size_t i = 0; i < sources->count; i++) {
        struct mpiq_look_source *source = &sources->items[i];
        source->gone =
            source->gone || session->started[i] == 0 || start_time(source->pid) != session->started[i];
        pid = pid || source->gone ? pid : source->pid;
    }
    if (pid == 0)
        return mpiq_error_create(MPIQ_ERROR_GONE, "the job has ended");
    struct mpiq_error *error = mpiq_sources_init_around(pid, &now);
    if (error) { /* that rank is just ending: those that are known are read */
        mpiq_error_destroy(error);
        return NULL;
    }
    if (is_same(sources, &now)) {
        mpiq_sources_deinit(&now);
        return NULL;
    }
    mpiq_debug("look", "the job has other ranks than at the last look");
    for (size_t i = 0; i < sources->count && !error; i++) {
        if (!mpiq_find_rank(&now, &sources->items[i]))
            error = mpiq_sources_add_known(&now, &sources->items[i]);
    }
    if (error) {
        mpiq_sources_deinit(&now);
        return error;
    }
    forget(session);
    session->sources = now;
    session->found = true;
    return note_starts(session);
}

/* ---- two looks ----------------------------------------------------------------------------------------- */

static bool anything_changes(const struct mpiq_session *session)
{
    const struct mpiq_look_sources *sources = &session->sources;
    if (session->remote)
        return true;
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->items[i].looks[0] && !sources->items[i].looks[0]->final)
            return true;
    }
    return false;
}

/* Of all ranks, those on other hosts included: their collectors look while ours are read. */
static struct mpiq_error *look_everywhere(struct mpiq_session *session, int look)
{
    struct mpiq_error *error = NULL;
    if (session->remote && look == 1)
        error = mpiq_remote_start(session->remote);
    else if (session->remote)
        mpiq_remote_go(session->remote);
    if (!error && (session->sources.count > 0 || !session->remote))
        error = mpiq_reader_pool_look(session->readers, &session->sources, look);
    if (!error && session->remote)
        error = mpiq_remote_wait(session->remote, look);
    return error;
}

/* All of the first look before any of the second: that is what the proof rests on. */
static struct mpiq_error *read_twice(struct mpiq_session *session)
{
    struct mpiq_error *error =
        session->readers ? NULL : mpiq_reader_pool_create(&session->options, &session->readers);
    if (!error)
        error = look_everywhere(session, 1);
    if (!error && anything_changes(session)) {
        struct mpiq_poll_measure between = {0};
        double pause = session->options.pause >= 0 ? session->options.pause : default_pause;
        error = mpiq_poll_measure_pass(&session->sources, pause, mpiq_poll_measure_matters(&session->sources),
                                       &between);
        if (!error)
            error = look_everywhere(session, 2);
        mpiq_poll_measure_note(&between, &session->sources);
        mpiq_poll_measure_deinit(&between);
    }
    mpiq_doubt_missing(&session->sources);
    return error || !session->remote ? error : mpiq_remote_finish(session->remote);
}

static const char *first_problem(const struct mpiq_rank_state *state)
{
    return state->problem_count > 0 ? state->problems[0].text : "its rank is not known";
}

static const char *call_of(const struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->thread_count; i++) {
        if (state->threads[i].mpi_call[0])
            return state->threads[i].mpi_call;
    }
    return NULL;
}

/* That one of them is a rank at least: of other processes there is nothing to say but why not. */
static struct mpiq_error *check_ranks(const struct mpiq_look_sources *sources)
{
    const struct mpiq_rank_state *first = NULL;
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_rank_state *state = sources->items[i].looks[0];
        if (state && state->name.rank >= 0)
            return NULL;
        first = first ? first : state;
    }
    if (!first || sources->snapshot_state_count > 0)
        return NULL;
    if (first->problem_count > 0 && first->problems[0].code == MPIQ_ERROR_PERMISSION)
        return mpiq_error_create(MPIQ_ERROR_PERMISSION, "no rank can be read: %s", first->problems[0].text);
    if (!first->executable[0])
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no rank can be read: %s", first_problem(first));
    const char *slash = strrchr(first->executable, '/');
    const char *program = slash ? slash + 1 : first->executable;
    const char *call = call_of(first);
    if (call)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "process %d (%s) is in %s, but its rank is not known: %s", (int)first->pid,
                                 program, call, first_problem(first));
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                             "process %d (%s) is not a rank of an MPI job, or not yet: %s", (int)first->pid,
                             program, first_problem(first));
}

/* A path that leads nowhere is a slip of the hand, and no rank could be read with it. */
struct mpiq_error *mpiq_check_dll(const struct mpiq_options *options)
{
    struct stat status;
    if (!options->dll || (stat(options->dll, &status) == 0 && S_ISREG(status.st_mode)))
        return NULL;
    return mpiq_error_create(MPIQ_ERROR_USAGE,
                             "there is no message-queue library '%s': --dll takes the path of one",
                             options->dll);
}

void mpiq_session_all_here(struct mpiq_session *session)
{
    session->all_here = true;
}

/* The ranks of the next look. */
static struct mpiq_error *find_ranks(struct mpiq_session *session)
{
    if (session->still)
        return mpiq_error_create(MPIQ_ERROR_GONE, "files do not change: there is nothing more to show");
    if (session->found)
        return is_living(&session->sources) ? find_again(session) : NULL;
    return find(session);
}

/* Where ranks were and nobody finds any, they have ended. */
static struct mpiq_error *missing_is_gone(const struct mpiq_session *session, struct mpiq_error *error)
{
    if (!error || error->code != MPIQ_ERROR_NOT_FOUND || !session->looked)
        return error;
    mpiq_error_destroy(error);
    return mpiq_error_create(MPIQ_ERROR_GONE, "the job has ended");
}

/* What a look has left behind, after a failure too: files are read when they are found, and collectors look
   once, but ranks that live stay those of the job that is looked at. */
static void end_look(struct mpiq_session *session, bool failed, bool once)
{
    bool living = session->looked && !once && is_living(&session->sources);
    if (!failed && !once)
        return;
    if (!living) {
        forget(session);
        return;
    }
    mpiq_reader_pool_destroy(mpiq_steal(session->readers));
    mpiq_sources_drop_looks(&session->sources);
}

struct mpiq_error *mpiq_session_read(struct mpiq_session *session, struct mpiq_job **ret)
{
    struct mpiq_job *job = calloc(1, sizeof *job);
    if (!job)
        return mpiq_error_no_memory();
    struct mpiq_error *error = find_ranks(session);
    if (!error)
        error = read_twice(session);
    if (!error && !session->remote)
        error = check_ranks(&session->sources);
    bool files = !session->remote && are_files(&session->sources);
    if (!error)
        error = mpiq_sources_hand_over(&session->sources, &job->sources);
    error = missing_is_gone(session, error);
    if (!error) {
        job->remote = mpiq_steal(session->remote);
        session->looked = true;
        session->still = files;
    }
    end_look(session, error != NULL, session->remote || job->remote || job->sources.snapshot_state_count > 0);
    if (error)
        mpiq_job_destroy(job);
    else
        *ret = job;
    return error;
}

/* ---- mpiq.h -------------------------------------------------------------------------------------------- */

struct mpiq_error *mpiq_session_create(const struct mpiq_options *options, struct mpiq_session **ret)
{
    struct mpiq_session *session = calloc(1, sizeof *session);
    if (!session)
        return mpiq_error_no_memory();
    session->options = mpiq_options_known(options);
    struct mpiq_error *error = mpiq_check_dll(&session->options);
    if (error)
        free(session);
    else
        *ret = session;
    return error;
}

void mpiq_session_destroy(struct mpiq_session *session)
{
    if (!session)
        return;
    forget(session);
    free(session);
}

struct mpiq_error *mpiq_session_look(struct mpiq_session *session, struct mpiq_job **ret)
{
    struct mpiq_diagnose_options diagnose = {.stall_after = session->options.stall_after};
    struct mpiq_job *job = NULL;
    uint64_t before = mpiq_share_of(getpid(), true).cpu_ns;
    struct mpiq_error *error = mpiq_session_read(session, &job);
    if (!error && session->options.progress)
        session->options.progress(session->options.argument, "finding out who waits for whom");
    if (!error)
        error = mpiq_job_decide(job, &diagnose);
    uint64_t after = mpiq_share_of(getpid(), true).cpu_ns;
    session->cost = after > before ? (double)(after - before) / 1e9 : 0;
    mpiq_debug("look", "the look used %.0f ms of a processor", session->cost * 1e3);
    if (error)
        mpiq_job_destroy(job);
    else
        *ret = job;
    return error;
}

double mpiq_session_cost(const struct mpiq_session *session)
{
    return session->cost;
}

struct mpiq_error *mpiq_job_look(const struct mpiq_options *options, struct mpiq_job **ret)
{
    struct mpiq_session *session = NULL;
    struct mpiq_error *error = mpiq_session_create(options, &session);
    if (!error)
        error = mpiq_session_look(session, ret);
    mpiq_session_destroy(session);
    return error;
}
