/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record - what real processes looked like: rank 0 of programs/everything.c on four processes, as a debugger
 * read it (mqs_client --internal --record).
 */
#ifndef RECORD_H
#define RECORD_H

struct record {
    const char *name; /* "4.1 patched", … */
    const char *text; /* for made_up_from_record */
};

/* Ends with a NULL name. */
extern const struct record records[];

#endif
