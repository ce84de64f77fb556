/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up_private.h"

static int compare_segments(const void *a, const void *b)
{
    const struct segment *left = a;
    const struct segment *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

/* Ranges that overlap or touch become one: a transcript holds what was read, in the order it was. */
static void join_segments(struct made_up *made_up)
{
    struct segment *segments = made_up->segments;
    size_t kept = 0;

    qsort(segments, made_up->segment_count, sizeof *segments, compare_segments);
    for (size_t i = 1; i < made_up->segment_count; i++) {
        struct segment *into = &segments[kept];

        if (segments[i].address <= into->address + into->size) {
            size_t offset = segments[i].address - into->address;
            size_t end = offset + segments[i].size;

            if (end > into->size) {
                into->bytes = made_up_need(realloc(into->bytes, end));
                memcpy(into->bytes + offset, segments[i].bytes, segments[i].size);
                into->size = into->capacity = end;
            }
            free(segments[i].bytes);
        } else {
            segments[++kept] = segments[i];
        }
    }
    made_up->segment_count = made_up->segment_count == 0 ? 0 : kept + 1;
}

static void transcript_read(struct made_up *made_up, mqs_taddr_t address, size_t size, const char *digits)
{
    struct segment *segment;

    if (strlen(digits) < 2 * size) {
        return;
    }
    segment = made_up_add_segment(made_up, address, size);
    for (size_t i = 0; i < size; i++) {
        char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};

        segment->bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

static void transcript_field(struct made_up *made_up, int id, const char *name, int offset)
{
    struct member *member = &made_up->members[made_up->member_count];

    for (int i = 0; i < made_up->type_count && made_up->member_count < MAX_MEMBERS; i++) {
        if (made_up->types[i].id == id) {
            member->type = i;
            member->offset = offset;
            snprintf(member->name, sizeof member->name, "%s", name);
            made_up->member_count++;
            return;
        }
    }
}

static void transcript_line(struct made_up *made_up, const char *request, const char *reply)
{
    char name[NAME];
    unsigned long address;
    size_t size;
    int id;

    if (sscanf(request, "read %lx %zu", &address, &size) == 2) {
        transcript_read(made_up, address, size, reply);
    } else if (sscanf(request, "symbol %63s", name) == 1 && made_up->symbol_count < MAX_SYMBOLS) {
        made_up_symbol(made_up, name, strtoul(reply, NULL, 0));
    } else if (strncmp(request, "type ", 5) == 0 && made_up->type_count < MAX_TYPES) {
        made_up_structure(made_up, request + 5);
        sscanf(reply, "%d %d", &made_up->types[made_up->type_count - 1].id,
               &made_up->types[made_up->type_count - 1].size);
    } else if (sscanf(request, "field %d %63s", &id, name) == 2) {
        transcript_field(made_up, id, name, atoi(reply));
    } else if (strcmp(request, "sizes") == 0) {
        sscanf(reply, "%*d %*d %*d %*d %d", &made_up->pointer_size);
        made_up->big_endian = strstr(reply, "big") != NULL;
    }
}

struct made_up *made_up_from_transcript(const char *text)
{
    struct made_up *made_up = made_up_create(8, false);
    char *copy = made_up_need(strdup(text));
    char *rest = copy;
    char *request;
    char *reply;

    while ((request = strsep(&rest, "\n")) != NULL && (reply = strsep(&rest, "\n")) != NULL) {
        if (strncmp(reply, "ok ", 3) == 0) {
            transcript_line(made_up, request, reply + 3);
        }
    }
    free(copy);
    join_segments(made_up);
    return made_up;
}
