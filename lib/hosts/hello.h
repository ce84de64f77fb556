/* SPDX-License-Identifier: BSD-3-Clause */
/* hello - a collector's first line: who it is, and which ranks it has found on its host. */
#ifndef MPIQ_HOSTS_HELLO_H
#define MPIQ_HOSTS_HELLO_H

#include <stddef.h>

#include "base/error.h"
#include "state/rank_set.h"

/* The ranks of one world that run on a host. */
struct mpiq_hello_world {
    char *nspace;
    struct mpiq_rank_set ranks; /* as of world 0, whichever it is */
};

/* Worlds that one host may announce; all hosts together have more. */
enum { MPIQ_HELLO_WORLDS_MOST = 64 };

struct mpiq_hello {
    char *version; /* of mpiq */
    char *host;
    struct mpiq_hello_world *worlds; /* the job's first one first, if it has ranks there */
    size_t world_count;
};

/* As JSON, which the caller frees. */
struct mpiq_error *mpiq_hello_write(const struct mpiq_hello *hello, char **ret);
/* CORRUPT if the text is none.  On success the caller calls mpiq_hello_deinit. */
struct mpiq_error *mpiq_hello_read(const char *text, size_t length, struct mpiq_hello *ret);
void mpiq_hello_deinit(struct mpiq_hello *hello);

/* The world of that name; NULL: it has none. */
const struct mpiq_hello_world *mpiq_hello_find(const struct mpiq_hello *hello, const char *nspace);
/* A new world, with a copy of the name; NULL without memory. */
struct mpiq_hello_world *mpiq_hello_add_world(struct mpiq_hello *hello, const char *nspace);

#endif
