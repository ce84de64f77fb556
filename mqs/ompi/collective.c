/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "collective.h"
#include "error.h"
#include "list.h"
#include "record.h"

#define MAX_CLASSES 4096

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

int collective_read(struct memory *memory, const struct root *root, mqs_taddr_t address,
                    struct collectives *ret)
{
    unsigned char bytes[offsetof(struct ompi_mqs_collectives, ring)];
    uint64_t least = offsetof(struct ompi_mqs_collectives, counts);
    uint32_t size;
    int code;

    if (!root->present || address == 0) {
        return mqs_no_information;
    }
    code = fetch_bytes(&memory->fetch, address, sizeof bytes, bytes);
    if (code != mqs_ok) {
        return code;
    }
    size = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, size);
    ret->address = address;
    ret->classes = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, classes);
    ret->group_hash = RECORD(&memory->fetch, bytes, ompi_mqs_collectives, group_hash);
    ret->remote_hash = RECORD(&memory->fetch, bytes, ompi_mqs_collectives, remote_hash);
    ret->comm = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, comm);
    ret->position = RECORD(&memory->fetch, bytes, ompi_mqs_collectives, position);
    ret->outstanding = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, outstanding);
    if (ret->classes > MAX_CLASSES || size < least + ret->classes * sizeof(struct ompi_mqs_count)) {
        return ERROR_COLLECTIVES;
    }
    return mqs_ok;
}

uint64_t collective_ordered(const struct collectives *state)
{
    return ompi_mqs_ring_calls(state->position);
}

static int fetch_counts(struct memory *memory, const struct collectives *state, int first, int count,
                        unsigned char *bytes)
{
    return fetch_bytes(&memory->fetch,
                       state->address + (mqs_taddr_t)(offsetof(struct ompi_mqs_collectives, counts) +
                                                      (size_t)first * sizeof(struct ompi_mqs_count)),
                       (size_t)count * sizeof(struct ompi_mqs_count), bytes);
}

int collective_count(struct memory *memory, const struct collectives *state, int class_, uint32_t *calls,
                     uint32_t *active)
{
    unsigned char bytes[sizeof(struct ompi_mqs_count)];
    int code;

    if (class_ < 0 || (uint32_t)class_ >= state->classes) {
        return mqs_no_information;
    }
    code = fetch_counts(memory, state, class_, 1, bytes);
    if (code == mqs_ok) {
        const struct ompi_mqs_count both = {(uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_count, calls),
                                            (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_count, ended)};

        *calls = both.calls;
        *active = ompi_mqs_active(both);
    }
    return code;
}

int64_t collective_nonblocking(struct memory *memory, const struct collectives *state)
{
    unsigned char bytes[OMPI_MQS_COLLECTIVE_COUNT * sizeof(struct ompi_mqs_count)];
    int count = state->classes < OMPI_MQS_COLLECTIVE_COUNT ? (int)state->classes : OMPI_MQS_COLLECTIVE_COUNT;
    int64_t sum = 0;

    if (count > 0 && fetch_counts(memory, state, 0, count, bytes) != mqs_ok) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (classes[i].kind == 'N') {
            sum += (int64_t)RECORD(&memory->fetch, bytes + (size_t)i * sizeof(struct ompi_mqs_count),
                                   ompi_mqs_count, calls);
        }
    }
    return sum;
}

int collective_fetch_call(struct memory *memory, const struct collectives *state, uint64_t back,
                          unsigned char *bytes)
{
    uint64_t slot = (collective_ordered(state) - 1 - back) % OMPI_MQS_RING;

    return fetch_bytes(&memory->fetch,
                       state->address + (mqs_taddr_t)(offsetof(struct ompi_mqs_collectives, ring) +
                                                      slot * sizeof(struct ompi_mqs_call)),
                       sizeof(struct ompi_mqs_call), bytes);
}

int collective_newest_blocking(struct memory *memory, const struct collectives *state)
{
    for (uint64_t back = 0; back < OMPI_MQS_RING && back < collective_ordered(state); back++) {
        unsigned char bytes[sizeof(struct ompi_mqs_call)];

        if (collective_fetch_call(memory, state, back, bytes) != mqs_ok) {
            break;
        }
        if ((RECORD(&memory->fetch, bytes, ompi_mqs_call, flags) & OMPI_MQS_CALL_REQUEST) == 0) {
            return (int)RECORD(&memory->fetch, bytes, ompi_mqs_call, collective);
        }
    }
    return -1;
}

int collective_visit_outstanding(struct memory *memory, const struct collectives *state, size_t limit,
                                 outstanding_visit visit, void *argument)
{
    mqs_taddr_t at = state->outstanding;
    struct cycle cycle = {0, 0, 0};

    for (size_t i = 0; at != 0 && i < limit; i++) {
        unsigned char bytes[sizeof(struct ompi_mqs_outstanding)];
        const unsigned char *call = bytes + offsetof(struct ompi_mqs_outstanding, call);
        int code = cycle_check(&cycle, at) ? fetch_bytes(&memory->fetch, at, sizeof bytes, bytes)
                                           : ERROR_COLLECTIVES;

        if (code == mqs_ok) {
            code = visit(argument, (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_outstanding, request),
                         (int)RECORD(&memory->fetch, call, ompi_mqs_call, collective),
                         RECORD(&memory->fetch, call, ompi_mqs_call, number));
        }
        if (code != mqs_ok) {
            return code == mqs_end_of_list ? mqs_ok : code;
        }
        at = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_outstanding, next);
    }
    return mqs_ok;
}
