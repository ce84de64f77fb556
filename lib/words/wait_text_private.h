/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_text_private - the words for parts of a wait, which wait_text.c and evidence_text.c share. */
#ifndef MPIQ_WORDS_WAIT_TEXT_PRIVATE_H
#define MPIQ_WORDS_WAIT_TEXT_PRIVATE_H

#include "words/wait_text.h"

/* Whose wait is told, and how. */
struct mpiq_teller {
    const struct mpiq_job_state *job;
    struct mpiq_buffer *out;
    const char *call;
    uint32_t process;
    enum mpiq_wait_form form;
};

/* Whether that is the call that waits. */
bool mpiq_tells_of(const struct mpiq_teller *t, const char *name);
/* "rank r+1". */
void mpiq_tell_offset(struct mpiq_buffer *out, int64_t offset);
/* "rank 3", "rank r+1", "any rank": the other side of a message. */
void mpiq_tell_peer(const struct mpiq_teller *t, const struct mpiq_wait_part *part);
/* "tag 7". */
void mpiq_tell_tag(const struct mpiq_teller *t, const struct mpiq_wait_part *part);
/* "tag 7 from rank 3", with what is known besides. */
void mpiq_tell_receive(const struct mpiq_teller *t, const struct mpiq_wait_part *part);
/* A collective by the caller's code alone: "on rows, root 2, 100 MPI_DOUBLE". */
void mpiq_tell_given_collective(const struct mpiq_teller *t, const struct mpiq_wait_part *part);
/* " (the other request is done)". */
void mpiq_tell_done(struct mpiq_buffer *out, const struct mpiq_waits_for *wait);

#endif
