/* SPDX-License-Identifier: BSD-3-Clause */
/* scene_target - a made-up process as mpiq's helper reads it, in this process: with the DLL that is linked
 * in. */
#ifndef SCENE_TARGET_H
#define SCENE_TARGET_H

#include "mqs/made_up.h"
#include "state/rank_state.h"

/* Its state, with the communicators that are the library's own.  The caller destroys it, after an error too.
 */
struct mpiq_error *scene_look(struct made_up *made_up, struct mpiq_rank_state **ret);

#endif
