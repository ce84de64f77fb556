/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "list.h"
#include "partitioned.h"
#include "request.h"

#define MAX_PARTITIONED (1 << 16)
#define MAX_PARTS (1 << 16) /* of one request that are looked at */

/* mca_part_persist_request_type_t; a value of a partition's flag. */
enum { TYPE_SEND, TYPE_RECEIVE };
enum { PART_QUEUED = -2, PART_NOT_READY = -1, PART_UNDERWAY = 0 };

#define FLAG_WIDTH 4

/* The text of a list of numbers while it grows. */
struct numbers {
    char *text;
    size_t length;
    int64_t first;
    int64_t last; /* of the range that is open; -1: none */
    bool full;
};

#define TEXT_SIZE sizeof(((struct partitioned *)0)->which)

static void close_range(struct numbers *numbers)
{
    char part[48];
    int length;

    if (numbers->last < 0 || numbers->full) {
        return;
    }
    length =
        numbers->first == numbers->last
            ? snprintf(part, sizeof part, "%s%lld", numbers->length > 0 ? "," : "", (long long)numbers->first)
            : snprintf(part, sizeof part, "%s%lld-%lld", numbers->length > 0 ? "," : "",
                       (long long)numbers->first, (long long)numbers->last);
    numbers->full = numbers->length + (size_t)length + sizeof ",..." > TEXT_SIZE;
    snprintf(numbers->text + numbers->length, TEXT_SIZE - numbers->length, "%s",
             numbers->full ? ",..." : part);
    numbers->length += numbers->full ? strlen(",...") : (size_t)length;
}

static void add_number(struct numbers *numbers, int64_t number)
{
    if (numbers->last < 0 || number != numbers->last + 1) {
        close_range(numbers);
        numbers->first = number;
    }
    numbers->last = number;
}

/* The request of a partition. */
static mqs_taddr_t inner_of(struct memory *memory, mqs_taddr_t requests, int64_t part)
{
    int width = memory->layout.sizes.pointer_size;
    mqs_taddr_t address = 0;

    if (requests == 0 || fetch_pointer(&memory->fetch, requests + (mqs_taddr_t)part * (mqs_taddr_t)width,
                                       &address) != mqs_ok) {
        return 0;
    }
    return address;
}

/*
 * The partitions of a request that was started.  A receive's are those that have not arrived.  A send's are
 * those not marked ready: the component keeps that the first time alone, later it starts them with flags
 * that say nothing.
 */
static int read_parts(struct memory *memory, const unsigned char *bytes, bool set_up,
                      struct partitioned *item)
{
    mqs_taddr_t flags = field_pointer(memory, bytes, AT_PARTITIONED_FLAGS);
    mqs_taddr_t requests = set_up ? field_pointer(memory, bytes, AT_PARTITIONED_REQUESTS) : 0;
    bool first = field_unsigned(memory, bytes, AT_PARTITIONED_FIRST) != 0;
    struct numbers numbers = {item->which, 0, 0, -1, false};
    unsigned char *values;
    int64_t underway = -1;
    int code;

    if (flags == 0 || item->parts <= 0 || item->parts > MAX_PARTS || (item->send && !first)) {
        return mqs_ok;
    }
    values = heap_allocate((size_t)item->parts, FLAG_WIDTH);
    if (values == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(&memory->fetch, flags, (size_t)item->parts * FLAG_WIDTH, values);
    item->missing = code == mqs_ok ? 0 : -1;
    for (int64_t i = 0; code == mqs_ok && i < item->parts; i++) {
        int64_t flag = number_signed(&memory->fetch, values + i * FLAG_WIDTH, FLAG_WIDTH);

        item->moves |= flag == PART_QUEUED;
        underway = flag == PART_UNDERWAY && underway < 0 ? i : underway;
        if (flag == (item->send ? PART_NOT_READY : PART_UNDERWAY)) {
            item->missing++;
            add_number(&numbers, i);
        }
    }
    close_range(&numbers);
    if (underway >= 0) {
        item->inner = inner_of(memory, requests, underway);
    }
    heap_free(values);
    return code;
}

static int decode(struct memory *memory, mqs_taddr_t address, const unsigned char *bytes,
                  struct partitioned *item)
{
    const struct layout *layout = &memory->layout;
    bool set_up = field_unsigned(memory, bytes, AT_PARTITIONED_READY) != 0;
    bool receiving; /* its message to be set up by is looked for */

    item->address = address;
    item->state = (uint8_t)field_unsigned(memory, bytes, AT_REQUEST_STATE);
    item->complete = field_pointer(memory, bytes, AT_REQUEST_COMPLETE) == COMPLETE_DONE;
    item->freed = field_unsigned(memory, bytes, AT_PARTITIONED_FREED) != 0;
    item->send = field_unsigned(memory, bytes, AT_PARTITIONED_TYPE) == TYPE_SEND;
    item->comm = field_pointer(memory, bytes, AT_PARTITIONED_COMM);
    item->datatype = field_pointer(memory, bytes, AT_PARTITIONED_DATATYPE);
    item->buffer = field_pointer(memory, bytes, AT_PARTITIONED_ADDRESS);
    item->count = field_unsigned(memory, bytes, AT_PARTITIONED_COUNT);
    item->bytes = field_unsigned(memory, bytes, AT_PARTITIONED_BYTES);
    item->peer = (int32_t)field_signed(memory, bytes, AT_PARTITIONED_PEER);
    item->tag = (int32_t)field_signed(memory, bytes, AT_PARTITIONED_TAG);
    item->parts = (int64_t)field_unsigned(
        memory, bytes, set_up || item->send ? AT_PARTITIONED_REAL_PARTS : AT_PARTITIONED_PARTS);
    item->missing = -1;
    receiving = !set_up && (!item->send || field_unsigned(memory, bytes, AT_PARTITIONED_POST) == 0);
    if (!set_up) {
        /* A receive answers the message that sets it up. */
        item->moves = !item->send;
    }
    if (receiving) { /* the second of the two: setup_req[1] */
        item->inner = (mqs_taddr_t)number_unsigned(
            &memory->fetch, bytes + layout->offset[AT_PARTITIONED_SETUP] + layout->sizes.pointer_size,
            layout->sizes.pointer_size);
    }
    if (item->state != REQUEST_ACTIVE || item->complete || (!set_up && !item->send)) {
        return mqs_ok;
    }
    return read_parts(memory, bytes, set_up, item);
}

static int add(struct memory *memory, struct partitioned_requests *requests, mqs_taddr_t entry)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct partitioned *item;
    mqs_taddr_t address;
    int code = fetch_structure(memory, entry, AT_PART_ITEM, bytes);

    if (code != mqs_ok) {
        return code;
    }
    address = field_pointer(memory, bytes, AT_PART_ITEM_REQUEST);
    code = fetch_structure(memory, address, AT_PARTITIONED, bytes);
    if (code != mqs_ok) {
        return code;
    }
    if (field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_PART ||
        field_unsigned(memory, bytes, AT_PARTITIONED_TYPE) > TYPE_RECEIVE) {
        return ERROR_REQUESTS;
    }
    item = vector_add(&requests->list, sizeof *item, MAX_PARTITIONED);
    return item == NULL ? ERROR_NO_STORE : decode(memory, address, bytes, item);
}

/* Whether the rows are there that decode needs. */
static bool is_known(const struct layout *layout)
{
    for (int slot = AT_PART; slot <= AT_PARTITIONED_FLAGS; slot++) {
        if (!layout_has(layout, (enum layout_slot)slot)) {
            return false;
        }
    }
    return layout_has_group(layout, GROUP_REQUESTS);
}

static int read_all(struct memory *memory, struct partitioned_requests *requests)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct list_walk walk;
    mqs_taddr_t component;
    mqs_taddr_t list;
    int code;

    if (!is_known(&memory->layout) ||
        !fetch_variable(memory, SYMBOL_ompi_part_persist, AT_PART, &component, bytes)) {
        return mqs_no_information;
    }
    requests->comm = field_pointer(memory, bytes, AT_PART_COMM);
    requests->setting = field_pointer(memory, bytes, AT_PART_SETTING);
    list = field_pointer(memory, bytes, AT_PART_LIST);
    if (list == 0) {
        return mqs_ok; /* not loaded */
    }
    code = list_start(memory, list, MAX_PARTITIONED, &walk);
    while (code == mqs_ok) {
        mqs_taddr_t entry;

        code = list_next(memory, &walk, &entry);
        if (code == mqs_ok) {
            code = add(memory, requests, entry);
        }
    }
    return code == mqs_end_of_list ? mqs_ok : code == ERROR_TOO_MANY ? ERROR_REQUESTS : code;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct partitioned *left = *(const struct partitioned *const *)a;
    const struct partitioned *right = *(const struct partitioned *const *)b;

    return (left->address > right->address) - (left->address < right->address);
}

static int index_requests(struct partitioned_requests *requests)
{
    const struct partitioned *items = requests->list.items;
    size_t count = requests->list.count;

    if (count == 0) {
        return mqs_ok;
    }
    requests->by_address = heap_allocate(count, sizeof *requests->by_address);
    if (requests->by_address == NULL) {
        return ERROR_NO_STORE;
    }
    for (size_t i = 0; i < count; i++) {
        requests->by_address[i] = &items[i];
    }
    qsort(requests->by_address, count, sizeof *requests->by_address, compare_addresses);
    return mqs_ok;
}

int partitioned_read(struct memory *memory, struct partitioned_requests *ret)
{
    int code = read_all(memory, ret);

    if (code == mqs_ok) {
        code = index_requests(ret);
    }
    if (code != mqs_ok) {
        partitioned_clear(ret);
    }
    return code;
}

void partitioned_clear(struct partitioned_requests *requests)
{
    vector_clear(&requests->list);
    heap_free(requests->by_address);
    requests->by_address = NULL;
    requests->comm = requests->setting = 0;
}

const struct partitioned *partitioned_find(const struct partitioned_requests *requests, mqs_taddr_t address)
{
    const struct partitioned key = {.address = address};
    const struct partitioned *wanted = &key;
    const struct partitioned **found = NULL;

    if (requests->by_address != NULL) {
        found = bsearch(&wanted, requests->by_address, requests->list.count, sizeof *requests->by_address,
                        compare_addresses);
    }
    return found == NULL ? NULL : *found;
}
