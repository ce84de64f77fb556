/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "free_list.h"
#include "ob1.h"
#include "request.h"

#define MAX_REQUESTS (1 << 18)
#define MAX_ITEMS (1 << 20) /* in use or not */

bool request_is_send(const struct request *request)
{
    return request->pml_type == PML_SEND;
}

bool request_is_done(const struct request *request)
{
    if (request_is_send(request) && request->mode == MODE_BUFFERED && request->state == REQUEST_ACTIVE) {
        return request->delivered;
    }
    return request->complete == COMPLETE_DONE;
}

bool request_is_internal(const struct request *request)
{
    /* A receive from any tag is the user's own; the library always names its tags, all below that. */
    return request->tag < ANY_TAG;
}

static void decode_send(const struct memory *memory, const unsigned char *bytes, struct request *request)
{
    const struct layout *layout = &memory->layout;
    mqs_taddr_t data = (mqs_taddr_t)field_unsigned(memory, bytes, AT_SEND_ADDRESS);

    request->bytes_packed = field_unsigned(memory, bytes, AT_SEND_BYTES);
    /* The library counts sends in 16 bits and sign-extends them here. */
    request->sequence &= 0xffff;
    request->mode = (uint8_t)field_unsigned(memory, bytes, AT_SEND_MODE);
    if (request->mode == MODE_BUFFERED && data != request->buffer) {
        request->system_buffer = data;
    }
    if (layout_has(layout, AT_OB1_SEND)) {
        request->endpoint = (mqs_taddr_t)field_unsigned(memory, bytes, AT_OB1_SEND_ENDPOINT);
        request->receiver_known = field_unsigned(memory, bytes, AT_OB1_SEND_RECEIVER) != 0;
    }
}

/* From the bytes of a send or receive request. */
static void decode(const struct memory *memory, mqs_taddr_t address, const unsigned char *bytes,
                   struct request *request)
{
    const unsigned char *status = bytes + memory->layout.offset[AT_REQUEST_STATUS];

    memset(request, 0, sizeof *request);
    request->address = address;
    request->next = (mqs_taddr_t)field_unsigned(memory, bytes, AT_ITEM_NEXT);
    request->state = (uint8_t)field_unsigned(memory, bytes, AT_REQUEST_STATE);
    request->complete = (mqs_taddr_t)field_unsigned(memory, bytes, AT_REQUEST_COMPLETE);
    request->persistent = field_unsigned(memory, bytes, AT_REQUEST_PERSISTENT) != 0;
    request->status_source = (int32_t)field_signed(memory, status, AT_STATUS_SOURCE);
    request->status_tag = (int32_t)field_signed(memory, status, AT_STATUS_TAG);
    request->status_bytes = field_unsigned(memory, status, AT_STATUS_BYTES);
    request->cancelled = field_unsigned(memory, status, AT_STATUS_CANCELLED) != 0;
    request->freed = field_unsigned(memory, bytes, AT_PML_FREED) != 0;
    request->delivered = layout_has(&memory->layout, AT_PML_COMPLETE)
                             ? field_unsigned(memory, bytes, AT_PML_COMPLETE) != 0
                             : request->complete == COMPLETE_DONE;
    request->pml_type = (uint8_t)field_unsigned(memory, bytes, AT_PML_TYPE);
    request->comm = (mqs_taddr_t)field_unsigned(memory, bytes, AT_PML_COMM);
    request->datatype = (mqs_taddr_t)field_unsigned(memory, bytes, AT_PML_DATATYPE);
    request->buffer = (mqs_taddr_t)field_unsigned(memory, bytes, AT_PML_ADDRESS);
    request->count = field_unsigned(memory, bytes, AT_PML_COUNT);
    request->peer = (int32_t)field_signed(memory, bytes, AT_PML_PEER);
    request->tag = (int32_t)field_signed(memory, bytes, AT_PML_TAG);
    request->sequence = field_unsigned(memory, bytes, AT_PML_SEQUENCE);
    if (request->pml_type == PML_SEND) {
        decode_send(memory, bytes, request);
    } else {
        request->bytes_packed = field_unsigned(memory, bytes, AT_RECV_BYTES);
    }
}

/* Bytes that decode reads of a request of this type. */
static size_t request_size(const struct memory *memory, bool send)
{
    const struct layout *layout = &memory->layout;

    if (!send) {
        return (size_t)layout->size[AT_RECV];
    }
    return (size_t)(layout_has(layout, AT_OB1_SEND) ? layout->size[AT_OB1_SEND] : layout->size[AT_SEND]);
}

static int keep(struct vector *list, const struct request *request)
{
    struct request *item = vector_add(list, sizeof *item, MAX_REQUESTS);

    if (item == NULL) {
        return list->count >= MAX_REQUESTS ? ERROR_TOO_MANY : ERROR_NO_STORE;
    }
    *item = *request;
    return mqs_ok;
}

/* A walk through the chunks of one free list. */
struct chunk_walk {
    struct requests *requests;
    bool sends; /* it is the list of sends */
};

static int visit(struct memory *memory, void *argument, mqs_taddr_t address, const unsigned char *bytes)
{
    const struct chunk_walk *walk = argument;
    struct request request;
    int state = (int)field_unsigned(memory, bytes, AT_REQUEST_STATE);

    if (state != REQUEST_ACTIVE && state != REQUEST_INACTIVE && state != REQUEST_CANCELLED) {
        return mqs_ok;
    }
    if (field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_PML ||
        (field_unsigned(memory, bytes, AT_PML_TYPE) == PML_SEND) != walk->sends) {
        return mqs_ok; /* in the wrong list: corrupt, or being set up */
    }
    decode(memory, address, bytes, &request);
    if (request.comm == 0 || (request.state == REQUEST_INACTIVE && !request.persistent)) {
        return mqs_ok;
    }
    return keep(&walk->requests->list, &request);
}

static int compare_addresses(const void *a, const void *b)
{
    const struct request *left = *(struct request *const *)a;
    const struct request *right = *(struct request *const *)b;

    return (left->address > right->address) - (left->address < right->address);
}

/* Posted order: receives share one sequence a communicator; sends have one a peer.  What is not started
   has no number yet and comes last. */
static int compare_posted(const void *a, const void *b)
{
    const struct request *left = *(struct request *const *)a;
    const struct request *right = *(struct request *const *)b;

    if (left->comm != right->comm) {
        return left->comm < right->comm ? -1 : 1;
    }
    if ((left->state == REQUEST_INACTIVE) != (right->state == REQUEST_INACTIVE)) {
        return left->state == REQUEST_INACTIVE ? 1 : -1;
    }
    if (request_is_send(left) && request_is_send(right) && left->peer != right->peer) {
        return left->peer < right->peer ? -1 : 1;
    }
    if (left->sequence != right->sequence) {
        return left->sequence < right->sequence ? -1 : 1;
    }
    return compare_addresses(a, b);
}

static int index_by_address(struct requests *requests)
{
    struct request *items = requests->list.items;
    size_t count = requests->list.count;

    heap_free(requests->by_address);
    requests->by_address = NULL;
    if (count == 0) {
        return mqs_ok;
    }
    requests->by_address = heap_allocate(count, sizeof(struct request *));
    if (requests->by_address == NULL) {
        return ERROR_NO_STORE;
    }
    for (size_t i = 0; i < count; i++) {
        requests->by_address[i] = &items[i];
    }
    qsort(requests->by_address, count, sizeof(struct request *), compare_addresses);
    return mqs_ok;
}

/* Numbers of sends to one peer that lie further apart than half their range have wrapped in between: the
   small ones are the younger. */
static void unroll_sequences(struct request **sends, size_t count)
{
    for (size_t first = 0; first < count;) {
        size_t end = first + 1;
        bool wrapped;

        while (end < count && sends[end]->comm == sends[first]->comm &&
               sends[end]->peer == sends[first]->peer && sends[end]->state != REQUEST_INACTIVE) {
            end++;
        }
        wrapped = sends[end - 1]->sequence - sends[first]->sequence > 0x8000;
        for (size_t i = first; wrapped && i < end; i++) {
            if (sends[i]->sequence < 0x8000) {
                sends[i]->sequence += 0x10000;
            }
        }
        first = end;
    }
}

static int order(struct requests *requests)
{
    struct request *items = requests->list.items;
    size_t count = requests->list.count;

    if (count == 0) {
        return mqs_ok;
    }
    requests->sends = heap_allocate(count, sizeof(struct request *));
    requests->receives = heap_allocate(count, sizeof(struct request *));
    if (requests->sends == NULL || requests->receives == NULL) {
        return ERROR_NO_STORE;
    }
    for (size_t i = 0; i < count; i++) {
        if (request_is_send(&items[i])) {
            requests->sends[requests->send_count++] = &items[i];
        } else {
            requests->receives[requests->receive_count++] = &items[i];
        }
    }
    qsort(requests->receives, requests->receive_count, sizeof(struct request *), compare_posted);
    qsort(requests->sends, requests->send_count, sizeof(struct request *), compare_posted);
    unroll_sequences(requests->sends, requests->send_count);
    qsort(requests->sends, requests->send_count, sizeof(struct request *), compare_posted);
    return mqs_ok;
}

/* A posted receive that is in no chunk: a probe's, on a stack. */
static int visit_posted(struct memory *memory, void *argument, mqs_taddr_t address, mqs_taddr_t *next)
{
    struct requests *requests = argument;
    const struct request *known = request_find(requests, address);
    struct request request;
    int code;

    if (known != NULL) {
        *next = known->next;
        return mqs_ok;
    }
    code = request_read(memory, address, &request);
    if (code != mqs_ok) {
        return code;
    }
    *next = request.next;
    return request.state == REQUEST_ACTIVE ? keep(&requests->elsewhere, &request) : mqs_ok;
}

/* The list's items move when it grows, so those found on stacks join it when the walk is over. */
static int join_elsewhere(struct requests *requests)
{
    const struct request *items = requests->elsewhere.items;
    int code = mqs_ok;

    if (requests->elsewhere.count == 0) {
        return mqs_ok;
    }
    for (size_t i = 0; code == mqs_ok && i < requests->elsewhere.count; i++) {
        code = keep(&requests->list, &items[i]);
    }
    return code == mqs_ok ? index_by_address(requests) : code;
}

static int read_all(struct memory *memory, const struct communicators *communicators,
                    struct requests *requests)
{
    struct chunk_walk walk = {requests, true};
    mqs_taddr_t send_list;
    mqs_taddr_t receive_list;
    int code;

    if (!symbol_find(&memory->symbols, SYMBOL_mca_pml_base_send_requests, &send_list) ||
        !symbol_find(&memory->symbols, SYMBOL_mca_pml_base_recv_requests, &receive_list)) {
        return ERROR_SYMBOL;
    }
    code = free_list_walk(memory, send_list, request_size(memory, true), MAX_ITEMS, visit, &walk);
    walk.sends = false;
    if (code == mqs_ok) {
        code = free_list_walk(memory, receive_list, request_size(memory, false), MAX_ITEMS, visit, &walk);
    }
    if (code == mqs_ok) {
        code = index_by_address(requests);
    }
    if (code == mqs_ok && layout_has_group(&memory->layout, GROUP_OB1)) {
        code = ob1_walk_posted(memory, communicators, visit_posted, requests);
        if (code == mqs_ok) {
            code = join_elsewhere(requests);
        }
    }
    return code == mqs_ok ? order(requests) : code;
}

int requests_read(struct memory *memory, const struct communicators *communicators, struct requests *ret)
{
    int code = read_all(memory, communicators, ret);

    if (code != mqs_ok) {
        requests_clear(ret);
    }
    return code;
}

void requests_clear(struct requests *requests)
{
    vector_clear(&requests->list);
    vector_clear(&requests->elsewhere);
    heap_free(requests->sends);
    heap_free(requests->receives);
    heap_free(requests->by_address);
    memset(requests, 0, sizeof *requests);
}

void requests_of(const struct requests *requests, bool sends, mqs_taddr_t comm, size_t *first, size_t *end)
{
    struct request **list = sends ? requests->sends : requests->receives;
    size_t count = sends ? requests->send_count : requests->receive_count;
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list[middle]->comm < comm) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    while (low < count && list[low]->comm == comm) {
        low++;
    }
    *end = low;
}

const struct request *request_find(const struct requests *requests, mqs_taddr_t address)
{
    struct request key;
    struct request *wanted = &key;
    struct request **found;

    if (requests->by_address == NULL) {
        return NULL;
    }
    key.address = address;
    found = bsearch(&wanted, requests->by_address, requests->list.count, sizeof(struct request *),
                    compare_addresses);
    return found == NULL ? NULL : *found;
}

int request_read(struct memory *memory, mqs_taddr_t address, struct request *ret)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    bool send;
    int code = fetch_structure(memory, address, AT_PML, bytes);

    if (code != mqs_ok) {
        return code;
    }
    if (field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_PML) {
        return ERROR_REQUESTS;
    }
    send = field_unsigned(memory, bytes, AT_PML_TYPE) == PML_SEND;
    code = fetch_bytes(&memory->fetch, address, request_size(memory, send), bytes);
    if (code == mqs_ok) {
        decode(memory, address, bytes, ret);
    }
    return code;
}
