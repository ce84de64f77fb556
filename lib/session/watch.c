/* SPDX-License-Identifier: BSD-3-Clause */
/* watch - whether the job that this process has started moves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/debug.h"
#include "base/hash_table.h"
#include "base/proc.h"
#include "session/job_motion.h"
#include "session/job.h"
#include "session/session.h"
#include "session/waiting.h"

/* A rank that polls now and then and spends a larger share of its time on the processor computes as well. */
static const double poll_share = 0.2;
/* Seconds after which a job without a rank on this machine is looked for on others. */
static const double elsewhere_after = 10;

/* What a rank had used when the last look at it had ended. */
struct mark {
    pid_t pid;
    uint64_t cpu_ns;
    uint64_t sleeps;
    bool polls;         /* it was seen polling since MPI made progress last */
    uint64_t beside_ns; /* of cpu_ns, what its threads outside MPI had used, by the last look */
    bool ended;
};

struct mpiq_watch {
    struct mpiq_job_motion motion;
    struct mpiq_waiting waiting;
    double created;    /* when, in seconds of CLOCK_MONOTONIC */
    double sampled;    /* when, in seconds of CLOCK_MONOTONIC */
    double started;    /* when the first rank was seen; 0: none so far */
    double moved;      /* when something moved last, as far as is known */
    double mpi_moved;  /* when MPI did */
    char mover[160];   /* what did so last outside MPI; "" */
    bool looked;       /* there was a look, and nothing of it is missing */
    bool partial;      /* the last one could not read some rank: nothing counts as still */
    double marked;     /* when the last look had ended */
    uint64_t progress; /* what the last look saw of MPI's progress */
    struct mark *marks;
    size_t mark_count;
    size_t mark_capacity;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct mpiq_error *mpiq_watch_create(struct mpiq_watch **ret)
{
    struct mpiq_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return mpiq_error_no_memory();
    mpiq_job_motion_init(&watch->motion, getpid());
    watch->created = watch->sampled = watch->moved = watch->mpi_moved = now();
    *ret = watch;
    return NULL;
}

void mpiq_watch_destroy(struct mpiq_watch *watch)
{
    if (!watch)
        return;
    mpiq_job_motion_deinit(&watch->motion);
    mpiq_waiting_deinit(&watch->waiting);
    free(watch->marks);
    free(watch);
}

static void note_mover(struct mpiq_watch *watch, pid_t pid, const char *what)
{
    char path[48], name[64] = "?";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    mpiq_error_destroy(mpiq_proc_read_line(path, name, sizeof name));
    name[strcspn(name, "\n")] = '\0';
    for (char *at = name; *at; at++)
        *at = *at < ' ' || *at > '~' ? '?' : *at;
    snprintf(watch->mover, sizeof watch->mover, "process %d (%s) %s", (int)pid, name, what);
}

double mpiq_watch_sample(struct mpiq_watch *watch, double longest)
{
    struct mpiq_job_motion_sample sample = mpiq_job_motion_sample(&watch->motion);
    double time = now(), gap = time - watch->sampled;
    if (gap > longest) { /* nobody watched */
        watch->moved += gap - longest;
        watch->looked = false;
    }
    watch->sampled = time;
    if (sample.moved || sample.debugged || sample.ranks == 0)
        watch->moved = time;
    if (sample.mover)
        note_mover(watch, sample.mover, sample.what);
    if (sample.ranks == 0)
        watch->started = 0;
    else if (watch->started == 0)
        watch->started = time;
    if (sample.ranks > 0)
        return time - watch->moved;
    /* Its ranks may be on other hosts, where nobody samples: looks alone can tell. */
    double waited = time - watch->created;
    return waited > elsewhere_after ? waited : -1;
}

double mpiq_watch_still(const struct mpiq_watch *watch)
{
    return watch->looked && !watch->partial && watch->started > 0 ? now() - watch->moved : 0;
}

double mpiq_watch_mpi_still(const struct mpiq_watch *watch)
{
    return watch->looked && !watch->partial && watch->started > 0 ? now() - watch->mpi_moved : 0;
}

const char *mpiq_watch_mover(const struct mpiq_watch *watch)
{
    return watch->mover;
}

struct mpiq_waiting_ranks mpiq_watch_waiting(struct mpiq_watch *watch, double seconds)
{
    return mpiq_waiting_sample(&watch->waiting, &watch->motion, seconds);
}

/* ---- MPI's progress ------------------------------------------------------------------------------------ */

static uint64_t add_string(uint64_t hash, const char *string)
{
    return mpiq_hash_bytes(hash, string, strlen(string));
}

static uint64_t add_communicator(uint64_t hash, const struct mpiq_communicator *comm)
{
    hash = mpiq_hash(hash, comm->handle);
    hash = mpiq_hash(hash, (uint64_t)comm->ordered);
    hash = mpiq_hash(hash, (uint64_t)comm->nonblocking);
    for (size_t i = 0; i < comm->count_count; i++)
        hash = mpiq_hash(hash, comm->counts[i].count);
    for (size_t i = 0; i < comm->channel_count; i++)
        hash = mpiq_hash(hash, (uint64_t)comm->channels[i].sent << 32 | comm->channels[i].expected);
    return mpiq_hash(hash, comm->outstanding_count);
}

static uint64_t add_thread(uint64_t hash, const struct mpiq_thread *thread)
{
    for (size_t i = 0; i < thread->wait_count; i++)
        hash = mpiq_hash(hash, thread->waits[i].episode);
    if (!thread->mpi_call[0] || mpiq_is_poll(thread->mpi_call))
        return hash;
    hash = add_string(hash, thread->mpi_call);
    bool has_caller = thread->user_frame >= 0 && (size_t)thread->user_frame < thread->frame_count;
    return mpiq_hash(hash, has_caller ? thread->frames[thread->user_frame].pc : 0);
}

static uint64_t add_rank(uint64_t hash, const struct mpiq_rank_state *state)
{
    hash = mpiq_hash(hash, (uint64_t)state->pid);
    hash = mpiq_hash(hash, state->phase);
    for (size_t i = 0; i < state->communicator_count; i++)
        hash = add_communicator(hash, &state->communicators[i]);
    for (size_t i = 0; i < state->thread_count; i++)
        hash = add_thread(hash, &state->threads[i]);
    if (state->last_mpi_call[0] && !mpiq_is_poll(state->last_mpi_call))
        hash = mpiq_hash(hash, (uint64_t)state->last_mpi_end_ns);
    return hash;
}

/* Whether this rank's state holds anything that changes with every message: else a rank that is always in MPI
   may be getting on for all that is known. */
static bool shows_progress(const struct mpiq_rank_state *state)
{
    if (state->recording == MPIQ_YES || state->source == MPIQ_SOURCE_RECORDER)
        return true;
    for (size_t i = 0; i < state->communicator_count; i++) {
        if (state->communicators[i].channel_count > 0)
            return true;
    }
    return false;
}

static const struct mpiq_rank_state *last_state(const struct mpiq_look_source *source)
{
    return source->looks[1] ? source->looks[1] : source->looks[0];
}

/* ---- what the kernel's counters say of those outside MPI -------------------------------------------------
 */

static const struct mark *find_mark(const struct mpiq_watch *watch, pid_t pid)
{
    for (size_t i = 0; i < watch->mark_count; i++) {
        if (watch->marks[i].pid == pid)
            return &watch->marks[i];
    }
    return NULL;
}

/* Whether it has used the processor, or has woken from a sleep, since the last look's end.  True if that is
   not known.  Of one that polls and sleeps in turns, neither is progress: it must have computed in earnest.
 */
static bool used(const struct mpiq_watch *watch, const struct mark *rank, bool also_sleeps)
{
    const struct mark *before = find_mark(watch, rank->pid);
    if (!before)
        return true;
    if (rank->polls) {
        double seconds = (double)(rank->cpu_ns - before->cpu_ns) / 1e9;
        return seconds > poll_share * (now() - watch->marked);
    }
    return before->cpu_ns != rank->cpu_ns || (also_sleeps && before->sleeps != rank->sleeps);
}

/* Whether a thread has worked outside MPI since the last look, beside one that is always in MPI: it may send
   what others wait for, or tell one that polls to go on.  To wake now and then is no work. */
static bool works_beside(const struct mpiq_watch *watch, const struct mark *rank,
                         const struct mpiq_rank_diagnosis *diagnosis)
{
    const struct mark *before = find_mark(watch, rank->pid);
    if (diagnosis->beside_runs)
        return true;
    if (!before || rank->beside_ns <= before->beside_ns)
        return false;
    double seconds = (double)(rank->beside_ns - before->beside_ns) / 1e9;
    return seconds > poll_share * (now() - watch->marked);
}

static void take_marks(struct mpiq_watch *watch, const struct mark *marks, size_t count)
{
    watch->mark_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct mark mark = marks[i];
        if (mpiq_job_motion_marks(mark.pid, &mark.cpu_ns, &mark.sleeps) &&
            mpiq_array_reserve(&watch->marks, &watch->mark_capacity, watch->mark_count + 1))
            watch->marks[watch->mark_count++] = mark;
    }
    watch->marked = now();
}

/* ---- a look ---------------------------------------------------------------------------------------------
 */

static const struct mpiq_rank_diagnosis *diagnosis_of(const struct mpiq_job *job, pid_t pid)
{
    for (uint32_t i = 0; i < job->state->rank_count; i++) {
        uint32_t process = job->state->ranks[i].process;
        if (job->state->ranks[i].pid == pid && process < job->diagnosis->rank_count)
            return &job->diagnosis->ranks[process];
    }
    return NULL;
}

/* How one rank moved by itself, whatever MPI did for it; NULL: it did not.  One that waits for another job
   counts as one that moves: a server may wait for its clients for days. */
static const char *rank_moved(const struct mpiq_watch *watch, const struct mpiq_job *job, struct mark *rank,
                              const struct mpiq_rank_state *state, bool progress)
{
    static const char works[] = "computes or wakes outside MPI";
    const struct mpiq_rank_diagnosis *diagnosis = diagnosis_of(job, rank->pid);
    const struct mark *before = find_mark(watch, rank->pid);
    rank->polls = (before && before->polls && !progress) || (state && mpiq_is_poll(state->last_mpi_call)) ||
                  (diagnosis && diagnosis->call && mpiq_is_poll(diagnosis->call));
    if (!state || !diagnosis)
        return used(watch, rank, true) ? works : NULL;
    rank->beside_ns = diagnosis->beside_ns;
    if (mpiq_is_for_job(diagnosis->call))
        return "waits for another job in MPI_Comm_accept or MPI_Comm_connect";
    switch (diagnosis->activity) {
    case MPIQ_ACTIVITY_BLOCKED:
    case MPIQ_ACTIVITY_POLLING:
        return works_beside(watch, rank, diagnosis) || (!shows_progress(state) && used(watch, rank, false))
                   ? works
                   : NULL;
    case MPIQ_ACTIVITY_STOPPED:
    case MPIQ_ACTIVITY_FROZEN:
    case MPIQ_ACTIVITY_GONE:
        return NULL;
    default: /* computing, asleep, unreadable */
        return used(watch, rank, true) ? works : NULL;
    }
}

static bool has_unread(const struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_look_source *source = &sources->items[i];
        if (source->gone && source->pid == 0) /* it has ended before MPI_Init, or was never there */
            continue;
        for (int look = 0; look < 2; look++) {
            if (source->looks[look] && mpiq_rank_state_unread(source->looks[look]))
                return true;
        }
    }
    return false;
}

/* All ranks of a job that has as many as its world says: a rank on another host may move unseen. */
static bool is_whole(const struct mpiq_job *job)
{
    for (uint32_t i = 0; i < job->state->world_count; i++) {
        if (job->state->worlds[i].present < job->state->worlds[i].size)
            return false;
    }
    return job->state->world_count > 0;
}

/* Whether a rank has ended since the marks were taken: then so may the others, and their states are old. */
static bool one_has_ended(const struct mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!marks[i].ended && mpiq_proc_has_ended(marks[i].pid))
            return true;
    }
    return false;
}

/* What each rank has used so far, before this look costs it anything: the caller frees it; NULL without
 * memory. */
static struct mark *marks_of(const struct mpiq_job_motion *motion, size_t *ret)
{
    struct mark *marks = calloc(motion->count + 1, sizeof *marks);
    size_t count = 0;
    for (size_t i = 0; marks && i < motion->count; i++) {
        struct mark *mark = &marks[count];
        mark->pid = motion->processes[i].pid;
        mark->ended = mpiq_proc_has_ended(mark->pid);
        count +=
            motion->processes[i].is_rank && mpiq_job_motion_marks(mark->pid, &mark->cpu_ns, &mark->sleeps);
    }
    *ret = count;
    return marks;
}

static const struct mpiq_rank_state *state_of(const struct mpiq_look_sources *sources, pid_t pid)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->items[i].pid == pid)
            return last_state(&sources->items[i]);
    }
    return NULL;
}

static uint64_t progress_of(const struct mpiq_look_sources *sources)
{
    uint64_t hash = MPIQ_HASH_START;
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_rank_state *state = last_state(&sources->items[i]);
        hash = state ? add_rank(hash, state) : hash;
    }
    return hash;
}

struct mpiq_error *mpiq_watch_look(struct mpiq_watch *watch, const struct mpiq_options *given,
                                   struct mpiq_job **ret)
{
    struct mpiq_options options = mpiq_options_known(given);
    struct mpiq_job *job = NULL;
    size_t mark_count = 0;
    bool progress = false;
    struct mark *marks = marks_of(&watch->motion, &mark_count);
    struct mpiq_session *session = NULL;
    struct mpiq_error *error = marks ? mpiq_session_create(&options, &session) : mpiq_error_no_memory();
    if (!error && watch->motion.all_here)
        mpiq_session_all_here(session);
    if (!error)
        error = mpiq_session_read(session, &job);
    mpiq_session_destroy(session);
    struct mpiq_diagnose_options diagnose = {.stall_after = options.stall_after};
    watch->partial = !error && has_unread(&job->sources);
    if (watch->partial) { /* it is compared with nothing: the next look is, with the one before */
        error = mpiq_job_decide(job, &diagnose);
        if (error)
            mpiq_job_destroy(job);
        else
            *ret = job;
        watch->sampled = now();
        free(marks);
        return error;
    }
    if (!error) {
        uint64_t hash = progress_of(&job->sources);
        /* Ranks on other hosts may move unseen between the looks: of those, a proof alone counts. */
        bool ended = one_has_ended(marks, mark_count);
        progress = !watch->looked || hash != watch->progress || job->remote || ended;
        if (progress) {
            mpiq_debug("watch", ended           ? "a rank has ended"
                                : watch->looked ? "MPI made progress"
                                                : "nothing to compare this look with");
            watch->moved = watch->mpi_moved = now(); /* the look itself may have taken long */
        }
        watch->progress = hash;
        diagnose.watched = watch->started > 0 ? now() - watch->started : 0;
        diagnose.still = job->remote ? 0 : now() - watch->moved;
        error = mpiq_job_decide(job, &diagnose);
    }
    if (!error) {
        bool moved = false;
        for (size_t i = 0; i < mark_count; i++) {
            const char *what =
                rank_moved(watch, job, &marks[i], state_of(&job->sources, marks[i].pid), progress);
            if (!what)
                continue;
            mpiq_debug("watch", "process %d %s", (int)marks[i].pid, what);
            note_mover(watch, marks[i].pid, what);
            watch->moved = now();
            moved = true;
        }
        if (moved && job->diagnosis->verdict == MPIQ_VERDICT_STALLED) { /* what a rank does told it */
            diagnose.still = 0;
            error = mpiq_job_decide_again(job, &diagnose);
        }
        watch->looked = is_whole(job) && !job->remote;
        take_marks(watch, marks, mark_count);
    }
    if (error) {
        watch->looked = false;
        mpiq_job_destroy(job);
    } else {
        *ret = job;
    }
    watch->sampled = now();
    free(marks);
    return error;
}
