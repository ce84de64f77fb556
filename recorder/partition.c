/* SPDX-License-Identifier: BSD-3-Clause */
/* partition - which partitions of a partitioned send have been marked ready since its start. */
#include "recorder.h"

enum { BITS = 64 };

bool recorder_partitioned;

static uint64_t bits_of(int32_t low, int32_t high)
{
    uint64_t bits = 0;
    for (int32_t i = low < 0 ? 0 : low; i <= high && i < BITS; i++)
        bits |= UINT64_C(1) << i;
    return bits;
}

static void mark(struct mpiq_record_request *request, int32_t low, int32_t high)
{
    if (low > high)
        return;
    uint64_t bits = bits_of(low, high);
    counter_add32(&request->ready, (uint32_t)high - (uint32_t)low + 1);
    if (recorder_multiple)
        __atomic_fetch_or(&request->ready_bits, bits, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&request->ready_bits, request->ready_bits | bits, __ATOMIC_RELAXED);
}

void partition_begin(struct mpiq_record_request *request)
{
    __atomic_store_n(&request->ready, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&request->ready_bits, 0, __ATOMIC_RELAXED);
}

void partition_ready(const struct function *function, const word *arguments)
{
    struct mpiq_record_request *request = request_find(handle_of(arguments[function->at[ROLE('h')]]));
    int32_t first = (int32_t)arguments[0];
    if (!request) /* of MPI_PROC_NULL, or there was no room, which lost_requests says */
        return;
    if (!(request->flags & MPIQ_RECORD_REQUEST_PARTITIONED)) {
        counter_add(&mpiq_record_root.lost_ready, 1);
        return;
    }
    switch ((enum action)function->action) {
    case ACTION_PREADY_RANGE:
        mark(request, first, (int32_t)arguments[1]);
        break;
    case ACTION_PREADY_LIST:
        for (int32_t i = 0; i < first; i++) {
            int32_t partition = ((const int32_t *)arguments[1])[i];
            mark(request, partition, partition);
        }
        break;
    default:
        mark(request, first, first);
        break;
    }
}
