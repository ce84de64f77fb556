/* SPDX-License-Identifier: BSD-3-Clause */
/* remains_item - the ranks that share their records with mpiq run, one by one. */
#ifndef MPIQ_SESSION_REMAINS_ITEM_H
#define MPIQ_SESSION_REMAINS_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mpiq.h"

struct mpiq_remains_item {
    int file; /* the memory file, as remains_core.h has it; -1: given back */
    pid_t pid;
    bool ended;
};

/* In the order in which they came; false: there are fewer. */
bool mpiq_remains_item(const struct mpiq_remains *remains, size_t index, struct mpiq_remains_item *ret);

#endif
