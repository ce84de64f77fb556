/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * behaviour - ranks that do the same: the lines of "what the ranks do".
 *
 * Same means: the same state, call, communicator's name, running number and place.  What they wait for
 * differs from rank to rank as a rule (each for its neighbour): it splits a line in a few at most, is said
 * relative to the rank ("rank r+1") where that makes it one, and is an example otherwise.  In a collective,
 * whose inner traffic is nobody's business, it is all the ranks waited for.  So the number of lines depends
 * on how many different things happen, not on how many ranks there are.
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
};

struct mpiq_behaviours {
    struct mpiq_behaviour *items; /* the most important first */
    size_t count;
};

/* Of the ranks that the page wants.  False without memory; deinit in any case. */
bool mpiq_behaviours_collect(const struct mpiq_page *page, struct mpiq_behaviours *ret);
void mpiq_behaviours_deinit(struct mpiq_behaviours *behaviours);

/* "rank 3" in a text about rank `own` of `size` as "rank r+1"; the whole text, in buffer. */
void mpiq_put_relative(struct mpiq_buffer *buffer, const char *text, uint32_t own, uint32_t size);

#endif
