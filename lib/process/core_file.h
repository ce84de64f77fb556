/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core_file - an ELF core file as data: memory segments, mapped files, threads, who it was.
 *
 * The kernel's and gcore's.  Everything in it is untrusted: counts and offsets are checked against the
 * file's size.  This module reads only the core itself; core.c adds the mapped files.
 */
#ifndef MPIQ_CORE_FILE_H
#define MPIQ_CORE_FILE_H

#include "process/core_end.h"
#include "process/mappings.h"
#include "process/registers.h"

struct mpiq_core_segment {
    uint64_t start, size; /* in the process */
    uint64_t offset;      /* in the core */
    uint64_t present;     /* bytes that the core has, from start on */
    bool writable;
};

struct mpiq_core_thread {
    pid_t tid;
    uint64_t cpu_ns;
    struct mpiq_registers registers;
};

struct mpiq_core_file {
    char *path;
    int fd;
    uint64_t size;
    uint64_t modified_ns; /* when it was written, as the file system says */
    struct mpiq_words words;
    unsigned machine;
    struct mpiq_core_segment *segments; /* ascending start */
    size_t segment_count;
    struct mpiq_core_thread *threads; /* the one that crashed first */
    size_t thread_count, thread_capacity;
    struct mpiq_mappings mappings; /* NT_FILE, and the vdso */
    unsigned char *auxv;
    size_t auxv_size;
    pid_t pid;
    uid_t uid; /* (uid_t)-1: not known */
    char name[17];
    struct mpiq_core_end end; /* kind NONE: the core does not say */
};

/* Errors: NOT_FOUND, PERMISSION, CORRUPT (not a core file; which part makes no sense), IO. */
struct mpiq_error *mpiq_core_file_open(const char *path, struct mpiq_core_file *ret);
void mpiq_core_file_close(struct mpiq_core_file *core);

/* The segment that holds address, or NULL. */
const struct mpiq_core_segment *mpiq_core_segment_at(const struct mpiq_core_file *core, uint64_t address);

/* Copies what the core itself has at address: up to size bytes, *got of them; 0 if it has none there. */
struct mpiq_error *mpiq_core_file_read(const struct mpiq_core_file *core, uint64_t address, size_t size,
                                       void *buffer, size_t *got);

#endif
