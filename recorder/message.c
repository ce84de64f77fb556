/* SPDX-License-Identifier: BSD-3-Clause */
/* message - sends, receives and probes: what they are, and their outcome. */
#include <string.h>

#include "recorder.h"

static int32_t status_source(const unsigned char *status)
{
    int32_t source;
    memcpy(&source, status + recorder_abi.source_at, sizeof source);
    return source;
}

static int32_t status_tag(const unsigned char *status)
{
    int32_t tag;
    memcpy(&tag, status + recorder_abi.tag_at, sizeof tag);
    return tag;
}

/* The history shows the received message's envelope, not the receive's. */
static void note_received(struct mpiq_record_call *entry, const unsigned char *status)
{
    entry->peer = peer_of(status_source(status));
    entry->tag = status_tag(status);
    entry->bytes = abi_status_bytes(status);
}

/* A receive or probe has taken a message; status NULL: not known which. */
static void received(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, const unsigned char *status,
                     const struct message *data)
{
    int64_t bytes = -1;
    if (!comm || peer == MPIQ_RECORD_PROC_NULL)
        return;
    if (status) {
        peer = peer_of(status_source(status));
        tag = status_tag(status);
        bytes = abi_status_bytes(status);
    }
    if (peer >= 0 && tag >= 0) {
        channel_receive(comm, peer, tag, bytes);
        if (recorder_check) {
            struct message message = *data;
            message.comm = comm;
            message.peer = peer;
            message.tag = tag;
            message.bytes = bytes;
            fact_message(false, &message);
        }
    } else if (peer != MPIQ_RECORD_PROC_NULL)
        channel_unclear(comm, peer);
}

/* The message that a call sends or expects. */
static struct message data_of(const struct call *call, uint64_t datatype, int64_t count)
{
    return (struct message){.comm = call->comm,
                            .peer = call->entry->peer,
                            .tag = call->entry->tag,
                            .datatype = datatype,
                            .count = count,
                            .bytes = -1,
                            .function = call->entry->function,
                            .caller = call->caller};
}

/* The program may not want the status; we do. */
static void want_status(struct call *call)
{
    word *status = &ARGUMENT(call, 's');
    if (*status == recorder_abi.status_ignore)
        *status = (word)call->self->status;
    call->status = (const unsigned char *)*status;
}

static bool is_partitioned(const struct function *function)
{
    return function->action == ACTION_PSEND_INIT || function->action == ACTION_PRECV_INIT;
}

/* Notes count, datatype, bytes and buffer of a call's first or only message. */
static void describe_data(struct call *call)
{
    struct mpiq_record_thread *thread = call->thread;
    thread->count = HAS(call, 'n') ? count_of(call, ARGUMENT(call, 'n')) : -1;
    thread->datatype = HAS(call, 't') ? handle_of(ARGUMENT(call, 't')) : 0;
    thread->buffer = HAS(call, 'b') ? ARGUMENT(call, 'b') : 0;
    call->entry->bytes = thread->datatype ? bytes_of(thread->count, thread->datatype) : -1;
    if (is_partitioned(call->function) && call->entry->bytes >= 0)
        call->entry->bytes *= (int32_t)call->arguments[1]; /* times the number of partitions */
}

void before_envelope(struct call *call)
{
    call->entry->peer = peer_of((int32_t)ARGUMENT(call, 'p'));
    if (HAS(call, 'g'))
        call->entry->tag = tag_of((int32_t)ARGUMENT(call, 'g'));
    describe_data(call);
}

static uint64_t begin_send(struct call *call)
{
    if (call->entry->peer < 0 || !call->comm)
        return 0;
    if (recorder_check) {
        struct message message = data_of(call, call->thread->datatype, call->thread->count);
        fact_message(true, &message);
    }
    if (call->function->action == ACTION_BSEND || call->function->action == ACTION_IBSEND)
        comm_is_loose(call->comm);
    return channel_send(call->comm, call->entry->peer, call->entry->tag, call->entry->bytes);
}

void before_send(struct call *call)
{
    before_envelope(call);
    call->thread->sequence = begin_send(call);
}

/* What the channel counts may be wrong. */
static void doubt(struct mpiq_record_comm *comm, int32_t peer)
{
    if (comm && peer != MPIQ_RECORD_PROC_NULL)
        channel_unclear(comm, peer);
}

void message_failed(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int32_t error)
{
    if (comm && peer >= 0 && tag >= 0 && error_class(error) == recorder_abi.truncate)
        channel_receive(comm, peer, tag, -1);
    else
        doubt(comm, peer);
}

/* The send was counted before it failed.  Where its arguments are wrong it has not gone out; else it may. */
void after_send(struct call *call, int result)
{
    if (result == 0 || !call->comm || call->entry->peer < 0)
        return;
    if (call_refused(result) && !recorder_check)
        channel_send_undone(call->comm, call->entry->peer, call->entry->tag, call->entry->bytes);
    else
        channel_unclear(call->comm, call->entry->peer);
}

void before_receive(struct call *call)
{
    before_envelope(call);
    want_status(call);
}

void after_receive(struct call *call, int result)
{
    struct message data = data_of(call, call->thread->datatype, call->thread->count);
    if (result == 0) {
        received(call->comm, call->entry->peer, call->entry->tag, call->status, &data);
        if (call->entry->peer != MPIQ_RECORD_PROC_NULL)
            note_received(call->entry, call->status);
    } else if (!call_refused(result)) {
        message_failed(call->comm, call->entry->peer, call->entry->tag, result);
    }
}

/* The receive half of MPI_Sendrecv and similar calls. */
static void describe_receive(struct call *call)
{
    struct mpiq_record_thread *thread = call->thread;
    thread->receive_peer = peer_of((int32_t)ARGUMENT(call, 'P'));
    thread->receive_tag = tag_of((int32_t)ARGUMENT(call, 'G'));
    thread->receive_bytes =
        HAS(call, 'T') ? bytes_of(count_of(call, ARGUMENT(call, 'u')), handle_of(ARGUMENT(call, 'T')))
                       : call->entry->bytes;
}

void before_sendrecv(struct call *call)
{
    before_send(call);
    describe_receive(call);
    if (HAS(call, 's'))
        want_status(call);
}

void after_sendrecv(struct call *call, int result)
{
    const struct mpiq_record_thread *thread = call->thread;
    bool replace = !HAS(call, 'T');
    struct message data = data_of(call, replace ? thread->datatype : handle_of(ARGUMENT(call, 'T')),
                                  replace ? thread->count : count_of(call, ARGUMENT(call, 'u')));
    if (result != 0 && call->entry->peer >= 0)
        doubt(call->comm, call->entry->peer);
    if (result == 0)
        received(call->comm, thread->receive_peer, thread->receive_tag, call->status, &data);
    else
        message_failed(call->comm, thread->receive_peer, thread->receive_tag, result);
}

/* ---- requests ---------------------------------------------------------------------------------------- */

static const uint8_t kinds[ACTION_COUNT] = {
    [ACTION_ISEND] = MPIQ_RECORD_REQUEST_SEND,
    [ACTION_SEND_INIT] = MPIQ_RECORD_REQUEST_SEND,
    [ACTION_IBSEND] = MPIQ_RECORD_REQUEST_BSEND,
    [ACTION_BSEND_INIT] = MPIQ_RECORD_REQUEST_BSEND,
    [ACTION_ISSEND] = MPIQ_RECORD_REQUEST_SSEND,
    [ACTION_SSEND_INIT] = MPIQ_RECORD_REQUEST_SSEND,
    [ACTION_IRSEND] = MPIQ_RECORD_REQUEST_RSEND,
    [ACTION_RSEND_INIT] = MPIQ_RECORD_REQUEST_RSEND,
    [ACTION_PSEND_INIT] = MPIQ_RECORD_REQUEST_SEND,
    [ACTION_IRECV] = MPIQ_RECORD_REQUEST_RECEIVE,
    [ACTION_RECV_INIT] = MPIQ_RECORD_REQUEST_RECEIVE,
    [ACTION_PRECV_INIT] = MPIQ_RECORD_REQUEST_RECEIVE,
    [ACTION_IMRECV] = MPIQ_RECORD_REQUEST_RECEIVE,
    [ACTION_ISENDRECV] = MPIQ_RECORD_REQUEST_SEND,
    [ACTION_ISENDRECV_REPLACE] = MPIQ_RECORD_REQUEST_SEND,
    [ACTION_ICOLLECTIVE] = MPIQ_RECORD_REQUEST_COLLECTIVE,
    [ACTION_PCOLLECTIVE] = MPIQ_RECORD_REQUEST_COLLECTIVE,
    [ACTION_IDUP] = MPIQ_RECORD_REQUEST_COLLECTIVE,
    [ACTION_IFILE] = MPIQ_RECORD_REQUEST_COLLECTIVE,
    [ACTION_RMA] = MPIQ_RECORD_REQUEST_OTHER,
    [ACTION_REQUEST_OTHER] = MPIQ_RECORD_REQUEST_OTHER,
    [ACTION_GREQUEST] = MPIQ_RECORD_REQUEST_OTHER,
};

/* A record of the request that the call made, not yet published; NULL: it made none. */
static struct mpiq_record_request *new_request(struct call *call, int result)
{
    if (result != 0 || call->entry->peer == MPIQ_RECORD_PROC_NULL)
        return NULL;
    struct mpiq_record_request *request = request_new();
    if (!request)
        return NULL;
    request->kind = kinds[call->function->action];
    request->function = call->entry->function;
    __atomic_store_n(&request->comm, arena_offset(call->comm), __ATOMIC_RELAXED);
    request->peer = call->entry->peer;
    request->tag = call->entry->tag;
    request->bytes = call->entry->bytes;
    request->tid = call->thread->tid;
    if (call->collective) {
        request->call = *call->collective;
        return request;
    }
    if (recorder_check) /* partitioned: the number of partitions is not known */
        signature_note(request,
                       HAS(call, 't') && !is_partitioned(call->function) ? call->thread->datatype : 0);
    request->buffer = HAS(call, 'b') ? ARGUMENT(call, 'b') : 0;
    request->call = (struct mpiq_record_collective){
        .collective = -1,
        .function = call->entry->function,
        .root = MPIQ_RECORD_NO_PEER,
        .count = call->thread->count,
        .datatype = call->thread->datatype,
        .bytes = call->entry->bytes,
        .caller = call->caller,
        .begin = call->entry->begin,
        .tid = call->thread->tid,
    };
    return request;
}

static void publish(struct call *call, struct mpiq_record_request *request,
                    enum mpiq_record_request_state state)
{
    if (request)
        request_publish(request, handle_at((const void *)ARGUMENT(call, 'R'), 0), state);
}

void after_isend(struct call *call, int result)
{
    struct mpiq_record_request *request = new_request(call, result);
    after_send(call, result);
    if (request)
        request->sequence = call->thread->sequence;
    publish(call, request, MPIQ_RECORD_REQUEST_ACTIVE);
}

void after_ireceive(struct call *call, int result)
{
    publish(call, new_request(call, result), MPIQ_RECORD_REQUEST_ACTIVE);
}

void after_other_request(struct call *call, int result)
{
    if (HAS(call, 'R'))
        publish(call, new_request(call, result), MPIQ_RECORD_REQUEST_ACTIVE);
}

/* The receive half of MPI_Isendrecv, not yet published; NULL: there is none. */
static struct mpiq_record_request *new_receive_half(const struct call *call)
{
    const struct mpiq_record_thread *thread = call->thread;
    bool replace = !HAS(call, 'T');
    uint64_t datatype = replace ? thread->datatype : handle_of(ARGUMENT(call, 'T'));
    struct mpiq_record_request *request =
        thread->receive_peer == MPIQ_RECORD_PROC_NULL ? NULL : request_new();
    if (!request)
        return NULL;
    request->kind = MPIQ_RECORD_REQUEST_RECEIVE;
    request->function = call->entry->function;
    __atomic_store_n(&request->comm, arena_offset(call->comm), __ATOMIC_RELAXED);
    request->peer = thread->receive_peer;
    request->tag = thread->receive_tag;
    request->bytes = thread->receive_bytes;
    request->tid = thread->tid;
    if (recorder_check)
        signature_note(request, datatype);
    request->buffer = replace ? thread->buffer : ARGUMENT(call, 'B');
    request->call = (struct mpiq_record_collective){
        .collective = -1,
        .function = call->entry->function,
        .root = MPIQ_RECORD_NO_PEER,
        .count = replace ? thread->count : count_of(call, ARGUMENT(call, 'u')),
        .datatype = datatype,
        .bytes = thread->receive_bytes,
        .caller = call->caller,
        .begin = call->entry->begin,
        .tid = thread->tid,
    };
    return request;
}

/* One request for a send and a receive has two records.  The receive's has the handle and links to the
   send's. */
void after_isendrecv(struct call *call, int result)
{
    struct mpiq_record_request *send = new_request(call, result);
    struct mpiq_record_request *receive = result == 0 ? new_receive_half(call) : NULL;
    after_send(call, result);
    if (send) {
        send->flags = MPIQ_RECORD_REQUEST_EXCHANGE;
        send->sequence = call->thread->sequence;
    }
    if (receive) {
        receive->flags = MPIQ_RECORD_REQUEST_EXCHANGE;
        receive->send_half = arena_offset(send);
    }
    if (send && receive)
        request_publish_half(send);
    publish(call, receive ? receive : send, MPIQ_RECORD_REQUEST_ACTIVE);
}

void after_init_request(struct call *call, int result)
{
    struct mpiq_record_request *request = new_request(call, result);
    if (request) {
        request->flags = MPIQ_RECORD_REQUEST_PERSISTENT;
        request->made = call->caller;
        if (is_partitioned(call->function)) {
            request->flags |= MPIQ_RECORD_REQUEST_PARTITIONED;
            request->partitions = (int32_t)call->arguments[1];
            __atomic_store_n(&recorder_partitioned, true, __ATOMIC_RELAXED);
        }
    }
    publish(call, request, MPIQ_RECORD_REQUEST_INACTIVE);
}

static struct message data_of_request(const struct mpiq_record_request *request)
{
    return (struct message){.comm = arena_at(request->comm),
                            .peer = request->peer,
                            .tag = request->tag,
                            .request = request,
                            .count = request->call.count,
                            .bytes = -1,
                            .function = request->function,
                            .caller = request->call.caller};
}

static void start(struct call *call, uint64_t handle)
{
    struct mpiq_record_request *request = request_find(handle);
    if (!request || request->state != MPIQ_RECORD_REQUEST_INACTIVE)
        return;
    struct mpiq_record_comm *comm = arena_at(request->comm);
    if (request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE) {
        call->comm = comm;
        request->starts++;
        collective_begin(call, true, &request->call);
    } else if (request->kind <= MPIQ_RECORD_REQUEST_RSEND && comm && request->peer >= 0) {
        if (request->flags & MPIQ_RECORD_REQUEST_PARTITIONED)
            partition_begin(request);
        if (request->kind == MPIQ_RECORD_REQUEST_BSEND)
            comm_is_loose(comm);
        request->sequence = channel_send(comm, request->peer, request->tag, request->bytes);
        if (recorder_check) {
            struct message message = data_of_request(request);
            fact_message(true, &message);
        }
    }
    request->call.caller = call->caller;
    request->call.begin = call->entry->begin;
    request->flags &= ~MPIQ_RECORD_REQUEST_CANCEL;
    __atomic_store_n(&request->state, MPIQ_RECORD_REQUEST_ACTIVE, __ATOMIC_RELEASE);
}

void before_start(struct call *call)
{
    start(call, handle_at((const void *)ARGUMENT(call, 'r'), 0));
}

void before_startall(struct call *call)
{
    int32_t count = (int32_t)ARGUMENT(call, 'k');
    for (int32_t i = 0; i < count; i++)
        start(call, handle_at((const void *)ARGUMENT(call, 'A'), (size_t)i));
}

/* ---- what is not counted, or not counted right ----------------------------------------------------------
 */

static void doubt_request(uint64_t handle)
{
    const struct mpiq_record_request *request = request_find(handle);
    if (request && request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE)
        collective_doubt(arena_at(request->comm));
    else if (request)
        doubt(arena_at(request->comm), request->peer);
}

static void doubt_started(const struct function *function, const word *a)
{
    const int8_t *at = function->at;
    if (function->action == ACTION_START)
        doubt_request(handle_at((const void *)a[at[ROLE('r')]], 0));
    for (int32_t i = 0; function->action == ACTION_STARTALL && i < (int32_t)a[at[ROLE('k')]]; i++)
        doubt_request(handle_at((const void *)a[at[ROLE('A')]], (size_t)i));
}

void after_start(struct call *call, int result)
{
    if (result != 0)
        doubt_started(call->function, call->arguments);
}

/* Whether a call is the one that it is made in, passed on by a tool. */
static bool is_passed_on(const struct function *function, const word *a, const struct call *outside)
{
    const int8_t *at = function->at;
    if (!outside || outside->function->action != function->action)
        return false;
    bool same_peer = at[ROLE('p')] < 0 || peer_of((int32_t)a[at[ROLE('p')]]) == outside->entry->peer;
    bool same_tag = at[ROLE('g')] < 0 || tag_of((int32_t)a[at[ROLE('g')]]) == outside->entry->tag;
    return same_peer && same_tag;
}

void message_hidden(const struct function *function, const word *a, const struct call *outside)
{
    const int8_t *at = function->at;
    if (is_passed_on(function, a, outside))
        return;
    doubt_started(function, a);
    struct mpiq_record_comm *comm =
        at[ROLE('c')] >= 0 ? comm_find(&recorder_self, handle_of(a[at[ROLE('c')]])) : NULL;
    if (at[ROLE('p')] >= 0)
        doubt(comm, peer_of((int32_t)a[at[ROLE('p')]]));
    if (at[ROLE('P')] >= 0)
        doubt(comm, peer_of((int32_t)a[at[ROLE('P')]]));
}

/* ---- probes ------------------------------------------------------------------------------------------ */

/* Messages held by matched probes, with the communicator for MPI_Mrecv. */
enum { MESSAGES = 64 };
static struct {
    uint64_t handle;
    uint32_t comm;
    int32_t peer;
    int32_t tag;
} messages[MESSAGES];

void before_probe(struct call *call)
{
    call->entry->peer = peer_of((int32_t)ARGUMENT(call, 'p'));
    call->entry->tag = tag_of((int32_t)ARGUMENT(call, 'g'));
    if (HAS(call, 'm'))
        want_status(call);
}

void after_mprobe(struct call *call, int result)
{
    if (result != 0)
        doubt(call->comm, call->entry->peer);
    if (result != 0 || (HAS(call, 'f') && *(const int *)ARGUMENT(call, 'f') == 0))
        return;
    uint64_t handle = handle_at((const void *)ARGUMENT(call, 'm'), 0);
    if (handle == recorder_abi.message_no_proc)
        return;
    struct message data = data_of(call, 0, -1); /* only MPI_Mrecv has the datatype; it is not used */
    received(call->comm, call->entry->peer, call->entry->tag, call->status, &data);
    call->entry->peer = peer_of(status_source(call->status));
    call->entry->tag = status_tag(call->status);
    arena_lock();
    unsigned slot = (unsigned)(mpiq_record_mix(handle) % MESSAGES);
    messages[slot].handle = handle;
    messages[slot].comm = arena_offset(call->comm);
    messages[slot].peer = peer_of(status_source(call->status));
    messages[slot].tag = status_tag(call->status);
    arena_unlock();
}

void before_mreceive(struct call *call)
{
    uint64_t handle = handle_at((const void *)ARGUMENT(call, 'm'), 0);
    unsigned slot = (unsigned)(mpiq_record_mix(handle) % MESSAGES);
    describe_data(call);
    arena_lock();
    if (messages[slot].handle == handle) {
        call->comm = arena_at(messages[slot].comm);
        call->entry->comm = messages[slot].comm;
        call->entry->peer = messages[slot].peer;
        call->entry->tag = messages[slot].tag;
        messages[slot].handle = 0;
    }
    arena_unlock();
}

void after_imreceive(struct call *call, int result)
{
    struct mpiq_record_request *request = new_request(call, result);
    if (request)
        request->flags = MPIQ_RECORD_REQUEST_MATCHED;
    publish(call, request, MPIQ_RECORD_REQUEST_ACTIVE);
}

/* ---- the end of a receive request, for completion.c ---------------------------------------------------- */

void message_received(const struct mpiq_record_request *request, const unsigned char *status)
{
    struct message data = data_of_request(request);
    /* MPICH leaves the status of an exchange empty: the number of bytes received is unknown. */
    if (request->flags & MPIQ_RECORD_REQUEST_EXCHANGE && recorder_abi.kind != MPIQ_RECORD_ABI_OPEN_MPI) {
        status = NULL;
        data.request = NULL;
        data.count = -1;
    }
    received(arena_at(request->comm), request->peer, request->tag, status, &data);
}
