/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window - the windows of one-sided communication that a patched library records: open epochs, and locks
 * held or requested.
 */
#ifndef MQS_OMPI_WINDOW_H
#define MQS_OMPI_WINDOW_H

#include <stdbool.h>

#include "library.h"
#include "list.h"
#include "mqs_extensions.h"

struct windows {
    bool set_up;
    bool in_window; /* one was returned: the members below are of it */
    mqs_taddr_t next;
    size_t left;
    struct cycle cycle;
    mqs_taddr_t group;
    mqs_taddr_t exposure_group;
    mqs_taddr_t access_group;
    mqs_taddr_t locks;
    uint32_t lock_count;
};

/* mqs_no_information where the library keeps no such records. */
int windows_set_up(struct library *library, struct windows *windows);
int windows_next(struct library *library, struct windows *windows, mqs_window *ret);

/* Of the window that was returned last; see mqs_extensions. */
int windows_locks(struct library *library, const struct windows *windows, int room, mqs_window_lock *ret,
                  int *count);
int windows_group(struct library *library, const struct windows *windows, bool exposure, int room, int *ret,
                  int *count);

/* The library's window that a wait names by its record, 0 if it is none. */
mqs_taddr_t window_of_record(struct library *library, mqs_taddr_t record);

#endif
