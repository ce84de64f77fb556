/* SPDX-License-Identifier: BSD-3-Clause */
/* A DLL without a fault. */
#include "plain_dll.h"

int misbehave(enum place place, int how, mqs_process *process, void *result)
{
    (void)place;
    (void)how;
    (void)process;
    (void)result;
    return mqs_ok;
}
