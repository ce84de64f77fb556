/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>

#include "callbacks.h"
#include "collective.h"
#include "error.h"
#include "nbc.h"
#include "process.h"

#define MAX_CLASSES 4096
#define MAX_NAMED (1 << 16) /* outstanding calls looked at to name libnbc's requests */

static const struct {
    const char *name;
    char kind; /* B, N or P, as in ompi_mqs.h */
} classes[OMPI_MQS_COLLECTIVE_COUNT] = {
#define COLLECTIVE_ROW(value, id, name, kind, order) [value] = {name, #kind[0]},
    OMPI_MQS_COLLECTIVES(COLLECTIVE_ROW)
#undef COLLECTIVE_ROW
};

const char *collective_name(int class_)
{
    return class_ >= 0 && class_ < OMPI_MQS_COLLECTIVE_COUNT ? classes[class_].name : NULL;
}

int collective_read(mqs_process_info *info, mqs_taddr_t address, struct collectives *ret)
{
    unsigned char bytes[offsetof(struct ompi_mqs_collectives, ring)];
    uint64_t least = offsetof(struct ompi_mqs_collectives, counts);
    uint32_t size;
    int code;

    if (!info->root.present || address == 0) {
        return mqs_no_information;
    }
    code = fetch_bytes(info, address, sizeof bytes, bytes);
    if (code != mqs_ok) {
        return code;
    }
    size = (uint32_t)RECORD(info, bytes, ompi_mqs_collectives, size);
    ret->address = address;
    ret->classes = (uint32_t)RECORD(info, bytes, ompi_mqs_collectives, classes);
    ret->group_hash = RECORD(info, bytes, ompi_mqs_collectives, group_hash);
    ret->remote_hash = RECORD(info, bytes, ompi_mqs_collectives, remote_hash);
    ret->comm = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_collectives, comm);
    ret->position = RECORD(info, bytes, ompi_mqs_collectives, position);
    ret->outstanding = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_collectives, outstanding);
    if (ret->classes > MAX_CLASSES || size < least + ret->classes * sizeof(struct ompi_mqs_count)) {
        return ERROR_COLLECTIVES;
    }
    return mqs_ok;
}

/* Calls put into the ring so far: all ordered ones of a communicator. */
static uint64_t ring_calls(const struct collectives *state)
{
    return ompi_mqs_ring_calls(state->position);
}

int64_t collective_ordered(const struct collectives *state)
{
    return (int64_t)ring_calls(state);
}

static int fetch_counts(mqs_process_info *info, const struct collectives *state, int first, int count,
                        unsigned char *bytes)
{
    return fetch_bytes(info,
                       state->address + (mqs_taddr_t)(offsetof(struct ompi_mqs_collectives, counts) +
                                                      (size_t)first * sizeof(struct ompi_mqs_count)),
                       (size_t)count * sizeof(struct ompi_mqs_count), bytes);
}

int collective_count(mqs_process_info *info, const struct collectives *state, int class_, uint32_t *calls,
                     uint32_t *active)
{
    unsigned char bytes[sizeof(struct ompi_mqs_count)];
    int code;

    if (class_ < 0 || (uint32_t)class_ >= state->classes) {
        return mqs_no_information;
    }
    code = fetch_counts(info, state, class_, 1, bytes);
    if (code == mqs_ok) {
        const struct ompi_mqs_count both = {(uint32_t)RECORD(info, bytes, ompi_mqs_count, calls),
                                            (uint32_t)RECORD(info, bytes, ompi_mqs_count, ended)};

        *calls = both.calls;
        *active = ompi_mqs_active(both);
    }
    return code;
}

int64_t collective_nonblocking(mqs_process_info *info, const struct collectives *state)
{
    unsigned char bytes[OMPI_MQS_COLLECTIVE_COUNT * sizeof(struct ompi_mqs_count)];
    int count = state->classes < OMPI_MQS_COLLECTIVE_COUNT ? (int)state->classes : OMPI_MQS_COLLECTIVE_COUNT;
    int64_t sum = 0;

    if (count > 0 && fetch_counts(info, state, 0, count, bytes) != mqs_ok) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (classes[i].kind == 'N') {
            sum += (int64_t)RECORD(info, bytes + (size_t)i * sizeof(struct ompi_mqs_count), ompi_mqs_count,
                                   calls);
        }
    }
    return sum;
}

static void decode_call(mqs_process_info *info, const unsigned char *bytes, mqs_collective_call *ret)
{
    unsigned flags = (unsigned)RECORD(info, bytes, ompi_mqs_call, flags);

    memset(ret, 0, sizeof *ret);
    ret->collective = (int)RECORD(info, bytes, ompi_mqs_call, collective);
    ret->number = (int64_t)RECORD(info, bytes, ompi_mqs_call, number);
    if ((flags & OMPI_MQS_CALL_NO_COUNT) == 0) {
        ret->count = (int64_t)RECORD(info, bytes, ompi_mqs_call, count);
        ret->datatype = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_call, datatype);
    }
    if ((flags & OMPI_MQS_CALL_NO_OP) == 0) {
        ret->op = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_call, op);
    }
    ret->root =
        (flags & OMPI_MQS_CALL_NO_ROOT) != 0 ? -1 : (int)(int32_t)RECORD(info, bytes, ompi_mqs_call, root);
    ret->tid = (int)RECORD(info, bytes, ompi_mqs_call, tid);
    ret->caller = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_call, caller);
    ret->begin_ns = root_time(&info->root, RECORD(info, bytes, ompi_mqs_call, begin_cycles));
    ret->bytes = -1;
    if (ret->datatype != 0) {
        memcpy(ret->datatype_name, datatype_get(info, ret->datatype)->name, sizeof ret->datatype_name);
        ret->bytes = datatype_bytes(info, ret->datatype, ret->count);
    }
    datatype_op_name(info, ret->op, ret->op_name);
}

/* A ring does not say which of its calls have ended.  A blocking one has not while its class is active and
   it is the newest of the class. */
static bool is_under_way(mqs_process_info *info, struct calls *calls, const mqs_collective_call *call,
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
    return collective_count(info, &calls->state, call->collective, &count, &active) == mqs_ok && active > 0;
}

static int fetch_slot(mqs_process_info *info, const struct collectives *state, uint64_t back,
                      unsigned char *bytes)
{
    uint64_t slot = (ring_calls(state) - 1 - back) % OMPI_MQS_RING;

    return fetch_bytes(info,
                       state->address + (mqs_taddr_t)(offsetof(struct ompi_mqs_collectives, ring) +
                                                      slot * sizeof(struct ompi_mqs_call)),
                       sizeof(struct ompi_mqs_call), bytes);
}

int collective_newest_blocking(mqs_process_info *info, const struct collectives *state)
{
    for (uint64_t back = 0; back < OMPI_MQS_RING && back < ring_calls(state); back++) {
        unsigned char bytes[sizeof(struct ompi_mqs_call)];

        if (fetch_slot(info, state, back, bytes) != mqs_ok) {
            break;
        }
        if ((RECORD(info, bytes, ompi_mqs_call, flags) & OMPI_MQS_CALL_REQUEST) == 0) {
            return (int)RECORD(info, bytes, ompi_mqs_call, collective);
        }
    }
    return -1;
}

static int next_of_ring(mqs_process_info *info, struct calls *calls, mqs_collective_call *ret)
{
    unsigned char bytes[sizeof(struct ompi_mqs_call)];
    uint64_t number = ring_calls(&calls->state) - calls->next;
    uint16_t flags;
    int code;

    if (calls->left == 0) {
        return mqs_end_of_list;
    }
    code = fetch_slot(info, &calls->state, calls->next, bytes);
    if (code != mqs_ok) {
        return code;
    }
    decode_call(info, bytes, ret);
    flags = (uint16_t)RECORD(info, bytes, ompi_mqs_call, flags);
    /* The number is not written: it follows from the slot; calls without a communicator have none. */
    ret->number = calls->state.comm == 0 ? 0 : (int64_t)number;
    ret->done = !is_under_way(info, calls, ret, flags);
    calls->seen[calls->next % OMPI_MQS_RING] = (uint32_t)ret->collective;
    calls->next++;
    calls->left--;
    return mqs_ok;
}

static int next_of_list(mqs_process_info *info, struct calls *calls, mqs_collective_call *ret)
{
    unsigned char bytes[sizeof(struct ompi_mqs_outstanding)];
    int code;

    if (calls->next_record == 0) {
        return mqs_end_of_list;
    }
    if (calls->left == 0) {
        return ERROR_COLLECTIVES;
    }
    code = fetch_bytes(info, calls->next_record, sizeof bytes, bytes);
    if (code == mqs_ok) {
        decode_call(info, bytes + offsetof(struct ompi_mqs_outstanding, call), ret);
        ret->request = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_outstanding, request);
        calls->next_record = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_outstanding, next);
        calls->left--;
        code = cycle_check(&calls->cycle, calls->next_record) ? mqs_ok : ERROR_COLLECTIVES;
    }
    return code;
}

/* Which of the ring's calls are still in the list of outstanding ones. */
static int find_unfinished(mqs_process_info *info, struct calls *calls)
{
    uint64_t last = ring_calls(&calls->state);
    unsigned char bytes[sizeof(struct ompi_mqs_outstanding)];
    mqs_taddr_t at = calls->state.outstanding;
    struct cycle cycle = {0, 0, 0};

    for (int i = 0; at != 0 && i < MAX_NAMED; i++) {
        uint64_t number;
        int code = cycle_check(&cycle, at) ? fetch_bytes(info, at, sizeof bytes, bytes) : ERROR_COLLECTIVES;

        if (code != mqs_ok) {
            return code;
        }
        number = RECORD(info, bytes + offsetof(struct ompi_mqs_outstanding, call), ompi_mqs_call, number);
        if (number != 0 && number <= last && last - number < OMPI_MQS_RING) {
            calls->unfinished |= UINT32_C(1) << (last - number);
        }
        at = (mqs_taddr_t)RECORD(info, bytes, ompi_mqs_outstanding, next);
    }
    return mqs_ok;
}

int calls_set_up(mqs_process_info *info, struct calls *calls, mqs_taddr_t comm, mqs_taddr_t collectives,
                 bool outstanding)
{
    int code;

    memset(calls, 0, sizeof *calls);
    code = collective_read(info, collectives, &calls->state);
    if (code == mqs_no_information && outstanding && comm != 0) {
        code = nbc_read(info);
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
        calls->left = ring_calls(&calls->state);
        calls->left = calls->left > OMPI_MQS_RING ? OMPI_MQS_RING : calls->left;
        code = find_unfinished(info, calls);
    }
    calls->set_up = code == mqs_ok;
    return code;
}

/* Newest first: libnbc appends. */
static int next_of_libnbc(mqs_process_info *info, struct calls *calls, mqs_collective_call *ret)
{
    const struct nbc_request *items = info->nbc.list.items;
    size_t count = info->nbc.list.count;

    while (calls->next < count) {
        const struct nbc_request *item = &items[count - 1 - calls->next++];

        if (item->comm == calls->comm && item->tag <= communicator_nbc_base(info)) {
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

int calls_next(mqs_process_info *info, struct calls *calls, mqs_collective_call *ret)
{
    if (!calls->set_up) {
        return ERROR_ORDER;
    }
    if (calls->libnbc) {
        return next_of_libnbc(info, calls, ret);
    }
    return calls->outstanding ? next_of_list(info, calls, ret) : next_of_ring(info, calls, ret);
}

void collective_name_requests(mqs_process_info *info)
{
    size_t unnamed = info->nbc.list.count;
    size_t steps = MAX_NAMED;

    for (size_t i = 0; unnamed > 0 && i < info->communicators.list.count; i++) {
        const struct communicator *comm = communicator_at(info, i);
        mqs_collective_call call;
        struct calls calls;

        if (comm->collectives == 0 || calls_set_up(info, &calls, 0, comm->collectives, true) != mqs_ok) {
            continue;
        }
        while (unnamed > 0 && steps > 0 && calls_next(info, &calls, &call) == mqs_ok) {
            struct nbc_request *request = nbc_find(info, call.request);

            steps--;
            if (request != NULL && request->collective < 0) {
                request->collective = call.collective;
                unnamed--;
            }
        }
    }
}
