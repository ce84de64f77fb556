/* SPDX-License-Identifier: BSD-3-Clause */
/* completion - MPI_Wait, MPI_Test and similar calls: which requests they complete, and the outcome of each.
 */
#include <string.h>

#include "recorder.h"

static bool was_cancelled(const unsigned char *status)
{
    int cancelled = 0;
    return status && ASK(Test_cancelled, (word)status, (word)&cancelled) == 0 && cancelled;
}

/* Another thread may mark partitions ready while this one waits for the request, so it stays in the index.
   That is safe: no other request gets the handle before this one is freed. */
static bool stays(const struct mpiq_record_request *request)
{
    return request && request->flags & MPIQ_RECORD_REQUEST_PARTITIONED;
}

/* With several threads, takes the request out of the index while this call may end it.  *known: there is a
   record, possibly shared with other requests. */
static struct mpiq_record_request *own(uint64_t handle, bool frees, bool *known)
{
    struct mpiq_record_request *request = NULL;
    bool in_place = !recorder_multiple;
    if (in_place || (!frees && __atomic_load_n(&recorder_partitioned, __ATOMIC_RELAXED))) {
        request = request_find(handle);
        in_place = in_place || stays(request);
    }
    if (!in_place)
        return request_detach(handle, known);
    *known = request != NULL;
    return request;
}

/* Puts requests of the call that have not ended, or may be started again, back into the index. */
static void put_back(struct call *call)
{
    for (size_t i = 0; recorder_multiple && i < call->request_count; i++) {
        if (call->self->requests[i] && !stays(call->self->requests[i]))
            request_attach(call->self->requests[i]);
    }
}

/* The call's request with that index has ended; status NULL: not available.  error: the code that it
   failed with; 0: it did not. */
static void end_request(struct call *call, size_t index, const unsigned char *status, int32_t error)
{
    struct mpiq_record_request *request = call->self->requests[index];
    /* Requests that complete immediately may share a handle, so this record may be freed already: find the
       next. */
    if (request && !recorder_multiple && request->state == MPIQ_RECORD_REQUEST_FREE)
        request = request_find(request->handle);
    if (!request || request->state != MPIQ_RECORD_REQUEST_ACTIVE)
        return;
    struct mpiq_record_comm *comm = arena_at(request->comm);
    bool cancel = request->flags & MPIQ_RECORD_REQUEST_CANCEL;
    if (request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE) {
        collective_end(comm, request->call.collective);
    } else if (request->kind == MPIQ_RECORD_REQUEST_RECEIVE && comm &&
               !(request->flags & MPIQ_RECORD_REQUEST_MATCHED)) {
        if (error == 0 && cancel && !status)
            channel_unclear(comm, request->peer);
        else if (error != 0)
            message_failed(comm, request->peer, request->tag, cancel ? 0 : error);
        else if (!cancel || !was_cancelled(status))
            message_received(request, status);
    } else if (request->kind <= MPIQ_RECORD_REQUEST_RSEND && cancel && comm && request->peer >= 0) {
        channel_unclear(comm, request->peer); /* cancelled or not: the count of sends is uncertain */
    }
    if (request->flags & MPIQ_RECORD_REQUEST_PERSISTENT)
        __atomic_store_n(&request->state, MPIQ_RECORD_REQUEST_INACTIVE, __ATOMIC_RELEASE);
    else {
        call->self->requests[index] = NULL;
        request_drop(request);
    }
}

/* Passes our own status if the program passes none and one of these requests needs it. */
static void want_statuses(struct call *call, char role, size_t count, bool array)
{
    word *argument = &ARGUMENT(call, role);
    bool wanted = false;
    for (size_t i = 0; i < call->request_count && !wanted; i++) {
        const struct mpiq_record_request *request = call->self->requests[i];
        wanted = request && (request->kind == MPIQ_RECORD_REQUEST_RECEIVE ||
                             request->flags & MPIQ_RECORD_REQUEST_CANCEL);
    }
    if (*argument != recorder_abi.status_ignore)
        call->status = (const unsigned char *)*argument;
    else if (wanted && !array)
        call->status = (const unsigned char *)(*argument = (word)call->self->status);
    else if (wanted && thread_status_room(call->self, count))
        call->status = (const unsigned char *)(*argument = (word)call->self->statuses);
}

static const unsigned char *status_at(const struct call *call, size_t index)
{
    return call->status ? call->status + index * recorder_abi.status_size : NULL;
}

/* Whether the call's statuses say which of its requests have failed. */
static bool tells_each(const struct call *call, int result)
{
    return call->status && error_class(result) == recorder_abi.in_status;
}

/* The call failed for that request, with an error of its own. */
static void note_failed(struct call *call, const struct mpiq_record_request *request, int32_t error)
{
    const struct mpiq_record_comm *comm = arena_at(request->comm);
    call->entry->comm = request->comm;
    call->entry->comm_id = comm ? comm->id[1] : 0;
    call->entry->peer = request->peer;
    call->entry->tag = request->tag;
    call->entry->error = error;
}

/* One of several requests of a call, by its status if these tell of each.  What is noted of the call is the
   first that failed. */
static void end_one(struct call *call, size_t index, const unsigned char *status, bool told, int result)
{
    int32_t error = result;
    if (told) /* follows the tag in all ABIs */
        memcpy(&error, status + recorder_abi.tag_at + sizeof(int32_t), sizeof error);
    if (told && error_class(error) == recorder_abi.pending)
        return; /* neither failed nor complete */
    const struct mpiq_record_request *request = call->self->requests[index];
    if (told && error != 0 && request && call->entry->error == result)
        note_failed(call, request, error);
    end_request(call, index, status, error);
}

void before_wait(struct call *call)
{
    const void *address = (const void *)ARGUMENT(call, 'r');
    if (!thread_room(call->self, 1))
        return;
    uint64_t handle = handle_at(address, 0);
    bool known = false;
    struct mpiq_record_request *request = NULL;
    call->thread->requests = (word)address;
    call->thread->first_request = handle;
    call->thread->request_count = 1;
    if (call->function->action != ACTION_CANCEL)
        request = own(handle, call->function->action == ACTION_REQUEST_FREE, &known);
    else
        known = (request = request_find(handle)) != NULL;
    call->self->requests[0] = request;
    call->request_count = 1;
    if (request) {
        call->comm = arena_at(request->comm);
        call->entry->comm = request->comm;
        call->entry->peer = request->peer;
        call->entry->tag = request->tag;
    } else if (!known && handle != recorder_abi.request_null && handle != recorder_abi.request_empty) {
        counter_add(&mpiq_record_root.unknown_requests, 1);
    }
    if (HAS(call, 's'))
        want_statuses(call, 's', 1, false);
}

/* False: MPI_Test or a similar call returned flag = 0. */
static bool ended(const struct call *call)
{
    return !HAS(call, 'f') || *(const int *)ARGUMENT(call, 'f') != 0;
}

void after_wait(struct call *call, int result)
{
    if (call->request_count && ended(call))
        end_request(call, 0, call->status, result);
    put_back(call);
}

void after_left_wait(struct call *call)
{
    for (size_t i = 0; i < call->request_count; i++) {
        const struct mpiq_record_request *request = call->self->requests[i];
        if (request && request->kind <= MPIQ_RECORD_REQUEST_RSEND)
            comm_is_loose(arena_at(request->comm));
        end_request(call, i, NULL, (int32_t)RECORDER_FAILED);
    }
    put_back(call);
}

void before_waits(struct call *call)
{
    int32_t count = (int32_t)ARGUMENT(call, 'k');
    const void *address = (const void *)ARGUMENT(call, 'A');
    call->thread->requests = (word)address;
    call->thread->request_count = count > 0 ? (uint64_t)count : 0;
    call->thread->first_request = 0;
    if (count <= 0 || !thread_room(call->self, (size_t)count))
        return;
    for (int32_t i = 0; i < count; i++) {
        bool known;
        call->self->requests[i] = own(handle_at(address, (size_t)i), false, &known);
    }
    call->request_count = (size_t)count;
    want_statuses(call, HAS(call, 'S') ? 'S' : 's', (size_t)count, HAS(call, 'S'));
}

void after_waitall(struct call *call, int result)
{
    bool told = tells_each(call, result);
    for (size_t i = 0; ended(call) && i < call->request_count; i++)
        end_one(call, i, status_at(call, i), told, result);
    put_back(call);
}

void after_waitany(struct call *call, int result)
{
    int32_t index = ended(call) ? *(const int32_t *)ARGUMENT(call, 'x') : -1;
    bool known = index >= 0 && (size_t)index < call->request_count;
    if (known && result != 0 && call->self->requests[index])
        note_failed(call, call->self->requests[index], result);
    if (known)
        end_request(call, (size_t)index, call->status, result);
    put_back(call);
}

void after_waitsome(struct call *call, int result)
{
    int32_t count = *(const int32_t *)ARGUMENT(call, 'o');
    const int32_t *indices = (const int32_t *)ARGUMENT(call, 'X');
    bool told = tells_each(call, result);
    for (int32_t i = 0; i < count && (size_t)i < call->request_count;
         i++) { /* the count is undefined after an error */
        if (indices[i] >= 0 && (size_t)indices[i] < call->request_count)
            end_one(call, (size_t)indices[i], status_at(call, (size_t)i), told, result);
    }
    put_back(call);
}

static void freed(struct mpiq_record_request *request)
{
    struct mpiq_record_comm *comm = arena_at(request->comm);
    /* From now on it is unknown whether the receive takes a message, or the cancelled send was withdrawn. */
    bool withdrawn =
        request->kind <= MPIQ_RECORD_REQUEST_RSEND && request->flags & MPIQ_RECORD_REQUEST_CANCEL;
    if (request->state == MPIQ_RECORD_REQUEST_ACTIVE && comm &&
        (request->kind == MPIQ_RECORD_REQUEST_RECEIVE || withdrawn))
        channel_unclear(comm, request->peer);
    if (request->state == MPIQ_RECORD_REQUEST_ACTIVE && request->kind <= MPIQ_RECORD_REQUEST_RSEND)
        comm_is_loose(comm);
    if (request->state == MPIQ_RECORD_REQUEST_ACTIVE && request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE)
        collective_end(comm, request->call.collective);
    request_drop(request);
}

void after_request_free(struct call *call, int result)
{
    struct mpiq_record_request *request = call->request_count ? call->self->requests[0] : NULL;
    if (result == 0 && request)
        freed(request);
    else if (request && recorder_multiple) /* a partitioned one, too */
        request_attach(request);
}

struct mpiq_record_request *request_freeing(uint64_t handle)
{
    bool known;
    return own(handle, true, &known);
}

void request_freed(struct mpiq_record_request *request, int result)
{
    if (!request)
        return;
    if (result == 0)
        freed(request);
    else if (recorder_multiple)
        request_attach(request);
}

void after_cancel(struct call *call, int result)
{
    struct mpiq_record_request *request = call->request_count ? call->self->requests[0] : NULL;
    if (result != 0 || !request)
        return;
    request->flags |= MPIQ_RECORD_REQUEST_CANCEL;
    const struct mpiq_record_request *half = arena_at(request->send_half);
    if (half && arena_at(half->comm)) /* cancelled, or not */
        channel_unclear(arena_at(half->comm), half->peer);
}
