/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * constructors.c - the collectives that make and end communicators, windows and files, and persistent ones:
 * counted once each, on the communicator they are called on or on the process, with nothing left active.
 *
 * Run with 2 or 4 ranks.
 */
#include "records.h"

#if !defined(OPEN_MPI) || OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#endif

static int rank, size;

/* A class counts one more on record, and no other does; it is ordered there or it is not. */
static void counted(const struct ompi_mqs_collectives *record, const struct ompi_mqs_collectives *before,
                    int class, int ordered)
{
    unsigned int i;

    for (i = 0; i < record->classes; i++) {
        uint32_t due = before->counts[i].calls + ((int)i == class ? 1 : 0);

        CHECK(record->counts[i].calls == due, "after %s: %s counts %u, not %u", class_names[class],
              class_names[i], record->counts[i].calls, due);
        CHECK(record->counts[i].active == before->counts[i].active, "after %s: %s is active",
              class_names[class], class_names[i]);
    }
    CHECK(calls_so_far(record) == calls_so_far(before) + (uint64_t)ordered, "%s: ordered %lu",
          class_names[class], calls_so_far(record) - calls_so_far(before));
    if (ordered) {
        CHECK(newest(record)->collective == class, "%s: the ring says %s", class_names[class],
              class_names[newest(record)->collective]);
    } else {
        CHECK(newest(process_record())->collective == class, "%s: the process's ring says %s",
              class_names[class], class_names[newest(process_record())->collective]);
    }
}

#define ON(comm, id, ...)                                                                     \
    do {                                                                                      \
        struct ompi_mqs_collectives before = *record_of(comm);                                \
        __VA_ARGS__;                                                                          \
        counted(record_of(comm), &before, OMPI_MQS_##id, class_orders[OMPI_MQS_##id] == 'O'); \
    } while (0)

#define ON_PROCESS(id, ...)                                                                                  \
    do {                                                                                                     \
        struct ompi_mqs_collectives before = *process_record();                                              \
        __VA_ARGS__;                                                                                         \
        CHECK(process_record()->counts[OMPI_MQS_##id].calls == before.counts[OMPI_MQS_##id].calls + 1, "%s", \
              #id);                                                                                          \
        CHECK(0 == process_record()->counts[OMPI_MQS_##id].active, "%s is active", #id);                     \
        CHECK(calls_so_far(process_record()) == calls_so_far(&before) + 1, "%s", #id);                       \
    } while (0)

static uint64_t hash_of(MPI_Comm comm)
{
    return record_of(comm)->group_hash;
}

static void communicators(void)
{
    MPI_Comm dup, with_info, later, made, grouped, half, node, inter, merged, cart, sub, graph, dist, near;
    MPI_Group group;
    MPI_Request request;
    MPI_Info info;
    int mine = rank < size / 2, periodic = 1, keep = 1, zero = 0, one = 1, i;
    int index[8], edges[8];

    MPI_Info_create(&info);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    ON(MPI_COMM_WORLD, comm_dup, MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK(0 == calls_so_far(record_of(dup)), "a new communicator has calls");
    CHECK(0 != hash_of(dup) && hash_of(dup) == hash_of(MPI_COMM_WORLD), "hash of a dup");
    ON(MPI_COMM_WORLD, comm_dup_with_info, MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with_info));
    ON(MPI_COMM_WORLD, comm_idup, MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
       MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON(MPI_COMM_WORLD, comm_create, MPI_Comm_create(MPI_COMM_WORLD, group, &made));
    ON(MPI_COMM_WORLD, comm_create_group, MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &grouped));
    ON(MPI_COMM_WORLD, comm_split, MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half));
    CHECK(hash_of(half) != hash_of(MPI_COMM_WORLD) || size == 1, "hash of a half");
    ON(MPI_COMM_WORLD, comm_split_type,
       MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &node));
    ON(half, intercomm_create, MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mine ? size / 2 : 0, 3, &inter));
    CHECK(hash_of(inter) == hash_of(half), "hash of an intercommunicator's own side");
    CHECK(0 != record_of(inter)->remote_hash && record_of(inter)->remote_hash != hash_of(half),
          "hash of its other side");
    ON(inter, intercomm_merge, MPI_Intercomm_merge(inter, !mine, &merged));
    ON(MPI_COMM_WORLD, cart_create, MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart));
    ON(cart, cart_sub, MPI_Cart_sub(cart, &keep, &sub));
    for (i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    ON(MPI_COMM_WORLD, graph_create, MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph));
    /* On one rank: with more, 4.1.4 hangs now and then, patched or not. */
    ON(MPI_COMM_SELF, dist_graph_create,
       MPI_Dist_graph_create(MPI_COMM_SELF, 1, &zero, &one, &zero, &one, info, 0, &dist));
    ON(MPI_COMM_SELF, dist_graph_create_adjacent,
       MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &zero, &one, 1, &zero, &one, info, 0, &near));
    ON(dup, comm_set_info, MPI_Comm_set_info(dup, info));
    MPI_Comm_free(&dup);
    MPI_Comm_disconnect(&with_info);
    CHECK(0 == thread_of(my_tid())->collectives, "the thread is in a communicator that is gone");
    MPI_Group_free(&group);
    MPI_Info_free(&info);
}

static void windows(void)
{
    static int memory[4];
    MPI_Win win, allocated, shared, dynamic;
    MPI_Info info;
    void *base;

    MPI_Info_create(&info);
    ON(MPI_COMM_WORLD, win_create,
       MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ON(MPI_COMM_WORLD, win_allocate,
       MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated));
    ON(MPI_COMM_WORLD, win_allocate_shared,
       MPI_Win_allocate_shared(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &shared));
    ON(MPI_COMM_WORLD, win_create_dynamic, MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    ON_PROCESS(win_fence, MPI_Win_fence(0, win));
    ON_PROCESS(win_set_info, MPI_Win_set_info(win, info));
    ON_PROCESS(win_free, MPI_Win_free(&win));
    MPI_Win_free(&allocated);
    MPI_Win_free(&shared);
    MPI_Win_free(&dynamic);
    MPI_Info_free(&info);
}

static void files(void)
{
    char name[] = "/tmp/mpiq-constructors-XXXXXX";
    MPI_Request request;
    MPI_File file;
    int buffer[4] = {0}, made = -1;

    if (0 == rank) {
        made = mkstemp(name);
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    ON(MPI_COMM_WORLD, file_open,
       MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    ON_PROCESS(file_set_size, MPI_File_set_size(file, 64));
    ON_PROCESS(file_preallocate, MPI_File_preallocate(file, 64));
    ON_PROCESS(file_set_view, MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    ON_PROCESS(file_set_atomicity, MPI_File_set_atomicity(file, 0));
    ON_PROCESS(file_sync, MPI_File_sync(file));
    ON_PROCESS(file_write_all, MPI_File_write_all(file, buffer, 1, MPI_INT, MPI_STATUS_IGNORE));
    ON_PROCESS(file_write_at_all, MPI_File_write_at_all(file, 0, buffer, 1, MPI_INT, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_all, MPI_File_read_all(file, buffer, 1, MPI_INT, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_at_all, MPI_File_read_at_all(file, 0, buffer, 1, MPI_INT, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_at_all_begin, MPI_File_read_at_all_begin(file, 0, buffer, 1, MPI_INT));
    ON_PROCESS(file_read_at_all_end, MPI_File_read_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_iread_at_all, MPI_File_iread_at_all(file, 0, buffer, 1, MPI_INT, &request);
               MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(file_iwrite_all, MPI_File_iwrite_all(file, buffer, 1, MPI_INT, &request);
               MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(file_close, MPI_File_close(&file));
    if (0 <= made) {
        close(made);
        unlink(name);
    }
}

/* The init call takes a number and counts nothing; each start counts, and takes no number. */
static void persistent(MPI_Comm comm, int class, MPI_Request *request, uint64_t number)
{
    const struct ompi_mqs_collectives *record = record_of(comm);
    MPI_Request again[2] = {*request, MPI_REQUEST_NULL};
    int round, flag;

    CHECK(calls_so_far(record) == number + 1, "%s", class_names[class]);
    CHECK(newest(record)->collective == class, "%s", class_names[class]);
    CHECK(0 == record->counts[class].calls, "%s counts before it starts", class_names[class]);
    for (round = 0; round < 4; round++) {
        if (round % 2) {
            MPI_Start(request);
        } else {
            MPI_Startall(1, again);
        }
        CHECK(record->counts[class].calls == (uint32_t)round + 1, "%s", class_names[class]);
        for (flag = 0; round < 2 && !flag;) {
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        }
        if (round >= 2) {
            MPI_Wait(request, MPI_STATUS_IGNORE);
        }
        CHECK(0 == record->counts[class].active, "%s is active", class_names[class]);
        CHECK(0 == record->outstanding, "%s is outstanding", class_names[class]);
    }
    CHECK(calls_so_far(record) == number + 1, "%s: starts are numbered", class_names[class]);
    MPI_Request_free(request);
}

static void persistents(MPI_Comm comm)
{
    static int in[16], out[16];
    MPI_Request request;
    MPI_Comm cart;
    uint64_t number = calls_so_far(record_of(comm));
    int periodic = 1;

    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    persistent(comm, OMPI_MQS_barrier_init, &request, number);
    MPI_Bcast_init(in, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
    persistent(comm, OMPI_MQS_bcast_init, &request, number + 1);
    MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    persistent(comm, OMPI_MQS_allreduce_init, &request, number + 2);
    if (MPI_COMM_SELF != comm) {
        MPI_Cart_create(comm, 1, &size, &periodic, 0, &cart);
        MPI_Neighbor_alltoall_init(in, 1, MPI_INT, out, 1, MPI_INT, cart, MPI_INFO_NULL, &request);
        persistent(cart, OMPI_MQS_neighbor_alltoall_init, &request, 0);
    }
}

int main(int argc, char **argv)
{
    CHECK(OMPI_MQS_PHASE_LOADED == root()->phase, "phase %u", root()->phase);
    CHECK(0 == memcmp(root()->magic, OMPI_MQS_MAGIC, 8), "magic");
    CHECK((uint32_t)getpid() == root()->pid, "pid %u", root()->pid);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(OMPI_MQS_PHASE_RUNNING == root()->phase, "phase %u", root()->phase);
    CHECK((uint32_t)rank == root()->vpid, "vpid %u", root()->vpid);
    CHECK((uint32_t)size == root()->world_size, "size %u", root()->world_size);
    CHECK(0 == strcmp("ob1", root()->pml), "pml %s", root()->pml);
    CHECK('\0' != root()->nspace[0], "no namespace");
    CHECK(1 == process_record()->counts[OMPI_MQS_init].calls, "MPI_Init");
    CHECK(0 == process_record()->counts[OMPI_MQS_init].active, "MPI_Init is active");
    communicators();
    windows();
    files();
    persistents(MPI_COMM_WORLD);
    persistents(MPI_COMM_SELF);
    return finish("constructors");
}
