/* SPDX-License-Identifier: BSD-3-Clause */
/* headline - the sentence of a finding: for a cause, the bug; for a consequence, which ranks wait because of
   it. */
#ifndef MPIQ_HEADLINE_H
#define MPIQ_HEADLINE_H

#include "job/find.h"

/* Writes `text` of all findings, once causes and consequences are known. */
void mpiq_find_headlines(struct mpiq_finder *finder);

/* Whether a process is in MPI_Finalize or past it. */
bool mpiq_has_left(const struct mpiq_finder *finder, uint32_t process);

#endif
