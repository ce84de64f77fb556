/* SPDX-License-Identifier: BSD-3-Clause */
/* index - how the arrays of a job state (job_state.h) refer to each other. */
#ifndef MPIQ_INDEX_H
#define MPIQ_INDEX_H

#include <stdint.h>

#define MPIQ_NONE UINT32_MAX /* of an index */

/* A string of the job, in `strings`; 0 is NULL: not known.  See mpiq_job_string. */
typedef uint32_t mpiq_string_id;

#endif
