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
    mqs_taddr_t inside;
    uint32_t collective;
    uint32_t outer;
    unsigned char word[8];
    int code = record_fetch(&memory->fetch, address, offsetof(struct ompi_mqs_thread, size), THREAD_LEAST,
                            sizeof bytes, bytes);

    if (code != mqs_ok) {
        return code == ERROR_ROOT_CORRUPT ? ERROR_WAITS : code;
    }
    ret->next = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, next);
    ret->tid = (int)RECORD(&memory->fetch, bytes, ompi_mqs_thread, tid);
    ret->depth = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, depth);
    collective = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, collective);
    collectives = 0;
    inside = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, inside);
    outer = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, outer_depth);
    /* A thread that ends this moment takes the word along. */
    if (inside != 0 && fetch_bytes(&memory->fetch, inside, sizeof word, word) == mqs_ok) {
        collectives = (mqs_taddr_t)number_unsigned(&memory->fetch, word, sizeof word);
    }
    if (ret->depth > OMPI_MQS_WAIT_DEPTH) {
        ret->depth = OMPI_MQS_WAIT_DEPTH;
    }
    if (ret->tid == 0) {
        ret->depth = 0;
        collectives = 0;
    }
    /* 1: a thread without a record, whose word this was. */
    ret->in_collective = collectives > 1;
    ret->comm = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_thread, comm);
    ret->outer = 0;
    if (outer > 0) {
        /* In a callback of the user's: the waits of the call around it are none now. */
        outer = outer > OMPI_MQS_OUTER_DEPTH ? OMPI_MQS_OUTER_DEPTH : outer;
        ret->outer = (uint32_t)RECORD(&memory->fetch, bytes + (outer - 1) * sizeof(struct ompi_mqs_outer),
                                      ompi_mqs_thread, outer[0].depth);
    }
    ret->collective = collective == OMPI_MQS_COLLECTIVE_NEWEST ? -1 : (int)collective;
    if (collective_read(memory, root, collectives, &state) == mqs_ok) {
        ret->comm = state.comm != 0 ? state.comm : ret->comm;
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
