/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a rank in the middle of the trace, and what the calls that they are in wait for. */
#include <stdio.h>
#include <string.h>

#include "trace/pending.h"

/* Frames of the program's own that are told. */
enum { FRAMES_MOST = 32 };

static bool add_frame(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, size_t index,
                      uint32_t path)
{
    const struct mpiq_trace_region *region = mpiq_trace_region_of(telling->replay, path);
    const char *function = region ? mpiq_rank_state_intern(state, region->name) : NULL;
    const char *file =
        region && region->file && region->file[0] ? mpiq_rank_state_intern(state, region->file) : NULL;
    struct mpiq_frame *frame = mpiq_thread_add_frame(&state->threads[index]);
    if (!frame)
        return false;
    frame->function = function;
    frame->file = file;
    frame->line = file ? region->line : 0;
    return true;
}

/* Innermost first: from the path of the call, or of what runs outside MPI, to the beginning. */
static bool add_frames(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, size_t index,
                       uint32_t path, bool mpi)
{
    const struct mpiq_trace_paths *paths = &telling->replay->paths;
    for (int i = 0; i < FRAMES_MOST && path != 0 && path < paths->count; i++) {
        if (!add_frame(telling, state, index, path))
            return false;
        path = paths->paths[path].parent;
    }
    struct mpiq_thread *thread = &state->threads[index];
    thread->mpi_frame = mpi && thread->frame_count > 0 ? 0 : -1;
    thread->user_frame = thread->frame_count > (size_t)mpi ? mpi : -1;
    return true;
}

static struct mpiq_wait *add_wait(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                                  size_t index, const struct mpiq_trace_mpi_call *call, uint8_t kind)
{
    struct mpiq_wait *wait = mpiq_thread_add_wait(&state->threads[index]);
    if (!wait)
        return NULL;
    wait->kind = kind;
    wait->need = 1;
    wait->episode = call->enter;
    wait->begin_ns = mpiq_trace_ns(telling->replay, call->enter);
    snprintf(wait->call, sizeof wait->call, "%s", state->threads[index].mpi_call);
    state->threads[index].has_wait_record = true;
    return wait;
}

static bool add_operation(struct mpiq_wait *wait, const struct mpiq_operation *from)
{
    struct mpiq_operation *operation = mpiq_wait_add_operation(wait);
    if (!operation)
        return false;
    *operation = *from;
    operation->queue = MPIQ_QUEUE_WAIT;
    return true;
}

/* ---- sends and receives ---------------------------------------------------------------------------------
 */

/* The pending send of the call, in the queue: a blocking one has no request. */
static const struct mpiq_operation *own_send(const struct mpiq_rank_state *state)
{
    for (size_t i = state->operation_count; i-- > 0;) {
        const struct mpiq_operation *operation = &state->operations[i];
        if (operation->queue == MPIQ_QUEUE_SENDS && operation->request == 0)
            return operation;
    }
    return NULL;
}

static bool wait_for_send(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                          size_t index, const struct mpiq_trace_mpi_call *call)
{
    const struct mpiq_operation *send = own_send(state);
    state->threads[index].has_wait_record = true;
    if (!send) /* it has been received: the call is about to return */
        return true;
    struct mpiq_wait *wait = add_wait(telling, state, index, call, MPIQ_WAIT_SEND);
    return wait && add_operation(wait, send);
}

/* A blocking receive or probe: a record says what for only if it is ours (a request posted in the call). */
static bool wait_for_message(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                             size_t index, const struct mpiq_trace_mpi_call *call, uint8_t kind)
{
    if (state->communicator_count == 0)
        return true;
    struct mpiq_operation operation = {.collective = -1, .actual_local = -1, .actual_bytes = -1};
    uint32_t extra = 0;
    const struct mpiq_trace_receive *receive = telling->replay->ranks[call->rank].open_receives;
    for (; receive; receive = receive->next_open) {
        if (receive->posted == call)
            extra = receive->extra;
    }
    mpiq_trace_set_envelope(telling, call->rank, extra, &operation);
    operation.actual = (struct mpiq_name){0, -1};
    operation.missing = -1;
    operation.kind = kind == MPIQ_WAIT_RECEIVE ? MPIQ_OPERATION_RECEIVE : MPIQ_OPERATION_PROBE;
    mpiq_trace_place(telling->replay, state, call->path, &operation.started);
    if (kind == MPIQ_WAIT_RECEIVE && !extra) {
        struct mpiq_operation *posted = mpiq_rank_state_add_operation(state);
        if (!posted)
            return false;
        *posted = operation;
        posted->queue = MPIQ_QUEUE_RECEIVES;
        posted->sequence = state->operation_count;
    }
    struct mpiq_wait *wait = add_wait(telling, state, index, call, kind);
    return wait && add_operation(wait, &operation);
}

/* ---- requests -------------------------------------------------------------------------------------------
 */

static const struct mpiq_operation *by_request(const struct mpiq_rank_state *state, uint64_t request)
{
    for (size_t i = 0; i < state->operation_count; i++) {
        if (state->operations[i].request == request)
            return &state->operations[i];
    }
    return NULL;
}

static uint8_t kind_of_wait(uint8_t call)
{
    return call == MPIQ_TRACE_WAITALL    ? MPIQ_WAIT_ALL
           : call == MPIQ_TRACE_WAITANY  ? MPIQ_WAIT_ANY
           : call == MPIQ_TRACE_WAITSOME ? MPIQ_WAIT_SOME
                                         : MPIQ_WAIT_REQUEST;
}

/* Which requests a call waits for is known if a record of ours says so, or if only one is open; else it is
   one of all that are. */
static bool wait_for_requests(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                              size_t index, const struct mpiq_trace_mpi_call *call)
{
    const struct mpiq_trace_rank *rank = &telling->replay->ranks[call->rank];
    struct mpiq_wait *wait = NULL;
    bool single = call->call == MPIQ_TRACE_WAIT && state->operation_count == 1 && !rank->collectives;
    if (single) {
        wait = add_wait(telling, state, index, call, MPIQ_WAIT_REQUEST);
        return wait && add_operation(wait, &state->operations[0]);
    }
    for (const struct mpiq_trace_receive *r = rank->open_receives; r; r = r->next_open) {
        const struct mpiq_operation *found = r->waited ? by_request(state, r->request + 1) : NULL;
        if (!found)
            continue;
        if (!wait)
            wait = add_wait(telling, state, index, call, kind_of_wait(call->call));
        if (!wait || !add_operation(wait, found))
            return false;
    }
    if (wait && wait->kind == MPIQ_WAIT_ALL)
        wait->need = (int32_t)wait->operation_count;
    return true;
}

/* ---- collectives ----------------------------------------------------------------------------------------
 */

/* The communicator of a blocking collective that has not ended: as our attribute says, else the only one with
   other members that the rank has; -1 not known. */
static int32_t communicator_of(const struct mpiq_trace_telling *telling, const struct mpiq_rank_state *state,
                               const struct mpiq_trace_extra *extra)
{
    if (extra && extra->set & 1u << MPIQ_TRACE_COMM) {
        uint32_t comm = mpiq_trace_find_comm(telling->replay->definitions, extra->values[MPIQ_TRACE_COMM]);
        return comm == MPIQ_TRACE_NONE ? -1 : telling->comms[comm];
    }
    int32_t only = -1;
    for (size_t i = 0; i < state->communicator_count; i++) {
        if (state->communicators[i].flags & (MPIQ_COMM_SELF | MPIQ_COMM_FREED))
            continue;
        if (only >= 0)
            return -1;
        only = (int32_t)i;
    }
    return only;
}

static bool wait_in_collective(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                               size_t index, const struct mpiq_trace_mpi_call *call, uint32_t extra_index)
{
    const struct mpiq_trace_event named = {.extra = extra_index};
    const struct mpiq_trace_extra *extra = mpiq_trace_stream_extra(telling->replay->stream, &named);
    int32_t comm = communicator_of(telling, state, extra);
    if (comm < 0 || !mpiq_collective_ordered(call->collective))
        return true;
    struct mpiq_wait *wait = add_wait(telling, state, index, call, MPIQ_WAIT_SHARED);
    if (!wait)
        return false;
    wait->comm = wait->collective_comm = comm;
    wait->collective = call->collective;
    struct mpiq_place place;
    mpiq_trace_place(telling->replay, state, call->path, &place);
    struct mpiq_communicator *row = &state->communicators[comm];
    struct mpiq_call *added = mpiq_communicator_add_call(row);
    if (!added)
        return false;
    memmove(&row->calls[1], &row->calls[0], (row->call_count - 1) * sizeof *row->calls);
    row->ordered++;
    row->calls[0] = (struct mpiq_call){
        .number = row->ordered,
        .bytes = -1,
        .begin_ns = mpiq_trace_ns(telling->replay, call->enter),
        .root = extra && extra->set & 1u << MPIQ_TRACE_ROOT ? (int32_t)extra->values[MPIQ_TRACE_ROOT] : -1,
        .tid = state->threads[index].tid,
        .collective = call->collective,
        .started = place};
    for (size_t i = 0; i < row->count_count; i++) {
        if (row->counts[i].collective == call->collective) {
            row->counts[i].count++;
            row->counts[i].active = true;
            return true;
        }
    }
    struct mpiq_coll_count *count = mpiq_communicator_add_count(row);
    if (!count)
        return false;
    *count = (struct mpiq_coll_count){call->collective, true, 1};
    return true;
}

/* ---- threads --------------------------------------------------------------------------------------------
 */

static bool add_waits(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, size_t index,
                      const struct mpiq_trace_mpi_call *call)
{
    const struct mpiq_trace_thread *thread = &telling->replay->threads[call->location];
    switch (call->call) {
    case MPIQ_TRACE_SEND:
    case MPIQ_TRACE_SSEND:
    case MPIQ_TRACE_RSEND:
        return wait_for_send(telling, state, index, call);
    case MPIQ_TRACE_RECEIVE:
        return wait_for_message(telling, state, index, call, MPIQ_WAIT_RECEIVE);
    case MPIQ_TRACE_PROBE:
        return wait_for_message(telling, state, index, call, MPIQ_WAIT_PROBE);
    case MPIQ_TRACE_WAIT:
    case MPIQ_TRACE_WAITALL:
    case MPIQ_TRACE_WAITANY:
    case MPIQ_TRACE_WAITSOME:
        return wait_for_requests(telling, state, index, call);
    case MPIQ_TRACE_COLLECTIVE:
        return wait_in_collective(telling, state, index, call,
                                  thread->collective ? thread->collective->extra : 0);
    case MPIQ_TRACE_INIT:
        return add_wait(telling, state, index, call, MPIQ_WAIT_INIT);
    case MPIQ_TRACE_FINALIZE:
        return add_wait(telling, state, index, call, MPIQ_WAIT_FINALIZE);
    case MPIQ_TRACE_TEST:
        state->threads[index].has_wait_record = true;
        return true;
    default: /* nothing is known but the call's name */
        return true;
    }
}

static bool add_thread(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t location,
                       int32_t tid)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    const struct mpiq_trace_thread *thread = &replay->threads[location];
    const struct mpiq_trace_mpi_call *call = thread->call ? thread->call : thread->cut;
    uint32_t path = call ? call->path : thread->depth > 0 ? thread->frames[thread->depth - 1].path : 0;
    struct mpiq_thread *row = mpiq_rank_state_add_thread(state);
    if (!row)
        return false;
    size_t index = state->thread_count - 1;
    const char *name = call ? mpiq_trace_call_name(replay, call->path) : NULL;
    row->tid = tid;
    row->state = call ? 'S' : 'R';
    row->has_wait_record = !call;
    snprintf(row->mpi_call, sizeof row->mpi_call, "%s", name ? name : "");
    return add_frames(telling, state, index, path, name) && (!call || add_waits(telling, state, index, call));
}

bool mpiq_trace_add_threads(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                            uint32_t number)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    const struct mpiq_trace_rank *rank = &replay->ranks[number];
    uint32_t master = replay->definitions->masters[number];
    if (!add_thread(telling, state, master, 0))
        return false;
    bool outside = !replay->threads[master].call && !replay->threads[master].cut;
    const char *last = outside ? mpiq_trace_call_name(replay, rank->last_mpi_path) : NULL;
    if (last) {
        snprintf(state->last_mpi_call, sizeof state->last_mpi_call, "%s", last);
        state->last_mpi_end_ns = mpiq_trace_ns(replay, rank->last_mpi_leave);
    }
    int32_t tid = 0;
    for (uint32_t i = 0; i < replay->definitions->location_count; i++) {
        /* A thread with an empty stack waits for work. */
        if (i == master || replay->definitions->locations[i].rank != number || replay->threads[i].depth == 0)
            continue;
        if (!add_thread(telling, state, i, ++tid))
            return false;
    }
    return true;
}
