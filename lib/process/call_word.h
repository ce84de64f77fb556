/* SPDX-License-Identifier: BSD-3-Clause */
/* call_word - arithmetic of words that may not be known, which remember what memory they came from. */
#ifndef MPIQ_CALL_WORD_H
#define MPIQ_CALL_WORD_H

#include "process/module.h"

static const struct mpiq_call_word mpiq_word_unknown = {.known = false};

static inline struct mpiq_call_word mpiq_word_constant(uint64_t value)
{
    return (struct mpiq_call_word){.known = true, .value = value};
}

/* The lowest `width` bytes of a number, the rest zero. */
static inline uint64_t mpiq_word_cut(uint64_t value, int width)
{
    return width >= 8 ? value : value & ((UINT64_C(1) << (width * 8)) - 1);
}

/* The same, the rest as the sign says. */
static inline uint64_t mpiq_word_extend(uint64_t value, int width)
{
    if (width >= 8)
        return value;
    uint64_t sign = UINT64_C(1) << (width * 8 - 1);
    return (mpiq_word_cut(value, width) ^ sign) - sign;
}

/* The same word with another value. */
static inline struct mpiq_call_word mpiq_word_changed(const struct mpiq_call_word *a, uint64_t value)
{
    struct mpiq_call_word word = *a;
    word.value = value;
    return word;
}

/* A word computed from two others: not known if either is not, or if it came from too many places. */
struct mpiq_call_word mpiq_word_combined(const struct mpiq_call_word *a, const struct mpiq_call_word *b,
                                         uint64_t value);

/* What the process's memory holds now, size bytes (1, 2, 4 or 8), the rest zero, at an address; the word came
   from there and from where the address did. */
struct mpiq_call_word mpiq_word_read(struct mpiq_modules *modules, const struct mpiq_call_word *address,
                                     uint64_t size);

#endif
