/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cart - who is whose neighbour on the trace's Cartesian communicator.
 *
 * A trace has no record of neighbourhood collectives, only that they were called.  Where it defines exactly
 * one Cartesian communicator, of which no other one was made, they were on that.
 */
#ifndef MPIQ_TRACE_CART_H
#define MPIQ_TRACE_CART_H

#include "trace/definitions.h"

/* Sets definitions->cart to that communicator, or to MPIQ_TRACE_NONE. */
void mpiq_trace_cart_find(struct mpiq_trace_definitions *definitions);
/* The neighbours of a member, as ranks of that communicator; returns how many.  One may be there twice, or be
   the member itself. */
uint32_t mpiq_trace_cart_neighbors(const struct mpiq_trace_definitions *definitions, uint32_t local,
                                   uint32_t neighbors[2 * MPIQ_TRACE_DIMENSIONS]);

#endif
