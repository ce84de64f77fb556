/* SPDX-License-Identifier: BSD-3-Clause */
/* needs - what each of a process's objects is called, loads and defines. */
#ifndef MPIQ_NEEDS_H
#define MPIQ_NEEDS_H

#include "process/module.h"

/* What the target's slot `objects` promises. */
struct mpiq_error *mpiq_modules_objects(struct mpiq_modules *modules, const char *const *symbols,
                                        struct mpiq_target_object **ret, size_t *count);

#endif
