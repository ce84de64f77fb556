/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/debug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mpiq_debug_on(const char *area)
{
    const char *list = getenv("MPIQ_DEBUG");
    size_t length = strlen(area);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        if ((word == length && memcmp(list, area, word) == 0) || (word == 3 && memcmp(list, "all", 3) == 0))
            return true;
        list += word;
        list += *list == ',';
    }
    return false;
}

void mpiq_debug(const char *area, const char *format, ...)
{
    if (!mpiq_debug_on(area))
        return;
    fprintf(stderr, "mpiq: %s: ", area);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}
