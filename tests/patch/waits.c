/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits.c - holds rank 1 in every kind of wait and reads from a second thread what it says it waits for: the
 * kind, the requests, how many must complete, communicator, peer, tag; that the wait is dated; and that
 * MPI_Test, which does not wait, says nothing.
 *
 * Run with 2 ranks: waits FILE LEVEL, as held.c; LEVEL is the thread level to ask for, 1 to 3.
 */
#include "records.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define LARGE (1 << 20)

static atomic_int *seen;
static int rank, steps;
static MPI_Comm comm;
static char buffer[LARGE], attached[2 * LARGE];

struct sight {
    const char *name;
    uint32_t tid;
    uint32_t kind;
    uint32_t need;
    uint64_t count;
    const void *requests; /* the array; NULL: one request, whose address is not known beforehand */
    int with_peer, peer, tag;
    const void *object;
};

static void nap(void)
{
    usleep(1000);
}

static void *watch(void *argument)
{
    const struct sight *sight = argument;
    struct ompi_mqs_thread *thread = thread_of(sight->tid);
    const struct ompi_mqs_wait *wait = thread->stack;
    int i;

    /* Its outermost wait, held still by rank 0. */
    for (i = 0; i < 20000 && !(0 != *(volatile uint32_t *)&thread->depth && wait->kind == sight->kind &&
                               0 != *(volatile const uint64_t *)&wait->begin_ns);
         i++) {
        nap();
    }
    CHECK(i < 20000, "%s: never seen waiting: depth %u kind %u begin %lu", sight->name, thread->depth,
          wait->kind, (unsigned long)wait->begin_ns);
    CHECK(wait->need == sight->need, "%s: needs %u", sight->name, wait->need);
    CHECK(wait->count == sight->count, "%s: count %lu", sight->name, (unsigned long)wait->count);
    if (NULL != sight->requests) {
        CHECK(wait->requests == (uintptr_t)sight->requests, "%s: requests", sight->name);
    } else if (OMPI_MQS_WAIT_WIN_FENCE != sight->kind && OMPI_MQS_WAIT_BSEND_DETACH != sight->kind) {
        CHECK(0 != wait->requests, "%s: no request", sight->name);
    }
    if (sight->with_peer) {
        CHECK(wait->comm == (uintptr_t)comm, "%s: communicator", sight->name);
        CHECK(wait->peer == sight->peer && wait->tag == sight->tag, "%s: peer %d tag %d", sight->name,
              wait->peer, wait->tag);
    }
    if (OMPI_MQS_WAIT_WIN_FENCE == sight->kind) {
        const struct ompi_mqs_window *window = (void *)(uintptr_t)wait->object;

        CHECK(NULL != window && window->window == (uintptr_t)sight->object, "%s: window", sight->name);
    } else {
        CHECK(wait->object == (uintptr_t)sight->object, "%s: object", sight->name);
    }
    CHECK(0 != wait->episode && wait->episode <= thread->episodes, "%s: episode", sight->name);
    CHECK(root()->last.ns >= wait->begin_ns && 0 != root()->last.cycles, "%s: the root's moment",
          sight->name);
    atomic_fetch_add(seen, 1);
    return NULL;
}

static void come(void)
{
    steps++;
    while (atomic_load(seen) < steps) {
        nap();
    }
}

/* Rank 1 does CALL and is looked at; then rank 0, which saw that happen, does RELEASE. */
#define HOLD(call, release, ...)                                                     \
    do {                                                                             \
        struct sight sight = {__VA_ARGS__};                                          \
        pthread_t watcher;                                                           \
        if (0 == rank) {                                                             \
            come();                                                                  \
            release;                                                                 \
        } else {                                                                     \
            sight.tid = my_tid();                                                    \
            pthread_create(&watcher, NULL, watch, &sight);                           \
            call;                                                                    \
            pthread_join(watcher, NULL);                                             \
            CHECK(0 == thread_of(my_tid())->depth, "%s: still waiting", sight.name); \
        }                                                                            \
        MPI_Barrier(MPI_COMM_WORLD);                                                 \
    } while (0)

#define SEND(tag) MPI_Send(buffer, 1, MPI_CHAR, 1, (tag), comm)
#define TAKE(tag) MPI_Recv(buffer, LARGE, MPI_CHAR, 1, (tag), comm, MPI_STATUS_IGNORE)

static void blocking(void)
{
    MPI_Message message;

    HOLD(MPI_Recv(buffer, 1, MPI_CHAR, 0, 11, comm, MPI_STATUS_IGNORE), SEND(11), .name = "recv",
         .kind = OMPI_MQS_WAIT_RECEIVE, .need = 1, .with_peer = 1, .peer = 0, .tag = 11);
    HOLD(MPI_Recv(buffer, 1, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), SEND(12),
         .name = "recv any", .kind = OMPI_MQS_WAIT_RECEIVE, .need = 1, .with_peer = 1, .peer = MPI_ANY_SOURCE,
         .tag = MPI_ANY_TAG);
    HOLD(MPI_Send(buffer, LARGE, MPI_CHAR, 0, 13, comm), TAKE(13), .name = "send", .kind = OMPI_MQS_WAIT_SEND,
         .need = 1, .with_peer = 1, .peer = 0, .tag = 13);
    HOLD(MPI_Ssend(buffer, 1, MPI_CHAR, 0, 14, comm), TAKE(14), .name = "ssend", .kind = OMPI_MQS_WAIT_SEND,
         .need = 1, .with_peer = 1, .peer = 0, .tag = 14);
    HOLD(MPI_Probe(0, 15, comm, MPI_STATUS_IGNORE), SEND(15), .name = "probe", .kind = OMPI_MQS_WAIT_PROBE,
         .need = 1, .with_peer = 1, .peer = 0, .tag = 15);
    if (1 == rank) {
        MPI_Recv(buffer, 1, MPI_CHAR, 0, 15, comm, MPI_STATUS_IGNORE);
    }
    HOLD(MPI_Mprobe(0, 16, comm, &message, MPI_STATUS_IGNORE), SEND(16), .name = "mprobe",
         .kind = OMPI_MQS_WAIT_MPROBE, .need = 1, .with_peer = 1, .peer = 0, .tag = 16);
    if (1 == rank) {
        MPI_Mrecv(buffer, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    }
}

static void several(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int i, index, indices[4];

    for (i = 0; i < 4; i++) {
        requests[i] = MPI_REQUEST_NULL;
    }
    if (1 == rank) {
        MPI_Irecv(buffer, 1, MPI_CHAR, 0, 20, comm, &requests[0]);
    }
    HOLD(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), SEND(20), .name = "wait", .kind = OMPI_MQS_WAIT_REQUEST,
         .need = 1);
    if (1 == rank) {
        for (i = 0; i < 3; i++) {
            MPI_Irecv(buffer + i, 1, MPI_CHAR, 0, 21 + i, comm, &requests[i]);
        }
    }
    HOLD(MPI_Waitall(4, requests, statuses), SEND(21); SEND(22);
         SEND(23), .name = "waitall", .kind = OMPI_MQS_WAIT_ALL, .need = 3, .count = 4, .requests = requests);
    if (1 == rank) {
        for (i = 0; i < 2; i++) {
            MPI_Irecv(buffer + i, 1, MPI_CHAR, 0, 24 + i, comm, &requests[i]);
        }
    }
    HOLD(MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE), SEND(24), .name = "waitany",
         .kind = OMPI_MQS_WAIT_ANY, .need = 1, .count = 4, .requests = requests);
    HOLD(MPI_Waitsome(4, requests, &index, indices, statuses), SEND(25), .name = "waitsome",
         .kind = OMPI_MQS_WAIT_SOME, .need = 1, .count = 4, .requests = requests);
}

static void others(void)
{
    static int memory[4];
    MPI_Win win;
    void *back;
    int size;

    MPI_Buffer_attach(attached, sizeof(attached));
    if (1 == rank) {
        MPI_Bsend(buffer, LARGE, MPI_CHAR, 0, 30, comm);
    }
    HOLD(MPI_Buffer_detach(&back, &size), TAKE(30), .name = "detach", .kind = OMPI_MQS_WAIT_BSEND_DETACH,
         .need = 1);
    MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, comm, &win);
    HOLD(MPI_Win_fence(0, win), MPI_Win_fence(0, win), .name = "fence", .kind = OMPI_MQS_WAIT_WIN_FENCE,
         .need = 1, .object = win);
    MPI_Win_free(&win);
}

/* Polling is not waiting: no episode begins. */
static void polling(void)
{
    const struct ompi_mqs_thread *thread = thread_of(my_tid());
    uint64_t before;
    MPI_Request request;
    int i, flag;

    if (1 != rank) {
        return;
    }
    MPI_Irecv(buffer, 1, MPI_CHAR, 1, 40, comm, &request);
    before = thread->episodes;
    for (i = 0; i < 100; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(before == thread->episodes && 0 == thread->depth, "MPI_Test waits");
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int provided, file, level = argc > 2 ? atoi(argv[2]) : MPI_THREAD_FUNNELED;

    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = argc > 1 ? open(argv[1], O_RDWR) : -1;
    if (file < 0) {
        fprintf(stderr, "waits: needs a file to agree in\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    CHECK((uint32_t)provided == root()->thread_level, "thread level %u", root()->thread_level);
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    blocking();
    several();
    others();
    polling();
    return finish("waits");
}
