/* SPDX-License-Identifier: BSD-3-Clause */
/* hint - what can be said of ranks in different calls where nothing but their stacks is known. */
#ifndef MPIQ_WORDS_HINT_H
#define MPIQ_WORDS_HINT_H

#include "words/put.h"

/* "Rank 1 is not in MPI_Allreduce: the other 3 ranks may wait for it.", and how to know. */
void mpiq_put_hint(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                   const struct mpiq_finding *finding);

#endif
