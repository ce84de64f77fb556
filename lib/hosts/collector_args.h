/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collector_args - what mpiq tells a collector, as arguments of mpiq collect: "match=SLURM_JOB_ID=12".
 *
 * They contain only letters, digits and @%_+=:,./-, so that no shell on the way interprets them; other
 * characters are written like "%20".
 */
#ifndef MPIQ_COLLECTOR_ARGS_H
#define MPIQ_COLLECTOR_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct mpiq_collector_args {
    const char *version;
    char **match; /* match, below, nspace and node_variable: struct mpiq_launch */
    size_t match_count;
    const char *below;         /* NULL */
    const char *nspace;        /* NULL */
    const char *node_variable; /* NULL */
    const char *dll;           /* NULL: ours */
    const char *skip;          /* ranks of the first world to leave out, "0-3"; NULL */
    bool stop;                 /* as in struct mpiq_options; so are stacks and all_threads */
    bool stacks;
    bool all_threads;
    char *text; /* what the strings are in, of an order that was read */
};

/* "PROGRAM collect WORD...", ended by NULL; the caller calls mpiq_collector_args_free_words.  USAGE if the
   program's path has a character that a shell takes apart. */
struct mpiq_error *mpiq_collector_args_write(const struct mpiq_collector_args *order, const char *program,
                                             char ***ret);
void mpiq_collector_args_free_words(char **words);

/* What follows "collect".  On success the caller calls mpiq_collector_args_deinit. */
struct mpiq_error *mpiq_collector_args_read(int count, char *const *words, struct mpiq_collector_args *ret);
void mpiq_collector_args_deinit(struct mpiq_collector_args *order);

#endif
