/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict: the conclusion from everything that was seen, and the reason for it. */
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "job/find.h"
#include "names/system_calls.h"

/* Processor time of children between the looks from which on they work. */
enum { CHILDREN_WORK_NS = 1000000 };

/* Seconds, more than any wait takes. */
#define LONG 1e18

/* What the verdict is made of. */
struct tally {
    uint64_t read;
    uint64_t waiting;   /* threads blocked in both looks */
    uint64_t blocked;   /* ranks */
    uint64_t inside;    /* ranks in a call that waits for others, of which nothing else is known */
    uint64_t finished;  /* ranks gone or finalized */
    uint64_t computing; /* threads outside MPI that run */
    uint64_t polling;
    uint64_t asleep; /* ranks, outside MPI */
    uint64_t halted; /* ranks stopped by a signal, or frozen */
    uint64_t frozen;
    struct mpiq_rank_set traced;  /* ranks that a debugger holds */
    struct mpiq_rank_set stepped; /* ranks that mpiq run --step holds */
    uint64_t unreadable;          /* of those read */
    uint64_t working;             /* ranks whose children use the processor, or that read or write files */
    uint64_t known;               /* those that may go on by what is known */
    uint64_t stacks;              /* living ranks of which stacks are all there is */
    uint64_t stacks_in_mpi;
    uint64_t cores;    /* living ranks when their core file was written */
    uint64_t calls;    /* of those, with what their calls were given */
    uint64_t blind;    /* living ranks whose messages cannot be read */
    uint64_t for_jobs; /* ranks that wait for another job to connect, or to accept */
    double still;      /* seconds since the newest sign of progress that is known of; 0: not known */
    bool progress;     /* MPI's state changed between the looks */
    bool writes;       /* some rank changes a window */
    bool behind;       /* some rank is blocked in a call that is not one-sided */
    bool guessed;      /* that some of these repeat their calls is not known from their last calls */
    struct mpiq_rank_set repeats; /* ranks that make the same one-sided calls again and again */
    bool lost;                    /* a host whose ranks are not known could not be read */
    struct mpiq_rank_set unread;
    mpiq_string_id why; /* the first of those could not be read */
    bool stopped;       /* all waiting ones wait in the end for stopped ranks */
};

/* Whether a sleep may end by itself, from the kernel's record of the system call; true if not known.  Only a
   sleep that cannot end by itself says anything about the time before the looks: a thread that sleeps
   briefly again and again is asleep in most looks. */
static bool may_be_nap(const struct mpiq_job_thread *thread)
{
    if (thread->sleep == MPIQ_SLEEP_PRIVATE_FUTEX || thread->sleep == MPIQ_SLEEP_SIGNAL_FUTEX)
        return false;
    if (thread->sleep != MPIQ_SLEEP_OTHER)
        return true;
    switch ((enum mpiq_system_call)thread->system_call) {
    case MPIQ_CALL_WRITE: /* there is room again once the other end reads */
        return thread->partner_state != 'T' && thread->partner_state != 't';
    case MPIQ_CALL_READ:
    case MPIQ_CALL_PAUSE:
    case MPIQ_CALL_WAIT4:
    case MPIQ_CALL_WAITID:
    case MPIQ_CALL_FLOCK:
    case MPIQ_CALL_FCNTL:
    case MPIQ_CALL_OPEN:
    case MPIQ_CALL_OPENAT:
    case MPIQ_CALL_CONNECT:
    case MPIQ_CALL_ACCEPT:
    case MPIQ_CALL_POLL:
    case MPIQ_CALL_FUTEX:
        return false;
    default:
        return true;
    }
}

/* For how many seconds a thread has been in its wait; 0: not known.  The call around it may have begun long
   before: a collective goes from wait to wait. */
static double wait_lasts(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_rank_diagnosis *diagnosed)
{
    const struct mpiq_job_wait *wait =
        diagnosed->thread == MPIQ_NONE ? NULL : mpiq_innermost_wait(job, &job->threads[diagnosed->thread]);
    if (!wait)
        return diagnosed->since;
    return wait->begin_ns > 0 && rank->taken_ns > wait->begin_ns
               ? (double)(rank->taken_ns - wait->begin_ns) / 1e9
               : 0;
}

/* For how many seconds nothing is known to have happened in a living rank, by the library's own times; 0: not
   known. */
static double rank_still(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_rank_diagnosis *diagnosed)
{
    switch (diagnosed->activity) {
    case MPIQ_ACTIVITY_STOPPED:
    case MPIQ_ACTIVITY_FROZEN:
        return LONG;
    case MPIQ_ACTIVITY_BLOCKED:
        return wait_lasts(job, rank, diagnosed);
    case MPIQ_ACTIVITY_ASLEEP:
        if (rank->last_mpi_end_ns > 0 && rank->taken_ns > rank->last_mpi_end_ns)
            return (double)(rank->taken_ns - rank->last_mpi_end_ns) / 1e9;
        return LONG; /* its waiters say how long */
    default:
        return 0;
    }
}

/* What the threads do that do not wait in MPI and may yet act. */
static void add_threads(struct tally *tally, const struct mpiq_analysis *analysis,
                        const struct mpiq_job_rank *rank)
{
    const struct mpiq_job_state *job = analysis->job;
    for (uint32_t i = 0; i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (thread->same_wait == MPIQ_YES || thread->stepped)
            continue;
        bool acts = mpiq_thread_may_act(job, rank, thread);
        if (!acts && !mpiq_thread_may_help(job, rank, thread))
            continue;
        if (!thread->in_mpi && mpiq_thread_polls(job, rank, thread))
            continue;
        bool sleeps = mpiq_thread_sleeps(thread);
        if (thread->interpreter) /* whoever has the lock may act; this one only wakes to ask for it */
            tally->still = 0;
        else if (!sleeps && !mpiq_thread_dozes(rank, thread))
            tally->computing += !thread->in_mpi;
        else if (acts && (!sleeps || may_be_nap(thread)))
            tally->still = 0;
    }
}

static void add_rank(struct tally *tally, struct mpiq_analysis *analysis, const struct mpiq_job_rank *rank)
{
    uint32_t process = rank->process;
    const struct mpiq_rank_diagnosis *diagnosed = &analysis->diagnosis->ranks[process];
    if (rank->unread && diagnosed->activity != MPIQ_ACTIVITY_GONE) {
        tally->why = tally->unread.size == 0 ? rank->unread_because : tally->why;
        mpiq_analysis_add(analysis, &tally->unread, process);
    }
    tally->read++;
    bool repeats = rank->changed & MPIQ_CHANGED_REPEATS;
    tally->progress = tally->progress || (rank->changed & MPIQ_CHANGED_PROGRESS && !repeats);
    if (diagnosed->activity == MPIQ_ACTIVITY_GONE || rank->phase == MPIQ_PHASE_FINALIZED) {
        tally->finished++;
        return;
    }
    if (repeats) {
        tally->polling++;
        tally->still = 0;
        tally->guessed = tally->guessed || rank->past_count == 0;
        mpiq_analysis_add(analysis, &tally->repeats, process);
        return;
    }
    tally->blocked += diagnosed->activity == MPIQ_ACTIVITY_BLOCKED;
    tally->behind = tally->behind || (diagnosed->activity == MPIQ_ACTIVITY_BLOCKED &&
                                      !mpiq_call_waits_in_window(diagnosed->call));
    tally->unreadable += diagnosed->activity == MPIQ_ACTIVITY_UNREADABLE;
    tally->computing += diagnosed->activity == MPIQ_ACTIVITY_COMPUTING && rank->thread_count == 0;
    tally->inside += diagnosed->activity == MPIQ_ACTIVITY_POLLING &&
                     (mpiq_call_waits_in_window(diagnosed->call) || diagnosed->blocking != MPIQ_BLOCKING_NOT);
    tally->polling += diagnosed->activity == MPIQ_ACTIVITY_POLLING;
    tally->writes = tally->writes || mpiq_call_writes_window(diagnosed->call);
    tally->for_jobs += mpiq_is_for_job(diagnosed->call);
    tally->asleep += diagnosed->activity == MPIQ_ACTIVITY_ASLEEP && !diagnosed->call;
    bool frozen = diagnosed->activity == MPIQ_ACTIVITY_FROZEN;
    tally->frozen += frozen;
    tally->halted += frozen || (diagnosed->activity == MPIQ_ACTIVITY_STOPPED && !rank->traced);
    if (diagnosed->activity == MPIQ_ACTIVITY_STOPPED && rank->traced)
        mpiq_analysis_add(analysis, &tally->traced, process);
    if (diagnosed->activity == MPIQ_ACTIVITY_HELD)
        mpiq_analysis_add(analysis, &tally->stepped, process);
    bool outside = diagnosed->activity == MPIQ_ACTIVITY_ASLEEP ||
                   diagnosed->activity == MPIQ_ACTIVITY_COMPUTING ||
                   diagnosed->activity == MPIQ_ACTIVITY_CALLING;
    /* A collective write may take longer than a rank may stand still. */
    bool in_file = diagnosed->call && strncmp(diagnosed->call, "MPI_File_", strlen("MPI_File_")) == 0;
    tally->working +=
        rank->children_cpu_between_ns >= CHILDREN_WORK_NS || ((outside || in_file) && rank->io_between > 0);
    if (mpiq_source_is_outside(rank->source)) {
        tally->stacks++;
        tally->stacks_in_mpi += diagnosed->call != NULL;
        tally->calls += rank->source == MPIQ_SOURCE_CALLS;
    }
    tally->cores += rank->final && rank->source != MPIQ_SOURCE_TRACE;
    tally->blind += mpiq_is_blind(rank);
    double still = rank->looks == 3 || rank->final ? rank_still(analysis->job, rank, diagnosed) : 0;
    if (still < tally->still)
        tally->still = still > 0 ? still : 0;
    if (!mpiq_is_stopped(diagnosed->activity))
        add_threads(tally, analysis, rank);
}

static struct tally take_stock(struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    struct tally tally = {.still = LONG, .stopped = true};
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank)
            add_rank(&tally, analysis, rank);
        else
            mpiq_analysis_add(analysis, &tally.unread, process);
    }
    if (tally.repeats.size > 0)
        tally.progress = tally.progress || tally.writes || (tally.guessed && !tally.behind);
    for (uint32_t i = 0; i < job->rank_count; i++)
        tally.lost = tally.lost || mpiq_job_is_lost_host(job, &job->ranks[i]);
    for (uint32_t i = 0; i < analysis->graph->node_count; i++) {
        const struct mpiq_node *node = &analysis->graph->nodes[i];
        if (node->kind != MPIQ_KIND_THREAD)
            continue;
        tally.waiting++;
        tally.known += node->may_known;
        tally.stopped = tally.stopped && !node->may_unstopped;
    }
    tally.stopped = tally.stopped && tally.waiting > 0;
    if (tally.blocked == 0 || tally.still >= LONG)
        tally.still = 0; /* nobody's waiting time says anything */
    if (analysis->options.still > tally.still)
        tally.still = analysis->options.still;
    return tally;
}

static void decide(struct mpiq_analysis *analysis, enum mpiq_verdict verdict, enum mpiq_reason reason)
{
    analysis->diagnosis->verdict = verdict;
    analysis->diagnosis->because.reason = reason;
}

static void decide_about(struct mpiq_analysis *analysis, enum mpiq_verdict verdict, enum mpiq_reason reason,
                         const struct mpiq_rank_set *ranks)
{
    decide(analysis, verdict, reason);
    analysis->failed = analysis->failed || !mpiq_rank_set_add_set(&analysis->diagnosis->because.ranks, ranks);
}

/* It cannot be told whether those who wait may go on: why. */
static void decide_release_unknown(struct mpiq_analysis *analysis, bool all_read)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct mpiq_node *node = &graph->nodes[i];
        bool unknown = false;
        for (uint32_t j = 0; node->kind == MPIQ_KIND_THREAD && j < node->edge_count; j++)
            unknown = unknown || graph->edges[node->first_edge + j].child == MPIQ_NODE_UNKNOWN;
        if (unknown)
            mpiq_analysis_add(analysis, &ranks, mpiq_thread_process(graph, node->subject));
    }
    decide_about(analysis, MPIQ_VERDICT_UNKNOWN,
                 ranks.size > 0 ? MPIQ_REASON_RELEASE_UNREAD
                 : all_read     ? MPIQ_REASON_WAITS_UNREAD
                                : MPIQ_REASON_RANKS_UNREAD,
                 &ranks);
}

/* Of ranks that could not be read, nothing is taken for granted. */
static void decide_unread(struct mpiq_analysis *analysis, const struct tally *tally)
{
    decide_about(analysis, MPIQ_VERDICT_UNKNOWN,
                 tally->unread.size == 0 ? MPIQ_REASON_HOST_UNREAD : MPIQ_REASON_UNREAD, &tally->unread);
    analysis->diagnosis->because.detail = mpiq_job_string(analysis->job, tally->why);
}

/* The first finding about a rank outside MPI that others wait for: it says what the verdict says.  MPIQ_NONE.
 */
static uint32_t who_is_waited_for(const struct mpiq_analysis *analysis)
{
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        if (finding->kind == MPIQ_FINDING_RANK_ELSEWHERE && finding->waiters > 0)
            return (uint32_t)i;
    }
    return MPIQ_NONE;
}

/* Whether a thread waits for a lock that it has itself, or whose owner waits for one that it has. */
static bool is_behind_itself(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                             const struct mpiq_job_thread *thread)
{
    enum { STEPS = 16 };
    uint32_t owner = mpiq_lock_owner(job, rank, thread);
    for (int i = 0; i < STEPS && owner != MPIQ_NONE; i++) {
        if (&job->threads[owner] == thread)
            return true;
        owner = mpiq_lock_owner(job, rank, &job->threads[owner]);
    }
    return false;
}

/* Whether all of a rank's threads sleep until another one of its own wakes them, or the main one is behind
   itself: nobody says that it goes on. */
static bool waits_for_itself(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    bool all = rank && rank->thread_count > 0;
    for (uint32_t i = 0; all && i < rank->thread_count; i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (thread->tid == rank->pid && is_behind_itself(job, rank, thread))
            return true;
        all = thread->helper || mpiq_thread_waits_for_own(job, thread);
    }
    return all;
}

/* Whether that one waits for Python's interpreter lock, of which nobody knows who has it, or for itself; or
   only looks for something now and then, and nobody else does anything. */
static bool may_hang(const struct mpiq_analysis *analysis, const struct tally *tally)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_finding *finding = &analysis->diagnosis->findings[who_is_waited_for(analysis)];
    uint32_t process = mpiq_job_process(job, finding->ranks.ranges[0].world, finding->ranks.ranges[0].first);
    uint32_t thread =
        finding->thread == MPIQ_NONE ? analysis->diagnosis->ranks[process].thread : finding->thread;
    bool lock = thread != MPIQ_NONE && job->threads[thread].interpreter && job->threads[thread].owner == 0;
    bool naps = finding->thread == MPIQ_NONE && analysis->diagnosis->ranks[process].naps;
    if (naps && tally->computing == 0 && tally->working == 0)
        return true;
    return lock || waits_for_itself(job, process);
}

static void decide_waited_for(struct mpiq_analysis *analysis, enum mpiq_verdict verdict)
{
    decide(analysis, verdict, MPIQ_REASON_FINDING);
    analysis->diagnosis->because.said_by = who_is_waited_for(analysis);
}

static const char *library(const struct mpiq_analysis *analysis)
{
    const struct mpiq_job_state *job = analysis->job;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].library)
            return mpiq_job_string(job, job->ranks[i].library);
    }
    return NULL;
}

/* No proof, and no progress between the looks.  Whom a debugger or mpiq run --step holds will go on, and for
   how long it has been stopped says nothing about the job.  Nor does how long a server waits for a client:
   another job brings that one. */
static bool is_stalled(const struct mpiq_analysis *analysis, const struct tally *tally)
{
    bool all_seen = tally->read == analysis->job->process_count && tally->unreadable == 0 && !tally->lost;
    if (tally->progress || tally->for_jobs > 0 || tally->repeats.size > 0 || tally->computing > 0 ||
        tally->working > 0 || !all_seen || tally->finished == tally->read || tally->traced.size > 0 ||
        tally->stepped.size > 0)
        return false;
    if (tally->stopped && tally->polling == 0)
        return true;
    return tally->still >= analysis->options.stall_after;
}

static void decide_stalled(struct mpiq_analysis *analysis, const struct tally *tally)
{
    decide(analysis, MPIQ_VERDICT_STALLED, tally->stopped ? MPIQ_REASON_WAIT_STOPPED : MPIQ_REASON_STILL);
    analysis->diagnosis->because.still = tally->still;
}

/* Ranks asleep or stopped. */
static uint64_t resting(const struct tally *tally)
{
    return tally->asleep + tally->halted + tally->traced.size + tally->stepped.size;
}

/* Nobody is seen to do anything, whatever may be on its way: so many ranks wait in MPI, the others rest. */
static bool nobody_acts(const struct tally *tally, uint64_t waiting)
{
    return !tally->progress && tally->computing == 0 && tally->working == 0 &&
           waiting + resting(tally) + tally->finished == tally->read;
}

static bool all_wait(const struct tally *tally)
{
    uint64_t waiting = tally->blocked + tally->inside;
    return waiting > 0 && nobody_acts(tally, waiting);
}

/* All wait, poll or make the same one-sided calls again and again, and nobody moved.  Whether anybody acts
   unless one of those who poll gives up is known, or not. */
static bool decide_polls(struct mpiq_analysis *analysis, const struct tally *tally)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    struct mpiq_rank_set pollers _cleanup_(mpiq_rank_set_deinit) = {0};
    bool vain = true;
    if (tally->polling == 0 || !nobody_acts(tally, tally->blocked + tally->polling))
        return false;
    if (tally->repeats.size > 0) {
        decide_about(analysis, MPIQ_VERDICT_UNKNOWN, MPIQ_REASON_REPEATS, &tally->repeats);
        return true;
    }
    for (uint32_t process = 0; process < analysis->job->process_count; process++) {
        const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
        vain = vain && !graph->nodes[mpiq_rank_node(process)].may_poll;
        if (rank->activity == MPIQ_ACTIVITY_POLLING && mpiq_is_poll(rank->call))
            mpiq_analysis_add(analysis, &pollers, process);
    }
    /* Whom nobody is known to wait for may bring what is not known. */
    if (pollers.size == 0 || who_is_waited_for(analysis) != MPIQ_NONE || (!vain && resting(tally) > 0))
        return false;
    decide_about(analysis, MPIQ_VERDICT_UNKNOWN, vain ? MPIQ_REASON_POLLS_IN_VAIN : MPIQ_REASON_POLLS,
                 &pollers);
    return true;
}

/* Nobody is in MPI: no wait says anything about them. */
static bool all_rest(const struct tally *tally)
{
    return resting(tally) > 0 && nobody_acts(tally, 0);
}

static void decide_rest(struct mpiq_analysis *analysis, const struct tally *tally)
{
    analysis->diagnosis->because.some_ended = tally->finished > 0;
    if (tally->asleep == 0)
        decide(analysis, MPIQ_VERDICT_STALLED, MPIQ_REASON_STOPPED);
    else if (who_is_waited_for(analysis) != MPIQ_NONE)
        decide_waited_for(analysis, MPIQ_VERDICT_UNKNOWN);
    else
        decide(analysis, MPIQ_VERDICT_UNKNOWN,
               tally->halted == 0 ? MPIQ_REASON_ASLEEP : MPIQ_REASON_ASLEEP_STOPPED);
}

/* Nobody goes on, and that may be the doing of who holds these ranks. */
static bool holds(const struct tally *tally, const struct mpiq_rank_set *ranks)
{
    return ranks->size > 0 && !tally->progress && tally->computing == 0 && tally->working == 0;
}

static void decide_held(struct mpiq_analysis *analysis, const struct tally *tally,
                        const struct mpiq_rank_set *ranks, enum mpiq_reason some, enum mpiq_reason all)
{
    bool is_all = ranks->size + tally->finished == tally->read;
    decide_about(analysis, MPIQ_VERDICT_UNKNOWN, is_all ? all : some, ranks);
    analysis->diagnosis->because.some_ended = tally->finished > 0;
}

/* Of each rank the stack was read and nothing else: none is the one that is missing. */
static bool only_stacks_of_all(const struct tally *tally)
{
    return !tally->lost && tally->unread.size == tally->read && tally->stacks == tally->read &&
           tally->stacks_in_mpi > 0;
}

void mpiq_find_verdict(struct mpiq_analysis *analysis)
{
    struct tally tally = take_stock(analysis);
    uint64_t all = analysis->job->process_count;
    const enum mpiq_verdict unknown = MPIQ_VERDICT_UNKNOWN;
    if (analysis->diagnosis->stuck.size > 0) {
        decide(analysis, MPIQ_VERDICT_DEADLOCK, MPIQ_REASON_STUCK);
    } else if (tally.read == 0 || tally.unreadable == tally.read) {
        decide(analysis, unknown, tally.read == 0 ? MPIQ_REASON_NOTHING_READ : MPIQ_REASON_NOTHING_KNOWN);
    } else if (tally.finished == tally.read && tally.read == all && !tally.lost) {
        decide(analysis, MPIQ_VERDICT_FINISHED, MPIQ_REASON_LEFT);
    } else if (holds(&tally, &tally.stepped)) {
        decide_held(analysis, &tally, &tally.stepped, MPIQ_REASON_STEPPED, MPIQ_REASON_ALL_STEPPED);
    } else if (holds(&tally, &tally.traced)) {
        decide_held(analysis, &tally, &tally.traced, MPIQ_REASON_DEBUGGER, MPIQ_REASON_ALL_DEBUGGER);
    } else if ((tally.unread.size > 0 || tally.lost) && !only_stacks_of_all(&tally)) {
        decide_unread(analysis, &tally);
    } else if (all_rest(&tally) && (tally.asleep == 0 || !is_stalled(analysis, &tally))) {
        decide_rest(analysis, &tally);
    } else if (tally.stacks_in_mpi > 0 && tally.stacks + tally.finished == tally.read) {
        analysis->diagnosis->by_stacks = true;
        analysis->diagnosis->because.detail = library(analysis);
        decide(analysis, unknown, tally.calls > 0 ? MPIQ_REASON_ARGUMENTS : MPIQ_REASON_STACKS);
    } else if (is_stalled(analysis, &tally)) {
        decide_stalled(analysis, &tally);
    } else if (tally.blind > 0 && tally.blind + tally.finished == tally.read && !tally.progress &&
               tally.computing == 0) {
        decide(analysis, unknown, MPIQ_REASON_BLIND);
    } else if (tally.blocked > 0 && tally.waiting == 0 && tally.computing == 0 && tally.polling == 0) {
        decide(analysis, unknown, MPIQ_REASON_ONE_LOOK);
    } else if (tally.waiting > 0 && !tally.progress && tally.computing == 0 && tally.polling == 0 &&
               tally.known == 0) {
        decide_release_unknown(analysis, tally.read == all);
    } else if (decide_polls(analysis, &tally)) {
        /* It is said. */
    } else if (all_wait(&tally) && who_is_waited_for(analysis) == MPIQ_NONE) {
        decide(analysis, unknown, resting(&tally) > 0 ? MPIQ_REASON_NONE_MOVED : MPIQ_REASON_ALL_WAIT);
    } else if (tally.progress) {
        decide(analysis, MPIQ_VERDICT_RUNNING, MPIQ_REASON_PROGRESS);
    } else if (who_is_waited_for(analysis) != MPIQ_NONE) {
        decide_waited_for(analysis, may_hang(analysis, &tally) ? unknown : MPIQ_VERDICT_RUNNING);
    } else {
        decide(analysis, MPIQ_VERDICT_RUNNING, MPIQ_REASON_NOT_PROVEN);
    }
    /* One moment, after which nothing moves any more. */
    if (analysis->diagnosis->verdict == MPIQ_VERDICT_RUNNING && tally.cores > 0 && !tally.progress)
        analysis->diagnosis->verdict = unknown;
    analysis->diagnosis->because.frozen = (uint8_t)(tally.frozen == 0              ? MPIQ_NO
                                                    : tally.frozen == tally.halted ? MPIQ_YES
                                                                                   : MPIQ_UNKNOWN);
    mpiq_rank_set_deinit(&tally.unread);
    mpiq_rank_set_deinit(&tally.traced);
    mpiq_rank_set_deinit(&tally.repeats);
    mpiq_rank_set_deinit(&tally.stepped);
}
