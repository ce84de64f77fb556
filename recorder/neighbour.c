/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbour - the sources of a neighbourhood collective: the in-neighbours in a communicator's topology.
 *
 * The library is asked once, at the first such call on the communicator: the topology never changes.  Lists
 * of freed communicators are reused for lists of the same capacity.
 */
#include <stdlib.h>

#include "recorder.h"

enum { ROOMS = 32 }; /* powers of two */

static uint32_t free_lists[ROOMS];

static unsigned room_of(uint32_t count)
{
    unsigned room = 1;
    while (room < ROOMS - 1 && 1u << room < count)
        room++;
    return room;
}

/* Makes a list of sources; NULL: no room.  The caller holds the lock. */
static struct mpiq_record_sources *make(const int *ranks, uint32_t count)
{
    unsigned room = room_of(count);
    struct mpiq_record_sources *sources = arena_at(free_lists[room]);
    if (sources)
        free_lists[room] = sources->next_free;
    else
        sources = arena_allocate_locked(sizeof *sources + ((size_t)sizeof *ranks << room));
    if (!sources)
        return NULL;
    sources->count = count;
    for (uint32_t i = 0; i < count; i++)
        sources->ranks[i] = peer_of(ranks[i]);
    return sources;
}

void neighbour_free(struct mpiq_record_comm *comm)
{
    struct mpiq_record_sources *sources = arena_at(comm->sources);
    if (!sources)
        return;
    unsigned room = room_of(sources->count);
    sources->next_free = free_lists[room];
    free_lists[room] = comm->sources;
    comm->sources = 0;
}

/* ---- what the library says -------------------------------------------------------------------------- */

/* Each dimension has two neighbours, the one in the negative direction first; MPI_PROC_NULL at an end. */
static int *of_cart(uint64_t comm, uint32_t *count)
{
    int dimensions = 0;
    if (ASK(Cartdim_get, comm, (word)&dimensions) != 0 || dimensions < 0)
        return NULL;
    int *ranks = malloc((2 * (size_t)dimensions + 1) * sizeof *ranks);
    for (int i = 0; ranks && i < dimensions; i++) {
        if (ASK(Cart_shift, comm, (word)i, 1, (word)&ranks[2 * i], (word)&ranks[2 * i + 1]) != 0) {
            free(ranks);
            return NULL;
        }
    }
    *count = 2 * (uint32_t)dimensions;
    return ranks;
}

static int *of_graph(uint64_t comm, int rank, uint32_t *count)
{
    int neighbours = 0;
    if (ASK(Graph_neighbors_count, comm, (word)rank, (word)&neighbours) != 0 || neighbours < 0)
        return NULL;
    int *ranks = malloc(((size_t)neighbours + 1) * sizeof *ranks);
    if (ranks && ASK(Graph_neighbors, comm, (word)rank, (word)neighbours, (word)ranks) != 0) {
        free(ranks);
        return NULL;
    }
    *count = (uint32_t)neighbours;
    return ranks;
}

static int *of_dist_graph(uint64_t comm, uint32_t *count)
{
    int in = 0;
    int out = 0;
    int weighted = 0;
    if (ASK(Dist_graph_neighbors_count, comm, (word)&in, (word)&out, (word)&weighted) != 0 || in < 0 ||
        out < 0)
        return NULL;
    int *ranks = malloc(((size_t)in + 1) * sizeof *ranks);
    int *rest = malloc(((size_t)in + 2 * (size_t)out + 1) * sizeof *rest); /* unused weights and targets */
    bool good = ranks && rest &&
                ASK(Dist_graph_neighbors, comm, (word)in, (word)ranks, (word)rest, (word)out,
                    (word)(rest + in), (word)(rest + in + out)) == 0;
    free(rest);
    if (!good) {
        free(ranks);
        return NULL;
    }
    *count = (uint32_t)in;
    return ranks;
}

static const struct mpiq_record_sources *sources_of(struct mpiq_record_comm *comm)
{
    struct mpiq_record_sources *known = arena_at(__atomic_load_n(&comm->sources, __ATOMIC_ACQUIRE));
    if (known || comm->flags & MPIQ_RECORD_COMM_INTER)
        return known;
    uint32_t count = 0;
    int kind = 0;
    int *ranks = NULL;
    if (ASK(Topo_test, comm->handle, (word)&kind) == 0) {
        if (kind == recorder_abi.cart)
            ranks = of_cart(comm->handle, &count);
        else if (kind == recorder_abi.graph)
            ranks = of_graph(comm->handle, comm->local_rank, &count);
        else if (kind == recorder_abi.dist_graph)
            ranks = of_dist_graph(comm->handle, &count);
    }
    arena_lock();
    if (!comm->sources) {
        known = make(ranks, ranks ? count : 0);
        __atomic_store_n(&comm->sources, arena_offset(known), __ATOMIC_RELEASE);
    }
    arena_unlock();
    free(ranks);
    return arena_at(comm->sources);
}

/* ---- one call --------------------------------------------------------------------------------------- */

/* Whether the i-th source has any data for this call. */
static bool has_data(const struct call *call, uint32_t i)
{
    if (HAS(call, 'u'))
        return bytes_of(count_of(call, ARGUMENT(call, 'u')), handle_of(ARGUMENT(call, 'T'))) > 0;
    const void *counts = (const void *)ARGUMENT(call, 'V');
    int64_t count = call->function->large ? ((const int64_t *)counts)[i] : ((const int32_t *)counts)[i];
    uint64_t type =
        HAS(call, 'D') ? handle_at((const void *)ARGUMENT(call, 'D'), i) : handle_of(ARGUMENT(call, 'T'));
    return bytes_of(count, type) > 0;
}

uint64_t neighbour_sources(const struct call *call)
{
    const struct mpiq_record_sources *sources = call->comm ? sources_of(call->comm) : NULL;
    uint64_t mask = 0;
    bool rest = true;
    for (uint32_t i = 0; sources && i < sources->count; i++) {
        bool data = has_data(call, i);
        if (i < MPIQ_RECORD_SOURCES_REST)
            mask |= (uint64_t)data << i;
        else
            rest = rest && data;
    }
    return sources && sources->count > MPIQ_RECORD_SOURCES_REST && rest
               ? mask | UINT64_C(1) << MPIQ_RECORD_SOURCES_REST
               : mask;
}
