/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "collective.h"
#include "comm_request.h"
#include "error.h"
#include "operation.h"
#include "wait.h"
#include "window.h"

#define MAX_OPERATIONS (1 << 20)
#define MAX_SYNCS (1 << 16)
#define EXCHANGE 2 /* messages of one request of MPI_Isendrecv */

/* Requests that wait on one sync object. */
struct sync {
    mqs_taddr_t address;
    mqs_taddr_t request;
    uint64_t sequence;
};

static int compare_syncs(const void *a, const void *b)
{
    const struct sync *left = a;
    const struct sync *right = b;

    if (left->address != right->address) {
        return left->address < right->address ? -1 : 1;
    }
    if (left->sequence != right->sequence) {
        return left->sequence < right->sequence ? -1 : 1;
    }
    return (left->request > right->request) - (left->request < right->request);
}

static int find_syncs(struct library *library, struct vector *syncs)
{
    const struct request *items;
    int code;

    if (!layout_has(&library->memory.layout, AT_SYNC_COUNT)) {
        return mqs_no_information;
    }
    code = library_requests(library);
    items = library->requests.list.items;
    for (size_t i = 0; code == mqs_ok && i < library->requests.list.count; i++) {
        struct sync *sync;

        if (items[i].state != REQUEST_ACTIVE || items[i].complete == COMPLETE_PENDING ||
            items[i].complete == COMPLETE_DONE) {
            continue;
        }
        sync = vector_add(syncs, sizeof *sync, MAX_SYNCS);
        if (sync == NULL) {
            return ERROR_TOO_MANY;
        }
        sync->address = items[i].complete;
        sync->request = items[i].address;
        sync->sequence = items[i].sequence;
    }
    if (code == mqs_ok && syncs->count > 0) {
        qsort(syncs->items, syncs->count, sizeof(struct sync), compare_syncs);
    }
    return code;
}

int waits_set_up(struct library *library, struct waits *waits)
{
    int code = mqs_ok;

    waits_clear(waits);
    waits->patched = library->root.present;
    if (waits->patched) {
        /* Requests in a wait are told apart by the lists; without them each is read by itself. */
        (void)library_requests(library);
        waits->thread.next = (mqs_taddr_t)library->root.record.threads;
        waits->left = OMPI_MQS_MAX_THREADS;
    } else {
        code = find_syncs(library, &waits->syncs);
    }
    waits->set_up = code == mqs_ok;
    return code;
}

/* The next thread that waits; mqs_end_of_list after the last. */
static int next_thread(struct library *library, struct waits *waits)
{
    do {
        mqs_taddr_t address = waits->thread.next;
        int code;

        if (address == 0) {
            return mqs_end_of_list;
        }
        if (waits->left == 0 || !cycle_check(&waits->cycle, address)) {
            waits->thread.next = 0;
            return ERROR_WAITS;
        }
        waits->left--;
        code = thread_read(&library->memory, &library->root, address, &waits->thread);
        if (code != mqs_ok) {
            waits->thread.next = 0;
            waits->thread.depth = 0;
            return code;
        }
        waits->level = 0;
    } while (waits->thread.depth == 0);
    return mqs_ok;
}

/* How the call is named where no collective is around it. */
static const char *call_of_kind(struct library *library, const struct ompi_mqs_wait *wait)
{
    const struct request *request;

    switch (wait->kind) {
    case OMPI_MQS_WAIT_REQUEST:
        return "MPI_Wait";
    case OMPI_MQS_WAIT_ALL:
        return "MPI_Waitall";
    case OMPI_MQS_WAIT_ANY:
        return "MPI_Waitany";
    case OMPI_MQS_WAIT_SOME:
        return "MPI_Waitsome";
    case OMPI_MQS_WAIT_SEND:
        request = wait->count == 0 ? request_find(&library->requests, (mqs_taddr_t)wait->requests) : NULL;
        if (request == NULL || request->mode == MODE_STANDARD || request->mode == MODE_COMPLETE) {
            return "MPI_Send";
        }
        return request->mode == MODE_SYNCHRONOUS ? "MPI_Ssend"
               : request->mode == MODE_READY     ? "MPI_Rsend"
                                                 : "MPI_Bsend";
    case OMPI_MQS_WAIT_RECEIVE:
        return "MPI_Recv";
    case OMPI_MQS_WAIT_PROBE:
        return "MPI_Probe";
    case OMPI_MQS_WAIT_MPROBE:
        return "MPI_Mprobe";
    case OMPI_MQS_WAIT_MRECV:
        return "MPI_Mrecv";
    case OMPI_MQS_WAIT_BSEND_DETACH:
        return "MPI_Buffer_detach";
    case OMPI_MQS_WAIT_INIT:
        return "MPI_Init";
    case OMPI_MQS_WAIT_FINALIZE:
        return "MPI_Finalize";
    case OMPI_MQS_WAIT_WIN_FENCE:
        return "MPI_Win_fence";
    case OMPI_MQS_WAIT_WIN_START:
        return "MPI_Win_start";
    case OMPI_MQS_WAIT_WIN_COMPLETE:
        return "MPI_Win_complete";
    case OMPI_MQS_WAIT_WIN_WAIT:
        return "MPI_Win_wait";
    case OMPI_MQS_WAIT_WIN_LOCK:
        return wait->peer < 0 ? "MPI_Win_lock_all" : "MPI_Win_lock";
    case OMPI_MQS_WAIT_WIN_UNLOCK:
        return wait->peer < 0 ? "MPI_Win_unlock_all" : "MPI_Win_unlock";
    case OMPI_MQS_WAIT_WIN_FLUSH:
        return wait->peer < 0 ? "MPI_Win_flush_all" : "MPI_Win_flush";
    case OMPI_MQS_WAIT_WIN_FREE:
        return "MPI_Win_free";
    default:
        return "";
    }
}

/* Whether a wait that names no request names a message. */
static bool has_envelope(const struct ompi_mqs_wait *wait)
{
    return wait->kind >= OMPI_MQS_WAIT_SEND && wait->kind <= OMPI_MQS_WAIT_MRECV && wait->comm != 0;
}

/* MPI_Buffer_detach waits for every buffered send that is not delivered; it names none.  The next one from
 *at on, or NULL. */
static const struct request *next_buffered(const struct library *library, size_t *at)
{
    const struct request *items = library->requests.list.items;

    while (*at < library->requests.list.count) {
        const struct request *item = &items[(*at)++];

        if (request_is_send(item) && item->mode == MODE_BUFFERED && item->state == REQUEST_ACTIVE &&
            !request_is_done(item)) {
            return item;
        }
    }
    return NULL;
}

static uint64_t count_operations(const struct library *library, const struct ompi_mqs_wait *wait)
{
    if (wait->kind == OMPI_MQS_WAIT_BSEND_DETACH) {
        uint64_t count = 0;
        size_t at = 0;

        while (next_buffered(library, &at) != NULL) {
            count++;
        }
        return count;
    }
    if (wait->count > 0) {
        return wait->requests == 0 ? 0 : wait->count;
    }
    return wait->requests != 0 || has_envelope(wait) ? 1 : 0;
}

/* A call's wait for its communicator under construction is one for all requests of its current step.  Where
   the user waits for such a request (MPI_Comm_idup's), it is that one, which the call is known by. */
static void look_inside(struct library *library, bool in_collective, struct ompi_mqs_wait *wait)
{
    mqs_taddr_t array;
    int count;

    if (in_collective && wait->kind == OMPI_MQS_WAIT_REQUEST && wait->count == 0 && wait->requests != 0 &&
        comm_request_step(&library->memory, (mqs_taddr_t)wait->requests, &array, &count)) {
        wait->requests = array;
        wait->count = (uint64_t)count;
        wait->need = (uint32_t)count;
    }
}

/* The requests of MPI_Isendrecv's messages, if they are what that request waits for. */
static bool exchange_step(struct library *library, mqs_taddr_t request, mqs_taddr_t *halves, int *count)
{
    int width = library->memory.layout.sizes.pointer_size;
    mqs_taddr_t array;

    if (request == 0 || request_find(&library->requests, request) != NULL ||
        !comm_request_step(&library->memory, request, &array, count) || *count > EXCHANGE) {
        return false;
    }
    for (int i = 0; i < *count; i++) {
        const struct request *half;

        if (fetch_pointer(&library->memory.fetch, array + (mqs_taddr_t)(i * width), &halves[i]) != mqs_ok) {
            return false;
        }
        half = request_find(&library->requests, halves[i]);
        if (half == NULL || request_is_internal(half)) {
            return false;
        }
    }
    return true;
}

static int request_at(struct library *library, const struct ompi_mqs_wait *wait, uint64_t at,
                      mqs_taddr_t *ret)
{
    int width = library->memory.layout.sizes.pointer_size;

    *ret = (mqs_taddr_t)wait->requests;
    return wait->count == 0
               ? mqs_ok
               : fetch_pointer(&library->memory.fetch, *ret + (mqs_taddr_t)(at * (uint64_t)width), ret);
}

static bool add_half(struct waits *waits, mqs_taddr_t request)
{
    mqs_taddr_t *half = vector_add(&waits->halves, sizeof *half, MAX_OPERATIONS);

    if (half != NULL) {
        *half = request;
    }
    return half != NULL;
}

/* A wait for one request, or for all of several, is one for both messages of an exchange among them. */
static void split_exchanges(struct library *library, struct waits *waits)
{
    const struct ompi_mqs_wait *wait = &waits->wait;
    bool split = false;
    bool whole = true;

    if ((wait->kind != OMPI_MQS_WAIT_REQUEST && wait->kind != OMPI_MQS_WAIT_ALL) || wait->requests == 0 ||
        !layout_has(&library->memory.layout, AT_COMM_REQUEST_SCHEDULE)) {
        return;
    }
    for (uint64_t i = 0; i < waits->operations && whole; i++) {
        mqs_taddr_t halves[EXCHANGE];
        mqs_taddr_t request;
        int count;

        whole = request_at(library, wait, i, &request) == mqs_ok;
        if (whole && exchange_step(library, request, halves, &count)) {
            split = true;
            for (int k = 0; k < count; k++) {
                whole = whole && add_half(waits, halves[k]);
            }
        } else {
            whole = whole && add_half(waits, request);
        }
    }
    if (!split || !whole) {
        vector_clear(&waits->halves);
    }
}

static int next_patched(struct library *library, struct waits *waits, mqs_wait *ret)
{
    const struct ompi_mqs_wait *wait;
    const char *name = NULL;

    do {
        if (waits->level >= waits->thread.depth) {
            int code = next_thread(library, waits);

            if (code != mqs_ok) {
                return code;
            }
        }
        wait = &waits->thread.stack[waits->level++];
    } while (wait->kind == OMPI_MQS_WAIT_NONE || waits->level <= waits->thread.outer);

    waits->wait = *wait;
    vector_clear(&waits->halves);
    look_inside(library, waits->thread.in_collective, &waits->wait);
    wait = &waits->wait;
    waits->operations = count_operations(library, wait);
    if (waits->operations > MAX_OPERATIONS) {
        waits->operations = 0;
        return ERROR_WAITS;
    }
    waits->collective = -1;
    waits->collective_comm = 0;
    if (waits->thread.in_collective) {
        waits->collective = waits->thread.collective;
        waits->collective_comm = waits->thread.comm;
        name = collective_name(waits->collective);
    } else {
        split_exchanges(library, waits);
    }
    ret->tid = waits->thread.tid;
    ret->level = (int)waits->level - 1;
    ret->kind = (int)wait->kind;
    ret->need = wait->need > INT_MAX ? INT_MAX : (int)wait->need;
    if (wait->kind == OMPI_MQS_WAIT_BSEND_DETACH) {
        ret->need = (int)waits->operations; /* all that there are now */
    }
    if (waits->halves.count > 0) {
        waits->operations = waits->halves.count;
        ret->kind = OMPI_MQS_WAIT_ALL;
        ret->need = (int)waits->operations;
    }
    ret->operations = (int)waits->operations;
    ret->collective = waits->collective;
    ret->episode = wait->episode;
    ret->begin_ns = wait->begin_ns > INT64_MAX ? 0 : (int64_t)wait->begin_ns;
    ret->comm = (mqs_taddr_t)wait->comm;
    ret->collective_comm = waits->collective_comm;
    if (wait->kind >= OMPI_MQS_WAIT_WIN_FENCE && wait->kind <= OMPI_MQS_WAIT_WIN_FREE) {
        ret->window = window_of_record(library, (mqs_taddr_t)wait->object);
        ret->window_target = wait->peer;
        ret->lock_exclusive = wait->tag == OMPI_MQS_LOCK_EXCLUSIVE;
    }
    snprintf(ret->call, sizeof ret->call, "%s", name == NULL ? call_of_kind(library, wait) : name);
    waits->next_operation = 0;
    return mqs_ok;
}

static int next_unpatched(struct library *library, struct waits *waits, mqs_wait *ret)
{
    const struct sync *syncs = waits->syncs.items;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    int64_t remaining = 0;
    size_t end = waits->next_sync;

    if (end >= waits->syncs.count) {
        return mqs_end_of_list;
    }
    waits->sync = syncs[end].address;
    waits->next_operation = end;
    while (end < waits->syncs.count && syncs[end].address == waits->sync) {
        end++;
    }
    waits->operations = end - waits->next_operation;
    waits->next_sync = end;
    if (fetch_structure(&library->memory, waits->sync, AT_SYNC, bytes) == mqs_ok) {
        remaining = field_signed(&library->memory, bytes, AT_SYNC_COUNT);
    }
    ret->kind = OMPI_MQS_WAIT_NONE;
    ret->need = remaining <= 0 || remaining > INT_MAX ? 0 : (int)remaining;
    ret->operations = (int)waits->operations;
    ret->collective = -1;
    return mqs_ok;
}

int waits_next(struct library *library, struct waits *waits, mqs_wait *ret)
{
    int code;

    waits->in_wait = false;
    if (!waits->set_up) {
        return ERROR_ORDER;
    }
    memset(ret, 0, sizeof *ret);
    code = waits->patched ? next_patched(library, waits, ret) : next_unpatched(library, waits, ret);
    waits->in_wait = code == mqs_ok;
    return code;
}

static int kind_of_envelope(uint32_t wait)
{
    switch (wait) {
    case OMPI_MQS_WAIT_SEND:
        return mqs_kind_send;
    case OMPI_MQS_WAIT_PROBE:
    case OMPI_MQS_WAIT_MPROBE:
        return mqs_kind_probe;
    case OMPI_MQS_WAIT_MRECV:
        return mqs_kind_message;
    default:
        return mqs_kind_receive;
    }
}

static int next_patched_operation(struct library *library, struct waits *waits, mqs_pending_operation *ret,
                                  mqs_operation_details *details)
{
    const struct ompi_mqs_wait *wait = &waits->wait;
    mqs_taddr_t address = (mqs_taddr_t)wait->requests;
    uint64_t at;

    if (wait->kind == OMPI_MQS_WAIT_BSEND_DETACH) {
        size_t next = (size_t)waits->next_operation;
        const struct request *request = next_buffered(library, &next);

        waits->next_operation = next;
        return request == NULL ? mqs_end_of_list : operation_of_request(library, request, -1, ret, details);
    }
    if (waits->next_operation >= waits->operations) {
        return mqs_end_of_list;
    }
    at = waits->next_operation++;
    if (waits->halves.count > 0) {
        address = ((const mqs_taddr_t *)waits->halves.items)[at];
    } else if (wait->count > 0) {
        int code = request_at(library, wait, at, &address);

        if (code != mqs_ok) {
            return code;
        }
    } else if (address == 0) {
        return operation_of_envelope(library, kind_of_envelope(wait->kind), (mqs_taddr_t)wait->comm,
                                     wait->peer, wait->tag, ret, details);
    }
    return operation_of_address(library, address, waits->collective, (mqs_taddr_t)wait->comm, ret, details);
}

int waits_next_operation(struct library *library, struct waits *waits, mqs_pending_operation *ret,
                         mqs_operation_details *details)
{
    int code;

    if (!waits->in_wait) {
        return ERROR_ORDER;
    }
    if (waits->patched) {
        code = next_patched_operation(library, waits, ret, details);
    } else if (waits->operations == 0) {
        return mqs_end_of_list;
    } else {
        const struct sync *sync = &((const struct sync *)waits->syncs.items)[waits->next_operation++];

        waits->operations--;
        code = operation_of_address(library, sync->request, -1, 0, ret, details);
    }
    return code;
}

void waits_clear(struct waits *waits)
{
    vector_clear(&waits->syncs);
    vector_clear(&waits->halves);
    memset(waits, 0, sizeof *waits);
}
