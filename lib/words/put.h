/* SPDX-License-Identifier: BSD-3-Clause */
/* put - the words that all views share, added to a buffer. */
#ifndef MPIQ_WORDS_PUT_H
#define MPIQ_WORDS_PUT_H

#include "base/buffer.h"
#include "base/escape.h"
#include "state/finding.h"
#include "state/job_state.h"

/* Ranges that a line of text spells out. */
#define MPIQ_MOST_RANGES 8

/* Each of these adds to a buffer, nothing where there is nothing to say. */
/* Escaped for where it is shown (base/escape.h); plain is for a terminal: ASCII. */
void mpiq_put_escaped(struct mpiq_buffer *buffer, enum mpiq_escape format, const char *string);
void mpiq_put_plain(struct mpiq_buffer *buffer, const char *string);
/* A text as a sentence: a capital at its beginning, a full stop at its end. */
void mpiq_put_sentence(struct mpiq_buffer *buffer, const char *text);
/* A full stop, unless the text so far ends in one or in another mark. */
void mpiq_put_full_stop(struct mpiq_buffer *buffer);
/* A communicator's name in a sentence: in quotes if the user chose it.  Nothing for MPIQ_NONE. */
void mpiq_put_communicator(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t comm);
/* " on COMMUNICATOR"; nothing for the first world's, which goes without saying, or for none. */
void mpiq_put_on(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t comm);
/* "3 h 12 m"; nothing for less than 0: not known. */
void mpiq_put_duration(struct mpiq_buffer *buffer, double seconds);
/* "last MPI call MPI_Send, 3.2 s ago", of ranks outside MPI; nothing where it is not known. */
void mpiq_put_last_call(struct mpiq_buffer *buffer, const struct mpiq_last_call *last);
/* "0-3,7", at most `most` ranges spelled out (0: all). */
void mpiq_put_ranks(struct mpiq_buffer *buffer, const struct mpiq_rank_set *set, uint32_t most);
/* "rank 1", "ranks 0-3". */
void mpiq_put_who(struct mpiq_buffer *buffer, const struct mpiq_rank_set *set, uint32_t most);
/* "rank 3", "ranks 0 and 2", "ranks 0-4,7". */
void mpiq_put_ranks_named(struct mpiq_buffer *buffer, const struct mpiq_ranks *ranks);
/* "4 bytes", "1 MiB"; nothing for less than 0: not known. */
void mpiq_put_size(struct mpiq_buffer *buffer, int64_t bytes);
/* "3", of another world "w1:3". */
void mpiq_put_process(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t process);
/* "solver.c:88 step", "step in a.out": what is known; file is cut to its last component. */
void mpiq_put_place(struct mpiq_buffer *buffer, const char *file, int32_t line, const char *function,
                    const char *object);
void mpiq_put_site(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, uint32_t site);
/* "MPI_Bcast (collective 6 on rows)": a call and its running number (0: none, or not known); MPI_COMM_WORLD
   goes without saying. */
void mpiq_put_numbered(const struct mpiq_job_state *job, struct mpiq_buffer *buffer, const char *call,
                       int64_t number, uint32_t comm);
/* The same of the call that a rank is in. */
void mpiq_put_call(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                   const struct mpiq_rank_diagnosis *rank);
/* "1 rank", "3 ranks": noun is the singular of one that takes an s. */
void mpiq_put_count(struct mpiq_buffer *buffer, uint64_t count, const char *noun);

/* A communicator's context id: "5", or "2:5" where it has two parts. */
void mpiq_put_context(struct mpiq_buffer *buffer, const struct mpiq_job_communicator *comm);

/* Words of enums, as JSON has them. */
const char *mpiq_operation_kind_word(uint8_t kind);
const char *mpiq_operation_status_word(uint8_t status);
const char *mpiq_source_word(enum mpiq_source source);
const char *mpiq_lock_type_word(uint8_t type);
const char *mpiq_window_exposure_word(uint8_t exposure);
const char *mpiq_window_access_word(uint8_t access);

#endif
