/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proctable - where a launcher has started its ranks, according to the table that it keeps for debuggers.
 *
 * "The MPIR Process Acquisition Interface", version 1.1: MPIR_proctable holds host, executable and pid of
 * each rank of MPI_COMM_WORLD, in the order of ranks; MPIR_proctable_size is their number. mpiq-reader reads
 * it, because the launcher is untrusted; it is a question like those of rank.h (docs/WIRE.md).
 */
#ifndef MPIQ_PROCTABLE_H
#define MPIQ_PROCTABLE_H

#include <stdbool.h>

#include "base/error.h"
#include "process/target.h"

/* Whether that question (JSON) asks for it. */
bool mpiq_proctable_is_asked(const char *question);

/* The answer as JSON, which the caller frees: {"size":8,"hosts":[{"host":"n1","ranks":"0-1"},…]}, hosts in
   the order of their lowest ranks, entries without a host name left out.  NOT_FOUND: the process has no such
   table, or it is empty; CORRUPT: it is malformed. */
struct mpiq_error *mpiq_proctable_read(struct mpiq_target *target, char **ret);

#endif
