/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_activity - what each rank does, before asking why: blocked, polling, computing, asleep, stopped, gone.
 */
#ifndef MPIQ_RANK_ACTIVITY_H
#define MPIQ_RANK_ACTIVITY_H

#include "state/finding.h"
#include "state/job_state.h"

/* Fills activity, thread, call, since, site, comm, number, beside and last of all ranks. */
void mpiq_rank_activities(const struct mpiq_job_state *job, struct mpiq_diagnosis *diagnosis);

/* Whether only a thread of its own process can wake that thread: it was in a private futex without a timeout,
   or waited for another thread to end, from the first look to the second. */
bool mpiq_thread_waits_for_own(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread);

/* Whether that thread is assumed to wait for another thread of its process, although this could not be read:
   by the name of the call it sleeps in, while a thread of its rank is blocked in MPI.  Waits with a timeout
   do not count: a thread that wakes by itself may then call MPI, even for the first time. */
bool mpiq_thread_taken_idle(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                            const struct mpiq_job_thread *thread);

/* Whether that thread polls: it is in MPI_Test, MPI_Iprobe or a similar call, or sleeps briefly between two
   such calls, and its rank made no progress between the looks. */
bool mpiq_thread_polls(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                       const struct mpiq_job_thread *thread);

/* Whether that thread may call MPI while another one of its rank is blocked in it. */
bool mpiq_thread_may_act(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread);

/* Whether that thread is outside MPI and may yet bring its rank on: by calling MPI, or by what it works out
   for another one that polls there. */
bool mpiq_thread_may_help(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                          const struct mpiq_job_thread *thread);

/* Whether that thread was asleep all the time between the looks, but for what the looks themselves cost it,
   and not in one of MPI's waits. */
bool mpiq_thread_sleeps(const struct mpiq_job_thread *thread);

/* Whether that thread is outside MPI and did not sleep all the time, but is asleep now and took little of the
   processor: one that looks for something now and then.  One that computes on a busy machine is not asleep.
 */
bool mpiq_thread_dozes(const struct mpiq_job_rank *rank, const struct mpiq_job_thread *thread);

/* The thread of the same rank, in threads, that has the mutex or the interpreter's lock for which that thread
   sleeps outside MPI; MPIQ_NONE. */
uint32_t mpiq_lock_owner(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread);

/* The other process of the job that has the lock on a file, or the mutex in shared memory, for which that
 thread sleeps outside MPI; MPIQ_NONE. *sure: nothing else can end that sleep, and it lasted from the first
 look to the second. */
uint32_t mpiq_lock_holder(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                          const struct mpiq_job_thread *thread, bool *sure);

/* Seconds that a rank's thread is in its innermost wait; -1 not known. */
double mpiq_waited(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                   const struct mpiq_job_thread *thread);

#endif
