/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/call_word.h"

static bool has_origin(const struct mpiq_call_word *word, const struct mpiq_word_origin *origin)
{
    for (size_t i = 0; i < word->origin_count; i++) {
        if (word->origins[i].address == origin->address && word->origins[i].size == origin->size)
            return true;
    }
    return false;
}

/* Takes over where b's word came from; false: there are too many places. */
static bool add_origins(struct mpiq_call_word *word, const struct mpiq_call_word *b)
{
    for (size_t i = 0; i < b->origin_count; i++) {
        if (has_origin(word, &b->origins[i]))
            continue;
        if (word->origin_count == MPIQ_WORD_ORIGINS)
            return false;
        word->origins[word->origin_count++] = b->origins[i];
    }
    return true;
}

struct mpiq_call_word mpiq_word_combined(const struct mpiq_call_word *a, const struct mpiq_call_word *b,
                                         uint64_t value)
{
    struct mpiq_call_word word = *a;
    if (!a->known || !b->known || !add_origins(&word, b))
        return mpiq_word_unknown;
    word.value = value;
    return word;
}

struct mpiq_call_word mpiq_word_read(struct mpiq_modules *modules, const struct mpiq_call_word *address,
                                     uint64_t size)
{
    struct mpiq_call_word word = *address;
    if (!word.known || word.narrow || (size != 1 && size != 2 && size != 4 && size != 8) ||
        word.origin_count == MPIQ_WORD_ORIGINS)
        return mpiq_word_unknown;
    unsigned char bytes[8];
    struct mpiq_error *error = mpiq_target_read(modules->target, word.value, (size_t)size, bytes);
    if (error) {
        mpiq_error_destroy(error);
        return mpiq_word_unknown;
    }
    const struct mpiq_words words = {.size = modules->word_size, .big_endian = modules->big_endian};
    word.origins[word.origin_count++] = (struct mpiq_word_origin){word.value, (uint32_t)size};
    word.value = mpiq_word_sized(&words, bytes, (int)size);
    return word;
}
