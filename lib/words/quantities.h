/* SPDX-License-Identifier: BSD-3-Clause */
/* quantities - durations and sizes as all sentences and tables write them. */
#ifndef MPIQ_WORDS_QUANTITIES_H
#define MPIQ_WORDS_QUANTITIES_H

#include <stdint.h>

enum { MPIQ_DURATION_ROOM = 32 };

/* "0.4 s", "5 m 10 s", "3 h 12 m", "2 d 4 h": writes it to text and returns that; "" for a negative one: not
   known. */
const char *mpiq_duration_text(double seconds, char text[MPIQ_DURATION_ROOM]);

#define MPIQ_SIZE_ROOM 40

/* "4 bytes", "56000 bytes", "4 MiB".  Always exact: in a larger unit only what is a whole number of them.  ""
   for less than 0: not known. */
const char *mpiq_size_text(int64_t bytes, char text[static MPIQ_SIZE_ROOM]);

#endif
