/* SPDX-License-Identifier: BSD-3-Clause */
/* remains_core - makes a core file of the memory file that a rank has left. */
#ifndef MPIQ_SESSION_REMAINS_CORE_H
#define MPIQ_SESSION_REMAINS_CORE_H

#include "base/error.h"
#include "mpiq_record.h"
#include "process/core_end.h"

/* Reads the recorder's root; false: there is none that makes sense.  Untrusted, but arena_used is within the
   file, and magic and versions are right. */
bool mpiq_remains_root(int file, struct mpiq_record_root *ret);
/* Writes the beginning of the file: headers, threads, mapped files, and how the process ended.  What the rank
   wrote stays where it is, so nothing is copied. */
struct mpiq_error *mpiq_remains_make_core(int file, const struct mpiq_record_root *root,
                                          const struct mpiq_core_end *end);

#endif
