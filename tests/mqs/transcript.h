/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transcript - what real processes looked like: rank 0 of programs/everything.c on four processes, as a
 * debugger read it (mqs_client --internal --record).
 */
#ifndef TRANSCRIPT_H
#define TRANSCRIPT_H

struct transcript {
    const char *name; /* "4.1 patched", … */
    const char *text; /* for made_up_from_transcript */
};

/* Ends with a NULL name. */
extern const struct transcript transcripts[];

#endif
