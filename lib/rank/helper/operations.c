/* SPDX-License-Identifier: BSD-3-Clause */
/* operations - messages: the queues of a communicator, and what threads wait for. */
#include <limits.h>
#include <string.h>

#include "reading.h"

/* Past calls of all threads of a rank. */
#define MPIQ_HISTORY_MAX 65536

/* ---- one operation ---------------------------------------------------------------------------------- */

static int32_t local_rank_of(mqs_tword_t rank, uint32_t peers)
{
    return rank >= 0 && rank < (mqs_tword_t)peers && rank <= INT32_MAX ? (int32_t)rank : -1;
}

/* What the plain interface says of the other side: a rank in our world, or through the members we have. */
static struct mpiq_name name_of(const struct mpiq_reading *reading, const struct mpiq_communicator *comm,
                                int32_t local, mqs_tword_t global)
{
    const struct mpiq_group *group = comm->flags & MPIQ_COMM_INTER ? &comm->remote : &comm->local;
    const struct mpiq_known_group *known = mpiq_group_table_find(reading->groups, group->hash, group->count);
    if (local >= 0 && known)
        return known->group.members[local];
    if (local >= 0 && global >= 0 && global <= INT32_MAX && !reading->dll->has_extensions)
        return (struct mpiq_name){.job = reading->state->name.job, .rank = (int32_t)global};
    return (struct mpiq_name){.rank = -1};
}

static void convert_envelope(struct mpiq_reading *reading, const mqs_pending_operation *from,
                             struct mpiq_operation *to)
{
    const struct mpiq_communicator *comm = &reading->state->communicators[to->comm];
    uint32_t peers = mpiq_communicator_peers(comm);

    to->status = from->status == mqs_st_complete  ? MPIQ_STATUS_COMPLETE
                 : from->status == mqs_st_matched ? MPIQ_STATUS_MATCHED
                                                  : MPIQ_STATUS_PENDING;
    to->peer_local = local_rank_of(from->desired_local_rank, peers);
    to->peer = name_of(reading, comm, to->peer_local, from->desired_global_rank);
    to->tag_any = from->tag_wild != 0;
    if (!to->tag_any)
        to->tag = (int32_t)from->desired_tag;
    to->bytes = from->desired_length >= 0 ? from->desired_length : -1;
    to->system_buffer = from->system_buffer != 0;
    to->buffer = from->buffer;
    /* A message that has come has a sender, wherever the DLL wrote it. */
    if (to->status != MPIQ_STATUS_PENDING || to->queue == MPIQ_QUEUE_UNEXPECTED) {
        to->actual_local = local_rank_of(from->actual_local_rank, peers);
        to->actual = name_of(reading, comm, to->actual_local, from->actual_global_rank);
        to->actual_tag = (int32_t)from->actual_tag;
        to->actual_bytes = from->actual_length >= 0 ? from->actual_length : -1;
    }
}

static const uint8_t kinds[] = {
    [mqs_kind_send] = MPIQ_OPERATION_SEND,       [mqs_kind_bsend] = MPIQ_OPERATION_BSEND,
    [mqs_kind_ssend] = MPIQ_OPERATION_SSEND,     [mqs_kind_rsend] = MPIQ_OPERATION_RSEND,
    [mqs_kind_receive] = MPIQ_OPERATION_RECEIVE, [mqs_kind_probe] = MPIQ_OPERATION_PROBE,
    [mqs_kind_message] = MPIQ_OPERATION_MESSAGE, [mqs_kind_collective] = MPIQ_OPERATION_COLLECTIVE,
    [mqs_kind_other] = MPIQ_OPERATION_OTHER,     [mqs_kind_psend] = MPIQ_OPERATION_PSEND,
    [mqs_kind_precv] = MPIQ_OPERATION_PRECV,
};

bool mpiq_dll_knows_kind(int kind)
{
    return kind >= 0 && kind < (int)(sizeof kinds / sizeof *kinds);
}

uint8_t mpiq_dll_operation_kind(int kind)
{
    return kinds[mpiq_dll_knows_kind(kind) ? kind : mqs_kind_other];
}

static void convert_details(struct mpiq_reading *reading, const mqs_operation_details *from,
                            struct mpiq_operation *to)
{
    to->request = from->request;
    to->sequence = from->sequence;
    to->caller = from->caller;
    if (mpiq_dll_knows_kind(from->kind))
        to->kind = mpiq_dll_operation_kind(from->kind);
    to->persistent = from->flags & mqs_operation_persistent;
    to->internal = from->flags & mqs_operation_internal;
    to->eager = from->flags & mqs_operation_eager;
    to->inactive = from->flags & mqs_operation_inactive;
    to->freed = from->flags & mqs_operation_freed;
    to->out_of_order = from->flags & mqs_operation_out_of_order;
    to->cancelled = from->flags & mqs_operation_cancelled;
    to->unnamed = from->flags & mqs_operation_unnamed;
    to->collective = mpiq_dll_class(reading->dll, from->collective);
    to->datatype = mpiq_reading_intern(reading, from->datatype_name, sizeof from->datatype_name);
    if (from->peer_known && from->peer.vpid <= INT32_MAX) {
        struct mpiq_name peer = {.job = from->peer.jobid, .rank = (int32_t)from->peer.vpid};
        if (to->queue == MPIQ_QUEUE_UNEXPECTED || (to->peer_local < 0 && to->actual_local >= 0))
            to->actual = peer;
        if (to->peer_local >= 0)
            to->peer = peer;
    }
}

static bool get_details(struct mpiq_reading *reading, mqs_operation_details *details)
{
    memset(details, 0, sizeof *details);
    details->collective = -1;
    if (!reading->dll->extensions.get_operation_details)
        return false;
    int code = reading->dll->extensions.get_operation_details(&reading->process, details);
    if (code != mqs_ok)
        mpiq_reading_problem(reading, "queues", code, "an operation's details cannot be read");
    return code == mqs_ok;
}

static void add_partitions(struct mpiq_reading *reading, struct mpiq_operation *operation)
{
    mqs_partitions partitions = {.missing = -1};
    if (!reading->dll->extensions.get_partitions ||
        reading->dll->extensions.get_partitions(&reading->process, &partitions) != mqs_ok)
        return;
    operation->partitions = partitions.partitions > 0 ? partitions.partitions : 0;
    operation->missing = partitions.missing >= 0 ? partitions.missing : -1;
    operation->which = mpiq_reading_intern(reading, partitions.which, sizeof partitions.which);
    operation->inner = partitions.inner;
    operation->moves = partitions.moves != 0;
}

static bool too_many(struct mpiq_reading *reading)
{
    if (reading->operations++ < MPIQ_OPERATIONS_MAX)
        return false;
    mpiq_reading_problem(reading, "queues", mqs_ok,
                         "there are too many operations, or their list has no end");
    return true;
}

/* ---- queues ----------------------------------------------------------------------------------------- */

static const struct {
    int theirs;
    uint8_t ours;
    uint8_t kind; /* where the DLL does not say */
    const char *phase;
    const char *failed;
} queues[] = {
    {mqs_pending_sends, MPIQ_QUEUE_SENDS, MPIQ_OPERATION_SEND, "reading pending sends",
     "the pending sends cannot be read"},
    {mqs_pending_receives, MPIQ_QUEUE_RECEIVES, MPIQ_OPERATION_RECEIVE, "reading posted receives",
     "the posted receives cannot be read"},
    {mqs_unexpected_messages, MPIQ_QUEUE_UNEXPECTED, MPIQ_OPERATION_MESSAGE, "reading unexpected messages",
     "the unexpected messages cannot be read"},
};

static void read_queue(struct mpiq_reading *reading, unsigned queue)
{
    struct mpiq_dll *dll = reading->dll;
    mqs_pending_operation plain;
    mqs_operation_details details;

    mpiq_reading_phase = queues[queue].phase;
    int code = dll->mqs_setup_operation_iterator(&reading->process, queues[queue].theirs);
    if (code == mqs_no_information && reading->state->queues != MPIQ_NO)
        mpiq_reading_problem(reading, "operations", code, queues[queue].failed);
    while (code == mqs_ok) {
        memset(&plain, 0, sizeof plain);
        code = dll->mqs_next_operation(&reading->process, &plain);
        if (code != mqs_ok)
            break;
        if (too_many(reading))
            return;
        bool detailed = get_details(reading, &details);
        struct mpiq_operation *operation = mpiq_rank_state_add_operation(reading->state);
        if (!operation)
            return;
        operation->queue = queues[queue].ours;
        operation->kind = queues[queue].kind;
        operation->comm = (uint32_t)(reading->state->communicator_count - 1);
        convert_envelope(reading, &plain, operation);
        if (detailed)
            convert_details(reading, &details, operation);
        if (operation->kind == MPIQ_OPERATION_PSEND || operation->kind == MPIQ_OPERATION_PRECV)
            add_partitions(reading, operation);
    }
    if (code != mqs_end_of_list && code != mqs_no_information)
        mpiq_reading_problem(reading, "queues", code, queues[queue].failed);
}

void mpiq_read_queues(struct mpiq_reading *reading)
{
    for (unsigned queue = 0; queue < sizeof queues / sizeof *queues; queue++)
        read_queue(reading, queue);
}

/* ---- waits ------------------------------------------------------------------------------------------ */

/* Index of the communicator with that handle; -1. */
static int32_t find_comm(const struct mpiq_rank_state *state, uint64_t handle)
{
    for (size_t i = 0; handle && i < state->communicator_count; i++) {
        if (state->communicators[i].handle == handle)
            return (int32_t)i;
    }
    return -1;
}

/* The communicator of an operation.  One without (a generalized request) is listed under the wait's
   communicator, or else under the first. -1: it has one that was not read. */
static int32_t comm_of(const struct mpiq_reading *reading, const mqs_operation_details *details,
                       const struct mpiq_wait *wait)
{
    int32_t comm = find_comm(reading->state, details->comm);
    if (comm < 0)
        comm = wait->comm;
    if (comm < 0 && (details->comm == 0 || details->kind == mqs_kind_other))
        comm = reading->state->communicator_count > 0 ? 0 : -1;
    return comm;
}

static void read_wait_operations(struct mpiq_reading *reading, struct mpiq_wait *wait, int count)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mqs_pending_operation plain;
    mqs_operation_details details;

    if (!extensions->next_wait_operation)
        return;
    for (int i = 0; i < count; i++) {
        memset(&plain, 0, sizeof plain);
        int code = extensions->next_wait_operation(&reading->process, &plain);
        if (code == mqs_end_of_list)
            return;
        if (code != mqs_ok) {
            mpiq_reading_problem(reading, "waits", code, "what a thread waits for cannot be read whole");
            return;
        }
        if (too_many(reading))
            return;
        bool detailed = get_details(reading, &details);
        int32_t comm = comm_of(reading, &details, wait);
        if (comm < 0) {
            mpiq_reading_problem(reading, "waits", mqs_no_information,
                                 "a thread waits for an operation on a communicator that is not in the list");
            continue;
        }
        struct mpiq_operation *operation = mpiq_wait_add_operation(wait);
        if (!operation)
            return;
        operation->comm = (uint32_t)comm;
        operation->kind = MPIQ_OPERATION_OTHER;
        convert_envelope(reading, &plain, operation);
        if (detailed)
            convert_details(reading, &details, operation);
        if (operation->kind == MPIQ_OPERATION_PSEND || operation->kind == MPIQ_OPERATION_PRECV)
            add_partitions(reading, operation);
    }
}

/* tid 0: the library keeps no records, and only says that somebody waits.  lib/rank/stacks.c finds out who.
 */
static struct mpiq_thread *thread_of(struct mpiq_rank_state *state, int tid)
{
    /* A thread's waits follow one another. */
    for (size_t i = state->thread_count; i-- > 0;) {
        if (state->threads[i].tid == tid)
            return &state->threads[i];
    }
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    if (thread) {
        thread->tid = tid;
        thread->has_wait_record = tid > 0;
    }
    return thread;
}

static int32_t find_window(const struct mpiq_rank_state *state, mqs_taddr_t handle)
{
    for (size_t i = 0; i < state->window_count; i++) {
        if (state->windows[i].handle == handle)
            return (int32_t)i;
    }
    return -1;
}

static void read_wait(struct mpiq_reading *reading, const mqs_wait *from)
{
    struct mpiq_thread *thread = thread_of(reading->state, from->tid > 0 ? from->tid : 0);
    bool refused = from->kind == MQS_WAIT_REFUSED;
    if (thread && from->kind == MQS_WAIT_STEPPED) {
        MPIQ_COPY(thread->stepped, from->call);
        thread->stepped_number = from->episode;
        return;
    }
    if (!thread || from->kind < MPIQ_WAIT_NONE || (from->kind > MPIQ_WAIT_WIN_FREE && !refused))
        return;
    /* A wait of no kind for nothing says only that there is a record of the thread. */
    if (from->kind == MPIQ_WAIT_NONE && from->operations <= 0)
        return;
    struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
    if (!wait)
        return;
    wait->level = from->level >= 0 ? from->level : 0;
    wait->kind = (uint8_t)(refused ? MPIQ_WAIT_REFUSED : from->kind);
    wait->need = from->need >= 0 ? from->need : 0;
    wait->episode = from->episode;
    wait->begin_ns = from->begin_ns > 0 ? from->begin_ns : 0;
    wait->comm = find_comm(reading->state, from->comm);
    wait->collective_comm = find_comm(reading->state, from->collective_comm);
    wait->collective = mpiq_dll_class(reading->dll, from->collective);
    MPIQ_COPY(wait->call, from->call);
    if (from->window != 0) {
        wait->window = find_window(reading->state, from->window);
        wait->window_target = from->window_target >= 0 ? from->window_target : -1;
        if (from->kind == MPIQ_WAIT_LOCK)
            wait->lock_type = from->lock_exclusive ? MPIQ_LOCK_EXCLUSIVE : MPIQ_LOCK_SHARED;
    }
    read_wait_operations(reading, wait, from->operations);
}

void mpiq_read_waits(struct mpiq_reading *reading)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mqs_wait wait;

    mpiq_reading_phase = "reading what threads wait for";
    if (!extensions->setup_wait_iterator || !extensions->next_wait)
        return;
    int code = extensions->setup_wait_iterator(&reading->process);
    for (int i = 0; code == mqs_ok && i < MPIQ_WAITS_MAX; i++) {
        memset(&wait, 0, sizeof wait);
        code = extensions->next_wait(&reading->process, &wait);
        if (code == mqs_ok)
            read_wait(reading, &wait);
    }
    if (code != mqs_end_of_list && code != mqs_no_information)
        mpiq_reading_problem(reading, "waits", code, "what threads wait for cannot be read");
}

/* ---- history ---------------------------------------------------------------------------------------- */

/* The end of the newest call that has returned: of use where the rank is outside MPI. */
static void note_last_call(struct mpiq_rank_state *state, const struct mpiq_past_call *call)
{
    if (call->end_ns <= state->last_mpi_end_ns || !call->call)
        return;
    state->last_mpi_end_ns = call->end_ns;
    mpiq_copy_text(state->last_mpi_call, sizeof state->last_mpi_call, call->call, strlen(call->call));
}

/* The later one of two calls, if the second is a blocking one that was begun by `end` and has returned. */
static const struct mpiq_call *later(const struct mpiq_call *last, const struct mpiq_call *call, int64_t end)
{
    bool ended = call->done && call->begin_ns > 0 && call->begin_ns <= end;
    return ended && mpiq_collective_kind(call->collective) == 'B' &&
                   (!last || call->begin_ns > last->begin_ns)
               ? call
               : last;
}

/* The newest blocking collective call of those that the process and its communicators remember. */
static const struct mpiq_call *last_collective(const struct mpiq_rank_state *state, int64_t end)
{
    const struct mpiq_call *last = NULL;
    for (size_t i = 0; i < state->process_call_count; i++)
        last = later(last, &state->process_calls[i], end);
    for (size_t i = 0; i < state->communicator_count; i++) {
        const struct mpiq_communicator *comm = &state->communicators[i];
        for (size_t j = 0; j < comm->call_count; j++)
            last = later(last, &comm->calls[j], end);
    }
    return last;
}

/* Where no history is kept: since when a rank has been in no collective call. */
static void read_last_end(struct mpiq_reading *reading)
{
    struct mpiq_rank_state *state = reading->state;
    int64_t end = 0;

    mpiq_reading_phase = "asking when the last collective call ended";
    if (state->last_mpi_end_ns > 0 || !reading->dll->extensions.get_last_end ||
        reading->dll->extensions.get_last_end(&reading->process, &end) != mqs_ok || end <= 0)
        return;
    const struct mpiq_call *call = last_collective(state, end);
    const char *name = call ? mpiq_collective_name(call->collective) : NULL;
    if (!name)
        return;
    mpiq_copy_text(state->last_mpi_call, sizeof state->last_mpi_call, name, strlen(name));
    state->last_mpi_end_ns = end;
    state->last_mpi_collective = true;
}

static void read_history(struct mpiq_reading *reading)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mqs_past_call past;

    mpiq_reading_phase = "reading the threads' last calls";
    if (!extensions->setup_history_iterator || !extensions->next_past_call)
        return;
    int code = extensions->setup_history_iterator(&reading->process);
    for (int i = 0; code == mqs_ok && i < MPIQ_HISTORY_MAX; i++) {
        memset(&past, 0, sizeof past);
        code = extensions->next_past_call(&reading->process, &past);
        if (code != mqs_ok)
            break;
        struct mpiq_past_call *call = mpiq_rank_state_add_past_call(reading->state);
        if (!call)
            return;
        call->call = mpiq_reading_intern(reading, past.call, sizeof past.call);
        call->begin_ns = past.begin_ns > 0 ? past.begin_ns : 0;
        call->end_ns = past.end_ns > 0 ? past.end_ns : 0;
        call->comm = find_comm(reading->state, past.comm);
        call->peer_local = past.peer_local >= 0 ? past.peer_local : -1;
        call->any_source = past.peer_local == mqs_past_any;
        call->proc_null = past.peer_local == mqs_past_proc_null;
        call->tag = past.tag >= 0 ? past.tag : -1;
        call->any_tag = past.tag == mqs_past_any;
        call->root = past.root >= 0 ? past.root : -1;
        call->bytes = past.bytes >= 0 ? past.bytes : -1;
        call->tid = past.tid > 0 ? past.tid : 0;
        call->caller = past.caller;
        call->error = past.error;
        call->tag_group = past.tag_group;
        note_last_call(reading->state, call);
    }
    mpiq_rank_state_trim_history(reading->state, mpiq_history_share(reading->state->world_size));
    if (code != mqs_ok && code != mqs_end_of_list && code != mqs_no_information)
        mpiq_reading_problem(reading, "history", code, "the last MPI calls cannot be read");
}

void mpiq_read_history(struct mpiq_reading *reading)
{
    read_history(reading);
    read_last_end(reading);
}
