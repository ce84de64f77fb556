/* SPDX-License-Identifier: BSD-3-Clause */
/* size - how many bytes, in text for people: "4 bytes", "56000 bytes", "4 MiB". */
#ifndef MPIQ_SIZE_H
#define MPIQ_SIZE_H

#include <stdint.h>

#define MPIQ_SIZE_ROOM 40

/* Always exact: in a larger unit only what is a whole number of them.  "" for less than 0: not known. */
const char *mpiq_size_text(int64_t bytes, char text[static MPIQ_SIZE_ROOM]);

#endif
