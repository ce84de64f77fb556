/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * confine - what one of our processes gives up before it touches untrusted data (docs/SECURITY.md).
 *
 * Two steps, because confinement takes away rights that setting up needs: mpiq_confine_begin before anything
 * else, mpiq_confine_end once everything that needs an ordinary process (descriptors, our threads, memory of
 * libraries) is ready.
 */
#ifndef MPIQ_RANK_CONFINE_H
#define MPIQ_RANK_CONFINE_H

/* A sanitizer reserves more address space than there is memory, and makes its own system calls, so a
   sanitized program runs without an address-space limit and without a filter. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MPIQ_SANITIZED 1
#else
#define MPIQ_SANITIZED 0
#endif

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum mpiq_confined {
    MPIQ_CONFINED_HELPER, /* runs a message-queue DLL: reads memory of its rank, nothing else */
    MPIQ_CONFINED_READER, /* reads ranks: stops threads, copies their registers */
};

/* The exit status of a confined process that ran out of memory. */
enum { MPIQ_EXIT_NO_MEMORY = 64 };

struct mpiq_confinement {
    enum mpiq_confined kind;
    uint64_t memory; /* bytes of address space; 0: no limit */
    pid_t parent;    /* whose end is ours; 0: nobody's */
    bool become;     /* user and group, instead of who we are */
    bool keep_trace; /* with become: keep the right to look at processes that Yama protects */
    bool keep_error; /* standard error stays open (MPIQ_DEBUG) */
    uid_t user;
    gid_t group;
};

/* Takes from main's arguments what every confined process is started with: --memory BYTES, --parent PID,
   --user UID:GID.  Other options are the caller's.  False: the value of --user is no such pair. */
bool mpiq_confine_options(struct mpiq_confinement *confinement, int count, char *const *arguments);

/*
 * A session of its own; standard input, output and error on /dev/null; directory /; no core file; limits on
 * memory and descriptors; another user if asked; no new privileges; killed when the parent thread ends.
 * False if any of this fails; then the process must end.
 */
bool mpiq_confine_begin(const struct mpiq_confinement *confinement);

/*
 * From here on no program is executed, no file opened for writing, created or changed, no socket made, no
 * signal sent but to ourselves, no terminal touched; only a reader stops threads, and none writes another
 * process's memory or registers.  Other system calls fail with ENOSYS.  For all threads.  False if the kernel
 * does not do it.
 */
bool mpiq_confine_end(enum mpiq_confined kind);

/* Calls handler, on the calling thread's crash stack, when the process crashes: it says so and ends it.  With
   at_alarm also when mpiq asks for its end with SIGALRM. */
void mpiq_confine_catch_crashes(void (*handler)(int), bool at_alarm);

/* Gives the calling thread a stack for its end.  False without memory. */
bool mpiq_confine_use_crash_stack(void);

/*
 * The environment of a confined process, made from ours: only the variables that tests and MPIQ_DEBUG need,
 * plus extra ("NAME=VALUE"; NULL: none).  An array that the caller frees, of strings that are not its own;
 * NULL without memory.
 */
char **mpiq_confine_environment(char *extra);

#endif
