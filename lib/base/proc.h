/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc - what /proc tells about the processes of this machine, as data.
 *
 * It decides nothing: a file that cannot be read is an error with the file's name, or NULL.  The callers
 * explain what that means to the user (another user's process, Yama, ended).
 */
#ifndef MPIQ_PROC_H
#define MPIQ_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct mpiq_proc_stat {
    char name[17];
    char state; /* 'R', 'S', 'T', 'Z', … */
    pid_t parent;
    uint64_t cpu_ns;      /* to a clock tick */
    uint64_t children_ns; /* of children that have ended and were waited for, to a clock tick */
    uint64_t faults;      /* page faults, minor and major */
    uint64_t start_time;  /* clock ticks since the system's start: tells a recycled pid */
};

/* Reads a whole file of /proc, whose size no one knows beforehand; a NUL follows the bytes.  The caller frees
 *ret. */
struct mpiq_error *mpiq_proc_read(const char *path, char **ret, size_t *size);

/* The same of a file of one line, at most size - 1 bytes of it, in one read. */
struct mpiq_error *mpiq_proc_read_line(const char *path, char *ret, size_t size);

/* A whole file below a directory of /proc that is open, with a NUL after its *size bytes; the caller frees
   it. NULL with errno. */
char *mpiq_proc_read_at(int directory, const char *name, size_t *size);

/* The same of /proc/PID/NAME. */
char *mpiq_proc_read_of(pid_t pid, const char *name, size_t *size);

/* The text of a stat file; false if it is none. */
bool mpiq_proc_parse_stat(char *text, struct mpiq_proc_stat *ret);

/* tid 0: the process itself. */
struct mpiq_error *mpiq_proc_stat(pid_t pid, pid_t tid, struct mpiq_proc_stat *ret);

/* Whether a process is gone or a zombie. */
bool mpiq_proc_has_ended(pid_t pid);

/* The wait status (wait(2)) of a process that has ended and that nobody has waited for; -1: it has not, or
   may not be known. */
int mpiq_proc_wait_status(pid_t pid);

/* How long a thread has run so far, in nanoseconds; false: the kernel does not say. */
bool mpiq_proc_thread_time(pid_t pid, pid_t tid, uint64_t *ret);

/* A number after "NAME:" in /proc/PID/status (Uid, TracerPid, Seccomp), -1 if there is none. */
long mpiq_proc_status_number(pid_t pid, const char *name);

/* Two of them at once. */
void mpiq_proc_status_numbers(pid_t pid, const char *const names[2], long ret[2]);

/* A count after "NAME:" in the text of a status or io file; 0 if there is none. */
uint64_t mpiq_proc_count(const char *text, const char *name);

/* What /proc/PID/task/TID/syscall says of a thread in a system call. */
struct mpiq_proc_call {
    long number;
    uint64_t arguments[6], sp, pc;
};

/* Parses "202 0x7f… 0x80 0x0 0x0 0x0 0x0 0xSP 0xPC".  False: it is in none ("running"; "-1 0xSP 0xPC"). */
bool mpiq_proc_parse_call(const char *line, struct mpiq_proc_call *ret);

/* The number that a thread has in its own namespace of pids; 0 if that cannot be known. */
pid_t mpiq_proc_inner_tid(pid_t pid, pid_t tid);

/* The value of a variable in the text of an environ file, size bytes of it; NULL: it has none. */
const char *mpiq_proc_variable(const char *text, size_t size, const char *name);

/* All processes; the threads of one.  Ascending; the caller frees *ret. */
struct mpiq_error *mpiq_proc_processes(pid_t **ret, size_t *count);
struct mpiq_error *mpiq_proc_threads(pid_t pid, pid_t **ret, size_t *count);

/* The children that one thread has started, or, tid 0, all threads of the process: none where the kernel
   keeps no such list. */
struct mpiq_error *mpiq_proc_children(pid_t pid, pid_t tid, pid_t **ret, size_t *count);

#endif
