/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does, and the sentences about ranks outside MPI. */
#include <inttypes.h>
#include <string.h>

#include "words/say_private.h"

/* Where somebody is who does not wait in MPI: "computing at step.c:12 (advance)", "asleep in nanosleep() at
   io.c:5". */
static const char *at_place(struct mpiq_speaker *s, const char *word, uint32_t site, uint32_t innermost)
{
    const struct mpiq_job_state *job = s->job;
    const char *place = mpiq_words_place(s->arena, job, site);
    const char *inner = "";
    const char *function =
        innermost == MPIQ_NONE ? NULL : mpiq_job_string(job, job->sites[innermost].function);
    if (function && innermost != site)
        inner = WORDS(s->arena, " in %s()", function);
    function = site == MPIQ_NONE ? NULL : mpiq_job_string(job, job->sites[site].function);
    bool named = function && job->sites[site].file && job->sites[site].line > 0;
    return WORDS(s->arena, "%s%s%s%s%s%s%s", word, inner, place[0] ? " at " : "", place, named ? " (" : "",
                 named ? function : "", named ? ")" : "");
}

/* The rank that a process on a thread's host is: "rank 3"; NULL: none. */
static const char *rank_with(struct mpiq_speaker *s, int32_t pid, uint32_t thread)
{
    const struct mpiq_job_rank *own = NULL;
    for (uint32_t i = 0; i < s->job->rank_count && !own; i++) {
        const struct mpiq_job_rank *rank = &s->job->ranks[i];
        own = thread >= rank->first_thread && thread < rank->first_thread + rank->thread_count ? rank : NULL;
    }
    for (uint32_t i = 0; own && i < s->job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &s->job->ranks[i];
        if (rank->pid == pid && rank->host == own->host && rank->process != MPIQ_NONE)
            return mpiq_words_rank(s->arena, s->job, rank->process);
    }
    return NULL;
}

/* For which other process a thread sleeps: ", for its child process sort (pid 4711), which is stopped", ", to
   mpirun (pid 4711)"; "" for none. */
static const char *for_partner(struct mpiq_speaker *s, const struct mpiq_rank_diagnosis *rank)
{
    const struct mpiq_job_thread *thread = &s->job->threads[rank->thread];
    const char *name = mpiq_job_string(s->job, thread->partner_name);
    bool child = rank->asleep_for_child;
    char state = thread->partner_state;
    if (rank->asleep_for_mutex && thread->owner == thread->tid)
        return ", for a mutex that it has locked itself";
    if (thread->partner <= 0 || !rank->asleep_on_file)
        return "";
    const char *other = rank_with(s, thread->partner, rank->thread);
    if (rank->asleep_for_mutex && state == 'X')
        return WORDS(s->arena, ", for a mutex whose owner (thread %" PRId32 ") has ended", thread->partner);
    if (rank->asleep_for_mutex)
        return other ? WORDS(s->arena, ", for a mutex that %s has", other)
                     : WORDS(s->arena, ", for a mutex that %s (pid %" PRId32 ") has", name ? name : "process",
                             thread->partner);
    if (other)
        return WORDS(s->arena, ", %s %s", rank->asleep_to_write ? "to" : "from", other);
    return WORDS(s->arena, ", %s %s (pid %" PRId32 ")%s",
                 child                   ? "for its child process"
                 : rank->asleep_to_write ? "to"
                                         : "from",
                 name ? name : "another process", thread->partner,
                 state == 'T' || state == 't' ? ", which is stopped"
                 : child && state == 'S'      ? ", which is asleep"
                 : child && state == 'R'      ? ", which is running"
                                              : "");
}

/* What a file is that has no path, of the facts' words: "the connection to 10.0.0.1:5432"; NULL: it has one.
 */
static const char *pathless(struct mpiq_speaker *s, const char *file)
{
    static const struct {
        const char *prefix, *words;
        bool rest;
    } kinds[] = {{"tcp:", "the connection to ", true}, {"listen:", "port ", true},
                 {"unix:", "the socket ", true},       {"socket:", "a socket", false},
                 {"pipe:", "a pipe", false},           {"anon_inode:", "", true}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (strncmp(file, kinds[i].prefix, length) == 0)
            return WORDS(s->arena, "%s%s", kinds[i].words, kinds[i].rest ? file + length : "");
    }
    return NULL;
}

/* On which file a thread sleeps: ", for the lock on shared.log that rank 0 holds", ", on data.fifo". */
static const char *on_file(struct mpiq_speaker *s, uint32_t process, const struct mpiq_rank_diagnosis *rank)
{
    const struct mpiq_job_thread *thread = &s->job->threads[rank->thread];
    const char *path = mpiq_job_string(s->job, thread->file);
    bool device = path && strncmp(path, "/dev/", strlen("/dev/")) == 0;
    const char *other = path ? pathless(s, path) : NULL;
    const char *file = other ? other : path && !device ? mpiq_job_base_name(path) : path;
    const struct mpiq_waits_for *wait = rank->waits_for;
    const char *partner = for_partner(s, rank);
    if (partner[0] || !file || !*file || !rank->asleep_on_file)
        return partner;
    if (!rank->asleep_for_lock)
        return WORDS(s->arena, ", on %s", file);
    if (wait && wait->part_count > 0 && wait->parts[0].kind == MPIQ_PART_LOCK)
        return WORDS(s->arena, ", for %s", mpiq_say_wait(s, wait, NULL, process));
    if (thread->lock_holder == 0)
        return WORDS(s->arena, ", for a lock on %s", file);
    return WORDS(s->arena, ", for the lock on %s that process %" PRId32 " holds", file, thread->lock_holder);
}

static const char *outside(struct mpiq_speaker *s, const struct mpiq_rank_diagnosis *rank, const char *word)
{
    bool asleep = rank->thread != MPIQ_NONE && rank->activity == MPIQ_ACTIVITY_ASLEEP;
    const char *in = rank->library_call;
    if (!in && asleep)
        in = mpiq_job_string(s->job, s->job->threads[rank->thread].blocks_in);
    if (in && asleep)
        return at_place(s, WORDS(s->arena, "%s in %s()", word, in), rank->site, MPIQ_NONE);
    return at_place(s, word, rank->site, asleep ? s->job->threads[rank->thread].innermost : MPIQ_NONE);
}

const char *mpiq_say_sleep(struct mpiq_speaker *s, uint32_t process)
{
    const struct mpiq_rank_diagnosis *rank = &s->diagnosis->ranks[process];
    const struct mpiq_job_thread *thread = rank->thread == MPIQ_NONE ? NULL : &s->job->threads[rank->thread];
    if (!thread || rank->library_call || (rank->waits_for && rank->waits_for->part_count > 0))
        return NULL;
    const char *in = mpiq_job_string(s->job, thread->blocks_in);
    if (!in && thread->innermost != MPIQ_NONE && thread->innermost != rank->site)
        in = mpiq_job_string(s->job, s->job->sites[thread->innermost].function);
    return in ? WORDS(s->arena, "in %s()%s", in, on_file(s, process, rank)) : NULL;
}

/* "is asleep in futex() at pool.c:12 (worker)", of a thread. */
static const char *sleeps(struct mpiq_speaker *s, uint32_t thread)
{
    const struct mpiq_job_thread *row = &s->job->threads[thread];
    uint32_t site = row->site != MPIQ_NONE ? row->site : row->innermost;
    if (row->interpreter)
        return WORDS(s->arena, "%s%s",
                     at_place(s, "waits for Python's interpreter lock", row->site, MPIQ_NONE),
                     row->owner ? "" : ", and it is not known which thread has it");
    if (row->blocks_in)
        return at_place(s, WORDS(s->arena, "is asleep in %s()", mpiq_job_string(s->job, row->blocks_in)),
                        site, MPIQ_NONE);
    return at_place(s, "is asleep", site, row->innermost);
}

static const char *waiting(struct mpiq_speaker *s, uint32_t process, bool plural)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_rank_diagnosis *rank = &s->diagnosis->ranks[process];
    const char *place = mpiq_words_place(arena, s->job, rank->site);
    const char *duration = mpiq_words_duration(arena, rank->since);
    if (rank->collective)
        return WORDS(arena, "%s in %s%s%s%s%s",
                     duration[0] ? plural ? "have been" : "has been"
                     : plural    ? "are"
                                 : "is",
                     mpiq_words_call(arena, s->job, rank->call, rank->number, rank->comm),
                     place[0] ? " at " : "", place, duration[0] ? " for " : "", duration);
    const struct mpiq_waits_for *wait = rank->waits_for;
    bool hint = wait && wait->part_count > 0 && wait->parts[0].given; /* the lines of evidence say it */
    const char *for_what = hint ? "" : mpiq_say_wait(s, wait, rank->call, process);
    const char *in = !for_what[0] && rank->call ? WORDS(arena, " in %s", rank->call) : "";
    const char *verb = duration[0] ? WORDS(arena, "%s waited %s", plural ? "have" : "has", duration)
                                   : WORDS(arena, "%s waiting", plural ? "are" : "is");
    return WORDS(arena, "%s%s%s%s%s%s", verb, in, place[0] ? " at " : "", place, for_what[0] ? " for " : "",
                 for_what);
}

/* with_pid: it alone, or all that are meant, have that one. */
static const char *tracer(struct mpiq_speaker *s, uint32_t process, bool with_pid)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(s->job, process);
    const char *name = rank ? mpiq_job_string(s->job, rank->tracer_name) : NULL;
    if (!name)
        return "a debugger";
    return with_pid && rank->tracer > 0 ? WORDS(s->arena, "%s (pid %" PRId32 ")", name, rank->tracer) : name;
}

const char *mpiq_say_tracer(struct mpiq_speaker *s, const struct mpiq_rank_set *ranks)
{
    const struct mpiq_job_rank *first = NULL;
    bool same = true;
    for (uint32_t process = 0; process < s->job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(s->job, process);
        struct mpiq_world_rank name = mpiq_job_world_rank(s->job, process);
        if (!rank || !mpiq_rank_set_contains(ranks, name.world, name.rank))
            continue;
        first = first ? first : rank;
        if (rank->tracer_name != first->tracer_name)
            return "a debugger";
        same = same && rank->tracer == first->tracer && rank->host == first->host;
    }
    return first ? tracer(s, first->process, same) : "a debugger";
}

static const char *how_it_ended(struct mpiq_speaker *s, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(s->job, process);
    const char *signal = s->diagnosis->ranks[process].signal;
    if (signal)
        return WORDS(s->arena, "was ended by %s", signal);
    return rank && rank->end.kind == MPIQ_END_EXIT
               ? WORDS(s->arena, "exited with status %" PRId32, rank->end.code)
               : "has ended";
}

const char *mpiq_say_does(struct mpiq_speaker *s, uint32_t process, bool plural)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_rank_diagnosis *rank = &s->diagnosis->ranks[process];
    const char *is = plural ? "are" : "is";
    switch (rank->activity) {
    case MPIQ_ACTIVITY_UNREADABLE:
        return "could not be read";
    case MPIQ_ACTIVITY_BLOCKED:
        return waiting(s, process, plural);
    case MPIQ_ACTIVITY_POLLING:
        return outside(s, rank,
                       rank->call ? WORDS(arena, "%s in %s", is, rank->call) : WORDS(arena, "%s in MPI", is));
    case MPIQ_ACTIVITY_COMPUTING:
        return outside(s, rank, WORDS(arena, "%s computing", is));
    case MPIQ_ACTIVITY_CALLING:
        return at_place(s, WORDS(arena, "%s in %s()", is, rank->library_call), rank->site, MPIQ_NONE);
    case MPIQ_ACTIVITY_ASLEEP:
        return WORDS(arena, "%s%s%s", outside(s, rank, WORDS(arena, "%s asleep", is)),
                     rank->thread == MPIQ_NONE ? "" : on_file(s, process, rank),
                     !rank->naps ? ""
                     : plural    ? " and wake again and again"
                                 : " and wakes again and again");
    case MPIQ_ACTIVITY_HELD:
        return at_place(s, WORDS(arena, "%s held by " MPIQ_STEP_MODE " before %s", is, rank->before),
                        rank->site, MPIQ_NONE);
    case MPIQ_ACTIVITY_STOPPED:
        return outside(s, rank,
                       mpiq_is_traced(s->job, process)
                           ? WORDS(arena, "%s held by %s", is, tracer(s, process, !plural))
                           : WORDS(arena, "%s stopped", is));
    case MPIQ_ACTIVITY_FROZEN:
        return WORDS(arena, "%s frozen by the freezer of %s control group", is, plural ? "their" : "its");
    case MPIQ_ACTIVITY_GONE:
        return plural ? "have ended" : how_it_ended(s, process);
    }
    return "";
}

static uint32_t first_of(const struct mpiq_speaker *s, const struct mpiq_rank_set *set)
{
    return mpiq_job_process(s->job, set->ranges[0].world, set->ranges[0].first);
}

/* What lets frozen ranks go on: ", and writing 0 to /sys/fs/cgroup/job/cgroup.freeze thaws it". */
static const char *how_to_thaw(struct mpiq_speaker *s, const struct mpiq_job_rank *rank, bool plural)
{
    const char *file = mpiq_job_string(s->job, rank->freezer);
    const char *them = plural ? "them" : "it";
    if (!file)
        return WORDS(s->arena, ", and thawing that group continues %s", them);
    bool first = strcmp(mpiq_job_base_name(file), "freezer.state") == 0;
    return WORDS(s->arena, ", and writing %s to %s thaws %s", first ? "THAWED" : "0", file, them);
}

/* What lets stopped ranks go on: ", and kill -CONT 4711 continues it"; "" of others. */
static const char *how_to_go_on(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    uint32_t process = first_of(s, &finding->ranks);
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(s->job, process);
    if (finding->kind != MPIQ_FINDING_RANK_STOPPED || !rank)
        return "";
    if (s->diagnosis->ranks[process].activity == MPIQ_ACTIVITY_FROZEN)
        return how_to_thaw(s, rank, mpiq_is_plural(&finding->ranks));
    if (mpiq_is_traced(s->job, process))
        return "";
    return mpiq_is_plural(&finding->ranks)
               ? ", and SIGCONT continues them"
               : WORDS(s->arena, ", and kill -CONT %" PRId32 " continues it", rank->pid);
}

const char *mpiq_say_behaviour(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    bool plural = mpiq_is_plural(&finding->ranks), several = finding->waiters > 1;
    const char *who = mpiq_words_ranks(arena, &finding->ranks);
    const char *duration = mpiq_words_duration(arena, finding->since);
    const char *text =
        finding->thread == MPIQ_NONE
            ? WORDS(arena, "%s %s", who, mpiq_say_does(s, first_of(s, &finding->ranks), plural))
            : WORDS(arena, "a thread of %s%s %s", plural ? "each of " : "", who, sleeps(s, finding->thread));
    const char *advice = how_to_go_on(s, finding);
    if (finding->waiters == 0)
        return WORDS(arena, "%s%s", text, advice);
    return WORDS(arena, "%s%s; %" PRIu64 " %s%s%s for %s", text, advice, finding->waiters,
                 several       ? (duration[0] ? "ranks have waited " : "ranks wait")
                 : duration[0] ? "rank has waited "
                               : "rank waits",
                 several && duration[0] ? "up to " : "", duration, plural ? "them" : "it");
}

const char *mpiq_say_lock(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const char *path = mpiq_job_string(s->job, finding->file);
    const char *file = path ? mpiq_job_base_name(path) : "a file";
    bool mutex = !path && s->diagnosis->ranks[first_of(s, &finding->ranks)].asleep_for_mutex;
    const char *lock = mutex ? "a mutex" : WORDS(s->arena, "the lock on %s", file);
    return WORDS(s->arena, "%s holds %s and %s; %s %s for that %s",
                 mpiq_words_ranks(s->arena, &finding->missing), lock,
                 mpiq_say_does(s, first_of(s, &finding->missing), false),
                 mpiq_words_ranks(s->arena, &finding->ranks),
                 mpiq_is_plural(&finding->ranks) ? "wait" : "waits", mutex ? "mutex" : "lock");
}
