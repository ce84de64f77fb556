/* SPDX-License-Identifier: BSD-3-Clause */
/* diagnose_options - the input of a diagnosis beside the job state, and what has to be measured for it. */
#ifndef MPIQ_DIAGNOSE_OPTIONS_H
#define MPIQ_DIAGNOSE_OPTIONS_H

/* All in seconds. */
struct mpiq_diagnose_options {
    double stall_after; /* a job without progress for longer is stalled; 0: MPIQ_STALL_AFTER */
    double watched; /* how long this job was watched before the last look; 0: two looks are all there is */
    double still;   /* for how long of that, up to the last look, nothing moved at all */
};
#define MPIQ_STALL_AFTER 60.0

/* The least processor time between the looks that shows that a thread polled in MPI: more than the looks
   themselves cost it.  Only time after the first look had ended at all ranks counts, because by then
   everything that other ranks did before their waits is there to be found.  The thread must get this much in
   each half of the interval: what one rank took in during the first half, another can notice in the second.
   */
enum { MPIQ_POLLED_NS = 1000000 };

#endif
