/* SPDX-License-Identifier: BSD-3-Clause */
#include "look/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "look/claims.h"
#include "look/reader_process.h"
#include "look/weigh.h"
#include "rank/rank.h"

enum { MAX_THREADS = 32, PROGRESS_MS = 100 };

#define SECOND ((int64_t)1000 * 1000 * 1000)
/* A rank may take this long while nothing is known about how long the ranks of this job take. */
#define RANK_NS (120 * SECOND)
/* Once two ranks have answered, who is at work is late when nobody has answered for QUIET_NS, or for TIMES as
   long as the second slowest rank took: honest ranks do not wait longer for one that is not.  What one rank
   takes counts for nothing, so it cannot buy itself time.  The time in which the others have waited for a
   rank is taken off what it may have later, in the same look or the next, down to LEAST_NS. */
#define QUIET_NS (15 * SECOND / 10)
#define LEAST_NS (3 * SECOND / 10)
#define TIMES 3
enum { ANSWERS = 2 };
#define LOOK_NS (300 * SECOND)

/* One rank that a reader is at. */
struct task {
    uint64_t number;
    size_t index; /* of the source */
    int64_t start;
};

/* The ranks of one owner, and the process that reads them. */
struct crew {
    struct mpiq_owner owner;
    struct mpiq_reader_process process;
    struct task tasks[MAX_THREADS];
    size_t task_count;
    bool alone; /* the one task is a suspect: nothing else is asked beside it */
};

#define NO_CREW SIZE_MAX

enum progress { WAITING, SUSPECT, ASKED, DONE };

struct mpiq_reader {
    const struct mpiq_options *options;
    struct mpiq_dll_host *host; /* of a process that a debugger serves: the debugger reads it */
    struct crew *crews;
    size_t crew_count;
    size_t crew_capacity;
    uint64_t request;
    /* By source, from look to look. */
    size_t source_count;
    bool *failed;    /* it cost a reader its life: not asked again */
    size_t *crew_of; /* NO_CREW: not known yet */
    int64_t *held;   /* nanoseconds for which all others have waited for it */
    struct {
        size_t index;
        int64_t ns;
    } slowest[ANSWERS]; /* ranks that have answered, the slowest first */
    size_t answers;     /* of them */

    /* Of the look that is going on. */
    struct mpiq_look_sources *sources;
    int look;
    uint8_t *progress; /* enum progress, by source */
    size_t threads;
    size_t unasked; /* sources that need no reader */
    size_t done;
    int64_t begin;
    int64_t last_answer;
};

/* ---- without a reader ------------------------------------------------------------------------------- */

/* A rank whose process has ended, from what its job's environment said of it. */
static struct mpiq_error *read_gone(const struct mpiq_look_source *source, int world_size,
                                    struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        return mpiq_error_no_memory();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state->taken_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    state->gone = true;
    state->process_state = 'X';
    state->pid = source->pid;
    state->name.rank = source->rank;
    state->world_size = world_size;
    if (source->nspace) {
        state->name.job = mpiq_rank_job_of(source->nspace);
        snprintf(state->nspace, sizeof state->nspace, "%s", source->nspace);
    }
    *ret = state;
    return NULL;
}

/* One of which nothing can be read, with the reason.  Takes reason. */
static struct mpiq_error *read_nothing(const struct mpiq_look_source *source, int world_size,
                                       struct mpiq_error *reason, struct mpiq_rank_state **ret)
{
    struct mpiq_error *error = read_gone(source, world_size, ret);
    if (error) {
        mpiq_error_destroy(reason);
        return error;
    }
    (*ret)->gone = false;
    (*ret)->process_state = '?';
    (*ret)->core = source->path != NULL;
    mpiq_rank_state_problem(*ret, "process", reason);
    return NULL;
}

/* What a debugger serves over a wire is read here: the debugger opens and parses, not we. */
static struct mpiq_error *read_wire(struct mpiq_reader *reader, struct mpiq_look_source *source)
{
    const struct mpiq_stack_options stacks = {.before = reader->look == 2 ? source->looks[0] : NULL};
    mpiq_target_forget(source->target);
    return mpiq_rank_read(reader->host, source->target, reader->options->stacks ? &stacks : NULL,
                          &source->looks[reader->look - 1]);
}

/* ---- crews ------------------------------------------------------------------------------------------ */

static struct mpiq_error *find_crew(struct mpiq_reader *reader, const struct mpiq_owner *owner, size_t *ret)
{
    for (*ret = 0; *ret < reader->crew_count; ++*ret) {
        if (mpiq_owner_equal(&reader->crews[*ret].owner, owner))
            return NULL;
    }
    if (!mpiq_array_reserve(&reader->crews, &reader->crew_capacity, reader->crew_count + 1))
        return mpiq_error_no_memory();
    reader->crews[reader->crew_count++] = (struct crew){.owner = *owner, .process.socket = -1};
    return NULL;
}

static struct mpiq_look_source *source_at(const struct mpiq_reader *reader, size_t index)
{
    return &reader->sources->items[index];
}

/* The source has its state, and is asked no more in this look. */
static void finish(struct mpiq_reader *reader, size_t index)
{
    reader->progress[index] = DONE;
    reader->done++;
}

static struct mpiq_error *finish_with(struct mpiq_reader *reader, size_t index, struct mpiq_error *reason)
{
    struct mpiq_look_source *source = source_at(reader, index);
    finish(reader, index);
    return read_nothing(source, reader->sources->world_size, reason, &source->looks[reader->look - 1]);
}

static struct task take_task(struct crew *crew, size_t at)
{
    struct task task = crew->tasks[at];
    crew->tasks[at] = crew->tasks[--crew->task_count];
    crew->alone = crew->alone && crew->task_count > 0;
    return task;
}

/* Since when everybody has waited for that task. */
static int64_t waited_since(const struct mpiq_reader *reader, const struct task *task)
{
    return reader->last_answer > task->start ? reader->last_answer : task->start;
}

static void charge(struct mpiq_reader *reader, const struct task *task, int64_t now)
{
    reader->held[task->index] += now - waited_since(reader, task);
}

/*
 * The reader has ended, or was ended, over the task with that number (0: nobody knows which).  All others
 * that it was at are asked again; where it is not known whose fault it was, one at a time.  Takes reason.
 */
static struct mpiq_error *lose_reader(struct mpiq_reader *reader, struct crew *crew, uint64_t culprit,
                                      struct mpiq_error *reason)
{
    struct mpiq_error *error = NULL;
    bool known = false;
    mpiq_debug("look", "reader %d is lost: %s", (int)crew->process.pid, reason->message);
    mpiq_reader_process_kill(&crew->process);
    for (size_t i = 0; i < crew->task_count; i++)
        known |= crew->tasks[i].number == culprit || crew->task_count == 1;
    bool one = crew->task_count == 1;
    while (crew->task_count > 0) {
        struct task task = take_task(crew, 0);
        if (!error && known && (one || task.number == culprit)) {
            reader->failed[task.index] = true;
            error = finish_with(reader, task.index, mpiq_steal(reason));
        } else {
            reader->progress[task.index] = known ? WAITING : SUSPECT;
        }
    }
    mpiq_error_destroy(reason);
    return error;
}

/*
 * The reader came to the end of its memory.  What it says of any rank counts for nothing, as one rank may
 * have taken the memory of all: those that it was at are asked again, one at a time.
 */
static void lose_memory(struct mpiq_reader *reader, struct crew *crew, const char *reason)
{
    mpiq_debug("look", "reader %d has no memory left: %s", (int)crew->process.pid, reason);
    mpiq_reader_process_kill(&crew->process);
    while (crew->task_count > 0)
        reader->progress[take_task(crew, 0).index] = SUSPECT;
}

/* ---- asking ----------------------------------------------------------------------------------------- */

/* The next source of that crew with that progress; the number of sources if there is none. */
static size_t next_source(const struct mpiq_reader *reader, size_t crew, enum progress progress)
{
    size_t index = 0;
    while (index < reader->sources->count &&
           (reader->progress[index] != (uint8_t)progress || reader->crew_of[index] != crew))
        index++;
    return index;
}

static struct mpiq_error *start_reader(struct mpiq_reader *reader, struct crew *crew)
{
    const struct mpiq_reader_start start = {.owner = crew->owner,
                                            .dll = reader->options->dll,
                                            .threads = reader->threads,
                                            .sources = reader->sources->count};
    return crew->process.pid > 0 ? NULL : mpiq_reader_process_start(&start, &crew->process);
}

static struct mpiq_error *ask(struct mpiq_reader *reader, struct crew *crew, size_t index)
{
    struct mpiq_error *error = start_reader(reader, crew);
    if (error)
        return error;
    struct task *task = &crew->tasks[crew->task_count++];
    *task = (struct task){++reader->request, index, mpiq_monotonic_ns()};
    reader->progress[index] = ASKED;
    error = mpiq_reader_process_request(&crew->process, task->number, source_at(reader, index), index,
                                        reader->look, reader->options->stop, reader->options->stacks, NULL);
    if (!error)
        return NULL;
    bool own = error->code == MPIQ_ERROR_NO_MEMORY || error->code == MPIQ_ERROR_USAGE;
    if (!own)
        return lose_reader(reader, crew, 0, error);
    take_task(crew, crew->task_count - 1);
    return finish_with(reader, index, error);
}

/* As many as the reader takes; a suspect alone, when nothing else is left. */
static struct mpiq_error *ask_more(struct mpiq_reader *reader, size_t at)
{
    struct crew *crew = &reader->crews[at];
    struct mpiq_error *error = NULL;
    while (!error && !crew->alone && crew->task_count < reader->threads) {
        size_t index = next_source(reader, at, WAITING);
        if (index == reader->sources->count && crew->task_count == 0) {
            index = next_source(reader, at, SUSPECT);
            crew->alone = index < reader->sources->count;
        }
        if (index == reader->sources->count)
            break;
        error = ask(reader, crew, index);
    }
    return error;
}

/* ---- hearing ---------------------------------------------------------------------------------------- */

/* What an answer says of missing memory: its error, or a problem of its state.  NULL: nothing. */
static const char *missing_memory(const struct mpiq_error *error, const struct mpiq_rank_state *state)
{
    if (error)
        return error->code == MPIQ_ERROR_NO_MEMORY ? error->message : NULL;
    for (size_t i = 0; i < state->problem_count; i++) {
        if (state->problems[i].code == MPIQ_ERROR_NO_MEMORY)
            return state->problems[i].text;
    }
    return NULL;
}

/* The answer to a task, which has been taken; alone: nothing else was asked beside it. */
static struct mpiq_error *take_answer(struct mpiq_reader *reader, struct crew *crew, const struct task *task,
                                      bool alone, struct mpiq_reader_answer *answer)
{
    struct mpiq_look_source *source = source_at(reader, task->index);
    struct mpiq_rank_state **ret = &source->looks[reader->look - 1];
    int world_size = reader->sources->world_size;
    struct mpiq_error *error = mpiq_steal(answer->error);
    if (!error)
        error = mpiq_rank_state_from_json(answer->text, strlen(answer->text), ret);
    const char *missing = missing_memory(error, *ret);
    if (missing)
        lose_memory(reader, crew, missing);
    if (missing && !alone) {
        mpiq_error_destroy(error);
        mpiq_rank_state_destroy(mpiq_steal(*ret));
        reader->progress[task->index] = SUSPECT;
        return NULL;
    }
    if (missing)
        reader->failed[task->index] = true;
    if (error && error->code == MPIQ_ERROR_GONE) {
        mpiq_error_destroy(error);
        source->gone = true;
        finish(reader, task->index);
        return read_gone(source, world_size, ret);
    }
    if (error)
        return finish_with(reader, task->index, error);
    finish(reader, task->index);
    mpiq_rank_state_trim_history(*ret, mpiq_history_share((*ret)->world_size));
    if (reader->look == 2 && source->looks[0]) /* what it did by then stands in this look's, too */
        mpiq_rank_state_trim_history(source->looks[0], 0);
    error = mpiq_weigh(reader->sources, task->index, reader->look);
    return error ? error : mpiq_check_claims(source, world_size, ret);
}

static struct mpiq_error *explain_crash(int number)
{
    return mpiq_error_create(MPIQ_ERROR_INTERNAL, "the process that read it crashed (signal %d, %s)", number,
                             number > 0 ? strsignal(number) : "unknown");
}

/* Who has answered, and how long it took; of one that answers again the longest. */
static void note_answer(struct mpiq_reader *reader, const struct task *task, int64_t now)
{
    size_t at = 0;
    int64_t ns = now - task->start;
    charge(reader, task, now);
    reader->last_answer = now;
    while (at < reader->answers && reader->slowest[at].index != task->index)
        at++;
    if (at == ANSWERS && ns > reader->slowest[ANSWERS - 1].ns)
        at--;
    else if (at == reader->answers && at < ANSWERS)
        reader->slowest[reader->answers++].ns = -1;
    if (at == ANSWERS || ns <= reader->slowest[at].ns)
        return;
    for (; at > 0 && reader->slowest[at - 1].ns < ns; at--)
        reader->slowest[at] = reader->slowest[at - 1];
    reader->slowest[at].index = task->index;
    reader->slowest[at].ns = ns;
}

static struct mpiq_error *hear(struct mpiq_reader *reader, struct crew *crew)
{
    struct mpiq_error *error = NULL;
    bool more = true;
    while (!error && more && crew->process.pid > 0) {
        struct mpiq_reader_answer answer = {0};
        struct mpiq_error *broken = mpiq_reader_process_next(&crew->process, &answer, &more);
        if (broken)
            return lose_reader(reader, crew, 0, broken);
        if (more && answer.crash)
            return lose_reader(reader, crew, answer.number, explain_crash(answer.crash));
        size_t at = 0;
        while (at < crew->task_count && crew->tasks[at].number != answer.number)
            at++;
        if (!more || at == crew->task_count) { /* an answer to what nobody asked is none */
            mpiq_error_destroy(answer.error);
            continue;
        }
        bool alone = crew->alone;
        struct task task = take_task(crew, at);
        note_answer(reader, &task, mpiq_monotonic_ns());
        error = take_answer(reader, crew, &task, alone, &answer);
    }
    return error;
}

/* ---- time ------------------------------------------------------------------------------------------- */

/* When that task is late. */
static int64_t deadline_of(const struct mpiq_reader *reader, const struct task *task)
{
    int64_t end = task->start + RANK_NS;
    size_t enough = reader->sources->count - reader->unasked > ANSWERS ? ANSWERS : 1;
    if (reader->answers >= enough || reader->done - reader->unasked >= enough) {
        int64_t left = QUIET_NS - reader->held[task->index];
        int64_t usual = reader->answers == ANSWERS ? TIMES * reader->slowest[ANSWERS - 1].ns : 0;
        int64_t quiet = left > LEAST_NS ? left : LEAST_NS;
        quiet = usual > quiet ? usual : quiet;
        int64_t since = waited_since(reader, task);
        end = since + quiet < end ? since + quiet : end;
    }
    return end < reader->begin + LOOK_NS ? end : reader->begin + LOOK_NS;
}

/* Ends a reader that is late over one of its ranks: the one that it has been at for the longest. */
static struct mpiq_error *keep_time(struct mpiq_reader *reader, struct crew *crew)
{
    int64_t now = mpiq_monotonic_ns();
    const struct task *late = NULL;
    for (size_t i = 0; i < crew->task_count; i++) {
        const struct task *task = &crew->tasks[i];
        if (now >= deadline_of(reader, task) && (!late || task->start < late->start))
            late = task;
    }
    if (!late)
        return NULL;
    return lose_reader(reader, crew, late->number,
                       mpiq_error_create(MPIQ_ERROR_TIMEOUT, "reading it timed out after %.2g s",
                                         (double)(now - late->start) / (double)SECOND));
}

/* The whole look is over time: what was not asked yet is not asked any more. */
static struct mpiq_error *give_up(struct mpiq_reader *reader)
{
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < reader->sources->count && !error; i++) {
        if (reader->progress[i] == WAITING || reader->progress[i] == SUSPECT)
            error = finish_with(
                reader, i, mpiq_error_create(MPIQ_ERROR_TIMEOUT, "the look timed out before it was read"));
    }
    return error;
}

/* Milliseconds until somebody is late, or there is progress to report. */
static int patience_ms(const struct mpiq_reader *reader)
{
    enum { NS_A_MS = 1000 * 1000 };
    int64_t now = mpiq_monotonic_ns();
    int64_t end = now + (int64_t)PROGRESS_MS * NS_A_MS;
    for (size_t i = 0; i < reader->crew_count; i++) {
        for (size_t k = 0; k < reader->crews[i].task_count; k++) {
            int64_t late = deadline_of(reader, &reader->crews[i].tasks[k]);
            end = late < end ? late : end;
        }
    }
    return end > now ? (int)((end - now + NS_A_MS - 1) / NS_A_MS) : 0;
}

static struct mpiq_error *wait_for_any(struct mpiq_reader *reader)
{
    _cleanup_free_ struct pollfd *ends = calloc(reader->crew_count + 1, sizeof *ends);
    if (!ends)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < reader->crew_count; i++) {
        bool busy = reader->crews[i].task_count > 0;
        ends[i] = (struct pollfd){.fd = busy ? reader->crews[i].process.socket : -1, .events = POLLIN};
    }
    if (poll(ends, reader->crew_count, patience_ms(reader)) < 0 && errno != EINTR)
        return mpiq_error_create_os(errno, "cannot wait for the processes that read ranks");
    return NULL;
}

/* ---- a look ----------------------------------------------------------------------------------------- */

static bool changes(const struct mpiq_look_source *source)
{
    const struct mpiq_rank_state *first = source->looks[0];
    return !first || !(first->core || first->gone);
}

/* What needs no reader is done at once; the rest finds its crew. */
static struct mpiq_error *prepare(struct mpiq_reader *reader, size_t index)
{
    struct mpiq_look_source *source = source_at(reader, index);
    int world_size = reader->sources->world_size;
    struct mpiq_rank_state **ret = &source->looks[reader->look - 1];
    reader->progress[index] = WAITING;
    if (reader->look == 2 && (!changes(source) || reader->failed[index] || source->other)) {
        finish(reader, index);
        return NULL;
    }
    if (source->other)
        return finish_with(
            reader, index,
            mpiq_error_create(MPIQ_ERROR_CORRUPT,
                              "processes %d and %d both say that they are rank %d: neither is read",
                              (int)source->pid, (int)source->other, source->rank));
    if (source->gone) {
        finish(reader, index);
        return read_gone(source, world_size, ret);
    }
    if (source->wire) {
        reader->progress[index] = ASKED; /* by us, when the readers are at work */
        return NULL;
    }
    if (reader->crew_of[index] != NO_CREW)
        return NULL;
    const struct mpiq_owner owner = mpiq_owner_of(source);
    return find_crew(reader, &owner, &reader->crew_of[index]);
}

static struct mpiq_error *read_wires(struct mpiq_reader *reader)
{
    struct mpiq_error *error = NULL;
    mpiq_dll_host_begin_look(reader->host);
    for (size_t i = 0; i < reader->sources->count && !error; i++) {
        struct mpiq_look_source *source = source_at(reader, i);
        if (!source->wire || reader->progress[i] != ASKED)
            continue;
        error = read_wire(reader, source);
        finish(reader, i);
    }
    /* The readers' time went on meanwhile, but nobody listened to them. */
    int64_t now = mpiq_monotonic_ns();
    for (size_t i = 0; i < reader->crew_count; i++) {
        for (size_t k = 0; k < reader->crews[i].task_count; k++)
            reader->crews[i].tasks[k].start = now;
    }
    return error;
}

static void report_progress(const struct mpiq_reader *reader)
{
    char text[80];
    snprintf(text, sizeof text, "look %d of 2: %zu of %zu ranks read", reader->look, reader->done,
             reader->sources->count);
    if (reader->options->progress)
        reader->options->progress(reader->options->argument, text);
}

static struct mpiq_error *read_all(struct mpiq_reader *reader)
{
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < reader->sources->count && !error; i++)
        error = prepare(reader, i);
    for (size_t i = 0; i < reader->sources->count; i++)
        reader->unasked += reader->progress[i] != WAITING;
    for (size_t i = 0; i < reader->crew_count && !error; i++)
        error = ask_more(reader, i);
    if (!error)
        error = read_wires(reader);
    int64_t told = reader->begin;
    while (!error && reader->done < reader->sources->count) {
        error = wait_for_any(reader);
        for (size_t i = 0; i < reader->crew_count && !error; i++) {
            error = hear(reader, &reader->crews[i]);
            if (!error)
                error = keep_time(reader, &reader->crews[i]);
            if (!error)
                error = ask_more(reader, i);
        }
        int64_t now = mpiq_monotonic_ns();
        if (!error && now > reader->begin + LOOK_NS)
            error = give_up(reader);
        if (now - told > PROGRESS_MS * (SECOND / 1000)) {
            told = now;
            report_progress(reader);
        }
    }
    return error;
}

/* Among ranks that spin, more of them than processors, a thread mostly waits: for its turn, for its helper's,
   for that of a thread which is to stop.  So there are several a processor, if there are ranks enough to make
   up for the start of their helpers; and two at least, so that one rank alone holds up none. */
static size_t choose_thread_count(const struct mpiq_options *options, size_t ranks)
{
    enum { A_PROCESSOR = 4, RANKS_A_THREAD = 8, LEAST = 2 };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t processors = online > LEAST ? (size_t)online : LEAST;
    size_t count = ranks / RANKS_A_THREAD;
    if (options->threads)
        count = options->threads;
    else if (count < processors)
        count = processors;
    else if (count > A_PROCESSOR * processors)
        count = A_PROCESSOR * processors;
    count = count < ranks ? count : ranks;
    return count < MAX_THREADS ? count : MAX_THREADS;
}

struct mpiq_error *mpiq_reader_create(const struct mpiq_options *options, struct mpiq_reader **ret)
{
    struct mpiq_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return mpiq_error_no_memory();
    const struct mpiq_dll_host_options host_options = {.dll = options->dll};
    reader->options = options;
    struct mpiq_error *error = mpiq_dll_host_create(&host_options, &reader->host);
    if (error)
        free(reader);
    else
        *ret = reader;
    return error;
}

void mpiq_reader_destroy(struct mpiq_reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < reader->crew_count; i++)
        mpiq_reader_process_end(&reader->crews[i].process);
    mpiq_dll_host_destroy(reader->host);
    free(reader->crews);
    free(reader->failed);
    free(reader->crew_of);
    free(reader->held);
    free(reader);
}

static struct mpiq_error *make_room(struct mpiq_reader *reader, size_t count)
{
    if (reader->source_count >= count && reader->failed)
        return NULL;
    bool *failed = calloc(count + 1, sizeof *failed);
    size_t *crew_of = calloc(count + 1, sizeof *crew_of);
    int64_t *held = calloc(count + 1, sizeof *held);
    if (!failed || !crew_of || !held) {
        free(failed);
        free(crew_of);
        free(held);
        return mpiq_error_no_memory();
    }
    for (size_t i = 0; i < count; i++)
        crew_of[i] = NO_CREW;
    free(reader->failed);
    free(reader->crew_of);
    free(reader->held);
    reader->failed = failed;
    reader->crew_of = crew_of;
    reader->held = held;
    reader->source_count = count;
    return NULL;
}

/* Ctrl-Z while ranks are stopped would leave those stopped over which a reader hangs, as nobody keeps the
   time: it waits until the look is over. */
static void hold_terminal_stops(sigset_t *ret)
{
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigaddset(&stops, SIGTTIN);
    sigaddset(&stops, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stops, ret);
}

struct mpiq_error *mpiq_reader_look(struct mpiq_reader *reader, struct mpiq_look_sources *sources, int look)
{
    size_t count = sources->count;
    _cleanup_free_ uint8_t *progress = calloc(count + 1, sizeof *progress);
    if (!progress)
        return mpiq_error_no_memory();
    struct mpiq_error *error = make_room(reader, count);
    if (error)
        return error;
    reader->sources = sources;
    reader->look = look;
    reader->progress = progress;
    reader->threads = choose_thread_count(reader->options, count);
    reader->unasked = 0;
    reader->done = 0;
    reader->last_answer = 0;
    if (look == 1) {
        memset(reader->held, 0, count * sizeof *reader->held);
        reader->answers = 0;
    }
    reader->begin = mpiq_monotonic_ns();
    sigset_t before;
    if (reader->options->stop)
        hold_terminal_stops(&before);
    error = read_all(reader);
    if (reader->options->stop)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        error = mpiq_check_jobs(sources, look);
    mpiq_debug("look", "look %d of %zu ranks took %.1f ms", look, count,
               (double)(mpiq_monotonic_ns() - reader->begin) / 1e6);
    reader->sources = NULL;
    reader->progress = NULL;
    return error;
}
