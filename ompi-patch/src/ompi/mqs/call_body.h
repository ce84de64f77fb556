/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_body.h - collective calls that are rare, and making and ending a communicator's record.
 */
#ifndef OMPI_MQS_CALL_BODY_H
#define OMPI_MQS_CALL_BODY_H

#include "ompi/mqs/call.h"
#include "ompi/mqs/thread_body.h"

struct ompi_mqs_thread *ompi_mqs_call_begin_slowly(void)
{
    if (&ompi_mqs_nobody != ompi_mqs_self) {
        return NULL; /* inside another call */
    }
    return ompi_mqs_thread_join();
}

/* The calling thread's record if it may begin a call now. */
static struct ompi_mqs_thread *ompi_mqs_call_self(void)
{
    return 0 != ompi_mqs_self->collectives ? ompi_mqs_call_begin_slowly() : ompi_mqs_self;
}

static void ompi_mqs_call_fill(struct ompi_mqs_call *call, uint32_t collective, uint32_t flags,
                               const struct ompi_mqs_arguments *arguments)
{
    memset(call, 0, sizeof(*call));
    call->collective = (uint16_t) collective;
    call->flags = (uint16_t) flags;
    call->root = arguments->root;
    call->count = arguments->count;
    call->datatype = ompi_mqs_address(arguments->datatype);
    call->op = ompi_mqs_address(arguments->op);
    call->caller = ompi_mqs_address(arguments->caller);
    call->tid = ompi_mqs_self->tid;
    ompi_mqs_stamp_cycles(&call->begin_cycles);
}

/* Puts a call into the ring where it belongs: an ordered one into its communicator's, which gives it a
   number; any other into the process's.  Returns the number or 0. */
static uint64_t ompi_mqs_ring_put(struct ompi_mqs_collectives *record, const struct ompi_mqs_call *call)
{
    struct ompi_mqs_collectives *home = call->flags & OMPI_MQS_CALL_ORDERED ? record : &ompi_mqs_process;
    struct ompi_mqs_call *slot;

    slot = (struct ompi_mqs_call *) ((char *) home->ring + home->position % sizeof(home->ring));
    *slot = *call;
    home->position += sizeof(*slot);
    return call->flags & OMPI_MQS_CALL_ORDERED ? home->position / sizeof(*slot) : 0;
}

/* Counts that several threads may touch: read at any time, written under the lock. */
static void ompi_mqs_count_add(uint32_t *count, uint32_t change)
{
    __atomic_store_n(count, *count + change, __ATOMIC_RELAXED);
}

struct ompi_mqs_guard
ompi_mqs_call_begin_rare(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                         struct ompi_mqs_arguments arguments)
{
    struct ompi_mqs_guard guard = {NULL, collective};
    struct ompi_mqs_collectives *home = NULL != record ? record : &ompi_mqs_process;
    struct ompi_mqs_thread *self;
    struct ompi_mqs_call call;

    if (0 == ompi_mqs_root.recording) {
        return guard;
    }
    self = ompi_mqs_call_self();
    if (NULL == self) {
        return guard;
    }
    ompi_mqs_call_fill(&call, collective, ordered && NULL != record ? OMPI_MQS_CALL_ORDERED : 0,
                       &arguments);
    ompi_mqs_lock();
    (void) ompi_mqs_ring_put(record, &call);
    ompi_mqs_count_add(&home->counts[collective].calls, 1);
    ompi_mqs_count_add(&home->counts[collective].active, 1);
    ompi_mqs_unlock();
    self->collective = collective;
    self->collectives = ompi_mqs_address(home);
    OMPI_MQS_ORDER();
    guard.self = self;
    return guard;
}

void ompi_mqs_call_end_rare(struct ompi_mqs_guard *guard)
{
    struct ompi_mqs_thread *self = guard->self;

    /* The call may have ended its communicator, and the record with it. */
    if (NULL != self && 0 != self->collectives) {
        struct ompi_mqs_collectives *home = (struct ompi_mqs_collectives *) (uintptr_t) self->collectives;

        ompi_mqs_lock();
        ompi_mqs_count_add(&home->counts[guard->collective].active, -1u);
        ompi_mqs_unlock();
        self->collectives = 0;
    }
}

/* A new record for communicator, NULL if recording is off or there is no memory. */
static struct ompi_mqs_collectives *ompi_mqs_collectives_create(const void *comm)
{
    struct ompi_mqs_collectives *record;

    if (0 == ompi_mqs_root.recording) {
        return NULL;
    }
    record = calloc(1, sizeof(*record));
    if (NULL != record) {
        record->size = sizeof(*record);
        record->classes = OMPI_MQS_COLLECTIVE_COUNT;
        record->comm = ompi_mqs_address(comm);
    }
    return record;
}

static void ompi_mqs_outstanding_orphan(struct ompi_mqs_collectives *record);

static void ompi_mqs_collectives_destroy(struct ompi_mqs_collectives *record)
{
    if (NULL == record) {
        return;
    }
    ompi_mqs_outstanding_orphan(record);
    if (ompi_mqs_self->collectives == ompi_mqs_address(record)) {
        ompi_mqs_self->collectives = 0;
    }
    free(record);
}

/* One step of the hash of a group's members; start with OMPI_MQS_HASH_START. */
static uint64_t ompi_mqs_hash_member(uint64_t hash, uint32_t jobid, uint32_t vpid)
{
    uint64_t name = (uint64_t) jobid | (uint64_t) vpid << 32;
    int i;

    for (i = 0; i < 8; i++, name >>= 8) {
        hash = (hash ^ (name & 0xff)) * OMPI_MQS_HASH_PRIME;
    }
    return hash;
}

#endif
