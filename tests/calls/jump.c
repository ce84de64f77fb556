/* SPDX-License-Identifier: BSD-3-Clause */
/* A request's variable holds another request when setjmp() returns for the second time. */
#include "corpus.h"

#include <setjmp.h>

static jmp_buf back;

/* In a function of its own, which the caller's code does not say never returns. */
static void jump(void)
{
    longjmp(back, 1);
}

static void wait_for(int other)
{
    MPI_Request request;

    MPI_Isend(small, 1, MPI_INT, other, 11, MPI_COMM_WORLD, &request);
    if (setjmp(back) == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(small, 1, MPI_INT, other, 22, MPI_COMM_WORLD, &request);
        jump();
    }
    HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

CASE(waits_after_a_jump)
{
    wait_for(1 - rank);
}
