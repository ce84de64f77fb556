/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * behaviour - ranks that do the same: the lines of "what the ranks do".
 *
 * "The same" means the same state, call, communicator name, running number and source line.  What they wait
 * for often differs from rank to rank (each waits for its neighbour).  If there are only a few differences
 * the line is split; if the peers are the same relative to the rank ("rank r+1") there is one line;
 * otherwise the line shows an example.  For a collective, the ranks waited for are combined.  So the number
 * of lines depends on how many different things happen, not on how many ranks there are.
 */
#ifndef MPIQ_REPORT_BEHAVIOUR_H
#define MPIQ_REPORT_BEHAVIOUR_H

#include "report/page.h"

struct mpiq_behaviour {
    const struct mpiq_rank_diagnosis *example; /* of the first of the ranks: state, call, number, site */
    struct mpiq_rank_set ranks;
    char *what;                   /* what they wait for; NULL not known */
    bool varies;                  /* they wait for different things, and what is that of the first rank */
    bool suspect;                 /* a finding suspects one of them */
    bool cause;                   /* one of them is part of the explanation */
    struct mpiq_rank_set awaited; /* in a collective: whom they wait for, as far as each says so */
    double since;                 /* of the one that has waited longest; -1 not known */
    struct mpiq_last_call last;   /* of ranks outside MPI */
};

struct mpiq_behaviours {
    struct mpiq_behaviour *items; /* the most important first */
    size_t count;
};

/* Of the ranks that the page wants, without those in `without` (NULL: none).  False on allocation failure;
   deinit in any case. */
bool mpiq_behaviours_collect(const struct mpiq_page *page, const struct mpiq_rank_set *without,
                             struct mpiq_behaviours *ret);
void mpiq_behaviours_deinit(struct mpiq_behaviours *behaviours);

#endif
