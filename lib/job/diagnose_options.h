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

/* Processor time of a thread between the looks that is more than what they cost it: it went round in MPI.
   Only what it got after the first look had ended at all ranks counts: what others did before they came to
   their waits is then there for it to find.  It has to have got as much in each half of that time: what one
   took in in the first, the other one noticed in the second. */
enum { MPIQ_POLLED_NS = 1000000 };

#endif
