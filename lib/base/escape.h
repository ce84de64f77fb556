/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * escape - makes untrusted text harmless for the place where it is shown.
 *
 * Names of programs, files, functions and communicators come from processes, core files and snapshots that
 * may belong to anybody.  A terminal obeys control characters (C0, DEL, and C1 in their 8-bit and UTF-8
 * forms); line breaks and characters that change the writing direction mislead people; pages and graphs have
 * their own markup.  All of these are escaped here and nowhere else.
 */
#ifndef MPIQ_BASE_ESCAPE_H
#define MPIQ_BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum mpiq_escape {
    /* For a terminal or a plain file: ASCII alone, whatever the locale.  A line break becomes "\n", another
       control character or a byte that is not UTF-8 "\x1b", any other character "\u202e"; "..." stands for
       the ellipsis. */
    MPIQ_ESCAPE_TEXT,
    /* For a string of JSON, without its quotes: what is not UTF-8 becomes U+FFFD, control characters and
       those that change how text is laid out become "\u009b"; everything else stays as it is. */
    MPIQ_ESCAPE_JSON,
    /* For HTML, in text and in quoted attributes: as MPIQ_ESCAPE_TEXT, with entities for HTML's own marks. */
    MPIQ_ESCAPE_HTML,
    /* For a quoted string of Graphviz' language, without its quotes: as MPIQ_ESCAPE_TEXT, but a line break
       becomes one of the label's. */
    MPIQ_ESCAPE_DOT,
};

/* Bytes that one character takes at most, escaped. */
#define MPIQ_ESCAPE_ROOM 16

/* How many of length bytes need no escape in any of these formats: copy them as they are. */
size_t mpiq_escape_plain(const char *text, size_t length);

/* Escapes the first character of length bytes (at least one).  Writes *ret_length bytes, not terminated, to
   ret and returns how many bytes of text it took. */
size_t mpiq_escape_character(enum mpiq_escape format, const char *text, size_t length,
                             char ret[MPIQ_ESCAPE_ROOM], size_t *ret_length);

/* The whole string escaped; the caller frees it.  NULL on allocation failure. */
char *mpiq_escape_string(enum mpiq_escape format, const char *string);

/* Writes the string to a stream, escaped. */
void mpiq_escape_write(enum mpiq_escape format, const char *string, FILE *stream);

#endif
