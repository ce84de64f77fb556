/* SPDX-License-Identifier: BSD-3-Clause */
/* A process for the plain DLL, which asks for nothing but "memory". */
#include <stdio.h>
#include <unistd.h>

extern int memory[10];
int memory[10] = {1};

int main(void)
{
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
