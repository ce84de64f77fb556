/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "group.h"
#include "process.h"

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

static int group_read(mqs_process_info *info, mqs_taddr_t address, struct group *ret)
{
    int64_t count;
    int code = fetch_structure(info, address, AT_GROUP, ret->bytes);

    if (code != mqs_ok) {
        return code;
    }
    count = field_signed(info, ret->bytes, AT_GROUP_COUNT);
    if (count < 0 || count > GROUP_MAX_SIZE) {
        return ERROR_GROUP;
    }
    ret->count = (int)count;
    ret->flags = (uint32_t)field_unsigned(info, ret->bytes, AT_GROUP_FLAGS);
    ret->procs = (mqs_taddr_t)field_unsigned(info, ret->bytes, AT_GROUP_PROCS);
    ret->parent = (mqs_taddr_t)field_unsigned(info, ret->bytes, AT_GROUP_PARENT);
    ret->sparse =
        layout_has(&info->layout, AT_GROUP_SPARSE) ? ret->bytes + info->layout.offset[AT_GROUP_SPARSE] : NULL;
    return mqs_ok;
}

int group_size(mqs_process_info *info, mqs_taddr_t group, int *ret)
{
    struct group read;
    int code = group_read(info, group, &read);

    if (code == mqs_ok) {
        *ret = read.count;
    }
    return code;
}

/* A sentinel where a pointer is as wide as a name: bit 0 set, then 15 bits of the job's local part, 16 of
   its family, 32 of the rank; in a narrow one the rank alone, of our own job. */
static mqs_process_name name_of_sentinel(const mqs_process_info *info, mqs_taddr_t proc)
{
    mqs_process_name name;

    if (info->layout.sizes.pointer_size < 8) {
        name.jobid = info->self.jobid;
        name.vpid = (uint32_t)(proc >> 1);
        return name;
    }
    name.jobid = (uint32_t)(proc >> 16 & 0xffff) << 16 | (uint32_t)(proc >> 1 & 0x7fff);
    name.vpid = (uint32_t)((uint64_t)proc >> 32);
    return name;
}

int group_name_of(mqs_process_info *info, mqs_taddr_t proc, mqs_process_name *ret)
{
    const struct layout *layout = &info->layout;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    int code;

    if ((proc & 1) != 0) {
        *ret = name_of_sentinel(info, proc);
        return mqs_ok;
    }
    code = fetch_bytes(info, proc + (mqs_taddr_t)layout->offset[AT_PROC_NAME], (size_t)layout->size[AT_NAME],
                       bytes);
    if (code != mqs_ok) {
        return code;
    }
    ret->jobid = (uint32_t)field_unsigned(info, bytes, AT_NAME_JOBID);
    ret->vpid = (uint32_t)field_unsigned(info, bytes, AT_NAME_VPID);
    return mqs_ok;
}

/* The translations below turn ranks of a sparse group into ranks of its parent, in place. */

static int translate_strided(mqs_process_info *info, const struct group *group, int *ranks, int count)
{
    int64_t offset = field_signed(info, group->sparse, AT_STRIDED_OFFSET);
    int64_t stride = field_signed(info, group->sparse, AT_STRIDED_STRIDE);

    if (!layout_has(&info->layout, AT_STRIDED_OFFSET) || !layout_has(&info->layout, AT_STRIDED_STRIDE)) {
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
static int fetch_array(mqs_process_info *info, mqs_taddr_t address, size_t count, size_t size,
                       unsigned char **ret)
{
    unsigned char last;
    unsigned char *array;
    int code = fetch_bytes(info, address + (mqs_taddr_t)(count * size - 1), 1, &last);

    if (code != mqs_ok) {
        return code;
    }
    array = memory_allocate(count, size);
    if (array == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(info, address, count * size, array);
    if (code != mqs_ok) {
        memory_free(array);
        return code;
    }
    *ret = array;
    return mqs_ok;
}

static int map_sporadic(mqs_process_info *info, const struct group *group, const struct window *window)
{
    int64_t length = field_signed(info, group->sparse, AT_SPORADIC_LENGTH);
    mqs_taddr_t list = (mqs_taddr_t)field_unsigned(info, group->sparse, AT_SPORADIC_LIST);
    int32_t size = info->layout.size[AT_RANGE];
    unsigned char *ranges;
    int64_t done = 0;
    int code;

    if (!layout_has(&info->layout, AT_SPORADIC_LENGTH) || !layout_has(&info->layout, AT_SPORADIC_LIST) ||
        !layout_has(&info->layout, AT_RANGE_FIRST) || !layout_has(&info->layout, AT_RANGE_LENGTH)) {
        return ERROR_LAYOUT;
    }
    if (length <= 0 || length > group->count) {
        return ERROR_GROUP;
    }
    code = fetch_array(info, list, (size_t)length, (size_t)size, &ranges);
    if (code != mqs_ok) {
        return code;
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t first = field_signed(info, ranges + i * size, AT_RANGE_FIRST);
        int64_t run = field_signed(info, ranges + i * size, AT_RANGE_LENGTH);

        if (first < 0 || run < 0 || run > group->count - done || first > GROUP_MAX_SIZE - run) {
            break;
        }
        for (int64_t k = 0; k < run; k++) {
            map_put(window, done++, first + k);
        }
    }
    memory_free(ranges);
    return done == group->count ? mqs_ok : ERROR_GROUP;
}

static int map_bitmap(mqs_process_info *info, const struct group *group, const struct window *window)
{
    int64_t length = field_signed(info, group->sparse, AT_BITMAP_LENGTH);
    mqs_taddr_t array = (mqs_taddr_t)field_unsigned(info, group->sparse, AT_BITMAP_ARRAY);
    unsigned char *bits;
    int64_t done = 0;
    int code;

    if (!layout_has(&info->layout, AT_BITMAP_LENGTH) || !layout_has(&info->layout, AT_BITMAP_ARRAY)) {
        return ERROR_LAYOUT;
    }
    if (length <= 0 || length > GROUP_MAX_SIZE / CHAR_BIT) {
        return ERROR_GROUP;
    }
    code = fetch_array(info, array, (size_t)length, 1, &bits);
    if (code != mqs_ok) {
        return code;
    }
    for (int64_t i = 0; i < length * CHAR_BIT && done < group->count; i++) {
        if ((bits[i / CHAR_BIT] >> i % CHAR_BIT & 1) != 0) {
            map_put(window, done++, i);
        }
    }
    memory_free(bits);
    return done == group->count ? mqs_ok : ERROR_GROUP;
}

static int translate_mapped(mqs_process_info *info, const struct group *group, int *ranks, int count)
{
    struct window window = {count == 1 ? ranks[0] : 0, count == 1 ? 1 : group->count, NULL};
    int code;

    window.map = memory_allocate((size_t)window.count, sizeof *window.map);
    if (window.map == NULL) {
        return ERROR_NO_STORE;
    }
    code = (group->flags & FLAG_SPORADIC) != 0 ? map_sporadic(info, group, &window)
                                               : map_bitmap(info, group, &window);
    for (int i = 0; code == mqs_ok && i < count; i++) {
        ranks[i] = window.map[ranks[i] - window.first];
    }
    memory_free(window.map);
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
static int to_dense(mqs_process_info *info, mqs_taddr_t address, int *ranks, int count, struct group *ret)
{
    int code = group_read(info, address, ret);

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
        code = (ret->flags & FLAG_STRIDED) != 0 ? translate_strided(info, ret, ranks, count)
                                                : translate_mapped(info, ret, ranks, count);
        if (code == mqs_ok) {
            code = group_read(info, parent, ret);
        }
    }
    return code;
}

int group_member(mqs_process_info *info, mqs_taddr_t group, int rank, mqs_process_name *ret)
{
    struct group dense;
    mqs_taddr_t proc = 0;
    int width = info->layout.sizes.pointer_size;
    int at = rank;
    int code;

    if (info->last_member.valid && info->last_member.group == group && info->last_member.rank == rank) {
        *ret = info->last_member.name;
        return mqs_ok;
    }
    code = to_dense(info, group, &at, 1, &dense);
    if (code == mqs_ok) {
        code = fetch_pointer(info, dense.procs + (mqs_taddr_t)at * (mqs_taddr_t)width, &proc);
    }
    if (code == mqs_ok) {
        code = group_name_of(info, proc, ret);
    }
    if (code == mqs_ok) {
        info->last_member.valid = true;
        info->last_member.group = group;
        info->last_member.rank = rank;
        info->last_member.name = *ret;
    }
    return code;
}

int group_check(mqs_process_info *info, mqs_taddr_t group, int count)
{
    mqs_process_name last;

    return count == 0 ? mqs_ok : group_member(info, group, count - 1, &last);
}

int group_members(mqs_process_info *info, mqs_taddr_t group, int count, mqs_process_name *names)
{
    struct group dense;
    unsigned char *pointers = NULL;
    int width = info->layout.sizes.pointer_size;
    int *ranks;
    int code;

    if (count == 0) {
        return mqs_ok;
    }
    code = group_check(info, group, count);
    if (code != mqs_ok) {
        return code;
    }
    ranks = memory_allocate((size_t)count, sizeof *ranks);
    if (ranks == NULL) {
        return ERROR_NO_STORE;
    }
    for (int i = 0; i < count; i++) {
        ranks[i] = i;
    }
    code = to_dense(info, group, ranks, count, &dense);
    if (code == mqs_ok) {
        code = fetch_array(info, dense.procs, (size_t)dense.count, (size_t)width, &pointers);
    }
    for (int i = 0; code == mqs_ok && i < count; i++) {
        mqs_taddr_t proc =
            (mqs_taddr_t)number_unsigned(info, pointers + (size_t)ranks[i] * (size_t)width, width);

        code = group_name_of(info, proc, &names[i]);
    }
    memory_free(pointers);
    memory_free(ranks);
    return code;
}

int group_world_rank(const mqs_process_info *info, mqs_process_name name)
{
    if (!info->self_known || name.jobid != info->self.jobid || name.vpid > INT_MAX) {
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
