/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are never sent, never received, or wait for each other. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD
#define NEXT ((rank + 1) % size)
#define PREVIOUS ((rank + size - 1) % size)
#define IGNORE MPI_STATUS_IGNORE
#define PROBED (&(MPI_Status){0})

static int receive_large(int peer, int tag)
{
    return MPI_Recv(large_received, LARGE, MPI_INT, peer, tag, WORLD, IGNORE);
}

/* Cycles: of two, three, five ranks, as many as the job has. */

CASE(large_sends_in_a_ring)
{
    HANG(MPI_Send(large, LARGE, MPI_INT, NEXT, 1, WORLD));
    receive_large(PREVIOUS, 1);
}

CASE(receives_in_a_ring)
{
    HANG(MPI_Recv(small, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE));
    MPI_Send(small, 1, MPI_INT, NEXT, 1, WORLD);
}

CASE(synchronous_sends_in_a_ring)
{
    HANG(MPI_Ssend(small, 1, MPI_INT, NEXT, 1, WORLD));
    MPI_Recv(small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, IGNORE);
}

CASE(probes_in_a_ring)
{
    HANG(MPI_Probe(PREVIOUS, 1, WORLD, PROBED));
    MPI_Send(small, 1, MPI_INT, NEXT, 1, WORLD);
}

CASE(matched_probes_in_a_ring)
{
    MPI_Message message;

    HANG(MPI_Mprobe(PREVIOUS, 1, WORLD, &message, PROBED));
    MPI_Send(small, 1, MPI_INT, NEXT, 1, WORLD);
}

CASE(waits_in_a_ring)
{
    MPI_Request request;

    MPI_Irecv(small, 1, MPI_INT, PREVIOUS, 1, WORLD, &request);
    HANG(MPI_Wait(&request, IGNORE));
    MPI_Send(small, 1, MPI_INT, NEXT, 1, WORLD);
}

/* A chain that ends in a cycle: 0 and 1 wait for each other, 2 waits for 1, 3 for 2, 4 for 3. */
CASE(chain_into_a_cycle)
{
    HANG(MPI_Recv(small, 1, MPI_INT, rank == 0 ? 1 : rank - 1, 1, WORLD, IGNORE));
}

/* Rank 0 sends and rank 1 receives, both of it from the wrong end. */
CASE(send_and_receive_cross)
{
    if (rank == 0)
        HANG(MPI_Send(large, LARGE, MPI_INT, 1, 1, WORLD));
    else
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 2, WORLD, IGNORE));
}

/* Each message in the other's way: tag 1 first, says the sender; tag 2 first, says the receiver. */
CASE(tags_in_the_other_order)
{
    if (rank == 0) {
        HANG(MPI_Ssend(small, 1, MPI_INT, 1, 1, WORLD));
        MPI_Ssend(small, 1, MPI_INT, 1, 2, WORLD);
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 2, WORLD, IGNORE));
        MPI_Recv(small, 1, MPI_INT, 0, 1, WORLD, IGNORE);
    }
}

/* Envelopes that do not fit. */

CASE(wrong_tag)
{
    if (rank == 0) {
        MPI_Send(small, 1, MPI_INT, 1, 17, WORLD);
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 3, WORLD, IGNORE));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 71, WORLD, IGNORE));
        MPI_Send(small, 1, MPI_INT, 0, 3, WORLD);
    }
}

CASE(wrong_source)
{
    if (rank == 2)
        MPI_Send(small, 1, MPI_INT, 0, 5, WORLD);
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 5, WORLD, IGNORE));
    else
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 6, WORLD, IGNORE));
}

CASE(wrong_communicator)
{
    MPI_Comm duplicate;

    MPI_Comm_dup(WORLD, &duplicate);
    MPI_Comm_set_name(duplicate, "duplicate");
    if (rank == 0) {
        MPI_Send(small, 1, MPI_INT, 1, 5, duplicate);
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 6, WORLD, IGNORE));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 5, WORLD, IGNORE));
        MPI_Send(small, 1, MPI_INT, 0, 6, WORLD);
    }
}

CASE(large_message_wrong_tag)
{
    if (rank == 0)
        HANG(MPI_Send(large, LARGE, MPI_INT, 1, 17, WORLD));
    else
        HANG(MPI_Recv(large, LARGE, MPI_INT, 0, 71, WORLD, IGNORE));
}

/* One message fewer than the receiver counts on. */
CASE(one_message_short)
{
    if (rank == 0) {
        for (int i = 0; i < 4; i++)
            MPI_Send(small, 1, MPI_INT, 1, 8, WORLD);
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 9, WORLD, IGNORE));
    } else {
        for (int i = 0; i < 5; i++) {
            if (i == 4)
                ready();
            MPI_Recv(small, 1, MPI_INT, 0, 8, WORLD, IGNORE);
        }
        MPI_Send(small, 1, MPI_INT, 0, 9, WORLD);
    }
}

CASE(any_source_starved)
{
    HANG(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, IGNORE));
    MPI_Send(small, 1, MPI_INT, NEXT, 1, WORLD);
}

/* The master waits for any worker's request; the workers wait for the end that only the master could tell. */
CASE(master_and_workers_wait)
{
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE));
    else
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 2, WORLD, IGNORE));
}

/* The message that was meant for the second receive went to the wildcard before it. */
CASE(wildcard_took_the_message)
{
    if (rank == 0) {
        MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, IGNORE);
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 1, WORLD, IGNORE));
    } else if (rank == 1) {
        MPI_Send(small, 1, MPI_INT, 0, 1, WORLD);
        HANG(MPI_Barrier(WORLD));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 4, WORLD, IGNORE));
    }
}

CASE(receive_from_oneself)
{
    if (rank == 1)
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 1, WORLD, IGNORE));
    else
        HANG(MPI_Barrier(WORLD));
}

CASE(synchronous_send_to_oneself)
{
    if (rank == 1)
        HANG(MPI_Ssend(small, 1, MPI_INT, 1, 1, WORLD));
    else
        HANG(MPI_Barrier(WORLD));
}

CASE(receive_on_self_communicator)
{
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 1, MPI_COMM_SELF, IGNORE));
    else
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 1, WORLD, IGNORE));
}

/* Each receives from the other's neighbour. */
CASE(sendrecv_wrong_partner)
{
    int partner = rank == 0 ? 1 : rank == 1 ? 2 : 0;

    HANG(MPI_Sendrecv(small, 1, MPI_INT, partner, 1, small_received, 1, MPI_INT, partner, 1, WORLD, IGNORE));
}

CASE(sendrecv_replace_wrong_tag)
{
    HANG(MPI_Sendrecv_replace(small, 1, MPI_INT, 1 - rank, 1, 1 - rank, 2, WORLD, IGNORE));
}

/* Several requests at once. */

CASE(waitall_one_missing)
{
    MPI_Request requests[3];

    for (int i = 0; i < 3; i++)
        MPI_Irecv(small_received + i, 1, MPI_INT, 1 - rank, i, WORLD, &requests[i]);
    for (int i = 0; i < 3; i++)
        if (rank == 0 || i != 1)
            MPI_Send(small, 1, MPI_INT, 1 - rank, i, WORLD);
    if (rank == 0)
        HANG(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    else
        HANG(MPI_Barrier(WORLD));
}

CASE(waitall_with_any_source)
{
    MPI_Request requests[2];

    if (rank == 0) {
        MPI_Irecv(small_received, 1, MPI_INT, 1, 1, WORLD, &requests[0]);
        MPI_Irecv(small_received + 1, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, &requests[1]);
        HANG(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 3, WORLD, IGNORE));
        MPI_Send(small, 1, MPI_INT, 0, rank, WORLD);
    }
}

CASE(waitany_of_two)
{
    MPI_Request requests[2];
    int done;

    if (rank == 0) {
        MPI_Irecv(small_received, 1, MPI_INT, 1, 1, WORLD, &requests[0]);
        MPI_Irecv(small_received + 1, 1, MPI_INT, 2, 1, WORLD, &requests[1]);
        HANG(MPI_Waitany(2, requests, &done, IGNORE));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 3, WORLD, IGNORE));
    }
}

CASE(waitsome_of_two)
{
    MPI_Request requests[2];
    int count, done[2];

    if (rank == 0) {
        MPI_Irecv(small_received, 1, MPI_INT, 1, 1, WORLD, &requests[0]);
        MPI_Irecv(small_received + 1, 1, MPI_INT, 2, 1, WORLD, &requests[1]);
        HANG(MPI_Waitsome(2, requests, &count, done, MPI_STATUSES_IGNORE));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 3, WORLD, IGNORE));
    }
}

/* A halo exchange in which rank 2 has its left and right neighbour's tags mixed up. */
CASE(halo_with_mixed_tags)
{
    MPI_Request requests[4];
    int to_left = rank == 2 ? 12 : 11, to_right = rank == 2 ? 11 : 12;

    MPI_Irecv(small_received, 1, MPI_INT, PREVIOUS, 12, WORLD, &requests[0]);
    MPI_Irecv(small_received + 1, 1, MPI_INT, NEXT, 11, WORLD, &requests[1]);
    MPI_Isend(small, 1, MPI_INT, PREVIOUS, to_left, WORLD, &requests[2]);
    MPI_Isend(small, 1, MPI_INT, NEXT, to_right, WORLD, &requests[3]);
    HANG(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    MPI_Barrier(WORLD);
}

/* A halo exchange on a ring, in which the last rank's right neighbour is wrong: it should be rank 0. */
static void halo(int left, int right, int from_left, int from_right)
{
    MPI_Request requests[4];

    MPI_Irecv(small_received, 1, MPI_INT, from_left, 12, WORLD, &requests[0]);
    MPI_Irecv(small_received + 1, 1, MPI_INT, from_right, 11, WORLD, &requests[1]);
    MPI_Isend(small, 1, MPI_INT, left, 11, WORLD, &requests[2]);
    MPI_Isend(small, 1, MPI_INT, right, 12, WORLD, &requests[3]);
    HANG(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

/* In a loop as in a solver: the call that follows stands before the exchange. */
CASE(halo_sent_to_a_wrong_neighbour)
{
    for (int step = 0; step < 3; step++) {
        HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
        halo(PREVIOUS, rank == size - 1 && step == 1 ? size - 3 : NEXT, PREVIOUS, NEXT);
    }
}

CASE(halo_with_a_wrong_neighbour)
{
    int right = rank == size - 1 ? size - 3 : NEXT;

    halo(PREVIOUS, right, PREVIOUS, right);
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
}

/* The same with one tag for both directions: it may as well be rank 6 that has left its partner alone. */
CASE(halo_of_one_tag_with_a_wrong_neighbour)
{
    int right = rank == size - 1 ? size - 3 : NEXT;
    MPI_Request requests[4];

    MPI_Irecv(small_received, 1, MPI_INT, PREVIOUS, 1, WORLD, &requests[0]);
    MPI_Irecv(small_received + 1, 1, MPI_INT, right, 1, WORLD, &requests[1]);
    MPI_Isend(small, 1, MPI_INT, PREVIOUS, 1, WORLD, &requests[2]);
    MPI_Isend(small, 1, MPI_INT, right, 1, WORLD, &requests[3]);
    HANG(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
}

/* Exchanges in turn, of which rank 6 skips one: its partner is not the one at fault. */
CASE(exchange_in_turn_skipped)
{
    int right = NEXT, left = PREVIOUS;

    for (int phase = 0; phase < 2; phase++) {
        int partner = (rank + phase) % 2 == 0 ? right : left;
        if (rank != 6 || phase == 1)
            HANG(MPI_Sendrecv(small, 1, MPI_INT, partner, 1, small_received, 1, MPI_INT, partner, 1, WORLD,
                              IGNORE));
    }
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
}

/* Rank 0 receives once more than it should, while a message of the same kind waits at rank 2 for later: all
   others are in a collective. */
CASE(one_receive_too_many)
{
    if (rank == 1) {
        MPI_Send(small, 1, MPI_INT, 0, 7, WORLD);
        MPI_Send(small, 1, MPI_INT, 2, 7, WORLD);
    }
    if (rank == 0) {
        MPI_Recv(small_received, 1, MPI_INT, 1, 7, WORLD, IGNORE);
        HANG(MPI_Recv(small_received, 1, MPI_INT, 1, 7, WORLD, IGNORE));
    }
    HANG(MPI_Barrier(WORLD));
    if (rank == 2)
        MPI_Recv(small_received, 1, MPI_INT, 1, 7, WORLD, IGNORE);
}

/* Sends that nobody takes. */

CASE(large_send_never_received)
{
    if (rank == 0)
        HANG(MPI_Send(large, LARGE, MPI_INT, 1, 1, WORLD));
    HANG(MPI_Barrier(WORLD));
}

CASE(synchronous_send_never_received)
{
    if (rank == 0)
        HANG(MPI_Ssend(small, 1, MPI_INT, 1, 1, WORLD));
    HANG(MPI_Barrier(WORLD));
}

CASE(large_isend_never_received)
{
    MPI_Request request;

    if (rank == 2) {
        MPI_Isend(large, LARGE, MPI_INT, 1, 1, WORLD, &request);
        HANG(MPI_Wait(&request, IGNORE));
    }
    HANG(MPI_Barrier(WORLD));
}

static char buffer[LARGE * sizeof(int) + MPI_BSEND_OVERHEAD];

/* The buffer is wanted back; the message in it has nowhere to go. */
CASE(buffer_detach_never_ends)
{
    void *back;
    int length;

    if (rank == 0) {
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(large, LARGE, MPI_INT, 1, 1, WORLD);
        HANG(MPI_Buffer_detach(&back, &length));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 2, WORLD, IGNORE));
    }
}

/* A buffered send does not block; what hangs is the receive after it. */
CASE(buffered_sends_then_receives)
{
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(large, LARGE, MPI_INT, NEXT, 1, WORLD);
    HANG(MPI_Recv(large_received, LARGE, MPI_INT, PREVIOUS, 2, WORLD, IGNORE));
}

/* Persistent requests: started, and waited for. */

CASE(persistent_receive_wrong_tag)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Recv_init(small_received, 1, MPI_INT, 1, 20, WORLD, &request);
        MPI_Start(&request);
        HANG(MPI_Wait(&request, IGNORE));
    } else {
        MPI_Send_init(small, 1, MPI_INT, 0, 21, WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, IGNORE);
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 22, WORLD, IGNORE));
    }
}

CASE(persistent_send_never_received)
{
    MPI_Request requests[2];

    MPI_Send_init(large, LARGE, MPI_INT, 1 - rank, 1, WORLD, &requests[0]);
    MPI_Recv_init(large_received, LARGE, MPI_INT, 1 - rank, 2, WORLD, &requests[1]);
    if (rank == 0) {
        MPI_Startall(2, requests);
        HANG(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else {
        HANG(MPI_Barrier(WORLD));
    }
}

/* All else is inactive; only the second of three was started. */
CASE(persistent_some_inactive)
{
    MPI_Request requests[3];

    for (int i = 0; i < 3; i++)
        MPI_Recv_init(small_received + i, 1, MPI_INT, 1 - rank, i, WORLD, &requests[i]);
    MPI_Start(&requests[1]);
    HANG(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
/* MPI_Isendrecv: a send and a receive in one request.  Its receive is answered, its send is not. */
CASE(isendrecv_send_never_received)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Isendrecv(large, LARGE, MPI_INT, 1, 1, small_received, 1, MPI_INT, 1, 2, WORLD, &request);
        HANG(MPI_Wait(&request, IGNORE));
    } else {
        MPI_Send(small, 1, MPI_INT, 0, 2, WORLD);
        HANG(MPI_Barrier(WORLD));
    }
}

/* Its send is answered, its receive is not. */
CASE(isendrecv_receive_never_sent)
{
    MPI_Request requests[2];

    if (rank == 0) {
        MPI_Isendrecv(large, LARGE, MPI_INT, 1, 1, small_received, 1, MPI_INT, 1, 2, WORLD, &requests[0]);
        MPI_Irecv(small_received + 1, 1, MPI_INT, 1, 3, WORLD, &requests[1]);
        HANG(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else {
        MPI_Recv(large_received, LARGE, MPI_INT, 0, 1, WORLD, IGNORE);
        MPI_Send(small, 1, MPI_INT, 0, 3, WORLD);
        HANG(MPI_Barrier(WORLD));
    }
}

CASE(isendrecv_replace_wrong_tag)
{
    MPI_Request request;

    MPI_Isendrecv_replace(small, 1, MPI_INT, 1 - rank, 1, 1 - rank, 2, WORLD, &request);
    HANG(MPI_Wait(&request, IGNORE));
}

/* Each exchanges with the next one, and none with the one before. */
CASE(isendrecv_wrong_partner)
{
    MPI_Request request;
    int partner = (rank + 1) % size;

    MPI_Isendrecv(small, 1, MPI_INT, partner, 1, small_received, 1, MPI_INT, partner, 1, WORLD, &request);
    HANG(MPI_Wait(&request, IGNORE));
}

/* The sender marks three of its four partitions ready. */
CASE(partition_never_ready)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(small, 4, 1, MPI_INT, 1, 1, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int i = 0; i < 3; i++)
            MPI_Pready(i, request);
        HANG(MPI_Recv(small_received, 1, MPI_INT, 1, 2, WORLD, IGNORE));
    } else {
        MPI_Precv_init(small_received, 4, 1, MPI_INT, 0, 1, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        HANG(MPI_Wait(&request, IGNORE));
    }
}
#endif

/* A deadlocked pair beside one that goes on. */
CASE(pair_hangs_pair_goes_on)
{
    if (rank < 2)
        HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 1, WORLD, IGNORE));
    ready();
    for (;;) {
        MPI_Sendrecv(small, 1, MPI_INT, 5 - rank, 1, small_received, 1, MPI_INT, 5 - rank, 1, WORLD, IGNORE);
        advance();
    }
}

/* The same, and one more that waits for the pair that goes on: it may yet be served. */
CASE(pair_hangs_third_waits_for_the_busy)
{
    if (rank < 2)
        HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 1, WORLD, IGNORE));
    if (rank == 2)
        HANG(MPI_Recv(small, 1, MPI_INT, 3, 2, WORLD, IGNORE));
    ready();
    for (;;) {
        compute_us(100);
        advance();
    }
}

/* Two deadlocks that have nothing to do with each other. */
CASE(two_pairs_hang)
{
    int partner = rank ^ 1;

    if (rank < 2)
        HANG(MPI_Recv(small, 1, MPI_INT, partner, 1, WORLD, IGNORE));
    else
        HANG(MPI_Ssend(small, 1, MPI_INT, partner, 1, WORLD));
}

/* A hundred requests and a thousand unexpected messages around the one that matters. */
CASE(needle_in_a_haystack)
{
    MPI_Request requests[100];

    for (int i = 0; i < 100; i++)
        MPI_Irecv(&small_received[i % SMALL], 1, MPI_INT, 1 - rank, 1000 + i, WORLD, &requests[i]);
    if (rank == 0) {
        for (int i = 0; i < 1000; i++)
            MPI_Send(small, 1, MPI_INT, 1, 3000 + i, WORLD);
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 7, WORLD, IGNORE));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 8, WORLD, IGNORE));
    }
}

/* The message for rank 1 goes to rank 2, which has no use for it. */
CASE(wrong_destination)
{
    if (rank == 0)
        MPI_Send(small, 1, MPI_INT, 2, 7, WORLD);
    if (rank == 1)
        HANG(MPI_Recv(small_received, 1, MPI_INT, 0, 7, WORLD, IGNORE));
    HANG(MPI_Barrier(WORLD));
}

/* Rank 0 counts on a result of each worker; the last one has none. */
CASE(any_source_one_short)
{
    if (rank > 0 && rank < size - 1)
        MPI_Send(small, 1, MPI_INT, 0, 3, WORLD);
    ready();
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Recv(small_received, 1, MPI_INT, MPI_ANY_SOURCE, 3, WORLD, IGNORE);
    MPI_Barrier(WORLD);
}

/* What a matched probe has taken no other receive gets. */
CASE(matched_probe_kept)
{
    MPI_Message message;

    if (rank == 0) {
        MPI_Send(small, 1, MPI_INT, 1, 4, WORLD);
        HANG(MPI_Recv(small_received, 1, MPI_INT, 1, 5, WORLD, IGNORE));
    } else {
        MPI_Mprobe(0, 4, WORLD, &message, IGNORE);
        HANG(MPI_Recv(small_received, 1, MPI_INT, 0, 4, WORLD, IGNORE));
    }
}

/* A shift to the right, in which rank 0 alone believes that the ends are joined. */
CASE(one_end_is_periodic)
{
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

    HANG(MPI_Sendrecv(small, 1, MPI_INT, right, 1, small_received, 1, MPI_INT, rank > 0 ? rank - 1 : size - 1,
                      1, WORLD, IGNORE));
    HANG(MPI_Barrier(WORLD));
}

/* Rank 1 never comes back.  The others go on once it has left the barrier, in which it would take their
 * messages. */
static void be_asleep_in_rank_1(void)
{
    if (rank == 1) {
        count_progress();
        HANG(sleep_for_ever());
    }
    wait_for_count_of(1);
}

/* The message is larger than what was posted for it, and the receiver is outside MPI. */
CASE(too_little_room)
{
    MPI_Request request;

    if (rank == 1)
        MPI_Irecv(large_received, 4, MPI_INT, 0, 1, WORLD, &request);
    MPI_Barrier(WORLD);
    be_asleep_in_rank_1();
    HANG(MPI_Send(large, LARGE, MPI_INT, 1, 1, WORLD));
}

/* The messages are taken in the order in which they were sent: the second one is larger than its room. */
CASE(too_little_room_for_the_second)
{
    MPI_Request requests[2];

    if (rank == 1) {
        MPI_Irecv(large_received, LARGE, MPI_INT, 0, 1, WORLD, &requests[0]);
        MPI_Irecv(small_received, 4, MPI_INT, 0, 1, WORLD, &requests[1]);
    }
    MPI_Barrier(WORLD);
    be_asleep_in_rank_1();
    MPI_Isend(large, LARGE, MPI_INT, 1, 1, WORLD, &requests[0]);
    MPI_Isend(large, LARGE / 2, MPI_INT, 1, 1, WORLD, &requests[1]);
    HANG(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* Any tag, but of one rank: the message of the other one is not for it. */
CASE(any_tag_from_the_wrong_source)
{
    if (rank == 0)
        HANG(MPI_Recv(small_received, 1, MPI_INT, 2, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE));
    else if (rank == 1)
        HANG(MPI_Ssend(small, 1, MPI_INT, 0, 1, WORLD));
    else
        HANG(WAIT_FOR_NOBODY(0));
}

/* What the barrier sends to rank 0 is not for its receive, which takes anything. */
CASE(receive_of_anything_beside_a_barrier)
{
    if (rank == 0)
        HANG(MPI_Recv(small_received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE));
    else
        HANG(MPI_Barrier(WORLD));
}

/* Each rank's MPI_COMM_SELF is another one: the message that rank 1 has sent there is not for rank 0. */
CASE(another_ones_self_communicator)
{
    MPI_Request request;

    if (rank == 1) {
        MPI_Isend(large, LARGE, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        HANG(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    HANG(MPI_Recv(large_received, LARGE, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

/* Rank 1 shifts the wrong way: it and rank 0 send to each other, and rank 2 waits for what rank 1 should have
   sent to it. */
CASE(shift_the_wrong_way)
{
    const int periodic = 1;
    int source, destination;
    MPI_Comm ring;

    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    MPI_Cart_shift(ring, 0, rank == 1 ? -1 : 1, &source, &destination);
    if (rank != size - 1)
        ready();
    MPI_Sendrecv(large, LARGE, MPI_INT, destination, 3, large_received, LARGE, MPI_INT, source, 3, ring,
                 MPI_STATUS_IGNORE);
    HANG(MPI_Barrier(WORLD));
}

/* Rank 0's count has overflowed; its send returns an error, which the program ignores. */
CASE(send_failed)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        MPI_Send(large, -LARGE, MPI_INT, 1, 5, WORLD);
    if (rank == 1)
        HANG(MPI_Recv(large_received, LARGE, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE));
    HANG(MPI_Barrier(WORLD));
}

/* The same of rank 1's receive. */
CASE(receive_failed)
{
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Recv(large_received, -LARGE, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        HANG(MPI_Ssend(large, LARGE, MPI_INT, 1, 5, WORLD));
    HANG(MPI_Barrier(WORLD));
}

static int receive_on_deletion(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    return MPI_SUCCESS;
}

/* An attribute's deletion, inside MPI_Comm_free, receives. */
CASE(receive_in_a_deletion)
{
    MPI_Comm made;
    int key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receive_on_deletion, &key, NULL);
    MPI_Comm_dup(WORLD, &made);
    MPI_Comm_set_attr(made, key, NULL);
    MPI_Comm_free(&made);
    HANG(MPI_Barrier(WORLD));
}

static void receive_on_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    HANG(WAIT_FOR_NOBODY(0));
}

/* The program's error handler, inside the MPI_Send that failed, receives. */
CASE(receive_in_an_error_handler)
{
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(receive_on_error, &handler);
    MPI_Comm_set_errhandler(WORLD, handler);
    if (rank == 1)
        MPI_Send(small, 1, MPI_INT, size, 3, WORLD);
    HANG(MPI_Barrier(WORLD));
}
