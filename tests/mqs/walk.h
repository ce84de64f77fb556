/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * walk - asks the linked-in DLL for everything that the interface and the extension give, as a debugger
 * does that shows all of it.
 */
#ifndef WALK_H
#define WALK_H

#include <stdint.h>

#include "made_up.h"

/* One look at an opened process; the first code that is neither mqs_ok, mqs_end_of_list nor
   mqs_no_information, else mqs_ok.  Goes on after an error, with what can still be asked. */
int walk_all(struct made_up *made_up);

/* The same through the Forum's functions alone. */
int walk_forum(struct made_up *made_up);

/* A hash of all that the last walk was told: codes, operations, groups, waits. */
uint64_t walk_told(void);

#endif
