/* SPDX-License-Identifier: BSD-3-Clause */
/* base64 - bytes as text of letters, digits, '+' and '/' (RFC 4648), padded with '='. */
#ifndef MPIQ_BASE64_H
#define MPIQ_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Characters that so many bytes take, without a terminator. */
#define MPIQ_BASE64_LENGTH(bytes) (((bytes) + 2) / 3 * 4)

/* Writes MPIQ_BASE64_LENGTH(length) characters to ret, not terminated. */
void mpiq_base64_encode(const void *bytes, size_t length, char *ret);

/* Writes at most length / 4 * 3 bytes to ret; false for a text that no encoder writes.  ret
   may be where the text is. */
bool mpiq_base64_decode(const char *text, size_t length, void *ret, size_t *ret_length);

#endif
