/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"

static _Thread_local unsigned missed;

unsigned mpiq_memory_missed(void)
{
    return missed;
}

void mpiq_memory_miss(void)
{
    missed++;
}
