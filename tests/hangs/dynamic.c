/* SPDX-License-Identifier: BSD-3-Clause */
/* Worlds that are spawned, and ports where nobody comes. */
#include "corpus.h"

#define WORLD MPI_COMM_WORLD

static MPI_Comm parent(void)
{
    MPI_Comm above;

    MPI_Comm_get_parent(&above);
    return above;
}

static MPI_Comm spawn(const char *name, int count)
{
    static char program[4096];
    char *arguments[] = {(char *)name, NULL};
    MPI_Comm child;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    program[length < 0 ? 0 : length] = '\0';
    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, WORLD, &child, MPI_ERRCODES_IGNORE);
    return child;
}

/* The child waits for its first work, the parents for its first result. */
CASE(child_and_parent_wait)
{
    MPI_Comm other = parent();

    if (other == MPI_COMM_NULL)
        other = spawn("child_and_parent_wait", 1);
    HANG(MPI_Recv(small, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE));
}

/* Two children; one does not come to the barrier of the intercommunicator. */
CASE(child_skips_barrier)
{
    MPI_Comm other = parent();

    if (other != MPI_COMM_NULL && rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    if (other == MPI_COMM_NULL)
        other = spawn("child_skips_barrier", 2);
    HANG(MPI_Barrier(other));
}

/* The parents disconnect, the child waits for them. */
CASE(child_never_disconnects)
{
    MPI_Comm other = parent();

    if (other != MPI_COMM_NULL)
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE));
    other = spawn("child_never_disconnects", 1);
    HANG(MPI_Comm_disconnect(&other));
}

CASE(spawn_skipped)
{
    if (parent() != MPI_COMM_NULL)
        sleep_for_ever();
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(spawn("spawn_skipped", 1));
}

/* A server waits for a client that never comes, and its other ranks for the server. */
CASE(accept_with_nobody_connecting)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm client;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        HANG(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client));
    }
    HANG(MPI_Barrier(WORLD));
}

CASE(accept_skipped)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm client;

    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Comm_accept(port, MPI_INFO_NULL, 0, WORLD, &client));
}

/* The children play with their parent. */
CASE(spawned_ping_pong)
{
    MPI_Comm other = parent();

    if (other == MPI_COMM_NULL)
        other = spawn("spawned_ping_pong", size);
    ready();
    for (;;) {
        MPI_Sendrecv(small, 1, MPI_INT, rank, 1, small_received, 1, MPI_INT, rank, 1, other,
                     MPI_STATUS_IGNORE);
        advance();
    }
}
