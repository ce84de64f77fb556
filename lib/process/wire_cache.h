/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire_cache - what the wire's client has received and need not ask for again: replies, and pages of memory.
 *
 * It leaves to others: what may be kept, and how long (wire.c).  A zeroed one is empty.
 */
#ifndef MPIQ_WIRE_CACHE_H
#define MPIQ_WIRE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define MPIQ_WIRE_CACHE_PAGE 4096

struct mpiq_wire_cache_line {
    char *request;
    char *reply;
};

struct mpiq_wire_cache_bytes {
    uint64_t address;
    unsigned char *bytes; /* NULL: none */
};

struct mpiq_wire_cache {
    struct mpiq_wire_cache_line *lines;
    size_t line_count;
    size_t line_room;
    char *spoken; /* a reply in the caller's hands */
    struct mpiq_wire_cache_bytes *pages;
};

/* The reply to that request as it was added, to be taken apart at will until the next call; NULL. */
char *mpiq_wire_cache_reply(struct mpiq_wire_cache *cache, const char *request);
/* Without memory, or with too many, it is not kept. */
void mpiq_wire_cache_add_reply(struct mpiq_wire_cache *cache, const char *request, const char *reply);

/* The page that begins at address; NULL. */
const unsigned char *mpiq_wire_cache_page(const struct mpiq_wire_cache *cache, uint64_t address);
/* Takes over MPIQ_WIRE_CACHE_PAGE bytes from malloc, and gives them back to be read until the next call. */
const unsigned char *mpiq_wire_cache_add_page(struct mpiq_wire_cache *cache, uint64_t address,
                                              unsigned char *bytes);

/* Forgets all. */
void mpiq_wire_cache_clear(struct mpiq_wire_cache *cache);

#endif
