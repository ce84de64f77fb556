/* SPDX-License-Identifier: BSD-3-Clause */
/* A DLL that comes to no end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain_dll.h"

int misbehave(enum place place, int how, mqs_process *process, void *result)
{
    volatile unsigned long turns = 0;
    char bytes[64];
    (void)result;
    switch (how) {
    case 1: /* at work */
        for (;;)
            turns++;
    case 2: /* asleep */
        for (;;)
            pause();
    case 3: /* busy with the debugger */
        while (process)
            plain_process->mqs_fetch_data_fp(process, 0x10000 + turns++ % 64, (int)sizeof bytes, bytes);
        break;
    case 4: /* eating memory */
        while (memset(malloc(1 << 20), 1, 1 << 20))
            turns++;
        break;
    case 8: /* one more, for ever: communicators */
        return place == PLACE_NEXT ? mqs_ok : mqs_end_of_list;
    default: /* one more, for ever: operations */
        break;
    }
    return mqs_ok;
}
