/* SPDX-License-Identifier: BSD-3-Clause */
#include "operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../callbacks.h"
#include "../error.h"

#define OPERATIONS_MAX (1u << 20)
#define WAITED_MAX (1u << 18) /* requests of one wait */

void operations_clear(struct operation_list *list)
{
    heap_free(list->operations);
    memset(list, 0, sizeof *list);
}

static struct operation *add(struct operation_list *list)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        struct operation *larger = capacity > OPERATIONS_MAX ? NULL : heap_allocate(capacity, sizeof *larger);

        if (larger == NULL) {
            return NULL;
        }
        if (list->count > 0) {
            memcpy(larger, list->operations, list->count * sizeof *larger);
        }
        heap_free(list->operations);
        list->operations = larger;
        list->capacity = capacity;
    }
    memset(&list->operations[list->count], 0, sizeof *list->operations);
    return &list->operations[list->count++];
}

static int compare_begin(const void *left, const void *right)
{
    const struct operation *a = left;
    const struct operation *b = right;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* ---- one operation ----------------------------------------------------------------------------------- */

int operation_world_rank(const struct copy *copy, const struct mpiq_record_comm *comm, int32_t local)
{
    const struct mpiq_record_group *group =
        copy_group(copy, comm->remote_group != 0 ? comm->remote_group : comm->group);
    uint32_t left = (uint32_t)local;

    for (uint32_t i = 0; local >= 0 && group != NULL && i < group->run_count; i++) {
        const struct mpiq_record_run *run = &group->runs[i];

        if (left >= run->count) {
            left -= run->count;
            continue;
        }
        if (run->first == MPIQ_RECORD_FOREIGN) {
            return MQS_INVALID_PROCESS;
        }
        return (int)((int64_t)run->first + (int64_t)run->stride * left);
    }
    return MQS_INVALID_PROCESS;
}

static void set_envelope(const struct copy *copy, const struct mpiq_record_comm *comm, int32_t peer,
                         int32_t tag, int64_t bytes, struct operation *operation)
{
    mqs_pending_operation *plain = &operation->plain;
    int global = comm == NULL ? MQS_INVALID_PROCESS : operation_world_rank(copy, comm, peer);

    plain->status = mqs_st_pending;
    plain->desired_local_rank = peer >= 0 ? peer : -1;
    plain->desired_global_rank = global;
    plain->tag_wild = tag == MPIQ_RECORD_ANY;
    plain->desired_tag = tag;
    plain->desired_length = bytes >= 0 ? (mqs_tword_t)bytes : -1;
    operation->details.comm = comm == NULL ? 0 : (mqs_taddr_t)comm->handle;
    operation->details.collective = -1;
    operation->details.peer_known = global >= 0;
    operation->details.peer.jobid = copy->root.jobid;
    operation->details.peer.vpid = global >= 0 ? (uint32_t)global : 0;
}

static const int kinds[] = {
    [MPIQ_RECORD_REQUEST_SEND] = mqs_kind_send,       [MPIQ_RECORD_REQUEST_BSEND] = mqs_kind_bsend,
    [MPIQ_RECORD_REQUEST_SSEND] = mqs_kind_ssend,     [MPIQ_RECORD_REQUEST_RSEND] = mqs_kind_rsend,
    [MPIQ_RECORD_REQUEST_RECEIVE] = mqs_kind_receive, [MPIQ_RECORD_REQUEST_COLLECTIVE] = mqs_kind_collective,
    [MPIQ_RECORD_REQUEST_OTHER] = mqs_kind_other,
};

/* With --strict a standard send is a synchronous one. */
static int send_kind(const struct copy *copy, int kind)
{
    return kind == mqs_kind_send && (copy->root.flags & MPIQ_RECORD_STRICT) != 0 ? mqs_kind_ssend : kind;
}

static int request_kind(const struct copy *copy, const struct mpiq_record_request *request)
{
    if (request->kind > MPIQ_RECORD_REQUEST_OTHER) {
        return mqs_kind_other;
    }
    if ((request->flags & MPIQ_RECORD_REQUEST_PARTITIONED) != 0) {
        return request->kind == MPIQ_RECORD_REQUEST_RECEIVE ? mqs_kind_precv : mqs_kind_psend;
    }
    /* --strict leaves MPI_Isendrecv as it is. */
    return (request->flags & MPIQ_RECORD_REQUEST_EXCHANGE) != 0 ? kinds[request->kind]
                                                                : send_kind(copy, kinds[request->kind]);
}

/* Uses a record's address in the process for a request whose address in the library is unknown. */
static mqs_taddr_t pseudo_request(const struct copy *copy, const void *record)
{
    return (mqs_taddr_t)(copy->root.arena + (uint64_t)((const unsigned char *)record - copy->bytes));
}

/* Appends "3" or "2-5" to a list.  The caller makes sure that it fits. */
static void add_partitions(char *list, size_t size, int low, int high)
{
    size_t length = strlen(list);
    const char *comma = length > 0 ? "," : "";

    if (low == high) {
        snprintf(list + length, size - length, "%s%d", comma, low);
    } else {
        snprintf(list + length, size - length, "%s%d-%d", comma, low, high);
    }
}

/* Lists the partitions whose bit is not set, as many as fit: "0-2,5", "0,2,4,...". */
static void list_missing(uint64_t ready, int partitions, char *list, size_t size)
{
    enum { ONE = 8 }; /* ",60-63" and then ",..." */

    list[0] = '\0';
    for (int i = 0; i < partitions; i++) {
        int low = i;

        if ((ready >> i & 1) != 0) {
            continue;
        }
        while (i + 1 < partitions && (ready >> (i + 1) & 1) == 0) {
            i++;
        }
        if (strlen(list) + 2 * ONE > size) {
            strcat(list, ",...");
            return;
        }
        add_partitions(list, size, low, i);
    }
}

/* Which partitions of a receive have arrived is not recorded. */
static void describe_partitions(const struct copy *copy, const struct mpiq_record_request *request,
                                mqs_partitions *ret)
{
    enum { BITS = 64 };

    ret->partitions = request->partitions > 0 ? request->partitions : 0;
    ret->missing = -1;
    if (request->kind == MPIQ_RECORD_REQUEST_RECEIVE || copy->root.lost_ready > 0) {
        return;
    }
    if (ret->partitions > BITS) {
        ret->missing = request->ready < ret->partitions ? ret->partitions - request->ready : 0;
        return;
    }
    ret->missing = 0;
    for (int i = 0; i < ret->partitions; i++) {
        ret->missing += (request->ready_bits >> i & 1) == 0;
    }
    list_missing(request->ready_bits, (int)ret->partitions, ret->which, sizeof ret->which);
}

static void from_request(const struct copy *copy, const struct mpiq_record_request *request,
                         struct operation *operation)
{
    mqs_operation_details *details = &operation->details;

    set_envelope(copy, copy_comm(copy, request->comm), request->peer, request->tag, request->bytes,
                 operation);
    operation->plain.buffer = (mqs_taddr_t)request->buffer;
    operation->begin = request->call.begin;
    details->request = request->handle != 0 ? (mqs_taddr_t)request->handle : pseudo_request(copy, request);
    details->sequence = request->call.begin;
    details->kind = request_kind(copy, request);
    details->count = request->call.count;
    details->datatype = (mqs_taddr_t)request->call.datatype;
    details->collective = request->call.collective;
    details->caller = (mqs_taddr_t)request->call.caller;
    copy_type_name(copy, request->call.datatype, details->datatype_name, sizeof details->datatype_name);
    if (request->kind == MPIQ_RECORD_REQUEST_BSEND) {
        details->flags |= mqs_operation_eager;
    }
    if ((request->flags & MPIQ_RECORD_REQUEST_PERSISTENT) != 0) {
        details->flags |= mqs_operation_persistent;
    }
    if (request->state == MPIQ_RECORD_REQUEST_INACTIVE) {
        details->flags |= mqs_operation_inactive;
    }
    if ((request->flags & MPIQ_RECORD_REQUEST_EXCHANGE) != 0) {
        details->flags |= mqs_operation_unnamed;
    }
    if ((request->flags & MPIQ_RECORD_REQUEST_PARTITIONED) != 0) {
        describe_partitions(copy, request, &operation->parts);
    }
    if ((request->flags & MPIQ_RECORD_REQUEST_MATCHED) != 0) {
        operation->plain.status = mqs_st_matched;
        operation->plain.actual_local_rank = request->peer >= 0 ? request->peer : -1;
        operation->plain.actual_global_rank = operation->plain.desired_global_rank;
        operation->plain.actual_tag = request->tag;
        operation->plain.actual_length = -1;
    }
    if (request->duplicates > 0) {
        snprintf(operation->plain.extra_text[0], sizeof operation->plain.extra_text[0],
                 "one of %lu requests with this handle", (unsigned long)request->duplicates + 1);
    }
}

static void from_call(const struct copy *copy, const struct mpiq_record_thread *thread,
                      const struct mpiq_record_call *call, bool receive_half, int kind,
                      struct operation *operation)
{
    mqs_operation_details *details = &operation->details;

    set_envelope(copy, copy_comm(copy, call->comm), receive_half ? thread->receive_peer : call->peer,
                 receive_half ? thread->receive_tag : call->tag,
                 receive_half ? thread->receive_bytes : call->bytes, operation);
    operation->begin = call->begin;
    /* MPI_Sendrecv's receive gets an address of its own, behind the record's. */
    details->request = pseudo_request(copy, thread) + (receive_half ? 8 : 0);
    details->flags = mqs_operation_unnamed;
    details->sequence = call->begin;
    details->kind = kind;
    details->caller = (mqs_taddr_t)call->caller;
    details->count = receive_half ? -1 : thread->count;
    if (!receive_half) {
        operation->plain.buffer = (mqs_taddr_t)thread->buffer;
        details->datatype = (mqs_taddr_t)thread->datatype;
        copy_type_name(copy, thread->datatype, details->datatype_name, sizeof details->datatype_name);
    }
}

/* ---- queues ------------------------------------------------------------------------------------------ */

enum { SEND_HALF = 1, RECEIVE_HALF = 2, OWN_ENVELOPE = 4 };

/* The halves that a blocking call puts into the queues, and their kind. */
static int call_parts(int family, int *kind)
{
    switch (family) {
    case MPIQ_RECORD_SEND:
        *kind = mqs_kind_send;
        return SEND_HALF;
    case MPIQ_RECORD_BSEND:
        *kind = mqs_kind_bsend;
        return SEND_HALF;
    case MPIQ_RECORD_SSEND:
        *kind = mqs_kind_ssend;
        return SEND_HALF;
    case MPIQ_RECORD_RSEND:
        *kind = mqs_kind_rsend;
        return SEND_HALF;
    case MPIQ_RECORD_RECV:
        *kind = mqs_kind_receive;
        return RECEIVE_HALF | OWN_ENVELOPE;
    case MPIQ_RECORD_PROBE:
    case MPIQ_RECORD_MPROBE:
        *kind = mqs_kind_probe;
        return RECEIVE_HALF | OWN_ENVELOPE;
    case MPIQ_RECORD_SENDRECV:
        *kind = mqs_kind_send;
        return SEND_HALF | RECEIVE_HALF;
    default:
        return 0;
    }
}

static bool has_peer(int32_t peer)
{
    return peer >= 0 || peer == MPIQ_RECORD_ANY;
}

/* Adds the wanted halves of a thread's call. */
static int add_call(const struct copy *copy, const struct mpiq_record_thread *thread,
                    const struct mpiq_record_call *call, int wanted, struct operation_list *list)
{
    const struct mpiq_record_function *function = copy_function(copy, call->function);
    int kind = mqs_kind_other;
    int parts = function == NULL ? 0 : call_parts(function->family, &kind);

    if ((parts & wanted & SEND_HALF) != 0 && has_peer(call->peer)) {
        struct operation *operation = add(list);

        if (operation == NULL) {
            return ERROR_NO_STORE;
        }
        from_call(copy, thread, call, false, send_kind(copy, kind), operation);
    }
    if ((parts & wanted & RECEIVE_HALF) != 0) {
        bool own = (parts & OWN_ENVELOPE) != 0;
        struct operation *operation;

        if (!has_peer(own ? call->peer : thread->receive_peer)) {
            return mqs_ok;
        }
        operation = add(list);
        if (operation == NULL) {
            return ERROR_NO_STORE;
        }
        from_call(copy, thread, call, !own, own ? kind : (int)mqs_kind_receive, operation);
    }
    return mqs_ok;
}

static bool in_queue(const struct mpiq_record_request *request, int class_)
{
    bool send = request->kind <= MPIQ_RECORD_REQUEST_RSEND;
    bool receive = request->kind == MPIQ_RECORD_REQUEST_RECEIVE;

    return class_ == mqs_pending_sends ? send : class_ == mqs_pending_receives && receive;
}

/* Probes are not posted receives. */
static bool is_probe(const struct copy *copy, const struct mpiq_record_call *call)
{
    const struct mpiq_record_function *function = copy_function(copy, call->function);

    return function != NULL &&
           (function->family == MPIQ_RECORD_PROBE || function->family == MPIQ_RECORD_MPROBE);
}

int operations_of_queue(const struct copy *copy, const struct mpiq_record_comm *comm, int class_,
                        struct operation_list *list)
{
    struct copy_requests walk;
    const struct mpiq_record_request *request;
    const struct mpiq_record_thread *thread;
    uint32_t at = 0;
    unsigned seen = 0;
    int wanted = class_ == mqs_pending_sends ? SEND_HALF : class_ == mqs_pending_receives ? RECEIVE_HALF : 0;

    operations_clear(list);
    if (copy->root.lost_requests > 0) {
        return ERROR_LOST_REQUESTS; /* their messages are unknown */
    }
    copy_requests_of(copy, comm, &walk);
    while ((request = copy_next_request(copy, &walk)) != NULL) {
        if (!in_queue(request, class_)) {
            continue;
        }
        struct operation *operation = add(list);

        if (operation == NULL) {
            return ERROR_NO_STORE;
        }
        from_request(copy, request, operation);
    }
    while ((thread = copy_next_thread(copy, &at, &seen)) != NULL) {
        const struct mpiq_record_call *call = copy_current_call(thread);
        int code = call != NULL && copy_comm(copy, call->comm) == comm && !is_probe(copy, call)
                       ? add_call(copy, thread, call, wanted, list)
                       : mqs_ok;

        if (code != mqs_ok) {
            return code;
        }
    }
    if (list->count > 1) {
        qsort(list->operations, list->count, sizeof *list->operations, compare_begin);
    }
    return mqs_ok;
}

/* ---- waits ------------------------------------------------------------------------------------------- */

/* Adds a request; for an exchange, both halves. */
static int add_request(const struct copy *copy, const struct mpiq_record_request *request,
                       struct operation_list *list)
{
    const struct mpiq_record_request *half = copy_at(copy, request->send_half, sizeof *half);
    struct operation *operation = add(list);

    if (operation != NULL) {
        from_request(copy, request, operation);
    }
    if (operation != NULL && half != NULL && half->state == MPIQ_RECORD_REQUEST_ACTIVE) {
        operation = add(list);
        if (operation != NULL) {
            from_request(copy, half, operation);
        }
    }
    return operation == NULL ? ERROR_NO_STORE : mqs_ok;
}

static int add_handles(const struct copy *copy, struct fetch *fetch, const unsigned char *handles,
                       uint64_t count, struct operation_list *list)
{
    int width = (int)copy->root.handle_size;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t handle = number_unsigned(fetch, handles + i * (uint64_t)width, width);
        const struct mpiq_record_request *found;
        struct operation *operation;

        if (handle == copy->root.request_null || handle == 0 || handle == copy->root.request_empty) {
            continue;
        }
        found = copy_request(copy, handle);
        if (found != NULL) {
            int code = add_request(copy, found, list);

            if (code != mqs_ok) {
                return code;
            }
            continue;
        }
        operation = add(list);
        if (operation == NULL) {
            return ERROR_NO_STORE;
        }
        set_envelope(copy, NULL, MPIQ_RECORD_ANY, MPIQ_RECORD_ANY, -1, operation);
        operation->details.kind = mqs_kind_other;
        operation->details.request = (mqs_taddr_t)handle;
    }
    return mqs_ok;
}

int operations_of_wait(const struct copy *copy, struct fetch *fetch, const struct mpiq_record_thread *thread,
                       const struct mpiq_record_call *call, struct operation_list *list)
{
    const struct mpiq_record_function *function = copy_function(copy, call->function);
    int family = function == NULL ? MPIQ_RECORD_OTHER : function->family;
    uint64_t count = thread->request_count;
    unsigned char *handles;
    size_t size;
    int code;

    operations_clear(list);
    if (family == MPIQ_RECORD_WAIT) {
        return add_handles(copy, fetch, (const unsigned char *)&thread->first_request,
                           thread->first_request == 0 ? 0 : 1, list);
    }
    if (family != MPIQ_RECORD_WAITALL && family != MPIQ_RECORD_WAITANY && family != MPIQ_RECORD_WAITSOME) {
        return add_call(copy, thread, call, SEND_HALF | RECEIVE_HALF, list);
    }
    if (count > WAITED_MAX) {
        return ERROR_TOO_MANY;
    }
    size = (size_t)(count * copy->root.handle_size);
    handles = heap_allocate(size + 1, 1);
    if (handles == NULL) {
        return ERROR_NO_STORE;
    }
    code = size == 0 ? mqs_ok : fetch_exact(fetch, (mqs_taddr_t)thread->requests, size, handles);
    if (code == mqs_ok) {
        code = add_handles(copy, fetch, handles, count, list);
    }
    heap_free(handles);
    return code;
}
