/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/cart.h"

/* Fills definitions->cart_dimensions; false if they are not those of the communicator's group. */
static bool take_dimensions(struct mpiq_trace_definitions *definitions, const struct mpiq_trace_comm *comm)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < comm->dimension_count; i++) {
        uint32_t index = mpiq_trace_find_dimension(definitions, comm->dimension_ids[i]);
        if (index == MPIQ_TRACE_NONE)
            return false;
        definitions->cart_dimensions[i] = definitions->dimensions[index];
        uint32_t length = definitions->cart_dimensions[i].size;
        if (length == 0 || size > UINT32_MAX / length)
            return false;
        size *= length;
    }
    return comm->dimension_count > 0 && size == definitions->groups[comm->group].count;
}

void mpiq_trace_cart_find(struct mpiq_trace_definitions *definitions)
{
    uint32_t found = MPIQ_TRACE_NONE;
    definitions->cart = MPIQ_TRACE_NONE;
    for (uint32_t i = 0; i < definitions->comm_count; i++) {
        const struct mpiq_trace_comm *comm = &definitions->comms[i];
        if (!comm->topology || comm->group == MPIQ_TRACE_NONE)
            continue;
        if (found != MPIQ_TRACE_NONE || comm->inter || comm->self || comm->many_topologies ||
            !take_dimensions(definitions, comm))
            return;
        found = i;
    }
    for (uint32_t i = 0; i < definitions->comm_count && found != MPIQ_TRACE_NONE; i++) {
        if (definitions->comms[i].parent == definitions->comms[found].id)
            return; /* a duplicate has the same neighbours */
    }
    definitions->cart = found;
}

uint32_t mpiq_trace_cart_neighbors(const struct mpiq_trace_definitions *definitions, uint32_t local,
                                   uint32_t neighbors[2 * MPIQ_TRACE_DIMENSIONS])
{
    /* MPI numbers the processes of a Cartesian communicator row by row: the last dimension runs fastest. */
    uint32_t count = 0, stride = 1;
    for (uint32_t i = definitions->comms[definitions->cart].dimension_count; i-- > 0;) {
        const struct mpiq_trace_dimension *dimension = &definitions->cart_dimensions[i];
        uint32_t at = local / stride % dimension->size;
        uint32_t row = local - at * stride;
        if (at > 0 || dimension->periodic)
            neighbors[count++] = row + (at + dimension->size - 1) % dimension->size * stride;
        if (at + 1 < dimension->size || dimension->periodic)
            neighbors[count++] = row + (at + 1) % dimension->size * stride;
        stride *= dimension->size;
    }
    return count;
}
