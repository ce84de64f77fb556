/* SPDX-License-Identifier: BSD-3-Clause */
/* program_path - finds mpiq's own files: beside the running program, where it is installed or was built. */
#ifndef MPIQ_RANK_PROGRAM_PATH_H
#define MPIQ_RANK_PROGRAM_PATH_H

#include "base/error.h"

/*
 * The file that `variable` of our environment names, else the first that exists of
 *   DIR/NAME, DIR/../INSTALLED/NAME, and BUILT/NAME under DIR and its parents (a build tree),
 * DIR being where the running program is.  A file that is not root's or our own is passed over.  The
 * caller frees *ret; NOT_FOUND names the file and the variable.
 */
struct mpiq_error *mpiq_program_path(const char *variable, const char *name, const char *installed,
                                     const char *built, char **ret);

#endif
