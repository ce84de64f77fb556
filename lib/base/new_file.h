/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_file - how mpiq writes every file: under a temporary name in the same directory, with mode 0600, and
 * renamed when complete.  Nobody sees a partial file, and nothing in the way is written through: a symbolic
 * link, a device, a FIFO or a directory there is an error.
 */
#ifndef MPIQ_BASE_NEW_FILE_H
#define MPIQ_BASE_NEW_FILE_H

#include <stdio.h>

#include "base/error.h"

struct mpiq_new_file {
    FILE *stream; /* to be written to; NULL after the end */
    char *path;
    char *temporary;
};

/* USAGE if what is at path is no file. */
struct mpiq_error *mpiq_new_file_create(const char *path, struct mpiq_new_file *ret);
/* Puts it in its place, or fails and leaves nothing. */
struct mpiq_error *mpiq_new_file_finish(struct mpiq_new_file *file);
/* Leaves nothing of it.  Does nothing after the end, and to one that is all zeros. */
void mpiq_new_file_abandon(struct mpiq_new_file *file);

#endif
