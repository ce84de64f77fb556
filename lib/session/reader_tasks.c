/* SPDX-License-Identifier: BSD-3-Clause */
/* reader_tasks - sends requests to readers, takes their answers, and replaces readers that fail. */
#include <signal.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "session/plausibility.h"
#include "session/reader_pool_private.h"
#include "session/unread.h"
#include "session/state_budget.h"

struct mpiq_error *mpiq_pool_find_reader(struct mpiq_reader_pool *pool, const struct mpiq_owner *owner,
                                         size_t *ret)
{
    for (*ret = 0; *ret < pool->reader_count; ++*ret) {
        if (mpiq_owner_equal(&pool->readers[*ret].owner, owner))
            return NULL;
    }
    if (!mpiq_array_reserve(&pool->readers, &pool->reader_capacity, pool->reader_count + 1))
        return mpiq_error_no_memory();
    pool->readers[pool->reader_count++] = (struct mpiq_pooled_reader){.owner = *owner, .process.socket = -1};
    return NULL;
}

struct mpiq_look_source *mpiq_pool_source(const struct mpiq_reader_pool *pool, size_t index)
{
    return &pool->sources->items[index];
}

void mpiq_pool_finish(struct mpiq_reader_pool *pool, size_t index)
{
    pool->progress[index] = MPIQ_SOURCE_DONE;
    pool->done++;
}

struct mpiq_error *mpiq_pool_finish_with(struct mpiq_reader_pool *pool, size_t index,
                                         struct mpiq_error *reason)
{
    struct mpiq_look_source *source = mpiq_pool_source(pool, index);
    mpiq_pool_finish(pool, index);
    return mpiq_unread(source, pool->sources->world_size, reason, &source->looks[pool->look - 1]);
}

static struct mpiq_reader_task take_task(struct mpiq_pooled_reader *reader, size_t at)
{
    struct mpiq_reader_task task = reader->tasks[at];
    reader->tasks[at] = reader->tasks[--reader->task_count];
    reader->alone = reader->alone && reader->task_count > 0;
    return task;
}

/*
 * The reader has ended, or was ended, over the task with that number (0: nobody knows which).  All others
 * that it was at are asked again; where it is not known whose fault it was, one at a time.  Takes reason.
 */
static struct mpiq_error *lose_reader(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader,
                                      uint64_t culprit, struct mpiq_error *reason)
{
    struct mpiq_error *error = NULL;
    bool known = false;
    mpiq_debug("look", "reader %d is lost: %s", (int)reader->process.pid, reason->message);
    mpiq_reader_process_kill(&reader->process);
    for (size_t i = 0; i < reader->task_count; i++)
        known |= reader->tasks[i].number == culprit || reader->task_count == 1;
    bool one = reader->task_count == 1;
    while (reader->task_count > 0) {
        struct mpiq_reader_task task = take_task(reader, 0);
        bool its = known && (one || task.number == culprit);
        if (its && reason->code == MPIQ_ERROR_TIMEOUT && pool->late[task.index]++ == 0) {
            pool->progress[task.index] = MPIQ_SOURCE_SUSPECT; /* once more, alone and with more time */
        } else if (!error && its) {
            pool->failed[task.index] = true;
            error = mpiq_pool_finish_with(pool, task.index, mpiq_steal(reason));
        } else {
            pool->progress[task.index] = known ? MPIQ_SOURCE_WAITING : MPIQ_SOURCE_SUSPECT;
        }
    }
    mpiq_error_destroy(reason);
    return error;
}

/*
 * The reader came to the end of its memory.  What it says of any rank counts for nothing, as one rank may
 * have taken the memory of all: those that it was at are asked again, one at a time.
 */
static void lose_memory(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader, const char *reason)
{
    mpiq_debug("look", "reader %d has no memory left: %s", (int)reader->process.pid, reason);
    mpiq_reader_process_kill(&reader->process);
    while (reader->task_count > 0)
        pool->progress[take_task(reader, 0).index] = MPIQ_SOURCE_SUSPECT;
}

/* The next source of that reader with that progress; the number of sources if there is none. */
static size_t next_source(const struct mpiq_reader_pool *pool, size_t reader,
                          enum mpiq_source_progress progress)
{
    size_t index = 0;
    while (index < pool->sources->count &&
           (pool->progress[index] != (uint8_t)progress || pool->reader_of[index] != reader))
        index++;
    return index;
}

static struct mpiq_error *start_reader(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader)
{
    const struct mpiq_reader_start start = {.owner = reader->owner,
                                            .dll = pool->options->dll,
                                            .threads = pool->threads,
                                            .sources = pool->sources->count};
    return reader->process.pid > 0 ? NULL : mpiq_reader_process_start(&start, &reader->process);
}

static enum mpiq_stacks stacks_of(const struct mpiq_options *options)
{
    return !options->stacks ? MPIQ_STACKS_NONE : options->all_threads ? MPIQ_STACKS_ALL : MPIQ_STACKS_NEEDED;
}

static struct mpiq_error *ask(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader, size_t index)
{
    struct mpiq_error *error = start_reader(pool, reader);
    if (error)
        return error;
    struct mpiq_reader_task *task = &reader->tasks[reader->task_count++];
    *task =
        (struct mpiq_reader_task){.number = ++pool->request, .index = index, .start = mpiq_monotonic_ns()};
    pool->progress[index] = MPIQ_SOURCE_ASKED;
    error = mpiq_reader_process_request(&reader->process, task->number, mpiq_pool_source(pool, index), index,
                                        pool->look, pool->options->stop, stacks_of(pool->options), NULL);
    if (!error)
        return NULL;
    bool own = error->code == MPIQ_ERROR_NO_MEMORY || error->code == MPIQ_ERROR_USAGE;
    if (!own)
        return lose_reader(pool, reader, 0, error);
    take_task(reader, reader->task_count - 1);
    return mpiq_pool_finish_with(pool, index, error);
}

struct mpiq_error *mpiq_pool_ask_more(struct mpiq_reader_pool *pool, size_t at)
{
    struct mpiq_pooled_reader *reader = &pool->readers[at];
    struct mpiq_error *error = NULL;
    while (!error && !reader->alone && reader->task_count < pool->threads) {
        size_t index = next_source(pool, at, MPIQ_SOURCE_WAITING);
        if (index == pool->sources->count && reader->task_count == 0) {
            index = next_source(pool, at, MPIQ_SOURCE_SUSPECT);
            reader->alone = index < pool->sources->count;
        }
        if (index == pool->sources->count)
            break;
        error = ask(pool, reader, index);
    }
    return error;
}

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

/* Whether a part of it makes no sense.  Of a library in motion this may be because it moved while it was
   read: it is read again, a few times. */
static bool is_torn(struct mpiq_reader_pool *pool, size_t index, const struct mpiq_rank_state *state)
{
    enum { MOST = 2, SECONDS = 3 }; /* times, and after the look began */
    if (mpiq_pool_source(pool, index)->path || state->gone || pool->torn[index] == MOST ||
        mpiq_monotonic_ns() > pool->begin + SECONDS * MPIQ_SECOND_NS)
        return false;
    for (size_t i = 0; i < state->problem_count; i++) {
        const struct mpiq_problem *problem = &state->problems[i];
        bool constant =
            problem->what && (strcmp(problem->what, "layout") == 0 || strcmp(problem->what, "identity") == 0);
        if (!constant && (problem->code == MPIQ_ERROR_CORRUPT || problem->code == MPIQ_ERROR_UNMAPPED ||
                          problem->code == MPIQ_ERROR_SHORT)) {
            mpiq_debug("look", "process %d is read again: %s", (int)mpiq_pool_source(pool, index)->pid,
                       problem->text);
            pool->torn[index]++;
            return true;
        }
    }
    return false;
}

/* The answer to a task, which has been taken; alone: nothing else was asked beside it. */
static struct mpiq_error *take_answer(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader,
                                      const struct mpiq_reader_task *task, bool alone,
                                      struct mpiq_reader_answer *answer)
{
    struct mpiq_look_source *source = mpiq_pool_source(pool, task->index);
    struct mpiq_rank_state **ret = &source->looks[pool->look - 1];
    int world_size = pool->sources->world_size;
    struct mpiq_error *error = mpiq_steal(answer->error);
    if (!error)
        error = mpiq_rank_state_from_json(answer->text, strlen(answer->text), ret);
    const struct mpiq_problem *unread = error ? NULL : mpiq_rank_state_unread(*ret);
    if (unread && unread->code == MPIQ_ERROR_TIMEOUT && pool->late[task->index]++ == 0) {
        mpiq_debug("look", "process %d is read again: %s", (int)source->pid, unread->text);
        mpiq_rank_state_destroy(mpiq_steal(*ret));
        pool->progress[task->index] = MPIQ_SOURCE_SUSPECT;
        return NULL;
    }
    if (!error && is_torn(pool, task->index, *ret)) {
        mpiq_rank_state_destroy(mpiq_steal(*ret));
        pool->progress[task->index] = MPIQ_SOURCE_WAITING;
        return NULL;
    }
    const char *missing = missing_memory(error, *ret);
    if (missing)
        lose_memory(pool, reader, missing);
    if (missing && !alone) {
        mpiq_error_destroy(error);
        mpiq_rank_state_destroy(mpiq_steal(*ret));
        pool->progress[task->index] = MPIQ_SOURCE_SUSPECT;
        return NULL;
    }
    if (missing)
        pool->failed[task->index] = true;
    if (error && error->code == MPIQ_ERROR_GONE) {
        mpiq_error_destroy(error);
        source->gone = true;
        mpiq_pool_finish(pool, task->index);
        return mpiq_unread_gone(source, world_size, ret);
    }
    if (error)
        return mpiq_pool_finish_with(pool, task->index, error);
    mpiq_pool_finish(pool, task->index);
    mpiq_rank_state_trim_history(*ret, mpiq_history_share((*ret)->world_size));
    if (pool->look == 2 && source->looks[0]) /* what it did by then stands in this look's, too */
        mpiq_rank_state_trim_history(source->looks[0], 0);
    error = mpiq_take_state_budget(pool->sources, task->index, pool->look);
    return error ? error : mpiq_check_plausibility(source, world_size, ret);
}

static struct mpiq_error *explain_crash(int number)
{
    return mpiq_error_create(MPIQ_ERROR_INTERNAL, "the process that read it crashed (signal %d, %s)", number,
                             number > 0 ? strsignal(number) : "unknown");
}

struct mpiq_error *mpiq_pool_hear(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader)
{
    struct mpiq_error *error = NULL;
    bool more = true;
    while (!error && more && reader->process.pid > 0) {
        struct mpiq_reader_answer answer = {0};
        struct mpiq_error *broken = mpiq_reader_process_next(&reader->process, &answer, &more);
        if (broken)
            return lose_reader(pool, reader, 0, broken);
        if (more && answer.crash)
            return lose_reader(pool, reader, answer.number, explain_crash(answer.crash));
        size_t at = 0;
        while (at < reader->task_count && reader->tasks[at].number != answer.number)
            at++;
        if (!more || at == reader->task_count) { /* an answer to what nobody asked is none */
            mpiq_error_destroy(answer.error);
            continue;
        }
        bool alone = reader->alone;
        struct mpiq_reader_task task = take_task(reader, at);
        mpiq_pool_note_answer(pool, &task, mpiq_monotonic_ns());
        error = take_answer(pool, reader, &task, alone, &answer);
    }
    return error;
}

struct mpiq_error *mpiq_pool_keep_time(struct mpiq_reader_pool *pool, struct mpiq_pooled_reader *reader)
{
    int64_t now = mpiq_monotonic_ns();
    const struct mpiq_reader_task *late = NULL;
    for (size_t i = 0; i < reader->task_count; i++) {
        struct mpiq_reader_task *task = &reader->tasks[i];
        if (now >= mpiq_pool_deadline(pool, task) && !mpiq_pool_grants(pool, reader, task, now) &&
            (!late || task->start < late->start))
            late = task;
    }
    if (!late)
        return NULL;
    return lose_reader(pool, reader, late->number,
                       mpiq_error_create(MPIQ_ERROR_TIMEOUT, "reading it timed out after %.2g s",
                                         (double)(now - late->start) / (double)MPIQ_SECOND_NS));
}
