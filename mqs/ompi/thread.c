/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "collective.h"
#include "error.h"
#include "record.h"
#include "thread.h"

#define THREAD_LEAST offsetof(struct ompi_mqs_thread, stack)

static void decode_wait(const struct memory *memory, const unsigned char *bytes, struct ompi_mqs_wait *ret)
{
    ret->kind = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_wait, kind);
    ret->need = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_wait, need);
    ret->episode = RECORD(&memory->fetch, bytes, ompi_mqs_wait, episode);
    ret->requests = RECORD(&memory->fetch, bytes, ompi_mqs_wait, requests);
    ret->count = RECORD(&memory->fetch, bytes, ompi_mqs_wait, count);
    ret->comm = RECORD(&memory->fetch, bytes, ompi_mqs_wait, comm);
    ret->peer = (int32_t)RECORD(&memory->fetch, bytes, ompi_mqs_wait, peer);
    ret->tag = (int32_t)RECORD(&memory->fetch, bytes, ompi_mqs_wait, tag);
    ret->begin_ns = RECORD(&memory->fetch, bytes, ompi_mqs_wait, begin_ns);
    ret->object = RECORD(&memory->fetch, bytes, ompi_mqs_wait, object);
}

int thread_read(struct memory *memory, const struct root *root, mqs_taddr_t address,
                struct thread_record *ret)
{
    unsigned char bytes[sizeof(struct ompi_mqs_thread)];
    struct collectives state;
    mqs_taddr_t collectives;
    uint32_t collective;
    int code = record_fetch(&memory->fetch, address, offsetof(struct ompi_mqs_thread, size), THREAD_LEAST,
                            sizeof bytes, bytes);

    if (code != mqs_ok) {
        return code == ERROR_ROOT_CORRUPT ? ERROR_WAITS : code;
    }
    ret->next = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, next);
    ret->tid = (int)RECORD(&memory->fetch, bytes, ompi_mqs_thread, tid);
    ret->depth = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, depth);
    collective = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, collective);
    collectives = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, collectives);
    if (ret->depth > OMPI_MQS_WAIT_DEPTH) {
        ret->depth = OMPI_MQS_WAIT_DEPTH;
    }
    if (ret->tid == 0) {
        ret->depth = 0;
        collectives = 0;
    }
    ret->in_collective = collectives != 0;
    ret->comm = 0;
    ret->collective = collective == OMPI_MQS_COLLECTIVE_NEWEST ? -1 : (int)collective;
    if (collective_read(memory, root, collectives, &state) == mqs_ok) {
        ret->comm = state.comm;
        if (collective == OMPI_MQS_COLLECTIVE_NEWEST) {
            ret->collective = collective_newest_blocking(memory, &state);
        }
    }
    for (uint32_t i = 0; i < ret->depth; i++) {
        decode_wait(memory,
                    bytes + offsetof(struct ompi_mqs_thread, stack) + i * sizeof(struct ompi_mqs_wait),
                    &ret->stack[i]);
    }
    return mqs_ok;
}
