/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "group.h"
#include "ompi_mqs.h"

#define MAX_DEPTH 32 /* sparse groups of sparse groups */

#define FLAG_DENSE 0x04u
#define FLAG_SPORADIC 0x08u
#define FLAG_STRIDED 0x10u
#define FLAG_BITMAP 0x20u

/* What a group's structure says. */
struct group {
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    int count;
    uint32_t flags;
    mqs_taddr_t procs;
    mqs_taddr_t parent;
    const unsigned char *sparse; /* in bytes */
};

static int group_read(struct memory *memory, mqs_taddr_t address, struct group *ret)
{
    int64_t count;
    int code = fetch_structure(memory, address, AT_GROUP, ret->bytes);

    if (code != mqs_ok) {
        return code;
    }
    count = field_signed(memory, ret->bytes, AT_GROUP_COUNT);
    if (count < 0 || count > GROUP_MAX_SIZE) {
        return ERROR_GROUP;
    }
    ret->count = (int)count;
    ret->flags = (uint32_t)field_unsigned(memory, ret->bytes, AT_GROUP_FLAGS);
    ret->procs = (mqs_taddr_t)field_unsigned(memory, ret->bytes, AT_GROUP_PROCS);
    ret->parent = (mqs_taddr_t)field_unsigned(memory, ret->bytes, AT_GROUP_PARENT);
    ret->sparse = layout_has(&memory->layout, AT_GROUP_SPARSE)
                      ? ret->bytes + memory->layout.offset[AT_GROUP_SPARSE]
                      : NULL;
    return mqs_ok;
}

int group_size(struct memory *memory, mqs_taddr_t group, int *ret)
{
    struct group read;
    int code = group_read(memory, group, &read);

    if (code == mqs_ok) {
        *ret = read.count;
    }
    return code;
}

/* A sentinel where a pointer is as wide as a name: bit 0 set, then 15 bits of the job's local part, 16 of
   its family, 32 of the rank; in a narrow one the rank alone, of our own job. */
static mqs_process_name name_of_sentinel(const struct groups *groups, mqs_taddr_t proc)
{
    mqs_process_name name;

    if (groups->memory->layout.sizes.pointer_size < 8) {
        name.jobid = groups->self.jobid;
        name.vpid = (uint32_t)(proc >> 1);
        return name;
    }
    name.jobid = (uint32_t)(proc >> 16 & 0xffff) << 16 | (uint32_t)(proc >> 1 & 0x7fff);
    name.vpid = (uint32_t)((uint64_t)proc >> 32);
    return name;
}

int group_name_of(struct groups *groups, mqs_taddr_t proc, mqs_process_name *ret)
{
    struct memory *memory = groups->memory;
    const struct layout *layout = &memory->layout;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    int code;

    if ((proc & 1) != 0) {
        *ret = name_of_sentinel(groups, proc);
        return mqs_ok;
    }
    code = fetch_bytes(&memory->fetch, proc + (mqs_taddr_t)layout->offset[AT_PROC_NAME],
                       (size_t)layout->size[AT_NAME], bytes);
    if (code != mqs_ok) {
        return code;
    }
    ret->jobid = (uint32_t)field_unsigned(memory, bytes, AT_NAME_JOBID);
    ret->vpid = (uint32_t)field_unsigned(memory, bytes, AT_NAME_VPID);
    return mqs_ok;
}

/* The translations below turn ranks of a sparse group into ranks of its parent, in place. */

static int translate_strided(struct memory *memory, const struct group *group, int *ranks, int count)
{
    int64_t offset = field_signed(memory, group->sparse, AT_STRIDED_OFFSET);
    int64_t stride = field_signed(memory, group->sparse, AT_STRIDED_STRIDE);

    if (!layout_has(&memory->layout, AT_STRIDED_OFFSET) || !layout_has(&memory->layout, AT_STRIDED_STRIDE)) {
        return ERROR_LAYOUT;
    }
    for (int i = 0; i < count; i++) {
        int64_t rank = offset + stride * ranks[i];

        if (rank < 0 || rank > GROUP_MAX_SIZE) {
            return ERROR_GROUP;
        }
        ranks[i] = (int)rank;
    }
    return mqs_ok;
}

/* Members of a group whose ranks in the parent are wanted: from `first` on, `count` of them. */
struct window {
    int first;
    int count;
    int *map;
};

static void map_put(const struct window *window, int64_t member, int64_t rank)
{
    if (member >= window->first && member - window->first < window->count) {
        window->map[member - window->first] = (int)rank;
    }
}

/* `count` elements of an array, which the caller frees; that the last can be read is seen to before memory
   is taken for all. */
static int fetch_array(struct memory *memory, mqs_taddr_t address, size_t count, size_t size,
                       unsigned char **ret)
{
    unsigned char last;
    unsigned char *array;
    int code = fetch_bytes(&memory->fetch, address + (mqs_taddr_t)(count * size - 1), 1, &last);

    if (code != mqs_ok) {
        return code;
    }
    array = heap_allocate(count, size);
    if (array == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(&memory->fetch, address, count * size, array);
    if (code != mqs_ok) {
        heap_free(array);
        return code;
    }
    *ret = array;
    return mqs_ok;
}

static int map_sporadic(struct memory *memory, const struct group *group, const struct window *window)
{
    int64_t length = field_signed(memory, group->sparse, AT_SPORADIC_LENGTH);
    mqs_taddr_t list = (mqs_taddr_t)field_unsigned(memory, group->sparse, AT_SPORADIC_LIST);
    int32_t size = memory->layout.size[AT_RANGE];
    unsigned char *ranges;
    int64_t done = 0;
    int code;

    if (!layout_has(&memory->layout, AT_SPORADIC_LENGTH) || !layout_has(&memory->layout, AT_SPORADIC_LIST) ||
        !layout_has(&memory->layout, AT_RANGE_FIRST) || !layout_has(&memory->layout, AT_RANGE_LENGTH)) {
        return ERROR_LAYOUT;
    }
    if (length <= 0 || length > group->count) {
        return ERROR_GROUP;
    }
    code = fetch_array(memory, list, (size_t)length, (size_t)size, &ranges);
    if (code != mqs_ok) {
        return code;
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t first = field_signed(memory, ranges + i * size, AT_RANGE_FIRST);
        int64_t run = field_signed(memory, ranges + i * size, AT_RANGE_LENGTH);

        if (first < 0 || run < 0 || run > group->count - done || first > GROUP_MAX_SIZE - run) {
            break;
        }
        for (int64_t k = 0; k < run; k++) {
            map_put(window, done++, first + k);
        }
    }
    heap_free(ranges);
    return done == group->count ? mqs_ok : ERROR_GROUP;
}

static int map_bitmap(struct memory *memory, const struct group *group, const struct window *window)
{
    int64_t length = field_signed(memory, group->sparse, AT_BITMAP_LENGTH);
    mqs_taddr_t array = (mqs_taddr_t)field_unsigned(memory, group->sparse, AT_BITMAP_ARRAY);
    unsigned char *bits;
    int64_t done = 0;
    int code;

    if (!layout_has(&memory->layout, AT_BITMAP_LENGTH) || !layout_has(&memory->layout, AT_BITMAP_ARRAY)) {
        return ERROR_LAYOUT;
    }
    if (length <= 0 || length > GROUP_MAX_SIZE / CHAR_BIT) {
        return ERROR_GROUP;
    }
    code = fetch_array(memory, array, (size_t)length, 1, &bits);
    if (code != mqs_ok) {
        return code;
    }
    for (int64_t i = 0; i < length * CHAR_BIT && done < group->count; i++) {
        if ((bits[i / CHAR_BIT] >> i % CHAR_BIT & 1) != 0) {
            map_put(window, done++, i);
        }
    }
    heap_free(bits);
    return done == group->count ? mqs_ok : ERROR_GROUP;
}

static int translate_mapped(struct memory *memory, const struct group *group, int *ranks, int count)
{
    struct window window = {count == 1 ? ranks[0] : 0, count == 1 ? 1 : group->count, NULL};
    int code;

    window.map = heap_allocate((size_t)window.count, sizeof *window.map);
    if (window.map == NULL) {
        return ERROR_NO_STORE;
    }
    code = (group->flags & FLAG_SPORADIC) != 0 ? map_sporadic(memory, group, &window)
                                               : map_bitmap(memory, group, &window);
    for (int i = 0; code == mqs_ok && i < count; i++) {
        ranks[i] = window.map[ranks[i] - window.first];
    }
    heap_free(window.map);
    return code;
}

static bool is_sparse(const struct group *group)
{
    return (group->flags & FLAG_DENSE) == 0 &&
           (group->flags & (FLAG_SPORADIC | FLAG_STRIDED | FLAG_BITMAP)) != 0;
}

static bool ranks_in(const int *ranks, int count, int size)
{
    for (int i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= size) {
            return false;
        }
    }
    return true;
}

/* Ranks of a group into ranks of the dense group under it. */
static int to_dense(struct memory *memory, mqs_taddr_t address, int *ranks, int count, struct group *ret)
{
    int code = group_read(memory, address, ret);

    for (int depth = 0; code == mqs_ok; depth++) {
        mqs_taddr_t parent = ret->parent;

        if (!ranks_in(ranks, count, ret->count)) {
            return ERROR_GROUP;
        }
        if (!is_sparse(ret)) {
            return mqs_ok;
        }
        if (depth == MAX_DEPTH) {
            return ERROR_GROUP;
        }
        if (ret->sparse == NULL) {
            return ERROR_LAYOUT;
        }
        code = (ret->flags & FLAG_STRIDED) != 0 ? translate_strided(memory, ret, ranks, count)
                                                : translate_mapped(memory, ret, ranks, count);
        if (code == mqs_ok) {
            code = group_read(memory, parent, ret);
        }
    }
    return code;
}

int group_member(struct groups *groups, mqs_taddr_t group, int rank, mqs_process_name *ret)
{
    struct memory *memory = groups->memory;
    struct group dense;
    mqs_taddr_t proc = 0;
    int width = memory->layout.sizes.pointer_size;
    int at = rank;
    int code;

    if (groups->last.valid && groups->last.group == group && groups->last.rank == rank) {
        *ret = groups->last.name;
        return mqs_ok;
    }
    code = to_dense(memory, group, &at, 1, &dense);
    if (code == mqs_ok) {
        code = fetch_pointer(&memory->fetch, dense.procs + (mqs_taddr_t)at * (mqs_taddr_t)width, &proc);
    }
    if (code == mqs_ok) {
        code = group_name_of(groups, proc, ret);
    }
    if (code == mqs_ok) {
        groups->last.valid = true;
        groups->last.group = group;
        groups->last.rank = rank;
        groups->last.name = *ret;
    }
    return code;
}

int group_check(struct groups *groups, mqs_taddr_t group, int count)
{
    mqs_process_name last;

    return count == 0 ? mqs_ok : group_member(groups, group, count - 1, &last);
}

int group_members(struct groups *groups, mqs_taddr_t group, int count, mqs_process_name *names)
{
    struct memory *memory = groups->memory;
    struct group dense;
    unsigned char *pointers = NULL;
    int width = memory->layout.sizes.pointer_size;
    int *ranks;
    int code;

    if (count == 0) {
        return mqs_ok;
    }
    code = group_check(groups, group, count);
    if (code != mqs_ok) {
        return code;
    }
    ranks = heap_allocate((size_t)count, sizeof *ranks);
    if (ranks == NULL) {
        return ERROR_NO_STORE;
    }
    for (int i = 0; i < count; i++) {
        ranks[i] = i;
    }
    code = to_dense(memory, group, ranks, count, &dense);
    if (code == mqs_ok) {
        code = fetch_array(memory, dense.procs, (size_t)dense.count, (size_t)width, &pointers);
    }
    for (int i = 0; code == mqs_ok && i < count; i++) {
        mqs_taddr_t proc =
            (mqs_taddr_t)number_unsigned(&memory->fetch, pointers + (size_t)ranks[i] * (size_t)width, width);

        code = group_name_of(groups, proc, &names[i]);
    }
    heap_free(pointers);
    heap_free(ranks);
    return code;
}

int group_world_rank(const struct groups *groups, mqs_process_name name)
{
    if (!groups->self_known || name.jobid != groups->self.jobid || name.vpid > INT_MAX) {
        return MQS_INVALID_PROCESS;
    }
    return (int)name.vpid;
}

static uint64_t hash_word(uint64_t hash, uint32_t word)
{
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ (word >> 8 * i & 0xff)) * OMPI_MQS_HASH_PRIME;
    }
    return hash;
}

uint64_t group_hash(const mqs_process_name *names, int count)
{
    uint64_t hash = OMPI_MQS_HASH_START;

    for (int i = 0; i < count; i++) {
        hash = hash_word(hash, names[i].jobid);
        hash = hash_word(hash, names[i].vpid);
    }
    return hash == 0 ? 1 : hash;
}
