/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnose_options - the input of a diagnosis beside the job state. */
#ifndef MPIQ_DIAGNOSE_OPTIONS_H
#define MPIQ_DIAGNOSE_OPTIONS_H

/* All in seconds. */
struct mpiq_diagnose_options {
    double stall_after; /* a job without progress for longer is stalled; 0: MPIQ_STALL_AFTER */
    double watched; /* how long this job was watched before the last look; 0: two looks are all there is */
    double still;   /* for how long of that, up to the last look, nothing moved at all */
};
#define MPIQ_STALL_AFTER 60.0

#endif
