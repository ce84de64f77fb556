/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poll_measure - the time between the looks: how much processor time each thread that waits in MPI got.
 *
 * If a thread polled in its wait after the first look and did not receive a message, the message was not
 * there.  So the processor time is measured from the end of the first look at all ranks to the beginning of
 * the second, with the kernel's counters alone, and in two halves (job/diagnose_options.h).  On a busy
 * machine a thread that wants the processor may get none in that time; then the second look waits a little
 * longer for it.
 */
#ifndef MPIQ_POLL_MEASURE_H
#define MPIQ_POLL_MEASURE_H

#include "session/sources.h"

struct mpiq_poll_measure_thread {
    size_t source; /* in the sources */
    int32_t tid;
    int64_t begin; /* processor time at the beginning of the half; -1: cannot be read */
    int64_t least; /* in the half in which it got less */
};

struct mpiq_poll_measure {
    struct mpiq_poll_measure_thread *threads;
    size_t count;
};

/* Whether, given the first look, a proof may need to know that a rank polled in its wait: with ranks that
   have ended or are about to, windows, non-blocking collectives, communicators that some members have freed,
   and everything known only from the recorder. */
bool mpiq_poll_measure_matters(const struct mpiq_look_sources *sources);

/* Call this when the first look has ended at all ranks of the job.  It waits that many seconds and, if
   patient, up to 1.5 more while a thread that wants the processor has not had enough of it. */
struct mpiq_error *mpiq_poll_measure_pass(const struct mpiq_look_sources *sources, double seconds,
                                          bool patient, struct mpiq_poll_measure *ret);
/* After the second look: notes what was measured in its rank states. */
void mpiq_poll_measure_note(const struct mpiq_poll_measure *between, struct mpiq_look_sources *sources);
void mpiq_poll_measure_deinit(struct mpiq_poll_measure *between);

#endif
