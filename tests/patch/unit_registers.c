/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_registers.c - a compiler that may use AVX-512 keeps no value in a register that the call out of
 * OMPI_MQS_ENTER may change. That call is replaced by one that changes all it may. Compiled with -mavx512f.
 */
#include "ompi/mqs/call.h"

#include <stdio.h>
#include <string.h>

#if OMPI_MQS_ASSEMBLER && defined(__AVX512F__)
__asm__(".pushsection .text\n"
        ".hidden ompi_mqs_call_begin_keeping\n"
        ".globl ompi_mqs_call_begin_keeping\n"
        "ompi_mqs_call_begin_keeping:\n"
        ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
        "vpxorq %zmm\\n, %zmm\\n, %zmm\\n\n"
        ".endr\n"
        ".irp n,0,1,2,3,4,5,6,7\n"
        "kxorw %k\\n, %k\\n, %k\\n\n"
        ".endr\n"
        "xor %eax, %eax\n"
        "ret\n"
        ".popsection\n");

typedef long long vector __attribute__((vector_size(64)));

#define VALUES 14 /* few enough for a loop to be unrolled */

/* As every MPI function does: one that calls nothing else might keep values below its stack pointer. */
static int (*volatile call_something)(const char *, FILE *) = fputs;

/* Values alive across the call, for which there is room in the registers that only AVX-512 has. */
static __attribute__((noinline)) long long sum_across(const vector *values)
{
    struct ompi_mqs_collectives record;
    vector sum = {0};
    vector kept[VALUES];

    for (int i = 0; i < VALUES; i++) {
        kept[i] = values[i];
    }
    if (NULL != ompi_mqs_call_begin_aside(&record)) {
        return -1;
    }
    for (int i = 0; i < VALUES; i++) {
        sum += kept[i] * kept[i];
    }
    (void)call_something("", stderr);
    return sum[0] + sum[7];
}

int main(void)
{
    static vector values[VALUES];
    long long due = 0;

    if (!__builtin_cpu_supports("avx512f")) {
        fprintf(stderr, "unit_registers: this processor has no AVX-512\n");
        return 77;
    }
    for (int i = 0; i < VALUES; i++) {
        values[i] = (vector){i + 1, 0, 0, 0, 0, 0, 0, i + 2};
        due += (i + 1) * (i + 1) + (i + 2) * (i + 2);
    }
    if (due != sum_across(values)) {
        fprintf(stderr, "unit_registers: not so: a value was lost\n");
        return 1;
    }
    fprintf(stderr, "unit_registers: every value kept\n");
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
