/* SPDX-License-Identifier: BSD-3-Clause */
/* nouns - how sentences name a place in the source, a communicator, a tag, and partitions. */
#ifndef MPIQ_WORDS_NOUNS_H
#define MPIQ_WORDS_NOUNS_H

#include "state/job_state.h"

/* How a sentence speaks of a site: "solver.c:71", "step()", "" if nothing is known.  The caller frees; NULL
   without memory. */
char *mpiq_job_place_words(const struct mpiq_job_state *job, uint32_t site);

/* How a sentence speaks of a communicator: MPI_COMM_WORLD; "rows" in quotation marks where the user named it
   so; else the communicator made by MPI_Comm_dup at x.c:8, with its members where the same line made others
   of other members, and its context in parentheses where it made several of the same members; where that line
   is not known its members and the name that the library gave it.  The caller frees; NULL without memory. */
char *mpiq_job_communicator_words(const struct mpiq_job_state *job, uint32_t comm);
/* Of several that the user tells apart no more, of which that is one: "rows"; their communicators made by
   MPI_Comm_split at x.c:8. */
char *mpiq_job_communicators_words(const struct mpiq_job_state *job, uint32_t comm);

/* The missing partitions of a process's partitioned operation: "partition 3 of 4", "partitions 0-2,5 of 8",
   "3 of 100 partitions"; "4 partitions" if it is unknown which are missing.  The caller frees; NULL without
   memory. */
char *mpiq_job_partitions_words(const struct mpiq_job_state *job, uint32_t process,
                                const struct mpiq_job_operation *operation);

/* "tag 99", "any tag": returns TEXT, which it fills. */
enum { MPIQ_TAG_WORDS = 16 };
const char *mpiq_tag_words(char text[static MPIQ_TAG_WORDS], bool any, int32_t tag);

#endif
