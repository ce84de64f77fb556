/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/lines.h"

void mpiq_lines_destroy(struct mpiq_lines *lines)
{
    (void)lines;
}
