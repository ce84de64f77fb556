/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collector - the other end of a stream: what mpiq collect prints, and the command it waits for.
 *
 * mpiq_collector_start splits the process in two.  The one that returns is the worker.  The other is the
 * guard: it reads standard input and ends the worker at once when that is closed, so that nothing remains of
 * a collector whose mpiq has ended, whatever it was doing.  A guard that is stopped cannot do this; then the
 * worker ends both when it waits, writes or is done.
 */
#ifndef MPIQ_HOSTS_COLLECTOR_H
#define MPIQ_HOSTS_COLLECTOR_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "hosts/hello.h"
#include "hosts/host_message.h"
#include "hosts/group_senders.h"

struct mpiq_collector {
    uint64_t token;
    uint64_t number; /* of the next line */
    int input;       /* from the guard */
    pid_t guard;     /* 0: of another pid namespace */
};

struct mpiq_error *mpiq_collector_start(struct mpiq_collector *ret);
struct mpiq_error *mpiq_collector_say(struct mpiq_collector *collector, enum mpiq_host_message_kind kind,
                                      const void *bytes, size_t length);
struct mpiq_error *mpiq_collector_hello(struct mpiq_collector *collector, const struct mpiq_hello *hello);
/* Says that the first look has ended, and which large groups it has found; that the second has ended. */
struct mpiq_error *mpiq_collector_looked_once(struct mpiq_collector *collector,
                                              const struct mpiq_group_senders *groups);
struct mpiq_error *mpiq_collector_looked_twice(struct mpiq_collector *collector);
/* Until it may look again: the word that said so, for mpiq_others_tell_group; the caller frees it. */
struct mpiq_error *mpiq_collector_wait(struct mpiq_collector *collector, char **ret);
/* All of the snapshot, and the end. */
struct mpiq_error *mpiq_collector_send(struct mpiq_collector *collector, const char *bytes, size_t length);

#endif
