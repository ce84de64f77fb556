/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold between the values of a rank state that was read. */
#include "state/rank_state_private.h"

const char *mpiq_valid_tag_count(struct mpiq_schema_parser *parser, const void *structure, const char **key)
{
    const struct mpiq_tag_count *count = structure;
    (void)parser;
    *key = "cell";
    return count->cell < -1 || count->cell >= MPIQ_TAG_CELLS ? "is not a cell" : NULL;
}

static bool in_group(int32_t local_rank, uint32_t count)
{
    return local_rank >= -1 && (count == 0 || local_rank < (int64_t)count);
}

const char *mpiq_valid_operation(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    const struct mpiq_rank_state *state = parser->state;
    const struct mpiq_operation *operation = element;
    *key = "comm";
    if (operation->comm >= state->communicator_count)
        return "is not the index of a communicator";
    uint32_t peers = mpiq_communicator_peers(&state->communicators[operation->comm]);
    *key = "peer_local";
    if (!in_group(operation->peer_local, peers))
        return "is not a rank of the communicator";
    *key = "actual_local";
    return in_group(operation->actual_local, peers) ? NULL : "is not a rank of the communicator";
}

const char *mpiq_valid_communicator(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    (void)parser;
    const struct mpiq_communicator *comm = element;
    *key = "local_rank";
    if (!in_group(comm->local_rank, comm->local.count))
        return "is not a rank of the communicator";
    *key = "channels";
    for (size_t i = 0; i < comm->channel_count; i++) {
        if (comm->channels[i].peer_local < 0 ||
            !in_group(comm->channels[i].peer_local, mpiq_communicator_peers(comm)))
            return "name a rank that the communicator does not have";
    }
    *key = "sources";
    for (size_t i = 0; i < comm->source_count; i++) {
        if (comm->sources[i].local < 0 || !in_group(comm->sources[i].local, comm->local.count))
            return "name a rank that the communicator does not have";
    }
    return NULL;
}

static bool is_index(int32_t index, size_t count)
{
    return index >= -1 && (index < 0 || (size_t)index < count);
}

const char *mpiq_valid_wait(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    const struct mpiq_rank_state *state = parser->state;
    const struct mpiq_wait *wait = element;
    *key = "comm";
    if (!is_index(wait->comm, state->communicator_count))
        return "is not the index of a communicator";
    *key = "collective_comm";
    if (!is_index(wait->collective_comm, state->communicator_count))
        return "is not the index of a communicator";
    *key = "window";
    return wait->window < -1 ? "is not the index of a window" : NULL;
}

static bool are_ranks(const struct mpiq_local_rank *ranks, size_t rank_count, uint32_t count)
{
    for (size_t i = 0; i < rank_count; i++) {
        if (ranks[i].local < 0 || !in_group(ranks[i].local, count))
            return false;
    }
    return true;
}

const char *mpiq_valid_window(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    const struct mpiq_rank_state *state = parser->state;
    const struct mpiq_window *window = element;
    *key = "comm";
    if (window->comm >= state->communicator_count)
        return "is not the index of a communicator";
    uint32_t count = state->communicators[window->comm].local.count;
    *key = "local_rank";
    if (!in_group(window->local_rank, count))
        return "is not a rank of the window";
    *key = "locks";
    for (size_t i = 0; i < window->lock_count; i++) {
        if (!in_group(window->locks[i].target_local, count))
            return "name a rank that the window does not have";
    }
    *key = "access_group";
    if (!are_ranks(window->access_group, window->access_count, count))
        return "names a rank that the window does not have";
    *key = "exposure_group";
    return are_ranks(window->exposure_group, window->exposure_count, count)
               ? NULL
               : "names a rank that the window does not have";
}

const char *mpiq_valid_past_call(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    const struct mpiq_rank_state *state = parser->state;
    const struct mpiq_past_call *call = element;
    *key = "comm";
    if (!is_index(call->comm, state->communicator_count))
        return "is not the index of a communicator";
    *key = "root";
    if (call->root < -1)
        return "is not a rank";
    *key = "peer_local";
    return call->peer_local < -1 ? "is not a rank" : NULL;
}

const char *mpiq_valid_fact(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    (void)parser;
    const struct mpiq_fact *fact = element;
    *key = "collective";
    return fact->kind == MPIQ_FACT_COLLECTIVE && fact->collective < 0 ? "is missing" : NULL;
}

const char *mpiq_valid_thread(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    (void)parser;
    const struct mpiq_thread *thread = element;
    *key = "mpi_frame";
    if (!is_index(thread->mpi_frame, thread->frame_count))
        return "is not the index of a frame";
    *key = "user_frame";
    return is_index(thread->user_frame, thread->frame_count) ? NULL : "is not the index of a frame";
}

const char *mpiq_valid_rank_state(struct mpiq_schema_parser *parser, const void *element, const char **key)
{
    (void)parser;
    const struct mpiq_rank_state *state = element;
    *key = "thread_level";
    if (state->thread_level < -1 || state->thread_level > 3)
        return "is not -1 to 3";
    *key = "recording";
    if (state->recording < MPIQ_UNKNOWN || state->recording > MPIQ_YES)
        return "is not -1, 0 or 1";
    *key = "queues_read";
    if (state->queues < MPIQ_UNKNOWN || state->queues > MPIQ_YES)
        return "is not -1, 0 or 1";
    *key = "io_bytes";
    if (state->io_bytes < -1)
        return "is not a number of bytes";
    *key = "threads";
    if (state->thread_count > MPIQ_THREADS_MOST)
        return "are too many";
    for (size_t i = 0; i < state->thread_count; i++) {
        for (size_t j = 0; j < state->threads[i].wait_count; j++) {
            if (!is_index(state->threads[i].waits[j].window, state->window_count))
                return "wait for a window that does not exist";
        }
    }
    return NULL;
}
