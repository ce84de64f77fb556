/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * states CASE - puts a job into a state that the tests read, says "ready RANK PID" on standard output and
 * stays there.  What each case leaves behind is told beside it.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char bytes[1 << 21];
static int numbers[4096];

static void ready(void)
{
    printf("ready %d %ld\n", rank, (long)getpid());
    fflush(stdout);
}

/* Outside MPI, so that nothing moves any more. */
static void stay(void)
{
    ready();
    for (;;) {
        pause();
    }
}

/* Inside MPI's progress, so that what comes is taken in, until it has: for so long, and so often, since on a
   busy machine a rank that polls is hardly ever let to. */
static void take_in(double seconds)
{
    enum { AT_LEAST = 200 };
    double end = MPI_Wtime() + seconds;
    int flag;

    for (int i = 0; i < AT_LEAST || MPI_Wtime() < end; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 31337, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/* Rank 1 has from rank 0: tags 101 (11 bytes) and 102 (1 MiB) on the world, 103 (12 bytes, synchronous) on a
   dup; from rank 2 tag 104 (0 bytes). */
static void unexpected(void)
{
    MPI_Request request[2];
    MPI_Comm dup;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    if (rank == 0) {
        MPI_Send(bytes, 11, MPI_CHAR, 1, 101, MPI_COMM_WORLD);
        MPI_Isend(bytes, 1 << 20, MPI_CHAR, 1, 102, MPI_COMM_WORLD, &request[0]);
        MPI_Issend(numbers, 3, MPI_INT, 1, 103, dup, &request[1]);
    } else if (rank == 2) {
        MPI_Send(NULL, 0, MPI_CHAR, 1, 104, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    take_in(0.3);
    stay();
}

/* What a library keeps at one time: rank 0 has receives of tags 40 to 44 posted, sends of tags 102 (1 MiB)
   and, on a dup, 103 (synchronous) that do not end; rank 1 has these unexpected, and 101 (11 bytes) and, from
   rank 2, 104 (0 bytes); all but rank 1 have begun an MPI_Ibcast. */
static void everything(void)
{
    MPI_Request request[8];
    MPI_Comm dup;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "the dup");
    if (rank == 0) {
        for (int i = 0; i < 5; i++) {
            MPI_Irecv(numbers, 10, MPI_INT, 1, 40 + i, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Send(bytes, 11, MPI_CHAR, 1, 101, MPI_COMM_WORLD);
        MPI_Isend(bytes, 1 << 20, MPI_CHAR, 1, 102, MPI_COMM_WORLD, &request[5]);
        MPI_Issend(numbers, 3, MPI_INT, 1, 103, dup, &request[6]);
    } else if (rank == 2) {
        MPI_Send(NULL, 0, MPI_CHAR, 1, 104, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1) {
        MPI_Ibcast(numbers, 100, MPI_INT, 1, MPI_COMM_WORLD, &request[7]);
    }
    take_in(0.3);
    stay();
}

/* Rank 0 waits for two of its three receives (the middle one has come); they hold a sync object. */
static void waitall(void)
{
    MPI_Request request[3];

    if (rank == 0) {
        for (int i = 0; i < 3; i++) {
            MPI_Irecv(&numbers[i], 1, MPI_INT, 1, 20 + i, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Send(numbers, 1, MPI_INT, 1, 23, MPI_COMM_WORLD);
        ready();
        MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    }
    if (rank == 1) {
        MPI_Recv(numbers, 1, MPI_INT, 0, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(numbers, 1, MPI_INT, 0, 21, MPI_COMM_WORLD);
    }
    stay();
}

/* Rank 0 probes for tag 30 and never finds it. */
static void probe(void)
{
    if (rank == 0) {
        ready();
        MPI_Probe(1, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    stay();
}

/* Rank 0 holds the message of tag 31, of 8 bytes, which nobody will receive. */
static void mprobe(void)
{
    MPI_Message message;

    if (rank == 0) {
        MPI_Mprobe(1, 31, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(numbers, 2, MPI_INT, 0, 31, MPI_COMM_WORLD);
    }
    stay();
}

/* Rank 0: receives of tags 40 to 44 posted in this order; 45 done but not waited for; 46 persistent and not
   started, 47 persistent and started; a receive from anybody, of any tag. */
static void requests(void)
{
    MPI_Request request[9];

    if (rank == 0) {
        MPI_Irecv(numbers, 4, MPI_INT, 1, 45, MPI_COMM_WORLD, &request[5]);
        for (int i = 0; i < 5; i++) {
            MPI_Irecv(numbers, 10, MPI_INT, 1, 40 + i, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Recv_init(numbers, 5, MPI_INT, 1, 46, MPI_COMM_WORLD, &request[6]);
        MPI_Recv_init(numbers, 6, MPI_INT, 1, 47, MPI_COMM_WORLD, &request[7]);
        MPI_Start(&request[7]);
        MPI_Irecv(numbers, 7, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[8]);
    } else if (rank == 1) {
        MPI_Send(numbers, 3, MPI_INT, 0, 45, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    take_in(0.2);
    stay();
}

/* Rank 0 has sends to rank 1 that do not end: tags 50 standard (1 MiB), 51 synchronous, 52 persistent and
   synchronous, 53 buffered (1 MiB); 54: 4 elements of a datatype "pairs" of two ints in the space of five. */
static void sends(void)
{
    MPI_Request request[5];
    MPI_Datatype pairs;
    char *buffer = malloc((2 << 20) + MPI_BSEND_OVERHEAD);

    MPI_Type_vector(2, 1, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Type_set_name(pairs, "pairs of ints, by a name that is longer than a few letters");
    MPI_Buffer_attach(buffer, (2 << 20) + MPI_BSEND_OVERHEAD);
    if (rank == 0) {
        MPI_Isend(bytes, 1 << 20, MPI_CHAR, 1, 50, MPI_COMM_WORLD, &request[0]);
        MPI_Issend(numbers, 3, MPI_INT, 1, 51, MPI_COMM_WORLD, &request[1]);
        MPI_Ssend_init(numbers, 4, MPI_INT, 1, 52, MPI_COMM_WORLD, &request[2]);
        MPI_Start(&request[2]);
        MPI_Ibsend(bytes, 1 << 20, MPI_CHAR, 1, 53, MPI_COMM_WORLD, &request[3]);
        MPI_Issend(numbers, 4, pairs, 1, 54, MPI_COMM_WORLD, &request[4]);
    }
    stay();
}

/* Odd and even ranks have a communicator "odd and even" in the reverse order; between the two an
   intercommunicator "bridge"; a dup "gone" is freed with a receive still posted.  Rank 0 receives from the
   last of the even ones, from the first of the odd ones by the bridge, and on "gone" from rank 1; it sends
   to the first of the even ones. */
static void communicators(void)
{
    MPI_Request request[4];
    MPI_Comm half, bridge, gone;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_set_name(half, "odd and even");
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? size - 1 : size - 2, 7, &bridge);
    MPI_Comm_set_name(bridge, "bridge");
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Comm_set_name(gone, "gone");
    if (rank == 0) {
        MPI_Irecv(numbers, 1, MPI_INT, 0, 60, half, &request[0]);
        MPI_Irecv(numbers, 1, MPI_INT, 0, 61, bridge, &request[1]);
        MPI_Irecv(numbers, 1, MPI_INT, 1, 62, gone, &request[2]);
        MPI_Issend(numbers, 1, MPI_INT, 0, 63, half, &request[3]);
    }
    MPI_Comm_free(&gone);
    stay();
}

/* Rank 0 takes its buffer back while a buffered send of tag 55 is on its way to rank 1. */
static void detach(void)
{
    int room = (2 << 20) + MPI_BSEND_OVERHEAD;
    char *buffer = malloc((size_t)room);

    if (rank == 0) {
        MPI_Buffer_attach(buffer, room);
        MPI_Bsend(bytes, 1 << 20, MPI_CHAR, 1, 55, MPI_COMM_WORLD);
        ready();
        MPI_Buffer_detach(&buffer, &room);
    }
    stay();
}

/* Rank 0 floods rank 1, which is not in MPI, with 1,000 messages of 8 bytes, tag 56: for the last there is no
   room; and with one of 1 MiB, tag 57. */
static void flood(void)
{
    static MPI_Request request[1001];

    if (rank == 0) {
        for (int i = 0; i < 1000; i++) {
            MPI_Isend(numbers, 2, MPI_INT, 1, 56, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Isend(bytes, 1 << 20, MPI_CHAR, 1, 57, MPI_COMM_WORLD, &request[1000]);
    }
    stay();
}

/* "reversed" is made while some peers are strangers; on the world all of them are spoken to later. */
static void strangers(void)
{
    MPI_Comm reversed;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_set_name(reversed, "reversed");
    for (int peer = 0; peer < size; peer++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, peer, 80, numbers, 1, MPI_INT, peer, 80, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    stay();
}

static volatile sig_atomic_t woken;

static void wake(int signal)
{
    (void)signal;
    woken = 1;
}

/* Makes a communicator "later" at the first SIGUSR1, and says ready again. */
static void later(void)
{
    MPI_Comm comm;

    signal(SIGUSR1, wake);
    ready();
    while (!woken) {
        usleep(10000);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Comm_set_name(comm, "later");
    stay();
}

/* Rank 0 has been heard by rank 1.  At its first SIGUSR1 it sends tags 120 (5 bytes) and 121 (1 MiB), and
   says ready again; rank 1 takes them in at its own first one, and does likewise. */
static void early(void)
{
    MPI_Request request;

    signal(SIGUSR1, wake);
    if (rank == 0) {
        MPI_Send(numbers, 1, MPI_INT, 1, 119, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(numbers, 1, MPI_INT, 0, 119, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    ready();
    while (!woken) {
        usleep(10000);
    }
    if (rank == 0) {
        MPI_Send(bytes, 5, MPI_CHAR, 1, 120, MPI_COMM_WORLD);
        MPI_Isend(bytes, 1 << 20, MPI_CHAR, 1, 121, MPI_COMM_WORLD, &request);
    } else {
        take_in(0.3);
    }
    stay();
}

static void *in_thread(void *argument)
{
    int tag = *(const int *)argument;

    if (tag == 112) {
        MPI_Ssend(numbers, 3, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else {
        MPI_Recv(numbers, 2, MPI_INT, tag - 109, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* MPI_THREAD_MULTIPLE: threads of rank 0 are in MPI_Recv from 1 (tag 110) and from 2 (111), in MPI_Ssend to 1
   (112), and the first one in MPI_Waitall for two receives from 3 (113, 114). */
static void threads(void)
{
    static const int tags[] = {110, 111, 112};
    MPI_Request request[2];
    pthread_t thread;

    if (rank == 0) {
        for (int i = 0; i < 3; i++) {
            pthread_create(&thread, NULL, in_thread, (void *)&tags[i]);
        }
        for (int i = 0; i < 2; i++) {
            MPI_Irecv(&numbers[i], 1, MPI_INT, 3, 113 + i, MPI_COMM_WORLD, &request[i]);
        }
        ready();
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    stay();
}

/* Never stays: messages of all sizes, collectives, communicators and requests come and go. */
static void busy(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;

    ready();
    for (int i = 0;; i++) {
        MPI_Request request[40];
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int k = 0; k < 20; k++) {
            MPI_Isend(bytes, k % 5 == 0 ? 100000 : 8, MPI_CHAR, next, k, comm, &request[k]);
        }
        for (int k = 0; k < 20; k++) {
            MPI_Irecv(bytes, 100000, MPI_CHAR, last, 19 - k, comm, &request[20 + k]);
        }
        MPI_Waitall(40, request, MPI_STATUSES_IGNORE);
        MPI_Bcast(numbers, 100, MPI_INT, i % size, comm);
        MPI_Comm_free(&comm);
    }
}

/* Communicators come and go before the last of them and a non-blocking barrier that rank 1 is not in. */
static void freed(void)
{
    MPI_Request request;
    MPI_Comm comm;

    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i < 2) {
            MPI_Comm_free(&comm);
        }
    }
    if (rank != 1) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    stay();
}

/* A non-blocking broadcast whose root, rank 1, does not take part; before it two that are done. */
static void nonblocking(void)
{
    MPI_Request request;

    for (int i = 0; i < 2; i++) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank != 1) {
        MPI_Ibcast(numbers, 100, MPI_INT, 1, MPI_COMM_WORLD, &request);
        ready();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    stay();
}

/* Rank 1 stays away from a broadcast that all others are in; it is the fourth on the world. */
static void blocking(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, numbers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 1) {
        ready();
        MPI_Bcast(numbers, 9, MPI_INT, 1, MPI_COMM_WORLD);
    }
    stay();
}

/* A spawned world of one process; rank 0 receives from it, and it from rank 0. */
static void spawn(const char *program)
{
    MPI_Request request;
    MPI_Comm other;
    char *arguments[] = {"spawn", NULL};

    MPI_Comm_get_parent(&other);
    if (other == MPI_COMM_NULL) {
        MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    } else {
        rank = 1000;
    }
    MPI_Irecv(numbers, 1, MPI_INT, 0, 70, other, &request);
    stay();
}

/* Ranks 2 and 3 open a session first, so that the index of a session's communicator differs. */
static void session(void)
{
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    MPI_Session session, extra;
    MPI_Group group;
    MPI_Comm comm, own;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &extra);
    if (rank >= 2) {
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &own);
    }
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "a tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_set_name(comm, "session's");
#endif
    stay();
}

/* Rank 0 has 1,000 receives posted; nobody sends. */
static void thousand(void)
{
    MPI_Request request[1000];

    if (rank == 0) {
        for (int i = 0; i < 1000; i++) {
            MPI_Irecv(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request[i]);
        }
    }
    stay();
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
static void send_round(MPI_Request request, int parts)
{
    MPI_Start(&request);
    for (int i = 0; i < parts; i++) {
        MPI_Pready(i, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* From rank 0 to rank 1: tag 70, partitions 0, 1 and 4 of 6 ready; tag 71, in its second round partition 0 of
   2; tag 72, not started there, its receive started; tag 73, a receive that has no send.  Rank 2 has one like
   it with tag 74. */
static void partitioned(void)
{
    MPI_Request request[4];

    if (rank == 0) {
        MPI_Psend_init(numbers, 6, 2, MPI_INT, 1, 70, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
        MPI_Psend_init(numbers + 12, 2, 2, MPI_INT, 1, 71, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
        MPI_Psend_init(numbers + 16, 3, 2, MPI_INT, 1, 72, MPI_COMM_WORLD, MPI_INFO_NULL, &request[2]);
        MPI_Start(&request[0]);
        MPI_Pready_range(0, 1, request[0]);
        MPI_Pready(4, request[0]);
        send_round(request[1], 2);
        MPI_Start(&request[1]);
        MPI_Pready(0, request[1]);
    } else {
        for (int i = 0; i < (rank == 1 ? 4 : 1); i++) {
            static const int parts[] = {6, 2, 3, 4};

            MPI_Precv_init(numbers + i * 12, parts[i], 2, MPI_INT, 0, rank == 1 ? 70 + i : 74, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &request[i]);
            MPI_Start(&request[i]);
        }
        if (rank == 1) {
            MPI_Wait(&request[1], MPI_STATUS_IGNORE);
            MPI_Start(&request[1]);
        }
    }
    take_in(1);
    stay();
}
#endif

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"unexpected", unexpected},
        {"everything", everything},
        {"waitall", waitall},
        {"probe", probe},
        {"mprobe", mprobe},
        {"requests", requests},
        {"sends", sends},
        {"communicators", communicators},
        {"later", later},
        {"nonblocking", nonblocking},
        {"blocking", blocking},
        {"session", session},
        {"thousand", thousand},
        {"strangers", strangers},
        {"detach", detach},
        {"flood", flood},
        {"early", early},
        {"threads", threads},
        {"freed", freed},
        {"busy", busy},
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
        {"partitioned", partitioned},
#endif
        {"idle", stay},
    };
    const char *wanted = argc > 1 ? argv[1] : "";

    int level = strcmp(wanted, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;

    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(wanted, "spawn") == 0) {
        spawn(argv[0]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, wanted) == 0) {
            cases[i].run();
        }
    }
    fprintf(stderr, "states: there is no case %s\n", wanted);
    MPI_Abort(MPI_COMM_WORLD, 2);
}
