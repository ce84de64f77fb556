/* SPDX-License-Identifier: BSD-3-Clause */
#include "callbacks.h"
#include "error.h"
#include "ob1.h"

#define MAX_POSTED (1 << 18)

static int read_peer(struct memory *memory, mqs_taddr_t address, int rank, struct ob1_peer *ret)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    int code = fetch_structure(memory, address, AT_OB1_PROC, bytes);

    if (code == mqs_ok) {
        ret->rank = rank;
        ret->address = address;
        ret->expected = (uint16_t)field_unsigned(memory, bytes, AT_OB1_PROC_EXPECTED);
        ret->sent = (uint16_t)field_unsigned(memory, bytes, AT_OB1_PROC_SENT);
        ret->early = (mqs_taddr_t)field_unsigned(memory, bytes, AT_OB1_PROC_EARLY);
    }
    return code;
}

int ob1_walk_peers(struct memory *memory, const struct communicator *comm, ob1_peer_visit visit,
                   void *argument)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    unsigned char *pointers;
    mqs_taddr_t procs;
    mqs_taddr_t last;
    uint64_t count;
    int width = memory->layout.sizes.pointer_size;
    int code;

    if (comm->pml_comm == 0) {
        return mqs_ok; /* not added to the PML yet */
    }
    code = fetch_structure(memory, comm->pml_comm, AT_OB1_COMM, bytes);
    if (code != mqs_ok) {
        return code;
    }
    procs = (mqs_taddr_t)field_unsigned(memory, bytes, AT_OB1_COMM_PROCS);
    count = field_unsigned(memory, bytes, AT_OB1_COMM_COUNT);
    if (procs == 0 || count == 0) {
        return mqs_ok;
    }
    /* It is sized once, to the group; and what is to be allocated here must be there. */
    if (count > (uint64_t)(comm->inter ? comm->remote_size : comm->size)) {
        return ERROR_COMMUNICATOR;
    }
    code = fetch_pointer(&memory->fetch, procs + (mqs_taddr_t)(count - 1) * (mqs_taddr_t)width, &last);
    if (code != mqs_ok) {
        return code;
    }
    pointers = heap_allocate((size_t)count, (size_t)width);
    if (pointers == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(&memory->fetch, procs, (size_t)count * (size_t)width, pointers);
    for (uint64_t i = 0; code == mqs_ok && i < count; i++) {
        mqs_taddr_t address =
            (mqs_taddr_t)number_unsigned(&memory->fetch, pointers + i * (size_t)width, width);
        struct ob1_peer peer;

        if (address == 0) {
            continue;
        }
        code = read_peer(memory, address, (int)i, &peer);
        if (code == mqs_ok) {
            code = visit(memory, argument, &peer);
        }
    }
    heap_free(pointers);
    return code;
}

/* What is done with each posted receive. */
struct posted {
    list_visit visit;
    void *argument;
};

static int visit_specific(struct memory *memory, void *argument, const struct ob1_peer *peer)
{
    const struct posted *posted = argument;

    return list_visit_all(memory, peer->address + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_POSTED],
                          MAX_POSTED, ERROR_POSTED, posted->visit, posted->argument);
}

int ob1_walk_posted(struct memory *memory, const struct communicators *communicators, list_visit visit,
                    void *argument)
{
    struct posted posted = {visit, argument};
    int code = mqs_ok;

    for (size_t i = 0; code == mqs_ok && i < communicators->list.count; i++) {
        const struct communicator *comm = communicator_at(communicators, i);

        if (comm->pml_comm == 0) {
            continue;
        }
        code = list_visit_all(memory, comm->pml_comm + (mqs_taddr_t)memory->layout.offset[AT_OB1_COMM_WILD],
                              MAX_POSTED, ERROR_POSTED, visit, argument);
        if (code == mqs_ok) {
            code = ob1_walk_peers(memory, comm, visit_specific, &posted);
        }
    }
    return code;
}
