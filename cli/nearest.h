/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest - which word somebody meant. */
#ifndef MPIQ_CLI_NEAREST_H
#define MPIQ_CLI_NEAREST_H

#include <stddef.h>

/* How many letters must be added, dropped, changed or swapped with their neighbour to make one word of the
   other. Words longer than 31 letters: SIZE_MAX. */
size_t word_distance(const char *one, const char *other);

/* Keeps the better of *best (NULL: none yet) and candidate, if that is near enough to be meant: one change,
   two in a word of more than four letters, or none if three letters or more of it are there. */
void keep_nearest(const char *word, const char *candidate, const char **best);

#endif
