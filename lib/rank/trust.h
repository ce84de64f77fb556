/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trust - whether a message-queue library that a process announces may be loaded: the process chooses that
 * code, and it would run with the rights of the mpiq user.
 */
#ifndef MPIQ_RANK_TRUST_H
#define MPIQ_RANK_TRUST_H

#include "process/target.h"

/*
 * NULL if target is a live process that may name code for us to run: the same user, in our own user, mount
 * and pid namespaces, and, if we have capabilities, with all that we have.  A process behind a wire counts
 * where the wire serves a live process of this machine.  Else PERMISSION with the reason.
 */
struct mpiq_error *mpiq_trust_process(struct mpiq_target *target);

/*
 * Opens a regular file at path for reading, once: what is checked is what the descriptor holds.  strict: it
 * and all directories above it belong to root or us, and nobody else can write them (directories with the
 * sticky bit may be written by all).  The caller closes *ret.  Errors: NOT_FOUND, PERMISSION.
 */
struct mpiq_error *mpiq_trust_open(const char *path, bool strict, int *ret);

#endif
