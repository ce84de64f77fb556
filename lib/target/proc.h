/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc - what /proc tells about a process of this machine, as data.
 *
 * It decides nothing: a file that cannot be read is an error with the file's name; what that means for a
 * person (another user's, Yama, ended) is said in permission.c.
 */
#ifndef MPIQ_PROC_H
#define MPIQ_PROC_H

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

struct mpiq_proc_stat {
    char name[17];
    char state;
    pid_t parent;
    uint64_t cpu_ns;      /* to a clock tick */
    uint64_t children_ns; /* of children that have ended and were waited for, to a clock tick */
    uint64_t start_time;  /* clock ticks since the system's start: tells a recycled pid */
};

/* Reads a whole file of /proc, whose size no one knows beforehand; a NUL follows the bytes.  The caller frees
 *ret. */
struct mpiq_error *mpiq_proc_read(const char *path, char **ret, size_t *size);

/* The same of a file of one line, at most size - 1 bytes of it, in one read. */
struct mpiq_error *mpiq_proc_read_line(const char *path, char *ret, size_t size);

/* tid 0: the process itself. */
struct mpiq_error *mpiq_proc_stat(pid_t pid, pid_t tid, struct mpiq_proc_stat *ret);

/* A number after "NAME:" in /proc/PID/status (Uid, TracerPid, Seccomp), -1 if there is none. */
long mpiq_proc_status_number(pid_t pid, const char *name);

/* The number that a thread has in its own namespace of pids; 0 if that cannot be known. */
pid_t mpiq_proc_inner_tid(pid_t pid, pid_t tid);

/* Two of them at once. */
void mpiq_proc_status_numbers(pid_t pid, const char *const names[2], long ret[2]);

struct mpiq_error *mpiq_proc_mappings(pid_t pid, struct mpiq_mappings *ret);
/* Sets the path, after cutting " (deleted)" off and undoing the kernel's "\012" for a newline in place. */
void mpiq_mapping_set_path(struct mpiq_mapping *mapping, char *path);

void mpiq_mappings_deinit(struct mpiq_mappings *mappings);

/* The mapping that holds address, or NULL. */
const struct mpiq_mapping *mpiq_mappings_at(const struct mpiq_mappings *mappings, uint64_t address);

/* Thread ids, ascending; the caller frees *ret. */
struct mpiq_error *mpiq_proc_threads(pid_t pid, pid_t **ret, size_t *count);

#endif
