/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify_contents.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "class_object.h"
#include "free_list.h"
#include "list.h"
#include "request.h"

#define LINK_LIMIT 65536
#define MAX_BLOCK (1u << 20)
#define CHECKED_REQUESTS 64 /* of each of the two lists */

/* Name of the PML in use, "" if the layout does not tell. */
static void read_pml(struct memory *memory, char name[48])
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    int32_t offset = memory->layout.offset[AT_COMPONENT_NAME];

    name[0] = '\0';
    if (layout_has(&memory->layout, AT_COMPONENT_NAME) &&
        fetch_variable(memory, SYMBOL_mca_pml_base_selected_component, AT_COMPONENT, &address, bytes)) {
        text_copy(name, 48, bytes + offset, (size_t)(memory->layout.size[AT_COMPONENT] - offset));
    }
}

const char *check_component(struct memory *memory)
{
    char name[48];
    char variable[80];
    mqs_taddr_t component;

    read_pml(memory, name);
    snprintf(variable, sizeof variable, "mca_pml_%s_component", name);
    if (!symbol_find_name(&memory->symbols, variable, &component)) {
        return "mca_pml_base_selected_component does not name a PML of this process";
    }
    return NULL;
}

const char *check_request(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    const unsigned char *status = bytes + memory->layout.offset[AT_REQUEST_STATUS];
    mqs_taddr_t address;

    if (!fetch_variable(memory, SYMBOL_ompi_request_null, AT_REQUEST, &address, bytes) ||
        !object_is_a(memory, address, "ompi_request_t")) {
        return "ompi_request_null is not of the class ompi_request_t";
    }
    if (field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_NULL ||
        field_unsigned(memory, bytes, AT_REQUEST_STATE) != REQUEST_INACTIVE ||
        field_unsigned(memory, bytes, AT_REQUEST_COMPLETE) != COMPLETE_DONE ||
        field_unsigned(memory, bytes, AT_REQUEST_PERSISTENT) != 0) {
        return "MPI_REQUEST_NULL is not a complete, inactive request";
    }
    if (field_signed(memory, status, AT_STATUS_SOURCE) != ANY_SOURCE ||
        field_signed(memory, status, AT_STATUS_TAG) != ANY_TAG ||
        field_signed(memory, status, AT_STATUS_ERROR) != 0 ||
        field_unsigned(memory, status, AT_STATUS_CANCELLED) != 0 ||
        field_unsigned(memory, status, AT_STATUS_BYTES) != 0) {
        return "the status of MPI_REQUEST_NULL is not empty";
    }
    return NULL;
}

/* Whether the list's links go round in as many steps as it says, and point back. */
static bool is_circular(struct memory *memory, mqs_taddr_t list)
{
    struct list_walk walk;
    mqs_taddr_t before = list + (mqs_taddr_t)memory->layout.offset[AT_LIST_SENTINEL];
    mqs_taddr_t item;
    int code = list_start(memory, list, LINK_LIMIT, &walk);

    while (code == mqs_ok) {
        code = list_next(memory, &walk, &item);
        if (code == mqs_ok && layout_has(&memory->layout, AT_ITEM_PREVIOUS)) {
            mqs_taddr_t previous;

            if (fetch_pointer(&memory->fetch, item + (mqs_taddr_t)memory->layout.offset[AT_ITEM_PREVIOUS],
                              &previous) != mqs_ok ||
                previous != before) {
                return false;
            }
            before = item;
        }
    }
    return code == mqs_end_of_list;
}

/* The PML's two lists, if PML ob1 has filled them. */
static const struct {
    enum symbol list;
    const char *item;
    int type; /* enum pml_type */
} request_lists[] = {
    {SYMBOL_mca_pml_base_send_requests, "mca_pml_ob1_send_request_t", PML_SEND},
    {SYMBOL_mca_pml_base_recv_requests, "mca_pml_ob1_recv_request_t", PML_RECV},
};

static bool list_in_use(struct memory *memory, size_t index, mqs_taddr_t *address, unsigned char *bytes)
{
    char pml[48];

    read_pml(memory, pml);
    return (pml[0] == '\0' || strcmp(pml, "ob1") == 0) &&
           class_object_find(memory, request_lists[index].item) != 0 &&
           fetch_variable(memory, request_lists[index].list, AT_FREE_LIST, address, bytes) &&
           object_is_a(memory, *address, "opal_free_list_t") &&
           field_unsigned(memory, bytes, AT_FREE_LIST_ALLOCATED) > 0;
}

bool ob1_has_receives(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;

    return list_in_use(memory, 1, &address, bytes);
}

const char *check_list(struct memory *memory)
{
    for (size_t i = 0; i < 2; i++) {
        unsigned char bytes[LAYOUT_MAX_STRUCT];
        mqs_taddr_t address;

        if (list_in_use(memory, i, &address, bytes) &&
            !is_circular(memory, address + (mqs_taddr_t)memory->layout.offset[AT_FREE_LIST_CHUNKS])) {
            return "the chunks of a free list of requests do not form a closed list";
        }
    }
    return NULL;
}

const char *check_free_list(struct memory *memory)
{
    for (size_t i = 0; i < 2; i++) {
        unsigned char bytes[LAYOUT_MAX_STRUCT];
        mqs_taddr_t address;
        uint64_t alignment;

        if (!list_in_use(memory, i, &address, bytes)) {
            continue;
        }
        if (!object_is_a(memory, address + (mqs_taddr_t)memory->layout.offset[AT_FREE_LIST_CHUNKS],
                         "opal_list_t")) {
            return "a free list of requests has no list of chunks";
        }
        if (layout_has(&memory->layout, AT_FREE_LIST_CLASS) &&
            field_pointer(memory, bytes, AT_FREE_LIST_CLASS) !=
                class_object_find(memory, request_lists[i].item)) {
            return "a free list of requests has items of an unexpected class";
        }
        alignment = field_unsigned(memory, bytes, AT_FREE_LIST_ALIGNMENT);
        if (alignment == 0 || alignment > FETCH_PAGE || (alignment & (alignment - 1)) != 0 ||
            field_unsigned(memory, bytes, AT_FREE_LIST_FRAG_SIZE) < (uint64_t)memory->layout.size[AT_PML] ||
            field_unsigned(memory, bytes, AT_FREE_LIST_FRAG_SIZE) > 65536 ||
            field_unsigned(memory, bytes, AT_FREE_LIST_PER_ALLOC) == 0 ||
            field_unsigned(memory, bytes, AT_FREE_LIST_PER_ALLOC) > MAX_BLOCK ||
            field_unsigned(memory, bytes, AT_FREE_LIST_ALLOCATED) > MAX_BLOCK) {
            return "a free list of requests has impossible sizes";
        }
    }
    return NULL;
}

/* A look at the oldest requests of one of the PML's lists. */
struct request_check {
    size_t list; /* which of request_lists */
    size_t checked;
    const char *failed;
};

/* The library sets class and types when it makes a request, but the members of the transfer only when
   somebody uses it: of one that nobody has used they hold whatever the memory held before. */
static int check_item(struct memory *memory, void *argument, mqs_taddr_t address, const unsigned char *bytes)
{
    struct request_check *check = argument;
    uint64_t type = field_unsigned(memory, bytes, AT_PML_TYPE);
    uint64_t state = field_unsigned(memory, bytes, AT_REQUEST_STATE);

    if (!object_is_a(memory, address, request_lists[check->list].item)) {
        check->failed = "an item in a free list of requests is not of the list's class";
    } else if (field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_PML ||
               (request_lists[check->list].type == PML_SEND) != (type == PML_SEND) || type > PML_MPROBE) {
        check->failed = "an item in a free list of requests has an unexpected type";
    } else if (state > REQUEST_CANCELLED) {
        check->failed = "an item in a free list of requests has an impossible state";
    } else if (state == REQUEST_ACTIVE && field_unsigned(memory, bytes, AT_PML_FREED) > 1) {
        check->failed = "an active request has an impossible value for \"freed\"";
    }
    check->checked++;
    return check->failed != NULL || check->checked == CHECKED_REQUESTS ? mqs_end_of_list : mqs_ok;
}

/* The oldest requests, used or not. */
const char *check_pml(struct memory *memory)
{
    for (size_t i = 0; i < 2; i++) {
        struct request_check check = {i, 0, NULL};
        unsigned char bytes[LAYOUT_MAX_STRUCT];
        mqs_taddr_t address;
        int code;

        if (!list_in_use(memory, i, &address, bytes)) {
            continue;
        }
        code = free_list_walk(memory, address, (size_t)memory->layout.size[AT_PML], MAX_BLOCK, check_item,
                              &check);
        if (check.failed != NULL) {
            return check.failed;
        }
        if (code != mqs_ok && code != mqs_end_of_list) {
            return "a free list of requests cannot be read";
        }
    }
    return NULL;
}

const char *check_part(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t list;

    if (!fetch_variable(memory, SYMBOL_ompi_part_persist, AT_PART, &address, bytes)) {
        return NULL; /* the component is not loaded */
    }
    list = field_pointer(memory, bytes, AT_PART_LIST);
    return list == 0 || object_is_a(memory, list, "opal_list_t")
               ? NULL
               : "ompi_part_persist does not point to a list of partitioned requests";
}
