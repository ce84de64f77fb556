/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/build_id.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "process/link_map.h"

static uint32_t word32(const unsigned char *bytes, bool big_endian)
{
    return big_endian ? (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]
                      : (uint32_t)bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8 | bytes[0];
}

bool mpiq_build_id_in_notes(const void *notes, size_t size, bool big_endian, struct mpiq_build_id *ret)
{
    const unsigned char *note = notes;
    while (size >= 12) {
        uint64_t name_size = word32(note, big_endian), description_size = word32(note + 4, big_endian);
        uint64_t name_room = (name_size + 3) & ~(uint64_t)3;
        uint64_t room = 12 + name_room + ((description_size + 3) & ~(uint64_t)3);
        if (12 + name_room + description_size > size)
            return false;
        if (word32(note + 8, big_endian) == NT_GNU_BUILD_ID && name_size == 4 &&
            memcmp(note + 12, "GNU", 4) == 0 && description_size > 0 &&
            description_size <= MPIQ_BUILD_ID_MAX) {
            memcpy(ret->bytes, note + 12 + name_room, description_size);
            ret->size = description_size;
            return true;
        }
        if (room >= size)
            return false;
        note += room;
        size -= room;
    }
    return false;
}

bool mpiq_build_id_equal(const struct mpiq_build_id *a, const struct mpiq_build_id *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void mpiq_build_id_text(const struct mpiq_build_id *build_id, char *text)
{
    for (size_t i = 0; i < build_id->size; i++) {
        *text++ = "0123456789abcdef"[build_id->bytes[i] >> 4];
        *text++ = "0123456789abcdef"[build_id->bytes[i] & 15];
    }
    *text = '\0';
}

bool mpiq_build_id_read(mpiq_build_id_reader *read, void *argument, uint64_t start, struct mpiq_build_id *ret)
{
    unsigned char page[4096], notes[sizeof page];
    struct mpiq_error *error = read(argument, start, sizeof page, page);
    if (error || memcmp(page, ELFMAG, SELFMAG) != 0) {
        mpiq_error_destroy(error);
        return false;
    }
    bool wide = page[EI_CLASS] != ELFCLASS32;
    struct mpiq_words words = {.size = wide ? 8 : 4, .big_endian = page[EI_DATA] == ELFDATA2MSB};
#define AT(type, member) (wide ? offsetof(Elf64_##type, member) : offsetof(Elf32_##type, member))
    uint64_t headers = mpiq_word(&words, page + AT(Ehdr, e_phoff));
    uint64_t count = mpiq_word_sized(&words, page + AT(Ehdr, e_phnum), 2);
    uint64_t size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    for (uint64_t i = 0; i < count && headers < sizeof page && headers + (i + 1) * size <= sizeof page; i++) {
        const unsigned char *header = page + headers + i * size;
        uint64_t offset = mpiq_word(&words, header + AT(Phdr, p_offset));
        uint64_t length = mpiq_word(&words, header + AT(Phdr, p_filesz));
        if (mpiq_word_sized(&words, header, 4) != PT_NOTE || length > sizeof notes || length == 0)
            continue;
        const unsigned char *at = page + offset;
        if (offset > sizeof page || offset + length > sizeof page) {
            /* In all linkers' layouts that part of the file is mapped together with the first page. */
            error = read(argument, start + offset, length, notes);
            if (error) {
                mpiq_error_destroy(error);
                continue;
            }
            at = notes;
        }
        if (mpiq_build_id_in_notes(at, length, words.big_endian, ret))
            return true;
    }
#undef AT
    return false;
}
