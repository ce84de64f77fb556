/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "fetch.h"

/* mqs_fetch_data counts in int; no array of ours needs more at once. */
#define FETCH_AT_ONCE (1 << 24)

/* Block sizes, largest first, and their sets in the cache. */
static const struct {
    size_t size;
    size_t sets;
} levels[] = {{4 * FETCH_LARGE, 2}, {FETCH_LARGE, 4}, {FETCH_PAGE, FETCH_SETS - 6}};

#define LEVELS (sizeof levels / sizeof levels[0])

static void clear_set(struct fetch_slot *set, bool keep_failures)
{
    for (int i = 0; i < FETCH_WAYS; i++) {
        if (keep_failures && set[i].bytes == NULL) {
            continue;
        }
        heap_free(set[i].bytes);
        memset(&set[i], 0, sizeof set[i]);
    }
}

void fetch_cache_clear(struct fetch_cache *cache)
{
    size_t set = 0;

    for (size_t i = 0; i < cache->range_count; i++) {
        heap_free(cache->ranges[i].bytes);
        cache->ranges[i].bytes = NULL;
        cache->ranges[i].tried = false;
    }
    /* Blocks that are not mapped whole rarely become so: that is remembered, since pages serve as well. */
    for (size_t level = 0; level < LEVELS; level++) {
        for (size_t i = 0; i < levels[level].sets; i++) {
            clear_set(cache->sets[set++], level + 1 < LEVELS);
        }
    }
}

static int fetch_direct(struct fetch *fetch, mqs_taddr_t address, size_t size, unsigned char *buffer)
{
    while (size > 0) {
        size_t part = size > FETCH_AT_ONCE ? FETCH_AT_ONCE : size;

        if (fetch->callbacks->mqs_fetch_data_fp(fetch->process, address, (int)part, buffer) != mqs_ok) {
            return ERROR_READ;
        }
        address += part;
        buffer += part;
        size -= part;
    }
    return mqs_ok;
}

/* The `size` bytes at an aligned address, from their set; NULL if they cannot be read.  What was used least
   recently makes room. */
static const unsigned char *set_get(struct fetch *fetch, struct fetch_slot *set, mqs_taddr_t address,
                                    size_t size)
{
    struct fetch_slot *slot = &set[0];

    for (int i = 0; i < FETCH_WAYS; i++) {
        if (set[i].used != 0 && set[i].address == address) {
            set[i].used = ++fetch->cache.clock;
            return set[i].bytes;
        }
        if (set[i].used < slot->used) {
            slot = &set[i];
        }
    }
    if (slot->bytes == NULL) {
        slot->bytes = heap_allocate(1, size);
    }
    slot->address = address;
    slot->used = ++fetch->cache.clock;
    if (slot->bytes != NULL && fetch_direct(fetch, address, size, slot->bytes) != mqs_ok) {
        heap_free(slot->bytes);
        slot->bytes = NULL;
    }
    return slot->bytes;
}

void fetch_expect(struct fetch *fetch, mqs_taddr_t address, size_t size)
{
    struct fetch_cache *cache = &fetch->cache;
    mqs_taddr_t end = (address + size + FETCH_PAGE - 1) & ~(mqs_taddr_t)(FETCH_PAGE - 1);
    struct fetch_range *range = &cache->ranges[cache->range_count];

    address &= ~(mqs_taddr_t)(FETCH_PAGE - 1);
    if (cache->range_count < FETCH_RANGES && end > address) {
        range->address = address;
        range->size = (size_t)(end - address);
        cache->range_count++;
    }
}

/* The bytes from address on of an expected range; NULL if there is none. */
static const unsigned char *expected(struct fetch *fetch, mqs_taddr_t address, size_t *length)
{
    for (size_t i = 0; i < fetch->cache.range_count; i++) {
        struct fetch_range *range = &fetch->cache.ranges[i];

        if (address < range->address || address - range->address >= range->size) {
            continue;
        }
        if (!range->tried) {
            range->tried = true;
            range->bytes = heap_allocate(1, range->size);
            if (range->bytes != NULL &&
                fetch_direct(fetch, range->address, range->size, range->bytes) != mqs_ok) {
                heap_free(range->bytes);
                range->bytes = NULL;
            }
        }
        if (range->bytes != NULL) {
            *length = range->size - (size_t)(address - range->address);
            return range->bytes + (address - range->address);
        }
    }
    return NULL;
}

/* Where Linux puts a process's first stack, the top 16 GiB of 47 or 48 bits of addresses (x86-64, arm64).
   Little of a stack is in use, so a large block is rarely mapped whole, and a look below its end makes the
   kernel (6.5 and later) write a warning to its log. */
static bool in_first_stack(mqs_taddr_t address)
{
    uint64_t top = (uint64_t)address >> 34;

    return top == UINT64_C(0x7fffffffffff) >> 34 || top == UINT64_C(0xffffffffffff) >> 34;
}

/* The readable bytes from address on that are in the cache or can be taken there; NULL if none are. */
static const unsigned char *cached(struct fetch *fetch, mqs_taddr_t address, size_t *length)
{
    struct fetch_slot(*sets)[FETCH_WAYS] = fetch->cache.sets;
    const unsigned char *known = expected(fetch, address, length);
    bool pages = in_first_stack(address);

    if (known != NULL) {
        return known;
    }
    for (size_t level = 0; level < LEVELS; sets += levels[level++].sets) {
        size_t size = levels[level].size;
        size_t offset = (size_t)(address % size);
        const unsigned char *bytes;

        if (pages && size > FETCH_PAGE) {
            continue;
        }
        bytes = set_get(fetch, sets[address / size % levels[level].sets], address - offset, size);
        if (bytes != NULL) {
            *length = size - offset;
            return bytes + offset;
        }
    }
    return NULL;
}

int fetch_bytes(struct fetch *fetch, mqs_taddr_t address, size_t size, void *buffer)
{
    unsigned char *out = buffer;

    if (size == 0) {
        return mqs_ok;
    }
    if (address == 0 || address + size < address) {
        return ERROR_READ;
    }
    if (size > FETCH_LARGE) {
        return fetch_direct(fetch, address, size, out);
    }
    while (size > 0) {
        size_t part;
        const unsigned char *bytes = cached(fetch, address, &part);

        if (bytes == NULL) {
            return fetch_direct(fetch, address, size, out);
        }
        part = part < size ? part : size;
        memcpy(out, bytes, part);
        address += part;
        out += part;
        size -= part;
    }
    return mqs_ok;
}

int fetch_anew(struct fetch *fetch, mqs_taddr_t address, size_t size, void *buffer)
{
    return address == 0 || address + size < address ? ERROR_READ : fetch_direct(fetch, address, size, buffer);
}

int fetch_exact(struct fetch *fetch, mqs_taddr_t address, size_t size, void *buffer)
{
    size_t length = 0;
    const unsigned char *known = expected(fetch, address, &length);

    if (known == NULL || length < size) {
        return fetch_anew(fetch, address, size, buffer);
    }
    memcpy(buffer, known, size);
    return mqs_ok;
}

int fetch_pointer(struct fetch *fetch, mqs_taddr_t address, mqs_taddr_t *ret)
{
    unsigned char bytes[8];
    int width = fetch->pointer_size;
    int code = fetch_bytes(fetch, address, (size_t)width, bytes);

    if (code == mqs_ok) {
        *ret = (mqs_taddr_t)number_unsigned(fetch, bytes, width);
    }
    return code;
}

void text_copy(char *buffer, size_t size, const unsigned char *bytes, size_t length)
{
    size_t i;

    for (i = 0; i + 1 < size && i < length && bytes[i] != '\0'; i++) {
        buffer[i] = bytes[i] < ' ' || bytes[i] == 0x7f ? '?' : (char)bytes[i];
    }
    memset(buffer + i, 0, size - i);
}

int fetch_string(struct fetch *fetch, mqs_taddr_t address, char *buffer, size_t size)
{
    size_t done = 0;

    while (done + 1 < size) {
        unsigned char bytes[256];
        size_t part = FETCH_PAGE - (size_t)(address % FETCH_PAGE);

        part = part > sizeof bytes ? sizeof bytes : part;
        part = part > size - 1 - done ? size - 1 - done : part;
        if (fetch_bytes(fetch, address, part, bytes) != mqs_ok) {
            if (done == 0) {
                return ERROR_READ;
            }
            break;
        }
        text_copy(buffer + done, part + 1, bytes, part);
        if (memchr(bytes, '\0', part) != NULL) {
            return mqs_ok;
        }
        done += part;
        address += part;
    }
    buffer[done] = '\0';
    return mqs_ok;
}

uint64_t number_unsigned(const struct fetch *fetch, const unsigned char *bytes, int width)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    switch (width) {
    case 1:
        fetch->callbacks->mqs_target_to_host_fp(fetch->process, bytes, &one, 1);
        return one;
    case 2:
        fetch->callbacks->mqs_target_to_host_fp(fetch->process, bytes, &two, 2);
        return two;
    case 4:
        fetch->callbacks->mqs_target_to_host_fp(fetch->process, bytes, &four, 4);
        return four;
    case 8:
        fetch->callbacks->mqs_target_to_host_fp(fetch->process, bytes, &eight, 8);
        return eight;
    default:
        return 0;
    }
}

int64_t number_signed(const struct fetch *fetch, const unsigned char *bytes, int width)
{
    uint64_t value = number_unsigned(fetch, bytes, width);

    switch (width) {
    case 1:
        return (int8_t)value;
    case 2:
        return (int16_t)value;
    case 4:
        return (int32_t)value;
    default:
        return (int64_t)value;
    }
}
