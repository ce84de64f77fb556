/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug_file - finds the separate debug file of an object: by build-id, by .gnu_debuglink, from debuginfod.
 */
#ifndef MPIQ_DEBUG_FILE_H
#define MPIQ_DEBUG_FILE_H

#include "target/object.h"

/* A descriptor of the debug file, which the caller closes; -1 if there is none. */
int mpiq_debug_file_find(struct mpiq_object *object);

#endif
