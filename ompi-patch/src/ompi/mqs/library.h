/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.h - the hooks outside the calls and the waits: parameters, phases, identity, the life of a
 * communicator, layout tables.
 */
#ifndef OMPI_MQS_LIBRARY_H
#define OMPI_MQS_LIBRARY_H

#include "ompi/mqs/callback.h"
#include "ompi/mqs/thread.h"
#include "ompi/mqs/window.h"

#if OMPI_MQS

/* series: calls */
struct ompi_communicator_t;

/* series: end */
/* Registers the MCA parameters and does what they say.  Before any communicator is made. */
OMPI_DECLSPEC void ompi_mqs_register_params(void);

/* level is what MPI_Init_thread provides; provided may still be unknown: -1. */
OMPI_DECLSPEC void ompi_mqs_phase(enum ompi_mqs_phase phase, int level);

/* This process's name is known: its place in the world, and of which launch. */
OMPI_DECLSPEC void ompi_mqs_identify(uint32_t jobid, uint32_t vpid, uint32_t world_size,
                                     const char *nspace);

/* The point-to-point layer is chosen. */
OMPI_DECLSPEC void ompi_mqs_pml_selected(const char *name);

/* series: waits */
/* The progress engine runs: waits can be dated; and the opposite. */
OMPI_DECLSPEC void ompi_mqs_progress_starts(void);
OMPI_DECLSPEC void ompi_mqs_progress_ends(void);

/* series: end */
/* series: calls */
OMPI_DECLSPEC void ompi_mqs_communicator_made(struct ompi_communicator_t *comm);
OMPI_DECLSPEC void ompi_mqs_communicator_gone(struct ompi_communicator_t *comm);

/* The members of comm are final: hashes them. */
OMPI_DECLSPEC void ompi_mqs_communicator_ready(struct ompi_communicator_t *comm);

/* series: end */
/* A loaded object's layout table and variables appear and disappear with it.  The arrays are the
   object's own and must stay where they are. */
OMPI_DECLSPEC void ompi_mqs_table_add(struct ompi_mqs_table *table);
OMPI_DECLSPEC void ompi_mqs_table_remove(struct ompi_mqs_table *table);
OMPI_DECLSPEC void ompi_mqs_symbol_set(const char *name, const volatile void *address);

#define OMPI_MQS_DO(statement) statement;

#else

#define OMPI_MQS_DO(statement)

#endif /* OMPI_MQS */
#endif
