/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept - what the wire's client has been told and need not ask again: replies, and pages of memory.
 *
 * It leaves to others: what may be kept, and how long (wire.c).  All zeros is an empty one.
 */
#ifndef MPIQ_TARGET_KEPT_H
#define MPIQ_TARGET_KEPT_H

#include <stddef.h>
#include <stdint.h>

#define MPIQ_KEPT_PAGE 4096

struct mpiq_kept_line {
    char *request;
    char *reply;
};

struct mpiq_kept_bytes {
    uint64_t address;
    unsigned char *bytes; /* NULL: none */
};

struct mpiq_kept {
    struct mpiq_kept_line *lines;
    size_t line_count;
    size_t line_room;
    char *spoken; /* a reply in the caller's hands */
    struct mpiq_kept_bytes *pages;
};

/* The reply to that request as it was added, to be taken apart at will until the next call; NULL. */
char *mpiq_kept_reply(struct mpiq_kept *kept, const char *request);
/* Without memory, or with too many, it is not kept. */
void mpiq_kept_add_reply(struct mpiq_kept *kept, const char *request, const char *reply);

/* The page that begins at address; NULL. */
const unsigned char *mpiq_kept_page(const struct mpiq_kept *kept, uint64_t address);
/* Takes over MPIQ_KEPT_PAGE bytes from malloc, and gives them back to be read until the next call. */
const unsigned char *mpiq_kept_add_page(struct mpiq_kept *kept, uint64_t address, unsigned char *bytes);

/* Forgets all. */
void mpiq_kept_clear(struct mpiq_kept *kept);

#endif
