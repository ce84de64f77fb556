/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_body.h - dating of waits.
 */
#ifndef OMPI_MQS_WAIT_BODY_H
#define OMPI_MQS_WAIT_BODY_H

#include "ompi/mqs/thread_body.h"
#include "ompi/mqs/wait.h"

/*
 * Between two sweeps: cycles where there is a counter of them (a few milliseconds), calls where there is none.
 * Polls are no measure of time: where processes share a processor one may take longer than thousands
 * elsewhere.
 */
#define OMPI_MQS_SWEEP_EVERY (UINT64_C(1) << 23)
#define OMPI_MQS_SWEEP_EVERY_CALLS 512u

struct ompi_mqs_thread *ompi_mqs_wait_begin_long(uint32_t kind, const volatile void *comm,
                                                 const volatile void *object)
{
    struct ompi_mqs_thread *self = ompi_mqs_wait_begin(kind, 1, NULL, 0, comm, 0, 0, object);

    if (NULL != self && self->depth <= OMPI_MQS_WAIT_DEPTH) {
        ompi_mqs_store(&self->stack[self->depth - 1].begin_ns, ompi_mqs_now());
    }
    return self;
}

/*
 * Dates the waits that were there at the last sweep already.  The owner of a record may end its wait and
 * begin another meanwhile; that one then carries this moment, which is when it began as near as matters.
 */
static void ompi_mqs_sweep_thread(struct ompi_mqs_own_thread *thread)
{
    uint32_t depth = __atomic_load_n(&thread->record.depth, __ATOMIC_RELAXED);
    uint32_t i;

    for (i = 0; i < depth && i < OMPI_MQS_WAIT_DEPTH; i++) {
        struct ompi_mqs_wait *wait = &thread->record.stack[i];
        uint64_t episode = __atomic_load_n(&wait->episode, __ATOMIC_RELAXED);

        if (episode != thread->seen[i]) {
            thread->seen[i] = episode;
        } else if (0 == __atomic_load_n(&wait->begin_ns, __ATOMIC_RELAXED)) {
            __atomic_store_n(&wait->begin_ns, ompi_mqs_now(), __ATOMIC_RELAXED);
        }
    }
}

/* Whether a sweep is due. Threads that ask at once may all be told yes. */
static int ompi_mqs_sweep_due(void)
{
    static uint64_t last;
    uint64_t now, before = __atomic_load_n(&last, __ATOMIC_RELAXED);

    ompi_mqs_stamp_cycles(&now);
    if (0 == now) {
        __atomic_store_n(&last, before + 1, __ATOMIC_RELAXED);
        return 0 == before % OMPI_MQS_SWEEP_EVERY_CALLS;
    }
    if (now - before < OMPI_MQS_SWEEP_EVERY) {
        return 0;
    }
    __atomic_store_n(&last, now, __ATOMIC_RELAXED);
    return 1;
}

/* A low-priority callback of the progress engine; returns the events it handled, none. */
static int ompi_mqs_sweep(void)
{
    static char sweeping;
    struct ompi_mqs_thread *thread;

    if (!ompi_mqs_sweep_due() || __atomic_test_and_set(&sweeping, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    for (thread = (struct ompi_mqs_thread *) (uintptr_t) __atomic_load_n(&ompi_mqs_root.threads,
                                                                         __ATOMIC_ACQUIRE);
         NULL != thread; thread = (struct ompi_mqs_thread *) (uintptr_t) thread->next) {
        ompi_mqs_sweep_thread((struct ompi_mqs_own_thread *) thread);
    }
    __atomic_clear(&sweeping, __ATOMIC_RELEASE);
    return 0;
}

#endif
