/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stub - a library of one rank that sends messages to itself, for the thread sanitizer: nothing in it orders
 * one thread before another, so that all order between threads that record is the recorder's own.
 *
 * A thread receives only what it sent, and posts the receive first.  Handles of requests are shared among the
 * threads and given out again at once; half of the sends are complete at once, and all of those have one
 * handle.
 */
#include "mpi.h"

#include <string.h>

enum { SLOTS = 64, FIRST = 0x18000000, PERSISTENT = 0x19000000, COMPLETE_SEND = 0x6c00ffff, MINE = 8 };

static int taken[SLOTS];

/* This thread's receives. */
static __thread struct {
    MPI_Request handle; /* 0: free */
    int *buffer;
    int tag, bytes, done;
} mine[MINE];

static MPI_Request take(void)
{
    for (unsigned slot = 0;; slot = (slot + 1) % SLOTS) {
        int expected = 0;
        if (__atomic_compare_exchange_n(&taken[slot], &expected, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return FIRST + (int)slot;
    }
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)count, (void)type, (void)source, (void)comm;
    for (unsigned i = 0; i < MINE; i++) {
        if (mine[i].handle)
            continue;
        mine[i].handle = *request = take();
        mine[i].buffer = buffer;
        mine[i].tag = tag;
        mine[i].done = 0;
        return 0;
    }
    return 15;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static __thread unsigned sends;
    (void)type, (void)peer, (void)comm;
    for (unsigned i = 0; i < MINE; i++) {
        if (!mine[i].handle || mine[i].done || mine[i].tag != tag)
            continue;
        memcpy(mine[i].buffer, buffer, (size_t)count * sizeof(int));
        mine[i].bytes = count * (int)sizeof(int);
        mine[i].done = 1;
        *request = sends++ % 2 ? COMPLETE_SEND : take();
        return 0;
    }
    return 15;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (*request >= PERSISTENT && *request < PERSISTENT + SLOTS)
        return 0;
    if (*request != COMPLETE_SEND) {
        for (unsigned i = 0; i < MINE; i++) {
            if (mine[i].handle != *request)
                continue;
            mine[i].handle = 0;
            if (status != MPI_STATUS_IGNORE)
                *status = (MPI_Status){.count_lo = mine[i].bytes, .MPI_TAG = mine[i].tag};
        }
        __atomic_store_n(&taken[*request - FIRST], 0, __ATOMIC_RELAXED);
    }
    *request = MPI_REQUEST_NULL;
    return 0;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++)
        MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return 0;
}

/* Finds nothing every other time. */
int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    static __thread unsigned tests;
    *flag = tests++ % 2 != 0;
    return *flag ? MPI_Waitall(count, requests, statuses) : 0;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *flag = 0;
    return 0;
}

int MPI_Barrier(MPI_Comm comm)
{
    return comm == 0;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type, (void)op, (void)comm;
    memcpy(to, from, (size_t)count * sizeof(int));
    return 0;
}

/* Inactive ones keep their handles. */
int MPI_Allreduce_init(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    (void)from, (void)to, (void)count, (void)type, (void)op, (void)comm, (void)info;
    *request = take() - FIRST + PERSISTENT;
    return 0;
}

int MPI_Start(MPI_Request *request)
{
    return *request < PERSISTENT;
}

int MPI_Request_free(MPI_Request *request)
{
    __atomic_store_n(&taken[*request - PERSISTENT], 0, __ATOMIC_RELAXED);
    *request = MPI_REQUEST_NULL;
    return 0;
}

int MPI_Neighbor_allgather(const void *from, int count, MPI_Datatype type, void *to, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm)
{
    (void)from, (void)count, (void)type, (void)to, (void)receive_count, (void)receive_type;
    return comm == 0;
}

int MPI_Ineighbor_allgather(const void *from, int count, MPI_Datatype type, void *to, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request)
{
    *request = take();
    return MPI_Neighbor_allgather(from, count, type, to, receive_count, receive_type, comm);
}

/* One window at a time on each communicator. */
int MPI_Win_create(void *memory, long bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *ret)
{
    (void)memory, (void)bytes, (void)unit, (void)info;
    *ret = 0x20000000 + (comm & 0xffff);
    return 0;
}

int MPI_Win_fence(int assertion, MPI_Win window)
{
    (void)assertion;
    return window == 0;
}

int MPI_Win_free(MPI_Win *window)
{
    *window = 0x20000000;
    return 0;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *level)
{
    (void)argc, (void)argv, (void)wanted;
    *level = MPI_THREAD_MULTIPLE;
    return 0;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *ret)
{
    static MPI_Comm last = 0x44000010;
    (void)comm;
    *ret = ++last;
    return 0;
}

int MPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    (void)name;
    return comm == 0;
}

/* ---- what the recorder asks ---------------------------------------------------------------------------- */

#define ANSWER(name, parameters, action) \
    int PMPI_##name parameters;          \
    int PMPI_##name parameters           \
    {                                    \
        action;                          \
        return 0;                        \
    }

ANSWER(Query_thread, (int *level), *level = MPI_THREAD_MULTIPLE)
ANSWER(Get_library_version, (char *text, int *length), *length = (int)strlen(strcpy(text, "stub")))
ANSWER(Comm_test_inter, (MPI_Comm comm, int *inter), *inter = comm == 0)
ANSWER(Topo_test, (MPI_Comm comm, int *kind), *kind = comm == 0 ? 0 : 2) /* a ring of one */
ANSWER(Cartdim_get, (MPI_Comm comm, int *dimensions), *dimensions = comm != 0)
ANSWER(Cart_shift, (MPI_Comm comm, int direction, int distance, int *from, int *to),
       *from = *to = comm == 0 || direction >= distance)
ANSWER(Comm_rank, (MPI_Comm comm, int *rank), *rank = comm == 0)
ANSWER(Comm_group, (MPI_Comm comm, MPI_Group *group), *group = comm)
ANSWER(Group_size, (MPI_Group group, int *size), *size = group != 0)
ANSWER(Group_free, (MPI_Group * group), *group = 0)
ANSWER(Group_translate_ranks, (MPI_Group from, int count, const int *ranks, MPI_Group to, int *ret),
       for (int i = 0; i < count && from != to + 1; i++) ret[i] = ranks[i])
ANSWER(Type_size, (MPI_Datatype type, int *size), *size = (type >> 8) & 0xff)
ANSWER(Type_get_name, (MPI_Datatype type, char *name, int *length), *length = type != 0; strcpy(name, "T"))
