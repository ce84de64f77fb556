/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8 - characters as bytes, RFC 3629. */
#ifndef MPIQ_BASE_UTF8_H
#define MPIQ_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the well-formed character at the start of left bytes (at least one); 0 if there is none. */
static inline size_t mpiq_utf8_length(const unsigned char *s, size_t left)
{
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : (s[0] & 0xf0) == 0xe0       ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

/* Copies a string into size bytes (at least one), terminated; one that does not fit is cut between
   characters. A byte that is not UTF-8 is a character of its own. */
static inline void mpiq_utf8_copy(char *to, size_t size, const char *string)
{
    size_t left = strlen(string);
    size_t copied = 0;
    while (left > copied) {
        size_t length = mpiq_utf8_length((const unsigned char *)string + copied, left - copied);
        length += length == 0;
        if (copied + length >= size)
            break;
        copied += length;
    }
    memcpy(to, string, copied);
    to[copied] = '\0';
}

/* Writes the character of that number, and returns its bytes. */
static inline size_t mpiq_utf8_encode(uint32_t code, char bytes[4])
{
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(marks[length] | code);
    return length;
}

#endif
