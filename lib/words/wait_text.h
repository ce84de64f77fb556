/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_text - what a rank, or a class of ranks, waits for, in words.
 *
 * The text is made from the data (struct mpiq_waits_for); nothing here parses a sentence that another part
 * wrote.
 */
#ifndef MPIQ_WORDS_WAIT_TEXT_H
#define MPIQ_WORDS_WAIT_TEXT_H

#include "words/put.h"

enum mpiq_wait_form {
    MPIQ_WAIT_EXACT,    /* "tag 7 from rank 3" */
    MPIQ_WAIT_NUMBERED, /* and "MPI_Ibcast (collective 6)": of one rank, others may have numbered it otherwise
                         */
    MPIQ_WAIT_RELATIVE  /* "tag 7 from rank r+1": alike for all ranks that wait for their neighbour */
};

/* What completes "waits for": "tag 99 from rank 63", "ranks 0 and 2 to enter it", "rank 4 to receive tag 3
   (1 MiB)".  `process` waits, in `call` (NULL: not known).  Nothing for NULL. */
void mpiq_put_wait(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                   const struct mpiq_waits_for *wait, const char *call, uint32_t process,
                   enum mpiq_wait_form form);

/* One part of it in a word or two, for an edge of a picture: "tag 7", "MPI_Bcast". */
void mpiq_put_part_label(struct mpiq_buffer *buffer, const struct mpiq_wait_part *part, const char *call);

/* The last column of a line of evidence: what its ranks wait for, where that was started, and its note. */
void mpiq_put_evidence_detail(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                              const struct mpiq_evidence *evidence);

#endif
