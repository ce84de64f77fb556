/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "call.h"
#include "error.h"
#include "record.h"

#define MAX_OUTSTANDING (1 << 16) /* outstanding calls that are looked for in the ring */

static void decode_call(struct library *library, const unsigned char *bytes, mqs_collective_call *ret)
{
    unsigned flags = (unsigned)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, flags);

    memset(ret, 0, sizeof *ret);
    ret->collective = (int)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, collective);
    ret->number = (int64_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, number);
    if ((flags & OMPI_MQS_CALL_NO_COUNT) == 0) {
        ret->count = (int64_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, count);
        ret->datatype = (mqs_taddr_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, datatype);
    }
    if ((flags & OMPI_MQS_CALL_NO_OP) == 0) {
        ret->op = (mqs_taddr_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, op);
    }
    ret->root = (flags & OMPI_MQS_CALL_NO_ROOT) != 0
                    ? -1
                    : (int)(int32_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, root);
    ret->tid = (int)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, tid);
    ret->caller = (mqs_taddr_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, caller);
    ret->begin_ns =
        root_time(&library->root, RECORD(&library->memory.fetch, bytes, ompi_mqs_call, begin_cycles));
    ret->bytes = -1;
    if (ret->datatype != 0) {
        memcpy(ret->datatype_name, datatype_get(&library->datatypes, ret->datatype)->name,
               sizeof ret->datatype_name);
        ret->bytes = datatype_bytes(&library->datatypes, ret->datatype, ret->count);
    }
    datatype_op_name(&library->datatypes, ret->op, ret->op_name);
}

/* A ring does not say which of its calls have ended.  A blocking one has not while its class is active and
   it is the newest of the class. */
static bool is_under_way(struct library *library, struct calls *calls, const mqs_collective_call *call,
                         uint16_t flags)
{
    uint32_t count;
    uint32_t active;

    if ((flags & OMPI_MQS_CALL_REQUEST) != 0) {
        return (calls->unfinished >> calls->next & 1) != 0;
    }
    for (uint64_t i = 0; i < calls->next; i++) {
        if (calls->seen[i] == (uint32_t)call->collective) {
            return false;
        }
    }
    return collective_count(&library->memory, &calls->state, call->collective, &count, &active) == mqs_ok &&
           active > 0;
}

static int next_of_ring(struct library *library, struct calls *calls, mqs_collective_call *ret)
{
    uint64_t number = collective_ordered(&calls->state) - calls->next;
    const unsigned char *bytes;
    uint16_t flags;

    if (calls->next == calls->ring.count) {
        return mqs_end_of_list;
    }
    bytes = calls->ring.bytes[calls->next];
    decode_call(library, bytes, ret);
    flags = (uint16_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_call, flags);
    /* The number is not written: it follows from the slot; calls without a communicator have none. */
    ret->number = calls->state.address == (mqs_taddr_t)library->root.record.process ? 0 : (int64_t)number;
    ret->done = !is_under_way(library, calls, ret, flags);
    calls->seen[calls->next++] = (uint32_t)ret->collective;
    return mqs_ok;
}

static int next_of_list(struct library *library, struct calls *calls, mqs_collective_call *ret)
{
    unsigned char bytes[sizeof(struct ompi_mqs_outstanding)];
    int code;

    if (calls->next_record == 0) {
        return mqs_end_of_list;
    }
    if (calls->left == 0) {
        return ERROR_COLLECTIVES;
    }
    code = fetch_bytes(&library->memory.fetch, calls->next_record, sizeof bytes, bytes);
    if (code == mqs_ok) {
        decode_call(library, bytes + offsetof(struct ompi_mqs_outstanding, call), ret);
        ret->request = (mqs_taddr_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_outstanding, request);
        calls->next_record = (mqs_taddr_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_outstanding, next);
        calls->left--;
        code = cycle_check(&calls->cycle, calls->next_record) ? mqs_ok : ERROR_COLLECTIVES;
    }
    return code;
}

/* Notes in the ring's bit set that an outstanding call is one of the ring's. */
static int note_unfinished(void *argument, mqs_taddr_t request, int class_, uint64_t number)
{
    struct calls *calls = argument;
    uint64_t last = collective_ordered(&calls->state);

    (void)request;
    (void)class_;
    if (number != 0 && number <= last && last - number < OMPI_MQS_RING) {
        calls->unfinished |= UINT32_C(1) << (last - number);
    }
    return mqs_ok;
}

int calls_set_up(struct library *library, struct calls *calls, mqs_taddr_t comm, mqs_taddr_t collectives,
                 bool outstanding)
{
    int code;

    memset(calls, 0, sizeof *calls);
    code = collective_read(&library->memory, &library->root, collectives, &calls->state);
    if (code == mqs_no_information && outstanding && comm != 0) {
        code = library_nbc(library);
        calls->libnbc = true;
    }
    if (code != mqs_ok) {
        return code;
    }
    calls->comm = comm;
    calls->outstanding = outstanding;
    calls->next_record = calls->state.outstanding;
    calls->left = OMPI_MQS_MAX_OUTSTANDING;
    if (!outstanding) {
        code = collective_fetch_ring(&library->memory, &calls->state, &calls->ring);
        if (code == mqs_ok) {
            code = collective_visit_outstanding(&library->memory, &calls->state, MAX_OUTSTANDING,
                                                note_unfinished, calls);
        }
    }
    calls->set_up = code == mqs_ok;
    return code;
}

/* Newest first: libnbc appends. */
static int next_of_libnbc(struct library *library, struct calls *calls, mqs_collective_call *ret)
{
    const struct nbc_request *items = library->nbc.list.items;
    size_t count = library->nbc.list.count;

    while (calls->next < count) {
        const struct nbc_request *item = &items[count - 1 - calls->next++];

        if (item->comm == calls->comm && item->tag <= communicator_nbc_base(&library->memory.layout)) {
            memset(ret, 0, sizeof *ret);
            ret->collective = -1;
            ret->bytes = -1;
            ret->root = -1;
            ret->request = item->address;
            return mqs_ok;
        }
    }
    return mqs_end_of_list;
}

int calls_next(struct library *library, struct calls *calls, mqs_collective_call *ret)
{
    if (!calls->set_up) {
        return ERROR_ORDER;
    }
    if (calls->libnbc) {
        return next_of_libnbc(library, calls, ret);
    }
    return calls->outstanding ? next_of_list(library, calls, ret) : next_of_ring(library, calls, ret);
}
