/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of a replay have in common: calls that several of them refer to, and members. */
#include <stdlib.h>

#include "base/array.h"
#include "trace/replay.h"

struct mpiq_trace_mpi_call *mpiq_trace_call_ref(struct mpiq_trace_mpi_call *call)
{
    call->refs++;
    return call;
}

void mpiq_trace_call_unref(struct mpiq_trace_mpi_call *call)
{
    if (call && --call->refs == 0)
        free(call);
}

void mpiq_trace_call_close(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call)
{
    if (--call->open == 0 && replay->listener && replay->listener->final)
        replay->listener->final(replay->data, call);
}

struct mpiq_trace_member *mpiq_trace_member_of(struct mpiq_trace_replay *replay, uint32_t number,
                                               uint32_t comm)
{
    struct mpiq_trace_rank *rank = &replay->ranks[number];
    for (uint32_t i = 0; i < rank->member_count; i++) {
        if (rank->members[i].comm == comm)
            return &rank->members[i];
    }
    uint32_t local;
    bool remote;
    if (!mpiq_trace_is_member(replay->definitions, comm, number, &local, &remote))
        return NULL;
    if (!mpiq_array_reserve(&rank->members, &rank->member_room, (size_t)rank->member_count + 1)) {
        replay->failed = true;
        return NULL;
    }
    struct mpiq_trace_member *member = &rank->members[rank->member_count++];
    *member = (struct mpiq_trace_member){.comm = comm, .local = local, .remote = remote};
    return member;
}
