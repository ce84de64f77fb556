/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbours - rank 0 starts neighbourhood collectives on communicators of all kinds, says "ready" and blocks
 * in one; rank 1 makes none, and waits for a message.  test_neighbours.py reads the records back.  Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { MANY = 70 };

static int rank;
static int out[MANY], in[MANY], places[MANY];

static MPI_Comm named(MPI_Comm comm, const char *name)
{
    MPI_Comm_set_name(comm, name);
    return comm;
}

static MPI_Comm cart(const char *name, int periodic)
{
    MPI_Comm comm;
    int size = 2;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    return named(comm, name);
}

static MPI_Comm graph(const char *name)
{
    MPI_Comm comm;
    int index[] = {1, 2}, edges[] = {1, 0};
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &comm);
    return named(comm, name);
}

/* Rank 0 receives from 1 and from itself, `times` times each; rank 1 from nobody. */
static MPI_Comm dist_graph(const char *name, int times)
{
    MPI_Comm comm;
    int from[MANY], to[MANY], count = 0;
    for (int i = 0; i < 2 * times; i++)
        from[i] = 1 - i % 2;
    for (; count < times; count++)
        to[count] = 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? 2 * times : 0, from, MPI_UNWEIGHTED, count, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    return named(comm, name);
}

static void start_all(MPI_Comm empty, MPI_Comm round, MPI_Comm pair, MPI_Comm one, MPI_Comm copy,
                      MPI_Comm many, MPI_Comm hole)
{
    MPI_Request request;
    int only_self[] = {0, 1}, ones[MANY], all_but_one[MANY], types_sizes[] = {1, 1};
    MPI_Aint far_places[] = {0, 0};
    MPI_Datatype none, types[2];
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    types[0] = MPI_INT;
    types[1] = none;
    for (int i = 0; i < MANY; i++)
        ones[i] = all_but_one[i] = 1;
    all_but_one[66] = 0;
    MPI_Ineighbor_allgather(out, 0, MPI_INT, in, 0, MPI_INT, empty, &request);
    MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, round, &request);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, round, &request);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, pair, &request);
    MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, only_self, places, MPI_INT, one, &request);
    MPI_Ineighbor_alltoallw(out, types_sizes, far_places, types, in, types_sizes, far_places, types, copy,
                            &request);
    MPI_Ineighbor_alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, many, &request);
    MPI_Ineighbor_alltoallv(out, ones, places, MPI_INT, in, all_but_one, places, MPI_INT, hole, &request);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm empty = cart("empty", 1), round = cart("round", 1), line = cart("line", 0), pair = graph("pair");
    MPI_Comm one = dist_graph("one", 1), many = dist_graph("many", MANY / 2),
             hole = dist_graph("hole", MANY / 2);
    MPI_Comm_idup(one, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    named(copy, "copy");
    if (rank == 0)
        start_all(empty, round, pair, one, copy, many, hole);
    for (int i = 0; i < 20; i++) { /* lists of freed communicators are reused */
        MPI_Comm gone = cart("gone", 1);
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, gone);
        MPI_Comm_free(&gone);
    }
    FILE *ready = fopen(argv[1], "a");
    fprintf(ready, "%d %d\n", rank, (int)getpid());
    fclose(ready);
    if (rank == 0)
        MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line);
    else
        MPI_Recv(in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
