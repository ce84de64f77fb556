/* SPDX-License-Identifier: BSD-3-Clause */
/* What is compared between two looks at a rank. */
#include <string.h>

#include "merge/builder_private.h"

static uint64_t hash_operation(uint64_t hash, const struct mpiq_operation *op)
{
    hash = mpiq_hash_two(hash, op->request, op->sequence);
    hash = mpiq_hash_two(hash, (uint64_t)op->comm << 32 | (uint32_t)op->peer_local,
                         (uint64_t)(uint32_t)op->tag << 32 | (uint32_t)op->actual_tag);
    unsigned flags = (unsigned)op->tag_any | (unsigned)op->inactive << 1 | (unsigned)op->internal << 2 |
                     (unsigned)op->eager << 3 | (unsigned)op->freed << 4 | (unsigned)op->out_of_order << 5 |
                     (unsigned)op->cancelled << 6 | (unsigned)op->moves << 7;
    hash = mpiq_hash_two(hash, (uint64_t)(uint32_t)op->actual_local << 32 | (uint32_t)op->peer.rank,
                         (uint64_t)flags << 24 | (uint64_t)op->kind << 16 | (uint64_t)op->status << 8 |
                             op->queue);
    if (op->partitions != 0)
        hash = mpiq_hash_two(hash, op->inner, (uint64_t)op->missing);
    return mpiq_hash_two(hash, (uint64_t)op->bytes, 0);
}

static uint64_t hash_call(uint64_t hash, const struct mpiq_call *call)
{
    hash = mpiq_hash_two(hash, (uint64_t)call->number << 1 | call->done,
                         (uint64_t)call->count << 16 ^ (uint16_t)call->collective);
    return mpiq_hash(hash, call->request ^ (uint64_t)(uint32_t)call->root << 32);
}

static void communicator_marks(const struct mpiq_communicator *comm, struct mpiq_look_marks *marks)
{
    uint64_t state = mpiq_hash(marks->state, comm->handle);
    state = mpiq_hash(state, comm->context[0]);
    state = mpiq_hash(state, comm->context[1]);
    state = mpiq_hash(state, comm->local.hash);
    state = mpiq_hash(state, comm->remote.hash);
    marks->state = mpiq_hash(state, (uint64_t)comm->flags << 32 | (uint32_t)comm->local_rank);
    marks->rest = mpiq_hash(mpiq_hash_string(marks->rest, comm->name), comm->parent);

    uint64_t calls = mpiq_hash(marks->calls, (uint64_t)comm->ordered);
    calls = mpiq_hash(calls, (uint64_t)comm->nonblocking);
    for (size_t i = 0; i < comm->count_count; i++) {
        const struct mpiq_coll_count *count = &comm->counts[i];
        calls = mpiq_hash(calls, (uint64_t)count->count << 32 | (uint64_t)count->active << 16 |
                                     (uint16_t)count->collective);
    }
    for (size_t i = 0; i < comm->call_count; i++)
        calls = hash_call(calls, &comm->calls[i]);
    for (size_t i = 0; i < comm->outstanding_count; i++)
        calls = hash_call(calls, &comm->outstanding[i]);
    for (size_t i = 0; i < comm->source_count; i++)
        calls = mpiq_hash(calls, (uint64_t)comm->sources[i].number << 32 ^ (uint32_t)comm->sources[i].local);
    for (size_t i = 0; i < comm->persistent_count; i++)
        calls = mpiq_hash(mpiq_hash(calls, (uint64_t)comm->persistent[i].number),
                          (uint64_t)comm->persistent[i].starts);
    marks->calls = calls;

    marks->channels = mpiq_hash(marks->channels, comm->channel_count);
    for (size_t i = 0; i < comm->channel_count; i++) {
        const struct mpiq_channel *channel = &comm->channels[i];
        marks->channels = mpiq_hash_two(marks->channels, (uint32_t)channel->peer_local,
                                        (uint64_t)channel->sent << 32 | channel->expected);
    }
}

uint64_t mpiq_stack_mark(const struct mpiq_thread *thread)
{
    uint64_t hash = MPIQ_HASH_START;
    for (size_t i = 0; i < thread->frame_count; i++)
        hash = mpiq_hash(hash, thread->frames[i].pc);
    return hash;
}

static void thread_marks(const struct mpiq_thread *thread, struct mpiq_look_marks *marks)
{
    if (thread->wait_count > 0) /* that others come and go is no progress of MPI's */
        marks->waits = mpiq_hash(marks->waits, (uint32_t)thread->tid);
    for (size_t i = 0; i < thread->wait_count; i++) {
        const struct mpiq_wait *wait = &thread->waits[i];
        marks->waits = mpiq_hash(marks->waits, wait->episode << 8 | wait->kind);
        marks->rest = mpiq_hash(marks->rest, (uint64_t)wait->begin_ns);
        for (size_t j = 0; j < wait->operation_count; j++)
            marks->rest = hash_operation(marks->rest, &wait->operations[j]);
    }
    marks->stacks = mpiq_hash_string(mpiq_hash(marks->stacks, (uint32_t)thread->tid), thread->mpi_call);
    marks->stacks =
        mpiq_hash(marks->stacks, (uint64_t)(uint32_t)thread->mpi_frame << 32 | (uint32_t)thread->user_frame);
    marks->stacks = mpiq_hash_string(mpiq_hash(marks->stacks, mpiq_stack_mark(thread)), thread->stepped);
    marks->stacks = mpiq_hash(marks->stacks, thread->stepped_number);
}

static uint64_t hash_ranks(uint64_t hash, const struct mpiq_local_rank *ranks, size_t count)
{
    hash = mpiq_hash(hash, count);
    for (size_t i = 0; i < count; i++)
        hash = mpiq_hash(hash, (uint32_t)ranks[i].local);
    return hash;
}

static uint64_t hash_window(uint64_t hash, const struct mpiq_window *window)
{
    hash = mpiq_hash(mpiq_hash(hash, window->id[0]), window->id[1]);
    hash = mpiq_hash(hash, (uint64_t)window->comm << 16 | (uint64_t)window->exposure << 8 | window->access);
    hash = mpiq_hash(hash, (uint64_t)window->fences << 2 | (uint64_t)window->freeing << 1 |
                               (uint64_t)window->synchronises);
    hash = hash_ranks(hash, window->access_group, window->access_count);
    return hash_ranks(hash, window->exposure_group, window->exposure_count);
}

static uint64_t hash_locks(uint64_t hash, const struct mpiq_window *window)
{
    for (size_t i = 0; i < window->lock_count; i++) {
        const struct mpiq_window_lock *lock = &window->locks[i];
        hash = mpiq_hash(hash, (uint64_t)(uint32_t)lock->target_local << 8 | (uint64_t)lock->type << 1 |
                                   (uint64_t)lock->held);
    }
    return hash;
}

void mpiq_look_marks(const struct mpiq_rank_state *state, struct mpiq_look_marks *ret)
{
    struct mpiq_look_marks marks = {0};
    marks.state = mpiq_hash(MPIQ_HASH_START,
                            (uint64_t)state->phase << 2 | (uint64_t)state->gone << 1 | state->paused_at_end);
    for (size_t i = 0; i < state->communicator_count; i++)
        communicator_marks(&state->communicators[i], &marks);
    for (size_t i = 0; i < state->process_call_count; i++)
        marks.calls = hash_call(marks.calls, &state->process_calls[i]);
    for (size_t i = 0; i < state->window_count; i++)
        marks.calls = hash_window(marks.calls, &state->windows[i]);
    marks.queues = mpiq_hash(MPIQ_HASH_START, state->operation_count);
    for (size_t i = 0; i < state->operation_count; i++)
        marks.queues = hash_operation(marks.queues, &state->operations[i]);
    marks.waits = MPIQ_HASH_START;
    for (size_t i = 0; i < state->thread_count; i++)
        thread_marks(&state->threads[i], &marks);
    for (size_t i = 0; i < state->window_count; i++)
        marks.waits = hash_locks(marks.waits, &state->windows[i]);
    marks.rest = mpiq_hash(marks.rest, state->problem_count);
    marks.rest = mpiq_hash(marks.rest, (uint64_t)(uint8_t)state->queues << 16 |
                                           (uint64_t)(uint8_t)state->recording << 8 | state->source);
    *ret = marks;
}

uint64_t mpiq_wait_mark(const struct mpiq_thread *thread)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, thread->has_wait_record);
    if (thread->has_wait_record) {
        if (thread->wait_count == 0)
            return 0;
        const struct mpiq_wait *wait = &thread->waits[thread->wait_count - 1];
        hash = mpiq_hash(mpiq_hash(hash, wait->episode), (uint64_t)wait->kind << 32 | (uint32_t)wait->level);
    } else {
        if (thread->mpi_frame < 0 || !thread->mpi_call[0] || mpiq_is_poll(thread->mpi_call))
            return 0; /* a loop that polls is in the same place in both looks, and waits for nothing */
        hash = mpiq_hash_string(hash, thread->mpi_call);
        /* From the MPI function outwards: inside it the stack may turn round in the progress loop. */
        for (size_t i = (size_t)thread->mpi_frame + 1; i < thread->frame_count; i++)
            hash = mpiq_hash(hash, thread->frames[i].pc);
    }
    return hash ? hash : 1;
}

bool mpiq_can_tell_waits(const struct mpiq_rank_state *state)
{
    return state->queues == MPIQ_YES && !mpiq_source_is_outside(state->source) &&
           state->source != MPIQ_SOURCE_NONE;
}
