/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_text - writes JSON: it places the commas and escapes the strings.
 *
 * A zeroed one is an empty text with its own buffer.  The caller must open, name and close in the right
 * order; this is not checked.  Without memory the buffer fails and stays so; the end function reports it
 * once.
 */
#ifndef MPIQ_JSON_TEXT_H
#define MPIQ_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct mpiq_text {
    struct mpiq_buffer *out; /* where it goes; NULL: own */
    struct mpiq_buffer own;
    bool comma; /* a value stands before: the next one needs a comma */
};

/* open is '{' or '[', close '}' or ']'. */
void mpiq_text_open(struct mpiq_text *text, char open);
void mpiq_text_close(struct mpiq_text *text, char close);
/* The key of the value that follows: plain ASCII without anything to escape. */
void mpiq_text_key(struct mpiq_text *text, const char *key);

void mpiq_text_signed(struct mpiq_text *text, int64_t value);
void mpiq_text_unsigned(struct mpiq_text *text, uint64_t value);
/* "0x…": an address, a hash: what other languages' numbers cannot hold. */
void mpiq_text_hex(struct mpiq_text *text, uint64_t value);
void mpiq_text_bool(struct mpiq_text *text, bool value);
/* Up to length bytes, or to the terminator; bytes that are no UTF-8 become U+FFFD. */
void mpiq_text_string(struct mpiq_text *text, const char *string, size_t length);

/* A value that is JSON already: given, or to be added to the buffer that is returned. */
void mpiq_text_raw(struct mpiq_text *text, const char *json, size_t length);
struct mpiq_buffer *mpiq_text_value(struct mpiq_text *text);

/* A line break, where it does no harm: between the elements of a long list. */
void mpiq_text_break(struct mpiq_text *text);

/* Members of an object: nothing for NULL and "". */
void mpiq_text_put_string(struct mpiq_text *text, const char *key, const char *string);
void mpiq_text_put_signed(struct mpiq_text *text, const char *key, int64_t value);
void mpiq_text_put_unsigned(struct mpiq_text *text, const char *key, uint64_t value);
void mpiq_text_put_bool(struct mpiq_text *text, const char *key, bool value);

/* The text of its own buffer, terminated, which the caller frees; or the error, and then nothing is left to
 * free. */
struct mpiq_error *mpiq_text_end(struct mpiq_text *text, char **ret);

#endif
