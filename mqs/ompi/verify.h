/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify - checks of a layout against the process: sizes of classes, and contents that every process has.
 *
 * Each check is about one structure, and applies to what the layout contains when it is made.
 */
#ifndef MQS_OMPI_VERIFY_H
#define MQS_OMPI_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "layout.h"
#include "memory.h"

enum verify_result {
    VERIFY_PASSED,
    VERIFY_FAILED,
    VERIFY_ABSENT /* the class is not there, or its memory cannot be read */
};

/* The classes, in an order in which each comes behind what it depends on. */
size_t verify_classes(void);
const char *verify_class_structure(size_t index);
enum layout_slot verify_class_slot(size_t index);

/* Whether all processes with queues have it loaded. */
bool verify_class_is_needed(size_t index);

/* Compares the size that the library's class object says.  What differs is put into `check`, which may be
   NULL. */
enum verify_result verify_class(struct memory *memory, size_t index, char *check, size_t size);

/* The known contents, likewise ordered. */
size_t verify_contents(void);
const char *verify_content_structure(size_t index);
enum layout_slot verify_content_slot(size_t index);

/* The first check that fails, static; NULL if all pass or cannot be made (the structure is not in the layout,
   or the process has no such object). */
const char *verify_content(struct memory *memory, size_t index);

#endif
