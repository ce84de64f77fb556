/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "made_up_mpi.h"
#include "ompi_mqs.h"
#include "transcript.h"
#include "scenes.h"

static const struct {
    int pointer_size;
    bool big_endian;
    bool line5;
    bool gaps;
} variants[SCENES_MADE_UP] = {
    {8, false, false, false}, {8, false, true, true},  {4, false, false, true},
    {4, true, true, false},   {8, true, false, false}, {8, true, true, true},
};

static mqs_taddr_t member(struct made_up_mpi *mpi, const char *structure, const char *name)
{
    return (mqs_taddr_t)made_up_offset(mpi->memory, structure, name);
}

static void put_sparse(struct made_up_mpi *mpi, int index, unsigned flags)
{
    mqs_taddr_t group = made_up_mpi_group(mpi, 4, mpi->procs);
    mqs_taddr_t sparse = group + member(mpi, "ompi_group_t", "sparse_data");
    mqs_taddr_t list = made_up_allocate(mpi->memory, 16);

    made_up_set(mpi->memory, group, "ompi_group_t", "grp_flags", flags);
    made_up_set(mpi->memory, group, "ompi_group_t", "grp_parent_group_ptr",
                made_up_mpi_group(mpi, mpi->size, mpi->procs));
    if (flags == 0x10) {
        made_up_set(mpi->memory, sparse, "ompi_group_strided_data_t", "grp_strided_stride", 2);
    } else if (flags == 0x08) {
        made_up_put(mpi->memory, list + 4, 4, 4);
        made_up_set(mpi->memory, sparse, "ompi_group_sporadic_data_t", "grp_sporadic_list", list);
        made_up_set(mpi->memory, sparse, "ompi_group_sporadic_data_t", "grp_sporadic_list_len", 1);
    } else {
        made_up_put(mpi->memory, list, 1, 0xf0);
        made_up_set(mpi->memory, sparse, "ompi_group_bitmap_data_t", "grp_bitmap_array", list);
        made_up_set(mpi->memory, sparse, "ompi_group_bitmap_data_t", "grp_bitmap_array_len", 1);
    }
    made_up_mpi_communicator(mpi, index, "MPI COMMUNICATOR 9 CREATE FROM 0", group, 0, 0);
}

#define PUT(address, type, field, value)                               \
    made_up_put(mpi->memory, (address) + offsetof(struct type, field), \
                (int)sizeof(((struct type *)0)->field), (uint64_t)(value))

/* A root, one thread in a wait, calls in a ring and one outstanding: a patched library without tables. */
static void put_patched(struct made_up_mpi *mpi, mqs_taddr_t request)
{
    mqs_taddr_t root = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_root));
    mqs_taddr_t thread = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_thread));
    mqs_taddr_t state = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_collectives));
    mqs_taddr_t outstanding = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_outstanding));
    mqs_taddr_t table = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_table));
    mqs_taddr_t row = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_row));
    mqs_taddr_t array = made_up_allocate(mpi->memory, 16);
    mqs_taddr_t wait = thread + offsetof(struct ompi_mqs_thread, stack);
    mqs_taddr_t call = made_up_allocate(mpi->memory, OMPI_MQS_RING * sizeof(struct ompi_mqs_call));
    mqs_taddr_t process = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_collectives));
    mqs_taddr_t inside = made_up_allocate(mpi->memory, 8);
    int width = made_up_size(mpi->memory, "pointer");

    made_up_put_bytes(mpi->memory, root, OMPI_MQS_MAGIC, 8);
    PUT(root, ompi_mqs_root, byte_order, OMPI_MQS_BYTE_ORDER);
    PUT(root, ompi_mqs_root, version_major, OMPI_MQS_VERSION_MAJOR);
    PUT(root, ompi_mqs_root, size, sizeof(struct ompi_mqs_root));
    PUT(root, ompi_mqs_root, pointer_size, width);
    PUT(root, ompi_mqs_root, recording, 1);
    PUT(root, ompi_mqs_root, phase, OMPI_MQS_PHASE_RUNNING);
    PUT(root, ompi_mqs_root, jobid, MADE_UP_JOBID);
    PUT(root, ompi_mqs_root, world_size, mpi->size);
    PUT(root, ompi_mqs_root, threads, thread);
    PUT(root, ompi_mqs_root, process, process);
    PUT(root, ompi_mqs_root, tables, table);
    made_up_symbol(mpi->memory, "ompi_mqs_root", root);

    PUT(table, ompi_mqs_table, size, sizeof(struct ompi_mqs_table));
    PUT(table, ompi_mqs_table, row_size, sizeof(struct ompi_mqs_row));
    PUT(table, ompi_mqs_table, row_count, 1);
    PUT(table, ompi_mqs_table, rows, row);
    made_up_put_text(mpi->memory, row, "ompi_op_t");
    PUT(row, ompi_mqs_row, size, 80);

    PUT(state, ompi_mqs_collectives, size, sizeof(struct ompi_mqs_collectives));
    PUT(process, ompi_mqs_collectives, size, sizeof(struct ompi_mqs_collectives));
    PUT(process, ompi_mqs_collectives, classes, OMPI_MQS_HOT);
    PUT(state, ompi_mqs_collectives, classes, OMPI_MQS_HOT);
    PUT(state, ompi_mqs_collectives, ring, call);
    PUT(state, ompi_mqs_collectives, comm, mpi->world);
    PUT(state, ompi_mqs_collectives, position, 3 * OMPI_MQS_POSITION);
    PUT(state, ompi_mqs_collectives, outstanding, outstanding);
    for (unsigned i = 0; i < 3; i++, call += sizeof(struct ompi_mqs_call)) {
        PUT(call, ompi_mqs_call, collective, i);
        PUT(call, ompi_mqs_call, count, 5);
        PUT(call, ompi_mqs_call, datatype, mpi->integer);
    }
    PUT(outstanding, ompi_mqs_outstanding, request, request);

    PUT(thread, ompi_mqs_thread, size, sizeof(struct ompi_mqs_thread));
    PUT(thread, ompi_mqs_thread, tid, 77);
    PUT(thread, ompi_mqs_thread, depth, 2);
    PUT(thread, ompi_mqs_thread, inside, inside);
    made_up_put(mpi->memory, inside, 8, state);
    PUT(wait, ompi_mqs_wait, kind, OMPI_MQS_WAIT_ALL);
    PUT(wait, ompi_mqs_wait, requests, array);
    PUT(wait, ompi_mqs_wait, count, 2);
    PUT(wait, ompi_mqs_wait, need, 2);
    made_up_put(mpi->memory, array, width, request);
    made_up_put(mpi->memory, array + (mqs_taddr_t)width, width, mpi->self);
    wait += sizeof(struct ompi_mqs_wait);
    PUT(wait, ompi_mqs_wait, kind, OMPI_MQS_WAIT_RECEIVE);
    PUT(wait, ompi_mqs_wait, comm, mpi->world);
    PUT(wait, ompi_mqs_wait, peer, 1);
}

/* Partitioned ones in each state, the last with a point-to-point request of its own. */
static void put_partitioned(struct made_up_mpi *mpi, mqs_taddr_t request)
{
    static const int flags[] = {0, -1, -2, 1, 0, 0};

    for (int i = 0; i < 8; i++) {
        made_up_mpi_partitioned(mpi, &(struct made_up_partitioned){.send = (i & 1) != 0,
                                                                   .set_up = (i & 2) != 0,
                                                                   .restarted = i == 5,
                                                                   .complete = i == 6,
                                                                   .comm = mpi->world,
                                                                   .peer = i,
                                                                   .tag = i,
                                                                   .parts = i < 7 ? 6 : 1,
                                                                   .flags = flags,
                                                                   .inner = {request, request}});
    }
}

static struct made_up *make(int index)
{
    struct made_up_mpi *mpi = made_up_mpi_create(variants[index].pointer_size, variants[index].big_endian,
                                                 variants[index].line5, 16, 0, 24);
    mqs_taddr_t sync = made_up_new(mpi->memory, "ompi_wait_sync_t");
    struct made_up *memory;
    mqs_taddr_t heads[2];
    mqs_taddr_t request;
    mqs_taddr_t inter;
    mqs_taddr_t peer;
    mqs_taddr_t nbc;

    if (variants[index].gaps) {
        made_up_set_gap(mpi->memory, 4096);
    }
    put_sparse(mpi, 3, 0x10);
    put_sparse(mpi, 4, 0x08);
    put_sparse(mpi, 5, 0x20);
    inter = made_up_mpi_communicator(mpi, 7, "bridge", made_up_mpi_group(mpi, 2, mpi->procs),
                                     made_up_mpi_group(mpi, 2, mpi->procs + 2), 0);
    made_up_set(mpi->memory, inter, "ompi_communicator_t", "c_local_comm",
                made_up_mpi_communicator(mpi, 6, "", made_up_mpi_group(mpi, 2, mpi->procs), 0, 0));
    made_up_set(mpi->memory, sync, "ompi_wait_sync_t", "count", 1);
    for (int i = 0; i < 8; i++) {
        request = made_up_mpi_request(mpi, &(struct made_up_request){.send = i % 2 == 0,
                                                                     .comm = i < 6 ? mpi->world : inter,
                                                                     .peer = i % 2,
                                                                     .tag = i == 3 ? -27 : i,
                                                                     .mode = i / 2,
                                                                     .count = 10,
                                                                     .complete = i == 5 ? sync : 0,
                                                                     .sequence = (uint64_t)(8 - i)});
    }
    peer = made_up_mpi_peer(mpi, mpi->world, 1);
    made_up_mpi_append(mpi, peer + member(mpi, "mca_pml_ob1_comm_proc_t", "specific_receives"), request);
    for (int i = 0; i < 4; i++) {
        made_up_mpi_message(mpi, mpi->world, 1 + i % 2, i, i == 2 ? 1 << 20 : 100, 1 + i / 2);
    }
    for (int i = 0; i < 2; i++) {
        heads[i] = made_up_mpi_fragment(mpi, 2, 50, 10, 20 + 5 * i);
        made_up_set(mpi->memory, heads[i], "mca_pml_ob1_recv_frag_t", "range",
                    made_up_mpi_fragment(mpi, 2, 51, 10, 21 + 5 * i));
    }
    made_up_set(mpi->memory, heads[0], "opal_list_item_t", "opal_list_next", heads[1]);
    made_up_set(mpi->memory, heads[1], "opal_list_item_t", "opal_list_next", heads[0]);
    made_up_set(mpi->memory, made_up_mpi_peer(mpi, mpi->world, 2), "mca_pml_ob1_comm_proc_t",
                "frags_cant_match", heads[0]);
    nbc = made_up_new(mpi->memory, "ompi_coll_libnbc_request_t");
    made_up_set(mpi->memory, nbc, "ompi_coll_libnbc_request_t", "comm", mpi->world);
    made_up_set(mpi->memory, nbc, "ompi_coll_libnbc_request_t", "tag", (uint32_t)-27);
    made_up_mpi_append(mpi, mpi->libnbc + member(mpi, "ompi_coll_libnbc_component_t", "active_requests"),
                       nbc);
    if (index % 2 == 1) {
        put_patched(mpi, request);
    }
    if (variants[index].line5) {
        put_partitioned(mpi, request);
    }
    free(mpi->procs);
    memory = mpi->memory;
    free(mpi);
    return memory;
}

int scene_count(void)
{
    int count = SCENES_MADE_UP;

    for (const struct transcript *transcript = transcripts; transcript->name != NULL; transcript++) {
        count++;
    }
    return count;
}

struct made_up *scene_get(int index)
{
    static struct made_up *scenes[64];

    if (scenes[index] == NULL) {
        scenes[index] = index < SCENES_MADE_UP
                            ? make(index)
                            : made_up_from_transcript(transcripts[index - SCENES_MADE_UP].text);
    }
    return scenes[index];
}
