/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list - a walk along one of the library's circular lists, bounded by the list's own length and by our own
 * limit.
 */
#ifndef MQS_OMPI_LIST_H
#define MQS_OMPI_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"
#include "mpi_interface.h"

struct list_walk {
    mqs_taddr_t next;
    mqs_taddr_t end; /* the sentinel */
    size_t left;     /* items that may still come */
};

/* A list at `address`; ERROR_TOO_MANY if it says that it is longer than `limit`. */
int list_start(struct memory *memory, mqs_taddr_t address, size_t limit, struct list_walk *ret);

/* The next item, or mqs_end_of_list; ERROR_READ or ERROR_TOO_MANY for a corrupt one. */
int list_next(struct memory *memory, struct list_walk *walk, mqs_taddr_t *ret);

/* What is done with an item: it is read whole, and so says which one follows it.  Anything but mqs_ok ends
   the walk and is its result. */
typedef int (*list_visit)(struct memory *memory, void *argument, mqs_taddr_t item, mqs_taddr_t *next);

/* Visits the items of the list at `address` in turn; `corrupt` if it is longer than it says, or than `limit`.
 */
int list_visit_all(struct memory *memory, mqs_taddr_t address, size_t limit, int corrupt, list_visit visit,
                   void *argument);

/*
 * Finds cycles in a list that gives no length, in as many steps again as the cycle is long: an address is
 * remembered, and another one each time the steps have doubled (Brent).  A zeroed one is at the start.
 */
struct cycle {
    mqs_taddr_t remembered;
    size_t steps;
    size_t power;
};

/* False if `next`, where the walk goes now, has been passed before. */
bool cycle_check(struct cycle *cycle, mqs_taddr_t next);

#endif
