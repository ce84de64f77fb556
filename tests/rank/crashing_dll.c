/* SPDX-License-Identifier: BSD-3-Clause */
/* A DLL that crashes, in the ways there are. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* On the helper's wire, where a DLL has no business. */
static int say(const char *line)
{
    return write(3, line, strlen(line)) > 0;
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
        if (say("read 0x1"))
            abort();
        break;
    case 7:
        raise(SIGKILL);
        break;
    case 8: /* an answer of its own, which is nonsense */
        if (say("done 1 {\"pid\": \"a lie\"}\n"))
            pause();
        break;
    default: /* an answer to what nobody asked, and then it goes on */
        say("done 99 {\"pid\": 1}\n");
        break;
    }
    return mqs_ok;
}
