/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * constructors.c - the collectives that make and end communicators, windows and files, and what else is none
 * that moves data: counted once each, on the communicator they are called on or on the process, with nothing
 * left active, as the program itself reads them and as a reader outside does (ledger.h).
 *
 * Run with 2 or 4 ranks.
 */
#include "ledger.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static int rank, size;

/* A class counts one more on record, and no other does; it is ordered there or it is not. */
static void counted(const struct ompi_mqs_collectives *record, const struct snapshot *before, int class,
                    int ordered)
{
    unsigned int i;

    for (i = 0; i < record->classes; i++) {
        uint32_t due = before->counts[i].calls + ((int)i == class ? 1 : 0);

        CHECK(counts_of(record, i).calls == due, "after %s: %s counts %u, not %u", class_names[class],
              class_names[i], counts_of(record, i).calls, due);
        CHECK(ompi_mqs_active(counts_of(record, i)) == ompi_mqs_active(before->counts[i]),
              "after %s: %s is active", class_names[class], class_names[i]);
    }
    CHECK(calls_so_far(record) == calls_so_far(&before->record) + (uint64_t)ordered, "%s: ordered %lu",
          class_names[class], calls_so_far(record) - calls_so_far(&before->record));
    if (ordered) {
        CHECK(newest(record).collective == class, "%s: the ring says %s", class_names[class],
              class_names[newest(record).collective]);
    } else {
        CHECK(newest(process_record()).collective == class, "%s: the process's ring says %s",
              class_names[class], class_names[newest(process_record()).collective]);
    }
}

/* Enters a call on comm and lets a reader look. */
static void told(MPI_Comm comm, int class, int root)
{
    if ('O' == class_orders[class]) {
        ledger_call(comm, class, 1, 0, "", "", root);
    } else {
        ledger_start(comm, class);
        ledger_process(class);
    }
    ledger_stop(comm, -1);
}

#define ON(comm, id, ...) ON_ROOTED(comm, id, -1, __VA_ARGS__)

#define ON_ROOTED(comm, id, root, ...)                                                        \
    do {                                                                                      \
        struct snapshot before = snapshot_of(record_of(comm));                                \
        __VA_ARGS__;                                                                          \
        counted(record_of(comm), &before, OMPI_MQS_##id, class_orders[OMPI_MQS_##id] == 'O'); \
        told(comm, OMPI_MQS_##id, root);                                                      \
    } while (0)

#define ON_PROCESS(id, ...)                                                                               \
    do {                                                                                                  \
        struct snapshot before = snapshot_of(process_record());                                           \
        __VA_ARGS__;                                                                                      \
        CHECK(counts_of(process_record(), OMPI_MQS_##id).calls == before.counts[OMPI_MQS_##id].calls + 1, \
              "%s", #id);                                                                                 \
        CHECK(0 == ompi_mqs_active(counts_of(process_record(), OMPI_MQS_##id)), "%s is active", #id);     \
        CHECK(calls_so_far(process_record()) == calls_so_far(&before.record) + 1, "%s", #id);             \
        ledger_process(OMPI_MQS_##id);                                                                    \
        ledger_stop(MPI_COMM_WORLD, -1);                                                                  \
    } while (0)

static uint64_t hash_of(MPI_Comm comm)
{
    return record_of(comm)->group_hash;
}

/* Ends comm, which a message keeps readable: the call has counted on it. */
static void ended(MPI_Comm comm, int class)
{
    const struct ompi_mqs_collectives *record = record_of(comm);
    MPI_Comm handle = comm;
    MPI_Request requests[2];
    int in = 0, out = 1;

    MPI_Irecv(&in, 1, MPI_INT, size - 1 - rank, 7, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, size - 1 - rank, 7, comm, &requests[1]);
    if (OMPI_MQS_comm_free == class) {
        MPI_Comm_free(&handle);
    } else {
        MPI_Comm_disconnect(&handle);
    }
    CHECK(record_of(comm) == record, "%s ended a communicator in use", class_names[class]);
    CHECK(1 == counts_of(record, class).calls && 0 == ompi_mqs_active(counts_of(record, class)),
          "%s: %u calls, %u active", class_names[class], counts_of(record, class).calls,
          ompi_mqs_active(counts_of(record, class)));
    CHECK(newest(record).collective == class, "%s", class_names[class]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
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
#if OMPI_MAJOR_VERSION >= 5
    ON(MPI_COMM_WORLD, comm_idup_with_info, MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &later, &request);
       MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(comm_create_from_group,
               MPI_Comm_create_from_group(group, "mpiq", info, MPI_ERRORS_RETURN, &made));
#endif
    ended(dup, OMPI_MQS_comm_free);
    ended(with_info, OMPI_MQS_comm_disconnect);
    CHECK(0 == inside_of(thread_of(my_tid())), "the thread is in a communicator that is gone");
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
    ON_PROCESS(win_free, MPI_Win_free(&allocated));
    ON_PROCESS(win_free, MPI_Win_free(&shared));
    ON_PROCESS(win_free, MPI_Win_free(&dynamic));
    MPI_Info_free(&info);
}

static void files(void)
{
    char name[] = "/tmp/mpiq-constructors-XXXXXX";
    MPI_Request request;
    MPI_Info info;
    MPI_File file;
    int buffer[4] = {0}, made = -1;

    if (0 == rank) {
        made = mkstemp(name);
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    ledger_call(MPI_COMM_WORLD, OMPI_MQS_bcast, 1, sizeof(name), "MPI_CHAR", "", 0);
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
    MPI_Info_create(&info);
    ON_PROCESS(file_set_info, MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    ON_PROCESS(file_seek_shared, MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ON_PROCESS(file_write_ordered, MPI_File_write_ordered(file, buffer, 1, MPI_INT, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_ordered, MPI_File_read_ordered(file, buffer, 1, MPI_INT, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_at_all_begin, MPI_File_read_at_all_begin(file, 0, buffer, 1, MPI_INT));
    ON_PROCESS(file_read_at_all_end, MPI_File_read_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_write_at_all_begin, MPI_File_write_at_all_begin(file, 0, buffer, 1, MPI_INT));
    ON_PROCESS(file_write_at_all_end, MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_all_begin, MPI_File_read_all_begin(file, buffer, 1, MPI_INT));
    ON_PROCESS(file_read_all_end, MPI_File_read_all_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_write_all_begin, MPI_File_write_all_begin(file, buffer, 1, MPI_INT));
    ON_PROCESS(file_write_all_end, MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_write_ordered_begin, MPI_File_write_ordered_begin(file, buffer, 1, MPI_INT));
    ON_PROCESS(file_write_ordered_end, MPI_File_write_ordered_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_read_ordered_begin, MPI_File_read_ordered_begin(file, buffer, 1, MPI_INT));
    ON_PROCESS(file_read_ordered_end, MPI_File_read_ordered_end(file, buffer, MPI_STATUS_IGNORE));
    ON_PROCESS(file_iread_at_all, MPI_File_iread_at_all(file, 0, buffer, 1, MPI_INT, &request);
               MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(file_iwrite_at_all, MPI_File_iwrite_at_all(file, 0, buffer, 1, MPI_INT, &request);
               MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(file_iread_all, MPI_File_iread_all(file, buffer, 1, MPI_INT, &request);
               MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(file_iwrite_all, MPI_File_iwrite_all(file, buffer, 1, MPI_INT, &request);
               MPI_Wait(&request, MPI_STATUS_IGNORE));
    ON_PROCESS(file_close, MPI_File_close(&file));
    if (0 <= made) {
        close(made);
        unlink(name);
    }
}

/* The other end of a socket between ranks 0 and 1; -1 elsewhere. */
static int socket_between(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0), end = -1;

    if (0 == rank && (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
                      getsockname(listener, (struct sockaddr *)&address, &length))) {
        perror("constructors: no socket");
        exit(2);
    }
    MPI_Bcast(&address, sizeof(address), MPI_BYTE, 0, MPI_COMM_WORLD);
    ledger_call(MPI_COMM_WORLD, OMPI_MQS_bcast, 1, sizeof(address), "MPI_BYTE", "", 0);
    if (0 == rank) {
        end = accept(listener, NULL, NULL);
    } else if (1 == rank) {
        end = connect(listener, (struct sockaddr *)&address, length) ? -1 : dup(listener);
    }
    close(listener);
    return end;
}

/* Between processes that did not start together, or as if. */
static void dynamic(const char *self)
{
    char port[MPI_MAX_PORT_NAME] = "", child[] = "child", *argv[] = {child, NULL}, **argvs[] = {argv};
    char *command = strdup(self);
    MPI_Info infos[] = {MPI_INFO_NULL};
    MPI_Comm other;
    int processes = 1, end;

    ON_ROOTED(MPI_COMM_WORLD, comm_spawn, 0,
              MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE));
    MPI_Comm_disconnect(&other);
    ON_ROOTED(MPI_COMM_WORLD, comm_spawn_multiple, 0,
              MPI_Comm_spawn_multiple(1, &command, argvs, &processes, infos, 0, MPI_COMM_WORLD, &other,
                                      MPI_ERRCODES_IGNORE));
    MPI_Comm_disconnect(&other);
    if (0 == rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
    ledger_call(MPI_COMM_WORLD, OMPI_MQS_bcast, 1, sizeof(port), "MPI_CHAR", "", 0);
    if (0 == rank) {
        ON_ROOTED(MPI_COMM_SELF, comm_accept, 0,
                  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    } else if (1 == rank) {
        ON_ROOTED(MPI_COMM_SELF, comm_connect, 0,
                  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    }
    if (rank < 2) {
        MPI_Comm_disconnect(&other);
    }
    end = socket_between();
    if (rank < 2) {
        ON_PROCESS(comm_join, MPI_Comm_join(end, &other));
        MPI_Comm_disconnect(&other);
        close(end);
    }
    free(command);
}

/* Spawned by dynamic(). */
static int be_a_child(void)
{
    MPI_Comm parent;

    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    int failed;

    if (argc > 1 && 0 == strcmp(argv[1], "child")) {
        return be_a_child();
    }
    CHECK(OMPI_MQS_PHASE_LOADED == root()->phase, "phase %u", root()->phase);
    CHECK(0 == memcmp(root()->magic, OMPI_MQS_MAGIC, 8), "magic");
    CHECK((uint32_t)getpid() == root()->pid, "pid %u", root()->pid);
    MPI_Init(&argc, &argv);
    ledger_process(OMPI_MQS_init);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(OMPI_MQS_PHASE_RUNNING == root()->phase, "phase %u", root()->phase);
    CHECK((uint32_t)rank == root()->vpid, "vpid %u", root()->vpid);
    CHECK((uint32_t)size == root()->world_size, "size %u", root()->world_size);
    CHECK(0 == strcmp("ob1", root()->pml), "pml %s", root()->pml);
    CHECK('\0' != root()->nspace[0], "no namespace");
    CHECK(1 == counts_of(process_record(), OMPI_MQS_init).calls, "MPI_Init");
    CHECK(0 == ompi_mqs_active(counts_of(process_record(), OMPI_MQS_init)), "MPI_Init is active");
    /* First: 4.1.4 crashes in it, patched or not, where communicators are left and a file was open. */
    dynamic(argv[0]);
    communicators();
    windows();
    files();
    if (0 == rank) {
        printf("stops: %d\n", stops);
        fflush(stdout);
    }
    failed = finish("constructors");
    if (OMPI_MQS_PHASE_FINALIZED != root()->phase ||
        1 != counts_of(process_record(), OMPI_MQS_finalize).calls ||
        0 != ompi_mqs_active(counts_of(process_record(), OMPI_MQS_finalize))) {
        fprintf(stderr, "constructors: after MPI_Finalize: phase %u, %u calls, %u active\n", root()->phase,
                counts_of(process_record(), OMPI_MQS_finalize).calls,
                ompi_mqs_active(counts_of(process_record(), OMPI_MQS_finalize)));
        failed = 1;
    }
    return failed;
}
