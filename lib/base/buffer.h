/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffer - growable text, in memory or written to a file as it grows.  No function that appends can fail:
 * without memory (or if the file cannot be written) the buffer becomes `failed`, stays so, and reports it
 * once, at the end.
 */
#ifndef MPIQ_BUFFER_H
#define MPIQ_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/escape.h"

/* All zeros is an empty one. */
struct mpiq_buffer {
    char *bytes; /* not terminated */
    size_t length;
    size_t room;
    FILE *out;  /* NULL: all stays in bytes */
    int errnum; /* of out */
    bool failed;
    struct mpiq_buffer *owner; /* the one that this becomes a part of: it fails with it; NULL */
};

/* An empty one whose text is to become a part of another. */
static inline struct mpiq_buffer mpiq_buffer_part(struct mpiq_buffer *owner)
{
    return (struct mpiq_buffer){.owner = owner};
}

/* Says that something which belongs into it could not be had. */
static inline void mpiq_buffer_fail(struct mpiq_buffer *buffer)
{
    for (; buffer; buffer = buffer->owner)
        buffer->failed = true;
}

void mpiq_buffer_deinit(struct mpiq_buffer *buffer);

/* Room for length more bytes, to be filled and then counted in buffer->length; NULL once failed. */
char *mpiq_buffer_reserve(struct mpiq_buffer *buffer, size_t length);

void mpiq_buffer_add(struct mpiq_buffer *buffer, const char *bytes, size_t length);
/* NULL adds nothing. */
void mpiq_buffer_string(struct mpiq_buffer *buffer, const char *string);
/* The text, escaped for where it is shown. */
void mpiq_buffer_escaped(struct mpiq_buffer *buffer, enum mpiq_escape format, const char *text,
                         size_t length);
void mpiq_buffer_char(struct mpiq_buffer *buffer, char c);
void mpiq_buffer_unsigned(struct mpiq_buffer *buffer, uint64_t value);
void mpiq_buffer_signed(struct mpiq_buffer *buffer, int64_t value);
void mpiq_buffer_printf(struct mpiq_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mpiq_buffer_vprintf(struct mpiq_buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* The text so far as a string, valid until the next change; "" once failed. */
const char *mpiq_buffer_text(struct mpiq_buffer *buffer);

/* Writes what is there to out, if that is set and enough is there to be worth it, or all if `all`. */
void mpiq_buffer_drain(struct mpiq_buffer *buffer, bool all);

/* Ends it: the text, terminated, which the caller frees; with out set everything is written and *ret is not
   touched.  The buffer is empty after that, whatever is returned. */
struct mpiq_error *mpiq_buffer_end(struct mpiq_buffer *buffer, char **ret);

#endif
