/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "callbacks.h"
#include "error.h"
#include "list.h"
#include "nbc.h"

#define MAX_NBC (1 << 14)

static int add(struct memory *memory, struct nbc_requests *nbc, mqs_taddr_t address)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct nbc_request *item;
    int code = fetch_structure(memory, address, AT_NBC, bytes);

    if (code != mqs_ok) {
        return code;
    }
    item = vector_add(&nbc->list, sizeof *item, MAX_NBC + 64);
    if (item == NULL) {
        return ERROR_NO_STORE;
    }
    item->address = address;
    item->comm = (mqs_taddr_t)field_unsigned(memory, bytes, AT_NBC_COMM);
    item->tag = (int)field_signed(memory, bytes, AT_NBC_TAG);
    item->inner = (mqs_taddr_t)field_unsigned(memory, bytes, AT_NBC_ARRAY);
    item->inner_count = (int)field_signed(memory, bytes, AT_NBC_COUNT);
    item->collective = -1;
    return mqs_ok;
}

static int read_all(struct memory *memory, struct nbc_requests *nbc)
{
    struct list_walk walk;
    mqs_taddr_t component;
    int code;

    if (!layout_has_group(&memory->layout, GROUP_LIBNBC) ||
        !layout_has_group(&memory->layout, GROUP_REQUESTS) ||
        !symbol_find(&memory->symbols, SYMBOL_mca_coll_libnbc_component, &component)) {
        return mqs_no_information;
    }
    code =
        list_start(memory, component + (mqs_taddr_t)memory->layout.offset[AT_LIBNBC_ACTIVE], MAX_NBC, &walk);
    while (code == mqs_ok) {
        mqs_taddr_t item;

        code = list_next(memory, &walk, &item);
        if (code == mqs_ok) {
            code = add(memory, nbc, item);
        }
    }
    if (code != mqs_end_of_list) {
        return code == ERROR_TOO_MANY ? ERROR_REQUESTS : code;
    }
    return mqs_ok;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct nbc_request *left = *(struct nbc_request *const *)a;
    const struct nbc_request *right = *(struct nbc_request *const *)b;

    return (left->address > right->address) - (left->address < right->address);
}

static int compare_messages(const void *a, const void *b)
{
    const struct nbc_request *left = *(struct nbc_request *const *)a;
    const struct nbc_request *right = *(struct nbc_request *const *)b;

    if (left->comm != right->comm) {
        return left->comm < right->comm ? -1 : 1;
    }
    return (left->tag > right->tag) - (left->tag < right->tag);
}

static int index_requests(struct nbc_requests *nbc)
{
    struct nbc_request *items = nbc->list.items;
    size_t count = nbc->list.count;

    if (count == 0) {
        return mqs_ok;
    }
    nbc->by_address = heap_allocate(count, sizeof(struct nbc_request *));
    nbc->by_message = heap_allocate(count, sizeof(struct nbc_request *));
    if (nbc->by_address == NULL || nbc->by_message == NULL) {
        return ERROR_NO_STORE;
    }
    for (size_t i = 0; i < count; i++) {
        nbc->by_address[i] = nbc->by_message[i] = &items[i];
    }
    qsort(nbc->by_address, count, sizeof(struct nbc_request *), compare_addresses);
    qsort(nbc->by_message, count, sizeof(struct nbc_request *), compare_messages);
    return mqs_ok;
}

int nbc_read(struct memory *memory, struct nbc_requests *ret)
{
    int code = read_all(memory, ret);

    if (code == mqs_ok) {
        code = index_requests(ret);
    }
    if (code != mqs_ok) {
        nbc_clear(ret);
    }
    return code;
}

void nbc_clear(struct nbc_requests *nbc)
{
    vector_clear(&nbc->list);
    heap_free(nbc->by_address);
    heap_free(nbc->by_message);
    nbc->by_address = NULL;
    nbc->by_message = NULL;
}

struct nbc_request *nbc_find(const struct nbc_requests *nbc, mqs_taddr_t address)
{
    struct nbc_request key = {.address = address};
    struct nbc_request *wanted = &key;
    struct nbc_request **found = NULL;

    if (nbc->by_address != NULL) {
        found = bsearch(&wanted, nbc->by_address, nbc->list.count, sizeof(struct nbc_request *),
                        compare_addresses);
    }
    return found == NULL ? NULL : *found;
}

const struct nbc_request *nbc_of_message(const struct nbc_requests *nbc, mqs_taddr_t comm, int tag)
{
    struct nbc_request key = {.comm = comm, .tag = tag};
    struct nbc_request *wanted = &key;
    struct nbc_request **found = NULL;

    if (nbc->by_message != NULL) {
        found = bsearch(&wanted, nbc->by_message, nbc->list.count, sizeof(struct nbc_request *),
                        compare_messages);
    }
    return found == NULL ? NULL : *found;
}
