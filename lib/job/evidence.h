/* SPDX-License-Identifier: BSD-3-Clause */
/* evidence - the lines under a finding: classes of ranks that do the same, each with what it waits for. */
#ifndef MPIQ_EVIDENCE_H
#define MPIQ_EVIDENCE_H

#include "job/find.h"

/* Adds a process to its class, by the thread that a finding is about (MPIQ_NONE: the one that represents the
   rank) and the operation it is about (MPIQ_NONE: the one that the thread waits for). */
void mpiq_add_evidence(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process,
                       uint32_t thread, uint32_t operation);

/* Adds all of a set whom the finding is not about already. */
void mpiq_add_evidence_of(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                          const struct mpiq_rank_set *set);

/* Once all findings are there: fills `wait`, `started` and the remarks of all evidence, and what findings
   about messages say of their peer. */
void mpiq_finish_evidence(struct mpiq_analysis *analysis);
/* At last: adds those threads beside the ones in MPI that wait for another thread of
   their rank (a mutex, a join; of the main thread, any such wait) to the evidence of the causes. */
void mpiq_add_other_threads(struct mpiq_analysis *analysis);

/* Takes in one more rank and its peer in that communicator. */
void mpiq_relation_add(const struct mpiq_job_state *job, struct mpiq_relation *relation, uint32_t process,
                       uint32_t comm, uint32_t peer, int32_t peer_local);
/* Takes in what another set of ranks and its peers have in common. */
void mpiq_relation_merge(struct mpiq_relation *into, const struct mpiq_relation *from);
/* The rank of a process in a communicator; -1: not known. */
int32_t mpiq_local_rank(const struct mpiq_job_state *job, uint32_t process, uint32_t comm);

/* Whether two communicators are one, or alike: of the same name, as each row of a grid is. */
bool mpiq_same_communicator(const struct mpiq_job_state *job, uint32_t a, uint32_t b);

#endif
