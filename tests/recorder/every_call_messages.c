/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_messages - sends, receives and probes, and what ends their requests. */
#include "every_call.h"

#include <stdlib.h>

#define W MPI_COMM_WORLD
static int out[8], in[8];
static MPI_Request posted, request;
static MPI_Status status;

/* Posts the receive for a send, so that no send waits long and ready sends are legal. */
#define POST(tag)                                                                  \
    CALL(ROW, other, tag, 32, N(Irecv)(in, 8, MPI_INT, other, tag, row, &posted)); \
    BARRIER()
#define TAKE(tag) CALL(ROW, other, tag, NONE, MPI_Wait(&posted, &status))
/* Waits for a send's request. */
#define SENT(tag) CALL(ROW, other, tag, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE))

static void blocking(void)
{
    POST(1);
    CALL(ROW, other, 1, 4, N(Send)(out, 1, MPI_INT, other, 1, row));
    TAKE(1);
    POST(2);
    CALL(ROW, other, 2, 8, N(Ssend)(out, 2, MPI_INT, other, 2, row));
    TAKE(2);
    POST(3);
    CALL(ROW, other, 3, 12, N(Rsend)(out, 3, MPI_INT, other, 3, row));
    TAKE(3);
    POST(4);
    CALL(ROW, other, 4, 16, N(Bsend)(out, 4, MPI_INT, other, 4, row));
    TAKE(4);
    CALL(ROW, other, 5, 3, N(Sendrecv)(out, 3, MPI_CHAR, other, 5, in, 32, MPI_CHAR, other, 5, row, &status));
    CALL(ROW, other, 6, 20, N(Sendrecv_replace)(out, 5, MPI_FLOAT, other, 6, other, 6, row, &status));
    CALL(WORLD, other, 7, 8, N(Send)(out, 1, MPI_DOUBLE, other, 7, W));
    CALL(WORLD, other, 7, 8, N(Recv)(in, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, W, MPI_STATUS_IGNORE));
}

static void nonblocking(void)
{
    POST(11);
    CALL(ROW, other, 11, 4, N(Isend)(out, 1, MPI_INT, other, 11, row, &request));
    SENT(11);
    TAKE(11);
    POST(12);
    CALL(ROW, other, 12, 8, N(Issend)(out, 2, MPI_INT, other, 12, row, &request));
    SENT(12);
    TAKE(12);
    POST(13);
    CALL(ROW, other, 13, 12, N(Irsend)(out, 3, MPI_INT, other, 13, row, &request));
    SENT(13);
    TAKE(13);
    POST(14);
    CALL(ROW, other, 14, 16, N(Ibsend)(out, 4, MPI_INT, other, 14, row, &request));
    SENT(14);
    TAKE(14);
#if MPI_VERSION >= 4
    CALL(ROW, other, 15, 4,
         N(Isendrecv)(out, 1, MPI_INT, other, 15, in, 1, MPI_INT, other, 15, row, &request));
    SENT(15);
    CALL(ROW, other, 16, 4, N(Isendrecv_replace)(out, 1, MPI_INT, other, 16, other, 16, row, &request));
    SENT(16);
#endif
}

static void probes(void)
{
    MPI_Message message;
    int flag = 0;
    CALL(WORLD, other, 21, 4, N(Send)(out, 1, MPI_INT, other, 21, W));
    CALL(WORLD, other, 21, NONE, MPI_Probe(other, 21, W, &status));
    CALL(WORLD, other, 21, NONE, MPI_Iprobe(other, 21, W, &flag, &status));
    CALL(WORLD, other, 21, NONE, MPI_Mprobe(other, 21, W, &message, &status));
    CALL(WORLD, other, 21, 16, N(Mrecv)(in, 4, MPI_INT, &message, &status));
    CALL(WORLD, other, 22, 4, N(Send)(out, 1, MPI_INT, other, 22, W));
    CALL(WORLD, other, 22, NONE, MPI_Probe(other, 22, W, &status));
    CALL(WORLD, other, 22, NONE, MPI_Improbe(other, 22, W, &flag, &message, &status));
    CALL(WORLD, other, 22, 8, N(Imrecv)(in, 2, MPI_INT, &message, &request));
    CALL(WORLD, other, 22, NONE, MPI_Wait(&request, &status));
}

void part_messages(void)
{
    static char buffer[1000];
    void *address;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    blocking();
    nonblocking();
    probes();
    PLAIN(MPI_Buffer_detach(&address, &size));
#ifdef LARGE
    MPI_Count large;
    MPI_Buffer_attach_c(buffer, sizeof buffer);
    PLAIN(MPI_Buffer_detach_c(&address, &large));
#endif
    /* Left: two receives, one with wildcards. */
    CALL(ROW, other, 31, 12, N(Irecv)(in, 3, MPI_INT, other, 31, row, &request));
    CALL(WORLD, MPI_ANY_SOURCE, MPI_ANY_TAG, 5,
         N(Irecv)(in, 5, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &request));
}

/* ---- persistent requests, and the calls that end requests ------------------------------------------- */

static int query(void *extra, MPI_Status *ret)
{
    (void)extra;
    MPI_Status_set_elements(ret, MPI_BYTE, 0);
    MPI_Status_set_cancelled(ret, 0);
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void persistent(void)
{
    MPI_Request sends[4], receive;
    MPI_Status statuses[2];
    CALL(ROW, other, 41, 4, N(Send_init)(out, 1, MPI_INT, other, 41, row, &sends[0]));
    CALL(ROW, other, 41, 8, N(Ssend_init)(out, 2, MPI_INT, other, 41, row, &sends[1]));
    CALL(ROW, other, 41, 12, N(Rsend_init)(out, 3, MPI_INT, other, 41, row, &sends[2]));
    CALL(ROW, other, 41, 16, N(Bsend_init)(out, 4, MPI_INT, other, 41, row, &sends[3]));
    CALL(ROW, other, 41, 32, N(Recv_init)(in, 8, MPI_INT, other, 41, row, &receive));
    for (int i = 0; i < 4; i++) {
        PLAIN(MPI_Start(&receive));
        BARRIER();
        PLAIN(MPI_Startall(1, &sends[i]));
        CALL(ROW, other, 41, NONE, MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
        PLAIN(MPI_Waitall(1, &receive, statuses));
    }
    for (int i = 0; i < 4; i++)
        CALL(ROW, other, 41, NONE, MPI_Request_free(&sends[i]));
    CALL(ROW, other, 41, NONE, MPI_Request_free(&receive));
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
    MPI_Request requests[2];
    int list[] = {3}, flag;
    MPI_Status statuses[2];
    CALL(ROW, other, 51, 32, MPI_Psend_init(out, 4, 2, MPI_INT, other, 51, row, MPI_INFO_NULL, &requests[0]));
    CALL(ROW, other, 51, 32, MPI_Precv_init(in, 4, 2, MPI_INT, other, 51, row, MPI_INFO_NULL, &requests[1]));
    PLAIN(MPI_Startall(2, requests));
    PLAIN(MPI_Pready(0, requests[0]));
    PLAIN(MPI_Pready_range(1, 2, requests[0]));
    PLAIN(MPI_Pready_list(1, list, requests[0]));
    PLAIN(MPI_Parrived(requests[1], 0, &flag));
    PLAIN(MPI_Waitall(2, requests, statuses));
    CALL(ROW, other, 51, NONE, MPI_Request_free(&requests[0]));
    CALL(ROW, other, 51, NONE, MPI_Request_free(&requests[1]));
}
#endif

void part_requests(void)
{
    static char buffer[1000];
    MPI_Request own;
    MPI_Status statuses[1];
    int flag = 0, index, count, indices[1];
    void *address;
    MPI_Buffer_attach(buffer, sizeof buffer);
    persistent();
#if MPI_VERSION >= 4
    partitioned();
#endif
    POST(61);
    CALL(ROW, other, 61, 4, N(Ssend)(out, 1, MPI_INT, other, 61, row));
    PLAIN(MPI_Waitany(1, &posted, &index, &status));
    POST(62);
    CALL(ROW, other, 62, 4, N(Ssend)(out, 1, MPI_INT, other, 62, row));
    PLAIN(MPI_Waitsome(1, &posted, &count, indices, statuses));
    POST(63);
    CALL(ROW, other, 63, NONE, MPI_Test(&posted, &flag, &status));
    PLAIN(MPI_Testall(1, &posted, &flag, statuses));
    PLAIN(MPI_Testany(1, &posted, &index, &flag, &status));
    PLAIN(MPI_Testsome(1, &posted, &count, indices, statuses));
    PLAIN(MPI_Request_get_status(posted, &flag, &status));
    CALL(ROW, other, 63, NONE, MPI_Cancel(&posted));
    TAKE(63);
    PLAIN(MPI_Grequest_start(query, nothing, cancel, NULL, &own));
    MPI_Grequest_complete(own);
    CALL(NO_COMM, NONE, NONE, NONE, MPI_Wait(&own, MPI_STATUS_IGNORE));
    PLAIN(MPI_Buffer_detach(&address, &count));
    /* Left: an inactive receive and an active one. */
    CALL(ROW, other, 71, 4, N(Recv_init)(in, 1, MPI_INT, other, 71, row, &request));
    CALL(ROW, other, 72, 8, N(Recv_init)(in, 1, MPI_DOUBLE, other, 72, row, &own));
    PLAIN(MPI_Start(&own));
}
