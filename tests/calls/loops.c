/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of requests that are filled in loops, and by others.  Nobody sends what is received. */
#include "corpus.h"

enum { MESSAGES = 3 };

static MPI_Request kept[2 * MESSAGES];

/* The optimizer does not see what is behind it. */
static __attribute__((noinline)) void make_elsewhere(MPI_Request *request, int tag)
{
    MPI_Irecv(small_received, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, request);
}

static __attribute__((noinline)) MPI_Request made_elsewhere(int tag)
{
    MPI_Request request;
    make_elsewhere(&request, tag);
    return request;
}

/* All of them are made here, at two places. */
CASE(made_at_two_places)
{
    MPI_Request requests[2 * MESSAGES];
    int count = 0;

    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&small_received[i], 1, MPI_INT, 1 - rank, NOBODY - i, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 0; i < MESSAGES - rank; i++)
        MPI_Issend(&small[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[count++]);
    HANG(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

/* One is made by a function that was given its place. */
CASE(one_is_made_elsewhere)
{
    MPI_Request requests[MESSAGES + 1];

    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&small_received[i], 1, MPI_INT, 1 - rank, NOBODY - i, MPI_COMM_WORLD, &requests[i]);
    make_elsewhere(&requests[MESSAGES], NOBODY - MESSAGES);
    HANG(MPI_Waitall(MESSAGES + 1, requests, MPI_STATUSES_IGNORE));
}

/* One is stored there by the function itself, which has not made it. */
CASE(one_is_stored)
{
    MPI_Request requests[MESSAGES + 1];

    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&small_received[i], 1, MPI_INT, 1 - rank, NOBODY - i, MPI_COMM_WORLD, &requests[i]);
    requests[MESSAGES] = made_elsewhere(NOBODY - MESSAGES);
    HANG(MPI_Waitall(MESSAGES + 1, requests, MPI_STATUSES_IGNORE));
}

/* So are all. */
CASE(all_are_stored)
{
    MPI_Request requests[MESSAGES], one;

    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(&small_received[i], 1, MPI_INT, 1 - rank, NOBODY - i, MPI_COMM_WORLD, &one);
        requests[i] = one;
    }
    HANG(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

/* Everybody may write there. */
CASE(where_all_may_write)
{
    for (int i = 0; i < MESSAGES; i++)
        make_elsewhere(&kept[i], NOBODY - i);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&small_received[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &kept[MESSAGES + i]);
    HANG(MPI_Waitall(2 * MESSAGES, kept, MPI_STATUSES_IGNORE));
}

/* Those of another array are not among them. */
CASE(one_of_two_arrays)
{
    MPI_Request own, others[MESSAGES];

    MPI_Irecv(small_received, 1, MPI_INT, 1 - rank, NOBODY, MPI_COMM_WORLD, &own);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&small_received[i + 1], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &others[i]);
    HANG(MPI_Waitall(MESSAGES, others, MPI_STATUSES_IGNORE));
    MPI_Wait(&own, MPI_STATUS_IGNORE);
}
