/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callbacks.c - what programs do in callbacks of the library, and how they leave them: collectives in
 * attribute functions and at MPI_Finalize, an error handler that jumps out of MPI.
 */
#include "records.h"

#include <setjmp.h>

static jmp_buf out;
static MPI_Comm comm;
static int key, finalizing;

static struct ompi_mqs_count count(uint32_t class)
{
    return counts_of(record_of(comm), class);
}

static void leave(MPI_Comm *failed, int *code, ...)
{
    (void)failed, (void)code;
    CHECK(0 == ompi_mqs_active(count(OMPI_MQS_bcast)),
          "a call that has failed is active in its error handler");
    longjmp(out, 1);
}

/* The thread must be outside of everything, whatever was left behind. */
static void check_outside(const char *after)
{
    const struct ompi_mqs_thread *thread = thread_of(my_tid());

    CHECK(0 == inside_of(thread), "%s: the thread is inside a call", after);
    CHECK(0 == thread->outer_depth || thread->outer[thread->outer_depth - 1].depth == thread->depth,
          "%s: the thread waits", after);
}

static void error_handlers(void)
{
    MPI_Errhandler handler;
    volatile int i;
    int value = 0;

    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    for (i = 0; i < 20; i++) {
        if (0 == setjmp(out)) {
            MPI_Bcast(&value, -1, MPI_INT, 0, comm); /* refused before it counts */
        }
        if (0 == setjmp(out)) {
            char small[1];

            /* Refused by the component, in the middle of the call: every rank sends itself too much. */
            MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, small, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF,
                         MPI_STATUS_IGNORE);
        }
        check_outside("an error handler has left MPI");
        MPI_Barrier(comm);
    }
    CHECK(20 == count(OMPI_MQS_barrier).calls, "%u barriers: the thread is silenced",
          count(OMPI_MQS_barrier).calls);
    CHECK(0 == ompi_mqs_active(count(OMPI_MQS_barrier)), "a barrier is active");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void on_self_error(MPI_Comm *failed, int *code, ...)
{
    (void)failed, (void)code;
    longjmp(out, 1);
}

static int on_delete(MPI_Comm of, int keyval, void *value, void *extra)
{
    const struct ompi_mqs_thread *thread = thread_of(my_tid());
    int one = 1, sum = 0;

    (void)of, (void)keyval, (void)value, (void)extra;
    CHECK(0 == inside_of(thread), "a callback is inside a call");
    CHECK(0 < thread->outer_depth, "the call around a callback is not kept");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(!finalizing || OMPI_MQS_PHASE_RUNNING == root()->phase, "finalizing while callbacks run");
    if (finalizing && 2 != count(OMPI_MQS_allreduce).calls) {
        fprintf(stderr, "callbacks: at MPI_Finalize the callback's collective does not count: %u\n",
                count(OMPI_MQS_allreduce).calls);
        exit(3);
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm dup;
    int rank, all[2], mine[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_self_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    error_handlers();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_dup(comm, &dup);
    MPI_Comm_set_attr(dup, key, &key);
    MPI_Comm_free(&dup);
    CHECK(1 == count(OMPI_MQS_allreduce).calls && 0 == ompi_mqs_active(count(OMPI_MQS_allreduce)),
          "%u in the callback of MPI_Comm_free", count(OMPI_MQS_allreduce).calls);
    check_outside("MPI_Comm_free");
    finalizing = 1;
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    mine[0] = failures;
    mine[1] = checks;
    PMPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("callbacks: %d checks, %d failed\n", all[1], all[0]);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0 != failures;
}
