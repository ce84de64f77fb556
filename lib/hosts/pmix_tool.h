/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_tool - asks a launcher that speaks PMIx where its ranks are.
 *
 * A separate process does this, with the launcher's PMIx library: whatever the library does (threads, signal
 * handlers, files, a crash, an endless wait) ends with that process.
 */
#ifndef MPIQ_PMIX_TOOL_H
#define MPIQ_PMIX_TOOL_H

#include <sys/types.h>

#include "base/error.h"

/*
 * The ranks of the launcher's first job that has any, or of the one called nspace, if that is not NULL: JSON
 * as rank/proctable.h describes it, and the job's "nspace"; the caller frees it.  The launcher must be ours.
 * UNSUPPORTED: it has loaded no PMIx library that we may load; TIMEOUT; STARTING: it has no such job, or not
 * yet.
 */
struct mpiq_error *mpiq_pmix_table(pid_t launcher, const char *nspace, char **ret);

#endif
