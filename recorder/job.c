/* SPDX-License-Identifier: BSD-3-Clause */
/* job - the number of a job, derived from the launcher's name for it.  tests/rank/test_identity.c checks that
   lib/rank derives the same number. */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

uint32_t job_of(const char *nspace)
{
    char *end = NULL;
    unsigned long number = strtoul(nspace, &end, 10);
    if (nspace[0] >= '0' && nspace[0] <= '9' && end && *end == '\0' && number <= UINT32_MAX)
        return (uint32_t)number;
    const char *at = strrchr(nspace, '@');
    size_t length = at ? (size_t)(at - nspace) : strlen(nspace);
    uint32_t hash = 0;
    for (size_t i = 0; i < length; i++) {
        hash += (uint32_t)nspace[i];
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    uint32_t local = at ? (uint32_t)strtoul(at + 1, NULL, 10) : 0;
    return (hash >> 16 ^ (hash & 0xffff)) << 16 | (local & 0xffff);
}
