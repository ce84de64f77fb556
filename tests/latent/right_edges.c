/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * right_edges - more programs in which nothing is wrong, at the edges of the standard: arguments that do not
 * count, objects that functions of the program free, requests that end in other ways than by MPI_Wait.  Two
 * to four ranks; neither --strict nor --check may find anything.
 */
#include "right.h"

#include <stdlib.h>

/* ---- nobody and nothing ---------------------------------------------------------------------------------
 */

static void nobody_in_every_call(void)
{
    int value = rank, flag;
    MPI_Request requests[4];
    MPI_Message message;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, IGNORE);
    MPI_Probe(MPI_PROC_NULL, 1, WORLD, IGNORE);
    MPI_Iprobe(MPI_PROC_NULL, 1, WORLD, &flag, IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &message, IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, IGNORE);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, WORLD, IGNORE);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[1]);
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[2]);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[3]);
    MPI_Startall(2, &requests[2]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[2]);
    MPI_Request_free(&requests[3]);
}

static void exchange_at_the_ends_of_a_line(void)
{
    int out = rank, in = -1;
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, after = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, before, 2, WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, after, 2, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void collectives_of_nothing(void)
{
    int zeros[16] = {0};
    if (rank == 0)
        MPI_Bcast(NULL, 0, MPI_INT, 0, WORLD);
    else
        MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, WORLD);
    MPI_Gather(zeros, 0, MPI_INT, zeros, 0, MPI_INT, 0, WORLD);
    MPI_Allgatherv(zeros, 0, MPI_INT, zeros, zeros, zeros, MPI_INT, WORLD);
    MPI_Alltoallv(zeros, zeros, zeros, MPI_INT, zeros, zeros, zeros, MPI_DOUBLE, WORLD);
    MPI_Sendrecv(NULL, 0, MPI_INT, right(), 3, NULL, 0, MPI_DOUBLE, left(), 3, WORLD, IGNORE);
}

static void null_handles_in_lists(void)
{
    int value = rank, index, count, indices[3], flag;
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Waitany(3, requests, &index, IGNORE);
    MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Testany(3, requests, &index, &flag, IGNORE);
    MPI_Testsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Wait(&requests[0], IGNORE);
    MPI_Recv_init(&value, 1, MPI_INT, left(), 4, WORLD, &requests[1]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE); /* it was not started */
    MPI_Request_free(&requests[1]);
}

/* ---- how requests end -----------------------------------------------------------------------------------
 */

static void receive_cancelled_too_late_or_not(void)
{
    int value = 5, cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    if (rank == 1)
        MPI_Irecv(&value, 1, MPI_INT, 0, 5, WORLD, &request);
    if (rank == 0)
        MPI_Isend(&value, 1, MPI_INT, 1, 5, WORLD, &request);
    MPI_Barrier(WORLD);
    if (rank == 1) {
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (cancelled)
            MPI_Recv(&value, 1, MPI_INT, 0, 5, WORLD, IGNORE);
    }
    if (rank == 0)
        MPI_Wait(&request, IGNORE);
}

static void send_cancelled_and_freed(void)
{
    MPI_Request request;
    MPI_Issend(NULL, 0, MPI_INT, 0, 30, MPI_COMM_SELF, &request);
    MPI_Probe(0, 30, MPI_COMM_SELF, IGNORE);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Irecv(NULL, 0, MPI_INT, 0, 30, MPI_COMM_SELF, &request); /* if it was too late */
    MPI_Cancel(&request);
    MPI_Wait(&request, IGNORE);
}

static void asked_and_freed(void)
{
    int value = 6, flag = 0;
    MPI_Request request;
    if (rank == 0)
        MPI_Isend(&value, 1, MPI_INT, 1, 6, WORLD, &request);
    if (rank == 1)
        MPI_Irecv(&value, 1, MPI_INT, 0, 6, WORLD, &request);
    while (rank < 2 && !flag)
        MPI_Request_get_status(request, &flag, IGNORE);
    if (rank < 2)
        MPI_Request_free(&request);
}

static void some_by_some(void)
{
    enum { MANY = 6 };
    int out = rank, in[MANY], left_over = 2 * MANY, count, indices[2 * MANY];
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, left(), 7, WORLD, &requests[i]);
        MPI_Isend(&out, 1, MPI_INT, right(), 7, WORLD, &requests[MANY + i]);
    }
    for (int turn = 0; left_over > 0; turn++) {
        if (turn % 2)
            MPI_Waitsome(2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(2 * MANY, requests, &count, indices, statuses);
        left_over -= count;
    }
}

/* On a communicator of one rank they end at once, and MPICH gives them all one handle. */
static void complete_at_once(void)
{
    MPI_Request requests[6];
    int value = 1, sum[6];
    for (int i = 0; i < 6; i += 3) {
        MPI_Ibarrier(MPI_COMM_SELF, &requests[i]);
        MPI_Iallreduce(&value, &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &requests[i + 1]);
        MPI_Ireduce(&value, &sum[i + 1], 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF, &requests[i + 2]);
    }
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
}

static void communicator_freed_before_its_requests(void)
{
    int out = rank, in = -1;
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Comm_dup(WORLD, &copy);
    MPI_Irecv(&in, 1, MPI_INT, left(), 8, copy, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, right(), 8, copy, &requests[1]);
    MPI_Comm_free(&copy);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int do_nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void request_of_its_own(void)
{
    MPI_Request request;
    MPI_Grequest_start(query, do_nothing, cancel_nothing, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, IGNORE);
}

/* ---- types ----------------------------------------------------------------------------------------------
 */

/* Six ints by seven ways. */
static void one_signature_by_many_constructors(void)
{
    enum { WAYS = 7 };
    MPI_Datatype types[WAYS], inner;
    int lengths[] = {2, 4}, places[] = {0, 2}, sizes[] = {4, 4}, parts[] = {2, 3}, starts[] = {1, 1},
        values[32] = {0};
    MPI_Aint bytes[] = {0, 8}, at[] = {0, 8};
    MPI_Datatype members[] = {MPI_INT, MPI_INT};
    MPI_Type_contiguous(6, MPI_INT, &types[0]);
    MPI_Type_vector(3, 2, 3, MPI_INT, &types[1]);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &types[2]);
    MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &types[3]);
    MPI_Type_create_struct(2, lengths, at, members, &types[4]);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &types[5]);
    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_create_hvector(2, 1, 20, inner, &types[6]);
    MPI_Type_free(&inner);
    for (int i = 0; i < WAYS; i++)
        MPI_Type_commit(&types[i]);
    for (int i = 0; i < WAYS; i++) {
        MPI_Sendrecv(values, 1, types[i], right(), 9, values + 16, 1, types[(i + 1) % WAYS], left(), 9, WORLD,
                     IGNORE);
        MPI_Bcast(values, 1, types[(i + rank) % WAYS], 0, WORLD);
    }
    MPI_Bcast(values, rank == 0 ? 6 : 1, rank == 0 ? MPI_INT : types[1], 0, WORLD);
    for (int i = 0; i < WAYS; i++)
        MPI_Type_free(&types[i]);
}

/* Of types that are freed at once: nothing is left of them when it is freed and its message has come. */
static void make_of_types(MPI_Datatype *type)
{
    MPI_Datatype inner[2];
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Type_contiguous(2, MPI_INT, &inner[0]);
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner[1]);
    MPI_Type_create_struct(2, lengths, places, inner, type);
    MPI_Type_commit(type);
    MPI_Type_free(&inner[0]);
    MPI_Type_free(&inner[1]);
}

static void type_freed_before_its_message(void)
{
    MPI_Datatype four, other, third;
    MPI_Request requests[4];
    int out[8] = {0}, in[16];
    make_of_types(&four);
    make_of_types(&other);
    make_of_types(&third);
    MPI_Irecv(in, 1, four, left(), 10, WORLD, &requests[0]);
    MPI_Isend(out, 4, MPI_INT, right(), 10, WORLD, &requests[1]);
    MPI_Send_init(out, 1, third, right(), 31, WORLD, &requests[2]);
    MPI_Recv_init(in + 8, 1, other, left(), 31, WORLD, &requests[3]);
    MPI_Type_free(&four);
    MPI_Type_free(&other);
    MPI_Type_free(&third);
    MPI_Startall(2, &requests[2]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[2]);
    MPI_Request_free(&requests[3]);
}

static void packed_at_either_end(void)
{
    char packed[64];
    int values[2] = {1, 2}, at = 0;
    if (rank == 0)
        MPI_Send(values, 2, MPI_INT, 1, 11, WORLD);
    if (rank == 1) {
        MPI_Status status;
        MPI_Recv(packed, sizeof packed, MPI_PACKED, 0, 11, WORLD, &status);
        MPI_Unpack(packed, sizeof packed, &at, values, 2, MPI_INT, WORLD);
    }
}

static void bytes_in_pieces(void)
{
    MPI_Datatype four;
    char data[8] = "";
    MPI_Type_contiguous(4, MPI_BYTE, &four);
    MPI_Type_commit(&four);
    MPI_Bcast(data, rank == 0 ? 8 : 2, rank == 0 ? MPI_BYTE : four, 0, WORLD);
    MPI_Sendrecv(data, 1, four, right(), 12, data + 4, 4, MPI_BYTE, left(), 12, WORLD, IGNORE);
    MPI_Type_free(&four);
}

static void gathered_into_columns(void)
{
    MPI_Datatype column, resized;
    int row[4] = {0}, matrix[64] = {0};
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &resized);
    MPI_Type_commit(&resized);
    MPI_Gather(row, 4, MPI_INT, matrix, 1, resized, 0, WORLD);
    MPI_Scatter(matrix, 1, resized, row, 4, MPI_INT, 0, WORLD);
    MPI_Type_free(&resized);
    MPI_Type_free(&column);
}

/* ---- collectives ----------------------------------------------------------------------------------------
 */

static void in_place_everywhere(void)
{
    int all[16] = {0}, counts[16], places[16], value = rank;
    for (int i = 0; i < 16; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, WORLD);
    MPI_Scan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, WORLD);
    if (rank == 0) {
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, 0, WORLD);
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, WORLD);
    } else {
        MPI_Gather(&value, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, WORLD);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &value, 1, MPI_INT, 0, WORLD);
    }
}

/* On an intercommunicator the root's side gives arguments that do not count. */
static void between_two_groups(void)
{
    MPI_Comm half, both, merged;
    int low = rank % 2, value = rank, all[16] = {0}, lead = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm_split(WORLD, low, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, low ? 0 : 1, 13, &both);
    MPI_Barrier(both);
    if (low) {
        MPI_Bcast(&value, 1, MPI_INT, 0, both);
        MPI_Gather(&value, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, both);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &value, 1, MPI_INT, 0, both);
        MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, both);
    } else {
        MPI_Bcast(&value, 1, MPI_INT, lead, both);
        MPI_Gather(NULL, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, lead, both);
        MPI_Scatter(all, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, lead, both);
        MPI_Reduce(all, &value, 1, MPI_INT, MPI_SUM, lead, both);
    }
    /* What one side sends and what it receives may differ. */
    MPI_Allgather(all, low ? 1 : 2, MPI_INT, all + 8, low ? 2 : 1, MPI_INT, both);
    MPI_Intercomm_merge(both, low, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void neighbours_of_two_lengths(void)
{
    MPI_Comm graph;
    int one = rank == 0 ? 1 : 0, pair = rank < 2, out[8] = {0}, in[8];
    int weights[1] = {1};
    MPI_Dist_graph_create_adjacent(WORLD, pair, &one, weights, pair, &one, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(out, pair ? 1 : 5, MPI_INT, in, pair ? 1 : 5, MPI_INT, graph);
    MPI_Neighbor_alltoall(out, pair ? 2 : 3, MPI_INT, in, pair ? 2 : 3, MPI_INT, graph);
    MPI_Comm_free(&graph);
}

static void last(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*length * 2 * sizeof(int));
}

/* Each rank's handle is another one, and it is freed before the reduction ends. */
static void operation_of_its_own_on_a_pair(void)
{
    MPI_Op op, other = MPI_OP_NULL;
    MPI_Datatype pair;
    MPI_Request request;
    int in[2] = {rank, rank}, out[2];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 0)
        MPI_Op_create(last, 0, &other);
    MPI_Op_create(last, 0, &op);
    MPI_Allreduce(in, out, 1, pair, op, WORLD);
    MPI_Iallreduce(in, out, 1, pair, op, WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Wait(&request, IGNORE);
    if (rank == 0)
        MPI_Op_free(&other);
}

/* ---- objects that the program's own functions free -------------------------------------------------------
 */

struct cache {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Group group;
    MPI_Request request;
};
static int cached_value;

static int free_cache(MPI_Comm comm, int key, void *attribute, void *extra)
{
    struct cache *cache = attribute;
    (void)comm, (void)key, (void)extra;
    MPI_Request_free(&cache->request);
    MPI_Type_free(&cache->type);
    MPI_Group_free(&cache->group);
    MPI_Comm_free(&cache->comm);
    free(cache);
    return MPI_SUCCESS;
}

/* As libraries do: what they need goes with the communicator that they were given. */
static void hang_cache_on(MPI_Comm comm)
{
    struct cache *cache = malloc(sizeof *cache);
    int key;
    MPI_Comm_dup(comm, &cache->comm);
    MPI_Comm_group(comm, &cache->group);
    MPI_Type_contiguous(3, MPI_INT, &cache->type);
    MPI_Recv_init(&cached_value, 1, MPI_INT, left(), 14, cache->comm, &cache->request);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_cache, &key, NULL);
    MPI_Comm_set_attr(comm, key, cache);
    MPI_Comm_free_keyval(&key);
}

static void cache_freed_with_its_communicator(void)
{
    for (int i = 0; i < 3; i++) {
        MPI_Comm copy, next;
        int value = rank, sum;
        MPI_Comm_dup(WORLD, &copy);
        hang_cache_on(copy);
        MPI_Comm_free(&copy);
        MPI_Comm_split(WORLD, 0, -rank, &next); /* may get a handle that was the cache's */
        MPI_Sendrecv(&value, 1, MPI_INT, right(), 15 + i, &sum, 1, MPI_INT, left(), 15 + i, WORLD, IGNORE);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, next);
        MPI_Comm_free(&next);
    }
}

static void cache_freed_at_the_end(void)
{
    struct cache *cache = malloc(sizeof *cache);
    int key;
    MPI_Comm_dup(WORLD, &cache->comm);
    MPI_Comm_group(WORLD, &cache->group);
    MPI_Type_contiguous(3, MPI_INT, &cache->type);
    MPI_Recv_init(&cached_value, 1, MPI_INT, left(), 14, cache->comm, &cache->request);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_cache, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, cache);
    MPI_Comm_free_keyval(&key);
}

/* ---- groups, communicators, windows ----------------------------------------------------------------------
 */

static void groups_of_all_kinds(void)
{
    MPI_Group world, none, some, others, all;
    int first[] = {0}, range[1][3] = {{0, size - 1, 1}};
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 0, first, &none);
    MPI_Group_excl(world, 1, first, &some);
    MPI_Group_difference(world, some, &others);
    MPI_Group_range_incl(world, 1, range, &all);
    if (none != MPI_GROUP_EMPTY)
        MPI_Group_free(&none);
    MPI_Group_free(&some);
    MPI_Group_free(&others);
    MPI_Group_free(&all);
    MPI_Group_free(&world);
}

static void copies_of_copies(void)
{
    MPI_Comm first, second, third;
    MPI_Comm_dup(WORLD, &first);
    MPI_Comm_dup(first, &second);
    MPI_Comm_free(&first);
    MPI_Comm_split(second, rank % 2, 0, &third);
    MPI_Comm_disconnect(&second);
    MPI_Barrier(third);
    MPI_Comm_free(&third);
}

static void window_of_every_kind_of_epoch(void)
{
    int *memory, value = rank;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, WORLD, &memory, &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock_all(0, window);
    MPI_Request request;
    int got = 0;
    MPI_Rget(&got, 1, MPI_INT, right(), 0, 1, MPI_INT, window, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, right(), 0, 1, MPI_INT, MPI_NO_OP, window);
    MPI_Fetch_and_op(NULL, &got, MPI_INT, right(), 0, MPI_NO_OP, window);
    MPI_Win_flush(right(), window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static const struct right_case cases[] = {
    CASE(nobody_in_every_call),
    CASE(exchange_at_the_ends_of_a_line),
    CASE(collectives_of_nothing),
    CASE(null_handles_in_lists),
    CASE(receive_cancelled_too_late_or_not),
    CASE(send_cancelled_and_freed),
    CASE(asked_and_freed),
    CASE(some_by_some),
    CASE(complete_at_once),
    CASE(communicator_freed_before_its_requests),
    CASE(request_of_its_own),
    CASE(one_signature_by_many_constructors),
    CASE(type_freed_before_its_message),
    CASE(packed_at_either_end),
    CASE(bytes_in_pieces),
    CASE(gathered_into_columns),
    CASE(in_place_everywhere),
    CASE(between_two_groups),
    CASE(neighbours_of_two_lengths),
    CASE(operation_of_its_own_on_a_pair),
    CASE(cache_freed_with_its_communicator),
    CASE(cache_freed_at_the_end),
    CASE(groups_of_all_kinds),
    CASE(copies_of_copies),
    CASE(window_of_every_kind_of_epoch),
};

int main(int argc, char **argv)
{
    return right_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
