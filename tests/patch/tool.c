/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c - a program with a profiling layer of its own, which calls MPI inside MPI: outer calls count once.
 */
#include "records.h"

static int tool_calls;

int MPI_Barrier(MPI_Comm comm)
{
    tool_calls++;
    return PMPI_Barrier(comm);
}

/* A careless tool: a collective before the collective.  Both are the program's, for all the library knows. */
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    tool_calls++;
    PMPI_Barrier(comm);
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}

/* Called by the library inside MPI_Comm_dup, but the user's: what it calls counts. */
static int on_copy(MPI_Comm comm, int key, void *extra, void *value, void *ret, int *flag)
{
    int one = 1, sum;

    (void)key, (void)extra, (void)value, (void)ret;
    PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    *flag = 0;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const struct ompi_mqs_collectives *record;
    MPI_Comm comm, dup;
    int key, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    record = record_of(comm);
    MPI_Barrier(comm);
    CHECK(1 == counts_of(record, OMPI_MQS_barrier).calls, "%u", counts_of(record, OMPI_MQS_barrier).calls);
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    CHECK(2 == counts_of(record, OMPI_MQS_barrier).calls, "%u", counts_of(record, OMPI_MQS_barrier).calls);
    CHECK(1 == counts_of(record, OMPI_MQS_bcast).calls, "%u", counts_of(record, OMPI_MQS_bcast).calls);
    CHECK(2 == tool_calls, "the tool was called %d times", tool_calls);
    MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
    MPI_Comm_dup(comm, &dup);
    CHECK(1 == counts_of(record, OMPI_MQS_comm_dup).calls, "%u", counts_of(record, OMPI_MQS_comm_dup).calls);
    CHECK(1 == counts_of(record, OMPI_MQS_allreduce).calls, "a call in a callback does not count");
    CHECK(5 == calls_so_far(record), "%lu calls", (unsigned long)calls_so_far(record));
    return finish("tool");
}
