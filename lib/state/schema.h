/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schema - a C structure as a JSON object, told by a table of its members, in both directions.
 *
 * A member that holds the value it has in the schema's `unknown` is left out on writing and keeps it on
 * reading.  Members may come in any order.  Keys that are not in the table are skipped, so that a newer
 * writer is understood.  Conditions between members are checked when everything has been read.
 *
 * It leaves to others: what the values mean (the schema's check).
 */
#ifndef MPIQ_STATE_SCHEMA_H
#define MPIQ_STATE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_parser.h"
#include "base/json_text.h"

enum mpiq_field_type {
    MPIQ_FIELD_BOOL,
    MPIQ_FIELD_SIGNED, /* a number, of 1, 2, 4 or 8 bytes */
    MPIQ_FIELD_UNSIGNED,
    MPIQ_FIELD_HEX,       /* "0x…", of 8 bytes; a plain number is read too */
    MPIQ_FIELD_ENUM,      /* a word; 1 byte */
    MPIQ_FIELD_LETTER,    /* one character; 1 byte */
    MPIQ_FIELD_ARRAY,     /* char[size], terminated; a longer string is cut between characters */
    MPIQ_FIELD_STRING,    /* const char *, interned by the parser; NULL not known */
    MPIQ_FIELD_STRUCTURE, /* a structure inside */
    MPIQ_FIELD_LIST,      /* pointer and size_t count of structures */
    MPIQ_FIELD_CUSTOM     /* written and read by functions of its own */
};

struct mpiq_schema;
struct mpiq_schema_parser;
struct mpiq_number;

enum { MPIQ_CUSTOM_NUMBERS_MOST = 2 };

struct mpiq_field {
    const char *key;
    enum mpiq_field_type type;
    bool required; /* always written; an error where it is missing */
    uint16_t offset;
    uint16_t size;
    uint16_t count_offset;            /* LIST: of the size_t count */
    const struct mpiq_schema *schema; /* STRUCTURE, LIST */
    const char *const *words;         /* ENUM: word_count of them */
    unsigned word_count;
    void (*write)(struct mpiq_text *text, const void *member);     /* CUSTOM */
    const char *(*read)(struct mpiq_parser *parser, void *member); /* CUSTOM: NULL or complaint */
    /* CUSTOM, may be NULL: the numbers that the value consists of, how many (schema_shape.h).  0: it is more
       than numbers. */
    size_t (*numbers)(void *member, struct mpiq_number *ret);
};

struct mpiq_schema {
    size_t size;
    const struct mpiq_field *fields; /* at most 64 */
    size_t field_count;
    const void *unknown; /* a structure with nothing known */
    /* May be NULL: whether the members of a structure fit together, inner ones having been checked.  NULL, or
       what is wrong with it (static), with the key. */
    const char *(*check)(struct mpiq_schema_parser *parser, const void *structure, const char **key);
};

#define MPIQ_SCHEMA_DEPTH 8

struct mpiq_schema_parser {
    struct mpiq_parser json;
    void *state;                                            /* what the checks and intern need */
    const char *(*intern)(void *state, const char *string); /* NULL without memory */
    uint64_t budget;                                        /* of json at the start */
    uint64_t memory; /* bytes that lists, strings and runs may still take */
    struct {
        const char *key;
        size_t index;
        bool indexed;
    } path[MPIQ_SCHEMA_DEPTH];
    unsigned depth;
};

/* Appends a copy of schema->unknown to a list; NULL without memory.  Room doubles: it holds the next power
   of two of the count, so lists made here must grow here alone. */
void *mpiq_list_append(void *list, size_t *count, size_t size, const void *unknown);

/* A number of 1, 2, 4 or 8 bytes; a signed one is extended to 64 bits. */
uint64_t mpiq_load_number(const void *member, size_t size, bool is_signed);
void mpiq_store_number(void *member, size_t size, uint64_t value);

void mpiq_schema_write(struct mpiq_text *text, const struct mpiq_schema *schema, const void *structure);

/* Reads a whole text; of parser, the caller fills state, intern, budget and memory. structure is a copy of
   schema->unknown; on failure it is partly filled, and the caller must free what it owns. */
struct mpiq_error *mpiq_schema_parse(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                     const char *text, size_t length, void *structure);

/* Whether the members of a structure that was not read from a text fit together.  Of parser, the caller fills
   state; the rest is zero. */
struct mpiq_error *mpiq_schema_check(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                     const void *structure);

/* A structure whose schema has a check. */
struct mpiq_checked {
    const struct mpiq_schema *schema;
    const void *structure;
};

struct mpiq_checks {
    struct mpiq_checked *items;
    size_t count;
    size_t capacity;
};

/* Appends the checks of a structure, in the order of mpiq_schema_check; they hold until one of its lists
   changes.  False without memory. */
bool mpiq_schema_checks(const struct mpiq_schema *schema, const void *structure, struct mpiq_checks *ret);
/* Whether mpiq_schema_check would find nothing: the same, but it does not say where. */
bool mpiq_checks_hold(struct mpiq_schema_parser *parser, const struct mpiq_checks *checks);
void mpiq_checks_deinit(struct mpiq_checks *checks);

#endif
