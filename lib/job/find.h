/* SPDX-License-Identifier: BSD-3-Clause */
/* find - findings of each subject, from the reduced graph and its explanation; private to lib/job. */
#ifndef MPIQ_FIND_H
#define MPIQ_FIND_H

#include "job/diagnose_options.h"
#include "job/explain.h"
#include "job/graph.h"
#include "state/arena.h"

/* Who has not come to a collective call. */
struct mpiq_pending {
    uint32_t comm;
    uint32_t window;
    int collective;
    int64_t number;
    struct mpiq_ranks ranks;
};

enum { MPIQ_MOST_PENDING = 64 };

/* What the functions below share. */
struct mpiq_analysis {
    const struct mpiq_job_state *job;
    const struct mpiq_wait_graph *graph;
    const struct mpiq_explanation *explanation;
    struct mpiq_diagnosis *diagnosis;
    struct mpiq_arena *arena; /* the diagnosis's */
    struct mpiq_diagnose_options options;
    struct mpiq_pending pending[MPIQ_MOST_PENDING];
    uint32_t pending_count;
    uint32_t lock; /* node of the lock that lock_ranks hold; 0: none yet */
    struct mpiq_ranks lock_ranks;
    bool failed; /* an allocation failed */
};

/* No more findings of one kind than these: the rest would say the same of other ranks. */
enum {
    MPIQ_MOST_FINDINGS = 16,
    MPIQ_MOST_SITES = 16,
    MPIQ_MOST_STEPS = 100,
    MPIQ_MOST_EVIDENCE = 8,
    MPIQ_MOST_EVIDENCE_OF_END = 64
};

/* find_failed.c.  Collectives in which some wait for a rank whose call failed; before all others. */
void mpiq_find_failed_collectives(struct mpiq_analysis *analysis);
/* Of findings about one message: the call for its other end that failed. */
void mpiq_find_failed_messages(struct mpiq_analysis *analysis);
/* Once the evidence is finished: remarks on lines of one rank of which alone a call failed. */
void mpiq_note_failures(struct mpiq_analysis *analysis);
/* find_tags.c, for mpiq_find_collectives, which leaves out calls of which this has said all. */
void mpiq_find_tags(struct mpiq_analysis *analysis);
void mpiq_find_collectives(struct mpiq_analysis *analysis);
void mpiq_find_messages(struct mpiq_analysis *analysis);
void mpiq_find_cycles(struct mpiq_analysis *analysis);
void mpiq_find_truncations(struct mpiq_analysis *analysis);
void mpiq_find_overlaps(struct mpiq_analysis *analysis);
void mpiq_find_windows(struct mpiq_analysis *analysis);
void mpiq_find_locks(struct mpiq_analysis *analysis);
void mpiq_find_polling(struct mpiq_analysis *analysis);
void mpiq_find_ranks(struct mpiq_analysis *analysis);
/* Of ranks of which nothing but stacks is known: who is in a call that waits for others is blocked. */
void mpiq_note_stack_waits(struct mpiq_analysis *analysis);
void mpiq_find_stacks(struct mpiq_analysis *analysis);
/* That one rank, in the arena; none for MPIQ_NONE. */
struct mpiq_ranks mpiq_one_rank(struct mpiq_analysis *analysis, uint32_t process);
/* Whether a rank's communicators are known and its messages are not: the library leaves them to another one.
 */
bool mpiq_is_blind(const struct mpiq_job_rank *rank);
void mpiq_find_leftovers(struct mpiq_analysis *analysis);
/* The verdict, from the findings and what each rank does; then what the answer rests on. */
void mpiq_find_verdict(struct mpiq_analysis *analysis);
void mpiq_find_assumptions(struct mpiq_analysis *analysis);
void mpiq_find_notes(struct mpiq_analysis *analysis);
void mpiq_find_known_hangs(struct mpiq_analysis *analysis);
void mpiq_find_strangers(struct mpiq_analysis *analysis);

/* find_end.c: whether the job has ended, and nothing but records is left of its ranks; of such a job which
   rank ended first, and by what. */
bool mpiq_has_ended(const struct mpiq_job_state *job);
void mpiq_find_end(struct mpiq_analysis *analysis);

/* How a rank ended, in the diagnosis's memory; NULL without memory. */
const struct mpiq_ending *mpiq_describe_end(struct mpiq_analysis *analysis, const struct mpiq_job_rank *rank);

/* check.c: of a job at its end (mpiq_is_at_end), what its ranks did and left undone.
   check_messages.c and check_collectives.c do their share. */
void mpiq_find_check(struct mpiq_analysis *analysis);
void mpiq_check_messages(struct mpiq_analysis *analysis);
void mpiq_check_collectives(struct mpiq_analysis *analysis);
/* check_fact.c.  The ranks of a finding's site: made for that fact's call and place if need be. */
void mpiq_check_site(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                     const struct mpiq_job_fact *fact);
/* In communicators; MPIQ_NONE for one that has been freed. */
uint32_t mpiq_check_comm_index(const struct mpiq_analysis *analysis, const struct mpiq_job_fact *fact);
/* Of that fact's rank. */
uint32_t mpiq_check_process(const struct mpiq_analysis *analysis, const struct mpiq_job_fact *fact);

/* Arguments and classes of the calls with one running number, and of those shortly before it, that do not fit
   together.  True: it explains why members wait in it. */
bool mpiq_find_mismatches(struct mpiq_analysis *analysis, uint32_t comm, int64_t number, bool proven);

/* Who is in a call with a tag that others in it must give, too. */
struct mpiq_tagged_call {
    uint32_t process;
    int64_t tag;
};

/* A finding of calls that belong together and were given different tags.  comm: MPIQ_NONE if they are of
   several communicators. */
void mpiq_add_tag_mismatch(struct mpiq_analysis *analysis, int collective, uint32_t comm, bool proven,
                           const struct mpiq_tagged_call *calls, uint32_t count);

/* Of a finding about a call that all members have entered: true makes it one about members that cannot leave
   it although the others have left.  False: it says nothing. */
bool mpiq_find_left(struct mpiq_analysis *analysis, struct mpiq_finding *finding);

/* find_passed.c.  Of a call that nobody counts: true if all who are missing from it have left it out, who are
   then to look at.  A message of that call lies unreceived at each, and whoever sent it is past the call. */
bool mpiq_find_passed(struct mpiq_analysis *analysis, struct mpiq_finding *finding);

/* The same by what the callers' code says of the calls that these threads are in, where no number joins them:
   all are in that collective on that communicator. */
bool mpiq_find_given_mismatch(struct mpiq_analysis *analysis, uint32_t comm, int collective,
                              const uint32_t *threads, uint32_t count, bool proven);

/* The members that have not come to that call, by the finding about it or by their running numbers; empty for
   more calls than MPIQ_MOST_PENDING.  comm MPIQ_NONE: MPI_Init, MPI_Finalize.  window: mpiq_counted_window's.
 */
struct mpiq_ranks mpiq_pending_members(struct mpiq_analysis *analysis, uint32_t comm, uint32_t window,
                                       int collective, int64_t number);

/* analysis.c, for all of them.  Adds a process to a set; notes where memory ends. */
void mpiq_analysis_add(struct mpiq_analysis *analysis, struct mpiq_rank_set *set, uint32_t process);
/* Adds a process's call and place to the finding's sites: of that thread, or of the one that speaks for the
   rank (MPIQ_NONE). */
void mpiq_analysis_site(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process,
                        uint32_t thread);
/* The longer of what the finding says already and how long that thread has waited. */
void mpiq_analysis_since(const struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process,
                         uint32_t thread);
/* Whether a process is stuck, by any of its threads. */
bool mpiq_analysis_stuck(const struct mpiq_analysis *analysis, uint32_t process);
/* Whether a process is in MPI_Finalize or past it. */
bool mpiq_has_left(const struct mpiq_analysis *analysis, uint32_t process);
/* Whether a receive that is posted takes that message anyhow. */
bool mpiq_is_taken(const struct mpiq_analysis *analysis, uint32_t message);
/* Ranks of a set, copied into the arena. */
struct mpiq_ranks mpiq_arena_ranks(struct mpiq_analysis *analysis, const struct mpiq_rank_set *set);

#endif
