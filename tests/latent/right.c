/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * right - programs in which nothing is wrong, many of them near to a bug of latent.c: `right CASE` runs one
 * of them on two to four ranks.  Neither --strict nor --check may find anything.
 */
#include "right.h"

#include <stdlib.h>

/* ---- messages ------------------------------------------------------------------------------------------ */

static void sends_in_turn(void)
{
    int value = rank;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 1, WORLD);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 1, WORLD, IGNORE);
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 0, 1, WORLD);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 1, WORLD, IGNORE);
}

static void shift_by_sendrecv(void)
{
    int out = rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, right(), 2, &in, 1, MPI_INT, left(), 2, WORLD, IGNORE);
    MPI_Sendrecv_replace(&in, 1, MPI_INT, right(), 3, left(), 3, WORLD, IGNORE);
}

static void sendrecv_with_itself_and_nobody(void)
{
    int out = rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, rank, 4, &in, 1, MPI_INT, rank, 4, WORLD, IGNORE);
    MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 4, &in, 1, MPI_INT, MPI_PROC_NULL, 4, WORLD, IGNORE);
}

static void isend_irecv_waitall(void)
{
    int out = rank, in = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Isend(&out, 1, MPI_INT, right(), 5, WORLD, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, left(), 5, WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

static void sixty_four_at_once(void)
{
    enum { MANY = 64 };
    int out[MANY], in[MANY];
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = i;
        MPI_Irecv(&in[i], 1, MPI_INT, left(), i, WORLD, &requests[i]);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&out[i], 1, MPI_INT, right(), i, WORLD, &requests[MANY + i]);
    MPI_Waitall(2 * MANY, requests, statuses);
}

static void persistent_ring(void)
{
    int out = rank, in = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Send_init(&out, 1, MPI_INT, right(), 6, WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left(), 6, WORLD, &requests[1]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void buffered_sends_first(void)
{
    int out = rank, in = -1, room;
    void *buffer;
    MPI_Pack_size(1, MPI_INT, WORLD, &room);
    room += MPI_BSEND_OVERHEAD;
    buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    MPI_Bsend(&out, 1, MPI_INT, right(), 7, WORLD);
    MPI_Recv(&in, 1, MPI_INT, left(), 7, WORLD, IGNORE);
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
}

static void ready_send(void)
{
    int value = 1;
    MPI_Request request;
    if (rank == 1)
        MPI_Irecv(&value, 1, MPI_INT, 0, 8, WORLD, &request);
    MPI_Barrier(WORLD);
    if (rank == 0)
        MPI_Rsend(&value, 1, MPI_INT, 1, 8, WORLD);
    if (rank == 1)
        MPI_Wait(&request, IGNORE);
}

static void send_freed_while_active(void)
{
    static int value = 1;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&value, 1, MPI_INT, 1, 9, WORLD, &request);
        MPI_Request_free(&request);
    }
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 9, WORLD, IGNORE);
}

static void tested_until_done(void)
{
    int out = rank, in = -1, done = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Isend(&out, 1, MPI_INT, right(), 10, WORLD, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, left(), 10, WORLD, &requests[1]);
    while (!done)
        MPI_Testall(2, requests, &done, statuses);
}

static void any_source(void)
{
    int value = rank;
    if (rank > 0)
        MPI_Send(&value, 1, MPI_INT, 0, 11 + rank, WORLD);
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE);
}

static void waitany_of_receives(void)
{
    int value = rank, in[16];
    MPI_Request requests[16];
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, i, 12, WORLD, &requests[i - 1]);
    if (rank > 0)
        MPI_Send(&value, 1, MPI_INT, 0, 12, WORLD);
    for (int i = 1, index; i < size && rank == 0; i++)
        MPI_Waitany(size - 1, requests, &index, IGNORE);
}

static void probed_and_received(void)
{
    int values[4] = {0}, count;
    MPI_Status status;
    if (rank == 0)
        MPI_Send(values, 3, MPI_INT, 1, 13, WORLD);
    if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        MPI_Recv(values, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, WORLD, IGNORE);
    }
}

static void matched_probe(void)
{
    int value = 0;
    MPI_Message message;
    MPI_Request request;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 14, WORLD);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 15, WORLD);
    if (rank == 1) {
        MPI_Mprobe(0, 14, WORLD, &message, IGNORE);
        MPI_Mrecv(&value, 1, MPI_INT, &message, IGNORE);
        MPI_Mprobe(0, 15, WORLD, &message, IGNORE);
        MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
        MPI_Wait(&request, IGNORE);
    }
}

static void cancelled_receive(void)
{
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, left(), 16, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, IGNORE);
}

static void forty_tags(void)
{
    int value = 1;
    for (int i = 0; i < 40; i++) {
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, i, WORLD);
        if (rank == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, i, WORLD, IGNORE);
    }
}

/* ---- types that fit
 * ---------------------------------------------------------------------------------------- */

static void column_received_as_row(void)
{
    MPI_Datatype column;
    double matrix[16] = {0};
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        MPI_Send(matrix, 1, column, 1, 17, WORLD);
    if (rank == 1)
        MPI_Recv(matrix, 4, MPI_DOUBLE, 0, 17, WORLD, IGNORE);
    MPI_Type_free(&column);
}

static void structure_received_twice_as_long(void)
{
    struct record {
        int number;
        double real;
    } records[2] = {{0, 0}, {0, 0}};
    MPI_Datatype one, two;
    MPI_Aint offsets[] = {0, 8};
    int lengths[] = {1, 1};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, offsets, types, &one);
    MPI_Type_commit(&one);
    MPI_Type_contiguous(2, one, &two);
    MPI_Type_commit(&two);
    if (rank == 0)
        MPI_Send(records, 2, one, 1, 18, WORLD);
    if (rank == 1)
        MPI_Recv(records, 1, two, 0, 18, WORLD, IGNORE);
    MPI_Type_free(&two);
    MPI_Type_free(&one);
}

static void longer_receive_than_message(void)
{
    int values[10] = {0};
    if (rank == 0)
        MPI_Send(values, 3, MPI_INT, 1, 19, WORLD);
    if (rank == 1)
        MPI_Recv(values, 10, MPI_INT, 0, 19, WORLD, IGNORE);
}

static void packed_received_as_ints(void)
{
    int values[2] = {1, 2}, at = 0;
    char packed[64];
    if (rank == 0) {
        MPI_Pack(values, 2, MPI_INT, packed, sizeof packed, &at, WORLD);
        MPI_Send(packed, at, MPI_PACKED, 1, 20, WORLD);
    }
    if (rank == 1)
        MPI_Recv(values, 2, MPI_INT, 0, 20, WORLD, IGNORE);
}

static void bytes_both_ways(void)
{
    char bytes[100] = "";
    if (rank == 0)
        MPI_Send(bytes, sizeof bytes, MPI_BYTE, 1, 21, WORLD);
    if (rank == 1)
        MPI_Recv(bytes, sizeof bytes, MPI_BYTE, 0, 21, WORLD, IGNORE);
}

static void empty_messages_of_any_type(void)
{
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 1, 22, WORLD);
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_DOUBLE, 0, 22, WORLD, IGNORE);
}

static void duplicate_of_a_type(void)
{
    MPI_Datatype copy;
    int value = 0;
    MPI_Type_dup(MPI_INT, &copy);
    if (rank == 0)
        MPI_Send(&value, 1, copy, 1, 23, WORLD);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 23, WORLD, IGNORE);
    MPI_Type_free(&copy);
}

/* ---- collectives
 * ------------------------------------------------------------------------------------------- */

static void every_collective(void)
{
    int value = rank, sum, all[16], counts[16], places[16];
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 1, WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_MAX, WORLD);
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    MPI_Gatherv(&value, 1, MPI_INT, all, counts, places, MPI_INT, 0, WORLD);
    MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, WORLD);
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, WORLD);
    MPI_Alltoall(counts, 1, MPI_INT, all, 1, MPI_INT, WORLD);
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter_block(all, &value, 1, MPI_INT, MPI_SUM, WORLD);
}

static void in_place_at_the_root(void)
{
    int value = rank, all[16] = {0};
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    else
        MPI_Gather(&value, 1, MPI_INT, NULL, 0, MPI_INT, 0, WORLD);
    if (rank == 0)
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, WORLD);
    else
        MPI_Scatter(NULL, 0, MPI_INT, &value, 1, MPI_INT, 0, WORLD);
    if (rank == 0)
        MPI_Reduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, 0, WORLD);
    else
        MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, WORLD);
}

static void vectors_of_different_lengths(void)
{
    int values[16] = {0}, all[256], counts[16], places[16];
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = i * 16;
    }
    MPI_Gatherv(values, rank + 1, MPI_INT, all, counts, places, MPI_INT, 0, WORLD);
    MPI_Allgatherv(values, rank + 1, MPI_INT, all, counts, places, MPI_INT, WORLD);
    MPI_Scatterv(all, counts, places, MPI_INT, values, rank + 1, MPI_INT, 0, WORLD);
}

static void bcast_by_other_means(void)
{
    MPI_Datatype pair;
    int values[4] = {0};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 0)
        MPI_Bcast(values, 4, MPI_INT, 0, WORLD);
    else
        MPI_Bcast(values, 2, pair, 0, WORLD);
    MPI_Type_free(&pair);
}

static void own_operation_add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void own_operation(void)
{
    MPI_Op op;
    int value = 1, sum;
    MPI_Op_create(own_operation_add, 1, &op);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, op, WORLD);
    MPI_Op_free(&op);
}

static void nonblocking_out_of_step(void)
{
    int value = 1, sum;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Ibarrier(WORLD, &requests[0]);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD, &requests[1]);
    MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    MPI_Waitall(2, requests, statuses);
}

static void different_places_same_calls(void)
{
    int value = 1;
    if (rank == 0)
        MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    else
        MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    for (int i = 0; i < 300; i++)
        MPI_Barrier(WORLD);
}

/* ---- communicators and other objects
 * ------------------------------------------------------------------------ */

static void halves(void)
{
    MPI_Comm half;
    int value = rank, sum;
    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_free(&half);
}

static void some_left_out(void)
{
    MPI_Comm pair;
    MPI_Comm_split(WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
    if (pair != MPI_COMM_NULL) {
        MPI_Barrier(pair);
        MPI_Comm_free(&pair);
    }
}

static void group_of_two(void)
{
    MPI_Group world, two;
    MPI_Comm pair;
    int ranks[] = {0, 1};
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 2, ranks, &two);
    MPI_Comm_create(WORLD, two, &pair);
    if (rank < 2) {
        MPI_Comm inner;
        MPI_Comm_create_group(pair, two, 5, &inner);
        MPI_Comm_free(&inner);
        MPI_Comm_free(&pair);
    }
    MPI_Group_free(&two);
    MPI_Group_free(&world);
}

static void intercommunicator(void)
{
    MPI_Comm half, both;
    int value = rank, sum = 0, low = rank % 2;
    MPI_Comm_split(WORLD, low, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, low ? 0 : 1, 24, &both);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, both);
    MPI_Bcast(&value, 1, MPI_INT, low ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 0, 25, both);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 25, both, IGNORE);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void cartesian_halo(void)
{
    MPI_Comm line;
    int dims[] = {size}, periods[] = {0}, from, to, out = rank, in = -1;
    MPI_Cart_create(WORLD, 1, dims, periods, 0, &line);
    MPI_Cart_shift(line, 0, 1, &from, &to);
    MPI_Sendrecv(&out, 1, MPI_INT, to, 26, &in, 1, MPI_INT, from, 26, line, IGNORE);
    int around[2];
    MPI_Neighbor_allgather(&out, 1, MPI_INT, around, 1, MPI_INT, line);
    MPI_Comm_free(&line);
}

static void hundred_communicators(void)
{
    for (int i = 0; i < 100; i++) {
        MPI_Comm copy;
        int value = i;
        MPI_Comm_dup(WORLD, &copy);
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, i, copy);
        if (rank == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, i, copy, IGNORE);
        MPI_Comm_free(&copy);
    }
}

static void window_with_fences(void)
{
    int value = rank, shared = 0;
    MPI_Win window;
    MPI_Win_create(&shared, sizeof shared, sizeof shared, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static int free_at_end(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)extra;
    MPI_Comm_free(attribute);
    return MPI_SUCCESS;
}

static void freed_with_comm_self(void)
{
    static MPI_Comm copy;
    int key;
    MPI_Comm_dup(WORLD, &copy);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &copy);
    MPI_Comm_free_keyval(&key);
}

static void communicator_duplicated_in_background(void)
{
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_idup(WORLD, &copy, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
}

/* -------------------------------------------------------------------------------------------------------------
 */

static const struct right_case cases[] = {
    CASE(sends_in_turn),
    CASE(shift_by_sendrecv),
    CASE(sendrecv_with_itself_and_nobody),
    CASE(isend_irecv_waitall),
    CASE(sixty_four_at_once),
    CASE(persistent_ring),
    CASE(buffered_sends_first),
    CASE(ready_send),
    CASE(send_freed_while_active),
    CASE(tested_until_done),
    CASE(any_source),
    CASE(waitany_of_receives),
    CASE(probed_and_received),
    CASE(matched_probe),
    CASE(cancelled_receive),
    CASE(forty_tags),
    CASE(column_received_as_row),
    CASE(structure_received_twice_as_long),
    CASE(longer_receive_than_message),
    CASE(packed_received_as_ints),
    CASE(bytes_both_ways),
    CASE(empty_messages_of_any_type),
    CASE(duplicate_of_a_type),
    CASE(every_collective),
    CASE(in_place_at_the_root),
    CASE(vectors_of_different_lengths),
    CASE(bcast_by_other_means),
    CASE(own_operation),
    CASE(nonblocking_out_of_step),
    CASE(different_places_same_calls),
    CASE(halves),
    CASE(some_left_out),
    CASE(group_of_two),
    CASE(intercommunicator),
    CASE(cartesian_halo),
    CASE(hundred_communicators),
    CASE(window_with_fences),
    CASE(freed_with_comm_self),
    CASE(communicator_duplicated_in_background),
};

int main(int argc, char **argv)
{
    return right_main(argc, argv, cases, sizeof cases / sizeof *cases);
}
