/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * madeup - a process that never ran, for tests: memory, symbols, types, threads, environment in one call,
 * with any word size and byte order.
 */
#ifndef MPIQ_MADEUP_H
#define MPIQ_MADEUP_H

#include "process/target.h"

/* All lists end with an entry of zeros; NULL is an empty list. */

struct mpiq_madeup_segment {
    uint64_t address;
    size_t size;
    const void *bytes;
};

struct mpiq_madeup_symbol {
    const char *name;
    uint64_t address;
};

struct mpiq_madeup_member {
    const char *name;
    uint64_t offset;
    const char *type; /* of what is made up, where "a.b" is asked for; may be NULL */
};

struct mpiq_madeup_type {
    const char *name; /* without "struct " */
    uint64_t size;
    const struct mpiq_madeup_member *members;
};

struct mpiq_madeup_thread {
    pid_t tid;
    char state;
    uint64_t cpu_ns;
    const char *name;
    const struct mpiq_target_frame *frames; /* innermost first; the list ends with pc 0 */
};

struct mpiq_madeup {
    struct mpiq_target_sizes sizes; /* pointer_size 0: those of a 64-bit little-endian machine */
    const struct mpiq_madeup_segment *segments;
    const struct mpiq_madeup_symbol *symbols;
    const struct mpiq_madeup_type *types;
    const struct mpiq_madeup_thread *threads;
    const char *const *environment; /* "NAME=VALUE", NULL at the end */
    struct mpiq_target_status status;
};

extern const struct mpiq_target_sizes mpiq_madeup_64_little;
extern const struct mpiq_target_sizes mpiq_madeup_64_big;
extern const struct mpiq_target_sizes mpiq_madeup_32_little;
extern const struct mpiq_target_sizes mpiq_madeup_32_big;

/* What is described stays the caller's and must outlive the target; memory that the caller changes has
   changed for the target. */
struct mpiq_error *mpiq_target_madeup_create(const struct mpiq_madeup *what, struct mpiq_target **ret);

/* Writes a number of size bytes (1, 2, 4, 8) as that machine has it. */
void mpiq_madeup_put(const struct mpiq_target_sizes *sizes, void *at, int size, uint64_t value);

#endif
