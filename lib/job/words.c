/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "names/system_calls.h"
#include "words/nouns.h"
#include "words/quantities.h"

static const char *bytes(struct mpiq_arena *arena, const struct mpiq_job_operation *op)
{
    if (op->bytes < 0)
        return "a message";
    return WORDS(arena, "%s", mpiq_size_text(op->bytes, (char[MPIQ_SIZE_ROOM]){0}));
}

static const char *request(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                           const struct mpiq_job_rank *rank, uint64_t handle)
{
    uint32_t comm = MPIQ_NONE;
    const struct mpiq_job_call *call = rank ? mpiq_outstanding_call(job, rank, handle, &comm) : NULL;
    if (!call)
        return "a request to complete";
    const struct mpiq_call_shape *shape = &job->shapes[call->shape];
    return WORDS(arena, "%s to complete",
                 mpiq_words_call(arena, job, mpiq_collective_name(shape->collective), shape->number, comm));
}

/* "partition 3 of 4, tag 1 from rank 0 on MPI_COMM_WORLD". */
static const char *partitions(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                              const struct mpiq_job_rank *rank, const struct mpiq_job_operation *op,
                              const char *peer, const char *on)
{
    char *text _cleanup_free_ =
        mpiq_memory_checked(mpiq_job_partitions_words(job, rank ? rank->process : MPIQ_NONE, op));
    const char *which = text ? text : "…";
    if (op->kind != MPIQ_OPERATION_PSEND)
        return WORDS(arena, "%s, %s from %s%s", which, mpiq_words_tag(arena, op), peer, on);
    if (mpiq_job_more(job, op)->missing > 0)
        return WORDS(arena, "its own MPI_Pready of %s, %s to %s%s", which, mpiq_words_tag(arena, op), peer,
                     on);
    return WORDS(arena, "%s to receive %s with %s%s", peer, which, mpiq_words_tag(arena, op), on);
}

const char *mpiq_words_operation(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                                 const struct mpiq_job_rank *rank, uint32_t operation)
{
    const struct mpiq_job_operation *op = &job->operations[operation];
    const char *peer = op->any ? "any rank" : mpiq_words_rank(arena, job, op->peer);
    uint32_t user = op->comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[op->comm].user;
    const char *on = mpiq_words_on(arena, job, user);
    if (op->kind == MPIQ_OPERATION_COLLECTIVE || op->kind == MPIQ_OPERATION_OTHER)
        return request(arena, job, rank, op->request);
    if (mpiq_is_partitioned(op))
        return partitions(arena, job, rank, op, peer, on);
    if (op->internal)
        return mpiq_is_send(op) ? WORDS(arena, "%s to take part", peer) : peer;
    if (mpiq_is_send(op))
        return WORDS(arena, "%s to receive %s with %s%s", peer, bytes(arena, op), mpiq_words_tag(arena, op),
                     on);
    return WORDS(arena, "%s from %s%s", mpiq_words_tag(arena, op), peer, on);
}

/* The operations behind the edges of a thread's wait: those that hold it first. */
static uint32_t held_by(const struct mpiq_wait_graph *graph, uint32_t thread, uint32_t *first)
{
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    bool stuck = !node->may;
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_edge *edge = &graph->edges[node->first_edge + i];
        if (edge->operation == MPIQ_NONE || (stuck && graph->nodes[edge->child].may))
            continue;
        if (count++ == 0)
            *first = edge->operation;
    }
    return count;
}

/* What a wait is for that has no operations: its kind is all that the library keeps. */
static const char *unseen(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread)
{
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, thread);
    if (wait && wait->kind == MPIQ_WAIT_RMA)
        return "a lock or an epoch of a window";
    if (wait && wait->kind == MPIQ_WAIT_CONNECT)
        return "a connection through the launcher";
    return "";
}

const char *mpiq_words_waits_for(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph,
                                 uint32_t thread)
{
    if (graph->thread_nodes[thread] == MPIQ_NONE)
        return "";
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    uint32_t first = MPIQ_NONE;
    uint32_t count = held_by(graph, thread, &first);
    if (count == 0)
        return unseen(graph->job, &graph->job->threads[thread]);
    const struct mpiq_job_rank *rank = &graph->job->ranks[graph->thread_ranks[thread]];
    const char *what = mpiq_words_operation(arena, graph->job, rank, first);
    if (count == 1)
        return what;
    const struct mpiq_job_thread *row = &graph->job->threads[thread];
    if (row->wait_count == 0) /* its stack alone does not say which of its requests it waits for */
        return WORDS(arena, "one of %" PRIu32 " requests, the first of them %s", count, what);
    return WORDS(arena, "%s %" PRIu32 " requests, the first of them %s",
                 node->need == 1 ? "any of" : "all of", count, what);
}

const char *mpiq_words_wait(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph, uint32_t thread,
                            uint32_t operation)
{
    const struct mpiq_job_state *job = graph->job;
    const struct mpiq_job_rank *rank = &job->ranks[graph->thread_ranks[thread]];
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, rank, &job->threads[thread], &in);
    if (in.collective >= 0)
        return mpiq_words_call(arena, job, mpiq_collective_name(in.collective), in.number, in.comm);
    const struct mpiq_job_thread *row = &job->threads[thread];
    bool sure;
    if (!row->in_mpi && mpiq_lock_holder(job, rank, row, &sure) != MPIQ_NONE)
        return WORDS(arena, "%s for %s", mpiq_system_call_name(row->system_call),
                     mpiq_words_lock(arena, job, rank->process, row));
    const char *call = mpiq_job_string(job, row->call);
    const char *what = operation != MPIQ_NONE ? mpiq_words_operation(arena, job, rank, operation)
                                              : mpiq_words_waits_for(arena, graph, thread);
    return WORDS(arena, "%s%s%s", call ? call : "MPI", what[0] ? " for " : "", what);
}

/* Where somebody is who does not wait in MPI: "computing at step.c:12 (advance)", "asleep in nanosleep() at
   io.c:5". */
static const char *at_place(struct mpiq_arena *arena, const struct mpiq_job_state *job, const char *word,
                            uint32_t site, uint32_t innermost)
{
    const char *place = mpiq_words_place(arena, job, site);
    const char *inner = "";
    const char *function =
        innermost == MPIQ_NONE ? NULL : mpiq_job_string(job, job->sites[innermost].function);
    if (function && innermost != site)
        inner = WORDS(arena, " in %s()", function);
    function = site == MPIQ_NONE ? NULL : mpiq_job_string(job, job->sites[site].function);
    bool named = function && job->sites[site].file && job->sites[site].line > 0;
    return WORDS(arena, "%s%s%s%s%s%s%s", word, inner, place[0] ? " at " : "", place, named ? " (" : "",
                 named ? function : "", named ? ")" : "");
}

/* "shared.log"; "" not known. */
static const char *file_of(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread)
{
    const char *path = mpiq_job_string(job, thread->file);
    const char *file = path ? mpiq_job_base_name(path) : NULL;
    return file ? file : "";
}

const char *mpiq_words_lock(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process,
                            const struct mpiq_job_thread *thread)
{
    const char *file = file_of(job, thread);
    const char *on = *file ? WORDS(arena, " on %s", file) : "";
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    bool sure;
    uint32_t holder = rank ? mpiq_lock_holder(job, rank, thread, &sure) : MPIQ_NONE;
    if (thread->lock_holder == 0)
        return WORDS(arena, "a lock%s", on);
    return WORDS(arena, "the lock%s that %s holds", on,
                 holder != MPIQ_NONE ? mpiq_words_rank(arena, job, holder)
                                     : WORDS(arena, "process %" PRId32, thread->lock_holder));
}

/* On which file a thread sleeps: ", for the lock on shared.log that rank 0 holds", ", on data.fifo". */
static const char *on_file(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t process,
                           const struct mpiq_job_thread *thread)
{
    const char *file = file_of(job, thread);
    if (!*file || thread->system_call == MPIQ_CALL_NONE)
        return "";
    return thread->system_call == MPIQ_CALL_FCNTL || thread->system_call == MPIQ_CALL_FLOCK
               ? WORDS(arena, ", for %s", mpiq_words_lock(arena, job, process, thread))
               : WORDS(arena, ", on %s", file);
}

static const char *outside(struct mpiq_arena *arena, const struct mpiq_job_state *job,
                           const struct mpiq_rank_diagnosis *rank, const char *word)
{
    bool asleep = rank->thread != MPIQ_NONE && rank->doing == MPIQ_DOING_ASLEEP;
    const char *in = rank->library_call;
    if (!in && asleep)
        in = mpiq_job_string(job, job->threads[rank->thread].blocks_in);
    if (in && asleep)
        return at_place(arena, job, WORDS(arena, "%s in %s()", word, in), rank->site, MPIQ_NONE);
    return at_place(arena, job, word, rank->site, asleep ? job->threads[rank->thread].innermost : MPIQ_NONE);
}

const char *mpiq_words_sleeps(struct mpiq_arena *arena, const struct mpiq_job_state *job, uint32_t thread)
{
    const struct mpiq_job_thread *row = &job->threads[thread];
    if (row->interpreter && row->owner)
        return at_place(arena, job, "waits for Python's interpreter lock", row->site, MPIQ_NONE);
    if (row->blocks_in)
        return at_place(arena, job, WORDS(arena, "is asleep in %s()", mpiq_job_string(job, row->blocks_in)),
                        row->site != MPIQ_NONE ? row->site : row->innermost, MPIQ_NONE);
    return at_place(arena, job, "is asleep", row->site != MPIQ_NONE ? row->site : row->innermost,
                    row->innermost);
}

static const char *waiting(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph,
                           const struct mpiq_rank_diagnosis *rank, bool plural, double since)
{
    const struct mpiq_job_state *job = graph->job;
    const char *place = mpiq_words_place(arena, job, rank->site);
    const char *for_what = rank->thread == MPIQ_NONE ? "" : mpiq_words_waits_for(arena, graph, rank->thread);
    const char *duration = mpiq_words_duration(arena, since);
    enum mpiq_blocking blocking = mpiq_blocking_call(rank->call);
    bool collective = blocking == MPIQ_BLOCKING_COLLECTIVE || blocking == MPIQ_BLOCKING_FINALIZE ||
                      blocking == MPIQ_BLOCKING_INIT;
    if (collective)
        return WORDS(arena, "%s in %s%s%s%s%s",
                     duration[0] ? plural ? "have been" : "has been"
                     : plural    ? "are"
                                 : "is",
                     mpiq_words_call(arena, job, rank->call, rank->number, rank->comm),
                     place[0] ? " at " : "", place, duration[0] ? " for " : "", duration);
    const char *in = !for_what[0] && rank->call ? WORDS(arena, " in %s", rank->call) : "";
    const char *verb = duration[0] ? WORDS(arena, "%s waited %s", plural ? "have" : "has", duration)
                                   : WORDS(arena, "%s waiting", plural ? "are" : "is");
    return WORDS(arena, "%s%s%s%s%s%s", verb, in, place[0] ? " at " : "", place, for_what[0] ? " for " : "",
                 for_what);
}

static const char *does(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph, uint32_t process,
                        bool plural, double since)
{
    const struct mpiq_rank_diagnosis *rank = &graph->diagnosis->ranks[process];
    const char *is = plural ? "are" : "is";
    switch (rank->doing) {
    case MPIQ_DOING_UNREADABLE:
        return "could not be read";
    case MPIQ_DOING_BLOCKED:
        return waiting(arena, graph, rank, plural, since);
    case MPIQ_DOING_POLLING:
        return outside(arena, graph->job, rank,
                       rank->call ? WORDS(arena, "%s in %s", is, rank->call) : WORDS(arena, "%s in MPI", is));
    case MPIQ_DOING_COMPUTING:
        return outside(arena, graph->job, rank, WORDS(arena, "%s computing", is));
    case MPIQ_DOING_CALLING:
        return at_place(arena, graph->job, WORDS(arena, "%s in %s()", is, rank->library_call), rank->site,
                        MPIQ_NONE);
    case MPIQ_DOING_ASLEEP:
        return WORDS(arena, "%s%s", outside(arena, graph->job, rank, WORDS(arena, "%s asleep", is)),
                     rank->thread == MPIQ_NONE
                         ? ""
                         : on_file(arena, graph->job, process, &graph->job->threads[rank->thread]));
    case MPIQ_DOING_STOPPED:
        return outside(
            arena, graph->job, rank,
            WORDS(arena, mpiq_is_traced(graph->job, process) ? "%s held by a debugger" : "%s stopped", is));
    case MPIQ_DOING_GONE:
        return plural ? "have ended" : "has ended";
    }
    return "";
}

const char *mpiq_words_does(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph, uint32_t process,
                            bool plural)
{
    return does(arena, graph, process, plural, graph->diagnosis->ranks[process].since);
}

const char *mpiq_words_behaviour(struct mpiq_arena *arena, const struct mpiq_wait_graph *graph,
                                 uint32_t process)
{
    return does(arena, graph, process, false, -1);
}
