/* SPDX-License-Identifier: BSD-3-Clause */
/* system_calls - which system call a number means on the architecture of the process that made it. */
#ifndef MPIQ_NAMES_SYSTEM_CALLS_H
#define MPIQ_NAMES_SYSTEM_CALLS_H

#include <stdint.h>

/* Those in which it matters that a thread sleeps. */
enum mpiq_system_call {
    MPIQ_CALL_NONE,  /* none, another one, or not known */
    MPIQ_CALL_READ,  /* from a file or a socket */
    MPIQ_CALL_WRITE, /* likewise */
    MPIQ_CALL_OPEN,
    MPIQ_CALL_OPENAT,
    MPIQ_CALL_FCNTL,
    MPIQ_CALL_FLOCK,
    MPIQ_CALL_PAUSE, /* and other waits for a signal, a semaphore, a message of a queue, asynchronous I/O */
    MPIQ_CALL_WAIT4,
    MPIQ_CALL_WAITID,
    MPIQ_CALL_CONNECT,
    MPIQ_CALL_ACCEPT,
    MPIQ_CALL_POLL, /* and select, epoll_wait; with a timeout its sleep is a timed one */
    MPIQ_CALL_FUTEX,
};

/* The word for an ELF machine (EM_…): "x86-64"; "" for one without system calls here. */
const char *mpiq_architecture_name(unsigned machine);

/* The call that a process of that architecture, by the word above, makes by that number. */
enum mpiq_system_call mpiq_system_call_of(const char *architecture, int32_t number);

/* Its name in the manual: "fcntl"; "" for NONE. */
const char *mpiq_system_call_name(enum mpiq_system_call call);

#endif
