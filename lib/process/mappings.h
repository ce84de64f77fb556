/* SPDX-License-Identifier: BSD-3-Clause */
/* mappings - what a process maps where, from the kernel's list or a core's. */
#ifndef MPIQ_MAPPINGS_H
#define MPIQ_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* One line of /proc/PID/maps, or one entry of a core's NT_FILE (device and inode 0 there). */
struct mpiq_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset; /* in the file, bytes */
    uint64_t device;
    uint64_t inode;
    const char *path; /* "" if none; owned by the list */
    bool executable;
    bool deleted; /* the file has no name any more; path is what it was called */
};

/* In ascending order of addresses. */
struct mpiq_mappings {
    struct mpiq_mapping *items;
    size_t count;
    char *text; /* what the paths point into */
};

struct mpiq_error *mpiq_proc_mappings(pid_t pid, struct mpiq_mappings *ret);
/* Sets the path, after cutting " (deleted)" off and undoing the kernel's "\012" for a newline in place. */
void mpiq_mapping_set_path(struct mpiq_mapping *mapping, char *path);

void mpiq_mappings_deinit(struct mpiq_mappings *mappings);

/* The mapping that holds address, or NULL. */
const struct mpiq_mapping *mpiq_mappings_at(const struct mpiq_mappings *mappings, uint64_t address);

#endif
