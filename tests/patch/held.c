/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held.c - holds one rank inside each collective and looks at it from another thread of the same process: the
 * class is active, the thread's record names the communicator, and what it waits for has an episode that
 * stays.  Then the other rank comes, and nothing is active any more.  Non-blocking ones are held from their
 * call to their completion, which is brought about in each of the ways there are.
 *
 * Run with 2 ranks and a file for the two to agree in: held FILE.  Rank 1 is held; rank 0 waits for its word.
 */
#include "records.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Shared by the ranks. */
struct agreement {
    atomic_int seen; /* steps that rank 1 has been seen in */
};

static struct agreement *agreement;
static int rank, steps;
static MPI_Comm comm;
static int in[64], out[64], counts[2] = {1, 1}, starts[2] = {0, 1}, wstarts[2] = {0, 4};
static MPI_Datatype types[2];
static MPI_Aint astarts[2] = {0, 4};

static void nap(void)
{
    usleep(1000);
}

/* Of rank 1's second thread: what its first is held in. */
struct sight {
    uint32_t tid;
    int class;
    int wait; /* whether it must be seen waiting */
};

static void *watch(void *argument)
{
    const struct sight *sight = argument;
    const struct ompi_mqs_collectives *record = record_of(comm);
    const struct ompi_mqs_count *count = &record->counts[sight->class];
    const struct ompi_mqs_thread *thread = thread_of(sight->tid);
    uint64_t episode;
    int i;

    while (0 == *(volatile const uint32_t *)&count->active) {
        nap();
    }
    if (sight->wait) {
        while (0 == *(volatile const uint32_t *)&thread->depth) {
            nap();
        }
        for (i = 0; i < 5000 && 0 == *(volatile const uint64_t *)&thread->stack[0].begin_ns; i++) {
            nap();
        }
        CHECK(0 != thread->stack[0].begin_ns, "%s: the wait is not dated", class_names[sight->class]);
        CHECK(thread->collective == (uint32_t)sight->class, "%s: the thread is in %s",
              class_names[sight->class], class_names[thread->collective]);
        CHECK(thread->collectives == (uintptr_t)record, "%s", class_names[sight->class]);
        CHECK(record->comm == (uintptr_t)comm, "%s", class_names[sight->class]);
        CHECK(newest(record)->collective == sight->class, "%s", class_names[sight->class]);
        episode = thread->stack[0].episode;
        nap();
        CHECK(thread->stack[0].episode == episode && thread->depth > 0, "%s: the wait moves",
              class_names[sight->class]);
    }
    CHECK(1 == count->active, "%s: active %u", class_names[sight->class], count->active);
    atomic_fetch_add(&agreement->seen, 1);
    return NULL;
}

/* Rank 0 comes when rank 1 has been seen. */
static void come(void)
{
    steps++;
    while (atomic_load(&agreement->seen) < steps) {
        nap();
    }
}

static pthread_t begin_watch(struct sight *sight)
{
    pthread_t watcher;

    sight->tid = my_tid();
    pthread_create(&watcher, NULL, watch, sight);
    return watcher;
}

static void ended(int class)
{
    CHECK(0 == record_of(comm)->counts[class].active, "%s is active after its end", class_names[class]);
    CHECK(0 == record_of(comm)->outstanding, "%s is outstanding after its end", class_names[class]);
}

#define HOLD(id, call)                              \
    do {                                            \
        struct sight sight = {0, OMPI_MQS_##id, 1}; \
        pthread_t watcher;                          \
        if (0 == rank) {                            \
            come();                                 \
            call;                                   \
        } else {                                    \
            watcher = begin_watch(&sight);          \
            call;                                   \
            pthread_join(watcher, NULL);            \
        }                                           \
        ended(OMPI_MQS_##id);                       \
    } while (0)

static void *wait_elsewhere(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

/* Brings a request's completion about in the way'th way. */
static void complete(MPI_Request *request, int way)
{
    MPI_Request two[2] = {*request, MPI_REQUEST_NULL};
    pthread_t waiter;
    int flag = 0, index;

    switch (way % 6) {
    case 0:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    case 1:
        while (!flag) {
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        }
        break;
    case 2:
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
        break;
    case 4: /* nobody waits for it: any progress of the library completes it */
        while (0 != record_of(comm)->outstanding) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        }
        ended(OMPI_MQS_ibarrier);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    default:
        pthread_create(&waiter, NULL, wait_elsewhere, request);
        pthread_join(waiter, NULL);
        break;
    }
}

#define HOLD_REQUEST(id, ...)                       \
    do {                                            \
        struct sight sight = {0, OMPI_MQS_##id, 0}; \
        MPI_Request request;                        \
        int way = way_of_completion++;              \
        if (0 == rank) {                            \
            come();                                 \
            __VA_ARGS__;                            \
        } else {                                    \
            __VA_ARGS__;                            \
            watch_once(&sight);                     \
        }                                           \
        complete(&request, way);                    \
        ended(OMPI_MQS_##id);                       \
    } while (0)

static int way_of_completion;

/* Held in no call: active by its request alone. */
static void watch_once(struct sight *sight)
{
    const struct ompi_mqs_collectives *record = record_of(comm);
    const struct ompi_mqs_outstanding *first = (void *)(uintptr_t)record->outstanding;
    const struct ompi_mqs_thread *thread = thread_of(my_tid());

    CHECK(1 == record->counts[sight->class].active, "%s: active %u", class_names[sight->class],
          record->counts[sight->class].active);
    CHECK(1 == outstanding_of(record), "%s", class_names[sight->class]);
    if (NULL != first) {
        CHECK(first->call.collective == sight->class, "%s: outstanding is %s", class_names[sight->class],
              class_names[first->call.collective]);
        CHECK(first->call.number == calls_so_far(record), "%s", class_names[sight->class]);
        CHECK(0 != first->request, "%s", class_names[sight->class]);
        CHECK(first->call.flags == (OMPI_MQS_CALL_ORDERED | OMPI_MQS_CALL_REQUEST), "%s: flags %x",
              class_names[sight->class], first->call.flags);
    }
    CHECK(0 == thread->collectives, "%s: the thread is still inside", class_names[sight->class]);
    atomic_fetch_add(&agreement->seen, 1);
}

/* In a rooted call that flows towards rank 1, rank 1 is the root; else rank 0 is. */
static void blocking(void)
{
    HOLD(barrier, MPI_Barrier(comm));
    HOLD(bcast, MPI_Bcast(in, 1, MPI_INT, 0, comm));
    HOLD(allgather, MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    HOLD(allgatherv, MPI_Allgatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, comm));
    HOLD(allreduce, MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm));
    HOLD(alltoall, MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    HOLD(alltoallv, MPI_Alltoallv(in, counts, starts, MPI_INT, out, counts, starts, MPI_INT, comm));
    HOLD(alltoallw, MPI_Alltoallw(in, counts, wstarts, types, out, counts, wstarts, types, comm));
    HOLD(reduce, MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 1, comm));
    HOLD(gather, MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 1, comm));
    HOLD(gatherv, MPI_Gatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, 1, comm));
    HOLD(scatter, MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm));
    HOLD(scatterv, MPI_Scatterv(in, counts, starts, MPI_INT, out, 1, MPI_INT, 0, comm));
    HOLD(scan, MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, comm));
    HOLD(exscan, MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, comm));
    HOLD(reduce_scatter, MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm));
    HOLD(reduce_scatter_block, MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm));
}

static void non_blocking(void)
{
    int way;

    for (way = 0; way < 6; way++) {
        HOLD_REQUEST(ibarrier, MPI_Ibarrier(comm, &request));
    }
    way_of_completion = 0;
    HOLD_REQUEST(ibcast, MPI_Ibcast(in, 1, MPI_INT, 0, comm, &request));
    HOLD_REQUEST(iallgather, MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    HOLD_REQUEST(iallgatherv, MPI_Iallgatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, comm, &request));
    HOLD_REQUEST(iallreduce, MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    way_of_completion = 0;
    HOLD_REQUEST(ialltoall, MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    HOLD_REQUEST(ialltoallv,
                 MPI_Ialltoallv(in, counts, starts, MPI_INT, out, counts, starts, MPI_INT, comm, &request));
    HOLD_REQUEST(ialltoallw,
                 MPI_Ialltoallw(in, counts, wstarts, types, out, counts, wstarts, types, comm, &request));
    HOLD_REQUEST(ireduce, MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, 1, comm, &request));
    way_of_completion = 0;
    HOLD_REQUEST(igather, MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, 1, comm, &request));
    HOLD_REQUEST(igatherv, MPI_Igatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, 1, comm, &request));
    HOLD_REQUEST(iscatter, MPI_Iscatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm, &request));
    HOLD_REQUEST(iscatterv, MPI_Iscatterv(in, counts, starts, MPI_INT, out, 1, MPI_INT, 0, comm, &request));
    way_of_completion = 0;
    HOLD_REQUEST(iscan, MPI_Iscan(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(iexscan, MPI_Iexscan(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(ireduce_scatter, MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(ireduce_scatter_block,
                 MPI_Ireduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
}

static void neighbours(void)
{
    way_of_completion = 0;
    HOLD(neighbor_allgather, MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    HOLD(neighbor_allgatherv, MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, comm));
    HOLD(neighbor_alltoall, MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    HOLD(neighbor_alltoallv,
         MPI_Neighbor_alltoallv(in, counts, starts, MPI_INT, out, counts, starts, MPI_INT, comm));
    HOLD(neighbor_alltoallw,
         MPI_Neighbor_alltoallw(in, counts, astarts, types, out, counts, astarts, types, comm));
    HOLD_REQUEST(ineighbor_allgather,
                 MPI_Ineighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    HOLD_REQUEST(ineighbor_allgatherv,
                 MPI_Ineighbor_allgatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, comm, &request));
    HOLD_REQUEST(ineighbor_alltoall, MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    HOLD_REQUEST(ineighbor_alltoallv, MPI_Ineighbor_alltoallv(in, counts, starts, MPI_INT, out, counts,
                                                              starts, MPI_INT, comm, &request));
    way_of_completion = 0;
    HOLD_REQUEST(ineighbor_alltoallw, MPI_Ineighbor_alltoallw(in, counts, astarts, types, out, counts,
                                                              astarts, types, comm, &request));
}

int main(int argc, char **argv)
{
    int provided, file, size = 2, periodic = 1;
    MPI_Comm cart;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = argc > 1 ? open(argv[1], O_RDWR) : -1;
    if (file < 0 || MPI_THREAD_MULTIPLE != provided) {
        fprintf(stderr, "held: needs a file to agree in and MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    agreement = mmap(NULL, sizeof(*agreement), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    types[0] = types[1] = MPI_INT;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    blocking();
    non_blocking();
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
    comm = cart;
    neighbours();
    return finish("held");
}
