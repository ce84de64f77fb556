/* SPDX-License-Identifier: BSD-3-Clause */
/* made_up - a target for tests: one piece of memory, a few symbols, one type, two threads. */
#ifndef MPIQ_TEST_MADE_UP_H
#define MPIQ_TEST_MADE_UP_H

#include "process/target.h"

#define MADE_UP_BASE UINT64_C(0x10000)
#define MADE_UP_SIZE 8192

struct made_up {
    struct mpiq_target target;
    unsigned char memory[MADE_UP_SIZE]; /* at MADE_UP_BASE; byte i is i * 7 at first */
    bool big_endian;
    int where; /* symbol "where": its address */
    int reads; /* asked for so far */
    int forgotten;
};

/* Symbols: "where", "memory" (MADE_UP_BASE).  Type "struct thing" of 24 bytes, member "part" at 8.
   Environment: RANK_NAME is "a\n\"b\"". */
void made_up_init(struct made_up *made_up);

#endif
