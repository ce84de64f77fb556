/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - what a thread waits for: published on the way into waiting, with plain stores.
 *
 * OMPI_MQS_WAITING opens a wait that lasts to the end of the enclosing block; it belongs where the library
 * already knows that it must wait.  Waits nest (a progress callback may wait itself).  The time of a wait's
 * begin is written some milliseconds later, by ompi_mqs_sweep, into those that last: no clock is read on the
 * way.
 */
#ifndef OMPI_MQS_WAIT_H
#define OMPI_MQS_WAIT_H

#include "ompi/mqs/thread.h"

#if OMPI_MQS

/* Drops the waits of calls that a callback of the user's has left by longjmp or an exception. */
OMPI_DECLSPEC void ompi_mqs_outer_prune(struct ompi_mqs_thread *self) __attribute__((cold));

/* Stores of members that ompi_mqs_sweep reads are relaxed atomic ones. */
OMPI_MQS_INLINE struct ompi_mqs_thread *ompi_mqs_wait_begin(uint32_t kind, uint32_t need,
                                                            const volatile void *requests, uint64_t count,
                                                            const volatile void *comm, int peer, int tag,
                                                            const volatile void *object)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;
    uint32_t depth;

    if (OMPI_MQS_RARELY(0 == self->tid)) {
        self = ompi_mqs_thread_join();
        if (NULL == self) {
            return NULL;
        }
    }
    if (OMPI_MQS_RARELY(0 != self->outer_depth)) {
        ompi_mqs_outer_prune(self);
    }
    depth = self->depth;
    if (depth < OMPI_MQS_WAIT_DEPTH) {
        struct ompi_mqs_wait *wait = &self->stack[depth];

        wait->kind = kind;
        wait->need = need;
        ompi_mqs_store(&wait->begin_ns, 0);
        ompi_mqs_store(&wait->episode, ++self->episodes);
        wait->requests = ompi_mqs_address(requests);
        wait->count = count;
        wait->comm = ompi_mqs_address(comm);
        wait->peer = peer;
        wait->tag = tag;
        wait->object = ompi_mqs_address(object);
    }
    OMPI_MQS_ORDER();
    ompi_mqs_store(&self->depth, depth + 1);
    return self;
}

OMPI_MQS_INLINE void ompi_mqs_wait_end(struct ompi_mqs_thread **waiting)
{
    if (NULL != *waiting) {
        OMPI_MQS_ORDER();
        ompi_mqs_store(&(*waiting)->depth, (*waiting)->depth - 1);
    }
}

/* Waits that are never short: dated at once, out of line. */
OMPI_DECLSPEC struct ompi_mqs_thread *ompi_mqs_wait_begin_long(uint32_t kind, const volatile void *comm,
                                                               const volatile void *object);

#define OMPI_MQS_WAITING(kind, need, requests, count, comm, peer, tag)                              \
    struct ompi_mqs_thread *mqs_waiting __attribute__((cleanup(ompi_mqs_wait_end), unused)) =       \
        ompi_mqs_wait_begin((kind), (need), (requests), (count), (comm), (peer), (tag), NULL);

#define OMPI_MQS_WAITING_IF(condition, kind, need, requests, count)                                 \
    struct ompi_mqs_thread *mqs_waiting __attribute__((cleanup(ompi_mqs_wait_end), unused)) =       \
        (condition) ? ompi_mqs_wait_begin((kind), (need), (requests), (count), NULL, 0, 0, NULL)    \
                    : NULL;

/* In a function that polls in a loop of its own: OMPI_MQS_MAY_WAIT before the loop, OMPI_MQS_DOES_WAIT where
   a poll has found nothing. */
#define OMPI_MQS_MAY_WAIT \
    struct ompi_mqs_thread *mqs_waiting __attribute__((cleanup(ompi_mqs_wait_end), unused)) = NULL;

#define OMPI_MQS_DOES_WAIT(kind, comm, peer, tag)                                                   \
    if (NULL == mqs_waiting) {                                                                      \
        mqs_waiting = ompi_mqs_wait_begin((kind), 1, NULL, 0, (comm), (peer), (tag), NULL);         \
    }

/* In an MPI function of which a thread may not come back, for the rest of it: whatever the component that
   serves it waits for. */
#define OMPI_MQS_WAITING_IN(kind, comm, object)                                                     \
    struct ompi_mqs_thread *mqs_waiting __attribute__((cleanup(ompi_mqs_wait_end), unused)) =       \
        ompi_mqs_wait_begin((kind), 1, NULL, 0, (comm), 0, 0, (object));

/* The same for a one-sided call: target -1 for all of them. */
#define OMPI_MQS_WAITING_WINDOW(kind, window, target, lock_type)                                    \
    struct ompi_mqs_thread *mqs_waiting __attribute__((cleanup(ompi_mqs_wait_end), unused)) =       \
        ompi_mqs_wait_begin((kind), 1, NULL, 0, NULL, (target), (lock_type), (window)->w_mqs);

#define OMPI_MQS_WAITING_LONG(kind, comm, object)                                                   \
    struct ompi_mqs_thread *mqs_waiting __attribute__((cleanup(ompi_mqs_wait_end), unused)) =       \
        ompi_mqs_wait_begin_long((kind), (comm), (object));

#else

#define OMPI_MQS_WAITING(kind, need, requests, count, comm, peer, tag)
#define OMPI_MQS_WAITING_IF(condition, kind, need, requests, count)
#define OMPI_MQS_MAY_WAIT
#define OMPI_MQS_DOES_WAIT(kind, comm, peer, tag)
#define OMPI_MQS_WAITING_IN(kind, comm, object)
#define OMPI_MQS_WAITING_WINDOW(kind, window, target, lock_type)
#define OMPI_MQS_WAITING_LONG(kind, comm, object)
#define OMPI_MQS_WAIT_REQUEST 0
#define OMPI_MQS_WAIT_SEND 0
#define OMPI_MQS_WAIT_RECEIVE 0
#define OMPI_MQS_WAIT_PROBE 0
#define OMPI_MQS_WAIT_MPROBE 0
#define OMPI_MQS_WAIT_MRECV 0

#endif /* OMPI_MQS */
#endif
