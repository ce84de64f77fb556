/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - as mpiq_rank_choose_dll, for one who asks for many ranks. */
#ifndef MPIQ_RANK_CHOOSE_H
#define MPIQ_RANK_CHOOSE_H

#include "rank/rank.h"

/* *ours is NULL at first and then keeps the path of our DLL, so that it is looked for once; the caller frees
   it in the end. */
struct mpiq_error *mpiq_rank_choose_kept(struct mpiq_target *target, const char *explicit_path, char **ours,
                                         char **ret, enum mpiq_dll_origin *origin);

#endif
