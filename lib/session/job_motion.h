/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_motion - whether the descendants of a process do anything, according to the kernel's counters alone.
 *
 * It opens a few files in /proc per process and does not touch the process.
 *
 * It leaves to others what the counters cannot show: a rank that uses the processor may compute, or poll
 * inside MPI.
 */
#ifndef MPIQ_SESSION_JOB_MOTION_H
#define MPIQ_SESSION_JOB_MOTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How often a process read or wrote so far, and how many bytes. */
struct mpiq_transfers {
    uint64_t calls;
    uint64_t bytes;
};

/* What the watch knows of one process. */
struct mpiq_moving_process {
    pid_t pid;
    pid_t parent;
    uint64_t start_time; /* tells a recycled pid */
    uint64_t executable; /* device and inode, mixed: changes with exec */
    bool in_job;         /* it has the environment of a rank, or is a rank or below one */
    bool is_rank;        /* it maps an MPI library, and nothing above it that is a rank does */
    char state;
    uint64_t cpu_ns; /* processor time, of itself and of children that have ended */
    uint64_t faults; /* page faults */
    struct mpiq_transfers reads;
    struct mpiq_transfers writes;
};

struct mpiq_job_motion {
    pid_t root;                            /* watched is what lies below it */
    struct mpiq_moving_process *processes; /* by pid */
    size_t count;
    size_t capacity;
    bool all_here; /* a rank's environment says that its whole world is on this host */
};

/* What a sample tells. */
struct mpiq_job_motion_sample {
    bool moved; /* since the last one: a process of the job began or ended, did I/O or got new memory, or one
                   that is no rank used the processor */
    bool debugged; /* a debugger holds a rank */
    size_t ranks;
    pid_t mover;      /* one of those that moved; 0: none is there any more */
    const char *what; /* it did; static */
};

void mpiq_job_motion_init(struct mpiq_job_motion *motion, pid_t root);
void mpiq_job_motion_deinit(struct mpiq_job_motion *motion);

/* Reads all counters.  A process that cannot be read counts as one that did not move. */
struct mpiq_job_motion_sample mpiq_job_motion_sample(struct mpiq_job_motion *motion);

/* Processor time in ticks and number of sleeps of all threads of a process so far; false if it has ended. */
bool mpiq_job_motion_marks(pid_t pid, uint64_t *cpu_ns, uint64_t *sleeps);

#endif
