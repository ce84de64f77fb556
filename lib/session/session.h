/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session - one job that somebody looks at, once or again and again: where its ranks are, and the processes
 * that read them.  Behind mpiq.h's struct mpiq_session.
 *
 * Readers and their helpers live from look to look, so that what they have opened and parsed need not be
 * opened and parsed again.  Each look is made of two (docs/ARCHITECTURE.md, "Two looks"), and stands for
 * itself: nothing that an earlier one has read enters it.  It leaves to others: what a look means (job.c).
 */
#ifndef MPIQ_SESSION_H
#define MPIQ_SESSION_H

#include "mpiq.h"
#include "session/job.h"

/* Tells the session that all ranks of the job are on this host.  If it finds none, they have ended, and it
   does not ask their launcher for others: that is ending too. */
void mpiq_session_all_here(struct mpiq_session *session);

/* Looks at all ranks twice.  The states go to *ret, which the caller destroys; its job state and diagnosis
   are not made yet (mpiq_job_decide).  GONE if all ranks of a running job have ended. */
struct mpiq_error *mpiq_session_read(struct mpiq_session *session, struct mpiq_job **ret);

#endif
