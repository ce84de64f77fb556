/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "error.h"
#include "record.h"

int record_fetch(struct fetch *fetch, mqs_taddr_t address, size_t size_offset, size_t least, size_t size,
                 void *buffer)
{
    unsigned char head[4];
    size_t there;
    int code = fetch_bytes(fetch, address + size_offset, sizeof head, head);

    if (code != mqs_ok) {
        return code;
    }
    there = (size_t)number_unsigned(fetch, head, 4);
    if (there < least) {
        return ERROR_ROOT_CORRUPT;
    }
    memset(buffer, 0, size);
    return fetch_bytes(fetch, address, there < size ? there : size, buffer);
}
