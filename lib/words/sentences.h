/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sentences - a diagnosis and a chain put into words: all that lib/job found and did not say.
 *
 * Everything is made from the job state and the fields of the diagnosis.  What is written belongs to the
 * arena of the diagnosis or the chain.
 */
#ifndef MPIQ_SENTENCES_H
#define MPIQ_SENTENCES_H

#include "base/error.h"
#include "state/finding.h"

/* Writes the texts of a diagnosis.  Fails only on allocation failure. */
struct mpiq_error *mpiq_write_sentences(const struct mpiq_job_state *job, struct mpiq_diagnosis *diagnosis);
/* The same of a chain of that diagnosis. */
struct mpiq_error *mpiq_write_chain(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                                    struct mpiq_chain *chain);

#endif
