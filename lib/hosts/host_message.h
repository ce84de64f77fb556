/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_message - one message of a collector as a line of text, encoded to survive a launcher's stdout.
 *
 *     @mpiq1 TOKEN NUMBER KIND BASE64 ~CHECK
 *
 * The digits after "@mpiq" are the protocol's version, TOKEN is 16 hexadecimal digits that name the
 * collector, NUMBER counts its lines from 0, CHECK is a hash of all between the version and " ~".  Launchers
 * put prefixes before lines, merge two lines or cut one off: a line is recognised wherever it begins, and
 * counts only if its check is right.  This format is the same in every version of the protocol, so that
 * versions can tell each other apart.
 */
#ifndef MPIQ_HOST_MESSAGE_H
#define MPIQ_HOST_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MPIQ_PROTOCOL_VERSION = 1, MPIQ_MESSAGE_MOST = 1 << 16 };

/* X(identifier, word) */
#define MPIQ_MESSAGE_KINDS(X)                                                              \
    X(HELLO, "hello")   /* who the collector is and which ranks it found: hello.h */       \
    X(LOOKED, "looked") /* it has finished a look: "1 HASH…" (group_senders.h) or "2" */ \
    X(CHUNK, "chunk")   /* bytes of its snapshot */                                        \
    X(BYE, "bye")       /* the snapshot's length and hash: that was all */                 \
    X(FAIL, "fail")     /* a sentence: it gives up */

enum mpiq_host_message_kind {
#define MPIQ_ENUM(id, word) MPIQ_MESSAGE_##id,
    MPIQ_MESSAGE_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
        MPIQ_MESSAGE_KIND_COUNT
};

struct mpiq_host_message {
    unsigned version;
    uint64_t token;
    uint64_t number;
    enum mpiq_host_message_kind kind;
    const char *text; /* base64, within the line that was read */
    size_t length;
};

/* The line, ended by a line break, which the caller frees.  NULL without memory. */
char *mpiq_host_message_write(uint64_t token, uint64_t number, enum mpiq_host_message_kind kind,
                              const void *bytes, size_t length);

/* The next message between *at and end; moves *at past it.  False: there is none. *damaged counts text that
   begins like a message but is not a valid one. */
bool mpiq_host_message_next(const char **at, const char *end, struct mpiq_host_message *ret,
                            uint64_t *damaged);

#endif
