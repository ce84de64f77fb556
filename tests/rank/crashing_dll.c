/* SPDX-License-Identifier: BSD-3-Clause */
/* A DLL that crashes, in the ways there are. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "plain_dll.h"

__attribute__((constructor)) static void at_load(void)
{
    if (getenv("MPIQ_TEST_CRASH_AT_LOAD"))
        abort();
}

/* Not without end for a compiler that looks. */
static int overflow(volatile char *above)
{
    volatile char much[4096];
    much[0] = *above;
    return much[0] == 1 ? 0 : overflow(much) + much[0];
}

int misbehave(enum place place, int how, mqs_process *process, void *result)
{
    volatile char *volatile nothing = NULL;
    volatile char start = 0;
    (void)place;
    (void)process;
    (void)result;
    switch (how) {
    case 1:
        *nothing = 1;
        break;
    case 2:
        abort();
    case 3:
        return overflow(&start);
    case 4:
        _exit(3);
    case 5:
        __builtin_trap();
    case 6: /* half a line of its own on the wire */
        if (write(3, "read 0x1", 8) > 0)
            abort();
        break;
    case 7:
        raise(SIGKILL);
        break;
    default: /* a line of its own, and an end that looks like one */
        if (write(3, "done {\"pid\": \"a lie\"}\n", 22) > 0)
            pause();
        break;
    }
    return mqs_ok;
}
