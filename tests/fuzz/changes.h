/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * changes - what an input changes in the memory of a made-up process, and what the DLL and mpiq's helper then
 * do with it.
 *
 * A change has ten bytes: where (4, as an index into all bytes of the process), what (1), how wide (1), value
 * (4).  What and how wide mean something else to each fuzzer.
 */
#ifndef FUZZ_CHANGES_H
#define FUZZ_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "mqs/made_up.h"

struct changes {
    uint64_t (*value)(const struct made_up *made_up, unsigned what, uint32_t value);
    int widths[8]; /* in bytes */
};

/* A value that breaks things: of kinds 0 to 3 an extreme one, of all others the value itself. */
uint64_t change_extreme(unsigned kind, uint32_t value);

/* Makes the changes of an input, the first 64 of them. */
void changes_make(const struct changes *changes, struct made_up *made_up, const uint8_t *data, size_t size);
void changes_undo(struct made_up *made_up);

/* The work on a made-up process, of which each fuzzer does one as FUZZ_WORK. */

/* Has the DLL read the process twice, and ends the program if it leaks, holds more than 64 MiB or computes
   for more than a second.  The code of the first time. */
int changes_read_twice(struct made_up *made_up);

/* Has the helper read the process with the DLL, and ends the program if mpiq refuses the rank state that the
   helper sends (it would show nothing of the rank), or if the state changes once more when it is written and
   read again.  mqs_no_information if the state says that something could not be read. */
int changes_look(struct made_up *made_up);

#endif
