/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback_body.h - setting a call aside while a callback of the user's runs.  See callback.h.
 */
#ifndef OMPI_MQS_CALLBACK_BODY_H
#define OMPI_MQS_CALLBACK_BODY_H

#include "ompi/mqs/callback.h"
#include "ompi/mqs/request_body.h"

/* Stacks grow downwards: a call whose callback began below this frame has been left without returning. */
static void ompi_mqs_outer_drop(struct ompi_mqs_thread *self, uintptr_t frame)
{
    uint32_t depth = self->outer_depth;

    while (0 < depth && ompi_mqs_own(self)->outer_frames[depth - 1] < frame) {
        depth--;
    }
    if (depth < self->outer_depth) {
        uint32_t left = 0 < depth ? self->outer[depth - 1].depth : 0;

        self->outer_depth = depth;
        OMPI_MQS_ORDER();
        if (left < self->depth) {
            ompi_mqs_store(&self->depth, left);
        }
    }
}

/* series: waits */
void ompi_mqs_outer_prune(struct ompi_mqs_thread *self)
{
    ompi_mqs_outer_drop(self, (uintptr_t) __builtin_frame_address(0));
}

/* series: end */
/* Class of the call that the thread is in. */
static uint32_t ompi_mqs_thread_class(const struct ompi_mqs_thread *self,
                                      const struct ompi_mqs_collectives *record)
{
    const struct ompi_mqs_call *ring = ompi_mqs_pointer(record->ring);
    uint64_t calls = ompi_mqs_ring_calls(record->position), back;

    if (OMPI_MQS_COLLECTIVE_NEWEST != self->collective || NULL == ring) {
        return self->collective;
    }
    for (back = 1; back <= OMPI_MQS_RING && back <= calls; back++) {
        const struct ompi_mqs_call *call = &ring[(calls - back) % OMPI_MQS_RING];

        if (0 == (call->flags & OMPI_MQS_CALL_REQUEST)) {
            return call->collective;
        }
    }
    return OMPI_MQS_COLLECTIVE_NEWEST;
}

/* A call that has failed is over while its error handler runs, which may never return. */
static void ompi_mqs_failed(struct ompi_mqs_aside *aside, uint32_t change)
{
    struct ompi_mqs_collectives *record = ompi_mqs_pointer(aside->call.collectives);

    if (NULL == record || OMPI_MQS_COLLECTIVE_NEWEST == aside->collective) {
        return;
    }
    ompi_mqs_lock_word(&ompi_mqs_home(record)->lock);
    (void) ompi_mqs_call_ended(record, aside->collective, aside->generation, change);
    ompi_mqs_unlock_word(&ompi_mqs_home(record)->lock);
}

struct ompi_mqs_aside ompi_mqs_callback_begin(int over, const void *frame)
{
    struct ompi_mqs_aside aside = {0};
    struct ompi_mqs_thread *self = ompi_mqs_self;
    struct ompi_mqs_own_thread *own = ompi_mqs_own(self);
    struct ompi_mqs_collectives *record;

    if (0 == self->tid) {
        return aside;
    }
    ompi_mqs_outer_drop(self, (uintptr_t) frame);
    record = ompi_mqs_pointer(__atomic_load_n(&ompi_mqs_inside, __ATOMIC_RELAXED));
    aside.self = self;
    aside.over = over;
    aside.depth = self->depth;
    aside.outer_depth = self->outer_depth;
    aside.call = (struct ompi_mqs_outer) {ompi_mqs_address(record), self->comm, self->collective, self->depth};
    aside.collective = OMPI_MQS_COLLECTIVE_NEWEST;
    if (NULL != record) {
        ompi_mqs_lock_word(&ompi_mqs_home(record)->lock);
        if (ompi_mqs_address(record) == __atomic_load_n(&ompi_mqs_inside, __ATOMIC_RELAXED)) {
            aside.collective = ompi_mqs_thread_class(self, record);
            aside.generation = ompi_mqs_home(record)->generation;
        } else {
            aside.generation = ompi_mqs_home(record)->generation - 1; /* its communicator went this moment */
        }
        ompi_mqs_unlock_word(&ompi_mqs_home(record)->lock);
    }
    if (over) {
        /* A non-blocking one is over by its pending record; a blocking one counts here. */
        if (NULL != own->making.request) {
            aside.collective = OMPI_MQS_COLLECTIVE_NEWEST;
            ompi_mqs_making_fail(own);
        }
        ompi_mqs_failed(&aside, 1);
    }
    aside.making = own->making;
    memset(&own->making, 0, sizeof(own->making));
    if (self->outer_depth < OMPI_MQS_OUTER_DEPTH) {
        struct ompi_mqs_outer *outer = &self->outer[self->outer_depth];

        outer->comm = aside.call.comm;
        outer->collective = aside.call.collective;
        outer->depth = aside.call.depth;
        ompi_mqs_store(&outer->collectives, aside.call.collectives);
        own->outer_frames[self->outer_depth] = (uintptr_t) frame;
        OMPI_MQS_ORDER();
        self->outer_depth++;
    } else {
        /* What cannot be set aside is not shown. */
        ompi_mqs_store(&self->depth, self->outer[OMPI_MQS_OUTER_DEPTH - 1].depth);
    }
    ompi_mqs_thread_outside(self);
    return aside;
}

void ompi_mqs_callback_end(struct ompi_mqs_aside *aside)
{
    struct ompi_mqs_thread *self = aside->self;
    struct ompi_mqs_collectives *record;

    if (NULL == self) {
        return;
    }
    if (aside->over) {
        ompi_mqs_failed(aside, (uint32_t) -1);
    }
    ompi_mqs_own(self)->making = aside->making;
    record = ompi_mqs_pointer(aside->call.collectives);
    if (NULL != record) {
        /* The callback, or another thread, may have ended the communicator. */
        ompi_mqs_lock_word(&ompi_mqs_home(record)->lock);
        if (ompi_mqs_home(record)->generation != aside->generation) {
            record = &ompi_mqs_process.record;
        }
        self->collective = aside->call.collective;
        self->comm = aside->call.comm;
        OMPI_MQS_ORDER();
        ompi_mqs_store(&ompi_mqs_inside, ompi_mqs_address(record));
        ompi_mqs_unlock_word(&ompi_mqs_home(ompi_mqs_pointer(aside->call.collectives))->lock);
    }
    self->outer_depth = aside->outer_depth;
    OMPI_MQS_ORDER();
    ompi_mqs_store(&self->depth, aside->depth);
}

#endif
