/* SPDX-License-Identifier: BSD-3-Clause */
#include "callbacks.h"
#include "error.h"
#include "free_list.h"
#include "list.h"
#include "vector.h"

#define MAX_CHUNKS 65536
#define MAX_ITEM 65536
#define AT_ONCE (1 << 20) /* bytes of a chunk that are held at a time */

struct free_list {
    uint64_t allocated;
    uint64_t per_alloc;
    uint64_t stride;
    uint64_t alignment;
};

static int read_head(struct memory *memory, mqs_taddr_t address, size_t size, size_t limit,
                     struct free_list *ret)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    uint64_t item_size;
    int code = fetch_structure(memory, address, AT_FREE_LIST, bytes);

    if (code != mqs_ok) {
        return code;
    }
    ret->allocated = field_unsigned(memory, bytes, AT_FREE_LIST_ALLOCATED);
    ret->per_alloc = field_unsigned(memory, bytes, AT_FREE_LIST_PER_ALLOC);
    ret->alignment = field_unsigned(memory, bytes, AT_FREE_LIST_ALIGNMENT);
    item_size = field_unsigned(memory, bytes, AT_FREE_LIST_FRAG_SIZE);
    if (ret->allocated == 0) {
        return mqs_ok;
    }
    if (ret->allocated > limit) {
        return ERROR_TOO_MANY;
    }
    if (ret->alignment == 0 || ret->alignment > FETCH_PAGE || (ret->alignment & (ret->alignment - 1)) != 0 ||
        item_size < size || item_size > MAX_ITEM) {
        return ERROR_REQUESTS;
    }
    ret->stride = (item_size + ret->alignment - 1) & ~(ret->alignment - 1);
    return mqs_ok;
}

static int walk_chunk(struct memory *memory, mqs_taddr_t first, uint64_t count, uint64_t stride,
                      unsigned char *buffer, uint64_t room, free_list_visit visit, void *argument)
{
    while (count > 0) {
        uint64_t part = count < room ? count : room;
        int code = fetch_bytes(&memory->fetch, first, (size_t)(part * stride), buffer);

        for (uint64_t i = 0; code == mqs_ok && i < part; i++) {
            code = visit(memory, argument, first + (mqs_taddr_t)(i * stride), buffer + i * stride);
        }
        if (code != mqs_ok) {
            return code;
        }
        first += (mqs_taddr_t)(part * stride);
        count -= part;
    }
    return mqs_ok;
}

/* Addresses of the chunks, oldest first. */
static int read_chunks(struct memory *memory, mqs_taddr_t list, struct vector *ret)
{
    struct list_walk walk;
    int code = list_start(memory, list, MAX_CHUNKS, &walk);

    while (code == mqs_ok) {
        mqs_taddr_t chunk;

        code = list_next(memory, &walk, &chunk);
        if (code == mqs_ok) {
            mqs_taddr_t *item = vector_add(ret, sizeof *item, MAX_CHUNKS + 64);

            if (item == NULL) {
                return ERROR_NO_STORE;
            }
            *item = chunk;
        }
    }
    if (code == mqs_end_of_list) {
        return mqs_ok;
    }
    return code == ERROR_TOO_MANY ? ERROR_REQUESTS : code;
}

/* Chunks do not say how many items they hold: all but the first hold per_alloc, and the first what is left of
   all. */
static int walk_chunks(struct memory *memory, const struct free_list *list, const struct vector *chunks,
                       free_list_visit visit, void *argument)
{
    uint64_t later = chunks->count == 0 ? 0 : (chunks->count - 1) * list->per_alloc;
    uint64_t room = AT_ONCE / list->stride == 0 ? 1 : AT_ONCE / list->stride;
    unsigned char *buffer;
    int code = mqs_ok;

    if (chunks->count == 0 || later >= list->allocated) {
        return ERROR_REQUESTS;
    }
    room = room < list->allocated ? room : list->allocated;
    buffer = heap_allocate((size_t)room, (size_t)list->stride);
    if (buffer == NULL) {
        return ERROR_NO_STORE;
    }
    for (size_t i = 0; code == mqs_ok && i < chunks->count; i++) {
        mqs_taddr_t chunk =
            ((mqs_taddr_t *)chunks->items)[i] + (mqs_taddr_t)memory->layout.size[AT_FREE_ITEM];
        uint64_t count = i == 0 ? list->allocated - later : list->per_alloc;

        chunk = (chunk + (mqs_taddr_t)list->alignment - 1) & ~((mqs_taddr_t)list->alignment - 1);
        code = walk_chunk(memory, chunk, count, list->stride, buffer, room, visit, argument);
    }
    heap_free(buffer);
    return code;
}

int free_list_walk(struct memory *memory, mqs_taddr_t address, size_t size, size_t limit,
                   free_list_visit visit, void *argument)
{
    struct vector chunks = {NULL, 0, 0};
    struct free_list list;
    int code = read_head(memory, address, size, limit, &list);

    if (code != mqs_ok || list.allocated == 0) {
        return code;
    }
    if (list.per_alloc > limit) {
        return ERROR_REQUESTS;
    }
    code = read_chunks(memory, address + (mqs_taddr_t)memory->layout.offset[AT_FREE_LIST_CHUNKS], &chunks);
    if (code == mqs_ok) {
        code = walk_chunks(memory, &list, &chunks, visit, argument);
    }
    vector_clear(&chunks);
    return code;
}
