/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init and MPI_Finalize that not all ranks reach. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

static int init(void)
{
    return MPI_Init(NULL, NULL);
}

CASE_BEFORE_INIT(init_not_reached_asleep)
{
    if (rank_by_environment() == 1)
        HANG(sleep_for_ever());
    else
        HANG(init());
}

CASE_BEFORE_INIT(init_not_reached_computing)
{
    if (rank_by_environment() == 1)
        HANG(compute_for_ever());
    else
        HANG(init());
}

CASE(finalize_not_reached)
{
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Finalize());
}

CASE(finalize_not_reached_asleep)
{
    if (rank == 1)
        HANG(sleep_for_ever());
    else
        HANG(MPI_Finalize());
}

CASE(finalize_not_reached_computing)
{
    if (rank == 1)
        HANG(compute_for_ever());
    else
        HANG(MPI_Finalize());
}

CASE(one_finalizes_early)
{
    MPI_Barrier(WORLD);
    if (rank == 1)
        HANG(MPI_Finalize());
    else
        HANG(MPI_Barrier(WORLD));
}

CASE(receive_from_one_that_finalizes)
{
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE));
    else
        HANG(MPI_Finalize());
}

/* All are done with MPI, and live on. */
CASE_BEFORE_INIT(finalized_and_asleep)
{
    init();
    MPI_Finalize();
    HANG(sleep_for_ever());
}

static int receive_last_word(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    return HANG(WAIT_FOR_NOBODY(1)), MPI_SUCCESS;
}

/* Rank 0 tidies up as MPI_COMM_SELF is freed, with a message that rank 1 no longer sends. */
CASE(receive_in_finalize)
{
    int keyval;

    if (rank > 0) {
        HANG(MPI_Finalize());
        return;
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receive_last_word, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &keyval);
    MPI_Finalize();
}

/* A farm whose master has no more work and forgets to say so: each worker probes for its next task. */
CASE(farm_without_an_end)
{
    MPI_Message message;

    if (rank == 0)
        HANG(MPI_Finalize());
    else
        HANG(MPI_Mprobe(0, MPI_ANY_TAG, WORLD, &message, MPI_STATUS_IGNORE));
}
