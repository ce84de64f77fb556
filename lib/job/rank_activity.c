/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/rank_activity.h"

#include <string.h>

#include "job/collective.h"
#include "names/errors.h"
#include "names/system_calls.h"

/* A sleeper spends some microseconds on being stopped for its stack, and on going back to sleep. */
enum { THREAD_FUNNELED = 1, THREAD_MULTIPLE = 3, COST_OF_A_LOOK_NS = 1000000 };

static bool any_same_wait(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        if (job->threads[rank->first_thread + i].same_wait == MPIQ_YES)
            return true;
    }
    return false;
}

bool mpiq_thread_sleeps(const struct mpiq_job_thread *thread)
{
    bool sleeps = !thread->stepped && (thread->state == 'S' || thread->state == 'D');
    /* Inside of MPI, too, in the user's own code (a reduction's operation) or in the kernel (a file). */
    bool waits = !thread->has_wait_record || thread->wait_count > 0;
    bool elsewhere = !thread->in_mpi || (!waits && (thread->calls_back || thread->state == 'D'));
    return sleeps && elsewhere && thread->cpu_between_ns < COST_OF_A_LOOK_NS && !thread->turned;
}

bool mpiq_thread_dozes(const struct mpiq_job_rank *rank, const struct mpiq_job_thread *thread)
{
    enum { SHARE = 10 }; /* of the time between the looks: one in so many */
    /* Seen as it wakes, it runs, and is still in the call that it slept in. */
    return !thread->in_mpi && !thread->stepped && rank->looks == 3 && rank->between_ns > 0 &&
           (thread->state == 'S' || thread->blocks_in) &&
           thread->cpu_between_ns < (uint64_t)rank->between_ns / SHARE;
}

bool mpiq_thread_waits_for_own(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread)
{
    if (!mpiq_thread_sleeps(thread))
        return false;
    /* The C library waits in a shared futex for a thread to end. */
    const char *call = mpiq_job_string(job, thread->blocks_in);
    bool joins = thread->sleep == MPIQ_SLEEP_OTHER && call &&
                 (strcmp(call, "pthread_join") == 0 || strcmp(call, "thrd_join") == 0);
    /* Of what such a wait can be for, a signal handler may post semaphores alone (POSIX, 2.4.3).  In a
       stripped C library the wait for one has no name. */
    bool posted = !call || strcmp(call, "sem_wait") == 0;
    bool own =
        thread->sleep == MPIQ_SLEEP_PRIVATE_FUTEX || (thread->sleep == MPIQ_SLEEP_SIGNAL_FUTEX && !posted);
    return own || joins;
}

static bool is_mutex_call(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread)
{
    const char *call = mpiq_job_string(job, thread->blocks_in);
    return call && (strcmp(call, "pthread_mutex_lock") == 0 || strcmp(call, "mtx_lock") == 0);
}

uint32_t mpiq_lock_owner(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread)
{
    if (thread->owner <= 0 || thread->in_mpi || (!is_mutex_call(job, thread) && !thread->interpreter))
        return MPIQ_NONE;
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        if (job->threads[rank->first_thread + i].tid == thread->owner)
            return rank->first_thread + i;
    }
    return MPIQ_NONE;
}

/* Whether it waits for the interpreter's lock, which one that is blocked in MPI has: it wakes all the time,
   to no end. */
static bool waits_for_interpreter(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                                  const struct mpiq_job_thread *thread)
{
    uint32_t owner = thread->interpreter ? mpiq_lock_owner(job, rank, thread) : MPIQ_NONE;
    return owner != MPIQ_NONE && job->threads[owner].same_wait == MPIQ_YES;
}

uint32_t mpiq_lock_holder(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                          const struct mpiq_job_thread *thread, bool *sure)
{
    bool mutex = thread->lock_holder <= 0 && !thread->in_mpi && is_mutex_call(job, thread);
    int32_t holder = mutex ? thread->partner : thread->lock_holder;
    *sure = thread->sleep == MPIQ_SLEEP_LOCK;
    if (holder <= 0 || holder == rank->pid || !mpiq_thread_sleeps(thread))
        return MPIQ_NONE;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *other = &job->ranks[i];
        if (other->pid == holder && other->host == rank->host)
            return other->process;
    }
    return MPIQ_NONE;
}

/* A wait for another thread, by its name: those with a timeout have other names. */
static bool waits_for_thread(const char *call)
{
    static const char *const calls[] = {
        "pthread_cond_wait", "pthread_join", "pthread_mutex_lock", "pthread_barrier_wait", "cnd_wait",
        "thrd_join",         "mtx_lock"};
    for (size_t i = 0; call && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i], call) == 0)
            return true;
    }
    return false;
}

bool mpiq_thread_taken_idle(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_thread *thread)
{
    return thread->sleep == MPIQ_SLEEP_UNKNOWN && !thread->in_mpi && mpiq_thread_sleeps(thread) &&
           waits_for_thread(mpiq_job_string(job, thread->blocks_in)) && any_same_wait(job, rank);
}

/* Whether the main thread is outside MPI only for short naps between two polls: it takes little of the
   processor, which a rank that computes there does not. */
static bool naps_between_polls(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                               const struct mpiq_job_thread *thread)
{
    return thread->tid == rank->pid && mpiq_is_poll(mpiq_job_string(job, rank->last_mpi_call)) &&
           (mpiq_thread_sleeps(thread) || mpiq_thread_dozes(rank, thread));
}

bool mpiq_thread_polls(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                       const struct mpiq_job_thread *thread)
{
    if (rank->looks != 3 || rank->changed & MPIQ_CHANGED_PROGRESS || thread->wait_count > 0 ||
        thread->stepped)
        return false;
    return thread->in_mpi ? mpiq_is_poll(mpiq_job_string(job, thread->call))
                          : naps_between_polls(job, rank, thread);
}

static bool any_polls(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    bool may_poll = rank->looks == 3 && !(rank->changed & MPIQ_CHANGED_PROGRESS);
    for (uint32_t i = 0; may_poll && i < rank->thread_count; i++) {
        if (mpiq_thread_polls(job, rank, &job->threads[rank->first_thread + i]))
            return true;
    }
    return false;
}

/* Whether another thread of the rank is in MPI all the time: blocked there, or going round testing. */
static bool any_in_mpi(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    return any_polls(job, rank) || any_same_wait(job, rank);
}

/* Whether another thread than the process's first one has called MPI: that is what MPI calls the main one. */
static bool another_calls(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    for (uint32_t i = 0; i < rank->past_count; i++) {
        if (job->past_calls[rank->first_past + i].tid != rank->pid)
            return true;
    }
    return false;
}

/* Whether the main thread, which alone may call MPI, sleeps for a lock. */
static bool main_waits_for_lock(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank)
{
    bool alone = rank->thread_level >= 0 && rank->thread_level <= THREAD_FUNNELED;
    for (uint32_t i = 0; alone && i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        bool sure;
        if (thread->tid == rank->pid)
            return mpiq_lock_holder(job, rank, thread, &sure) != MPIQ_NONE && sure &&
                   !another_calls(job, rank);
    }
    return false;
}

bool mpiq_thread_may_act(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread)
{
    if (thread->helper)
        return false;
    if (thread->stepped) /* it goes on as soon as somebody presses a key */
        return true;
    bool multiple = rank->thread_level < 0 || rank->thread_level >= THREAD_MULTIPLE;
    if (waits_for_interpreter(job, rank, thread))
        return false;
    if (thread->same_wait != MPIQ_YES && !thread->in_mpi && main_waits_for_lock(job, rank))
        return false;
    if (thread->same_wait == MPIQ_YES || mpiq_thread_polls(job, rank, thread) || !any_in_mpi(job, rank))
        return true;
    return multiple && !mpiq_thread_waits_for_own(job, thread) && !mpiq_thread_taken_idle(job, rank, thread);
}

bool mpiq_thread_may_help(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                          const struct mpiq_job_thread *thread)
{
    if (thread->in_mpi || thread->helper || thread->stepped || thread->same_wait == MPIQ_YES ||
        mpiq_thread_polls(job, rank, thread))
        return false;
    return mpiq_thread_may_act(job, rank, thread) || any_polls(job, rank);
}

static double waited(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                     const struct mpiq_job_thread *thread, const struct mpiq_thread_collective *in)
{
    int64_t begin = 0;
    for (uint32_t i = 0; i < thread->wait_count; i++) {
        int64_t stamped = job->waits[thread->first_wait + i].begin_ns;
        if (stamped > 0)
            begin = stamped;
    }
    /* A collective's begin is the wait's for whoever asks how long; it may have waited several times in it.
     */
    if (in->call != MPIQ_NONE && job->calls[in->call].begin_ns > 0)
        begin = job->calls[in->call].begin_ns;
    if (begin <= 0 || rank->taken_ns <= 0)
        return -1;
    return rank->taken_ns > begin ? (double)(rank->taken_ns - begin) / 1e9 : 0;
}

double mpiq_waited(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                   const struct mpiq_job_thread *thread)
{
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, rank, thread, &in);
    return waited(job, rank, thread, &in);
}

/* Which thread says what the rank does: one that mpiq run --step holds, else one that waits, else one in MPI,
 * else the main one. */
static int weight(const struct mpiq_job_rank *rank, const struct mpiq_job_thread *thread)
{
    if (thread->helper)
        return 0;
    return 1 + 16 * (thread->stepped != 0) + 8 * (thread->same_wait == MPIQ_YES) + 4 * thread->in_mpi +
           2 * (thread->tid == rank->pid);
}

static enum mpiq_rank_activity thread_activity(const struct mpiq_job_state *job,
                                               const struct mpiq_job_rank *rank,
                                               const struct mpiq_job_thread *thread)
{
    if (thread->stepped)
        return MPIQ_ACTIVITY_HELD;
    if (mpiq_is_waiting(thread) && (thread->same_wait == MPIQ_YES || rank->looks != 3))
        return MPIQ_ACTIVITY_BLOCKED;
    if (rank->end.kind != MPIQ_END_NONE &&
        thread->in_mpi) /* it was in that call, and nobody knows how often */
        return MPIQ_ACTIVITY_BLOCKED;
    if (!thread->in_mpi && mpiq_thread_polls(job, rank, thread))
        return MPIQ_ACTIVITY_POLLING;
    if (mpiq_thread_sleeps(thread) || mpiq_thread_dozes(rank, thread))
        return MPIQ_ACTIVITY_ASLEEP;
    if (thread->in_mpi)
        return MPIQ_ACTIVITY_POLLING;
    return thread->library_call ? MPIQ_ACTIVITY_CALLING : MPIQ_ACTIVITY_COMPUTING;
}

static void rank_activity(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                          struct mpiq_rank_diagnosis *ret)
{
    const struct mpiq_job_thread *best = NULL;
    int best_weight = 0;
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (rank->thread_count > 1 && mpiq_thread_may_help(job, rank, thread)) {
            ret->beside_ns += thread->cpu_ns;
            ret->beside_runs = ret->beside_runs || (thread->state == 'R' && !mpiq_thread_sleeps(thread));
        }
        int candidate = weight(rank, thread);
        if (candidate > best_weight) {
            best = thread;
            best_weight = candidate;
        }
    }
    if (best) {
        ret->thread = (uint32_t)(best - job->threads);
        ret->call = best->in_mpi ? mpiq_job_string(job, best->call) : NULL;
        ret->blocking = best->in_mpi ? best->blocking : MPIQ_BLOCKING_NOT;
        ret->site = best->site != MPIQ_NONE ? best->site : best->innermost;
        ret->activity = thread_activity(job, rank, best);
        ret->naps = ret->activity == MPIQ_ACTIVITY_ASLEEP && !mpiq_thread_sleeps(best);
        ret->before = mpiq_job_string(job, best->stepped);
        if (best->in_mpi || ret->activity != MPIQ_ACTIVITY_POLLING) /* a poll's last call is MPI's */
            ret->library_call = mpiq_job_string(job, best->library_call);
        if (!best->in_mpi && ret->activity == MPIQ_ACTIVITY_POLLING) {
            ret->call = mpiq_job_string(job, rank->last_mpi_call);
            ret->blocking = (uint8_t)mpiq_blocking_call(ret->call);
        }
    } else if (rank->thread_count == 0) {
        ret->activity = rank->process_state == 'R' ? MPIQ_ACTIVITY_COMPUTING : MPIQ_ACTIVITY_UNREADABLE;
    }
    char state = rank->process_state;
    if (rank->unread && ret->activity != MPIQ_ACTIVITY_BLOCKED)
        ret->activity = MPIQ_ACTIVITY_UNREADABLE;
    if (rank->gone || state == 'Z' || state == 'X')
        ret->activity = MPIQ_ACTIVITY_GONE;
    if (ret->activity == MPIQ_ACTIVITY_GONE && rank->end.kind == MPIQ_END_SIGNAL)
        ret->signal = mpiq_signal_name(rank->end.code);
    else if (ret->activity != MPIQ_ACTIVITY_GONE && (state == 'T' || state == 't' || rank->frozen))
        ret->activity = rank->frozen ? MPIQ_ACTIVITY_FROZEN : MPIQ_ACTIVITY_STOPPED;
    if (!best || !best->in_mpi)
        return;
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, rank, best, &in);
    if (ret->activity == MPIQ_ACTIVITY_BLOCKED || mpiq_is_stopped(ret->activity))
        ret->since = waited(job, rank, best, &in);
    ret->number = in.number;
    ret->comm = in.comm;
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, best);
    if (ret->comm == MPIQ_NONE && wait) {
        uint32_t comm = wait->comm;
        if (comm == MPIQ_NONE && wait->operation_count > 0)
            comm = job->operations[wait->first_operation].comm;
        ret->comm = comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[comm].user;
    }
}

/* What kind of call a rank is in. */
static void describe_call(const struct mpiq_job_state *job, struct mpiq_rank_diagnosis *ret)
{
    enum mpiq_system_call in =
        ret->thread == MPIQ_NONE ? MPIQ_CALL_NONE : job->threads[ret->thread].system_call;
    ret->collective = ret->blocking == MPIQ_BLOCKING_COLLECTIVE || ret->blocking == MPIQ_BLOCKING_FINALIZE ||
                      ret->blocking == MPIQ_BLOCKING_INIT;
    bool mutex = ret->thread != MPIQ_NONE && is_mutex_call(job, &job->threads[ret->thread]);
    ret->asleep_for_mutex = in == MPIQ_CALL_FUTEX && mutex;
    ret->asleep_on_file = in != MPIQ_CALL_NONE && (in != MPIQ_CALL_FUTEX || mutex);
    ret->asleep_for_child = in == MPIQ_CALL_WAIT4 || in == MPIQ_CALL_WAITID;
    ret->asleep_to_write = in == MPIQ_CALL_WRITE;
    ret->asleep_for_lock = in == MPIQ_CALL_FCNTL || in == MPIQ_CALL_FLOCK;
}

/* Since when a rank is outside MPI. */
static void set_last_call(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                          struct mpiq_rank_diagnosis *ret)
{
    const char *call = mpiq_job_string(job, rank->last_mpi_call);
    bool outside = !ret->call && ret->thread != MPIQ_NONE && ret->activity != MPIQ_ACTIVITY_GONE;
    if (!outside || !call || rank->last_mpi_end_ns <= 0 || rank->taken_ns <= rank->last_mpi_end_ns)
        return;
    ret->last = (struct mpiq_last_call){.known = true,
                                        .call = call,
                                        .collective = rank->last_mpi_collective,
                                        .ago = (double)(rank->taken_ns - rank->last_mpi_end_ns) / 1e9};
}

void mpiq_rank_activities(const struct mpiq_job_state *job, struct mpiq_diagnosis *diagnosis)
{
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank)
            continue;
        rank_activity(job, rank, &diagnosis->ranks[process]);
        describe_call(job, &diagnosis->ranks[process]);
        set_last_call(job, rank, &diagnosis->ranks[process]);
    }
}
