/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "communicator.h"
#include "error.h"
#include "group.h"

#define MAX_COMMUNICATORS 65536
#define MAX_TABLE (1 << 20)

/* c_flags, the same in every release of Open MPI that has the members we read. */
#define FLAG_INTER 0x1u
#define FLAG_GLOBAL_INDEX 0x10000u /* where there is a c_index: it is the same on all members */

#define INDEX_WORLD 0
#define INDEX_SELF 1
#define RANK_OF_COMM_NULL (-2)

/* In place of the address of a communicator that is being made (5.0; 4.1 puts its parent's there). */
#define SLOT_RESERVED 1

/* First tag of libnbc: 4.1; 5.0, with extended context ids; 6.0, with buffers of a communicator's own.
   Releases reserve further tags before it (4.1.9 and 5.0.11 do), so these are the highest, and the process
   says which it is. */
#define NBC_BASE_41 (-27)
#define NBC_BASE_50 (-33)
#define NBC_BASE_60 (-34)
#define NBC_BASE_LOWEST (-64)

static int highest_nbc_base(const struct layout *layout)
{
    if (layout_has(layout, AT_COMM_BSEND)) {
        return NBC_BASE_60;
    }
    return layout_has(layout, AT_COMM_INDEX) ? NBC_BASE_50 : NBC_BASE_41;
}

int communicator_nbc_base(const struct layout *layout)
{
    return layout->nbc_base != 0 ? layout->nbc_base : highest_nbc_base(layout);
}

/* Nobody can start a collective on MPI_COMM_NULL: its next tag is the first one. */
static void read_nbc_base(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    int64_t tag;

    if (memory->layout.nbc_base != 0 || !layout_has(&memory->layout, AT_COMM_NBC_TAG) ||
        !fetch_variable(memory, SYMBOL_ompi_mpi_comm_null, AT_COMM, &address, bytes)) {
        return;
    }
    tag = field_signed(memory, bytes, AT_COMM_NBC_TAG);
    if (tag <= highest_nbc_base(&memory->layout) && tag >= NBC_BASE_LOWEST) {
        memory->layout.nbc_base = (int32_t)tag;
    }
}

void communicator_name(struct memory *memory, const unsigned char *bytes, char name[64])
{
    field_name(memory, bytes, AT_COMM, AT_COMM_NAME, AT_COMM_CONTEXT, name);
}

static void read_context(const struct memory *memory, const unsigned char *bytes, struct communicator *comm)
{
    const struct layout *layout = &memory->layout;
    int32_t offset = layout->offset[AT_COMM_CONTEXT];
    uint64_t index = field_unsigned(memory, bytes, AT_COMM_INDEX);

    if (!layout_has(layout, AT_CID_BASE) || !layout_has(layout, AT_CID_SUB) ||
        !layout_has(layout, AT_COMM_INDEX) || offset > layout->size[AT_COMM] - layout->size[AT_CID]) {
        comm->context[1] =
            offset <= layout->size[AT_COMM] - 4 ? number_unsigned(&memory->fetch, bytes + offset, 4) : 0;
        comm->unique_id = (mqs_taddr_t)comm->context[1];
        return;
    }
    comm->context[0] = field_unsigned(memory, bytes + offset, AT_CID_BASE);
    comm->context[1] = field_unsigned(memory, bytes + offset, AT_CID_SUB);
    if (comm->context[0] == 0 || (comm->flags & FLAG_GLOBAL_INDEX) != 0) {
        comm->unique_id = (mqs_taddr_t)index;
        return;
    }
    /* A session's: only the extended id is the same on all members.  The top bit keeps it apart from the
       indices, which are small. */
    comm->unique_id =
        (mqs_taddr_t)(comm->context[0] << 32 ^ comm->context[0] >> 32 ^ comm->context[1] ^ UINT64_C(1) << 63);
}

/* The place in the library's table that a communicator says is its own. */
static uint64_t own_slot(const struct memory *memory, const unsigned char *bytes,
                         const struct communicator *comm)
{
    return layout_has(&memory->layout, AT_COMM_INDEX) ? field_unsigned(memory, bytes, AT_COMM_INDEX)
                                                      : comm->context[1];
}

/* What its structure says: all but the name and the sizes of its groups. */
static void decode(struct memory *memory, const unsigned char *bytes, struct communicator *ret)
{
    ret->flags = (uint32_t)field_unsigned(memory, bytes, AT_COMM_FLAGS);
    ret->my_rank = (int)field_signed(memory, bytes, AT_COMM_MY_RANK);
    ret->local_group = (mqs_taddr_t)field_unsigned(memory, bytes, AT_COMM_LOCAL_GROUP);
    ret->remote_group = (mqs_taddr_t)field_unsigned(memory, bytes, AT_COMM_REMOTE_GROUP);
    ret->local_comm = (mqs_taddr_t)field_unsigned(memory, bytes, AT_COMM_LOCAL_COMM);
    ret->pml_comm = (mqs_taddr_t)field_unsigned(memory, bytes, AT_COMM_PML_COMM);
    ret->coll = (mqs_taddr_t)field_unsigned(memory, bytes, AT_COMM_COLL);
    ret->collectives = (mqs_taddr_t)field_unsigned(memory, bytes, AT_COMM_MQS);
    ret->nbc_tag = (int32_t)field_signed(memory, bytes, AT_COMM_NBC_TAG);
    ret->references = (int)field_signed(memory, bytes, AT_OBJECT_REFERENCES);
    ret->inter = (ret->flags & FLAG_INTER) != 0;
    ret->world = ret->index == INDEX_WORLD && (ret->flags & FLAG_INTRINSIC) != 0;
    ret->self = ret->index == INDEX_SELF && (ret->flags & FLAG_INTRINSIC) != 0;
    read_context(memory, bytes, ret);
}

/* Whether a slot of the library's table has a communicator that the process can use: not MPI_COMM_NULL, not
   one that is being made or taken apart and has no members to speak of, nor one that holds the place of
   another that is being made from it. */
static bool is_usable(const struct memory *memory, const unsigned char *bytes,
                      const struct communicator *comm)
{
    return !((comm->flags & FLAG_INTRINSIC) != 0 && comm->my_rank == RANK_OF_COMM_NULL) &&
           comm->local_group != 0 && !(comm->inter && comm->remote_group == 0) &&
           own_slot(memory, bytes, comm) == comm->index;
}

static int read_one(struct memory *memory, struct communicators *list, mqs_taddr_t address, uint32_t index)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct communicator *comm;
    struct communicator read;
    int code = fetch_structure(memory, address, AT_COMM, bytes);

    if (code != mqs_ok) {
        return code;
    }
    memset(&read, 0, sizeof read);
    read.address = address;
    read.index = index;
    decode(memory, bytes, &read);
    if (!is_usable(memory, bytes, &read)) {
        return mqs_ok;
    }
    if (read.remote_group == 0) {
        read.remote_group = read.local_group;
    }
    communicator_name(memory, bytes, read.name);
    code = group_size(memory, read.local_group, &read.size);
    if (code == mqs_ok && read.inter) {
        code = group_size(memory, read.remote_group, &read.remote_size);
    }
    if (code != mqs_ok) {
        return code;
    }
    comm = vector_add(&list->list, sizeof *comm, MAX_COMMUNICATORS);
    if (comm == NULL) {
        return list->list.count >= MAX_COMMUNICATORS ? ERROR_TOO_MANY : ERROR_NO_STORE;
    }
    *comm = read;
    return mqs_ok;
}

static int compare_keys(const void *a, const void *b)
{
    const struct communicator_key *left = a;
    const struct communicator_key *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

static int index_addresses(struct communicators *communicators)
{
    const struct communicator *list = communicators->list.items;

    for (size_t i = 0; i < communicators->list.count; i++) {
        struct communicator_key *key = vector_add(&communicators->by_address, sizeof *key, MAX_COMMUNICATORS);

        if (key == NULL) {
            return ERROR_NO_STORE;
        }
        key->address = list[i].address;
        key->index = i;
    }
    if (communicators->by_address.count > 0) {
        qsort(communicators->by_address.items, communicators->by_address.count,
              sizeof(struct communicator_key), compare_keys);
    }
    return mqs_ok;
}

static struct communicator *lookup(const struct communicators *communicators, mqs_taddr_t address)
{
    const struct vector *keys = &communicators->by_address;
    struct communicator_key wanted = {address, 0};
    const struct communicator_key *found;

    if (keys->count == 0) {
        return NULL;
    }
    found = bsearch(&wanted, keys->items, keys->count, sizeof wanted, compare_keys);
    return found == NULL ? NULL : &((struct communicator *)communicators->list.items)[found->index];
}

void communicator_mark(struct communicators *communicators, mqs_taddr_t hidden, mqs_taddr_t parent)
{
    struct communicator *found = lookup(communicators, hidden);

    if (found != NULL && hidden != parent && !found->world && !found->self) {
        found->internal = true;
        found->parent = parent;
    }
}

int communicators_read(struct memory *memory, struct communicators *communicators)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    unsigned char *addresses;
    mqs_taddr_t table;
    mqs_taddr_t array;
    int64_t size;
    int width = memory->layout.sizes.pointer_size;
    int code;

    if (!symbol_find(&memory->symbols, SYMBOL_ompi_mpi_communicators, &table)) {
        return ERROR_SYMBOL;
    }
    code = fetch_structure(memory, table, AT_ARRAY, bytes);
    if (code != mqs_ok) {
        return code;
    }
    size = field_signed(memory, bytes, AT_ARRAY_SIZE);
    array = (mqs_taddr_t)field_unsigned(memory, bytes, AT_ARRAY_ADDRESS);
    if (size == 0 || array == 0) {
        return mqs_ok; /* before MPI_Init */
    }
    if (size < 0 || size > MAX_TABLE) {
        return ERROR_COMMUNICATOR_LIST;
    }
    read_nbc_base(memory);
    addresses = heap_allocate((size_t)size, (size_t)width);
    if (addresses == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(&memory->fetch, array, (size_t)size * (size_t)width, addresses);
    for (int64_t i = 0; code == mqs_ok && i < size; i++) {
        mqs_taddr_t address = (mqs_taddr_t)number_unsigned(&memory->fetch, addresses + i * width, width);

        if (address != 0 && address != SLOT_RESERVED) {
            code = read_one(memory, communicators, address, (uint32_t)i);
        }
    }
    heap_free(addresses);
    if (code == mqs_ok) {
        code = index_addresses(communicators);
    }
    return code;
}

void communicators_clear(struct communicators *communicators)
{
    vector_clear(&communicators->list);
    vector_clear(&communicators->by_address);
}

const struct communicator *communicator_at(const struct communicators *communicators, size_t index)
{
    return index < communicators->list.count
               ? &((const struct communicator *)communicators->list.items)[index]
               : NULL;
}

const struct communicator *communicator_find(const struct communicators *communicators, mqs_taddr_t address)
{
    return lookup(communicators, address);
}

mqs_taddr_t communicator_peers(const struct communicator *communicator)
{
    return communicator->inter ? communicator->remote_group : communicator->local_group;
}

/* How many hidden non-blocking collectives the making of others took on this one: three for each live
   communicator that was made from it, as its default name tells; -1 where one has another name. */
static int64_t hidden_starts(const struct communicators *communicators,
                             const struct communicator *communicator)
{
    const struct communicator *list = communicators->list.items;
    int64_t children = 0;

    for (size_t i = 0; i < communicators->list.count; i++) {
        const char *from = strstr(list[i].name, " FROM ");
        char *end;

        if (list[i].world || list[i].self) {
            continue;
        }
        if (from == NULL) {
            return -1;
        }
        if (strtoull(from + strlen(" FROM "), &end, 10) == communicator->unique_id && *end == '\0') {
            children++;
        }
    }
    return children * 3;
}

int64_t communicator_nonblocking(const struct layout *layout, const struct communicators *communicators,
                                 const struct communicator *communicator)
{
    int base = communicator_nbc_base(layout);
    int64_t starts;
    int64_t hidden;

    if (!layout_has(layout, AT_COMM_NBC_TAG) || communicator->nbc_tag > base) {
        return -1;
    }
    starts = (int64_t)base - communicator->nbc_tag;
    if (starts == 0) {
        return 0;
    }
    hidden = hidden_starts(communicators, communicator);
    return hidden < 0 || starts < hidden ? -1 : starts - hidden;
}
