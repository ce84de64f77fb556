/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fetch - bytes of the process, through a cache of blocks that lives as long as a look, and numbers out of
 * them.
 *
 * For a debugger a call costs more than the bytes it returns, so small reads are served from large blocks:
 * neighbouring data in the library's heap is fetched once.  If a block is not fully mapped a smaller one is
 * tried, down to a page (on the stack at once), and if the target has no pages the exact range.  Large reads
 * (arrays, chunks of requests) go straight to the caller's buffer.
 */
#ifndef MQS_FETCH_H
#define MQS_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi_interface.h"

#define FETCH_PAGE 4096
#define FETCH_LARGE 65536 /* reads above it are not kept */

/* Sets of ways; fetch.c says which block sizes have how many: 7 MiB a process at most, and 2 MiB of ranges.
 */
#define FETCH_WAYS 8
#define FETCH_SETS 38

struct fetch_slot {
    mqs_taddr_t address;
    unsigned char *bytes; /* NULL: memory that could not be read */
    uint64_t used;        /* when, by the cache's clock; 0: empty */
};

/* Memory that is known to be mapped whole, so that it needs no trying. */
#define FETCH_RANGES 4

struct fetch_range {
    mqs_taddr_t address;
    size_t size;
    unsigned char *bytes;
    bool tried; /* in this look */
};

struct fetch_cache {
    struct fetch_range ranges[FETCH_RANGES];
    size_t range_count;
    struct fetch_slot sets[FETCH_SETS][FETCH_WAYS];
    uint64_t clock;
};

/* One process as the debugger shows it.  A zeroed cache is empty. */
struct fetch {
    mqs_process *process;
    const mqs_process_callbacks *callbacks;
    int pointer_size; /* the target's: 4 or 8 */
    struct fetch_cache cache;
};

/* Declares that the pages around these bytes are fully mapped: from now on they are fetched together, in
   each look in which any of them is asked for.  Ranges beyond the limit are ignored. */
void fetch_expect(struct fetch *fetch, mqs_taddr_t address, size_t size);

/* Drops all bytes. */
void fetch_cache_clear(struct fetch_cache *cache);

/* All bytes, or ERROR_READ and nothing is promised of the buffer. */
int fetch_bytes(struct fetch *fetch, mqs_taddr_t address, size_t size, void *buffer);

/* The same for what is read once and lies apart from all else: no more than these bytes are fetched. */
int fetch_exact(struct fetch *fetch, mqs_taddr_t address, size_t size, void *buffer);

/* The same, past the cache: the bytes as they are now. */
int fetch_anew(struct fetch *fetch, mqs_taddr_t address, size_t size, void *buffer);

/* One pointer. */
int fetch_pointer(struct fetch *fetch, mqs_taddr_t address, mqs_taddr_t *ret);

/* A string into a buffer of size bytes, always terminated, cut if it is longer; control characters become
   '?'.  Stops at the end of readable memory. */
int fetch_string(struct fetch *fetch, mqs_taddr_t address, char *buffer, size_t size);

/* An array of bytes that was fetched, as a string, likewise. */
void text_copy(char *buffer, size_t size, const unsigned char *bytes, size_t length);

/* A number of 1, 2, 4 or 8 bytes in the target's byte order. */
uint64_t number_unsigned(const struct fetch *fetch, const unsigned char *bytes, int width);
int64_t number_signed(const struct fetch *fetch, const unsigned char *bytes, int width);

#endif
