/* SPDX-License-Identifier: BSD-3-Clause */
/* call_words - asks what a call was given, for the fuzzers of what the answer is read from. */
#ifndef FUZZ_CALL_WORDS_H
#define FUZZ_CALL_WORDS_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "process/call_history.h"
#include "process/call_site.h"

enum { CALL_FRAMES = 3, CALL_ASKED = 12 };

/* What an input's first byte says of the processor: the highest bit is set. */
enum { CALL_ARM = 0x80 };

static inline unsigned call_machine(uint8_t first)
{
    return first & CALL_ARM ? EM_AARCH64 : EM_X86_64;
}

/* The registers that a function preserves there. */
static inline uint32_t call_known(unsigned machine)
{
    return machine == EM_AARCH64 ? 0xbff80000 : 0xf0c8;
}

/* The next two bytes; 0 if there are none left. */
static inline uint16_t take_number(const uint8_t **data, size_t *size)
{
    uint16_t value = 0;
    if (*size >= 2) {
        value = (uint16_t)((*data)[0] | (*data)[1] << 8);
        *data += 2;
        *size -= 2;
    }
    return value;
}

/* Asks in `count` frames, which return to the two sites in turn; their registers (known: a bit each) point
   behind base, as all else does.  Words that were not asked for must not be known. */
static inline void ask_words(struct mpiq_modules *modules, uint64_t base, uint32_t known, size_t count,
                             const uint16_t sites[2], uint16_t callee)
{
    struct mpiq_frame_registers frames[CALL_FRAMES];
    for (size_t i = 0; i < count; i++) {
        frames[i] = (struct mpiq_frame_registers){.pc = base + sites[i % 2], .known = known};
        for (uint64_t j = 0; j < MPIQ_FRAME_REGISTERS; j++)
            frames[i].value[j] = base + 64 * j;
    }
    struct mpiq_call_word words[MPIQ_CALL_WORDS];
    mpiq_call_site_read(modules, frames, count, base + callee, CALL_ASKED, words);
    for (size_t i = 0; i < MPIQ_CALL_WORDS; i++) {
        if (words[i].origin_count > MPIQ_WORD_ORIGINS || (words[i].known && i >= CALL_ASKED))
            abort();
    }
}

/* One function in two makes a word, one in four writes memory. */
static inline void any_effect(void *argument, uint64_t function,
                              const struct mpiq_call_word words[MPIQ_CALL_WORDS],
                              struct mpiq_call_effect *ret)
{
    (void)argument;
    *ret =
        (struct mpiq_call_effect){.known = function & 3, .later = function & 4, .made = -1, .made_size = 4};
    if (function & 1)
        ret->made = (int)(function >> 4 & 7);
    for (size_t i = 0; i < MPIQ_CALL_WORDS; i++) {
        if (function & 2)
            ret->writes[i] = words[i].known ? words[i].value : UINT64_MAX;
    }
}

/* Asks for the calls that made words in the frame that is behind base, as above. */
static inline void ask_history(struct mpiq_modules *modules, uint64_t base, uint32_t known, size_t count,
                               const uint16_t sites[2])
{
    struct mpiq_frame_registers frames[CALL_FRAMES];
    uint64_t addresses[16];
    struct mpiq_earlier_call calls[16];
    for (size_t i = 0; i < count; i++) {
        frames[i] = (struct mpiq_frame_registers){.pc = base + sites[i % 2], .known = known};
        for (uint64_t j = 0; j < MPIQ_FRAME_REGISTERS; j++)
            frames[i].value[j] = base + 64 * j;
    }
    for (uint64_t i = 0; i < 16; i++)
        addresses[i] = base + 64 * 7 + 4 * i;
    struct mpiq_array_makers array = {.start = addresses[0], .size = 64};
    mpiq_call_history_read(modules, frames, count, any_effect, NULL, addresses, 16, calls, &array);
    for (size_t i = 0; i < array.count; i++) {
        if (array.count > MPIQ_MAKERS_MOST || !array.calls[i].back)
            abort();
    }
    for (size_t i = 0; i < 16; i++) {
        for (size_t j = 0; j < MPIQ_CALL_WORDS; j++) {
            if (calls[i].words[j].origin_count > MPIQ_WORD_ORIGINS ||
                (calls[i].words[j].known && !calls[i].back))
                abort();
        }
    }
}

#endif
