/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/quantities.h"

#include <inttypes.h>
#include <stdio.h>

const char *mpiq_duration_text(double seconds, char text[MPIQ_DURATION_ROOM])
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };
    text[0] = '\0';
    if (!(seconds >= 0)) /* nor what is no number */
        return text;
    if (seconds < 9.95) { /* from there on it would read "10.0 s" */
        snprintf(text, MPIQ_DURATION_ROOM, "%.1f s", seconds);
        return text;
    }
    uint64_t whole = seconds < 1e15 ? (uint64_t)(seconds + 0.5) : (uint64_t)1e15;
    if (whole < MINUTE)
        snprintf(text, MPIQ_DURATION_ROOM, "%" PRIu64 " s", whole);
    else if (whole < HOUR)
        snprintf(text, MPIQ_DURATION_ROOM, "%" PRIu64 " m %" PRIu64 " s", whole / MINUTE, whole % MINUTE);
    else if (whole < DAY)
        snprintf(text, MPIQ_DURATION_ROOM, "%" PRIu64 " h %" PRIu64 " m", whole / HOUR,
                 whole / MINUTE % MINUTE);
    else
        snprintf(text, MPIQ_DURATION_ROOM, "%" PRIu64 " d %" PRIu64 " h", whole / DAY, whole / HOUR % 24);
    return text;
}

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
