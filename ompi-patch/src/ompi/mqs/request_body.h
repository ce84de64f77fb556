/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_body.h - collective calls that live on in a request.
 *
 * Each has a pending record: on its communicator's list of outstanding calls for readers, and in the member
 * req_mqs of the request for the library.  A persistent request has one for all of its life, which is on the
 * list between a start and its completion.  Who takes the record out of req_mqs owns it.
 *
 * A request ends its call from its completion callback.  One that came into our hands late, when another
 * thread may have been completing it already, ends it at the latest when it is freed.
 */
#ifndef OMPI_MQS_REQUEST_BODY_H
#define OMPI_MQS_REQUEST_BODY_H

#include "ompi/mqs/call_body.h"
#include "ompi/mqs/request.h"
#include "ompi/request/request.h"

struct ompi_mqs_pending {
    struct ompi_mqs_outstanding record; /* first: what readers see */
    ompi_mqs_addr_t *link;              /* where the list refers to it; NULL: not on the list */
    struct ompi_mqs_collectives *home;  /* where it counts */
    uint32_t generation;                /* of home */
    int persistent;
    /* The request's own.  Not in the request's order: loaded two at a time, members that have just been stored one
       by one would have to reach the cache first. */
    ompi_request_complete_fn_t callback;
    ompi_request_free_fn_t free;        /* NULL: not replaced */
    void *callback_data;
    struct ompi_mqs_own_thread *owner;  /* whose list of free ones it returns to */
    struct ompi_mqs_pending *next_free;
};

/* A pending record of the calling thread's; NULL without memory.  Not initialised but for its owner. */
static struct ompi_mqs_pending *ompi_mqs_pending_create(struct ompi_mqs_own_thread *own)
{
    struct ompi_mqs_pending *pending = own->free;

    if (NULL == pending) {
        pending = __atomic_exchange_n(&own->returned, NULL, __ATOMIC_ACQUIRE);
    }
    if (NULL != pending) {
        own->free = pending->next_free;
        return pending;
    }
    pending = malloc(sizeof(*pending));
    if (NULL != pending) {
        pending->owner = own;
    }
    return pending;
}

/* Kept mapped: somebody may be reading it. */
static void ompi_mqs_pending_free(struct ompi_mqs_pending *pending)
{
    struct ompi_mqs_own_thread *owner = pending->owner;

    __atomic_store_n(&pending->record.request, 0, __ATOMIC_RELAXED);
    if (ompi_mqs_own(ompi_mqs_self) == owner) {
        pending->next_free = owner->free;
        owner->free = pending;
        return;
    }
    pending->next_free = __atomic_load_n(&owner->returned, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&owner->returned, &pending->next_free, pending, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}

/* Counts the call and makes it visible.  Under home's lock. */
static void ompi_mqs_pending_publish(struct ompi_mqs_pending *pending)
{
    struct ompi_mqs_collectives *home = pending->home;
    struct ompi_mqs_count *count = ompi_mqs_count_of(home, pending->record.call.collective);
    struct ompi_mqs_pending *next = ompi_mqs_pointer(home->outstanding);

    pending->record.next = home->outstanding;
    pending->link = &home->outstanding;
    if (NULL != next) {
        next->link = &pending->record.next;
    }
    OMPI_MQS_ORDER();
    __atomic_store_n(&home->outstanding, ompi_mqs_address(pending), __ATOMIC_RELAXED);
    if (NULL != count) {
        ompi_mqs_count_add(&count->calls, 1);
    }
}

/* The opposite.  Under home's lock. */
static void ompi_mqs_pending_unpublish(struct ompi_mqs_pending *pending)
{
    struct ompi_mqs_collectives *home = pending->home;
    struct ompi_mqs_pending *next;

    if (NULL != pending->link &&
        ompi_mqs_call_ended(home, pending->record.call.collective, pending->generation, 1)) {
        next = ompi_mqs_pointer(pending->record.next);
        __atomic_store_n(pending->link, pending->record.next, __ATOMIC_RELAXED);
        if (NULL != next) {
            next->link = pending->link;
        }
    }
    pending->link = NULL;
}

static void ompi_mqs_pending_end(struct ompi_mqs_pending *pending)
{
    struct ompi_mqs_collectives *home = pending->home;

    ompi_mqs_lock_word(&ompi_mqs_home(home)->lock);
    ompi_mqs_pending_unpublish(pending);
    ompi_mqs_unlock_word(&ompi_mqs_home(home)->lock);
}

/* Takes the record of a request that is not persistent, and ends its call or not; whoever comes second gets
   NULL.  By then the record may be another request's, and its home another communicator's: the lock of either
   will do, for all that is seen under it is that the request has another record or none. */
static struct ompi_mqs_pending *ompi_mqs_pending_take(struct ompi_request_t *request, int end)
{
    struct ompi_mqs_pending *pending = __atomic_load_n(&request->req_mqs, __ATOMIC_ACQUIRE);
    struct ompi_mqs_own_collectives *own;

    if (NULL == pending) {
        return NULL;
    }
    own = ompi_mqs_home(__atomic_load_n(&pending->home, __ATOMIC_RELAXED));
    ompi_mqs_lock_word(&own->lock);
    if (pending != __atomic_load_n(&request->req_mqs, __ATOMIC_RELAXED)) {
        pending = NULL;
    } else {
        ompi_mqs_store(&request->req_mqs, NULL);
        if (end) {
            ompi_mqs_pending_unpublish(pending);
        }
    }
    ompi_mqs_unlock_word(&own->lock);
    return pending;
}

static int ompi_mqs_request_completed(struct ompi_request_t *request);

/* The request is as it was before it was given a record. */
static void ompi_mqs_request_restore(struct ompi_request_t *request, struct ompi_mqs_pending *pending)
{
    if (NULL != pending->free) {
        request->req_free = pending->free;
        pending->free = NULL;
    }
    if (ompi_mqs_request_completed == request->req_complete_cb) {
        request->req_complete_cb = pending->callback;
        request->req_complete_cb_data = pending->callback_data;
    }
}

/* The completion callback: runs before the request is marked complete, so nobody who has waited for it sees
   the call as active.  Callbacks are chained with whatever argument the next one was given, so none may rely
   on carrying data of its own. */
static int ompi_mqs_request_completed(struct ompi_request_t *request)
{
    struct ompi_mqs_pending *pending = __atomic_load_n(&request->req_mqs, __ATOMIC_ACQUIRE);
    ompi_request_complete_fn_t callback;
    void *data;

    if (NULL == pending || (!pending->persistent && NULL == (pending = ompi_mqs_pending_take(request, 1)))) {
        return OMPI_SUCCESS;
    }
    callback = pending->callback;
    data = pending->callback_data;
    if (NULL != pending->free) {
        request->req_free = pending->free;
        pending->free = NULL;
    }
    if (pending->persistent) {
        ompi_mqs_pending_end(pending);
    } else {
        ompi_mqs_pending_free(pending);
    }
    if (NULL == callback) {
        return OMPI_SUCCESS;
    }
    request->req_complete_cb_data = data;
    return callback(request);
}

/* In place of the request's own function: it had completed before its callback was ours. */
static int ompi_mqs_request_freed(struct ompi_request_t **request)
{
    struct ompi_mqs_pending *pending = (*request)->req_mqs;
    ompi_request_free_fn_t own_free = NULL != pending ? pending->free : NULL;

    if (NULL == own_free) {
        return OMPI_ERROR;
    }
    if (REQUEST_COMPLETE(*request) && NULL != ompi_mqs_pending_take(*request, 1)) {
        ompi_mqs_request_restore(*request, pending);
        ompi_mqs_pending_free(pending);
    }
    return own_free(request);
}

/* From here on the call ends with request. */
static void ompi_mqs_pending_attach(struct ompi_mqs_pending *pending, struct ompi_request_t *request)
{
    pending->callback = request->req_complete_cb;
    pending->callback_data = request->req_complete_cb_data;
    __atomic_store_n(&pending->record.request, ompi_mqs_address(request), __ATOMIC_RELAXED);
    __atomic_store_n(&request->req_mqs, pending, __ATOMIC_RELEASE);
    request->req_complete_cb_data = request;
    request->req_complete_cb = ompi_mqs_request_completed;
}

/* Ends a call whose request has not said so: it has failed, or it was complete from the beginning. */
static void ompi_mqs_request_withdraw(struct ompi_request_t *request)
{
    struct ompi_mqs_pending *pending = ompi_mqs_pending_take(request, 1);

    if (NULL != pending) {
        ompi_mqs_request_restore(request, pending);
        ompi_mqs_pending_free(pending);
    }
}

void ompi_mqs_request_made(struct ompi_request_t *request, const struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_making *making = &ompi_mqs_own(ompi_mqs_self)->making;
    struct ompi_mqs_pending *pending;

    if (0 == ompi_mqs_self->tid) {
        return;
    }
    pending = making->pending;
    if (NULL != pending && pending->home == record) {
        making->pending = NULL;
        making->made = request;
        pending->free = NULL;
        ompi_mqs_pending_attach(pending, request);
    }
}

/* The call has failed: nothing of it is under way. */
static void ompi_mqs_making_fail(struct ompi_mqs_own_thread *own)
{
    struct ompi_mqs_making *making = &own->making;

    if (NULL != making->pending) {
        ompi_mqs_pending_end(making->pending);
        ompi_mqs_pending_free(making->pending);
    }
    if (NULL != making->made) {
        ompi_mqs_request_withdraw(making->made);
    }
    making->pending = NULL;
    making->made = NULL;
    if (NULL == *making->request) {
        *making->request = making->before;
    }
}

/* A record for a request of a call that is under way. */
static struct ompi_mqs_pending *ompi_mqs_pending_of(struct ompi_mqs_own_thread *own,
                                                    struct ompi_mqs_collectives *home, int persistent)
{
    struct ompi_mqs_pending *pending = ompi_mqs_pending_create(own);

    if (NULL != pending) {
        pending->record.request = 0;
        pending->link = NULL;
        ompi_mqs_store(&pending->home, home);
        pending->persistent = persistent;
        pending->free = NULL;
    }
    return pending;
}

void ompi_mqs_request_begin(struct ompi_mqs_request_guard *guard, struct ompi_mqs_collectives *record,
                            uint32_t collective, int ordered, const void *comm)
{
    struct ompi_mqs_collectives *home = NULL != record ? record : &ompi_mqs_process.record;
    struct ompi_mqs_pending *pending = NULL;
    struct ompi_mqs_collectives *ring;
    struct ompi_mqs_thread *self;
    struct ompi_mqs_call call;
    uint64_t number;

    if (0 == ompi_mqs_root.recording) {
        return;
    }
    self = ompi_mqs_call_thread(home);
    if (NULL == self) {
        return;
    }
    call = ompi_mqs_call_of(collective,
                            OMPI_MQS_CALL_REQUEST | (ordered && NULL != record ? OMPI_MQS_CALL_ORDERED : 0),
                            &guard->arguments);
    ring = ompi_mqs_ring_of(record, &call, comm);
    if (!guard->persistent) {
        pending = ompi_mqs_pending_of(ompi_mqs_own(self), home, 0);
    }
    if (ring != home) {
        ompi_mqs_lock_word(&ompi_mqs_home(ring)->lock);
        (void) ompi_mqs_ring_put(ring, &call);
        ompi_mqs_unlock_word(&ompi_mqs_home(ring)->lock);
    }
    ompi_mqs_lock_word(&ompi_mqs_home(home)->lock);
    number = ring == home ? ompi_mqs_ring_put(ring, &call) : 0;
    guard->call.generation = ompi_mqs_home(home)->generation;
    if (NULL != pending) {
        pending->generation = guard->call.generation;
        call.number = number;
        pending->record.call = call;
        ompi_mqs_pending_publish(pending);
    }
    ompi_mqs_unlock_word(&ompi_mqs_home(home)->lock);
    ompi_mqs_thread_inside(self, collective, home, comm);
    /* Tells a call that failed, which leaves the request alone, from one that set it. */
    ompi_mqs_own(self)->making = (struct ompi_mqs_making) {pending, NULL, guard->request, *guard->request};
    *guard->request = NULL;
    guard->call.record = home;
}

/* Remembers what a start of request will record. */
static void ompi_mqs_template_add(struct ompi_mqs_own_thread *own, const struct ompi_mqs_request_guard *guard,
                                  struct ompi_request_t *request)
{
    struct ompi_mqs_pending *made = ompi_mqs_pending_of(own, guard->call.record, 1);

    if (NULL != made) {
        made->generation = guard->call.generation;
        made->callback = NULL;
        made->record.call = ompi_mqs_call_of(guard->call.collective, OMPI_MQS_CALL_REQUEST | OMPI_MQS_CALL_START,
                                             &guard->arguments);
        __atomic_store_n(&request->req_mqs, made, __ATOMIC_RELEASE);
    }
}

/* The component did not say that the request is this call's; it may be complete by now, or this moment. */
static void ompi_mqs_request_take_over(struct ompi_mqs_pending *pending, struct ompi_request_t *request)
{
    /* First of all: once it is attached it may be gone. */
    if (NULL != request->req_free) {
        pending->free = request->req_free;
        request->req_free = ompi_mqs_request_freed;
    }
    ompi_mqs_pending_attach(pending, request);
    if (REQUEST_COMPLETE(request)) {
        ompi_mqs_request_withdraw(request);
    }
}

void ompi_mqs_request_end(struct ompi_mqs_request_guard *guard)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;
    struct ompi_mqs_own_thread *own = ompi_mqs_own(self);
    struct ompi_mqs_making *making = &own->making;
    struct ompi_mqs_pending *pending;
    struct ompi_request_t *request;

    if (NULL == guard->call.record || 0 == self->tid) {
        return;
    }
    request = *guard->request;
    if (guard->persistent) {
        if (NULL == request) {
            *guard->request = making->before;
        } else {
            ompi_mqs_template_add(own, guard, request);
        }
    } else if (NULL == request || (NULL != making->made && making->made != request &&
                                   REQUEST_COMPLETE(request))) {
        /* The component has given back the request that it had made. */
        ompi_mqs_making_fail(own);
    } else if (NULL != making->made && making->made != request) {
        /* What it had made is a part of what the caller gets. */
        pending = ompi_mqs_pending_take(making->made, 0);
        if (NULL != pending) {
            ompi_mqs_request_restore(making->made, pending);
            ompi_mqs_request_take_over(pending, request);
        }
    } else if (NULL != making->pending && REQUEST_COMPLETE(request)) {
        ompi_mqs_pending_end(making->pending);
        ompi_mqs_pending_free(making->pending);
    } else if (NULL != making->pending) {
        ompi_mqs_request_take_over(making->pending, request);
    }
    memset(making, 0, sizeof(*making));
    ompi_mqs_thread_outside(self);
}

void ompi_mqs_request_starting(struct ompi_request_t *request, const void *caller)
{
    struct ompi_mqs_pending *pending = request->req_mqs;

    if (NULL == pending || !pending->persistent || NULL != pending->link) {
        return;
    }
    pending->record.call.caller = ompi_mqs_user_caller(ompi_mqs_address(caller));
    ompi_mqs_stamp_cycles(&pending->record.call.begin_cycles);
    ompi_mqs_lock_word(&ompi_mqs_home(pending->home)->lock);
    if (ompi_mqs_home(pending->home)->generation == pending->generation) {
        ompi_mqs_pending_publish(pending);
    }
    ompi_mqs_unlock_word(&ompi_mqs_home(pending->home)->lock);
    if (NULL != pending->link) {
        ompi_mqs_pending_attach(pending, request);
    }
}

void ompi_mqs_request_started(struct ompi_request_t *request, int failed)
{
    struct ompi_mqs_pending *pending = request->req_mqs;

    if (NULL != pending && pending->persistent && (failed || REQUEST_COMPLETE(request))) {
        ompi_mqs_request_restore(request, pending);
        ompi_mqs_pending_end(pending);
    }
}

/* Components start requests in order and stop at the first that fails: that one is the last of the active ones,
   and those behind it are inactive still. */
void ompi_mqs_requests_started(size_t count, struct ompi_request_t **requests, int failed)
{
    size_t i, last = count;

    for (i = 0; i < count; i++) {
        if (OMPI_REQUEST_ACTIVE == requests[i]->req_state) {
            last = i;
        }
    }
    for (i = 0; i < count; i++) {
        if (OMPI_MQS_IS_PERSISTENT_COLLECTIVE(requests[i])) {
            ompi_mqs_request_started(requests[i],
                                     failed && (i == last || OMPI_REQUEST_ACTIVE != requests[i]->req_state));
        }
    }
}

void ompi_mqs_request_forget(struct ompi_request_t *request)
{
    struct ompi_mqs_pending *pending = request->req_mqs;

    if (NULL == pending || !pending->persistent || !REQUEST_COMPLETE(request)) {
        return; /* under way: its component refuses to free it */
    }
    request->req_mqs = NULL;
    ompi_mqs_pending_free(pending);
}

#endif
