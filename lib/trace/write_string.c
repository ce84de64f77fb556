/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "trace/write_private.h"

uint32_t mpiq_write_string(struct mpiq_writing *writing, const char *text)
{
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_START, text, strlen(text));
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&writing->string_table, hash, &cursor)) != MPIQ_NONE;) {
        if (strcmp(writing->strings[i], text) == 0)
            return i;
    }
    char *copy = strdup(text);
    if (!copy ||
        !mpiq_array_reserve(&writing->strings, &writing->string_room, (size_t)writing->string_count + 1) ||
        !mpiq_hash_table_add(&writing->string_table, hash, writing->string_count)) {
        free(copy);
        writing->failed = true;
        return 0;
    }
    writing->strings[writing->string_count] = copy;
    return writing->string_count++;
}
