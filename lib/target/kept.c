/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/kept.h"

#include <stdlib.h>
#include <string.h>

/* Types and members of an MPI library come to some hundred; whoever asks for more asks again. */
#define LINES_MAX 1024
/* Pages share places by their address: a newer one takes an older one's. */
#define PAGES 256

char *mpiq_kept_reply(struct mpiq_kept *kept, const char *request)
{
    for (size_t i = 0; i < kept->line_count; i++) {
        if (strcmp(kept->lines[i].request, request) != 0)
            continue;
        free(kept->spoken);
        kept->spoken = strdup(kept->lines[i].reply);
        return kept->spoken;
    }
    return NULL;
}

void mpiq_kept_add_reply(struct mpiq_kept *kept, const char *request, const char *reply)
{
    if (kept->line_count == LINES_MAX)
        return;
    if (kept->line_count == kept->line_room) {
        size_t room = kept->line_room ? kept->line_room * 2 : 16;
        struct mpiq_kept_line *lines = reallocarray(kept->lines, room, sizeof *lines);
        if (!lines)
            return;
        kept->lines = lines;
        kept->line_room = room;
    }
    struct mpiq_kept_line line = {.request = strdup(request), .reply = strdup(reply)};
    if (line.request && line.reply) {
        kept->lines[kept->line_count++] = line;
        return;
    }
    free(line.request);
    free(line.reply);
}

static size_t place_of(uint64_t address)
{
    return (size_t)(address / MPIQ_KEPT_PAGE % PAGES);
}

const unsigned char *mpiq_kept_page(const struct mpiq_kept *kept, uint64_t address)
{
    const struct mpiq_kept_bytes *page = kept->pages ? &kept->pages[place_of(address)] : NULL;
    return page && page->bytes && page->address == address ? page->bytes : NULL;
}

const unsigned char *mpiq_kept_add_page(struct mpiq_kept *kept, uint64_t address, unsigned char *bytes)
{
    if (!kept->pages)
        kept->pages = calloc(PAGES, sizeof *kept->pages);
    if (!kept->pages) { /* then it is a reply like any other */
        free(kept->spoken);
        kept->spoken = (char *)bytes;
        return bytes;
    }
    struct mpiq_kept_bytes *page = &kept->pages[place_of(address)];
    free(page->bytes);
    *page = (struct mpiq_kept_bytes){.address = address, .bytes = bytes};
    return bytes;
}

void mpiq_kept_clear(struct mpiq_kept *kept)
{
    for (size_t i = 0; i < kept->line_count; i++) {
        free(kept->lines[i].request);
        free(kept->lines[i].reply);
    }
    for (size_t i = 0; kept->pages && i < PAGES; i++)
        free(kept->pages[i].bytes);
    free(kept->lines);
    free(kept->spoken);
    free(kept->pages);
    *kept = (struct mpiq_kept){0};
}
