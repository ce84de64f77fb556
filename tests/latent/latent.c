/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * latent - programs that end well by luck: `latent CASE` runs one of them on two to four ranks; with another
 * word they leave the processors to those who look.
 *
 * Each has one bug that Debian's Open MPI and MPICH let pass, because a small message is buffered, because a
 * collective lets a rank go early, or because nobody looks at what is left at the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_back.h"

static int rank, size;
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int partner(void)
{
    return rank ^ 1;
}

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

/* ---- sends that only buffering lets through: --strict -------------------------------------------------- */

static void send_send(void)
{
    int out = rank, in = -1;
    if (partner() >= size)
        return;
    MPI_Send(&out, 1, MPI_INT, partner(), 1, WORLD);
    MPI_Recv(&in, 1, MPI_INT, partner(), 1, WORLD, IGNORE);
}

static void send_ring(void)
{
    int out = rank, in = -1;
    MPI_Send(&out, 1, MPI_INT, right(), 2, WORLD);
    MPI_Recv(&in, 1, MPI_INT, left(), 2, WORLD, IGNORE);
}

static void isend_wait_first(void)
{
    int out = rank, in = -1;
    MPI_Request request;
    MPI_Isend(&out, 1, MPI_INT, right(), 3, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Recv(&in, 1, MPI_INT, left(), 3, WORLD, IGNORE);
}

static void persistent_send_first(void)
{
    int out = rank, in = -1;
    MPI_Request request;
    MPI_Send_init(&out, 1, MPI_INT, right(), 4, WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, IGNORE);
    MPI_Recv(&in, 1, MPI_INT, left(), 4, WORLD, IGNORE);
    MPI_Request_free(&request);
}

static void send_to_self(void)
{
    int out = rank, in = -1;
    MPI_Send(&out, 1, MPI_INT, rank, 5, WORLD);
    MPI_Recv(&in, 1, MPI_INT, rank, 5, WORLD, IGNORE);
}

static void send_out_of_order(void)
{
    int a = 1, b = 2;
    if (rank == 0) {
        MPI_Send(&a, 1, MPI_INT, 1, 10, WORLD);
        MPI_Send(&b, 1, MPI_INT, 1, 11, WORLD);
    } else if (rank == 1) {
        MPI_Recv(&b, 1, MPI_INT, 0, 11, WORLD, IGNORE);
        MPI_Recv(&a, 1, MPI_INT, 0, 10, WORLD, IGNORE);
    }
}

static void send_before_barrier(void)
{
    int value = 1;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 6, WORLD);
    MPI_Barrier(WORLD);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 6, WORLD, IGNORE);
}

static void isend_wait_before_allreduce(void)
{
    int out = rank, in = -1, sum;
    MPI_Request request;
    MPI_Isend(&out, 1, MPI_INT, right(), 7, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Recv(&in, 1, MPI_INT, left(), 7, WORLD, IGNORE);
}

static void sendrecv_against_send(void)
{
    int out = rank, in = -1;
    if (rank == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, 1, 8, &in, 1, MPI_INT, 1, 9, WORLD, IGNORE);
        MPI_Send(&out, 1, MPI_INT, 1, 10, WORLD);
    } else if (rank == 1) {
        MPI_Send(&out, 1, MPI_INT, 0, 9, WORLD);
        MPI_Recv(&in, 1, MPI_INT, 0, 10, WORLD, IGNORE);
        MPI_Recv(&in, 1, MPI_INT, 0, 8, WORLD, IGNORE);
    }
}

static void sendrecv_replace_against_send(void)
{
    int value = rank;
    if (rank == 0) {
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 1, 8, 1, 9, WORLD, IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 10, WORLD);
    } else if (rank == 1) {
        MPI_Send(&value, 1, MPI_INT, 0, 9, WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 10, WORLD, IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 8, WORLD, IGNORE);
    }
}

static void halo_by_waitall_of_sends(void)
{
    int out = rank, in[2];
    MPI_Request requests[2];
    MPI_Isend(&out, 1, MPI_INT, left(), 12, WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, right(), 13, WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    MPI_Recv(&in[0], 1, MPI_INT, right(), 12, WORLD, IGNORE);
    MPI_Recv(&in[1], 1, MPI_INT, left(), 13, WORLD, IGNORE);
}

/* ---- collectives that let a rank go early: --strict -----------------------------------------------------
 */

static void bcast_before_receive(void)
{
    int value = 1;
    if (rank == 0) {
        MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
        MPI_Ssend(&value, 1, MPI_INT, 1, 14, WORLD);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 14, WORLD, IGNORE);
        MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    } else {
        MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    }
}

static void reduce_before_send(void)
{
    int value = 1, sum = 0;
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 15, WORLD, IGNORE);
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD);
    } else {
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD);
        if (rank == 1)
            MPI_Ssend(&value, 1, MPI_INT, 0, 15, WORLD);
    }
}

static void gather_before_send(void)
{
    int value = rank, all[16];
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 16, WORLD, IGNORE);
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    } else {
        MPI_Gather(&value, 1, MPI_INT, NULL, 1, MPI_INT, 0, WORLD);
        if (rank == 1)
            MPI_Ssend(&value, 1, MPI_INT, 0, 16, WORLD);
    }
}

static void scatter_before_receive(void)
{
    int value = 0, all[16] = {0};
    if (rank == 0) {
        MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, WORLD);
        MPI_Ssend(&value, 1, MPI_INT, 1, 17, WORLD);
    } else {
        if (rank == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, 17, WORLD, IGNORE);
        MPI_Scatter(NULL, 1, MPI_INT, &value, 1, MPI_INT, 0, WORLD);
    }
}

static void two_communicators_swapped(void)
{
    MPI_Comm other;
    int a = 1, b = 2;
    MPI_Comm_dup(WORLD, &other);
    MPI_Comm_set_name(other, "other");
    if (rank == 0) {
        MPI_Bcast(&a, 1, MPI_INT, 0, WORLD);
        MPI_Bcast(&b, 1, MPI_INT, 0, other);
    } else {
        MPI_Bcast(&b, 1, MPI_INT, 0, other);
        MPI_Bcast(&a, 1, MPI_INT, 0, WORLD);
    }
    MPI_Comm_free(&other);
}

static void bcast_chain_of_roots(void)
{
    MPI_Comm other;
    int a = 1;
    MPI_Comm_dup(WORLD, &other);
    if (rank == 0) {
        MPI_Bcast(&a, 1, MPI_INT, 0, other);
        MPI_Recv(&a, 1, MPI_INT, 1, 18, WORLD, IGNORE);
    } else {
        if (rank == 1)
            MPI_Ssend(&a, 1, MPI_INT, 0, 18, WORLD);
        MPI_Bcast(&a, 1, MPI_INT, 0, other);
    }
    MPI_Comm_free(&other);
}

static void scan_before_send(void)
{
    int value = 1, sum;
    if (rank == 0)
        MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 0)
        MPI_Ssend(&value, 1, MPI_INT, 1, 19, WORLD);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 19, WORLD, IGNORE);
    if (rank > 0)
        MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD);
}

/* What is called behind it does not fit either: the message is what hangs. */
static void send_before_two_ops(void)
{
    int out = rank, in = -1;
    if (rank == 0)
        MPI_Send(&out, 1, MPI_INT, 1, 19, WORLD);
    MPI_Reduce(&out, &in, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, 0, WORLD);
}

/* ---- messages that nobody receives: --check -------------------------------------------------------------
 */

static void message_lost(void)
{
    int value = 1;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 20, WORLD);
}

static void last_message_lost(void)
{
    int value = 1;
    for (int i = 0; i < 5 && rank == 0; i++)
        MPI_Send(&value, 1, MPI_INT, 1, 21, WORLD);
    for (int i = 0; i < 4 && rank == 1; i++)
        MPI_Recv(&value, 1, MPI_INT, 0, 21, WORLD, IGNORE);
}

static void message_lost_on_freed_communicator(void)
{
    MPI_Comm other;
    int value = 1;
    MPI_Comm_dup(WORLD, &other);
    MPI_Comm_set_name(other, "pairs");
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 22, other);
    MPI_Comm_free(&other);
}

static void one_tag_of_many_lost(void)
{
    int value = 1;
    for (int i = 0; i < 20 && rank == 0; i++)
        MPI_Send(&value, 1, MPI_INT, 1, 100 + i, WORLD);
    for (int i = 0; i < 20 && rank == 1; i++) {
        if (i != 13)
            MPI_Recv(&value, 1, MPI_INT, 0, 100 + i, WORLD, IGNORE);
    }
}

static void probed_and_left(void)
{
    int value = 1;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 23, WORLD);
    if (rank == 1)
        MPI_Probe(0, 23, WORLD, IGNORE);
}

/* ---- requests that nobody waits for: --check -------------------------------------------------------------
 */

static int kept[4];
static MPI_Request forgotten[4];

static void isend_never_waited_for(void)
{
    if (rank == 0)
        MPI_Isend(&kept[0], 1, MPI_INT, 1, 24, WORLD, &forgotten[0]);
    if (rank == 1)
        MPI_Recv(&kept[1], 1, MPI_INT, 0, 24, WORLD, IGNORE);
}

static void irecv_never_waited_for(void)
{
    if (rank == 1)
        MPI_Irecv(&kept[1], 1, MPI_INT, 0, 25, WORLD, &forgotten[0]);
    MPI_Barrier(WORLD);
    if (rank == 0)
        MPI_Send(&kept[0], 1, MPI_INT, 1, 25, WORLD);
    MPI_Barrier(WORLD);
}

static void irecv_without_message(void)
{
    if (rank == 1)
        MPI_Irecv(&kept[1], 1, MPI_INT, 0, 26, WORLD, &forgotten[0]);
}

static void iallreduce_never_waited_for(void)
{
    MPI_Iallreduce(&kept[0], &kept[1], 1, MPI_INT, MPI_SUM, WORLD, &forgotten[0]);
    MPI_Barrier(WORLD);
}

static void persistent_never_freed(void)
{
    MPI_Recv_init(&kept[0], 1, MPI_INT, left(), 27, WORLD, &forgotten[0]);
}

/* ---- collectives that do not agree: --check ---------------------------------------------------------------
 */

static void reduce_with_two_roots(void)
{
    int value = 1, sum = 0;
    MPI_Reduce(&value, &sum, 0, MPI_INT, MPI_SUM, rank == 1 ? 1 : 0, WORLD);
}

static void allreduce_with_two_ops(void)
{
    int value = 1, sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, WORLD);
}

static void scatter_of_two_lengths(void)
{
    int values[16] = {0}, own[4];
    MPI_Scatter(values, 2, MPI_INT, own, rank == 0 ? 2 : 4, MPI_INT, 0, WORLD);
}

static void bcast_of_two_types(void)
{
    int value = 0;
    if (rank == 0)
        MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
    else
        MPI_Bcast(&value, 1, MPI_FLOAT, 0, WORLD);
}

static void allreduce_of_two_types(void)
{
    int value = 0, sum = 0;
    MPI_Allreduce(&value, &sum, 1, rank == 1 ? MPI_FLOAT : MPI_INT, MPI_SUM, WORLD);
}

static void bcast_against_reduce_of_nothing(void)
{
    int value = 0, sum = 0;
    if (rank == 0)
        MPI_Bcast(&value, 0, MPI_INT, 0, WORLD);
    else
        MPI_Reduce(&value, &sum, 0, MPI_INT, MPI_SUM, 0, WORLD);
}

static void swap(int swapped)
{
    double a = 1, b = 2, sum = 0;
    if (swapped)
        MPI_Reduce(&b, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    MPI_Bcast(&a, 1, MPI_DOUBLE, 0, WORLD);
    if (!swapped)
        MPI_Reduce(&b, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
}

static void another_order(void)
{
    swap(rank % 2);
}

static void another_order_once(void)
{
    for (int step = 0; step < 200; step++) {
        double one = 1, sum = 0; /* all messages have one length, so that no library complains */
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
        swap(step == 120 && rank % 2);
    }
}

static void early_mismatch_long_ago(void)
{
    int value = 1, sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, rank == 1 ? MPI_MIN : MPI_MAX, WORLD);
    for (int i = 0; i < 200; i++)
        MPI_Barrier(WORLD);
}

/* ---- type signatures that differ between the two ends: --check --------------------------------------------
 */

static void int_received_as_float(void)
{
    float real = 0;
    int value = 1;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 28, WORLD);
    if (rank == 1)
        MPI_Recv(&real, 1, MPI_FLOAT, 0, 28, WORLD, IGNORE);
}

static void doubles_received_as_ints(void)
{
    int values[8];
    double reals[4] = {0};
    MPI_Request request;
    if (rank == 0)
        MPI_Send(reals, 4, MPI_DOUBLE, 1, 29, WORLD);
    if (rank == 1) {
        MPI_Irecv(values, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &request);
        MPI_Wait(&request, IGNORE);
    }
}

static void bytes_received_as_ints(void)
{
    int values[2] = {0};
    if (rank == 0)
        MPI_Send(values, 8, MPI_BYTE, 1, 30, WORLD);
    if (rank == 1)
        MPI_Recv(values, 2, MPI_INT, 0, 30, WORLD, IGNORE);
}

static void vector_received_as_floats(void)
{
    MPI_Datatype column;
    int matrix[16] = {0};
    float values[4];
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        MPI_Send(matrix, 1, column, 1, 31, WORLD);
    if (rank == 1)
        MPI_Recv(values, 4, MPI_FLOAT, 0, 31, WORLD, IGNORE);
    MPI_Type_free(&column);
}

/* ---- objects that nobody frees: --check
 * --------------------------------------------------------------------- */

static void communicator_not_freed(void)
{
    MPI_Comm other;
    MPI_Comm_split(WORLD, rank % 2, rank, &other);
    MPI_Comm_set_name(other, "half");
}

static void datatype_not_freed(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
}

static void group_not_freed(void)
{
    MPI_Group group;
    MPI_Comm_group(WORLD, &group);
}

static void operation(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void op_not_freed(void)
{
    MPI_Op op;
    MPI_Op_create(operation, 1, &op);
}

static void window_not_freed(void)
{
    static MPI_Win window;
    MPI_Win_create(kept, sizeof kept, sizeof *kept, MPI_INFO_NULL, WORLD, &window);
}

/* -----------------------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name)  \
    {               \
#name, name \
    }
    CASE(send_send),
    CASE(send_ring),
    CASE(isend_wait_first),
    CASE(persistent_send_first),
    CASE(send_to_self),
    CASE(send_out_of_order),
    CASE(send_before_barrier),
    CASE(isend_wait_before_allreduce),
    CASE(sendrecv_against_send),
    CASE(sendrecv_replace_against_send),
    CASE(halo_by_waitall_of_sends),
    CASE(bcast_before_receive),
    CASE(reduce_before_send),
    CASE(gather_before_send),
    CASE(scatter_before_receive),
    CASE(two_communicators_swapped),
    CASE(bcast_chain_of_roots),
    CASE(scan_before_send),
    CASE(send_before_two_ops),
    CASE(message_lost),
    CASE(last_message_lost),
    CASE(message_lost_on_freed_communicator),
    CASE(one_tag_of_many_lost),
    CASE(probed_and_left),
    CASE(isend_never_waited_for),
    CASE(irecv_never_waited_for),
    CASE(irecv_without_message),
    CASE(iallreduce_never_waited_for),
    CASE(persistent_never_freed),
    CASE(reduce_with_two_roots),
    CASE(allreduce_with_two_ops),
    CASE(scatter_of_two_lengths),
    CASE(bcast_of_two_types),
    CASE(allreduce_of_two_types),
    CASE(bcast_against_reduce_of_nothing),
    CASE(another_order),
    CASE(another_order_once),
    CASE(early_mismatch_long_ago),
    CASE(int_received_as_float),
    CASE(doubles_received_as_ints),
    CASE(bytes_received_as_ints),
    CASE(vector_received_as_floats),
    CASE(communicator_not_freed),
    CASE(datatype_not_freed),
    CASE(group_not_freed),
    CASE(op_not_freed),
    CASE(window_not_freed),
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    if (argc > 2)
        step_back();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            MPI_Finalize();
            return 0;
        }
    }
    fprintf(stderr, "there is no case %s\n", argc > 1 ? argv[1] : "");
    MPI_Abort(WORLD, 2);
    return 2;
}
