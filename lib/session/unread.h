/* SPDX-License-Identifier: BSD-3-Clause */
/* unread - the states of ranks that are not read: only what the kernel and the launcher say about them. */
#ifndef MPIQ_SESSION_UNREAD_H
#define MPIQ_SESSION_UNREAD_H

#include "base/error.h"
#include "session/source.h"
#include "state/rank_state.h"

/* A rank whose process has ended, from what its job's environment said of it. */
struct mpiq_error *mpiq_unread_gone(const struct mpiq_look_source *source, int world_size,
                                    struct mpiq_rank_state **ret);

/* One of which nothing can be read, with the reason, which it takes. */
struct mpiq_error *mpiq_unread(const struct mpiq_look_source *source, int world_size,
                               struct mpiq_error *reason, struct mpiq_rank_state **ret);

#endif
