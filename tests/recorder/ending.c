/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ending - rank 0 sends its last message in MPI_Finalize, in the delete function of an attribute of
 * MPI_COMM_SELF, once the file that the program is given exists.  Rank 1 waits for the message.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static const char *go;

static int send_late(MPI_Comm comm, int key, void *value, void *extra)
{
    int one = 1;
    (void)comm, (void)key, (void)value, (void)extra;
    fprintf(stderr, "finalizing\n");
    while (access(go, F_OK) != 0)
        continue;
    MPI_Send(&one, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank, key, value;
    MPI_Init(&argc, &argv);
    go = argv[1];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_late, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
