/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder - finds the library that `mpiq record` preloads. */
#include "mpiq.h"
#include "rank/program_path.h"

struct mpiq_error *mpiq_recorder_path(char **ret)
{
    return mpiq_program_path("MPIQ_RECORDER", "libmpiq_record.so", MPIQ_LIB, "recorder", ret);
}
