/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Deeper stacks are not followed. */
enum { DEPTH_MOST = 1 << 16 };

/* ---- calls ----------------------------------------------------------------------------------------------
 */

static struct mpiq_trace_mpi_call *new_call(struct mpiq_trace_replay *replay, uint32_t location,
                                            uint32_t path, const struct mpiq_trace_region *region,
                                            uint64_t time)
{
    struct mpiq_trace_mpi_call *call = calloc(1, sizeof *call);
    if (!call) {
        replay->failed = true;
        return NULL;
    }
    call->enter = time;
    call->location = location;
    call->rank = replay->definitions->locations[location].rank;
    call->path = path;
    call->refs = call->open = 1;
    call->call = region ? region->call : MPIQ_TRACE_OTHER;
    call->collective = region ? region->collective : -1;
    return call;
}

/* ---- stacks ---------------------------------------------------------------------------------------------
 */

static void drop_cut(struct mpiq_trace_thread *thread)
{
    mpiq_trace_call_unref(thread->cut);
    thread->cut = NULL;
}

static uint32_t top_path(const struct mpiq_trace_thread *thread)
{
    return thread->depth > 0 ? thread->frames[thread->depth - 1].path : 0;
}

static void spend(struct mpiq_trace_replay *replay, const struct mpiq_trace_thread *thread, uint32_t location,
                  uint64_t time)
{
    if (replay->listener && replay->listener->time && thread->events && !thread->call && time > thread->last)
        replay->listener->time(replay->data, location, top_path(thread), thread->last, time);
}

static void note_call(struct mpiq_trace_rank *rank, const struct mpiq_trace_mpi_call *call)
{
    switch (call->call) {
    case MPIQ_TRACE_INIT:
        rank->initialized = true;
        break;
    case MPIQ_TRACE_FINALIZE:
        rank->finalized = true;
        break;
    case MPIQ_TRACE_FREE:
        rank->frees += !call->completed;
        break;
    case MPIQ_TRACE_UNRECORDED:
        rank->unrecorded = true;
        break;
    default:
        break;
    }
    rank->last_mpi_leave = call->leave;
    rank->last_mpi_path = call->path;
}

static void on_enter(struct mpiq_trace_replay *replay, struct mpiq_trace_thread *thread,
                     const struct mpiq_trace_event *event)
{
    const struct mpiq_trace_region *region =
        event->subject == MPIQ_TRACE_NONE ? NULL : &replay->definitions->regions[event->subject];
    struct mpiq_trace_rank *rank = &replay->ranks[replay->definitions->locations[event->location].rank];
    bool mpi = region && region->call != MPIQ_TRACE_OUTSIDE;
    replay->undefined += !region;
    replay->graphs |= region && region->graph;
    if (thread->cut && !(region && region->call == MPIQ_TRACE_FINALIZE))
        drop_cut(thread);
    if (thread->depth >= DEPTH_MOST ||
        !mpiq_array_reserve(&thread->frames, &thread->room, (size_t)thread->depth + 1)) {
        replay->failed |= thread->depth < DEPTH_MOST;
        return;
    }
    uint32_t path = mpiq_trace_path_of(&replay->paths, replay->definitions, top_path(thread), event->subject);
    thread->frames[thread->depth++] = (struct mpiq_trace_frame){path, event->subject};
    if (thread->call && !mpi)
        thread->call->called_back = true;
    if (thread->call || !mpi)
        return;
    thread->call = new_call(replay, event->location, path, region, event->time);
    thread->mpi_depth = thread->depth;
    if (region->call == MPIQ_TRACE_FINALIZE)
        rank->finalizing = true;
    if (region->call == MPIQ_TRACE_INIT && strcmp(region->name, "MPI_Init_thread") == 0)
        rank->threads = true;
}

/* Whether the program left an MPI call, by exit() in a signal handler, say, that has not come to its end. */
static bool is_cut(const struct mpiq_trace_thread *thread, const struct mpiq_trace_mpi_call *call)
{
    if (thread->collective && thread->collective->status == MPIQ_TRACE_PENDING)
        return true;
    switch (call->call) {
    case MPIQ_TRACE_RECEIVE:
        return !call->received;
    case MPIQ_TRACE_SENDRECV:
        return !call->received && call->called_back;
    case MPIQ_TRACE_WAIT:
    case MPIQ_TRACE_WAITALL:
    case MPIQ_TRACE_WAITANY:
    case MPIQ_TRACE_WAITSOME:
        return !call->completed && call->called_back;
    case MPIQ_TRACE_SEND:
    case MPIQ_TRACE_SSEND:
    case MPIQ_TRACE_RSEND:
    case MPIQ_TRACE_PROBE:
    case MPIQ_TRACE_FINALIZE:
        return call->called_back;
    default:
        return false;
    }
}

static void end_call(struct mpiq_trace_replay *replay, struct mpiq_trace_thread *thread, uint64_t time)
{
    struct mpiq_trace_mpi_call *call = thread->call;
    struct mpiq_trace_rank *rank = &replay->ranks[call->rank];
    if (!thread->cut && is_cut(thread, call))
        thread->cut = mpiq_trace_call_ref(call);
    else if (!thread->cut)
        note_call(rank, call);
    thread->call = NULL;
    thread->mpi_depth = 0;
    call->leave = time;
    call->left = true;
    rank->last_mpi_leave = time;
    if (replay->listener && replay->listener->left)
        replay->listener->left(replay->data, call);
    mpiq_trace_on_neighbors_end(replay, call);
    mpiq_trace_call_close(replay, call);
    mpiq_trace_call_unref(call);
}

static void on_leave(struct mpiq_trace_replay *replay, struct mpiq_trace_thread *thread,
                     const struct mpiq_trace_event *event)
{
    /* A leave that does not fit ends what was entered above its own region. */
    uint32_t depth = thread->depth;
    while (depth > 0 && thread->frames[depth - 1].region != event->subject)
        depth--;
    replay->unnested += depth != thread->depth || depth == 0;
    if (depth == 0)
        return;
    thread->depth = depth - 1;
    if (thread->call && thread->depth < thread->mpi_depth)
        end_call(replay, thread, event->time);
}

/* ---- events ---------------------------------------------------------------------------------------------
 */

static void in_call(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                    const struct mpiq_trace_event *event)
{
    switch (event->kind) {
    case MPIQ_TRACE_MPI_SEND:
    case MPIQ_TRACE_MPI_ISEND:
        mpiq_trace_on_send(replay, call, event);
        break;
    case MPIQ_TRACE_MPI_ISEND_COMPLETE:
        mpiq_trace_on_send_complete(replay, call, event);
        break;
    case MPIQ_TRACE_MPI_IRECV_REQUEST:
        mpiq_trace_on_receive_request(replay, call, event);
        break;
    case MPIQ_TRACE_MPI_RECV:
    case MPIQ_TRACE_MPI_IRECV:
        mpiq_trace_on_receive(replay, call, event);
        break;
    case MPIQ_TRACE_MPI_COLLECTIVE_BEGIN:
    case MPIQ_TRACE_MPI_NBC_REQUEST:
    case MPIQ_TRACE_RMA_COLLECTIVE_BEGIN:
        mpiq_trace_on_collective_begin(replay, call, event);
        break;
    case MPIQ_TRACE_MPI_COLLECTIVE_END:
    case MPIQ_TRACE_MPI_NBC_COMPLETE:
    case MPIQ_TRACE_RMA_COLLECTIVE_END:
        mpiq_trace_on_collective_end(replay, call, event);
        break;
    default:
        break;
    }
}

/* In the call that the thread is in; a trace without regions has one for each event. */
static void on_message(struct mpiq_trace_replay *replay, struct mpiq_trace_thread *thread,
                       const struct mpiq_trace_event *event)
{
    struct mpiq_trace_mpi_call *call = thread->call;
    if (!call) {
        call = new_call(replay, event->location, top_path(thread), NULL, event->time);
        if (!call)
            return;
    }
    in_call(replay, call, event);
    if (call == thread->call)
        return;
    call->leave = event->time;
    call->left = true;
    mpiq_trace_call_close(replay, call);
    mpiq_trace_call_unref(call);
}

static void mark_waited(struct mpiq_trace_rank *rank, uint64_t request)
{
    for (struct mpiq_trace_receive *r = rank->open_receives; r; r = r->next_open)
        r->waited = r->waited || r->request == request;
    for (struct mpiq_trace_collective *c = rank->collectives; c; c = c->next)
        c->waited = c->waited || (c->request == request && c->status == MPIQ_TRACE_PENDING);
}

static void on_communicator(struct mpiq_trace_replay *replay, uint32_t rank,
                            const struct mpiq_trace_event *event)
{
    if (event->subject == MPIQ_TRACE_NONE) {
        replay->undefined++;
        return;
    }
    struct mpiq_trace_member *member = mpiq_trace_member_of(replay, rank, event->subject);
    if (!member)
        return;
    /* A history of ours says how many collectives came before it. */
    const struct mpiq_trace_extra *extra = mpiq_trace_stream_extra(replay->stream, event);
    if (extra && extra->set & 1u << MPIQ_TRACE_NUMBER)
        member->number = extra->values[MPIQ_TRACE_NUMBER] & INT64_MAX;
    member->created |= event->kind == MPIQ_TRACE_COMM_CREATE;
    member->destroyed = event->kind == MPIQ_TRACE_COMM_DESTROY;
}

static void take(struct mpiq_trace_replay *replay, const struct mpiq_trace_event *event)
{
    struct mpiq_trace_thread *thread = &replay->threads[event->location];
    uint32_t number = replay->definitions->locations[event->location].rank;
    struct mpiq_trace_rank *rank = &replay->ranks[number];
    replay->events++;
    spend(replay, thread, event->location, event->time);
    switch (event->kind) {
    case MPIQ_TRACE_ENTER:
        on_enter(replay, thread, event);
        break;
    case MPIQ_TRACE_LEAVE:
        on_leave(replay, thread, event);
        break;
    case MPIQ_TRACE_COMM_CREATE:
    case MPIQ_TRACE_COMM_DESTROY:
        on_communicator(replay, number, event);
        break;
    case MPIQ_TRACE_MPI_REQUEST_CANCELLED:
        mpiq_trace_on_cancelled(replay, event, number);
        mpiq_trace_on_collective_cancelled(replay, number, event->request);
        if (thread->call)
            thread->call->completed = true;
        break;
    case MPIQ_TRACE_MPI_REQUEST_TEST:
        if (mpiq_trace_stream_extra(replay->stream, event))
            mark_waited(rank, event->request);
        break;
    case MPIQ_TRACE_PROGRAM_BEGIN:
        rank->program = mpiq_trace_string(replay->definitions, event->subject);
        break;
    case MPIQ_TRACE_PROGRAM_END:
        rank->ended = true;
        break;
    default:
        on_message(replay, thread, event);
        break;
    }
    thread->last = event->time;
    thread->events = true;
}

/* ---- the whole ------------------------------------------------------------------------------------------
 */

static bool allocate(struct mpiq_trace_replay *replay)
{
    const struct mpiq_trace_definitions *definitions = replay->definitions;
    replay->ranks = calloc((size_t)definitions->rank_count + 1, sizeof *replay->ranks);
    replay->threads = calloc((size_t)definitions->location_count + 1, sizeof *replay->threads);
    replay->instances = calloc(mpiq_trace_list_count(definitions), sizeof(void *));
    replay->bad = calloc((size_t)definitions->comm_count + 1, sizeof(void *));
    return replay->ranks && replay->threads && replay->instances && replay->bad &&
           mpiq_trace_messages_init(replay);
}

struct mpiq_error *mpiq_trace_replay_init(struct mpiq_trace_replay *replay, struct mpiq_trace_stream *stream,
                                          const struct mpiq_trace_listener *listener, void *data)
{
    *replay = (struct mpiq_trace_replay){
        .stream = stream,
        .definitions = mpiq_trace_stream_definitions(stream),
        .listener = listener,
        .data = data,
    };
    if (allocate(replay))
        return NULL;
    mpiq_trace_replay_deinit(replay);
    return mpiq_error_no_memory();
}

struct mpiq_error *mpiq_trace_replay_run(struct mpiq_trace_replay *replay, uint64_t until)
{
    const struct mpiq_trace_event *event = NULL;
    bool more = false;
    while (!replay->failed && (more = mpiq_trace_stream_next(replay->stream, &event, &replay->failed))) {
        if (replay->events == 0)
            replay->start = event->time;
        if (event->time > replay->start && event->time - replay->start > until)
            break;
        if (event->time > replay->now)
            replay->now = event->time;
        take(replay, event);
    }
    replay->at_end = !more;
    if (!replay->at_end)
        replay->now = replay->start + until;
    if (replay->failed)
        return mpiq_error_no_memory();
    mpiq_trace_release_receives(replay);
    mpiq_trace_release_collectives(replay);
    return replay->failed ? mpiq_error_no_memory() : NULL;
}

void mpiq_trace_replay_deinit(struct mpiq_trace_replay *replay)
{
    mpiq_trace_messages_deinit(replay);
    mpiq_trace_collectives_deinit(replay);
    for (uint32_t i = 0; replay->threads && i < replay->definitions->location_count; i++) {
        free(replay->threads[i].frames);
        mpiq_trace_call_unref(replay->threads[i].call);
        mpiq_trace_call_unref(replay->threads[i].cut);
    }
    for (uint32_t i = 0; replay->ranks && i < replay->definitions->rank_count; i++) {
        for (uint32_t j = 0; j < replay->ranks[i].member_count; j++)
            free(replay->ranks[i].members[j].counts);
        free(replay->ranks[i].members);
        free(replay->ranks[i].fences);
    }
    free(replay->ranks);
    free(replay->threads);
    free(replay->instances);
    free(replay->bad);
    mpiq_trace_paths_deinit(&replay->paths);
}
