/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/wire_cache.h"

#include <stdlib.h>
#include <string.h>

/* Types and members of an MPI library come to some hundred; whoever asks for more asks again. */
#define LINES_MAX 1024
/* Pages share places by their address: a newer one takes an older one's. */
#define PAGES 256

char *mpiq_wire_cache_reply(struct mpiq_wire_cache *cache, const char *request)
{
    for (size_t i = 0; i < cache->line_count; i++) {
        if (strcmp(cache->lines[i].request, request) != 0)
            continue;
        free(cache->spoken);
        cache->spoken = strdup(cache->lines[i].reply);
        return cache->spoken;
    }
    return NULL;
}

void mpiq_wire_cache_add_reply(struct mpiq_wire_cache *cache, const char *request, const char *reply)
{
    if (cache->line_count == LINES_MAX)
        return;
    if (cache->line_count == cache->line_room) {
        size_t room = cache->line_room ? cache->line_room * 2 : 16;
        struct mpiq_wire_cache_line *lines = reallocarray(cache->lines, room, sizeof *lines);
        if (!lines)
            return;
        cache->lines = lines;
        cache->line_room = room;
    }
    struct mpiq_wire_cache_line line = {.request = strdup(request), .reply = strdup(reply)};
    if (line.request && line.reply) {
        cache->lines[cache->line_count++] = line;
        return;
    }
    free(line.request);
    free(line.reply);
}

static size_t place_of(uint64_t address)
{
    return (size_t)(address / MPIQ_WIRE_CACHE_PAGE % PAGES);
}

const unsigned char *mpiq_wire_cache_page(const struct mpiq_wire_cache *cache, uint64_t address)
{
    const struct mpiq_wire_cache_bytes *page = cache->pages ? &cache->pages[place_of(address)] : NULL;
    return page && page->bytes && page->address == address ? page->bytes : NULL;
}

const unsigned char *mpiq_wire_cache_add_page(struct mpiq_wire_cache *cache, uint64_t address,
                                              unsigned char *bytes)
{
    if (!cache->pages)
        cache->pages = calloc(PAGES, sizeof *cache->pages);
    if (!cache->pages) { /* then it is a reply like any other */
        free(cache->spoken);
        cache->spoken = (char *)bytes;
        return bytes;
    }
    struct mpiq_wire_cache_bytes *page = &cache->pages[place_of(address)];
    free(page->bytes);
    *page = (struct mpiq_wire_cache_bytes){.address = address, .bytes = bytes};
    return bytes;
}

void mpiq_wire_cache_clear(struct mpiq_wire_cache *cache)
{
    for (size_t i = 0; i < cache->line_count; i++) {
        free(cache->lines[i].request);
        free(cache->lines[i].reply);
    }
    for (size_t i = 0; cache->pages && i < PAGES; i++)
        free(cache->pages[i].bytes);
    free(cache->lines);
    free(cache->spoken);
    free(cache->pages);
    *cache = (struct mpiq_wire_cache){0};
}
