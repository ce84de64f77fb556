/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - collective calls: one line in each MPI function of the table in ompi_mqs.h.
 *
 * The line stands behind the parameter checks and before every early return.  Only the outermost call of a
 * thread is recorded: what MPI calls inside MPI is the library's own business.
 *
 *  OMPI_MQS_ENTER          the blocking ones that programs call in their inner loops: all inline, no
 *                          atomics (the standard forbids two at a time on one communicator).  It ends its
 *                          function; the rest of that is a function of its own, which is inlined twice: where
 *                          nothing is recorded, nothing is tested at the end
 *  OMPI_MQS_ENTER_RARE      blocking, but expensive anyway; those that may end their communicator; those
 *                          without one (comm is NULL)
 *  OMPI_MQS_ENTER_REQUEST  non-blocking: the guard ends with the call, the record with the request
 *  OMPI_MQS_ENTER_INIT      initialisation of a persistent one; its starts are counted by
 *                          ompi_mqs_request_start
 *
 * The last three declare a guard whose end is the function's end, however it returns.
 */
#ifndef OMPI_MQS_CALL_H
#define OMPI_MQS_CALL_H

#if OMPI_MQS_TEMPLATES
/* The MPI functions are in other libraries than the bodies, which no hidden symbol reaches. */
#define OMPI_MQS_ASSEMBLER 0
#else /* !OMPI_MQS_TEMPLATES */
/* x86-64 says some things in assembler, to save the caller instructions; the compiler says them elsewhere. */
#if defined(__x86_64__) && !defined(__ILP32__) && defined(__GNUC__)
#define OMPI_MQS_ASSEMBLER 1
#else
#define OMPI_MQS_ASSEMBLER 0
#endif
#endif /* OMPI_MQS_TEMPLATES */

#include "ompi/mqs/thread.h"
#include "ompi/mqs/wait.h"

#if OMPI_MQS

struct ompi_request_t;

/* Words of a record that are written or counted in one go, whatever members they hold. */
typedef uint32_t __attribute__((may_alias)) ompi_mqs_word_t;
typedef int32_t __attribute__((may_alias)) ompi_mqs_signed_word_t;

/* Of a rare call, which may end its communicator, and the record with it. */
struct ompi_mqs_rare_guard {
    struct ompi_mqs_collectives *record;    /* NULL: nothing to end */
    uint32_t collective;
    uint32_t generation;                    /* of the record: another one, and it is another communicator's */
};

/* The arguments of a call that a ring keeps; what the call does not have is 0, a root -1. */
struct ompi_mqs_arguments {
    int64_t count;
    const void *datatype;
    const void *op;
    int32_t root;
    const void *caller;
};

/* First call of a thread or on a communicator, or a call inside another one: the thread's record, or NULL if
   the call is not to be recorded. */
OMPI_DECLSPEC struct ompi_mqs_thread *ompi_mqs_call_begin_slowly(struct ompi_mqs_collectives *record)
    __attribute__((cold, used));

/* What a function may change beside the registers that every x86-64 has: a compiler that may use more of them keeps
   values there.  (Under an option that is off, it keeps none, whatever the function called does.) */
#if defined(__AVX512F__)
#define OMPI_MQS_CLOBBERS_AVX512                                                                              \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",      \
        "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define OMPI_MQS_CLOBBERS_AVX512
#endif
#if defined(__APX_F__)
#define OMPI_MQS_CLOBBERS_APX                                                                                 \
    , "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29",       \
        "r30", "r31"
#else
#define OMPI_MQS_CLOBBERS_APX
#endif

/* The same for OMPI_MQS_ENTER, whose function would otherwise have to keep its arguments from a call that
   happens once in a thread's life. */
OMPI_MQS_INLINE struct ompi_mqs_thread *ompi_mqs_call_begin_aside(struct ompi_mqs_collectives *record)
{
#if OMPI_MQS_ASSEMBLER
    struct ompi_mqs_thread *self;

    __asm__ volatile("call ompi_mqs_call_begin_keeping"
                     : "=a"(self)
                     : "a"(record)
                     : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15" OMPI_MQS_CLOBBERS_AVX512 OMPI_MQS_CLOBBERS_APX);
    return self;
#else
    return ompi_mqs_call_begin_slowly(record);
#endif
}

/* Where the next call goes in a ring. */
OMPI_MQS_INLINE struct ompi_mqs_call *ompi_mqs_ring_next(struct ompi_mqs_collectives *record)
{
    return (struct ompi_mqs_call *) ((ompi_mqs_word_t *) (uintptr_t) record->ring + (uint8_t) record->position);
}

/* record is not NULL. Returns whether the call is recorded, and has to be ended. */
OMPI_MQS_INLINE int ompi_mqs_call_begin(struct ompi_mqs_collectives *record, uint32_t collective, uint32_t flags,
#if OMPI_MQS_TEMPLATES
                                        int64_t count, const void *datatype, const void *op, int root)
#else /* !OMPI_MQS_TEMPLATES */
                                        int count, const void *datatype, const void *op, int root)
#endif /* OMPI_MQS_TEMPLATES */
{
    struct ompi_mqs_call *call;

    if (OMPI_MQS_RARELY(0 != (__atomic_load_n(&ompi_mqs_inside, __ATOMIC_RELAXED) |
                              OMPI_MQS_LOAD(&record->no_ring))) &&
        NULL == ompi_mqs_call_begin_aside(record)) {
        return 0;
    }
    call = ompi_mqs_ring_next(record);
    /* After the load of the same word, so that the increment is one instruction on memory. */
    OMPI_MQS_ORDER();
    record->position += OMPI_MQS_POSITION;
    *(ompi_mqs_word_t *) &call->collective =
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        collective | flags << 16;
#else
        collective << 16 | flags;
#endif
    if (0 == (flags & OMPI_MQS_CALL_NO_COUNT)) {
#if OMPI_MQS_TEMPLATES
        call->count = count;
#else /* !OMPI_MQS_TEMPLATES */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        /* Counts are ints and never negative here: the upper half of the slot stays as it was made, 0. */
        *(ompi_mqs_signed_word_t *) &call->count = count;
#else
        call->count = count;
#endif
#endif /* OMPI_MQS_TEMPLATES */
        call->datatype = ompi_mqs_address(datatype);
    }
    if (0 == (flags & OMPI_MQS_CALL_NO_ROOT)) {
        call->root = root;
    }
    if (0 == (flags & OMPI_MQS_CALL_NO_OP)) {
        call->op = ompi_mqs_address(op);
    }
    call->caller = ompi_mqs_address(__builtin_return_address(0));
    ompi_mqs_stamp_cycles(&call->begin_cycles);
    record->counts[collective].calls++;
    ompi_mqs_store(&ompi_mqs_inside, ompi_mqs_address(record));
    OMPI_MQS_ORDER();
    return 1;
}

OMPI_MQS_INLINE void ompi_mqs_call_end(struct ompi_mqs_collectives *record, uint32_t collective)
{
    record->counts[collective].ended++;
    ompi_mqs_stamp_cycles(&record->end_cycles);
    ompi_mqs_store(&ompi_mqs_inside, 0);
}

/* The same out of line, for a communicator's record, or the process's own if record is NULL; ordered says
   whether the call takes a running number, comm what communicator a call of the process's is on. */
OMPI_DECLSPEC struct ompi_mqs_rare_guard
ompi_mqs_call_begin_rare(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                         const void *comm, struct ompi_mqs_arguments arguments);
OMPI_DECLSPEC void ompi_mqs_call_end_rare(struct ompi_mqs_rare_guard *guard);

/* A non-blocking call under way in its MPI function. */
struct ompi_mqs_request_guard {
    struct ompi_mqs_rare_guard call;    /* filled by the begin */
    struct ompi_request_t **request;    /* the caller's */
    int persistent;
    struct ompi_mqs_arguments arguments;
};

/* Of a guard all but call is set. */
OMPI_DECLSPEC void ompi_mqs_request_begin(struct ompi_mqs_request_guard *guard,
                                          struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                                          const void *comm);
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

#if OMPI_MQS_TEMPLATES
/* A blocking call under way; record is NULL if there is nothing to end. */
struct ompi_mqs_call_guard {
    struct ompi_mqs_collectives *record;
    uint32_t collective;
};

OMPI_MQS_INLINE void ompi_mqs_call_guard_end(const struct ompi_mqs_call_guard *guard)
{
    if (NULL != guard->record) {
        ompi_mqs_call_end(guard->record, guard->collective);
    }
}

#define OMPI_MQS_ENTER(id, comm, count, datatype, op, root)                                             \
    struct ompi_mqs_call_guard mqs_guard __attribute__((cleanup(ompi_mqs_call_guard_end), unused)) = {   \
        OMPI_MQS_RECORD(comm), OMPI_MQS_##id};                                                          \
    if (NULL != mqs_guard.record &&                                                                     \
        !ompi_mqs_call_begin(mqs_guard.record, OMPI_MQS_##id,                                           \
                             OMPI_MQS_CALL_ORDERED | OMPI_MQS_FLAGS_OF(datatype, op, root), (count),    \
                             (datatype), (op), (root))) {                                               \
        mqs_guard.record = NULL;                                                                        \
    }

#else /* !OMPI_MQS_TEMPLATES */
/* Declares and defines the rest of the function of a call: id is the call's, parameters are the function's own. */
#define OMPI_MQS_REST(id, parameters) static inline __attribute__((always_inline)) int ompi_mqs_rest_##id parameters

#define OMPI_MQS_ENTER(id, comm, count, datatype, op, root, arguments)                                  \
    struct ompi_mqs_collectives *mqs_record = OMPI_MQS_RECORD(comm);                                    \
    int mqs_result;                                                                                     \
    if (NULL == mqs_record) {                                                                           \
        return ompi_mqs_rest_##id arguments;                                                            \
    }                                                                                                   \
    if (OMPI_MQS_RARELY(!ompi_mqs_call_begin(mqs_record, OMPI_MQS_##id,                                 \
                                             OMPI_MQS_CALL_ORDERED |                                    \
                                                 OMPI_MQS_FLAGS_OF(datatype, op, root),                 \
                                             (count), (datatype), (op), (root)))) {                     \
        return ompi_mqs_rest_##id arguments;                                                            \
    }                                                                                                   \
    mqs_result = ompi_mqs_rest_##id arguments;                                                          \
    ompi_mqs_call_end(mqs_record, OMPI_MQS_##id);                                                       \
    return mqs_result;

#endif /* OMPI_MQS_TEMPLATES */
#define OMPI_MQS_FLAGS_OF(datatype, op, root)                       \
    ((OMPI_MQS_LACKS(datatype, NULL) ? OMPI_MQS_CALL_NO_COUNT : 0) | \
     (OMPI_MQS_LACKS(op, NULL) ? OMPI_MQS_CALL_NO_OP : 0) |          \
     (OMPI_MQS_LACKS(root, -1) ? OMPI_MQS_CALL_NO_ROOT : 0))

/* Whether an argument says, as it is compiled, that the call has none. */
#define OMPI_MQS_LACKS(argument, none) (__builtin_constant_p(argument) && (none) == (argument))

#define OMPI_MQS_ENTER_RARE_(id, record, ordered, comm, count, datatype, op, root)                      \
    struct ompi_mqs_rare_guard mqs_guard __attribute__((cleanup(ompi_mqs_call_end_rare), unused)) =    \
        ompi_mqs_call_begin_rare((record), OMPI_MQS_##id, (ordered), (comm),                           \
                                 OMPI_MQS_ARGUMENTS(count, datatype, op, root));

#define OMPI_MQS_ENTER_RARE(id, comm, count, datatype, op, root)                                        \
    OMPI_MQS_ENTER_RARE_(id, OMPI_MQS_RECORD(comm), ompi_mqs_order_of_##id, (comm), count, datatype, op, root)

#define OMPI_MQS_ENTER_PROCESS(id) OMPI_MQS_ENTER_RARE_(id, NULL, 0, NULL, 0, NULL, NULL, -1)

/* On a file's or window's communicator, which is only named. */
#define OMPI_MQS_ENTER_PROCESS_ON(id, comm) OMPI_MQS_ENTER_RARE_(id, NULL, 0, (comm), 0, NULL, NULL, -1)

#define OMPI_MQS_ENTER_REQUEST_(id, record, request, persistent, comm, count, datatype, op, root)       \
    struct ompi_mqs_request_guard mqs_guard __attribute__((cleanup(ompi_mqs_request_end))) = {          \
        {NULL, OMPI_MQS_##id, 0}, (request), persistent, OMPI_MQS_ARGUMENTS(count, datatype, op, root)}; \
    ompi_mqs_request_begin(&mqs_guard, (record), OMPI_MQS_##id, ompi_mqs_order_of_##id, (comm));

#define OMPI_MQS_ENTER_REQUEST(id, comm, request, count, datatype, op, root) \
    OMPI_MQS_ENTER_REQUEST_(id, OMPI_MQS_RECORD(comm), request, 0, comm, count, datatype, op, root)

#define OMPI_MQS_ENTER_INIT(id, comm, request, count, datatype, op, root) \
    OMPI_MQS_ENTER_REQUEST_(id, OMPI_MQS_RECORD(comm), request, 1, comm, count, datatype, op, root)

#define OMPI_MQS_ENTER_PROCESS_REQUEST(id, request, comm, count, datatype) \
    OMPI_MQS_ENTER_REQUEST_(id, NULL, request, 0, comm, count, datatype, NULL, -1)

#else

#if OMPI_MQS_TEMPLATES
#define OMPI_MQS_ENTER(id, comm, count, datatype, op, root)
#else /* !OMPI_MQS_TEMPLATES */
#define OMPI_MQS_REST(id, parameters) static inline __attribute__((always_inline)) int ompi_mqs_rest_##id parameters
#define OMPI_MQS_ENTER(id, comm, count, datatype, op, root, arguments) return ompi_mqs_rest_##id arguments;
#endif /* OMPI_MQS_TEMPLATES */
#define OMPI_MQS_ENTER_RARE(id, comm, count, datatype, op, root)
#define OMPI_MQS_ENTER_PROCESS(id)
#define OMPI_MQS_ENTER_PROCESS_ON(id, comm)
#define OMPI_MQS_ENTER_REQUEST(id, comm, request, count, datatype, op, root)
#define OMPI_MQS_ENTER_INIT(id, comm, request, count, datatype, op, root)
#define OMPI_MQS_ENTER_PROCESS_REQUEST(id, request, comm, count, datatype)

#endif /* OMPI_MQS */
#endif
