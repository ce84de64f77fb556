/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object_dirs - the directories where the programs and libraries that a core file names may be opened.
 *
 * A core may have come by mail, and its list of mapped files may name anything.  The directories are: where
 * systems keep objects (/usr, /lib, /opt, …), and the directories in MPIQ_OBJECT_DIRS, separated by colons;
 * without that variable, the user's home and the current directory.
 */
#ifndef MPIQ_OBJECT_DIRS_H
#define MPIQ_OBJECT_DIRS_H

#include <stdbool.h>

/* Whether path lies beneath one of them, or beneath the directory that the file `beside` is in (NULL: none).
 */
bool mpiq_object_dirs_hold(const char *path, const char *beside);

#endif
