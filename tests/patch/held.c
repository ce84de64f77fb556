/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held.c - holds one rank inside each collective and looks at it from another thread of the same process: the
 * class is active, the thread's record names the communicator, and what it waits for has an episode that
 * stays.  Then the other rank comes, and nothing is active any more.  Non-blocking ones are held from their
 * call to their completion, which is brought about in each of the ways there are.
 *
 * Run with 2 ranks and a file for the two to agree in: held FILE FILE (the second is opened with MPI).  Rank
 * 1 is held; rank 0 waits for its word.
 */
#include "records.h"

#if OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

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
    const struct ompi_mqs_collectives *record; /* where it counts */
};

#define PATIENCE 20000 /* naps */

/* Whether a word becomes something else than 0. */
static int becomes(const volatile uint32_t *word)
{
    int i;

    for (i = 0; i < PATIENCE && 0 == *word; i++) {
        nap();
    }
    return 0 != *word;
}

static int becomes_active(const struct ompi_mqs_collectives *record, uint32_t class)
{
    int i;

    for (i = 0; i < PATIENCE && 0 == ompi_mqs_active(counts_of(record, class)); i++) {
        nap();
    }
    return 0 != ompi_mqs_active(counts_of(record, class));
}

static void *watch(void *argument)
{
    const struct sight *sight = argument;
    const struct ompi_mqs_collectives *record = sight->record;
    const char *name = class_names[sight->class];
    const struct ompi_mqs_collectives *home = 'O' == class_orders[sight->class] ? record : process_record();
    const struct ompi_mqs_thread *thread;
    uint64_t episode;
    int i;

    CHECK(becomes_active(record, (uint32_t)sight->class), "%s is not active", name);
    thread = thread_of(sight->tid);
    CHECK(becomes(&thread->depth), "%s does not wait", name);
    for (i = 0; i < PATIENCE && 0 == *(volatile const uint64_t *)&thread->stack[0].begin_ns; i++) {
        nap();
    }
    CHECK(0 != thread->stack[0].begin_ns, "%s: the wait is not dated", name);
    CHECK(inside_of(thread) == (uintptr_t)record, "%s", name);
    CHECK(class_of(thread) == (uint32_t)sight->class, "%s: the thread is in %s", name,
          class_names[class_of(thread)]);
    CHECK(newest(home).collective == sight->class, "%s", name);
    episode = thread->stack[0].episode;
    nap();
    CHECK(thread->stack[0].episode == episode && thread->depth > 0, "%s: the wait moves", name);
    CHECK(1 == ompi_mqs_active(counts_of(record, (uint32_t)sight->class)), "%s: active %u", name,
          ompi_mqs_active(counts_of(record, (uint32_t)sight->class)));
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

static void ended_on(const struct ompi_mqs_collectives *record, int class)
{
    CHECK(0 == ompi_mqs_active(counts_of(record, class)), "%s is active after its end", class_names[class]);
    CHECK(0 == record->outstanding, "%s is outstanding after its end", class_names[class]);
}

static void ended(int class)
{
    ended_on(record_of(comm), class);
}

#define HOLD(id, call) HOLD_ON(record_of(comm), id, call)

/* where: the record that it counts on, which must outlive it. */
#define HOLD_ON(where, id, call)                        \
    do {                                                \
        struct sight sight = {0, OMPI_MQS_##id, where}; \
        pthread_t watcher;                              \
        if (0 == rank) {                                \
            come();                                     \
            call;                                       \
        } else {                                        \
            watcher = begin_watch(&sight);              \
            call;                                       \
            pthread_join(watcher, NULL);                \
        }                                               \
        ended_on(sight.record, OMPI_MQS_##id);          \
    } while (0)

static void *wait_elsewhere(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

#define WAYS 12

/* Any progress of the library completes it, nobody looks at the request. */
static void let_it_complete(void)
{
    int flag;

    while (0 != *(volatile ompi_mqs_addr_t *)&record_of(comm)->outstanding) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
}

/* Brings a request's completion about in the way'th way. */
static void complete(MPI_Request *request, int class, int way)
{
    MPI_Request two[2] = {*request, MPI_REQUEST_NULL};
    pthread_t waiter;
    int flag = 0, index, indices[2];

    switch (way % WAYS) {
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
    case 4:
        MPI_Waitsome(2, two, &index, indices, MPI_STATUSES_IGNORE);
        break;
    case 5:
        while (!flag) {
            MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
        }
        break;
    case 6:
        while (!flag) {
            MPI_Testany(2, two, &index, &flag, MPI_STATUS_IGNORE);
        }
        break;
    case 7:
        do {
            MPI_Testsome(2, two, &index, indices, MPI_STATUSES_IGNORE);
        } while (index < 1);
        break;
    case 8:
        let_it_complete();
        ended(class);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    case 9: /* freed: the standard forbids it for what is under way, and Open MPI refuses */
        let_it_complete();
        MPI_Request_free(request);
        break;
    case 10: /* told by a look that frees nothing */
        while (!flag) {
            MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
        }
        ended(class);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    default:
        pthread_create(&waiter, NULL, wait_elsewhere, request);
        pthread_join(waiter, NULL);
        break;
    }
}

/* In each of the ways. */
#define HOLD_REQUEST(id, ...)                                 \
    do {                                                      \
        int way;                                              \
        for (way = 0; way < WAYS; way++) {                    \
            MPI_Request request;                              \
            if (0 == rank) {                                  \
                come();                                       \
                __VA_ARGS__;                                  \
            } else {                                          \
                __VA_ARGS__;                                  \
                watch_once(OMPI_MQS_##id, &request, ORDERED); \
            }                                                 \
            complete(&request, OMPI_MQS_##id, way);           \
            ended(OMPI_MQS_##id);                             \
        }                                                     \
    } while (0)

/* A persistent one, started anew for each of the ways; those that free it come once, at the end. */
#define HOLD_PERSISTENT(id, ...)                                    \
    do {                                                            \
        MPI_Request request, again;                                 \
        int way;                                                    \
        __VA_ARGS__;                                                \
        for (way = 0; way <= WAYS; way++) {                         \
            if (9 == way) {                                         \
                continue;                                           \
            }                                                       \
            again = request;                                        \
            if (0 == rank) {                                        \
                come();                                             \
                MPI_Start(&again);                                  \
            } else {                                                \
                MPI_Start(&again);                                  \
                watch_once(OMPI_MQS_##id, &again, STARTED);         \
            }                                                       \
            complete(&again, OMPI_MQS_##id, WAYS == way ? 9 : way); \
            ended(OMPI_MQS_##id);                                   \
        }                                                           \
    } while (0)

enum start { ORDERED, STARTED };

/* Held in no call: active by its request alone. */
static void watch_once(int class, MPI_Request *request, enum start start)
{
    const struct ompi_mqs_collectives *record = record_of(comm);
    const struct ompi_mqs_outstanding *first = (void *)(uintptr_t)record->outstanding;
    const struct ompi_mqs_thread *thread = thread_of(my_tid());
    const char *name = class_names[class];
    MPI_Request same = *request;

    CHECK(1 == ompi_mqs_active(counts_of(record, class)), "%s: active %u", name,
          ompi_mqs_active(counts_of(record, class)));
    CHECK(1 == outstanding_of(record), "%s: %u are outstanding", name, outstanding_of(record));
    if (NULL != first) {
        CHECK(first->call.collective == class, "%s: outstanding is %s", name,
              class_names[first->call.collective]);
        CHECK(first->call.number == (ORDERED == start ? calls_so_far(record) : 0), "%s", name);
        CHECK(first->request == (uintptr_t)*request, "%s", name);
        CHECK(first->call.flags ==
                  (OMPI_MQS_CALL_REQUEST | (ORDERED == start ? OMPI_MQS_CALL_ORDERED : OMPI_MQS_CALL_START)),
              "%s: flags %x", name, first->call.flags);
    }
    CHECK(0 == inside_of(thread), "%s: the thread is still inside", name);
    CHECK(MPI_SUCCESS != MPI_Request_free(&same), "%s: may be freed under way", name);
    CHECK(1 == ompi_mqs_active(counts_of(record, class)) && 1 == outstanding_of(record),
          "%s: over when refused", name);
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
    HOLD_REQUEST(ibarrier, MPI_Ibarrier(comm, &request));
    HOLD_REQUEST(ibcast, MPI_Ibcast(in, 1, MPI_INT, 0, comm, &request));
    HOLD_REQUEST(iallgather, MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    HOLD_REQUEST(iallgatherv, MPI_Iallgatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, comm, &request));
    HOLD_REQUEST(iallreduce, MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(ialltoall, MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    HOLD_REQUEST(ialltoallv,
                 MPI_Ialltoallv(in, counts, starts, MPI_INT, out, counts, starts, MPI_INT, comm, &request));
    HOLD_REQUEST(ialltoallw,
                 MPI_Ialltoallw(in, counts, wstarts, types, out, counts, wstarts, types, comm, &request));
    HOLD_REQUEST(ireduce, MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, 1, comm, &request));
    HOLD_REQUEST(igather, MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, 1, comm, &request));
    HOLD_REQUEST(igatherv, MPI_Igatherv(in, 1, MPI_INT, out, counts, starts, MPI_INT, 1, comm, &request));
    HOLD_REQUEST(iscatter, MPI_Iscatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm, &request));
    HOLD_REQUEST(iscatterv, MPI_Iscatterv(in, counts, starts, MPI_INT, out, 1, MPI_INT, 0, comm, &request));
    HOLD_REQUEST(iscan, MPI_Iscan(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(iexscan, MPI_Iexscan(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(ireduce_scatter, MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm, &request));
    HOLD_REQUEST(ireduce_scatter_block,
                 MPI_Ireduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm, &request));
}

static void neighbours(void)
{
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
    HOLD_REQUEST(ineighbor_alltoallw, MPI_Ineighbor_alltoallw(in, counts, astarts, types, out, counts,
                                                              astarts, types, comm, &request));
}

static void persistent(void)
{
    HOLD_PERSISTENT(barrier_init, INIT(Barrier)(comm, MPI_INFO_NULL, &request));
    HOLD_PERSISTENT(bcast_init, INIT(Bcast)(in, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request));
    HOLD_PERSISTENT(allreduce_init,
                    INIT(Allreduce)(in, out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    HOLD_PERSISTENT(reduce_init,
                    INIT(Reduce)(in, out, 1, MPI_INT, MPI_SUM, 1, comm, MPI_INFO_NULL, &request));
}

/* Those that make communicators, windows and files. */
static void constructors(const char *path)
{
    struct ompi_mqs_collectives *process = process_record();
    int size = 2, periodic = 1, keep = 1, index[2] = {1, 2}, edges[2] = {1, 0};
    MPI_Comm made, half, inter, cart;
    MPI_Group group;
    MPI_Info info;
    MPI_File opened;
    MPI_Win win;
    void *base;

    MPI_Info_create(&info);
    MPI_Comm_group(comm, &group);
    HOLD(comm_dup, MPI_Comm_dup(comm, &made));
    HOLD(comm_dup_with_info, MPI_Comm_dup_with_info(comm, info, &made));
    HOLD(comm_create, MPI_Comm_create(comm, group, &made));
    HOLD(comm_create_group, MPI_Comm_create_group(comm, group, 9, &made));
    HOLD(comm_split_type, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, &made));
    HOLD(comm_split, MPI_Comm_split(comm, rank, 0, &half));
    HOLD_ON(record_of(half), intercomm_create, MPI_Intercomm_create(half, 0, comm, 1 - rank, 4, &inter));
    HOLD_ON(record_of(inter), intercomm_merge, MPI_Intercomm_merge(inter, rank, &made));
    HOLD(cart_create, MPI_Cart_create(comm, 1, &size, &periodic, 0, &cart));
    HOLD_ON(record_of(cart), cart_sub, MPI_Cart_sub(cart, &keep, &made));
    HOLD(graph_create, MPI_Graph_create(comm, 2, index, edges, 0, &made));
    HOLD(win_create, MPI_Win_create(in, sizeof(in), 4, MPI_INFO_NULL, comm, &win));
    HOLD_ON(process, win_fence, MPI_Win_fence(0, win));
    HOLD_ON(process, win_free, MPI_Win_free(&win));
    HOLD(win_allocate, MPI_Win_allocate(16, 4, MPI_INFO_NULL, comm, &base, &win));
    HOLD(win_allocate_shared, MPI_Win_allocate_shared(16, 4, MPI_INFO_NULL, comm, &base, &win));
    HOLD(win_create_dynamic, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    HOLD(file_open, MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &opened));
    HOLD_ON(process, file_close, MPI_File_close(&opened));
    MPI_Group_free(&group);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int provided, file, size = 2, periodic = 1;
    MPI_Comm cart;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = argc > 2 ? open(argv[1], O_RDWR) : -1;
    CHECK(1 == counts_of(process_record(), OMPI_MQS_init_thread).calls, "MPI_Init_thread");
    if (file < 0 || MPI_THREAD_MULTIPLE != provided) {
        fprintf(stderr, "held: needs a file to agree in, one to open and MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    agreement = mmap(NULL, sizeof(*agreement), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    types[0] = types[1] = MPI_INT;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    blocking();
    non_blocking();
    persistent();
    constructors(argv[2]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
    comm = cart;
    neighbours();
    return finish("held");
}
