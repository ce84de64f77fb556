/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_collectives - blocking, non-blocking, persistent and neighbourhood collectives. */
#include "every_call.h"

#define W MPI_COMM_WORLD
static int out[64], in[64];
static const count_type counts[] = {2, 2};
static const place_type places[] = {0, 2}, byte_places_int[] = {0, 8};
#ifdef LARGE
static const MPI_Aint byte_places[] = {0, 8};
#else
#define byte_places byte_places_int
#endif
static const MPI_Aint far_places[] = {0, 8};
static const MPI_Datatype types[] = {MPI_INT, MPI_INT};
static MPI_Request request;

/* Waits for the request that a call made. */
#define ENDED() CALL(WORLD, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE))

void part_collectives(void)
{
    BARRIER();
    CALL(WORLD, 1, NONE, 12, N(Bcast)(out, 3, MPI_INT, 1, W));
    CALL(WORLD, 1, NONE, 8, N(Gather)(out, 2, MPI_INT, in, 2, MPI_INT, 1, W));
    CALL(WORLD, 1, NONE, 8, N(Gatherv)(out, 2, MPI_INT, in, counts, places, MPI_INT, 1, W));
    CALL(WORLD, 0, NONE, 8, N(Scatter)(out, 2, MPI_INT, in, 2, MPI_INT, 0, W));
    CALL(WORLD, 0, NONE, 8, N(Scatterv)(out, counts, places, MPI_INT, in, 2, MPI_INT, 0, W));
    CALL(WORLD, NONE, NONE, 16, N(Allgather)(out, 4, MPI_INT, in, 4, MPI_INT, W));
    CALL(WORLD, NONE, NONE, 8, N(Allgatherv)(out, 2, MPI_INT, in, counts, places, MPI_INT, W));
    CALL(WORLD, NONE, NONE, 20, N(Alltoall)(out, 5, MPI_INT, in, 5, MPI_INT, W));
    CALL(WORLD, NONE, NONE, NONE, N(Alltoallv)(out, counts, places, MPI_INT, in, counts, places, MPI_INT, W));
    CALL(WORLD, NONE, NONE, NONE,
         N(Alltoallw)(out, counts, byte_places, types, in, counts, byte_places, types, W));
    CALL(WORLD, 1, NONE, 24, N(Reduce)(out, in, 6, MPI_INT, MPI_SUM, 1, W));
    CALL(WORLD, NONE, NONE, 28, N(Allreduce)(out, in, 7, MPI_INT, MPI_MAX, W));
    CALL(WORLD, NONE, NONE, NONE, N(Reduce_scatter)(out, in, counts, MPI_INT, MPI_SUM, W));
    CALL(WORLD, NONE, NONE, 8, N(Reduce_scatter_block)(out, in, 2, MPI_INT, MPI_SUM, W));
    CALL(WORLD, NONE, NONE, 12, N(Scan)(out, in, 3, MPI_INT, MPI_SUM, W));
    CALL(WORLD, NONE, NONE, 16, N(Exscan)(out, in, 4, MPI_INT, MPI_SUM, W));
}

void part_nonblocking(void)
{
    CALL(WORLD, NONE, NONE, NONE, MPI_Ibarrier(W, &request));
    ENDED();
    CALL(WORLD, 1, NONE, 12, N(Ibcast)(out, 3, MPI_INT, 1, W, &request));
    CALL(WORLD, 1, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, 1, NONE, 8, N(Igather)(out, 2, MPI_INT, in, 2, MPI_INT, 1, W, &request));
    CALL(WORLD, 1, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, 1, NONE, 8, N(Igatherv)(out, 2, MPI_INT, in, counts, places, MPI_INT, 1, W, &request));
    CALL(WORLD, 1, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, 0, NONE, 8, N(Iscatter)(out, 2, MPI_INT, in, 2, MPI_INT, 0, W, &request));
    CALL(WORLD, 0, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, 0, NONE, 8, N(Iscatterv)(out, counts, places, MPI_INT, in, 2, MPI_INT, 0, W, &request));
    CALL(WORLD, 0, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, NONE, NONE, 16, N(Iallgather)(out, 4, MPI_INT, in, 4, MPI_INT, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, 8, N(Iallgatherv)(out, 2, MPI_INT, in, counts, places, MPI_INT, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, 20, N(Ialltoall)(out, 5, MPI_INT, in, 5, MPI_INT, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, NONE,
         N(Ialltoallv)(out, counts, places, MPI_INT, in, counts, places, MPI_INT, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, NONE,
         N(Ialltoallw)(out, counts, byte_places, types, in, counts, byte_places, types, W, &request));
    ENDED();
    CALL(WORLD, 1, NONE, 24, N(Ireduce)(out, in, 6, MPI_INT, MPI_SUM, 1, W, &request));
    CALL(WORLD, 1, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, NONE, NONE, 28, N(Iallreduce)(out, in, 7, MPI_INT, MPI_MAX, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, NONE, N(Ireduce_scatter)(out, in, counts, MPI_INT, MPI_SUM, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, 8, N(Ireduce_scatter_block)(out, in, 2, MPI_INT, MPI_SUM, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, 12, N(Iscan)(out, in, 3, MPI_INT, MPI_SUM, W, &request));
    ENDED();
    CALL(WORLD, NONE, NONE, 16, N(Iexscan)(out, in, 4, MPI_INT, MPI_SUM, W, &request));
    ENDED();
}

/* Starts a request, waits for it and frees it. */
#define RUN(root)                                                         \
    PLAIN(MPI_Start(&request));                                           \
    CALL(WORLD, root, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE)); \
    CALL(WORLD, root, NONE, NONE, MPI_Request_free(&request))

void part_persistent(void)
{
#if MPI_VERSION >= 4
    CALL(WORLD, NONE, NONE, NONE, MPI_Barrier_init(W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, 1, NONE, 12, N(Bcast_init)(out, 3, MPI_INT, 1, W, MPI_INFO_NULL, &request));
    RUN(1);
    CALL(WORLD, 1, NONE, 8, N(Gather_init)(out, 2, MPI_INT, in, 2, MPI_INT, 1, W, MPI_INFO_NULL, &request));
    RUN(1);
    CALL(WORLD, 1, NONE, 8,
         N(Gatherv_init)(out, 2, MPI_INT, in, counts, places, MPI_INT, 1, W, MPI_INFO_NULL, &request));
    RUN(1);
    CALL(WORLD, 0, NONE, 8, N(Scatter_init)(out, 2, MPI_INT, in, 2, MPI_INT, 0, W, MPI_INFO_NULL, &request));
    RUN(0);
    CALL(WORLD, 0, NONE, 8,
         N(Scatterv_init)(out, counts, places, MPI_INT, in, 2, MPI_INT, 0, W, MPI_INFO_NULL, &request));
    RUN(0);
    CALL(WORLD, NONE, NONE, 16,
         N(Allgather_init)(out, 4, MPI_INT, in, 4, MPI_INT, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, 8,
         N(Allgatherv_init)(out, 2, MPI_INT, in, counts, places, MPI_INT, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, 20,
         N(Alltoall_init)(out, 5, MPI_INT, in, 5, MPI_INT, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, NONE,
         N(Alltoallv_init)(out, counts, places, MPI_INT, in, counts, places, MPI_INT, W, MPI_INFO_NULL,
                           &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, NONE,
         N(Alltoallw_init)(out, counts, byte_places, types, in, counts, byte_places, types, W, MPI_INFO_NULL,
                           &request));
    RUN(NONE);
    CALL(WORLD, 1, NONE, 24, N(Reduce_init)(out, in, 6, MPI_INT, MPI_SUM, 1, W, MPI_INFO_NULL, &request));
    RUN(1);
    CALL(WORLD, NONE, NONE, 28, N(Allreduce_init)(out, in, 7, MPI_INT, MPI_MAX, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, NONE,
         N(Reduce_scatter_init)(out, in, counts, MPI_INT, MPI_SUM, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, 8,
         N(Reduce_scatter_block_init)(out, in, 2, MPI_INT, MPI_SUM, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, 12, N(Scan_init)(out, in, 3, MPI_INT, MPI_SUM, W, MPI_INFO_NULL, &request));
    RUN(NONE);
    CALL(WORLD, NONE, NONE, 16, N(Exscan_init)(out, in, 4, MPI_INT, MPI_SUM, W, MPI_INFO_NULL, &request));
    RUN(NONE);
#endif
}

#define LINE "line"

void part_neighbours(void)
{
    static const int dims[] = {2}, periods[] = {1};
    MPI_Comm line;
    CALL(WORLD, NONE, NONE, NONE, MPI_Cart_create(W, 1, dims, periods, 0, &line));
    CALL(LINE, NONE, NONE, NONE, MPI_Comm_set_name(line, LINE));
    CALL(LINE, NONE, NONE, 4, N(Neighbor_allgather)(out, 1, MPI_INT, in, 1, MPI_INT, line));
    CALL(LINE, NONE, NONE, 8, N(Neighbor_allgatherv)(out, 2, MPI_INT, in, counts, places, MPI_INT, line));
    CALL(LINE, NONE, NONE, 12, N(Neighbor_alltoall)(out, 3, MPI_INT, in, 3, MPI_INT, line));
    CALL(LINE, NONE, NONE, NONE,
         N(Neighbor_alltoallv)(out, counts, places, MPI_INT, in, counts, places, MPI_INT, line));
    CALL(LINE, NONE, NONE, NONE,
         N(Neighbor_alltoallw)(out, counts, far_places, types, in, counts, far_places, types, line));
    CALL(LINE, NONE, NONE, 4, N(Ineighbor_allgather)(out, 1, MPI_INT, in, 1, MPI_INT, line, &request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, 8,
         N(Ineighbor_allgatherv)(out, 2, MPI_INT, in, counts, places, MPI_INT, line, &request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, 12, N(Ineighbor_alltoall)(out, 3, MPI_INT, in, 3, MPI_INT, line, &request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE,
         N(Ineighbor_alltoallv)(out, counts, places, MPI_INT, in, counts, places, MPI_INT, line, &request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE,
         N(Ineighbor_alltoallw)(out, counts, far_places, types, in, counts, far_places, types, line,
                                &request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
    CALL(LINE, NONE, NONE, 4,
         N(Neighbor_allgather_init)(out, 1, MPI_INT, in, 1, MPI_INT, line, MPI_INFO_NULL, &request));
    PLAIN(MPI_Start(&request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE, MPI_Request_free(&request));
    CALL(LINE, NONE, NONE, 8,
         N(Neighbor_allgatherv_init)(out, 2, MPI_INT, in, counts, places, MPI_INT, line, MPI_INFO_NULL,
                                     &request));
    PLAIN(MPI_Start(&request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE, MPI_Request_free(&request));
    CALL(LINE, NONE, NONE, 12,
         N(Neighbor_alltoall_init)(out, 3, MPI_INT, in, 3, MPI_INT, line, MPI_INFO_NULL, &request));
    PLAIN(MPI_Start(&request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE, MPI_Request_free(&request));
    CALL(LINE, NONE, NONE, NONE,
         N(Neighbor_alltoallv_init)(out, counts, places, MPI_INT, in, counts, places, MPI_INT, line,
                                    MPI_INFO_NULL, &request));
    PLAIN(MPI_Start(&request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE, MPI_Request_free(&request));
    CALL(LINE, NONE, NONE, NONE,
         N(Neighbor_alltoallw_init)(out, counts, far_places, types, in, counts, far_places, types, line,
                                    MPI_INFO_NULL, &request));
    PLAIN(MPI_Start(&request));
    CALL(LINE, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(LINE, NONE, NONE, NONE, MPI_Request_free(&request));
#endif
}
