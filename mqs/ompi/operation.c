/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "collective.h"
#include "error.h"
#include "operation.h"

static const char *const kind_names[] = {
    [mqs_kind_send] = "standard send",        [mqs_kind_bsend] = "buffered send",
    [mqs_kind_ssend] = "synchronous send",    [mqs_kind_rsend] = "ready send",
    [mqs_kind_receive] = "receive",           [mqs_kind_probe] = "probe",
    [mqs_kind_message] = "message",           [mqs_kind_collective] = "non-blocking collective",
    [mqs_kind_other] = "other request",       [mqs_kind_psend] = "partitioned send",
    [mqs_kind_precv] = "partitioned receive",
};

/* The line of extra text that this one fills next. */
static char *next_text(mqs_pending_operation *operation)
{
    for (int i = 0; i < 5; i++) {
        if (operation->extra_text[i][0] == '\0') {
            return operation->extra_text[i];
        }
    }
    return operation->extra_text[4];
}

static int kind_of(const struct request *request)
{
    if (request_is_send(request)) {
        switch (request->mode) {
        case MODE_SYNCHRONOUS:
            return mqs_kind_ssend;
        case MODE_BUFFERED:
            return mqs_kind_bsend;
        case MODE_READY:
            return mqs_kind_rsend;
        default:
            return mqs_kind_send;
        }
    }
    switch (request->pml_type) {
    case PML_PROBE:
    case PML_IPROBE:
        return mqs_kind_probe;
    case PML_MPROBE:
    case PML_IMPROBE:
        return request->complete == COMPLETE_DONE ? mqs_kind_message : mqs_kind_probe;
    default:
        return mqs_kind_receive;
    }
}

/* A request counts as complete at 1 only: any other value but 0 is what a thread waits on. */
static int status_of(const struct request *request, int kind)
{
    if (kind == mqs_kind_message) {
        return mqs_st_matched; /* by its probe; its receive is still to come */
    }
    if (request_is_done(request) || request->state == REQUEST_INACTIVE) {
        return mqs_st_complete;
    }
    if (request_is_send(request)) {
        return request->receiver_known ? mqs_st_matched : mqs_st_pending;
    }
    /* The library sets the status at the match; it starts as any tag, which no message has. */
    return request->status_tag != ANY_TAG ? mqs_st_matched : mqs_st_pending;
}

static int world_rank(struct library *library, const struct communicator *comm, int peer,
                      mqs_process_name *name, bool *known)
{
    *known = false;
    if (peer < 0 || comm == NULL ||
        group_member(&library->groups, communicator_peers(comm), peer, name) != mqs_ok) {
        return MQS_INVALID_PROCESS;
    }
    *known = true;
    return group_world_rank(&library->groups, *name);
}

/* Whether a send goes without its receiver's help: small enough for the transport to take it whole. */
static bool is_eager(struct library *library, const struct request *request)
{
    const struct layout *layout = &library->memory.layout;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t first;
    mqs_taddr_t btl;
    uint64_t limit;

    if (request->mode == MODE_SYNCHRONOUS || request->endpoint == 0 ||
        !layout_has(layout, AT_ENDPOINT_EAGER) || !layout_has(layout, AT_BTLS_ARRAY) ||
        !layout_has(layout, AT_BML_BTL_BTL) || !layout_has(layout, AT_BTL_EAGER_LIMIT) ||
        !layout_has(layout, AT_OB1_HEADER) ||
        fetch_structure(&library->memory, request->endpoint, AT_ENDPOINT, bytes) != mqs_ok) {
        return false;
    }
    first = (mqs_taddr_t)field_unsigned(&library->memory, bytes + layout->offset[AT_ENDPOINT_EAGER],
                                        AT_BTLS_ARRAY);
    if (field_unsigned(&library->memory, bytes + layout->offset[AT_ENDPOINT_EAGER], AT_BTLS_COUNT) == 0 ||
        first == 0 || fetch_structure(&library->memory, first, AT_BML_BTL, bytes) != mqs_ok) {
        return false;
    }
    btl = (mqs_taddr_t)field_unsigned(&library->memory, bytes, AT_BML_BTL_BTL);
    if (btl == 0 || fetch_structure(&library->memory, btl, AT_BTL, bytes) != mqs_ok) {
        return false;
    }
    limit = field_unsigned(&library->memory, bytes, AT_BTL_EAGER_LIMIT);
    return limit >= (uint64_t)layout->size[AT_OB1_HEADER] &&
           request->bytes_packed <= limit - (uint64_t)layout->size[AT_OB1_HEADER];
}

static int flags_of(struct library *library, const struct request *request)
{
    int flags = 0;

    flags |= request->persistent ? mqs_operation_persistent : 0;
    flags |= library_is_own(library, request) ? mqs_operation_internal : 0;
    flags |= request->state == REQUEST_INACTIVE ? mqs_operation_inactive : 0;
    flags |= request->freed ? mqs_operation_freed : 0;
    flags |= request->cancelled ? mqs_operation_cancelled : 0;
    return flags;
}

void operation_complete_details(struct library *library, mqs_operation_details *details)
{
    const struct request *request = request_find(&library->requests, details->request);

    if (request != NULL && request_is_send(request) && request->state == REQUEST_ACTIVE &&
        !request_is_done(request) && is_eager(library, request)) {
        details->flags |= mqs_operation_eager;
    }
}

/* The collective that internal traffic serves: an outstanding request's by its tag, else that of a thread
   which is in one on this communicator. */
static int collective_of(struct library *library, const struct request *request, int known)
{
    const struct nbc_request *outer;

    if (known >= 0 || !request_is_internal(request)) {
        return known;
    }
    if (request->tag <= communicator_nbc_base(&library->memory.layout)) {
        outer = library_nbc(library) == mqs_ok ? nbc_of_message(&library->nbc, request->comm, request->tag)
                                               : NULL;
        return outer == NULL ? -1 : outer->collective;
    }
    return library_collective_on(library, request->comm);
}

static void describe(struct library *library, int kind, const mqs_operation_details *details,
                     mqs_pending_operation *operation)
{
    const char *name = collective_name(details->collective);
    char *line = next_text(operation);

    snprintf(line, 64, "%s%s%s%s", (details->flags & mqs_operation_persistent) != 0 ? "persistent " : "",
             kind_names[kind], (details->flags & mqs_operation_inactive) != 0 ? ", not started" : "",
             (details->flags & mqs_operation_cancelled) != 0 ? ", cancelled" : "");
    if ((details->flags & mqs_operation_internal) != 0) {
        snprintf(next_text(operation), 64, "internal%s%s", name == NULL ? "" : ": ",
                 name == NULL ? "" : name);
    }
    if (details->datatype != 0 && kind != mqs_kind_probe && kind != mqs_kind_message) {
        const struct datatype *type = datatype_get(&library->datatypes, details->datatype);

        if (type->known) {
            snprintf(next_text(operation), 64, "%lld x %.42s", (long long)details->count,
                     type->name[0] == '\0' ? "(unnamed datatype)" : type->name);
        }
    }
    if (details->request != 0) {
        snprintf(next_text(operation), 64, "request 0x%llx", (unsigned long long)details->request);
    }
}

static void fill_peer(struct library *library, const struct communicator *comm, int peer,
                      mqs_pending_operation *ret, mqs_operation_details *details)
{
    bool known;

    ret->desired_local_rank = peer == ANY_SOURCE ? -1 : peer;
    ret->desired_global_rank = world_rank(library, comm, peer, &details->peer, &known);
    details->peer_known = known;
}

static void fill_actual(struct library *library, const struct communicator *comm, int peer, int tag,
                        int64_t length, mqs_pending_operation *ret, mqs_operation_details *details)
{
    mqs_process_name name;
    bool known;

    ret->actual_local_rank = peer;
    ret->actual_global_rank = world_rank(library, comm, peer, &name, &known);
    ret->actual_tag = tag;
    ret->actual_length = (mqs_tword_t)length;
    if (known) {
        details->peer = name;
        details->peer_known = 1;
    }
}

static void fill_datatype(struct library *library, mqs_taddr_t datatype, uint64_t count,
                          mqs_operation_details *details)
{
    details->datatype = datatype;
    details->count = count > INT64_MAX ? -1 : (int64_t)count;
    memcpy(details->datatype_name, datatype_get(&library->datatypes, datatype)->name,
           sizeof details->datatype_name);
}

int operation_of_request(struct library *library, const struct request *request, int collective,
                         mqs_pending_operation *ret, mqs_operation_details *details)
{
    const struct communicator *comm = communicator_find(&library->communicators, request->comm);
    int kind = kind_of(request);
    int64_t posted;

    memset(ret, 0, sizeof *ret);
    memset(details, 0, sizeof *details);
    details->request = request->address;
    details->comm = request->comm;
    fill_datatype(library, request->datatype, request->count, details);
    details->sequence = request->sequence;
    details->kind = kind;
    details->flags = flags_of(library, request);
    details->collective = collective_of(library, request, collective);

    posted = datatype_bytes(&library->datatypes, request->datatype, details->count);
    if (request_is_send(request) && request->bytes_packed > 0) {
        posted = (int64_t)request->bytes_packed;
    }
    if (kind == mqs_kind_probe || kind == mqs_kind_message) {
        posted = 0;
    }
    ret->status = status_of(request, kind);
    fill_peer(library, comm, request->peer, ret, details);
    ret->tag_wild = request->tag == ANY_TAG && !request_is_send(request);
    ret->desired_tag = request->tag;
    ret->desired_length = (mqs_tword_t)posted;
    ret->system_buffer = request->system_buffer != 0;
    ret->buffer = request->system_buffer != 0 ? request->system_buffer : request->buffer;
    if (kind == mqs_kind_probe || kind == mqs_kind_message) {
        ret->buffer = 0;
    }
    if (request_is_send(request)) {
        fill_actual(library, comm, request->peer, request->tag, posted, ret, details);
    } else if (request->state != REQUEST_INACTIVE && ret->status != mqs_st_pending) {
        uint64_t length = ret->status == mqs_st_complete || kind == mqs_kind_message ? request->status_bytes
                                                                                     : request->bytes_packed;

        fill_actual(library, comm, request->status_source, request->status_tag, (int64_t)length, ret,
                    details);
    }
    describe(library, kind, details, ret);
    return mqs_ok;
}

int operation_of_envelope(struct library *library, int kind, mqs_taddr_t comm, int peer, int tag,
                          mqs_pending_operation *ret, mqs_operation_details *details)
{
    const struct communicator *found = communicator_find(&library->communicators, comm);

    memset(ret, 0, sizeof *ret);
    memset(details, 0, sizeof *details);
    details->comm = comm;
    details->kind = kind;
    details->count = -1;
    details->collective = -1;
    ret->status = mqs_st_pending;
    fill_peer(library, found, peer, ret, details);
    ret->tag_wild = tag == ANY_TAG;
    ret->desired_tag = tag;
    ret->desired_length = -1;
    if (kind != mqs_kind_receive && kind != mqs_kind_probe) {
        fill_actual(library, found, peer, tag, -1, ret, details);
    }
    describe(library, kind, details, ret);
    return mqs_ok;
}

int operation_of_address(struct library *library, mqs_taddr_t address, int collective, mqs_taddr_t comm,
                         mqs_pending_operation *ret, mqs_operation_details *details)
{
    const struct request *known = request_find(&library->requests, address);
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    const struct nbc_request *outer;
    struct request request;
    mqs_taddr_t complete;
    uint64_t type;
    int code;

    if (known != NULL) {
        return operation_of_request(library, known, collective, ret, details);
    }
    code = fetch_structure(&library->memory, address, AT_REQUEST, bytes);
    if (code != mqs_ok) {
        return code;
    }
    type = field_unsigned(&library->memory, bytes, AT_REQUEST_TYPE);
    if (type == REQUEST_IS_PML && library_queues(library) == mqs_ok) {
        code = request_read(&library->memory, address, &request);
        return code == mqs_ok ? operation_of_request(library, &request, collective, ret, details) : code;
    }
    memset(ret, 0, sizeof *ret);
    memset(details, 0, sizeof *details);
    if (type == REQUEST_IS_PART && library_partitioned(library) == mqs_ok) {
        const struct partitioned *partitioned = partitioned_find(&library->partitioned, address);

        if (partitioned != NULL) {
            operation_of_partitioned(library, partitioned, ret, details);
            return mqs_ok;
        }
    }
    complete = (mqs_taddr_t)field_unsigned(&library->memory, bytes, AT_REQUEST_COMPLETE);
    outer = library_nbc(library) == mqs_ok ? nbc_find(&library->nbc, address) : NULL;
    details->request = address;
    details->comm = outer == NULL ? comm : outer->comm;
    details->count = -1;
    details->kind = type == REQUEST_IS_COLL || outer != NULL ? mqs_kind_collective : mqs_kind_other;
    details->collective = outer != NULL && outer->collective >= 0 ? outer->collective : collective;
    details->flags =
        field_unsigned(&library->memory, bytes, AT_REQUEST_PERSISTENT) != 0 ? mqs_operation_persistent : 0;
    if (field_unsigned(&library->memory, bytes, AT_REQUEST_STATE) == REQUEST_INACTIVE) {
        details->flags |= mqs_operation_inactive;
    }
    ret->status = complete == COMPLETE_DONE || (details->flags & mqs_operation_inactive) != 0
                      ? mqs_st_complete
                      : mqs_st_pending;
    ret->desired_local_rank = -1;
    ret->desired_global_rank = MQS_INVALID_PROCESS;
    ret->tag_wild = 1;
    ret->desired_length = -1;
    describe(library, details->kind, details, ret);
    if (collective_name(details->collective) != NULL) {
        snprintf(next_text(ret), 64, "%s", collective_name(details->collective));
    }
    return mqs_ok;
}

void operation_of_partitioned(struct library *library, const struct partitioned *request,
                              mqs_pending_operation *ret, mqs_operation_details *details)
{
    const struct communicator *comm = communicator_find(&library->communicators, request->comm);
    bool inactive = request->state != REQUEST_ACTIVE;

    memset(ret, 0, sizeof *ret);
    memset(details, 0, sizeof *details);
    details->request = request->address;
    details->comm = request->comm;
    fill_datatype(library, request->datatype, request->count, details);
    details->kind = request->send ? mqs_kind_psend : mqs_kind_precv;
    details->flags = mqs_operation_persistent | (inactive ? mqs_operation_inactive : 0) |
                     (request->freed ? mqs_operation_freed : 0);
    details->collective = -1;
    ret->status = request->complete || inactive ? mqs_st_complete : mqs_st_pending;
    fill_peer(library, comm, request->peer, ret, details);
    ret->desired_tag = request->tag;
    ret->desired_length = (mqs_tword_t)request->bytes;
    ret->buffer = request->buffer;
    if (request->send) {
        fill_actual(library, comm, request->peer, request->tag, (int64_t)request->bytes, ret, details);
    }
    describe(library, details->kind, details, ret);
    if (!inactive && request->missing >= 0) {
        snprintf(next_text(ret), 64, "%s: %lld of %lld partitions",
                 request->send ? "not ready" : "not arrived", (long long)request->missing,
                 (long long)request->parts);
    }
    if (!inactive && request->missing > 0) {
        snprintf(next_text(ret), 64, "%s", request->which);
    }
}

int operation_partitions(struct library *library, const mqs_operation_details *details, mqs_partitions *ret)
{
    const struct partitioned *request;

    if ((details->kind != mqs_kind_psend && details->kind != mqs_kind_precv) ||
        library_partitioned(library) != mqs_ok) {
        return mqs_no_information;
    }
    request = partitioned_find(&library->partitioned, details->request);
    if (request == NULL) {
        return mqs_no_information;
    }
    memset(ret, 0, sizeof *ret);
    ret->partitions = request->parts;
    ret->missing = request->missing;
    memcpy(ret->which, request->which, sizeof ret->which);
    ret->inner = request->inner;
    ret->moves = request->moves;
    return mqs_ok;
}

void operation_of_message(struct library *library, const struct communicator *comm,
                          const struct message *message, mqs_pending_operation *ret,
                          mqs_operation_details *details)
{
    memset(ret, 0, sizeof *ret);
    memset(details, 0, sizeof *details);
    details->comm = comm->address;
    details->count = (int64_t)message->length;
    details->sequence = message->sequence;
    details->kind = mqs_kind_message;
    details->collective = -1;
    details->flags |= message->tag < 0 ? mqs_operation_internal : 0;
    details->flags |= message->eager ? mqs_operation_eager : 0;
    details->flags |= message->early ? mqs_operation_out_of_order : 0;
    ret->status = mqs_st_pending;
    fill_peer(library, comm, message->source, ret, details);
    ret->desired_tag = message->tag;
    ret->desired_length = (mqs_tword_t)message->length;
    ret->system_buffer = 1;
    ret->buffer = message->buffer;
    fill_actual(library, comm, message->source, message->tag, (int64_t)message->length, ret, details);
    snprintf(next_text(ret), 64, "%s message%s", message->eager ? "eager" : "rendezvous",
             message->early ? ", came before one sent earlier" : "");
    if (message->tag < 0) {
        snprintf(next_text(ret), 64, "internal");
    }
}
