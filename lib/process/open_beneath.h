/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_beneath - opens a path beneath another root directory, that of a chroot or container.
 *
 * openat2(RESOLVE_IN_ROOT) does the same, but its flags are in memory, where a system-call filter cannot see
 * whether a file is opened for writing, so a confined reader (rank/confine.h) may not call it.
 */
#ifndef MPIQ_OPEN_BENEATH_H
#define MPIQ_OPEN_BENEATH_H

/* A descriptor (O_PATH, close-on-exec) of what path names if root is "/" for it and for every symbolic link
   on the way.  -1 with errno set on failure.  No "..", link or rename leads out of root. */
int mpiq_open_beneath(int root, const char *path);

#endif
