/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_record - breaks the recorder's records of a process and has all of them read (FUZZ_WORK,
 * changes.h).
 *
 * The records are made up here as the recorder would have written them.  Input: changes (changes.h).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "mpiq_record.h"

enum { ARENA = 400 << 10, FUNCTIONS = 24, MEMBERS = 8 };

/* ---- the records ------------------------------------------------------------------------------------- */

static unsigned char arena[ARENA];
static uint32_t used = 64;
static struct mpiq_record_root root;
static uint64_t cycles = 1000;

static void *record(size_t size, uint32_t *ret)
{
    void *address = arena + used;
    *ret = used;
    used += (uint32_t)((size + 7) & ~(size_t)7);
    if (used > ARENA) {
        abort();
    }
    return address;
}

static void put_functions(void)
{
    struct mpiq_record_function *list = record(FUNCTIONS * sizeof *list, &root.functions);
    root.function_count = FUNCTIONS;
    for (int i = 0; i < FUNCTIONS; i++) {
        memcpy(list[i].name, "MPI_Function", 13);
        list[i].family = (uint8_t)(i % MPIQ_RECORD_FAMILY_COUNT);
        list[i].collective = list[i].family == MPIQ_RECORD_COLLECTIVE ? OMPI_MQS_bcast : -1;
    }
}

/* A thread whose newest call is open, of that family; before it lie calls of all others. */
static void put_thread(unsigned family, uint32_t comm)
{
    uint32_t offset;
    struct mpiq_record_thread *thread = record(sizeof *thread, &offset);
    thread->next = root.threads;
    root.threads = offset;
    thread->tid = 100 + family;
    thread->calls = 300;
    thread->requests = root.arena + 64;
    thread->request_count = 3;
    thread->first_request = 0x1001;
    thread->receive_peer = 2;
    thread->window = 0x77;
    for (unsigned i = 0; i < MPIQ_RECORD_HISTORY; i++) {
        struct mpiq_record_call *call = &thread->history[i];
        bool open = i == (thread->calls - 1) % MPIQ_RECORD_HISTORY;
        call->begin = cycles++;
        call->end = open ? 0 : cycles++;
        call->comm = comm;
        call->comm_id = 7;
        call->peer = (int32_t)(i % 10) - 4;
        call->tag = (int32_t)(i % 5) - 1;
        call->function = (uint16_t)(open ? family : i % FUNCTIONS);
    }
}

static uint32_t put_group(void)
{
    uint32_t offset;
    struct mpiq_record_group *group = record(sizeof *group + 2 * sizeof *group->runs, &offset);
    group->count = MEMBERS;
    group->hash = 99;
    group->run_count = 2;
    group->users = 1;
    group->runs[0] = (struct mpiq_record_run){.first = 0, .count = 5, .stride = 2};
    group->runs[1] = (struct mpiq_record_run){.first = MPIQ_RECORD_FOREIGN, .count = 3};
    group->next = root.groups;
    root.groups = offset;
    return offset;
}

static void put_channel(struct mpiq_record_comm *comm, int32_t peer)
{
    uint32_t offset;
    struct mpiq_record_channel *channel = record(sizeof *channel, &offset);
    channel->next = comm->channels;
    comm->channels = offset;
    comm->channel_count++;
    channel->peer = peer;
    channel->sent = 9;
    channel->received = 4;
    channel->tags[0] = (struct mpiq_record_tag){.tag = 3, .used = 1, .sent = 5, .received = 2};
    for (int side = 0; side < 2; side++) {
        struct mpiq_record_cell *cells = record(MPIQ_RECORD_CELLS * sizeof *cells,
                                                side ? &channel->received_sketch : &channel->sent_sketch);
        cells[5].count = 4;
    }
}

static uint32_t put_comm(bool inter)
{
    uint32_t offset;
    struct mpiq_record_comm *comm = record(sizeof *comm, &offset);
    comm->next = root.comms;
    root.comms = offset;
    comm->handle = 0x44000000 + offset;
    comm->id[1] = 7;
    comm->group = put_group();
    comm->remote_group = inter ? put_group() : 0;
    comm->flags = inter ? MPIQ_RECORD_COMM_INTER : MPIQ_RECORD_COMM_WORLD;
    comm->ordered = 20;
    memcpy(comm->name, "a communicator", 15);
    for (int i = 0; i < MPIQ_RECORD_RING; i++) {
        comm->ring[i] = (struct mpiq_record_collective){
            .collective = (int16_t)i, .function = (uint16_t)i, .datatype = 0x5001};
    }
    for (uint64_t number = comm->ordered - MPIQ_RECORD_RING + 1; number <= comm->ordered; number++) {
        comm->ring[(number - 1) % MPIQ_RECORD_RING].number = number;
    }
    comm->counts[OMPI_MQS_bcast].calls = 20;
    for (int32_t peer = 3; peer > 0; peer--) {
        put_channel(comm, peer);
    }
    return offset;
}

static void put_requests(uint32_t comm)
{
    struct mpiq_record_chunk *chunk = record(sizeof *chunk, &root.chunks);
    chunk->count = MPIQ_RECORD_CHUNK;
    for (unsigned i = 0; i < 20; i++) {
        struct mpiq_record_request *request = &chunk->requests[i * 3];
        request->state = i % 2 ? MPIQ_RECORD_REQUEST_ACTIVE : MPIQ_RECORD_REQUEST_INACTIVE;
        request->kind = (uint8_t)(i % (MPIQ_RECORD_REQUEST_OTHER + 1));
        request->handle = 0x1001 + i;
        request->comm = comm;
        request->peer = (int32_t)(i % 4) - 1;
        request->call.collective = request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE ? OMPI_MQS_ibcast : -1;
        request->call.begin = cycles++;
    }
}

static void put_tables(uint32_t comm)
{
    struct mpiq_record_type *types = record(MPIQ_RECORD_MAX_TYPES * sizeof *types, &root.types);
    struct mpiq_record_op *ops = record(MPIQ_RECORD_MAX_OPS * sizeof *ops, &root.ops);
    struct mpiq_record_window *window = record(sizeof *window, &root.windows);
    struct mpiq_record_comm *process = record(sizeof *process, &root.process);
    types[3] = (struct mpiq_record_type){.handle = 0x5001, .size = 4, .name = "MPI_INT"};
    ops[1] = (struct mpiq_record_op){.handle = 0x6001, .name = "MPI_SUM"};
    window->handle = 0x77;
    window->comm = comm;
    process->ordered = 1;
    process->ring[0].collective = OMPI_MQS_init;
}

/* The root is the first thing in its memory, the arena the next. */
static struct made_up *make(void)
{
    struct made_up *made_up = made_up_create(8, false);
    mqs_taddr_t symbol = made_up_allocate(made_up, sizeof root);
    root.arena = made_up_allocate(made_up, ARENA);
    memcpy(root.magic, MPIQ_RECORD_MAGIC, sizeof root.magic);
    root.byte_order = MPIQ_RECORD_BYTE_ORDER;
    root.version_major = MPIQ_RECORD_VERSION_MAJOR;
    root.version_minor = MPIQ_RECORD_VERSION_MINOR;
    root.size = sizeof root;
    root.pointer_size = 8;
    root.phase = OMPI_MQS_PHASE_RUNNING;
    root.handle_size = 4;
    root.world_size = MEMBERS;
    memcpy(arena + 64, "\x01\x10\x00\x00\x02\x10\x00\x00\x03\x10\x00\x00", 12); /* three handles */
    used = 128;
    put_functions();
    uint32_t comm = put_comm(false);
    put_comm(true);
    for (unsigned family = 0; family < MPIQ_RECORD_FAMILY_COUNT && family < 12; family++) {
        put_thread(family, comm);
    }
    put_requests(comm);
    put_tables(comm);
    root.first = (struct mpiq_record_moment){.cycles = 1, .ns = 1000000};
    root.last = (struct mpiq_record_moment){.cycles = cycles, .ns = 2000000};
    root.arena_used = used;
    made_up_put_bytes(made_up, symbol, &root, sizeof root);
    made_up_put_bytes(made_up, root.arena, arena, ARENA);
    made_up_symbol(made_up, "mpiq_record_root", symbol);
    return made_up;
}

/* ---- one input --------------------------------------------------------------------------------------- */

/* Values that break things: offsets of records, extremes, the input's own. */
static uint64_t value_of(const struct made_up *made_up, unsigned what, uint32_t value)
{
    (void)made_up;
    return what % 6 == 0 ? value % ARENA & ~UINT32_C(7) : change_extreme(what % 6 - 1, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct changes changes = {value_of, {4, 8, 2, 1, 4, 8, 2, 1}};
    static struct made_up *made_up;
    int code;
    if (!made_up) {
        made_up = make();
    }
    changes_make(&changes, made_up, data, size);
    code = FUZZ_WORK(made_up);
    if (size == 0 && code != mqs_ok) { /* unbroken records are read without a complaint */
        fprintf(stderr, "fuzz_record: whole records are refused: %d\n", code);
        abort();
    }
    changes_undo(made_up);
    return 0;
}
