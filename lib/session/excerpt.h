/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * excerpt - source lines of a job that runs here, for a page.
 *
 * A file is named by a program's debug information, so by whoever built it.  It is read only for processes of
 * the same user, in the same file system, and only where it is a regular file that is called like source code
 * and is not newer than the program.  A process of its own opens it: if that hangs or dies, there are no
 * lines.
 */
#ifndef MPIQ_SESSION_EXCERPT_H
#define MPIQ_SESSION_EXCERPT_H

#include "report/report.h"
#include "session/job.h"

/* An mpiq_excerpt_callback; context is the struct mpiq_job. */
bool mpiq_read_excerpt(void *context, uint32_t process, const char *file, int32_t line,
                       struct mpiq_excerpt *ret);

/* The name of the user whose processes are looked at: writes it to text and returns that; NULL where none of
   them runs here, or the name is not known. */
#define MPIQ_USER_ROOM 64
const char *mpiq_user_of(const struct mpiq_job *job, char text[static MPIQ_USER_ROOM]);

#endif
