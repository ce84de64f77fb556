/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check - mpiq run --check: the ranks that wait in MPI_Finalize until they have been read.
 *
 * They connect to a socket in a directory made by mpiq (mode 0700).  What they say is used only to decide
 * when to look.  If mpiq ends, their connections end and they continue.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdbool.h>

struct check;

/* Begins to listen, and sets the variable that tells the recorder where.  NULL, having said why. */
struct check *check_start(void);
/* Takes in those who have come; whether anybody is paused, and whether all of a world are. */
bool check_any(struct check *check);
bool check_all(struct check *check);
/* Lets all go that are paused. */
void check_release(struct check *check);
/* NULL is fine. */
void check_end(struct check *check);

#endif
