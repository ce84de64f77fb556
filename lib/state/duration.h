/* SPDX-License-Identifier: BSD-3-Clause */
/* duration - durations as all sentences and tables write them: "0.4 s", "5 m 10 s", "3 h 12 m", "2 d 4 h".
 */
#ifndef MPIQ_DURATION_H
#define MPIQ_DURATION_H

enum { MPIQ_DURATION_ROOM = 32 };

/* Writes it to text and returns that; "" for a negative one: not known. */
const char *mpiq_duration_text(double seconds, char text[MPIQ_DURATION_ROOM]);

#endif
