/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callbacks - the DLL's one global pointer, to the debugger's basic callbacks, and memory allocation through
 * them.
 */
#ifndef MQS_CALLBACKS_H
#define MQS_CALLBACKS_H

#include <stddef.h>

#include "mpi_interface.h"

void callbacks_set(const mqs_basic_callbacks *callbacks);

/* NULL before mqs_setup_basic_callbacks. */
const mqs_basic_callbacks *callbacks_basic(void);

/* Zeroed memory of the debugger's, or NULL; count times size is checked. */
void *heap_allocate(size_t count, size_t size);

/* NULL is fine. */
void heap_free(void *memory);

#endif
