/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * helper_process - starts and ends mpiq-dll-host: directly, or through a broker for a process that may no
 * longer do either.
 *
 * A broker is a copy of a reader made before it is confined.  It executes one program (the helper, from a
 * descriptor), signals only the helpers it has started, and ends with the reader.
 */
#ifndef MPIQ_RANK_HELPER_PROCESS_H
#define MPIQ_RANK_HELPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Who a helper is to be; become false: who starts it. */
struct mpiq_helper_user {
    bool become;
    uid_t user;
    gid_t group;
};

/* A helper with the DLL that is open at descriptor dll, and at most `memory` bytes of address space.  The
   caller closes *socket, and ends the process with mpiq_helper_stop. */
struct mpiq_error *mpiq_helper_start(int dll, uint64_t memory, const struct mpiq_helper_user *user,
                                     pid_t *pid, int *socket);
/* Kills it and returns its wait status; -1 if that is not known. */
int mpiq_helper_stop(pid_t pid);
/* Whether it has ended by itself; then it is collected, and *status is its wait status. */
bool mpiq_helper_ended(pid_t pid, int *status);
/* Nanoseconds of processor time that it has used; -1 if that is not known. */
int64_t mpiq_helper_processor_ns(pid_t pid);
/* SIGALRM: it says what it is at, and ends. */
void mpiq_helper_alarm(pid_t pid);

/*
 * From here on helpers come from a broker; executable is the open mpiq-dll-host.  To be called once, while
 * there is one thread.  False if there cannot be one.
 */
bool mpiq_helper_use_broker(int executable);
/* Ends the broker and all its helpers, before we end: no thread may ask for a helper any more. */
void mpiq_helper_end_broker(void);

#endif
