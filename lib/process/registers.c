/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/registers.h"

#include <elf.h>

/* user_regs_struct: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss …
 */
static const uint16_t x86_64_dwarf[] = {
    80,  96, 88, 40, 104, 112, 32, 152, /* rax rdx rcx rbx rsi rdi rbp rsp */
    72,  64, 56, 48, 24,  16,  8,  0,   /* r8 … r15 */
    128,                                /* rip */
};

/* ebx ecx edx esi edi ebp eax ds es fs gs orig_eax eip cs eflags esp ss */
static const uint16_t i386_dwarf[] = {24, 4,  8,  0, 60,
                                      20, 12, 16, 48}; /* eax ecx edx ebx esp ebp esi edi eip */

/* x0 … x30 sp pc pstate */
static const uint16_t aarch64_dwarf[] = {
    0,   8,   16,  24,  32,  40,  48,  56,  64,  72,  80,  88,  96,  104, 112, 120,
    128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248,
};

/* rbx rbp rsp r12 … r15; ebx esp ebp esi edi; x19 … x29 sp */
#define X86_64_PRESERVED UINT64_C(0xf0c8)
#define I386_PRESERVED UINT64_C(0xf8)
#define AARCH64_PRESERVED UINT64_C(0xbff80000)

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* By rules alone: without rbx, which elfutils loses (see unwind.c). */
static const struct mpiq_register_layout layouts[] = {
    {EM_X86_64, 8, 216, 128, 152, COUNT(x86_64_dwarf), x86_64_dwarf, X86_64_PRESERVED, UINT64_C(0xf000), 112},
    {EM_386, 4, 68, 48, 60, COUNT(i386_dwarf), i386_dwarf, I386_PRESERVED, UINT64_C(0xc8), 72},
    {EM_AARCH64, 8, 272, 256, 248, COUNT(aarch64_dwarf), aarch64_dwarf, AARCH64_PRESERVED,
     UINT64_C(0x1ff80000), 112},
};

const struct mpiq_register_layout *mpiq_register_layout(unsigned machine)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].machine == machine)
            return &layouts[i];
    }
    return NULL;
}

uint64_t mpiq_register_at(const struct mpiq_registers *registers, const struct mpiq_words *words,
                          size_t offset)
{
    return offset + (size_t)words->size <= registers->size ? mpiq_word(words, registers->bytes + offset) : 0;
}
