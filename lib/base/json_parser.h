/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_parser - reads JSON value by value, in one pass, from untrusted text.
 *
 * It keeps only the last string, so a text costs no more memory than what the caller builds from it.
 * Invalid JSON sets `fault`, after which all calls do nothing.  If a value has another type than the one
 * asked for, it is for the caller to complain: such functions return NULL, or a static text that says what
 * is wrong.
 */
#ifndef MPIQ_JSON_PARSER_H
#define MPIQ_JSON_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mpiq_parser {
    const char *start;
    const char *at;
    const char *end;
    const char *fault; /* static: why this is no JSON */
    bool starved;      /* the fault is that there was no memory */
    char *string;      /* the last one, terminated */
    size_t string_length;
    size_t string_room;
    uint64_t budget; /* for readers: what the rest of the text may be blown up to by runs, in elements */
    unsigned depth;  /* of what is open */
    bool first;      /* nothing stands yet in what was opened last */
};

/* The text need not be terminated, and stays the caller's. */
void mpiq_parser_init(struct mpiq_parser *parser, const char *text, size_t length);
void mpiq_parser_deinit(struct mpiq_parser *parser);

/* Whether the next value is an object ('{'), an array ('['), a string ('"'), a number ('0'), true or false
   ('t'), null ('n'); 0 for none of these. */
char mpiq_parser_peek(struct mpiq_parser *parser);

/* Goes into an object or array: complains if the next value is none. */
const char *mpiq_parser_open(struct mpiq_parser *parser, char open);
/* Whether another element of what is open follows; when none does, it is closed. */
bool mpiq_parser_more(struct mpiq_parser *parser, char close);
/* The key of an object's next element, in parser->string. */
void mpiq_parser_key(struct mpiq_parser *parser);
/* Passes over a value, whatever it holds. */
void mpiq_parser_skip(struct mpiq_parser *parser);
/* The same; sets *start to the value's position in the caller's text.  Returns its length; 0: there is none.
 */
size_t mpiq_parser_span(struct mpiq_parser *parser, const char **start);
/* The whole text has been read. */
void mpiq_parser_end(struct mpiq_parser *parser);

const char *mpiq_parser_signed(struct mpiq_parser *parser, int64_t low, int64_t high, int64_t *ret);
const char *mpiq_parser_unsigned(struct mpiq_parser *parser, uint64_t high, uint64_t *ret);
/* "0x…", or a number. */
const char *mpiq_parser_hex(struct mpiq_parser *parser, uint64_t *ret);
const char *mpiq_parser_bool(struct mpiq_parser *parser, bool *ret);
/* In parser->string; one with a zero byte is complained of. */
const char *mpiq_parser_string(struct mpiq_parser *parser);

/* For what may be missing: the next value if it is of that type and in that range.  Otherwise it is passed
   over, and *ret stays as it was. */
void mpiq_parser_try_signed(struct mpiq_parser *parser, int64_t low, int64_t high, int64_t *ret);
void mpiq_parser_try_unsigned(struct mpiq_parser *parser, uint64_t *ret);
void mpiq_parser_try_bool(struct mpiq_parser *parser, bool *ret);
/* In parser->string; NULL if the value is no string, or holds a zero byte. */
const char *mpiq_parser_try_string(struct mpiq_parser *parser);

#endif
