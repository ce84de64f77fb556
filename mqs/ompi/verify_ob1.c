/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify_contents.h"

#include <stdint.h>

#include "class_object.h"

#define MAX_PEERS (1u << 22)

/* MPI_COMM_WORLD's state in PML ob1; false where another PML is in use. */
static bool world_of_ob1(struct memory *memory, unsigned char *bytes, mqs_taddr_t *address)
{
    unsigned char world[LAYOUT_MAX_STRUCT];
    mqs_taddr_t symbol;

    if (!fetch_variable(memory, SYMBOL_ompi_mpi_comm_world, AT_COMM, &symbol, world)) {
        return false;
    }
    *address = field_pointer(memory, world, AT_COMM_PML_COMM);
    return object_is_a(memory, *address, "mca_pml_ob1_comm_t") &&
           fetch_structure(memory, *address, AT_OB1_COMM, bytes) == mqs_ok;
}

/* Where PML ob1 is in use, it has its state at MPI_COMM_WORLD. */
const char *check_ob1_comm(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;

    if (!world_of_ob1(memory, bytes, &address)) {
        return ob1_has_receives(memory) ? "MPI_COMM_WORLD does not point to an mca_pml_ob1_comm_t" : NULL;
    }
    if (!object_is_a(memory, address + (mqs_taddr_t)memory->layout.offset[AT_OB1_COMM_WILD], "opal_list_t")) {
        return "ob1's state of MPI_COMM_WORLD has no list of receives from any source";
    }
    if (field_pointer(memory, bytes, AT_OB1_COMM_PROCS) == 0 ||
        field_unsigned(memory, bytes, AT_OB1_COMM_COUNT) == 0 ||
        field_unsigned(memory, bytes, AT_OB1_COMM_COUNT) > MAX_PEERS) {
        return "ob1's state of MPI_COMM_WORLD has no array of peers, or an impossible number of them";
    }
    return NULL;
}

/* The first peers that have been in contact. */
const char *check_ob1_proc(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t procs;
    uint64_t count;
    int checked = 0;

    if (!layout_has(&memory->layout, AT_OB1_COMM) || !world_of_ob1(memory, bytes, &address)) {
        return NULL;
    }
    procs = field_pointer(memory, bytes, AT_OB1_COMM_PROCS);
    count = field_unsigned(memory, bytes, AT_OB1_COMM_COUNT);
    for (uint64_t i = 0; i < count && i < 4096 && checked < 4; i++) {
        mqs_taddr_t peer;
        mqs_taddr_t early;

        if (fetch_pointer(&memory->fetch, procs + (mqs_taddr_t)(i * 8), &peer) != mqs_ok) {
            return "ob1's peers of MPI_COMM_WORLD cannot be read";
        }
        if (peer == 0) {
            continue;
        }
        if (!object_is_a(memory, peer, "mca_pml_ob1_comm_proc_t") ||
            !object_is_a(memory, peer + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_POSTED],
                         "opal_list_t") ||
            !object_is_a(memory, peer + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_UNEXPECTED],
                         "opal_list_t")) {
            return "one of ob1's peers of MPI_COMM_WORLD has no list of posted receives or of unexpected "
                   "messages";
        }
        if (fetch_pointer(&memory->fetch, peer + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_EARLY],
                          &early) != mqs_ok ||
            (early != 0 && !object_is_a(memory, early, "mca_pml_ob1_recv_frag_t"))) {
            return "one of ob1's peers of MPI_COMM_WORLD has a malformed list of out-of-order messages";
        }
        checked++;
    }
    return NULL;
}

const char *check_libnbc(struct memory *memory)
{
    mqs_taddr_t component;

    if (symbol_find(&memory->symbols, SYMBOL_mca_coll_libnbc_component, &component) &&
        !object_is_a(memory, component + (mqs_taddr_t)memory->layout.offset[AT_LIBNBC_ACTIVE],
                     "opal_list_t")) {
        return "libnbc has no list of active requests";
    }
    return NULL;
}
