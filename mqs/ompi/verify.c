/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "communicator.h"
#include "error.h"
#include "free_list.h"
#include "list.h"
#include "request.h"
#include "verify.h"

/* opal_class_t, of which every release has the same (no layout could be believed without it): a pointer to
   the name, three pointers, two ints, two pointers, the size of the class's objects. */
#define CLASS_BYTES 64
#define CLASS_NAME_AT 0
#define CLASS_SIZE_AT 56

#define LINK_LIMIT 65536
#define RANK_OF_COMM_NULL (-2)
#define FLAG_DENSE 0x04u
#define MAX_BLOCK (1u << 20)
#define CHECKED_REQUESTS 64 /* of each of the two lists */

static const struct {
    enum layout_slot slot;
    bool needed;
} classes[] = {
    {AT_OBJECT, true},    {AT_ITEM, true},      {AT_LIST, true},          {AT_ARRAY, true},
    {AT_FREE_ITEM, true}, {AT_FREE_LIST, true}, {AT_PROC, true},          {AT_GROUP, true},
    {AT_COMM, true},      {AT_REQUEST, true},   {AT_PML, true},           {AT_SEND, true},
    {AT_RECV, true},      {AT_OPAL_TYPE, true}, {AT_TYPE, true},          {AT_OP, true},
    {AT_OB1_COMM, true},  {AT_OB1_PROC, true},  {AT_FRAG, true},          {AT_OB1_SEND, true},
    {AT_ENDPOINT, true},  {AT_NBC, true},       {AT_COMM_REQUEST, false}, {AT_COMM_STEP, false},
    {AT_HAN, false},
};

/* What is left out with a structure that was left out: it lies inside, begins with it, or is only found or
   told apart by it. */
static const struct {
    enum layout_slot slot;
    enum layout_slot needs;
} dependents[] = {
    {AT_CLASS, AT_OBJECT},
    {AT_ITEM, AT_OBJECT},
    {AT_LIST, AT_ITEM},
    {AT_ARRAY, AT_OBJECT},
    {AT_FREE_ITEM, AT_ITEM},
    {AT_FREE_LIST, AT_LIST},
    {AT_PROC, AT_OBJECT},
    {AT_NAME, AT_PROC},
    {AT_GROUP, AT_OBJECT},
    {AT_SPORADIC, AT_GROUP},
    {AT_RANGE, AT_SPORADIC},
    {AT_STRIDED, AT_GROUP},
    {AT_BITMAP, AT_GROUP},
    {AT_COMM, AT_GROUP},
    {AT_CID, AT_COMM},
    {AT_COLL, AT_COMM},
    {AT_REQUEST, AT_FREE_ITEM},
    {AT_STATUS, AT_REQUEST},
    {AT_SYNC, AT_REQUEST},
    {AT_PML, AT_REQUEST},
    {AT_SEND, AT_PML},
    {AT_RECV, AT_PML},
    {AT_OB1_SEND, AT_SEND},
    /* Without these nobody tells an eager send from one that waits for its receiver. */
    {AT_SEND, AT_OB1_SEND},
    {AT_SEND, AT_ENDPOINT},
    {AT_BTLS, AT_ENDPOINT},
    {AT_BML_BTL, AT_ENDPOINT},
    {AT_BTL, AT_ENDPOINT},
    {AT_OB1_COMM, AT_LIST},
    {AT_OB1_PROC, AT_LIST},
    {AT_FRAG, AT_FREE_ITEM},
    {AT_SEGMENT, AT_FRAG},
    {AT_OB1_HEADER, AT_FRAG},
    {AT_HEADER_COMMON, AT_FRAG},
    {AT_HEADER, AT_FRAG},
    {AT_RENDEZVOUS, AT_FRAG},
    {AT_NBC, AT_REQUEST},
    {AT_LIBNBC, AT_NBC},
    {AT_COMM_REQUEST, AT_REQUEST},
    {AT_COMM_STEP, AT_COMM_REQUEST},
    {AT_HAN, AT_OBJECT},
    {AT_OPAL_TYPE, AT_OBJECT},
    {AT_TYPE, AT_OPAL_TYPE},
    {AT_DESCRIPTION, AT_OPAL_TYPE},
    {AT_ENTRY, AT_DESCRIPTION},
    {AT_ELEMENT, AT_DESCRIPTION},
    {AT_LOOP, AT_DESCRIPTION},
    {AT_ARGUMENTS, AT_TYPE},
    {AT_OP, AT_OBJECT},
};

void verify_drop_dependents(struct layout *layout)
{
    bool changed;

    do {
        changed = false;
        for (size_t i = 0; i < sizeof dependents / sizeof dependents[0]; i++) {
            if (layout_has(layout, dependents[i].slot) && !layout_has(layout, dependents[i].needs)) {
                layout_drop(layout, dependents[i].slot);
                changed = true;
            }
        }
    } while (changed);
}

size_t verify_classes(void)
{
    return sizeof classes / sizeof classes[0];
}

enum layout_slot verify_class_slot(size_t index)
{
    return classes[index].slot;
}

const char *verify_class_structure(size_t index)
{
    return layout_structure(classes[index].slot);
}

bool verify_class_is_needed(size_t index)
{
    return classes[index].needed;
}

/* Address of the class object of a structure, e.g. ompi_group_t_class; 0 if the library exports none. */
static mqs_taddr_t find_class(struct memory *memory, const char *structure)
{
    char name[80];
    mqs_taddr_t address = 0;

    snprintf(name, sizeof name, "%s_class", structure);
    return symbol_find_name(&memory->symbols, name, &address) ? address : 0;
}

enum verify_result verify_class(struct memory *memory, size_t index, char *check, size_t size)
{
    const char *structure = verify_class_structure(index);
    mqs_taddr_t address = find_class(memory, structure);
    int expected = memory->layout.size[classes[index].slot];
    unsigned char bytes[CLASS_BYTES];
    mqs_taddr_t at;
    uint64_t there;
    char name[64];

    if (address == 0 || !layout_has(&memory->layout, classes[index].slot) ||
        fetch_bytes(&memory->fetch, address, sizeof bytes, bytes) != mqs_ok) {
        return VERIFY_ABSENT;
    }
    at = (mqs_taddr_t)number_unsigned(&memory->fetch, bytes + CLASS_NAME_AT, 8);
    there = number_unsigned(&memory->fetch, bytes + CLASS_SIZE_AT, 8);
    if (at == 0 || fetch_string(&memory->fetch, at, name, sizeof name) != mqs_ok ||
        strcmp(name, structure) != 0) {
        if (check != NULL) {
            snprintf(check, size, "its class object does not hold its name");
        }
        return VERIFY_FAILED;
    }
    if (there != (uint64_t)expected) {
        if (check != NULL) {
            snprintf(check, size, "its class has %llu bytes in the process and %d in the built-in layout",
                     (unsigned long long)there, expected);
        }
        return VERIFY_FAILED;
    }
    return VERIFY_PASSED;
}

static bool is_a(struct memory *memory, mqs_taddr_t object, const char *structure)
{
    mqs_taddr_t wanted = find_class(memory, structure);
    mqs_taddr_t there;

    return wanted != 0 && object != 0 &&
           fetch_pointer(&memory->fetch, object + (mqs_taddr_t)memory->layout.offset[AT_OBJECT_CLASS],
                         &there) == mqs_ok &&
           there == wanted;
}

/* A structure of the layout at a variable of the library. */
static bool fetch_variable(struct memory *memory, enum symbol symbol, enum layout_slot structure,
                           mqs_taddr_t *address, unsigned char *bytes)
{
    return symbol_find(&memory->symbols, symbol, address) &&
           fetch_structure(memory, *address, structure, bytes) == mqs_ok;
}

static mqs_taddr_t pointer_of(struct memory *memory, const unsigned char *bytes, enum layout_slot slot)
{
    return (mqs_taddr_t)field_unsigned(memory, bytes, slot);
}

static const char *check_array(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t world;
    mqs_taddr_t self;
    mqs_taddr_t slots[2];
    mqs_taddr_t items;

    if (!fetch_variable(memory, SYMBOL_ompi_mpi_communicators, AT_ARRAY, &address, bytes) ||
        !symbol_find(&memory->symbols, SYMBOL_ompi_mpi_comm_world, &world) ||
        !symbol_find(&memory->symbols, SYMBOL_ompi_mpi_comm_self, &self)) {
        return "ompi_mpi_communicators, ompi_mpi_comm_world or ompi_mpi_comm_self cannot be read";
    }
    if (!is_a(memory, address, "opal_pointer_array_t")) {
        return "ompi_mpi_communicators does not say that it is one";
    }
    items = pointer_of(memory, bytes, AT_ARRAY_ADDRESS);
    if (items == 0 || field_signed(memory, bytes, AT_ARRAY_SIZE) < 3 ||
        fetch_pointer(&memory->fetch, items, &slots[0]) != mqs_ok ||
        fetch_pointer(&memory->fetch, items + 8, &slots[1]) != mqs_ok || slots[0] != world ||
        slots[1] != self) {
        return "ompi_mpi_communicators does not begin with MPI_COMM_WORLD and MPI_COMM_SELF";
    }
    return NULL;
}

/* The process's own ompi_proc_t. */
static bool own_proc(struct memory *memory, mqs_taddr_t *ret)
{
    mqs_taddr_t symbol;

    return symbol_find(&memory->symbols, SYMBOL_ompi_proc_local_proc, &symbol) &&
           fetch_pointer(&memory->fetch, symbol, ret) == mqs_ok && *ret != 0;
}

/* The group of a predefined communicator: dense, with the process itself at its place. */
static const char *check_group_of(struct memory *memory, const unsigned char *comm, int64_t rank)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t group = pointer_of(memory, comm, AT_COMM_LOCAL_GROUP);
    mqs_taddr_t proc = 0;
    mqs_taddr_t self = 0;
    int64_t count;

    if (!is_a(memory, group, "ompi_group_t") || fetch_structure(memory, group, AT_GROUP, bytes) != mqs_ok) {
        return NULL; /* the communicator's check says so */
    }
    count = field_signed(memory, bytes, AT_GROUP_COUNT);
    if (count < 1 || rank < 0 || rank >= count) {
        return "the group of MPI_COMM_WORLD or MPI_COMM_SELF does not have a size that the rank is below";
    }
    if ((field_unsigned(memory, bytes, AT_GROUP_FLAGS) & FLAG_DENSE) == 0 ||
        field_unsigned(memory, bytes, AT_GROUP_PARENT) != 0) {
        return "the group of MPI_COMM_WORLD or MPI_COMM_SELF is not a dense one";
    }
    if (!own_proc(memory, &self) ||
        fetch_pointer(&memory->fetch, pointer_of(memory, bytes, AT_GROUP_PROCS) + (mqs_taddr_t)(rank * 8),
                      &proc) != mqs_ok ||
        proc != self) {
        return "the group of MPI_COMM_WORLD or MPI_COMM_SELF does not have this process at its rank";
    }
    return NULL;
}

static const char *check_group(struct memory *memory)
{
    static const enum symbol symbols[] = {SYMBOL_ompi_mpi_comm_world, SYMBOL_ompi_mpi_comm_self};
    const char *failed = NULL;

    for (int i = 0; failed == NULL && i < 2; i++) {
        unsigned char bytes[LAYOUT_MAX_STRUCT];
        mqs_taddr_t address;

        if (!fetch_variable(memory, symbols[i], AT_COMM, &address, bytes)) {
            return "MPI_COMM_WORLD or MPI_COMM_SELF cannot be read";
        }
        failed = check_group_of(memory, bytes, field_signed(memory, bytes, AT_COMM_MY_RANK));
    }
    return failed;
}

static const char *check_proc(struct memory *memory)
{
    unsigned char world[LAYOUT_MAX_STRUCT];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t self;

    if (!own_proc(memory, &self) || !is_a(memory, self, "ompi_proc_t") ||
        fetch_structure(memory, self, AT_PROC, bytes) != mqs_ok) {
        return "ompi_proc_local_proc does not point to a process";
    }
    if (!fetch_variable(memory, SYMBOL_ompi_mpi_comm_world, AT_COMM, &address, world)) {
        return "MPI_COMM_WORLD cannot be read";
    }
    if ((int64_t)field_unsigned(memory, bytes + memory->layout.offset[AT_PROC_NAME], AT_NAME_VPID) !=
        field_signed(memory, world, AT_COMM_MY_RANK)) {
        return "the name of this process does not have its rank in MPI_COMM_WORLD";
    }
    return NULL;
}

static bool has_name(struct memory *memory, const unsigned char *bytes, const char *wanted)
{
    const struct layout *layout = &memory->layout;
    char name[64];

    communicator_name(memory, bytes, name);
    return layout->size[AT_COMM_NAME] > 0 && strcmp(name, wanted) == 0;
}

/* MPI_COMM_NULL: its name is the only one that no program changes. */
static const char *check_null(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;

    if (!fetch_variable(memory, SYMBOL_ompi_mpi_comm_null, AT_COMM, &address, bytes) ||
        !is_a(memory, address, "ompi_communicator_t")) {
        return "ompi_mpi_comm_null does not say that it is one";
    }
    if (!has_name(memory, bytes, "MPI_COMM_NULL")) {
        return "ompi_mpi_comm_null does not hold its name";
    }
    if ((field_unsigned(memory, bytes, AT_COMM_FLAGS) & FLAG_INTRINSIC) == 0 ||
        field_signed(memory, bytes, AT_COMM_MY_RANK) != RANK_OF_COMM_NULL) {
        return "MPI_COMM_NULL does not have its flags and rank";
    }
    return NULL;
}

static const char *check_predefined(struct memory *memory, enum symbol symbol, unsigned index)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t group;
    const unsigned char *context = bytes + memory->layout.offset[AT_COMM_CONTEXT];

    if (!fetch_variable(memory, symbol, AT_COMM, &address, bytes) ||
        !is_a(memory, address, "ompi_communicator_t")) {
        return "ompi_mpi_comm_world or ompi_mpi_comm_self does not say that it is one";
    }
    group = pointer_of(memory, bytes, AT_COMM_LOCAL_GROUP);
    if (!is_a(memory, group, "ompi_group_t") || pointer_of(memory, bytes, AT_COMM_REMOTE_GROUP) != group) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF does not point to its group";
    }
    if ((field_unsigned(memory, bytes, AT_COMM_FLAGS) & (FLAG_INTRINSIC | FLAG_FREED)) != FLAG_INTRINSIC ||
        field_unsigned(memory, bytes, AT_COMM_LOCAL_COMM) != 0) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF does not have the flags of a predefined one";
    }
    if (layout_has(&memory->layout, AT_COMM_INDEX) ? field_unsigned(memory, bytes, AT_COMM_INDEX) != index
                                                   : number_unsigned(&memory->fetch, context, 4) != index) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF does not have its place in the table of communicators";
    }
    if (layout_has(&memory->layout, AT_COMM_NBC_TAG) &&
        field_signed(memory, bytes, AT_COMM_NBC_TAG) > communicator_nbc_base(&memory->layout)) {
        return "the tag of the next non-blocking collective of MPI_COMM_WORLD or MPI_COMM_SELF is not one";
    }
    return NULL;
}

static const char *check_comm(struct memory *memory)
{
    const char *failed = check_null(memory);

    if (failed == NULL) {
        failed = check_predefined(memory, SYMBOL_ompi_mpi_comm_world, 0);
    }
    return failed == NULL ? check_predefined(memory, SYMBOL_ompi_mpi_comm_self, 1) : failed;
}

static const char *check_coll(struct memory *memory)
{
    unsigned char world[LAYOUT_MAX_STRUCT];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t module;
    mqs_taddr_t class_;
    mqs_taddr_t at;
    char name[64];

    if (!layout_has(&memory->layout, AT_CLASS_NAME) ||
        !fetch_variable(memory, SYMBOL_ompi_mpi_comm_world, AT_COMM, &address, world)) {
        return "MPI_COMM_WORLD cannot be read";
    }
    if (fetch_structure(memory, pointer_of(memory, world, AT_COMM_COLL), AT_COLL, bytes) != mqs_ok) {
        return "MPI_COMM_WORLD does not point to its collectives";
    }
    module = pointer_of(memory, bytes, AT_COLL_BARRIER);
    if (module == 0 ||
        fetch_pointer(&memory->fetch, module + (mqs_taddr_t)memory->layout.offset[AT_OBJECT_CLASS],
                      &class_) != mqs_ok ||
        fetch_pointer(&memory->fetch, class_ + CLASS_NAME_AT, &at) != mqs_ok ||
        fetch_string(&memory->fetch, at, name, sizeof name) != mqs_ok ||
        strncmp(name, "mca_coll_", strlen("mca_coll_")) != 0) {
        return "MPI_COMM_WORLD does not point to the module of its barrier";
    }
    return NULL;
}

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

static const char *check_component(struct memory *memory)
{
    char name[48];
    char variable[80];
    mqs_taddr_t component;

    read_pml(memory, name);
    snprintf(variable, sizeof variable, "mca_pml_%s_component", name);
    if (!symbol_find_name(&memory->symbols, variable, &component)) {
        return "mca_pml_base_selected_component does not hold the name of a component";
    }
    return NULL;
}

static const char *check_request(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    const unsigned char *status = bytes + memory->layout.offset[AT_REQUEST_STATUS];
    mqs_taddr_t address;

    if (!fetch_variable(memory, SYMBOL_ompi_request_null, AT_REQUEST, &address, bytes) ||
        !is_a(memory, address, "ompi_request_t")) {
        return "ompi_request_null does not say that it is one";
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
        return "MPI_REQUEST_NULL does not have an empty status";
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
           find_class(memory, request_lists[index].item) != 0 &&
           fetch_variable(memory, request_lists[index].list, AT_FREE_LIST, address, bytes) &&
           is_a(memory, *address, "opal_free_list_t") &&
           field_unsigned(memory, bytes, AT_FREE_LIST_ALLOCATED) > 0;
}

static const char *check_list(struct memory *memory)
{
    for (size_t i = 0; i < 2; i++) {
        unsigned char bytes[LAYOUT_MAX_STRUCT];
        mqs_taddr_t address;

        if (list_in_use(memory, i, &address, bytes) &&
            !is_circular(memory, address + (mqs_taddr_t)memory->layout.offset[AT_FREE_LIST_CHUNKS])) {
            return "the list of a free list's chunks does not come back to its head";
        }
    }
    return NULL;
}

static const char *check_free_list(struct memory *memory)
{
    for (size_t i = 0; i < 2; i++) {
        unsigned char bytes[LAYOUT_MAX_STRUCT];
        mqs_taddr_t address;
        uint64_t alignment;

        if (!list_in_use(memory, i, &address, bytes)) {
            continue;
        }
        if (!is_a(memory, address + (mqs_taddr_t)memory->layout.offset[AT_FREE_LIST_CHUNKS], "opal_list_t")) {
            return "a free list of requests does not have its list of chunks";
        }
        if (layout_has(&memory->layout, AT_FREE_LIST_CLASS) &&
            pointer_of(memory, bytes, AT_FREE_LIST_CLASS) != find_class(memory, request_lists[i].item)) {
            return "a free list of requests does not name the class of its items";
        }
        alignment = field_unsigned(memory, bytes, AT_FREE_LIST_ALIGNMENT);
        if (alignment == 0 || alignment > FETCH_PAGE || (alignment & (alignment - 1)) != 0 ||
            field_unsigned(memory, bytes, AT_FREE_LIST_FRAG_SIZE) < (uint64_t)memory->layout.size[AT_PML] ||
            field_unsigned(memory, bytes, AT_FREE_LIST_FRAG_SIZE) > 65536 ||
            field_unsigned(memory, bytes, AT_FREE_LIST_PER_ALLOC) == 0 ||
            field_unsigned(memory, bytes, AT_FREE_LIST_PER_ALLOC) > MAX_BLOCK ||
            field_unsigned(memory, bytes, AT_FREE_LIST_ALLOCATED) > MAX_BLOCK) {
            return "a free list of requests does not have sizes that can be";
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

    if (!is_a(memory, address, request_lists[check->list].item)) {
        check->failed = "a request of a free list does not say that it is one";
    } else if (field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_PML ||
               (request_lists[check->list].type == PML_SEND) != (type == PML_SEND) || type > PML_MPROBE) {
        check->failed = "a request of a free list does not have its type";
    } else if (state > REQUEST_CANCELLED) {
        check->failed = "a request of a free list does not have a state";
    } else if (state == REQUEST_ACTIVE && field_unsigned(memory, bytes, AT_PML_FREED) > 1) {
        check->failed = "an active request does not say whether it was freed";
    }
    check->checked++;
    return check->failed != NULL || check->checked == CHECKED_REQUESTS ? mqs_end_of_list : mqs_ok;
}

/* The oldest requests, used or not. */
static const char *check_pml(struct memory *memory)
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
            return "the requests of a free list cannot be read";
        }
    }
    return NULL;
}

/* MPI_COMM_WORLD's state in PML ob1; false where another PML is in use. */
static bool world_of_ob1(struct memory *memory, unsigned char *bytes, mqs_taddr_t *address)
{
    unsigned char world[LAYOUT_MAX_STRUCT];
    mqs_taddr_t symbol;

    if (!fetch_variable(memory, SYMBOL_ompi_mpi_comm_world, AT_COMM, &symbol, world)) {
        return false;
    }
    *address = pointer_of(memory, world, AT_COMM_PML_COMM);
    return is_a(memory, *address, "mca_pml_ob1_comm_t") &&
           fetch_structure(memory, *address, AT_OB1_COMM, bytes) == mqs_ok;
}

/* Where PML ob1 is in use, it has its state at MPI_COMM_WORLD. */
static const char *check_ob1_comm(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    unsigned char list[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t chunks;

    if (!world_of_ob1(memory, bytes, &address)) {
        return list_in_use(memory, 1, &chunks, list) ? "MPI_COMM_WORLD does not point to its state in PML ob1"
                                                     : NULL;
    }
    if (!is_a(memory, address + (mqs_taddr_t)memory->layout.offset[AT_OB1_COMM_WILD], "opal_list_t")) {
        return "the state of MPI_COMM_WORLD does not have its list of receives from any source";
    }
    if (pointer_of(memory, bytes, AT_OB1_COMM_PROCS) == 0 ||
        field_unsigned(memory, bytes, AT_OB1_COMM_COUNT) == 0 ||
        field_unsigned(memory, bytes, AT_OB1_COMM_COUNT) > MAX_BLOCK * 4) {
        return "the state of MPI_COMM_WORLD does not have its peers";
    }
    return NULL;
}

/* The first peers that have been in contact. */
static const char *check_ob1_proc(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t procs;
    uint64_t count;
    int checked = 0;

    if (!layout_has(&memory->layout, AT_OB1_COMM) || !world_of_ob1(memory, bytes, &address)) {
        return NULL;
    }
    procs = pointer_of(memory, bytes, AT_OB1_COMM_PROCS);
    count = field_unsigned(memory, bytes, AT_OB1_COMM_COUNT);
    for (uint64_t i = 0; i < count && i < 4096 && checked < 4; i++) {
        mqs_taddr_t peer;
        mqs_taddr_t early;

        if (fetch_pointer(&memory->fetch, procs + (mqs_taddr_t)(i * 8), &peer) != mqs_ok) {
            return "the peers of MPI_COMM_WORLD cannot be read";
        }
        if (peer == 0) {
            continue;
        }
        if (!is_a(memory, peer, "mca_pml_ob1_comm_proc_t") ||
            !is_a(memory, peer + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_POSTED], "opal_list_t") ||
            !is_a(memory, peer + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_UNEXPECTED], "opal_list_t")) {
            return "a peer of MPI_COMM_WORLD does not have its lists";
        }
        if (fetch_pointer(&memory->fetch, peer + (mqs_taddr_t)memory->layout.offset[AT_OB1_PROC_EARLY],
                          &early) != mqs_ok ||
            (early != 0 && !is_a(memory, early, "mca_pml_ob1_recv_frag_t"))) {
            return "a peer of MPI_COMM_WORLD does not have its messages that came early";
        }
        checked++;
    }
    return NULL;
}

static const char *check_libnbc(struct memory *memory)
{
    mqs_taddr_t component;

    if (symbol_find(&memory->symbols, SYMBOL_mca_coll_libnbc_component, &component) &&
        !is_a(memory, component + (mqs_taddr_t)memory->layout.offset[AT_LIBNBC_ACTIVE], "opal_list_t")) {
        return "libnbc does not have its list of active requests";
    }
    return NULL;
}

static const char *check_opal_type(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;

    if (!symbol_find_name(&memory->symbols, "ompi_mpi_int", &address) ||
        fetch_structure(memory, address, AT_OPAL_TYPE, bytes) != mqs_ok ||
        !(is_a(memory, address, "opal_datatype_t") || is_a(memory, address, "ompi_datatype_t"))) {
        return "ompi_mpi_int does not say that it is a datatype";
    }
    if (field_unsigned(memory, bytes, AT_OPAL_TYPE_SIZE) != 4 ||
        field_signed(memory, bytes, AT_OPAL_TYPE_LOWER) != 0 ||
        field_signed(memory, bytes, AT_OPAL_TYPE_UPPER) != 4) {
        return "MPI_INT does not have four bytes";
    }
    return NULL;
}

static const char *check_type(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    char name[64];

    if (!symbol_find_name(&memory->symbols, "ompi_mpi_int", &address) ||
        fetch_structure(memory, address, AT_TYPE, bytes) != mqs_ok) {
        return "ompi_mpi_int cannot be read";
    }
    field_name(memory, bytes, AT_TYPE, AT_TYPE_NAME, AT_TYPE, name);
    return strcmp(name, "MPI_INT") == 0 ? NULL : "MPI_INT does not hold its name";
}

/* MPI_INT is described by one block of one element. */
static const char *check_description(struct memory *memory)
{
    unsigned char type[LAYOUT_MAX_STRUCT];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    const unsigned char *description = type + memory->layout.offset[AT_OPAL_TYPE_DESCRIPTION];

    if (!layout_has(&memory->layout, AT_ELEMENT) ||
        !symbol_find_name(&memory->symbols, "ompi_mpi_int", &address) ||
        fetch_structure(memory, address, AT_OPAL_TYPE, type) != mqs_ok) {
        return NULL;
    }
    if (field_unsigned(memory, description, AT_DESCRIPTION_USED) != 1 ||
        fetch_structure(memory, pointer_of(memory, description, AT_DESCRIPTION_ENTRIES), AT_ELEMENT, bytes) !=
            mqs_ok ||
        field_unsigned(memory, bytes, AT_ELEMENT_COUNT) != 1 ||
        field_signed(memory, bytes, AT_ELEMENT_DISPLACEMENT) != 0 ||
        field_signed(memory, bytes, AT_ELEMENT_STRIDE) != 4) {
        return "MPI_INT is not described by one element of four bytes";
    }
    return NULL;
}

static const char *check_op(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    char name[64];

    if (!symbol_find_name(&memory->symbols, "ompi_mpi_op_sum", &address) ||
        fetch_structure(memory, address, AT_OP, bytes) != mqs_ok || !is_a(memory, address, "ompi_op_t")) {
        return "ompi_mpi_op_sum does not say that it is one";
    }
    field_name(memory, bytes, AT_OP, AT_OP_NAME, AT_OP, name);
    return strcmp(name, "MPI_SUM") == 0 ? NULL : "MPI_SUM does not hold its name";
}

static const struct {
    enum layout_slot slot;
    const char *(*check)(struct memory *memory);
} contents[] = {
    {AT_ARRAY, check_array},
    {AT_COMM, check_comm},
    {AT_GROUP, check_group},
    {AT_PROC, check_proc},
    {AT_COLL, check_coll},
    {AT_COMPONENT, check_component},
    {AT_REQUEST, check_request},
    {AT_FREE_LIST, check_free_list},
    {AT_LIST, check_list},
    {AT_PML, check_pml},
    {AT_OB1_COMM, check_ob1_comm},
    {AT_OB1_PROC, check_ob1_proc},
    {AT_LIBNBC, check_libnbc},
    {AT_OPAL_TYPE, check_opal_type},
    {AT_TYPE, check_type},
    {AT_DESCRIPTION, check_description},
    {AT_OP, check_op},
};

/* Whether a structure has all rows but those that are not in every release. */
static bool has_members(const struct layout *layout, enum layout_slot structure)
{
    for (int i = structure + 1; i < AT_END && !layout_is_size((enum layout_slot)i); i++) {
        if (!layout_has(layout, (enum layout_slot)i) && i != AT_COMM_INDEX && i != AT_COMM_MQS &&
            i != AT_COMM_NBC_TAG && i != AT_COMM_BSEND) {
            return false;
        }
    }
    return true;
}

size_t verify_contents(void)
{
    return sizeof contents / sizeof contents[0];
}

enum layout_slot verify_content_slot(size_t index)
{
    return contents[index].slot;
}

const char *verify_content_structure(size_t index)
{
    return layout_structure(contents[index].slot);
}

const char *verify_content(struct memory *memory, size_t index)
{
    enum layout_slot slot = contents[index].slot;

    if (!layout_has(&memory->layout, slot)) {
        return NULL;
    }
    return has_members(&memory->layout, slot) ? contents[index].check(memory)
                                              : "one of its members does not lie inside it";
}
