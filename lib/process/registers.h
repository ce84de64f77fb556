/* SPDX-License-Identifier: BSD-3-Clause */
/* registers - where in the kernel's general registers (NT_PRSTATUS) an unwinder finds its starting values.
 */
#ifndef MPIQ_REGISTERS_H
#define MPIQ_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/link_map.h"

#define MPIQ_REGISTERS_MAX 1024

/* The register set as the kernel gives it (PTRACE_GETREGSET) or a core has it (pr_reg). */
struct mpiq_registers {
    unsigned char bytes[MPIQ_REGISTERS_MAX];
    size_t size;
};

/* Of one machine; sizes and offsets in bytes. */
struct mpiq_register_layout {
    unsigned machine; /* EM_… */
    int word_size;
    size_t size; /* of the whole set */
    size_t pc;
    size_t sp;
    int dwarf_count;       /* DWARF registers 0 … dwarf_count - 1 */
    const uint16_t *dwarf; /* the offset of each */
    uint64_t preserved;    /* bit n: a function preserves DWARF register n for its caller (or restores it) */
    uint64_t by_rules_alone;   /* those of them that are found by call frame information only: frame and stack
                                  pointers come by the frame pointer, too */
    size_t prstatus_registers; /* where pr_reg begins in a core's prstatus */
};

/* NULL: stacks of that machine cannot be unwound. */
const struct mpiq_register_layout *mpiq_register_layout(unsigned machine);

uint64_t mpiq_register_at(const struct mpiq_registers *registers, const struct mpiq_words *words,
                          size_t offset);

#endif
