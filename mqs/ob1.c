/* SPDX-License-Identifier: BSD-3-Clause */
#include "callbacks.h"
#include "error.h"
#include "group.h"
#include "ob1.h"
#include "process.h"

#define MAX_POSTED (1 << 18)

static int read_peer(mqs_process_info *info, mqs_taddr_t address, int rank, struct ob1_peer *ret)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    int code = fetch_structure(info, address, AT_OB1_PROC, bytes);

    if (code == mqs_ok) {
        ret->rank = rank;
        ret->address = address;
        ret->expected = (uint16_t)field_unsigned(info, bytes, AT_OB1_PROC_EXPECTED);
        ret->sent = (uint16_t)field_unsigned(info, bytes, AT_OB1_PROC_SENT);
        ret->early = (mqs_taddr_t)field_unsigned(info, bytes, AT_OB1_PROC_EARLY);
    }
    return code;
}

int ob1_walk_peers(mqs_process_info *info, const struct communicator *comm, ob1_peer_visit visit,
                   void *argument)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    unsigned char *pointers;
    mqs_taddr_t procs;
    mqs_taddr_t last;
    uint64_t count;
    int width = info->layout.sizes.pointer_size;
    int code;

    if (comm->pml_comm == 0) {
        return mqs_ok; /* not added to the PML yet */
    }
    code = fetch_structure(info, comm->pml_comm, AT_OB1_COMM, bytes);
    if (code != mqs_ok) {
        return code;
    }
    procs = (mqs_taddr_t)field_unsigned(info, bytes, AT_OB1_COMM_PROCS);
    count = field_unsigned(info, bytes, AT_OB1_COMM_COUNT);
    if (procs == 0 || count == 0) {
        return mqs_ok;
    }
    /* It is sized once, to the group; and what is to be allocated here must be there. */
    if (count > (uint64_t)(comm->inter ? comm->remote_size : comm->size)) {
        return ERROR_COMMUNICATOR;
    }
    code = fetch_pointer(info, procs + (mqs_taddr_t)(count - 1) * (mqs_taddr_t)width, &last);
    if (code != mqs_ok) {
        return code;
    }
    pointers = memory_allocate((size_t)count, (size_t)width);
    if (pointers == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(info, procs, (size_t)count * (size_t)width, pointers);
    for (uint64_t i = 0; code == mqs_ok && i < count; i++) {
        mqs_taddr_t address = (mqs_taddr_t)number_unsigned(info, pointers + i * (size_t)width, width);
        struct ob1_peer peer;

        if (address == 0) {
            continue;
        }
        code = read_peer(info, address, (int)i, &peer);
        if (code == mqs_ok) {
            code = visit(info, argument, &peer);
        }
    }
    memory_free(pointers);
    return code;
}

static int visit_specific(mqs_process_info *info, void *argument, const struct ob1_peer *peer)
{
    const list_visit *visit = argument;

    return list_visit_all(info, peer->address + (mqs_taddr_t)info->layout.offset[AT_OB1_PROC_POSTED],
                          MAX_POSTED, ERROR_POSTED, *visit, NULL);
}

int ob1_walk_posted(mqs_process_info *info, list_visit visit)
{
    int code = mqs_ok;

    for (size_t i = 0; code == mqs_ok && i < info->communicators.list.count; i++) {
        const struct communicator *comm = communicator_at(info, i);

        if (comm->pml_comm == 0) {
            continue;
        }
        code = list_visit_all(info, comm->pml_comm + (mqs_taddr_t)info->layout.offset[AT_OB1_COMM_WILD],
                              MAX_POSTED, ERROR_POSTED, visit, NULL);
        if (code == mqs_ok) {
            code = ob1_walk_peers(info, comm, visit_specific, &visit);
        }
    }
    return code;
}
