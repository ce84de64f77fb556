/* SPDX-License-Identifier: BSD-3-Clause */
/* off.c - run with recording off: identity and layout are there, records are not. */
#include "records.h"

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Comm dup;
    int rank, in = 1, out;
    unsigned int i;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(0 == root()->recording, "recording");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&in, 1, MPI_INT, rank ^ 1, 1, &out, 1, MPI_INT, rank ^ 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(NULL == record_of(MPI_COMM_WORLD) && NULL == record_of(dup), "communicators have records");
    CHECK(NULL == thread_of(my_tid()), "the thread has a record");
    for (i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        CHECK(0 == counts_of(process_record(), i).calls, "%s counts", class_names[i]);
    }
    CHECK(OMPI_MQS_PHASE_RUNNING == root()->phase, "phase %u", root()->phase);
    CHECK((uint32_t)rank == root()->vpid, "vpid %u", root()->vpid);
    CHECK(NULL != row_of("ompi_request_t", "req_complete"), "no layout rows");
    MPI_Comm_free(&dup);
    return finish("off");
}
