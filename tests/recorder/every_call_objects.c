/* SPDX-License-Identifier: BSD-3-Clause */
/* every_call_objects - communicators, windows, files, and what is recorded only for --check. */
#include "every_call.h"

#include <stdlib.h>
#include <unistd.h>

#define W MPI_COMM_WORLD
#define INFO MPI_INFO_NULL
static MPI_Info info; /* where MPI_INFO_NULL will not do */

/* ---- communicators ---------------------------------------------------------------------------------- */

#define FREED(comm) PLAIN(MPI_Comm_free(comm))

static void topologies(void)
{
    MPI_Comm cart, part;
    static const int dims[] = {2}, periods[] = {0}, keep[] = {1}, index[] = {1, 2}, edges[] = {1, 0},
                     degree[] = {1};
    int mine[] = {rank}, others[] = {other}, weights[] = {1};
    CALL(WORLD, NONE, NONE, NONE, MPI_Cart_create(W, 1, dims, periods, 0, &cart));
    CALL(WORLD, NONE, NONE, NONE, MPI_Graph_create(W, 2, index, edges, 0, &part));
    FREED(&part);
    CALL(WORLD, NONE, NONE, NONE, MPI_Dist_graph_create(W, 1, mine, degree, others, weights, INFO, 0, &part));
    FREED(&part);
    CALL(WORLD, NONE, NONE, NONE,
         MPI_Dist_graph_create_adjacent(W, 1, others, weights, 1, others, weights, INFO, 0, &part));
    FREED(&part);
    CALL("cart", NONE, NONE, NONE, MPI_Comm_set_name(cart, "cart"));
    CALL("cart", NONE, NONE, NONE, MPI_Cart_sub(cart, keep, &part));
    FREED(&part);
}

void part_communicators(void)
{
    MPI_Comm copy, half, inter;
    MPI_Group group;
    MPI_Request request;
    MPI_Info_create(&info);
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_dup_with_info(row, INFO, &copy));
    FREED(&copy);
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_idup(row, &copy, &request));
    CALL(ROW, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    PLAIN(MPI_Comm_disconnect(&copy));
#if MPI_VERSION >= 4
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_idup_with_info(row, INFO, &copy, &request));
    CALL(ROW, NONE, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    FREED(&copy);
#endif
    MPI_Comm_group(row, &group);
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_create(row, group, &copy));
    FREED(&copy);
    CALL(ROW, NONE, 7, NONE, MPI_Comm_create_group(row, group, 7, &copy));
    FREED(&copy);
    MPI_Group_free(&group);
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_split_type(row, MPI_COMM_TYPE_SHARED, 0, INFO, &copy));
    FREED(&copy);
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_set_info(row, info));
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_split(row, rank, 0, &half));
    CALL("half", NONE, NONE, NONE, MPI_Comm_set_name(half, "half"));
    CALL("half", NONE, 8, NONE, MPI_Intercomm_create(half, 0, W, other, 8, &inter));
    CALL("inter", NONE, NONE, NONE, MPI_Comm_set_name(inter, "inter"));
    CALL("inter", NONE, NONE, NONE, MPI_Intercomm_merge(inter, rank, &copy));
    FREED(&copy);
    PLAIN(MPI_Comm_get_parent(&copy));
    topologies();
}

/* ---- windows ---------------------------------------------------------------------------------------- */

static void one_sided(MPI_Win window)
{
    int out[8] = {0}, in[8] = {0}, result[8], compare = 0;
    MPI_Request request;
    CALL(WORLD, other, NONE, NONE, MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window));
    CALL(WORLD, other, NONE, 4, N(Put)(out, 1, MPI_INT, other, 0, 1, MPI_INT, window));
    CALL(WORLD, other, NONE, NONE, MPI_Win_flush(other, window));
    CALL(WORLD, other, NONE, 8, N(Get)(in, 2, MPI_INT, other, 0, 2, MPI_INT, window));
    CALL(WORLD, other, NONE, NONE, MPI_Win_flush_local(other, window));
    CALL(WORLD, other, NONE, 12, N(Accumulate)(out, 3, MPI_INT, other, 0, 3, MPI_INT, MPI_SUM, window));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_flush_all(window));
    CALL(WORLD, other, NONE, 16,
         N(Get_accumulate)(out, 4, MPI_INT, result, 4, MPI_INT, other, 0, 4, MPI_INT, MPI_SUM, window));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_flush_local_all(window));
    CALL(WORLD, other, NONE, 4, N(Rput)(out, 1, MPI_INT, other, 0, 1, MPI_INT, window, &request));
    CALL(WORLD, other, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, other, NONE, 8, N(Rget)(in, 2, MPI_INT, other, 0, 2, MPI_INT, window, &request));
    CALL(WORLD, other, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, other, NONE, 12,
         N(Raccumulate)(out, 3, MPI_INT, other, 0, 3, MPI_INT, MPI_SUM, window, &request));
    CALL(WORLD, other, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, other, NONE, 16,
         N(Rget_accumulate)(out, 4, MPI_INT, result, 4, MPI_INT, other, 0, 4, MPI_INT, MPI_SUM, window,
                            &request));
    CALL(WORLD, other, NONE, NONE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(WORLD, other, NONE, 4, MPI_Fetch_and_op(out, result, MPI_INT, other, 0, MPI_SUM, window));
    CALL(WORLD, other, NONE, 4, MPI_Compare_and_swap(out, &compare, result, MPI_INT, other, 0, window));
    CALL(WORLD, other, NONE, NONE, MPI_Win_unlock(other, window));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_lock_all(0, window));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_unlock_all(window));
}

static void epochs(MPI_Win window)
{
    MPI_Group world, one;
    int flag = 0;
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_fence(0, window));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    MPI_Comm_group(W, &world);
    MPI_Group_incl(world, 1, &other, &one);
    for (int i = 0; i < 2; i++) {
        CALL(WORLD, NONE, NONE, NONE, MPI_Win_post(one, 0, window));
        CALL(WORLD, NONE, NONE, NONE, MPI_Win_start(one, 0, window));
        CALL(WORLD, NONE, NONE, NONE, MPI_Win_complete(window));
        BARRIER();
        if (i == 0)
            CALL(WORLD, NONE, NONE, NONE, MPI_Win_wait(window));
        while (i == 1 && !flag)
            CALL(WORLD, NONE, NONE, NONE, MPI_Win_test(window, &flag));
    }
    MPI_Group_free(&one);
    MPI_Group_free(&world);
}

void part_windows(void)
{
    static int memory[64];
    void *base;
    int key;
    MPI_Win window, second;
    MPI_Info_create(&info);
    CALL(WORLD, NONE, NONE, NONE, N(Win_create)(memory, sizeof memory, sizeof *memory, INFO, W, &window));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_set_name(window, "field"));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_set_info(window, info));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_set_attr(window, key, NULL));
    MPI_Win_free_keyval(&key);
    epochs(window);
    one_sided(window);
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_free(&window));
    CALL(WORLD, NONE, NONE, NONE, N(Win_allocate)(64, 4, INFO, W, &base, &second));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_free(&second));
    CALL(WORLD, NONE, NONE, NONE, N(Win_allocate_shared)(64, 4, INFO, W, &base, &second));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_free(&second));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_create_dynamic(INFO, W, &second));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_free(&second));
}

/* ---- files ------------------------------------------------------------------------------------------ */

/* A collective file call: it counts on the communicator that the file was opened on. */
#define ON_FILE(...) CALL(WORLD, NONE, NONE, NONE, __VA_ARGS__)

static void blocking_files(MPI_File file)
{
    static char data[64];
    MPI_Status status;
    PLAIN(N(File_write)(file, data, 4, MPI_BYTE, &status));
    PLAIN(N(File_write_at)(file, 4 * rank, data, 4, MPI_BYTE, &status));
    PLAIN(N(File_read)(file, data, 4, MPI_BYTE, &status));
    PLAIN(N(File_read_at)(file, 4 * rank, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_write_all)(file, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_read_all)(file, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_write_at_all)(file, 4 * rank, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_read_at_all)(file, 4 * rank, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_write_all_begin)(file, data, 4, MPI_BYTE));
    ON_FILE(MPI_File_write_all_end(file, data, &status));
    ON_FILE(N(File_read_all_begin)(file, data, 4, MPI_BYTE));
    ON_FILE(MPI_File_read_all_end(file, data, &status));
    ON_FILE(N(File_write_at_all_begin)(file, 4 * rank, data, 4, MPI_BYTE));
    ON_FILE(MPI_File_write_at_all_end(file, data, &status));
    ON_FILE(N(File_read_at_all_begin)(file, 4 * rank, data, 4, MPI_BYTE));
    ON_FILE(MPI_File_read_at_all_end(file, data, &status));
    ON_FILE(MPI_File_sync(file));
}

static void shared_pointer(MPI_File file)
{
    static char data[64];
    MPI_Status status;
    MPI_Request request;
    ON_FILE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    PLAIN(N(File_write_shared)(file, data, 4, MPI_BYTE, &status));
    PLAIN(N(File_read_shared)(file, data, 4, MPI_BYTE, &status));
    PLAIN(N(File_iwrite_shared)(file, data, 4, MPI_BYTE, &request));
    PLAIN(MPI_Wait(&request, &status));
    PLAIN(N(File_iread_shared)(file, data, 4, MPI_BYTE, &request));
    PLAIN(MPI_Wait(&request, &status));
    ON_FILE(N(File_write_ordered)(file, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_read_ordered)(file, data, 4, MPI_BYTE, &status));
    ON_FILE(N(File_write_ordered_begin)(file, data, 4, MPI_BYTE));
    ON_FILE(MPI_File_write_ordered_end(file, data, &status));
    ON_FILE(N(File_read_ordered_begin)(file, data, 4, MPI_BYTE));
    ON_FILE(MPI_File_read_ordered_end(file, data, &status));
}

#define ENDED() PLAIN(MPI_Wait(&request, &status))

static void nonblocking_files(MPI_File file)
{
    static char data[64];
    MPI_Status status;
    MPI_Request request;
    PLAIN(N(File_iwrite)(file, data, 4, MPI_BYTE, &request));
    ENDED();
    PLAIN(N(File_iread)(file, data, 4, MPI_BYTE, &request));
    ENDED();
    PLAIN(N(File_iwrite_at)(file, 0, data, 4, MPI_BYTE, &request));
    ENDED();
    PLAIN(N(File_iread_at)(file, 0, data, 4, MPI_BYTE, &request));
    ENDED();
    ON_FILE(N(File_iwrite_all)(file, data, 4, MPI_BYTE, &request));
    ON_FILE(MPI_Wait(&request, &status));
    ON_FILE(N(File_iread_all)(file, data, 4, MPI_BYTE, &request));
    ON_FILE(MPI_Wait(&request, &status));
    ON_FILE(N(File_iwrite_at_all)(file, 0, data, 4, MPI_BYTE, &request));
    ON_FILE(MPI_Wait(&request, &status));
    ON_FILE(N(File_iread_at_all)(file, 0, data, 4, MPI_BYTE, &request));
    ON_FILE(MPI_Wait(&request, &status));
}

void part_files(void)
{
    MPI_File file;
    const char *name = getenv("EVERY_CALL_FILE");
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    MPI_Info_create(&info);
    CALL(WORLD, NONE, NONE, NONE, MPI_File_open(W, name, mode, INFO, &file));
    ON_FILE(MPI_File_set_size(file, 4096));
    ON_FILE(MPI_File_preallocate(file, 4096));
    ON_FILE(MPI_File_set_info(file, info));
    ON_FILE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", INFO));
    ON_FILE(MPI_File_set_atomicity(file, 0));
    blocking_files(file);
    nonblocking_files(file);
    shared_pointer(file);
    ON_FILE(MPI_File_close(&file));
}

/* ---- what is recorded for --check ------------------------------------------------------------------- */

static void add(void *in, void *inout, count_type *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void make_types(void)
{
    static const count_type lengths[] = {1, 1}, places[] = {0, 2}, sizes[] = {4, 4}, parts[] = {2, 2};
#ifdef LARGE
    static const MPI_Count starts[] = {0, 0}, bytes[] = {0, 8};
#else
    static const int starts[] = {0, 0};
    static const MPI_Aint bytes[] = {0, 8};
#endif
    static const int distributions[] = {MPI_DISTRIBUTE_BLOCK}, arguments[] = {MPI_DISTRIBUTE_DFLT_DARG},
                     grid[] = {2};
    static const MPI_Datatype members[] = {MPI_INT, MPI_FLOAT};
    MPI_Datatype type, copy;
    PLAIN(N(Type_contiguous)(2, MPI_INT, &type));
    CALL(NO_COMM, NONE, NONE, NONE, MPI_Type_dup(type, &copy));
    PLAIN(MPI_Type_set_name(copy, "pair"));
    PLAIN(MPI_Type_free(&copy));
    PLAIN(MPI_Type_free(&type));
    PLAIN(N(Type_vector)(2, 1, 2, MPI_INT, &type));
    PLAIN(N(Type_create_hvector)(2, 1, 8, MPI_INT, &type));
    PLAIN(N(Type_indexed)(2, lengths, places, MPI_INT, &type));
    PLAIN(N(Type_create_hindexed)(2, lengths, bytes, MPI_INT, &type));
    PLAIN(N(Type_create_indexed_block)(2, 1, places, MPI_INT, &type));
    PLAIN(N(Type_create_hindexed_block)(2, 1, bytes, MPI_INT, &type));
    PLAIN(N(Type_create_struct)(2, lengths, bytes, members, &type));
    PLAIN(N(Type_create_subarray)(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    PLAIN(N(Type_create_darray)(2, rank, 1, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT,
                                &type));
    PLAIN(N(Type_create_resized)(MPI_INT, 0, 8, &type));
}

static void make_groups(void)
{
    static int memory;
    MPI_Group world, one, result;
    MPI_Comm half, inter;
    MPI_Win window;
    MPI_File file;
    int range[1][3] = {{0, 0, 1}}, first[] = {0};
    CALL(WORLD, NONE, NONE, NONE, MPI_Comm_group(W, &world));
    PLAIN(MPI_Group_incl(world, 1, first, &one));
    PLAIN(MPI_Group_excl(world, 1, first, &result));
    PLAIN(MPI_Group_range_incl(world, 1, range, &result));
    PLAIN(MPI_Group_range_excl(world, 1, range, &result));
    PLAIN(MPI_Group_union(world, one, &result));
    PLAIN(MPI_Group_intersection(world, one, &result));
    PLAIN(MPI_Group_difference(world, one, &result));
    PLAIN(MPI_Group_free(&one));
    CALL(WORLD, NONE, NONE, NONE, MPI_Comm_split(W, rank, 0, &half));
    CALL("half", NONE, NONE, NONE, MPI_Comm_set_name(half, "half"));
    CALL("half", NONE, 8, NONE, MPI_Intercomm_create(half, 0, W, other, 8, &inter));
    CALL("inter", NONE, NONE, NONE, MPI_Comm_set_name(inter, "inter"));
    CALL("inter", NONE, NONE, NONE, MPI_Comm_remote_group(inter, &result));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_create(&memory, sizeof memory, 1, INFO, W, &window));
    PLAIN(MPI_Win_get_group(window, &result));
    CALL(WORLD, NONE, NONE, NONE, MPI_Win_free(&window));
    CALL(WORLD, NONE, NONE, NONE,
         MPI_File_open(W, getenv("EVERY_CALL_FILE"), MPI_MODE_CREATE | MPI_MODE_RDWR, INFO, &file));
    PLAIN(MPI_File_get_group(file, &result));
    ON_FILE(MPI_File_close(&file));
}

void part_objects(void)
{
    MPI_Op op;
    make_types();
    make_groups();
    PLAIN(N(Op_create)(add, 1, &op));
    PLAIN(MPI_Op_free(&op));
}
