/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * say - the sentences of a diagnosis, by subject; private to lib/words.
 *
 * All strings belong to the arena.  Unless a function says otherwise it never returns NULL: without memory
 * the text is "…".
 */
#ifndef MPIQ_SAY_PRIVATE_H
#define MPIQ_SAY_PRIVATE_H

#include "state/finding.h"
#include "words/phrases.h"

/* What all sentences are made from. */
struct mpiq_speaker {
    const struct mpiq_job_state *job;
    const struct mpiq_diagnosis *diagnosis;
    struct mpiq_arena *arena;
    bool failed; /* an allocation failed */
};

static inline bool mpiq_is_plural(const struct mpiq_rank_set *set)
{
    return set->size != 1;
}

/* The sentence of a finding of that kind. */
const char *mpiq_say_incomplete(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_left(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_overlap(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_message(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_truncation(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_polling(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_leak(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_backlog(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_circle(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_behaviour(struct mpiq_speaker *s, const struct mpiq_finding *finding);
/* say_failed.c.  A call, in past_calls, that returned an error: "<whose>MPI_Send at x.c:7 main returned
   MPI_ERR_TAG". */
const char *mpiq_say_error(struct mpiq_speaker *s, uint32_t failed, const char *whose);
const char *mpiq_say_failed(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_lock(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_window(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_stacks(struct mpiq_speaker *s, const struct mpiq_finding *finding);

const char *mpiq_say_differing(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_arguments(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_end(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_not_freed(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_lost(struct mpiq_speaker *s, const struct mpiq_finding *finding);
const char *mpiq_say_types(struct mpiq_speaker *s, const struct mpiq_finding *finding);
/* Of any kind whose calls at the job's end disagree. */
const char *mpiq_say_sides(struct mpiq_speaker *s, const struct mpiq_finding *finding);

const char *mpiq_say_verdict(struct mpiq_speaker *s);
const char *mpiq_say_note(struct mpiq_speaker *s, const struct mpiq_note *note);
const char *mpiq_say_known_hang(struct mpiq_speaker *s, const struct mpiq_hang_match *match);

/* What a line of evidence says of the end of its ranks; NULL: nothing. */
const char *mpiq_say_own_end(struct mpiq_speaker *s, const struct mpiq_evidence *evidence);

/* A value's name, or its number; type: of a count, NULL. */
const char *mpiq_say_value(struct mpiq_speaker *s, const char *name, int64_t number, const char *type);

/* The remark on a line of evidence; NULL: there is none. */
const char *mpiq_say_remark(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                            const struct mpiq_evidence *evidence);

/* What a rank does, after its name and "it" or "they": "has waited 3 h 12 m at solver.c:71 for …". */
/* Which program traces those ranks: "gdb (pid 812)", of several that have one each "gdb"; "a debugger". */
const char *mpiq_say_tracer(struct mpiq_speaker *s, const struct mpiq_rank_set *ranks);
/* What a rank sleeps in, and for what: "in read(), from sort (pid 4711)"; NULL: not known, or its wait says
 * it. */
const char *mpiq_say_sleep(struct mpiq_speaker *s, uint32_t process);
const char *mpiq_say_does(struct mpiq_speaker *s, uint32_t process, bool plural);

/* "tag 99 from rank 63": what completes "waits for", of a process in that call (NULL: not known); "" for
 * NULL. */
const char *mpiq_say_wait(struct mpiq_speaker *s, const struct mpiq_waits_for *wait, const char *call,
                          uint32_t process);
/* The same of the one operation of it, or of its first part where it does not list that. */
const char *mpiq_say_wait_for(struct mpiq_speaker *s, const struct mpiq_waits_for *wait, const char *call,
                              uint32_t process, uint32_t operation);

/* "rank 3", "rank r-1", "rank r-1 (modulo 24)"; NULL: the peers have nothing in common. */
const char *mpiq_say_peer(struct mpiq_speaker *s, const struct mpiq_relation *relation, bool any);

#endif
