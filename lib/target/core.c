/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/target.h"

struct mpiq_error *mpiq_target_core_create(const char *path, const char *executable, struct mpiq_target **ret)
{
    (void)executable;
    (void)ret;
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "%s: core files are not read yet", path);
}
