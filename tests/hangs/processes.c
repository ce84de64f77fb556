/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that is stopped, asleep, dead, busy with something else or blocked on something that is not MPI. */
#include "corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD

/* Its launcher is stopped first, so that it neither collects the dead rank nor ends the others. */
static _Noreturn void die(void)
{
    ready();
    kill(getppid(), SIGSTOP);
    _exit(1);
}

static void stop(void)
{
    ready();
    raise(SIGSTOP);
}

static void read_for_ever(void)
{
    int ends[2];
    char byte;

    if (pipe(ends) == 0) {
        ready();
        while (read(ends[0], &byte, 1) != 1)
            ;
    }
}

/* The others are in a barrier, and rank 1 does something else. */
#define OTHERS_IN_BARRIER(id, what)   \
    CASE(id)                          \
    {                                 \
        MPI_Barrier(WORLD);           \
        if (rank == 1) {              \
            ready();                  \
            what;                     \
        } else {                      \
            HANG(MPI_Barrier(WORLD)); \
        }                             \
    }

OTHERS_IN_BARRIER(one_stopped, stop())
OTHERS_IN_BARRIER(one_asleep, sleep_for_ever())
OTHERS_IN_BARRIER(one_in_nanosleep, nanosleep(&((struct timespec){.tv_sec = 3600}), NULL))
OTHERS_IN_BARRIER(one_reads_a_pipe, read_for_ever())
OTHERS_IN_BARRIER(one_computes, compute_for_ever())
OTHERS_IN_BARRIER(one_dead, die())

/* The same where a receive waits for it. */
CASE(receive_from_the_dead)
{
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE));
    else
        die();
}

CASE(receive_from_the_stopped)
{
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE));
    else
        stop();
}

CASE(receive_from_the_sleeper)
{
    if (rank == 0)
        HANG(MPI_Recv(small, 1, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE));
    else
        HANG(sleep_for_ever());
}

/* A chain that ends at a sleeper: 0 waits for 1, 1 for 2, 2 for 3, which sleeps. */
CASE(chain_to_the_sleeper)
{
    if (rank == size - 1)
        HANG(sleep_for_ever());
    HANG(MPI_Recv(small, 1, MPI_INT, rank + 1, 1, WORLD, MPI_STATUS_IGNORE));
}

/* Stopped while it waits inside MPI, with its message already sent. */
CASE(stopped_inside_mpi)
{
    int pid = (int)getpid(), pids[16];

    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, WORLD);
    if (rank == 1)
        HANG(MPI_Recv(small, 1, MPI_INT, 2, 1, WORLD, MPI_STATUS_IGNORE));
    if (rank == 2) {
        compute_us(50000);
        kill(pids[1], SIGSTOP);
        MPI_Send(small, 1, MPI_INT, 1, 1, WORLD);
    }
    HANG(MPI_Barrier(WORLD));
}

/* As a batch system stops a job: between two calls, and inside of one. */
CASE(all_stopped)
{
    MPI_Barrier(WORLD);
    stop();
}

CASE(all_stopped_in_a_barrier)
{
    int pid = (int)getpid(), pids[16];

    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, WORLD);
    if (rank > 0)
        HANG(MPI_Barrier(WORLD));
    compute_us(50000);
    for (int i = size - 1; i > 0; i--)
        kill(pids[i], SIGSTOP);
    stop();
}

/* Rank 0 holds a lock on a file and waits in the barrier; rank 1 wants that lock first. */
CASE(file_lock_between_ranks)
{
    int file = open("corpus-lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    if (rank == 0)
        flock(file, LOCK_EX);
    MPI_Barrier(WORLD);
    if (rank == 1)
        HANG(flock(file, LOCK_EX));
    HANG(MPI_Barrier(WORLD));
}

static void lock_file(int file, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

    if (fcntl(file, F_SETLKW, &lock) < 0)
        abort();
}

/* A log of all ranks: rank 0 keeps its lock over a collective, and the others wait for that lock first. */
CASE(file_lock_kept_over_a_collective)
{
    int file = open("corpus-log", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    if (rank == 0)
        lock_file(file, F_WRLCK);
    MPI_Barrier(WORLD);
    if (rank != 0)
        HANG(lock_file(file, F_WRLCK));
    HANG(MPI_Allreduce(small, small_received, 1, MPI_INT, MPI_SUM, WORLD));
}

/* The holder of the lock works on, and will release it. */
CASE(file_lock_of_the_sleeper)
{
    int file = open("corpus-log", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    if (rank == 1)
        lock_file(file, F_WRLCK);
    MPI_Barrier(WORLD);
    if (rank == 1)
        HANG(sleep_for_ever());
    HANG(lock_file(file, F_WRLCK));
}

static void *wake_now_and_then(void *unused)
{
    for (;;)
        usleep(50000);
    return unused;
}

/* A logger's thread wakes all the time beside the main thread, which waits for ever. */
static void read_beside_a_heartbeat(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wake_now_and_then, NULL) == 0)
        read_for_ever();
}

OTHERS_IN_BARRIER(reads_a_pipe_beside_a_heartbeat, read_beside_a_heartbeat())

static void look_for_a_file(void)
{
    ready();
    while (access("never-there", F_OK) != 0)
        sleep(1);
}

OTHERS_IN_BARRIER(looks_for_a_file, look_for_a_file())

/* Nobody will ever write to it. */
static void open_a_pipe(void)
{
    mkfifo("corpus-pipe", 0600);
    ready();
    close(open("corpus-pipe", O_RDONLY));
}

OTHERS_IN_BARRIER(opens_a_pipe, open_a_pipe())

/* Rank 1 waits for a mutex of its own that it holds already. */
CASE(mutex_held_by_oneself)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    if (rank == 1)
        HANG(pthread_mutex_lock(&mutex));
    HANG(MPI_Barrier(WORLD));
}

/* A mutex in memory that all ranks share. */
static pthread_mutex_t *make_shared_mutex(void)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t *mutex;
    MPI_Win window;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared(rank ? 0 : sizeof *mutex, 1, MPI_INFO_NULL, WORLD, &mutex, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &mutex);
    if (rank == 0) {
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(mutex, &kind);
    }
    MPI_Barrier(WORLD);
    return mutex;
}

/* Rank 1 keeps the mutex and is in the barrier, to which rank 0 comes once it has the mutex. */
CASE(mutex_between_ranks)
{
    pthread_mutex_t *mutex = make_shared_mutex();

    if (rank == 1)
        pthread_mutex_lock(mutex);
    MPI_Barrier(WORLD);
    if (rank == 0)
        HANG(pthread_mutex_lock(mutex));
    HANG(MPI_Barrier(WORLD));
}

/* No message comes, but who polls may do anything next. */
CASE(polls_for_ever)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(small, 1, MPI_INT, 1 - rank, 1, WORLD, &request);
    ready();
    if (rank == 0)
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

CASE(probes_for_ever)
{
    int found = 0;

    ready();
    if (rank == 0)
        while (!found)
            MPI_Iprobe(1, 1, WORLD, &found, MPI_STATUS_IGNORE);
    else
        MPI_Recv(small, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
}

/* Eager sends until there is no room, to a rank that is outside MPI and takes nothing in. */
#define EAGER_WITHOUT_ROOM(id, what)                   \
    CASE(id)                                           \
    {                                                  \
        MPI_Barrier(WORLD);                            \
        ready();                                       \
        if (rank == 1)                                 \
            what;                                      \
        for (int i = 0; i < 100000; i++)               \
            MPI_Send(small, 16, MPI_INT, 1, 1, WORLD); \
    }

EAGER_WITHOUT_ROOM(no_room_at_the_sleeper, sleep_for_ever())
EAGER_WITHOUT_ROOM(no_room_at_the_busy, compute_for_ever())
EAGER_WITHOUT_ROOM(no_room_at_the_stopped, stop())
EAGER_WITHOUT_ROOM(no_room_at_the_dead, die())

/* A send of more than the eager limit needs its receive, not just room. */
CASE(large_send_to_the_sleeper)
{
    if (rank == 1)
        HANG(sleep_for_ever());
    HANG(MPI_Send(large, LARGE, MPI_INT, 1, 1, WORLD));
}

/* Nobody is in MPI. */
CASE(all_asleep)
{
    MPI_Barrier(WORLD);
    HANG(sleep_for_ever());
}

static void dozing_sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)length;
    (void)type;
    ready();
    sleep_for_ever();
}

/* An operation of the user's that does not return: its rank is in MPI and yet asleep. */
CASE(asleep_in_an_operation)
{
    MPI_Op dozing;

    MPI_Op_create(dozing_sum, 1, &dozing);
    if (rank > 0)
        ready();
    MPI_Reduce(small, small_received, 1, MPI_INT, dozing, 0, WORLD);
    MPI_Barrier(WORLD);
}

/* Rank 1 turns round until rank 0 writes to memory that they share; rank 0 waits for it in a barrier. */
CASE(spins_on_shared_memory)
{
    MPI_Win window;
    MPI_Comm node;
    MPI_Aint bytes;
    int unit;
    volatile int *flag;
    void *base;

    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, node, &base, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
    flag = base;
    if (rank == 0)
        *flag = 0;
    MPI_Barrier(WORLD);
    ready();
    while (rank == 1 && *flag == 0)
        ;
    MPI_Barrier(WORLD);
}

/* Waits that a debugger's stop ends with EINTR, and that begin again. */
static void wait_for_events(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int events = epoll_create1(EPOLL_CLOEXEC);

    while (epoll_wait(events, &event, 1, -1) < 0 && errno == EINTR)
        ;
}

static void wait_for_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    while (sigwaitinfo(&none, NULL) < 0 && errno == EINTR)
        ;
}

static void wait_for_io(void)
{
    aio_context_t context = 0;
    struct io_event event;

    if (syscall(SYS_io_setup, 1, &context) == 0)
        while (syscall(SYS_io_getevents, context, 1, 1, &event, NULL) < 0 && errno == EINTR)
            ;
}

/* It has a timeout, of two hours. */
static void wait_for_bytes(void)
{
    const struct timeval limit = {.tv_sec = 7200};
    int ends[2];
    char byte;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0)
        return;
    while (recv(ends[0], &byte, 1, 0) < 0 && errno == EINTR)
        ;
}

OTHERS_IN_BARRIER(one_waits_for_events, wait_for_events())

/* All ranks, each in another call. */
CASE(all_asleep_in_other_calls)
{
    static void (*const waits[])(void) = {wait_for_events, wait_for_signals, wait_for_io, wait_for_bytes};

    MPI_Barrier(WORLD);
    ready();
    waits[rank % 4]();
    MPI_Barrier(WORLD);
}
