/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict - makes calls as unfavourable as the standard allows: nothing may depend on buffering, or on
 * collectives that let a member leave before all have entered.
 *
 * A standard send may wait for its receive, so each becomes a synchronous send.  A blocking collective may
 * wait for all members, so a barrier on the same communicator comes first.  Members call the barrier in the
 * order of their collectives, so in a correct program barriers match barriers, and no separate communicator
 * is needed.  Buffered and ready sends and one-sided calls are unchanged.
 *
 * Each collective, also a non-blocking or persistent one, is compared with those of the other members
 * (compare.c) before it is made.
 */
#include <stdlib.h>

#include "recorder.h"

bool recorder_strict;

/* ASK, with the large-count function if the program called one. */
#define ASK_LIKE(call, name, ...)                                             \
    ask_library((call)->function->large ? "PMPI_" #name "_c" : "PMPI_" #name, \
                (const word[WORDS]){__VA_ARGS__})

/* Space for a handle of either size. */
typedef uint64_t handle_space;

static bool failed(word result)
{
    return (int)result != 0;
}

/* Cancels the posted receive after the send has failed. */
static void withdraw(handle_space *receive)
{
    ASK(Cancel, (word)receive);
    ASK(Wait, (word)receive, recorder_abi.status_ignore);
}

/* A receive, a synchronous send and a wait: what MPI_Sendrecv is allowed to be. */
static word exchange(const struct call *call, const word *send, const word *receive, word status)
{
    handle_space request = 0;
    word result = (word)ASK_LIKE(call, Irecv, receive[0], receive[1], receive[2], receive[3], receive[4],
                                 receive[5], (word)&request);
    if (failed(result))
        return result;
    result = (word)ASK_LIKE(call, Ssend, send[0], send[1], send[2], send[3], send[4], send[5]);
    if (failed(result)) {
        withdraw(&request);
        return result;
    }
    return (word)ASK(Wait, (word)&request, status);
}

static word sendrecv(const struct call *call)
{
    const word *a = call->arguments;
    const word send[] = {a[0], a[1], a[2], a[3], a[4], a[10]};
    const word receive[] = {a[5], a[6], a[7], a[8], a[9], a[10]};
    return exchange(call, send, receive, a[11]);
}

/* The same with one buffer: sends a packed copy of it. */
static word sendrecv_replace(const struct call *call, mpi_function *next)
{
    enum { PACKED_INTERFACE_MAX = 1 << 30 };
    const word *a = call->arguments;
    int64_t bytes = bytes_of(count_of(call, a[1]), handle_of(a[2]));
    int size = 0;
    int used = 0;
    if (!recorder_abi.packed || bytes < 0 || bytes > PACKED_INTERFACE_MAX ||
        ASK(Pack_size, a[1], a[2], a[7], (word)&size) != 0 || size < 0)
        return go(next, a);
    void *copy = malloc((size_t)size + 1);
    if (!copy || ASK(Pack, a[0], a[1], a[2], (word)copy, (word)size, (word)&used, a[7]) != 0) {
        free(copy);
        return go(next, a);
    }
    const word send[] = {(word)copy, (word)used, (word)recorder_abi.packed, a[3], a[4], a[7]};
    const word receive[] = {a[0], a[1], a[2], a[5], a[6], a[7]};
    word result = exchange(call, send, receive, a[8]);
    free(copy);
    return result;
}

/* Waits for all members before the call; not needed on a communicator with one member. */
static void synchronise(const struct call *call)
{
    const struct mpiq_record_comm *comm = call->comm;
    const struct mpiq_record_group *group = comm ? arena_at(comm->group) : NULL;
    if (!group || call->thread->number == 0 || (group->count < 2 && !comm->remote_group))
        return;
    if (!compare_all(call))
        compare_refuse(call);
}

word strict_go(const struct call *call, mpi_function *next)
{
    const word *a = call->arguments;
    if (call->collective && !compare_is_like_others(call))
        compare_refuse(call);
    switch ((enum action)call->function->action) {
    case ACTION_SEND:
        return (word)ASK_LIKE(call, Ssend, a[0], a[1], a[2], a[3], a[4], a[5]);
    case ACTION_ISEND:
        return (word)ASK_LIKE(call, Issend, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    case ACTION_SEND_INIT:
        return (word)ASK_LIKE(call, Ssend_init, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    case ACTION_SENDRECV:
        return sendrecv(call);
    case ACTION_SENDRECV_REPLACE:
        return call->function->large ? go(next, a) : sendrecv_replace(call, next);
    case ACTION_COLLECTIVE:
    case ACTION_FILE_OPEN:
        synchronise(call);
        return go(next, a);
    case ACTION_CREATE:
    case ACTION_COMM_FREE:
    case ACTION_WIN_CREATE:
        synchronise(call);
        return go(next, a);
    default:
        return go(next, a);
    }
}
