/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that do not hang: ranks that compute, nap, write files, run external tools or poll while all
 * others wait for them.  A tool that ends jobs must never take one of these for a hang.
 */
#include "corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE
#define NEXT ((rank + 1) % size)
#define PREVIOUS ((rank + size - 1) % size)

/* Longer than a rank may take to wake before it counts as hung; naps are shorter than that. */
#define LONG work_seconds()
#define NAP 6.0

/* One round after the other until the job's time is over; all ranks see it in the same round. */
#define ROUNDS for (ready(); goes_on(); count_progress())

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void compute(double seconds)
{
    for (double end = now() + seconds; now() < end; count_progress())
        compute_us(20000);
}

static void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&time, &time) < 0 && errno == EINTR)
        ;
    count_progress();
}

static void send_to(int peer, int tag)
{
    MPI_Send(small, 1, MPI_INT, peer, tag, WORLD);
}

static void receive_from(int peer, int tag)
{
    MPI_Recv(small_received, 1, MPI_INT, peer, tag, WORLD, IGNORE);
}

/* A program in a process of its own, which ends with the rank at the latest. */
static pid_t start_tool(const char *command, int output)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (output >= 0)
            dup2(output, STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return child;
}

static void run_tool(const char *command)
{
    while (waitpid(start_tool(command, -1), NULL, 0) < 0 && errno == EINTR)
        ;
    count_progress();
}

/* The tool's time, put where the command says %d. */
static void run_timed_tool(const char *command, double seconds)
{
    char text[256];

    snprintf(text, sizeof text, command, (int)seconds);
    run_tool(text);
}

/* An unlinked file of this rank's. */
static int scratch_file(void)
{
    char name[] = "mpiq-work-XXXXXX";
    int file = mkstemp(name);

    if (file < 0) {
        perror(name);
        MPI_Abort(WORLD, 1);
    }
    unlink(name);
    return file;
}

static void write_or_end(int file, const void *bytes, size_t length)
{
    if (write(file, bytes, length) != (ssize_t)length) {
        perror("write");
        MPI_Abort(WORLD, 1);
    }
}

/* Rank 1 does that in each round, and all others wait in a barrier. */
#define RANK_1(id, action)      \
    CASE(id)                    \
    {                           \
        ROUNDS                  \
        {                       \
            if (rank == 1)      \
                action;         \
            MPI_Barrier(WORLD); \
        }                       \
    }

/* Computing. */

RANK_1(computes_long, compute(LONG))

CASE(computes_before_it_sends)
{
    ROUNDS
    {
        if (rank == 1) {
            compute(LONG);
            for (int peer = 0; peer < size; peer++)
                if (peer != rank)
                    send_to(peer, 3);
        } else {
            receive_from(1, 3);
        }
    }
}

CASE(computes_while_a_large_send_waits)
{
    ROUNDS
    {
        if (rank == 0) {
            MPI_Send(large, LARGE, MPI_INT, 1, 3, WORLD);
        } else if (rank == 1) {
            compute(LONG);
            MPI_Recv(large_received, LARGE, MPI_INT, 0, 3, WORLD, IGNORE);
        }
    }
}

CASE(computes_while_messages_pile_up)
{
    ROUNDS
    {
        if (rank == 1)
            compute(LONG);
        for (int i = 0; i < 500; i++) {
            if (rank == 0)
                send_to(1, i);
            else if (rank == 1)
                receive_from(0, 499 - i);
        }
    }
}

CASE(computes_by_turns)
{
    ROUNDS
    {
        if (rank > 0)
            receive_from(rank - 1, 1);
        compute(2.5);
        if (rank + 1 < size)
            send_to(rank + 1, 1);
    }
}

CASE(computes_everywhere)
{
    ROUNDS
    {
        compute(0.5 + rank);
        MPI_Allreduce(small, small_received, SMALL, MPI_INT, MPI_SUM, WORLD);
    }
}

/* Functions of the user's that begin like those of MPI. */
static void mpi_exchange(void)
{
    compute(LONG);
}

RANK_1(computes_in_mpi_exchange, mpi_exchange())

static void *computing_thread(void *unused)
{
    compute(LONG);
    return unused;
}

static void compute_in_threads(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, computing_thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

RANK_1(computes_in_threads, compute_in_threads())

/* A pool: workers wait on a condition variable for work, and the main thread for their results. */
static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int wanted, done;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void *pool_worker(void *unused)
{
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.wanted == 0)
            pthread_cond_wait(&pool.changed, &pool.lock);
        pool.wanted--;
        pthread_mutex_unlock(&pool.lock);
        compute(LONG);
        pthread_mutex_lock(&pool.lock);
        pool.done++;
        pthread_cond_broadcast(&pool.changed);
    }
    return unused;
}

static void start_pool(int workers)
{
    pthread_t thread;

    for (int i = 0; i < workers; i++)
        pthread_create(&thread, NULL, pool_worker, NULL);
}

static void compute_in_pool(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.wanted = 1;
    pool.done = 0;
    pthread_cond_broadcast(&pool.changed);
    while (pool.done == 0)
        pthread_cond_wait(&pool.changed, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

CASE(computes_in_a_pool)
{
    start_pool(4);
    ROUNDS
    {
        if (rank == 1)
            compute_in_pool();
        MPI_Barrier(WORLD);
    }
}

/* Naps. */

RANK_1(naps_long, nap(NAP))

CASE(naps_everywhere)
{
    ROUNDS
    {
        nap(NAP - rank);
        MPI_Barrier(WORLD);
    }
}

CASE(naps_along_a_ring)
{
    ROUNDS
    {
        if (rank == 0)
            send_to(NEXT, 2);
        receive_from(PREVIOUS, 2);
        nap(1.5);
        if (rank != 0)
            send_to(NEXT, 2);
    }
}

/* Wakes every half second to see whether it is time. */
static void wait_with_timeouts(double seconds)
{
    for (double end = now() + seconds; now() < end; count_progress()) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_mutex_lock(&pool.lock);
        pthread_cond_timedwait(&pool.changed, &pool.lock, &until);
        pthread_mutex_unlock(&pool.lock);
    }
}

RANK_1(naps_on_a_condition, wait_with_timeouts(LONG))

static void wait_in_poll(double seconds)
{
    for (double end = now() + seconds; now() < end; count_progress())
        poll(NULL, 0, 700);
}

RANK_1(naps_in_poll, wait_in_poll(LONG))

/* Files. */

static void write_blocks(double seconds)
{
    int file = scratch_file();

    for (double end = now() + seconds; now() < end; count_progress()) {
        write_or_end(file, large, 65536);
        lseek(file, 0, SEEK_SET);
        fdatasync(file);
    }
    close(file);
}

RANK_1(writes_a_file, write_blocks(LONG))

static void write_lines(double seconds)
{
    int file = scratch_file();

    for (double end = now() + seconds; now() < end; count_progress()) {
        write_or_end(file, "step\n", 5);
        nap(1);
    }
    close(file);
}

RANK_1(writes_a_line_now_and_then, write_lines(LONG))

static void read_much(double seconds)
{
    int file = open("/dev/zero", O_RDONLY);

    for (double end = now() + seconds; now() < end; count_progress())
        if (read(file, large_received, sizeof large_received) < 0)
            abort();
    close(file);
}

RANK_1(reads_a_file, read_much(LONG))

/* A log of all ranks, of which one keeps the lock while it computes. */
CASE(locks_a_file_by_turns)
{
    int file = open("corpus-log", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    ROUNDS
    {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        if (fcntl(file, F_SETLKW, &lock) < 0)
            abort();
        if (rank == 1)
            nap(NAP);
        lock.l_type = F_UNLCK;
        fcntl(file, F_SETLK, &lock);
        MPI_Barrier(WORLD);
    }
    close(file);
}

CASE(writes_everywhere)
{
    int file = scratch_file();

    ROUNDS
    {
        for (int i = 0; i < 200; i++)
            write_or_end(file, large, 65536);
        lseek(file, 0, SEEK_SET);
        nap(0.3);
        MPI_Barrier(WORLD);
    }
    close(file);
}

/* Until another program has made a file. */
static void wait_for_file(void)
{
    char name[64], command[160];
    struct stat status;
    pid_t tool;

    snprintf(name, sizeof name, "mpiq-work-flag-%d", (int)getpid());
    snprintf(command, sizeof command, "sleep %d; : > %s", (int)NAP, name);
    tool = start_tool(command, -1);
    while (stat(name, &status) != 0)
        nap(0.3);
    waitpid(tool, NULL, 0);
    unlink(name);
}

RANK_1(waits_for_a_file, wait_for_file())

/* External tools. */

RANK_1(tool_computes_long, run_timed_tool("timeout %d sh -c 'while :; do :; done'", LONG))
RANK_1(tool_naps, run_timed_tool("sleep %d", NAP))
RANK_1(tool_naps_and_writes,
       run_timed_tool("timeout %d sh -c 'while echo line; do sleep 0.5; done' >/dev/null", LONG))
RANK_1(tool_sorts, run_tool("seq 60000 -1 1 | sort -n | tail -n 1 >/dev/null"))
RANK_1(tool_starts_tools, run_tool("i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done"))

/* What a tool writes, read line by line: asleep in read() most of the time. */
static void read_from_tool(void)
{
    int ends[2];
    char line[64];
    pid_t tool;

    if (pipe(ends) != 0)
        abort();
    tool = start_tool("i=0; while [ $i -lt 10 ]; do sleep 1; echo $i; i=$((i + 1)); done", ends[1]);
    close(ends[1]);
    while (read(ends[0], line, sizeof line) > 0)
        count_progress();
    close(ends[0]);
    waitpid(tool, NULL, 0);
}

RANK_1(tool_is_read_from, read_from_tool())

static void watch_tool(void)
{
    char command[80];
    pid_t tool;

    snprintf(command, sizeof command, "timeout %d sh -c 'while :; do :; done'", (int)LONG);
    tool = start_tool(command, -1);
    while (waitpid(tool, NULL, WNOHANG) == 0)
        nap(0.25);
}

RANK_1(tool_is_watched, watch_tool())

/* Polling. */

/* Rank 0 asks for what rank 1 sends once it has computed; the others wait in a barrier. */
static void polled(void (*ask)(void), void (*work)(double))
{
    ROUNDS
    {
        if (rank == 0) {
            ask();
        } else if (rank == 1) {
            work(LONG);
            send_to(0, 8);
        }
        MPI_Barrier(WORLD);
    }
}

static void test_without_rest(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(small_received, 1, MPI_INT, 1, 8, WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, IGNORE);
}

static void test_and_nap(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(small_received, 1, MPI_INT, 1, 8, WORLD, &request);
    for (; !done; nap(done ? 0 : 0.01))
        MPI_Test(&request, &done, IGNORE);
}

static void test_and_work(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(small_received, 1, MPI_INT, MPI_ANY_SOURCE, 8, WORLD, &request);
    for (; !done; compute(0.3))
        MPI_Test(&request, &done, IGNORE);
}

static void probe_and_nap(void)
{
    int there = 0;

    for (; !there; nap(there ? 0 : 0.5))
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &there, IGNORE);
    receive_from(1, 8);
}

static void probe_for_message(void)
{
    MPI_Message message;
    int there = 0;

    while (!there)
        MPI_Improbe(1, 8, WORLD, &there, &message, IGNORE);
    MPI_Mrecv(small_received, 1, MPI_INT, &message, IGNORE);
}

CASE(polls_with_test_long)
{
    polled(test_without_rest, compute);
}

CASE(polls_and_naps_long)
{
    polled(test_and_nap, compute);
}

CASE(polls_and_works)
{
    polled(test_and_work, compute);
}

CASE(polls_with_iprobe_and_naps)
{
    polled(probe_and_nap, write_lines);
}

CASE(polls_with_improbe_long)
{
    polled(probe_for_message, wait_in_poll);
}

CASE(polls_for_a_barrier)
{
    ROUNDS
    {
        MPI_Request request;
        int done = 0;

        if (rank == 1)
            compute(LONG);
        MPI_Ibarrier(WORLD, &request);
        for (; !done; nap(done ? 0 : 0.05))
            MPI_Test(&request, &done, IGNORE);
    }
}

/* Each worker takes its time; the master asks for whatever is done. */
CASE(polls_its_workers)
{
    ROUNDS
    {
        if (rank > 0) {
            compute(1.5 * rank);
            send_to(0, 5);
            continue;
        }
        for (int left = size - 1; left > 0; nap(0.2)) {
            int there = 0;
            MPI_Status status;

            MPI_Iprobe(MPI_ANY_SOURCE, 5, WORLD, &there, &status);
            if (there) {
                receive_from(status.MPI_SOURCE, 5);
                left--;
            }
        }
    }
}

/* ---- calls that fail, and what error handlers do --------------------------------------------------- */

static jmp_buf after_error;
static bool jumps;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    if (jumps)
        longjmp(after_error, 1);
    compute(LONG);
}

/* A receive that fails at once. */
static void fail(MPI_Comm comm, int peer)
{
    int none;

    if (setjmp(after_error) == 0)
        MPI_Recv(&none, 1, MPI_DATATYPE_NULL, peer, 4, comm, IGNORE);
}

/* Rank 1 fails to receive from rank 0, which waits for it. */
static void fails_while_others_wait(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;

    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    ROUNDS
    {
        if (rank == 1) {
            fail(comm, 0);
            if (jumps)
                compute(LONG);
            send_to(0, 3);
        } else if (rank == 0) {
            receive_from(1, 3);
        }
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

CASE(works_in_an_error_handler)
{
    fails_while_others_wait();
}

CASE(leaves_a_call_by_a_jump)
{
    jumps = true;
    fails_while_others_wait();
}

static int copy_and_relay(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *made)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    receive_from(2, 3);
    send_to(0, 3);
    *made = 0;
    return MPI_SUCCESS;
}

/* Rank 1 comes to MPI_Comm_dup first, and passes on a message in a callback there. */
CASE(passes_on_a_message_in_a_callback)
{
    MPI_Comm original;
    int key;

    MPI_Comm_dup(WORLD, &original);
    MPI_Comm_create_keyval(copy_and_relay, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    if (rank == 1)
        MPI_Comm_set_attr(original, key, NULL);
    ROUNDS
    {
        MPI_Comm copy;

        if (rank == 0)
            receive_from(1, 3);
        if (rank == 2) {
            compute(LONG);
            send_to(1, 3);
        }
        MPI_Comm_dup(original, &copy);
        MPI_Comm_free(&copy);
    }
    MPI_Comm_free(&original);
    MPI_Comm_free_keyval(&key);
}

/* Rank 0 broadcasts and then waits for rank 3, which got it by way of rank 2, in most libraries. */
static void broadcast(MPI_Comm comm)
{
    int item = 1;

    if (rank == 2)
        compute(LONG);
    MPI_Bcast(&item, 1, MPI_INT, 0, comm);
    if (rank == 3)
        send_to(0, 3);
    if (rank == 0)
        receive_from(3, 3);
}

/* Rank 3's first call fails: it is one collective ahead of the others by its number alone. */
CASE(calls_again_after_an_error)
{
    MPI_Comm comm;

    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    ROUNDS
    {
        int item = 1;

        if (rank == 3)
            MPI_Bcast(&item, -1, MPI_INT, 0, comm);
        broadcast(comm);
    }
    MPI_Comm_free(&comm);
}

static int copy_and_broadcast(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *made)
{
    int item = 1;

    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    MPI_Bcast(&item, 1, MPI_INT, 0, WORLD);
    *made = 0;
    return MPI_SUCCESS;
}

/* Rank 0 takes part in a broadcast from a callback. */
CASE(broadcasts_in_a_callback)
{
    MPI_Comm own, copy;
    int key;

    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_create_keyval(copy_and_broadcast, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(own, key, NULL);
    MPI_Barrier(WORLD);
    ROUNDS
    {
        if (rank > 0) {
            broadcast(WORLD);
            continue;
        }
        MPI_Comm_dup(own, &copy);
        MPI_Comm_free(&copy);
        receive_from(3, 3);
    }
    MPI_Comm_free(&own);
    MPI_Comm_free_keyval(&key);
}

/* Rank 0 frees the communicator on which it still sends large messages with gaps. */
CASE(frees_a_communicator_with_sends_under_way)
{
    enum { COUNT = 16000000, STRIDE = 3, MESSAGES = 8 };
    char *memory = calloc(COUNT, STRIDE);
    MPI_Datatype gaps;

    MPI_Type_vector(COUNT, 1, STRIDE, MPI_CHAR, &gaps);
    MPI_Type_commit(&gaps);
    ROUNDS
    {
        MPI_Comm comm;
        MPI_Request requests[MESSAGES];

        MPI_Comm_dup(WORLD, &comm);
        for (int i = 0; i < MESSAGES && rank == 0; i++)
            MPI_Isend(memory, 1, gaps, 1, 3, comm, &requests[i]);
        if (rank == 0)
            MPI_Comm_free(&comm);
        for (int i = 0; i < MESSAGES && rank == 1; i++)
            MPI_Recv(memory, 1, gaps, 0, 3, comm, IGNORE);
        if (rank == 1)
            send_to(0, 3);
        if (rank == 0)
            receive_from(1, 3);
        if (rank == 0)
            MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
        else
            MPI_Comm_free(&comm);
    }
    MPI_Type_free(&gaps);
    free(memory);
}

/* Its call is one that a stop would end. */
static void wait_for_events(double seconds)
{
    struct epoll_event event = {.events = EPOLLIN};
    int events = epoll_create1(EPOLL_CLOEXEC);

    for (double end = now() + seconds; now() < end; count_progress())
        epoll_wait(events, &event, 1, 700);
    close(events);
}

RANK_1(naps_in_epoll, wait_for_events(LONG))

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

/* Each rank works while it has the mutex that the others wait for. */
CASE(mutex_in_turns)
{
    pthread_mutex_t *mutex = make_shared_mutex();

    ROUNDS
    {
        pthread_mutex_lock(mutex);
        compute_us(2000);
        pthread_mutex_unlock(mutex);
        MPI_Barrier(WORLD);
    }
}
