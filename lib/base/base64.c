/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void mpiq_base64_encode(const void *bytes, size_t length, char *ret)
{
    const unsigned char *at = bytes;
    for (size_t left = length; left > 0; at += 3, ret += 4) {
        uint32_t group = (uint32_t)at[0] << 16;
        group |= left > 1 ? (uint32_t)at[1] << 8 : 0;
        group |= left > 2 ? at[2] : 0;
        ret[0] = digits[group >> 18];
        ret[1] = digits[group >> 12 & 63];
        ret[2] = '=';
        ret[3] = '=';
        if (left > 1)
            ret[2] = digits[group >> 6 & 63];
        if (left > 2)
            ret[3] = digits[group & 63];
        left -= left < 3 ? left : 3;
    }
}

static int value_of(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - '0' + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

bool mpiq_base64_decode(const char *text, size_t length, void *ret, size_t *ret_length)
{
    unsigned char *bytes = ret;
    size_t used = 0;
    if (length % 4 != 0)
        return false;
    for (size_t at = 0; at < length; at += 4) {
        bool last = at + 4 == length;
        int padding = last && text[at + 3] == '=' ? 1 + (text[at + 2] == '=') : 0;
        uint32_t group = 0;
        for (int i = 0; i < 4; i++) {
            int value = i >= 4 - padding ? 0 : value_of(text[at + (size_t)i]);
            if (value < 0)
                return false;
            group = group << 6 | (uint32_t)value;
        }
        if ((padding == 1 && group & 0xff) || (padding == 2 && group & 0xffff))
            return false;
        bytes[used++] = (unsigned char)(group >> 16);
        if (padding < 2)
            bytes[used++] = (unsigned char)(group >> 8);
        if (padding < 1)
            bytes[used++] = (unsigned char)group;
    }
    *ret_length = used;
    return true;
}
