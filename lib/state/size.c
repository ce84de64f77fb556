/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/size.h"

#include <inttypes.h>
#include <stdio.h>

const char *mpiq_size_text(int64_t bytes, char text[static MPIQ_SIZE_ROOM])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    enum { KIB = 1024 };
    text[0] = '\0';
    if (bytes < 0)
        return text;
    if (bytes == 0 || bytes % KIB != 0) {
        snprintf(text, MPIQ_SIZE_ROOM, "%" PRId64 " byte%s", bytes, bytes == 1 ? "" : "s");
        return text;
    }
    size_t unit = 0;
    bytes /= KIB;
    for (; bytes % KIB == 0 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= KIB;
    snprintf(text, MPIQ_SIZE_ROOM, "%" PRId64 " %s", bytes, units[unit]);
    return text;
}
