/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/link_map.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* No process loads more objects; no executable has more headers or dynamic entries. */
enum { LINK_LIMIT = 65536, HEADER_LIMIT = 1024, DYNAMIC_LIMIT = 4096 };

/* The list's entries lie close together: a page read serves several. */
struct window {
    struct mpiq_target *target;
    uint64_t start;
    bool valid;
    unsigned char bytes[4096];
};

uint64_t mpiq_word_sized(const struct mpiq_words *words, const void *bytes, int size)
{
    const unsigned char *b = bytes;
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)b[i] << 8 * (words->big_endian ? size - 1 - i : i);
    return value;
}

uint64_t mpiq_word(const struct mpiq_words *words, const void *bytes)
{
    return mpiq_word_sized(words, bytes, words->size);
}

bool mpiq_auxv_find(const struct mpiq_words *words, const void *auxv, size_t size, uint64_t type,
                    uint64_t *ret)
{
    const unsigned char *entry = auxv;
    size_t step = 2 * (size_t)words->size;
    for (; size >= step; size -= step, entry += step) {
        uint64_t found = mpiq_word(words, entry);
        if (found == AT_NULL)
            return false;
        if (found == type) {
            *ret = mpiq_word(words, entry + words->size);
            return true;
        }
    }
    return false;
}

static struct mpiq_error *window_read(struct window *window, uint64_t address, size_t size, void *ret)
{
    uint64_t page = address & ~(uint64_t)(sizeof window->bytes - 1);
    if (address - page + size > sizeof window->bytes)
        return mpiq_target_read(window->target, address, size, ret);
    if (!window->valid || window->start != page) {
        struct mpiq_error *error =
            mpiq_target_read(window->target, page, sizeof window->bytes, window->bytes);
        window->valid = !error;
        window->start = page;
        if (error) {
            mpiq_error_destroy(error);
            return mpiq_target_read(window->target, address, size, ret);
        }
    }
    memcpy(ret, window->bytes + (address - page), size);
    return NULL;
}

/* The address of .dynamic, from the executable's program headers. */
static struct mpiq_error *find_dynamic(struct window *window, const struct mpiq_words *words, uint64_t phdr,
                                       uint64_t phnum, uint64_t *ret)
{
    size_t size = words->size == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    size_t address_at = words->size == 8 ? offsetof(Elf64_Phdr, p_vaddr) : offsetof(Elf32_Phdr, p_vaddr);
    uint64_t dynamic = 0, own = 0;
    bool has_dynamic = false, has_own = false;
    for (uint64_t i = 0; i < phnum && i < HEADER_LIMIT; i++) {
        unsigned char header[sizeof(Elf64_Phdr)];
        struct mpiq_error *error = window_read(window, phdr + i * size, size, header);
        if (error)
            return error;
        uint64_t type = mpiq_word_sized(words, header, 4), address = mpiq_word(words, header + address_at);
        if (type == PT_DYNAMIC) {
            dynamic = address;
            has_dynamic = true;
        } else if (type == PT_PHDR) {
            own = address;
            has_own = true;
        }
    }
    if (!has_dynamic)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "the executable is statically linked");
    *ret = dynamic + (has_own ? phdr - own : 0);
    return NULL;
}

static struct mpiq_error *find_debug(struct window *window, const struct mpiq_words *words, uint64_t dynamic,
                                     uint64_t *ret)
{
    for (int i = 0; i < DYNAMIC_LIMIT; i++) {
        unsigned char entry[16];
        struct mpiq_error *error = window_read(window, dynamic, 2 * (size_t)words->size, entry);
        if (error)
            return error;
        uint64_t tag = mpiq_word(words, entry), value = mpiq_word(words, entry + words->size);
        if (tag == DT_NULL)
            break;
        if (tag == DT_DEBUG && value) {
            *ret = value;
            return NULL;
        }
        dynamic += 2 * (uint64_t)words->size;
    }
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "the dynamic linker has not made its list of objects yet");
}

struct mpiq_error *mpiq_link_map_read(struct mpiq_target *target, const struct mpiq_words *words,
                                      uint64_t phdr, uint64_t phnum, struct mpiq_link **ret, size_t *count)
{
    struct window window = {.target = target};
    uint64_t dynamic = 0, debug = 0;
    unsigned char word[8];
    struct mpiq_error *error = find_dynamic(&window, words, phdr, phnum, &dynamic);
    if (!error)
        error = find_debug(&window, words, dynamic, &debug);
    /* struct r_debug: version (padded to a word), the head of the list. */
    if (!error)
        error = window_read(&window, debug + (uint64_t)words->size, (size_t)words->size, word);
    if (error)
        return error;
    uint64_t next = mpiq_word(words, word);
    _cleanup_free_ struct mpiq_link *links = NULL;
    size_t used = 0, capacity = 0;
    while (next) {
        if (used == LINK_LIMIT) {
            return mpiq_error_create_address(MPIQ_ERROR_CORRUPT, next,
                                             "the dynamic linker's list of objects does not end");
        }
        if (used == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            struct mpiq_link *larger = realloc(links, capacity * sizeof *links);
            if (!larger)
                return mpiq_error_no_memory();
            links = larger;
        }
        /* struct link_map: l_addr, l_name, l_ld, l_next, l_prev. */
        unsigned char link[32];
        size_t size = (size_t)words->size;
        error = window_read(&window, next, 4 * size, link);
        if (error)
            return error; /* NOLINT */
        links[used++] = (struct mpiq_link){
            .address = next, .bias = mpiq_word(words, link), .dynamic = mpiq_word(words, link + 2 * size)};
        next = mpiq_word(words, link + 3 * size);
    }
    if (!used)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "the dynamic linker's list of objects is empty");
    *ret = mpiq_steal(links);
    *count = used;
    return NULL;
}

bool mpiq_link_is_last(struct mpiq_target *target, const struct mpiq_words *words,
                       const struct mpiq_link *last)
{
    unsigned char link[32];
    size_t size = (size_t)words->size;
    struct mpiq_error *error = mpiq_target_read(target, last->address, 4 * size, link);
    bool same = !error && mpiq_word(words, link) == last->bias &&
                mpiq_word(words, link + 2 * size) == last->dynamic && mpiq_word(words, link + 3 * size) == 0;
    mpiq_error_destroy(error);
    return same;
}
