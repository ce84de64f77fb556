/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_body.h - collective calls that live on in a request.
 *
 * Each has a pending record: on its communicator's list of outstanding calls for readers, and in a table by
 * request for the library.  The table is what the completion callback looks into: callbacks are chained
 * with whatever argument the next one was given, so none may rely on carrying data of its own.
 */
#ifndef OMPI_MQS_REQUEST_BODY_H
#define OMPI_MQS_REQUEST_BODY_H

#include "ompi/mqs/call_body.h"
#include "ompi/mqs/request.h"
#include "ompi/request/request.h"

#define OMPI_MQS_BUCKETS 256u

struct ompi_mqs_pending {
    struct ompi_mqs_outstanding record; /* first: what readers see */
    struct ompi_mqs_collectives *home;  /* where it counts; NULL once that is gone */
    ompi_request_complete_fn_t callback; /* the request's own */
    void *callback_data;
    struct ompi_mqs_pending *next;      /* in the table, or in the list of free ones */
};

/* A persistent collective: what a start of it will record. */
struct ompi_mqs_template {
    struct ompi_mqs_template *next;
    struct ompi_request_t *request;
    struct ompi_mqs_collectives *home;
    struct ompi_mqs_call call;
};

/* All under the lock. */
static struct ompi_mqs_pending *ompi_mqs_pending_table[OMPI_MQS_BUCKETS];
static struct ompi_mqs_pending *ompi_mqs_pending_free; /* kept mapped: somebody may be reading them */
static struct ompi_mqs_template *ompi_mqs_templates[OMPI_MQS_BUCKETS];

static unsigned int ompi_mqs_bucket(const void *request)
{
    return (unsigned int) ((uintptr_t) request >> 6) % OMPI_MQS_BUCKETS;
}

static struct ompi_mqs_own_thread *ompi_mqs_own(struct ompi_mqs_thread *self)
{
    return (struct ompi_mqs_own_thread *) self;
}

/* A pending record, empty; NULL without memory. */
static struct ompi_mqs_pending *ompi_mqs_pending_create(void)
{
    struct ompi_mqs_pending *pending;

    ompi_mqs_lock();
    pending = ompi_mqs_pending_free;
    if (NULL != pending) {
        ompi_mqs_pending_free = pending->next;
    }
    ompi_mqs_unlock();
    if (NULL == pending) {
        pending = malloc(sizeof(*pending));
    }
    if (NULL != pending) {
        memset(pending, 0, sizeof(*pending));
    }
    return pending;
}

/* Counts the call and makes it visible.  Under the lock. */
static void ompi_mqs_pending_publish(struct ompi_mqs_pending *pending, struct ompi_mqs_collectives *home)
{
    struct ompi_mqs_count *count = &home->counts[pending->record.call.collective];

    pending->home = home;
    pending->record.next = home->outstanding;
    OMPI_MQS_ORDER();
    home->outstanding = ompi_mqs_address(pending);
    ompi_mqs_count_add(&count->calls, 1);
}

/* The opposite; the record becomes free.  Under the lock. */
static void ompi_mqs_pending_retire(struct ompi_mqs_pending *pending)
{
    ompi_mqs_addr_t *link;

    if (NULL != pending->home) {
        for (link = &pending->home->outstanding; 0 != *link && *link != ompi_mqs_address(pending);
             link = &((struct ompi_mqs_outstanding *) (uintptr_t) *link)->next) {
        }
        *link = pending->record.next;
        ompi_mqs_count_add(&pending->home->counts[pending->record.call.collective].ended, 1);
        pending->home = NULL;
    }
    pending->record.request = 0;
    pending->next = ompi_mqs_pending_free;
    ompi_mqs_pending_free = pending;
}

/* Takes request's pending record out of the table, NULL if it has none.  Under the lock. */
static struct ompi_mqs_pending *ompi_mqs_pending_take(const struct ompi_request_t *request)
{
    struct ompi_mqs_pending **link = &ompi_mqs_pending_table[ompi_mqs_bucket(request)];
    struct ompi_mqs_pending *pending;

    while (NULL != *link && (*link)->record.request != ompi_mqs_address(request)) {
        link = &(*link)->next;
    }
    pending = *link;
    if (NULL != pending) {
        *link = pending->next;
    }
    return pending;
}

/* The completion callback: runs before the request is marked complete, so nobody who has waited for it sees
   the call as active. */
static int ompi_mqs_request_completed(struct ompi_request_t *request)
{
    ompi_request_complete_fn_t callback = NULL;
    void *data = NULL;
    struct ompi_mqs_pending *pending;

    ompi_mqs_lock();
    pending = ompi_mqs_pending_take(request);
    if (NULL != pending) {
        callback = pending->callback;
        data = pending->callback_data;
        ompi_mqs_pending_retire(pending);
    }
    ompi_mqs_unlock();
    if (NULL == callback) {
        return OMPI_SUCCESS;
    }
    request->req_complete_cb_data = data;
    return callback(request);
}

/* From here on the call ends with request. */
static void ompi_mqs_pending_attach(struct ompi_mqs_pending *pending, struct ompi_request_t *request)
{
    struct ompi_mqs_pending **bucket = &ompi_mqs_pending_table[ompi_mqs_bucket(request)];

    ompi_mqs_lock();
    pending->callback = request->req_complete_cb;
    pending->callback_data = request->req_complete_cb_data;
    pending->record.request = ompi_mqs_address(request);
    pending->next = *bucket;
    *bucket = pending;
    ompi_mqs_unlock();
    request->req_complete_cb_data = request;
    request->req_complete_cb = ompi_mqs_request_completed;
}

/* Ends the call if its request is complete without having said so. */
static void ompi_mqs_request_settle(struct ompi_request_t *request)
{
    struct ompi_mqs_pending *pending;

    ompi_mqs_lock();
    pending = REQUEST_COMPLETE(request) ? ompi_mqs_pending_take(request) : NULL;
    if (NULL != pending) {
        if (ompi_mqs_request_completed == request->req_complete_cb) {
            request->req_complete_cb = pending->callback;
            request->req_complete_cb_data = pending->callback_data;
        }
        ompi_mqs_pending_retire(pending);
    }
    ompi_mqs_unlock();
}

void ompi_mqs_request_made(struct ompi_request_t *request, const struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;
    struct ompi_mqs_pending *pending;

    if (0 == self->tid) {
        return;
    }
    pending = ompi_mqs_own(self)->pending;
    if (NULL != pending && pending->home == record) {
        ompi_mqs_own(self)->pending = NULL;
        ompi_mqs_pending_attach(pending, request);
    }
}

struct ompi_mqs_request_guard
ompi_mqs_request_begin(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                       struct ompi_request_t **request, int persistent,
                       struct ompi_mqs_arguments arguments)
{
    struct ompi_mqs_request_guard guard = {{NULL, collective}, request, NULL, persistent, arguments};
    struct ompi_mqs_collectives *home = NULL != record ? record : &ompi_mqs_process;
    struct ompi_mqs_pending *pending = NULL;
    struct ompi_mqs_thread *self;
    struct ompi_mqs_call call;

    if (0 == ompi_mqs_root.recording) {
        return guard;
    }
    self = ompi_mqs_call_self();
    if (NULL == self) {
        return guard;
    }
    ompi_mqs_call_fill(&call, collective,
                       OMPI_MQS_CALL_REQUEST | (ordered && NULL != record ? OMPI_MQS_CALL_ORDERED : 0),
                       &arguments);
    if (!persistent) {
        pending = ompi_mqs_pending_create();
    }
    ompi_mqs_lock();
    call.number = ompi_mqs_ring_put(record, &call);
    if (NULL != pending) {
        pending->record.call = call;
        ompi_mqs_pending_publish(pending, home);
    }
    ompi_mqs_unlock();
    ompi_mqs_own(self)->pending = pending;
    ompi_mqs_thread_inside(self, collective, home);
    /* Tells a call that failed, which leaves the request alone, from one that set it. */
    guard.before = *request;
    *request = NULL;
    guard.call.record = home;
    return guard;
}

/* Remembers what a start of request will record. */
static void ompi_mqs_template_add(struct ompi_mqs_request_guard *guard, struct ompi_request_t *request)
{
    struct ompi_mqs_template *made = calloc(1, sizeof(*made));
    struct ompi_mqs_template **bucket = &ompi_mqs_templates[ompi_mqs_bucket(request)];

    if (NULL == made) {
        return;
    }
    made->request = request;
    made->home = guard->call.record;
    ompi_mqs_call_fill(&made->call, guard->call.collective, OMPI_MQS_CALL_REQUEST | OMPI_MQS_CALL_START,
                       &guard->arguments);
    ompi_mqs_lock();
    made->next = *bucket;
    *bucket = made;
    ompi_mqs_unlock();
}

void ompi_mqs_request_end(struct ompi_mqs_request_guard *guard)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;
    struct ompi_request_t *request;
    struct ompi_mqs_pending *pending;

    if (NULL == guard->call.record) {
        return;
    }
    request = *guard->request;
    if (NULL == request) {
        *guard->request = guard->before;
    }
    pending = ompi_mqs_own(self)->pending;
    ompi_mqs_own(self)->pending = NULL;
    if (guard->persistent) {
        if (NULL != request) {
            ompi_mqs_template_add(guard, request);
        }
    } else if (NULL != pending && (NULL == request || REQUEST_COMPLETE(request))) {
        ompi_mqs_lock();
        ompi_mqs_pending_retire(pending);
        ompi_mqs_unlock();
    } else if (NULL != pending) {
        ompi_mqs_pending_attach(pending, request);
        ompi_mqs_request_settle(request);
    }
    ompi_mqs_thread_outside(self);
}

void ompi_mqs_request_starting(struct ompi_request_t *request, const void *caller)
{
    struct ompi_mqs_pending *pending;
    struct ompi_mqs_template *template;
    int published = 0;

    if (0 == ompi_mqs_root.recording || NULL == (pending = ompi_mqs_pending_create())) {
        return;
    }
    ompi_mqs_lock();
    for (template = ompi_mqs_templates[ompi_mqs_bucket(request)];
         NULL != template && template->request != request; template = template->next) {
    }
    if (NULL != template && NULL != template->home) {
        pending->record.call = template->call;
        pending->record.call.caller = ompi_mqs_address(caller);
        ompi_mqs_stamp_cycles(&pending->record.call.begin_cycles);
        ompi_mqs_pending_publish(pending, template->home);
        published = 1;
    } else {
        ompi_mqs_pending_retire(pending);
    }
    ompi_mqs_unlock();
    if (published) {
        ompi_mqs_pending_attach(pending, request);
    }
}

void ompi_mqs_request_started(struct ompi_request_t *request)
{
    ompi_mqs_request_settle(request);
}

void ompi_mqs_request_forget(struct ompi_request_t *request)
{
    struct ompi_mqs_template **link;
    struct ompi_mqs_template *template;

    if (!REQUEST_COMPLETE(request)) {
        return; /* under way: its component refuses to free it */
    }
    ompi_mqs_lock();
    for (link = &ompi_mqs_templates[ompi_mqs_bucket(request)];
         NULL != *link && (*link)->request != request; link = &(*link)->next) {
    }
    template = *link;
    if (NULL != template) {
        *link = template->next;
    }
    ompi_mqs_unlock();
    free(template);
}

/* The record goes away: what is left of it ends without it. */
static void ompi_mqs_outstanding_orphan(struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_template *template;
    ompi_mqs_addr_t at;
    unsigned int i;

    ompi_mqs_lock();
    for (at = record->outstanding; 0 != at; at = ((struct ompi_mqs_outstanding *) (uintptr_t) at)->next) {
        ((struct ompi_mqs_pending *) (uintptr_t) at)->home = NULL;
    }
    for (i = 0; i < OMPI_MQS_BUCKETS; i++) {
        for (template = ompi_mqs_templates[i]; NULL != template; template = template->next) {
            if (template->home == record) {
                template->home = NULL;
            }
        }
    }
    ompi_mqs_unlock();
}

#endif
