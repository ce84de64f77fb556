/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol - addresses of the library's variables, from the patched library's own list or else from the
 * debugger, which searches in link-map order, executable first.
 */
#ifndef MQS_OMPI_SYMBOL_H
#define MQS_OMPI_SYMBOL_H

#include <stdbool.h>

#include "fetch.h"
#include "mpi_interface.h"

#define SYMBOLS(X)                     \
    X(ompi_mqs_root)                   \
    X(ompi_mpi_communicators)          \
    X(mca_pml_base_send_requests)      \
    X(mca_pml_base_recv_requests)      \
    X(mca_pml_base_selected_component) \
    X(mca_coll_libnbc_component)       \
    X(ompi_part_persist)               \
    X(ompi_proc_local_proc)            \
    X(ompi_mpi_state)                  \
    X(ompi_mpi_thread_provided)        \
    X(ompi_version_string)             \
    X(opal_datatype_basicDatatypes)    \
    X(ompi_mpi_comm_world)             \
    X(ompi_mpi_comm_self)              \
    X(ompi_mpi_comm_null)              \
    X(ompi_mpi_group_null)             \
    X(ompi_mpi_group_empty)            \
    X(ompi_mpi_datatype_null)          \
    X(ompi_request_null)               \
    X(ompi_request_empty)

/* A library's variables lie no further apart than this, and its neighbours' mostly further. */
#define SAME_LIBRARY (1 << 19)

enum symbol {
#define SYMBOL_ENUM(name) SYMBOL_##name,
    SYMBOLS(SYMBOL_ENUM)
#undef SYMBOL_ENUM
        SYMBOL_END
};

/* With image and callbacks set and the rest zero it has looked for nothing yet. */
struct symbols {
    mqs_image *image;
    const mqs_image_callbacks *callbacks;
    mqs_taddr_t address[SYMBOL_END]; /* 0: not found */
    bool failed[SYMBOL_END];         /* in this look: not asked again */
    bool expected;                   /* symbol_expect has been through */
};

/* False if it is not there (yet). */
bool symbol_find(struct symbols *symbols, enum symbol symbol, mqs_taddr_t *ret);

/* Any variable by its name, of those that are rarely asked for; not remembered. */
bool symbol_find_name(const struct symbols *symbols, const char *name, mqs_taddr_t *ret);

/* A patched library's list, entry by entry; before the debugger is asked. */
void symbol_add(struct symbols *symbols, const char *name, mqs_taddr_t address);

/* Has the variables that every look reads fetched together, those side by side: what lies between two of one
   library is mapped. */
void symbol_expect(struct symbols *symbols, struct fetch *fetch);

/* A new look: what was not there may be now. */
void symbol_retry(struct symbols *symbols);

#endif
