/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "callbacks.h"
#include "collective.h"
#include "communicator_details.h"

/* The library sets no flag when the user frees a communicator that is still in use.  But then only its
   requests refer to it, each once; a communicator that is not freed has one more reference. */
static bool is_freed(struct library *library, const struct communicator *communicator)
{
    size_t held = 0;

    if ((communicator->flags & FLAG_FREED) != 0) {
        return true;
    }
    if (communicator->references <= 0 || (communicator->flags & FLAG_INTRINSIC) != 0 ||
        library_requests(library) != mqs_ok) {
        return false;
    }
    for (int sends = 0; sends < 2; sends++) {
        size_t first;
        size_t end;

        requests_of(&library->requests, sends != 0, communicator->address, &first, &end);
        held += end - first;
    }
    return (size_t)communicator->references <= held;
}

/* mqs_comm_flag_ bits. */
static int flags_of(struct library *library, const struct communicator *communicator)
{
    int flags = 0;

    flags |= communicator->inter ? mqs_comm_flag_inter : 0;
    flags |= communicator->internal ? mqs_comm_flag_internal : 0;
    flags |= is_freed(library, communicator) ? mqs_comm_flag_freed : 0;
    flags |= communicator->self ? mqs_comm_flag_self : 0;
    flags |= communicator->world ? mqs_comm_flag_world : 0;
    flags |= (communicator->flags & FLAG_TOPOLOGY) != 0 ? mqs_comm_flag_topology : 0;
    return flags;
}

/* The hash that a patched library keeps, else ours; 0 if the members cannot be read. */
static uint64_t hash_of(struct groups *groups, mqs_taddr_t group, int count, uint64_t kept)
{
    mqs_process_name *names;
    uint64_t hash = 0;

    if (kept != 0 || count == 0 || group_check(groups, group, count) != mqs_ok) {
        return kept;
    }
    names = heap_allocate((size_t)count, sizeof *names);
    if (names != NULL && group_members(groups, group, count, names) == mqs_ok) {
        hash = group_hash(names, count);
    }
    heap_free(names);
    return hash;
}

int communicator_details(struct library *library, const struct communicator *communicator,
                         mqs_communicator_details *ret)
{
    struct collectives state;
    bool recorded;

    memset(ret, 0, sizeof *ret);
    memset(&state, 0, sizeof state);
    library_mark_communicators(library);
    recorded =
        collective_read(&library->memory, &library->root, communicator->collectives, &state) == mqs_ok &&
        library->root.record.recording != 0;
    ret->handle = communicator->address;
    ret->context[0] = communicator->context[0];
    ret->context[1] = communicator->context[1];
    ret->flags = flags_of(library, communicator);
    ret->remote_size = communicator->remote_size;
    ret->parent = communicator->parent;
    ret->group_hash =
        hash_of(&library->groups, communicator->local_group, communicator->size, state.group_hash);
    if (communicator->inter) {
        ret->remote_hash = hash_of(&library->groups, communicator->remote_group, communicator->remote_size,
                                   state.remote_hash);
    }
    if (recorded) {
        ret->ordered = (int64_t)collective_ordered(&state);
        ret->nonblocking = collective_nonblocking(&library->memory, &state);
    } else {
        ret->ordered = -1;
        ret->nonblocking =
            communicator_nonblocking(&library->memory.layout, &library->communicators, communicator);
    }
    return mqs_ok;
}
