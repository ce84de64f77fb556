/* SPDX-License-Identifier: BSD-3-Clause */
/* collective - how often each collective was called on each communicator, and the last calls. */
#include "recorder.h"

static const char orders[] = {
#define ORDER_OF(value, id, name, kind, order) [value] = #order[0],
    OMPI_MQS_COLLECTIVES(ORDER_OF)
#undef ORDER_OF
};

static bool is_ordered(int collective)
{
    return orders[collective] == 'O';
}

static struct mpiq_record_comm *owner(struct mpiq_record_comm *comm)
{
    return comm ? comm : arena_at(mpiq_record_root.process);
}

/* Whether the noted count and datatype are significant.  On an intercommunicator they are not on ranks with
   MPI_PROC_NULL as root, and the root of MPI_Gather and MPI_Scatter uses other arguments. */
static bool is_significant(const struct call *call)
{
    int32_t root = HAS(call, 'z') ? peer_of((int32_t)ARGUMENT(call, 'z')) : MPIQ_RECORD_NO_PEER;
    bool in_place = HAS(call, 'b') && ARGUMENT(call, 'b') == recorder_abi.in_place && !HAS(call, 'O');
    bool at_root = HAS(call, 'O') || call->function->roles[3] == 'z'; /* MPI_Reduce, MPI_Bcast */
    return HAS(call, 'n') && !in_place && root != MPIQ_RECORD_PROC_NULL &&
           (root != MPIQ_RECORD_ROOT || at_root);
}

/* Notes the call's arguments. */
static void describe(const struct call *call, struct mpiq_record_collective *note)
{
    *note = (struct mpiq_record_collective){
        .collective = call->function->collective,
        .function = (uint16_t)(call->function - recorder_functions),
        .root = HAS(call, 'z') ? peer_of((int32_t)ARGUMENT(call, 'z')) : MPIQ_RECORD_NO_PEER,
        .count = -1,
        .bytes = -1,
        .caller = call->caller,
        .begin = call->entry->begin,
        .tid = call->thread->tid,
    };
    if (HAS(call, 'u') || HAS(call, 'V'))
        note->sources = neighbour_sources(call);
    if (HAS(call, 'O'))
        note->op = handle_of(ARGUMENT(call, 'O'));
    if (HAS(call, 't'))
        note->datatype = handle_of(ARGUMENT(call, 't'));
    if (is_significant(call)) {
        note->count = count_of(call, ARGUMENT(call, 'n'));
        note->bytes = bytes_of(note->count, note->datatype);
    } else {
        note->datatype = HAS(call, 'O') && note->root != MPIQ_RECORD_PROC_NULL ? note->datatype : 0;
    }
}

void collective_begin(struct call *call, bool start, struct mpiq_record_collective *note)
{
    struct mpiq_record_comm *comm = owner(call->comm);
    if (!start)
        describe(call, note);
    char kind =
        note->collective >= OMPI_MQS_barrier_init && note->collective <= OMPI_MQS_neighbor_alltoallw_init
            ? 'P'
            : 'B';
    /* A persistent collective is numbered when it is created, and counted when it is started. */
    if (kind != 'P' || start)
        counter_add32(&comm->counts[note->collective].calls, 1);
    if (start)
        return;
    struct mpiq_record_comm *ring = is_ordered(note->collective) && call->comm ? comm : owner(NULL);
    uint64_t position = counter_add(&ring->ordered, 1);
    if (ring == comm && call->comm)
        note->number = position + 1;
    if (HAS(call, 'R') && call->comm)
        counter_add(&comm->nonblocking, 1);
    call->collective = &ring->ring[position % MPIQ_RECORD_RING];
    *call->collective = *note;
    if (recorder_check)
        fact_collective(call->comm, note);
    call->thread->number = note->number;
    call->thread->root = note->root;
    call->entry->bytes = note->bytes;
    if (note->root >= 0)
        call->entry->peer = note->root;
}

void collective_doubt(struct mpiq_record_comm *comm)
{
    if (!comm)
        return;
    __atomic_fetch_or(&comm->flags, MPIQ_RECORD_COMM_UNCOUNTED, __ATOMIC_RELAXED);
    if (recorder_strict)
        compare_doubt(comm);
}

/* Classes of errors in arguments, the same in all ABIs: up to MPI_ERR_REQUEST and its neighbours, and
   MPI_ERR_AMODE. */
enum { LAST_OF_ARGUMENTS = 19, ERR_AMODE = 21 };

void collective_failed(const struct call *call, int result)
{
    unsigned action = call->function->action;
    bool of_file = action == ACTION_FILE || action == ACTION_IFILE || action == ACTION_FILE_OPEN ||
                   action == ACTION_FILE_CLOSE;
    int class = 0;
    /* What a file system says is agreed on by all; wrong arguments are one member's. */
    if (of_file && ASK(Error_class, (word)result, (word) & class) == 0 && class > LAST_OF_ARGUMENTS &&
        class != ERR_AMODE)
        return;
    collective_doubt(call->comm);
}

void collective_end(struct mpiq_record_comm *comm, int collective)
{
    counter_add32(&owner(comm)->counts[collective].ended, 1);
}
