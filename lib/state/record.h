/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record - a C structure as a JSON object, told by a table of its members, in both directions.
 *
 * A member that holds the value it has in the record's `unknown` is left out on writing and keeps it on
 * reading.  Members are read in the table's order, whatever their order in the text; keys that the table
 * does not know are passed over, so that a newer writer is understood.
 *
 * It leaves to others: what the values mean (the record's check).
 */
#ifndef MPIQ_STATE_RECORD_H
#define MPIQ_STATE_RECORD_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/text.h"

enum mpiq_field_type {
    MPIQ_FIELD_BOOL,
    MPIQ_FIELD_SIGNED, /* a number, of 1, 2, 4 or 8 bytes */
    MPIQ_FIELD_UNSIGNED,
    MPIQ_FIELD_HEX,    /* "0x…", of 8 bytes; a plain number is read too */
    MPIQ_FIELD_ENUM,   /* a word; 1 byte */
    MPIQ_FIELD_LETTER, /* one character; 1 byte */
    MPIQ_FIELD_ARRAY,  /* char[size], terminated */
    MPIQ_FIELD_STRING, /* const char *, interned by the reader; NULL not known */
    MPIQ_FIELD_RECORD, /* a structure inside */
    MPIQ_FIELD_LIST,   /* pointer and size_t count of structures */
    MPIQ_FIELD_CUSTOM  /* written and read by functions of its own */
};

struct mpiq_record;
struct mpiq_reader;

struct mpiq_field {
    const char *key;
    enum mpiq_field_type type;
    bool required; /* always written; an error where it is missing */
    uint16_t offset;
    uint16_t size;
    uint16_t count_offset;            /* LIST: of the size_t count */
    const struct mpiq_record *record; /* RECORD, LIST */
    const char *const *words;         /* ENUM: word_count of them */
    unsigned word_count;
    void (*write)(struct mpiq_text *text, const void *member);                         /* CUSTOM */
    const char *(*read)(struct mpiq_reader *reader, json_object *value, void *member); /* NULL or complaint */
};

struct mpiq_record {
    size_t size;
    const struct mpiq_field *fields;
    size_t field_count;
    const void *unknown; /* a structure with nothing known */
    /* May be NULL: after an element was read.  NULL, or what is wrong with it (static), with the key. */
    const char *(*check)(struct mpiq_reader *reader, const void *element, const char **key);
};

#define MPIQ_READER_DEPTH 8

struct mpiq_reader {
    void *state;                                            /* what the checks and intern need */
    const char *(*intern)(void *state, const char *string); /* NULL without memory */
    struct {
        const char *key;
        size_t index;
        bool indexed;
    } path[MPIQ_READER_DEPTH];
    unsigned depth;
};

/* Appends a copy of record->unknown to a list; NULL without memory.  Room doubles: it holds the next power
   of two of the count, so lists made here must grow here alone. */
void *mpiq_list_append(void *list, size_t *count, size_t size, const void *unknown);

void mpiq_record_write(struct mpiq_text *text, const struct mpiq_record *record, const void *structure);

/* structure is a copy of record->unknown; on failure it is partly filled, and its lists are to be freed. */
struct mpiq_error *mpiq_record_read(struct mpiq_reader *reader, const struct mpiq_record *record,
                                    json_object *object, void *structure);

/* Numbers of untrusted JSON: NULL, or the complaint. */
const char *mpiq_json_signed(json_object *value, int64_t low, int64_t high, int64_t *ret);
const char *mpiq_json_unsigned(json_object *value, uint64_t high, uint64_t *ret);
const char *mpiq_json_hex(json_object *value, uint64_t *ret);

/* Parses a whole text of that length, which need not be terminated; the caller puts the object. */
struct mpiq_error *mpiq_json_parse(const char *text, size_t length, json_object **ret);

#endif
