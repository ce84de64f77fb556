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
    unsigned char bytes[offsetof(struct ompi_mqs_collectives, counts)];
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
    ret->size = size;
    ret->classes = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, classes);
    ret->group_hash = RECORD(&memory->fetch, bytes, ompi_mqs_collectives, group_hash);
    ret->remote_hash = RECORD(&memory->fetch, bytes, ompi_mqs_collectives, remote_hash);
    ret->comm = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, comm);
    ret->position = RECORD(&memory->fetch, bytes, ompi_mqs_collectives, position);
    ret->outstanding = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, outstanding);
    ret->ring = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, ring);
    ret->more_counts = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_collectives, more_counts);
    if (ret->ring == 0) {
        ret->position = 0;
    }
    if (ret->classes > MAX_CLASSES || size < least + ret->classes * sizeof(struct ompi_mqs_count)) {
        return ERROR_COLLECTIVES;
    }
    return mqs_ok;
}

int collective_end_cycles(struct memory *memory, const struct collectives *state, uint64_t *ret)
{
    unsigned char bytes[8];
    int code;

    if (state->size < offsetof(struct ompi_mqs_collectives, end_cycles) + sizeof bytes ||
        state->classes != OMPI_MQS_HOT) {
        return mqs_no_information;
    }
    code = fetch_bytes(&memory->fetch, state->address + offsetof(struct ompi_mqs_collectives, end_cycles),
                       sizeof bytes, bytes);
    if (code == mqs_ok) {
        *ret = number_unsigned(&memory->fetch, bytes, sizeof bytes);
    }
    return code;
}

uint64_t collective_ordered(const struct collectives *state)
{
    return ompi_mqs_ring_calls(state->position);
}

/* What is done with the counts of a class: mqs_end_of_list ends the walk. */
typedef int (*count_visit)(void *argument, int class_, struct ompi_mqs_count count);

static int visit_count(struct memory *memory, const unsigned char *bytes, int class_, count_visit visit,
                       void *argument)
{
    const struct ompi_mqs_count count = {(uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_count, calls),
                                         (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_count, ended)};

    return visit(argument, class_, count);
}

/* Counts beyond those in the record: of classes that were called only. */
static int visit_more_counts(struct memory *memory, const struct collectives *state, count_visit visit,
                             void *argument)
{
    mqs_taddr_t at = state->more_counts;

    for (int i = 0; at != 0; i++) {
        unsigned char bytes[sizeof(struct ompi_mqs_count_block)];
        int code = i < OMPI_MQS_MAX_COUNT_BLOCKS ? fetch_bytes(&memory->fetch, at, sizeof bytes, bytes)
                                                 : ERROR_COLLECTIVES;

        for (int k = 0; code == mqs_ok && k < OMPI_MQS_COUNT_BLOCK; k++) {
            const unsigned char *entry = bytes + offsetof(struct ompi_mqs_count_block, of) +
                                         (size_t)k * sizeof(struct ompi_mqs_class_count);
            uint64_t class_ = RECORD(&memory->fetch, entry, ompi_mqs_class_count, collective);

            if (class_ != 0 && class_ < MAX_CLASSES) {
                code = visit_count(memory, entry + offsetof(struct ompi_mqs_class_count, count), (int)class_,
                                   visit, argument);
            }
        }
        if (code != mqs_ok) {
            return code;
        }
        at = (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_count_block, next);
    }
    return mqs_ok;
}

struct wanted_count {
    int class_;
    struct ompi_mqs_count count;
};

static int take_count(void *argument, int class_, struct ompi_mqs_count count)
{
    struct wanted_count *wanted = argument;

    if (class_ != wanted->class_) {
        return mqs_ok;
    }
    wanted->count = count;
    return mqs_end_of_list;
}

int collective_count(struct memory *memory, const struct collectives *state, int class_, uint32_t *calls,
                     uint32_t *active)
{
    struct wanted_count wanted = {class_, {0, 0}};
    int code;

    if (collective_name(class_) == NULL) {
        return mqs_no_information;
    }
    if ((uint32_t)class_ < state->classes) {
        unsigned char bytes[sizeof(struct ompi_mqs_count)];

        code = fetch_bytes(&memory->fetch,
                           state->address + (mqs_taddr_t)(offsetof(struct ompi_mqs_collectives, counts) +
                                                          (size_t)class_ * sizeof(struct ompi_mqs_count)),
                           sizeof bytes, bytes);
        code = code == mqs_ok ? visit_count(memory, bytes, class_, take_count, &wanted) : code;
    } else {
        code = visit_more_counts(memory, state, take_count, &wanted);
    }
    if (code != mqs_ok && code != mqs_end_of_list) {
        return code;
    }
    *calls = wanted.count.calls;
    *active = ompi_mqs_active(wanted.count);
    return mqs_ok;
}

static int sum_nonblocking(void *argument, int class_, struct ompi_mqs_count count)
{
    int64_t *sum = argument;

    if (class_ < OMPI_MQS_COLLECTIVE_COUNT && classes[class_].kind == 'N') {
        *sum += count.calls;
    }
    return mqs_ok;
}

int64_t collective_nonblocking(struct memory *memory, const struct collectives *state)
{
    int64_t sum = 0;

    /* None of them lies in the record itself. */
    return visit_more_counts(memory, state, sum_nonblocking, &sum) == mqs_ok ? sum : -1;
}

/* The bytes of a struct ompi_mqs_call: the one that is `back` calls before the last one of the ring. */
static int fetch_call(struct memory *memory, const struct collectives *state, uint64_t back,
                      unsigned char *bytes)
{
    uint64_t slot = (collective_ordered(state) - 1 - back) % OMPI_MQS_RING;

    return fetch_bytes(&memory->fetch, state->ring + (mqs_taddr_t)(slot * sizeof(struct ompi_mqs_call)),
                       sizeof(struct ompi_mqs_call), bytes);
}

int collective_fetch_ring(struct memory *memory, const struct collectives *state, struct ring *ret)
{
    unsigned char slots[OMPI_MQS_RING][sizeof(struct ompi_mqs_call)];
    unsigned char position[8];
    uint64_t calls = collective_ordered(state);
    uint64_t later;
    int code;

    ret->count = 0;
    if (calls == 0) {
        return mqs_ok;
    }
    /* The calls that the state counts are in the ring unless later ones have taken their slots: the count is
       read again after the ring, to tell. */
    code = fetch_anew(&memory->fetch, state->ring, sizeof slots, slots);
    if (code == mqs_ok) {
        code = fetch_anew(&memory->fetch, state->address + offsetof(struct ompi_mqs_collectives, position),
                          sizeof position, position);
    }
    if (code != mqs_ok) {
        return code;
    }
    later = ompi_mqs_ring_calls(number_unsigned(&memory->fetch, position, sizeof position)) - calls;
    while (ret->count < calls && ret->count + later < OMPI_MQS_RING) {
        memcpy(ret->bytes[ret->count], slots[(calls - 1 - ret->count) % OMPI_MQS_RING], sizeof slots[0]);
        ret->count++;
    }
    return mqs_ok;
}

int collective_newest_blocking(struct memory *memory, const struct collectives *state)
{
    for (uint64_t back = 0; back < OMPI_MQS_RING && back < collective_ordered(state); back++) {
        unsigned char bytes[sizeof(struct ompi_mqs_call)];

        if (fetch_call(memory, state, back, bytes) != mqs_ok) {
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
