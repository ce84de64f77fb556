/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify_contents.h"

#include <stdint.h>
#include <string.h>

#include "class_object.h"
#include "communicator.h"

#define RANK_OF_COMM_NULL (-2)
#define FLAG_DENSE 0x04u

const char *check_array(struct memory *memory)
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
    if (!object_is_a(memory, address, "opal_pointer_array_t")) {
        return "ompi_mpi_communicators is not of the class opal_pointer_array_t";
    }
    items = field_pointer(memory, bytes, AT_ARRAY_ADDRESS);
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
    mqs_taddr_t group = field_pointer(memory, comm, AT_COMM_LOCAL_GROUP);
    mqs_taddr_t proc = 0;
    mqs_taddr_t self = 0;
    int64_t count;

    if (!object_is_a(memory, group, "ompi_group_t") ||
        fetch_structure(memory, group, AT_GROUP, bytes) != mqs_ok) {
        return NULL; /* the communicator's check says so */
    }
    count = field_signed(memory, bytes, AT_GROUP_COUNT);
    if (count < 1 || rank < 0 || rank >= count) {
        return "the group of MPI_COMM_WORLD or MPI_COMM_SELF has fewer members than this process's rank "
               "requires";
    }
    if ((field_unsigned(memory, bytes, AT_GROUP_FLAGS) & FLAG_DENSE) == 0 ||
        field_unsigned(memory, bytes, AT_GROUP_PARENT) != 0) {
        return "the group of MPI_COMM_WORLD or MPI_COMM_SELF is not a dense group";
    }
    if (!own_proc(memory, &self) ||
        fetch_pointer(&memory->fetch, field_pointer(memory, bytes, AT_GROUP_PROCS) + (mqs_taddr_t)(rank * 8),
                      &proc) != mqs_ok ||
        proc != self) {
        return "the group of MPI_COMM_WORLD or MPI_COMM_SELF does not list this process at its rank";
    }
    return NULL;
}

const char *check_group(struct memory *memory)
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

const char *check_proc(struct memory *memory)
{
    unsigned char world[LAYOUT_MAX_STRUCT];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t self;

    if (!own_proc(memory, &self) || !object_is_a(memory, self, "ompi_proc_t") ||
        fetch_structure(memory, self, AT_PROC, bytes) != mqs_ok) {
        return "ompi_proc_local_proc does not point to an ompi_proc_t";
    }
    if (!fetch_variable(memory, SYMBOL_ompi_mpi_comm_world, AT_COMM, &address, world)) {
        return "MPI_COMM_WORLD cannot be read";
    }
    if ((int64_t)field_unsigned(memory, bytes + memory->layout.offset[AT_PROC_NAME], AT_NAME_VPID) !=
        field_signed(memory, world, AT_COMM_MY_RANK)) {
        return "this process's name disagrees with its rank in MPI_COMM_WORLD";
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
        !object_is_a(memory, address, "ompi_communicator_t")) {
        return "ompi_mpi_comm_null is not of the class ompi_communicator_t";
    }
    if (!has_name(memory, bytes, "MPI_COMM_NULL")) {
        return "ompi_mpi_comm_null is not named MPI_COMM_NULL";
    }
    if ((field_unsigned(memory, bytes, AT_COMM_FLAGS) & FLAG_INTRINSIC) == 0 ||
        field_signed(memory, bytes, AT_COMM_MY_RANK) != RANK_OF_COMM_NULL) {
        return "MPI_COMM_NULL has unexpected flags or an unexpected rank";
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
        !object_is_a(memory, address, "ompi_communicator_t")) {
        return "ompi_mpi_comm_world or ompi_mpi_comm_self is not of the class ompi_communicator_t";
    }
    group = field_pointer(memory, bytes, AT_COMM_LOCAL_GROUP);
    if (!object_is_a(memory, group, "ompi_group_t") ||
        field_pointer(memory, bytes, AT_COMM_REMOTE_GROUP) != group) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF does not point to its group";
    }
    if ((field_unsigned(memory, bytes, AT_COMM_FLAGS) & (FLAG_INTRINSIC | FLAG_FREED)) != FLAG_INTRINSIC ||
        field_unsigned(memory, bytes, AT_COMM_LOCAL_COMM) != 0) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF lacks the flags of a predefined communicator";
    }
    if (layout_has(&memory->layout, AT_COMM_INDEX) ? field_unsigned(memory, bytes, AT_COMM_INDEX) != index
                                                   : number_unsigned(&memory->fetch, context, 4) != index) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF has an unexpected index";
    }
    if (layout_has(&memory->layout, AT_COMM_NBC_TAG) &&
        field_signed(memory, bytes, AT_COMM_NBC_TAG) > communicator_nbc_base(&memory->layout)) {
        return "MPI_COMM_WORLD or MPI_COMM_SELF has an impossible tag for its next non-blocking collective";
    }
    return NULL;
}

const char *check_comm(struct memory *memory)
{
    const char *failed = check_null(memory);

    if (failed == NULL) {
        failed = check_predefined(memory, SYMBOL_ompi_mpi_comm_world, 0);
    }
    return failed == NULL ? check_predefined(memory, SYMBOL_ompi_mpi_comm_self, 1) : failed;
}

const char *check_coll(struct memory *memory)
{
    unsigned char world[LAYOUT_MAX_STRUCT];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    mqs_taddr_t class_;
    uint64_t size;
    char name[64];

    if (!layout_has(&memory->layout, AT_CLASS_NAME) ||
        !fetch_variable(memory, SYMBOL_ompi_mpi_comm_world, AT_COMM, &address, world)) {
        return "MPI_COMM_WORLD cannot be read";
    }
    if (fetch_structure(memory, field_pointer(memory, world, AT_COMM_COLL), AT_COLL, bytes) != mqs_ok) {
        return "MPI_COMM_WORLD does not point to its table of collective functions";
    }
    if (!object_class(memory, field_pointer(memory, bytes, AT_COLL_BARRIER), &class_) ||
        !class_object_read(memory, class_, name, sizeof name, &size) ||
        strncmp(name, "mca_coll_", strlen("mca_coll_")) != 0) {
        return "MPI_COMM_WORLD does not name a coll component for MPI_Barrier";
    }
    return NULL;
}
