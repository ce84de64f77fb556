/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * looks - the looks of mpiq watch: at a job that runs, one snapshot after another, or a trace at one time
 * after another.
 *
 * It leaves to others: when to look, and what is shown.
 */
#ifndef MPIQ_CLI_LOOKS_H
#define MPIQ_CLI_LOOKS_H

#include <stddef.h>

#include "options.h"

/* Looks that can be stepped back to: fewer of a job of many ranks, of which each is large. */
enum { LOOKS_KEPT = 32, LOOKS_KEPT_LEAST = 2, RANKS_KEPT = 8192 };

struct looks {
    struct command_line *line;
    struct mpiq_session *session;      /* NULL: files are played back */
    struct mpiq_job *kept[LOOKS_KEPT]; /* the oldest first */
    size_t count;                      /* of them */
    size_t taken;                      /* so far, those that are not kept any more too */
    double cost;                       /* of the look that was kept last, in seconds of processor time */
    double taking_cost;                /* of the one that was taken last: looks_take's */
    size_t next;                       /* the target that is played back next */
    double at, step, length;           /* of a trace, in its seconds; length 0: there is none */
};

struct mpiq_error *looks_init(struct looks *looks, struct command_line *line);
void looks_deinit(struct looks *looks);

/* One more look, which looks_keep takes.  Another thread may use everything else meanwhile.  An error for
   which mpiq_error_is_gone holds: there will be no other. */
struct mpiq_error *looks_take(struct looks *looks, struct mpiq_job **ret);
void looks_keep(struct looks *looks, struct mpiq_job *job);

/* Whether all files have been played back. */
bool looks_at_end(const struct looks *looks);

/* Seconds from the begin of one look to that of the next: as the user says, or so many that looking takes
   less than a hundredth of a processor, but one at least. */
double looks_interval(const struct looks *looks);

#endif
