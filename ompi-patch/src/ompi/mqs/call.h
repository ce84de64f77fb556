/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - collective calls: one line in each MPI function of the table in ompi_mqs.h.
 *
 * The line stands behind the parameter checks and before every early return, and declares a guard whose
 * end is the function's end, however it returns.  Only the outermost call of a thread is recorded: what MPI
 * calls inside MPI is the library's own business.
 *
 *  OMPI_MQS_ENTER          the blocking ones that programs call in their inner loops: all inline, no
 *                          atomics (the standard forbids two at a time on one communicator)
 *  OMPI_MQS_ENTER_RARE      blocking, but expensive anyway; those that may end their communicator; those
 *                          without one (comm is NULL)
 *  OMPI_MQS_ENTER_REQUEST  non-blocking: the guard ends with the call, the record with the request
 *  OMPI_MQS_ENTER_INIT      initialisation of a persistent one; its starts are counted by
 *                          ompi_mqs_request_start
 */
#ifndef OMPI_MQS_CALL_H
#define OMPI_MQS_CALL_H

#include "ompi/mqs/thread.h"
#include "ompi/mqs/wait.h"

#if OMPI_MQS

struct ompi_request_t;

/* Words of a record that are written in one store, whatever members they hold. */
typedef uint32_t __attribute__((may_alias)) ompi_mqs_word_t;
typedef int32_t __attribute__((may_alias)) ompi_mqs_signed_word_t;

struct ompi_mqs_guard {
    struct ompi_mqs_thread *self;   /* NULL: nothing to end */
    uint32_t collective;
};

/* The arguments of a call that a ring keeps; what the call does not have is 0, a root -1. */
struct ompi_mqs_arguments {
    int64_t count;
    const void *datatype;
    const void *op;
    int32_t root;
    const void *caller;
};

/* First call of a thread, or a call inside another one: the thread's record, or NULL if the call is not
   to be recorded. */
OMPI_DECLSPEC struct ompi_mqs_thread *ompi_mqs_call_begin_slowly(void) __attribute__((cold));

OMPI_MQS_INLINE struct ompi_mqs_guard
ompi_mqs_call_begin(struct ompi_mqs_collectives *record, uint32_t collective, int count,
                    const void *datatype, const void *op, int root)
{
    struct ompi_mqs_guard guard = {NULL, collective};
    struct ompi_mqs_thread *self;
    struct ompi_mqs_call *call;
    uint64_t position;

    if (NULL == record) {
        return guard;
    }
    self = ompi_mqs_self;
    if (OMPI_MQS_RARELY(0 != self->collectives)) {
        self = ompi_mqs_call_begin_slowly();
        if (NULL == self) {
            return guard;
        }
    }
    /* Between loads and stores of the same word, so that each increment is one instruction on memory. */
    position = record->position;
    OMPI_MQS_ORDER();
    record->position += sizeof(*call);
    call = (struct ompi_mqs_call *) ((char *) record->ring + position % sizeof(record->ring));
    *(ompi_mqs_word_t *) &call->collective =
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        collective | OMPI_MQS_CALL_ORDERED << 16;
    /* Counts are ints and never negative here: the upper half of the slot stays as it was made, 0. */
    *(ompi_mqs_signed_word_t *) &call->count = count;
#else
        collective << 16 | OMPI_MQS_CALL_ORDERED;
    call->count = count;
#endif
    call->root = root;
    call->datatype = ompi_mqs_address(datatype);
    call->op = ompi_mqs_address(op);
    call->caller = ompi_mqs_address(__builtin_return_address(0));
    ompi_mqs_stamp_cycles(&call->begin_cycles);
    record->counts[collective].calls++;
    OMPI_MQS_ORDER();
    record->counts[collective].active++;
    self->collective = collective;
    self->collectives = ompi_mqs_address(record);
    OMPI_MQS_ORDER();
    guard.self = self;
    return guard;
}

OMPI_MQS_INLINE void ompi_mqs_call_end(struct ompi_mqs_guard *guard)
{
    struct ompi_mqs_thread *self = guard->self;

    if (NULL != self) {
        ((struct ompi_mqs_collectives *) (uintptr_t) self->collectives)->counts[guard->collective].active--;
        self->collectives = 0;
    }
}

/* The same out of line, for a communicator's record, or the process's own if record is NULL; ordered says
   whether the call takes a running number. */
OMPI_DECLSPEC struct ompi_mqs_guard
ompi_mqs_call_begin_rare(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                         struct ompi_mqs_arguments arguments);
OMPI_DECLSPEC void ompi_mqs_call_end_rare(struct ompi_mqs_guard *guard);

/* A non-blocking call under way in its MPI function. */
struct ompi_mqs_request_guard {
    struct ompi_mqs_guard call;
    struct ompi_request_t **request;    /* the caller's */
    struct ompi_request_t *before;      /* what it held */
    int persistent;
    struct ompi_mqs_arguments arguments;
};

OMPI_DECLSPEC struct ompi_mqs_request_guard
ompi_mqs_request_begin(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                       struct ompi_request_t **request, int persistent,
                       struct ompi_mqs_arguments arguments);
OMPI_DECLSPEC void ompi_mqs_request_end(struct ompi_mqs_request_guard *guard);

/* The record of communicator, also where an expression is NULL by type. */
#define OMPI_MQS_RECORD(communicator) ((communicator)->c_mqs)

#define OMPI_MQS_ARGUMENTS(count, datatype, op, root) \
    ((struct ompi_mqs_arguments) {(count), (datatype), (op), (root), __builtin_return_address(0)})

#define OMPI_MQS_ORDERED_O 1
#define OMPI_MQS_ORDERED_U 0
#define OMPI_MQS_ORDER_OF(value, id, name, kind, order) ompi_mqs_order_of_##id = OMPI_MQS_ORDERED_##order,
enum ompi_mqs_order_of { OMPI_MQS_COLLECTIVES(OMPI_MQS_ORDER_OF) };
#undef OMPI_MQS_ORDER_OF

#define OMPI_MQS_ENTER(id, comm, count, datatype, op, root)                                             \
    struct ompi_mqs_guard mqs_guard __attribute__((cleanup(ompi_mqs_call_end), unused)) =              \
        ompi_mqs_call_begin(OMPI_MQS_RECORD(comm), OMPI_MQS_##id, (count), (datatype), (op), (root));

#define OMPI_MQS_ENTER_RARE(id, comm, count, datatype, op, root)                                        \
    struct ompi_mqs_guard mqs_guard __attribute__((cleanup(ompi_mqs_call_end_rare), unused)) =         \
        ompi_mqs_call_begin_rare(OMPI_MQS_RECORD(comm), OMPI_MQS_##id, ompi_mqs_order_of_##id,         \
                                 OMPI_MQS_ARGUMENTS(count, datatype, op, root));

#define OMPI_MQS_ENTER_PROCESS(id)                                                                      \
    struct ompi_mqs_guard mqs_guard __attribute__((cleanup(ompi_mqs_call_end_rare), unused)) =         \
        ompi_mqs_call_begin_rare(NULL, OMPI_MQS_##id, 0, OMPI_MQS_ARGUMENTS(0, NULL, NULL, -1));

#define OMPI_MQS_ENTER_REQUEST_(id, record, request, persistent, count, datatype, op, root)             \
    struct ompi_mqs_request_guard mqs_guard __attribute__((cleanup(ompi_mqs_request_end), unused)) =   \
        ompi_mqs_request_begin((record), OMPI_MQS_##id, ompi_mqs_order_of_##id, (request), persistent, \
                               OMPI_MQS_ARGUMENTS(count, datatype, op, root));

#define OMPI_MQS_ENTER_REQUEST(id, comm, request, count, datatype, op, root) \
    OMPI_MQS_ENTER_REQUEST_(id, OMPI_MQS_RECORD(comm), request, 0, count, datatype, op, root)

#define OMPI_MQS_ENTER_INIT(id, comm, request, count, datatype, op, root) \
    OMPI_MQS_ENTER_REQUEST_(id, OMPI_MQS_RECORD(comm), request, 1, count, datatype, op, root)

#define OMPI_MQS_ENTER_PROCESS_REQUEST(id, request, count, datatype) \
    OMPI_MQS_ENTER_REQUEST_(id, NULL, request, 0, count, datatype, NULL, -1)

#else

#define OMPI_MQS_ENTER(id, comm, count, datatype, op, root)
#define OMPI_MQS_ENTER_RARE(id, comm, count, datatype, op, root)
#define OMPI_MQS_ENTER_PROCESS(id)
#define OMPI_MQS_ENTER_REQUEST(id, comm, request, count, datatype, op, root)
#define OMPI_MQS_ENTER_INIT(id, comm, request, count, datatype, op, root)
#define OMPI_MQS_ENTER_PROCESS_REQUEST(id, request, count, datatype)

#endif /* OMPI_MQS */
#endif
