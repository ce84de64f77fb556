/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/debug_sections.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* All sections of one file together, and of all files: half of what a reader may map. */
static uint64_t of_file = (uint64_t)2 << 30;
static _Atomic uint64_t of_all = (uint64_t)4 << 30;

/* Their number in one file. */
enum { SECTION_LIMIT = 64 };

/* zlib makes at most so many bytes of one. */
enum { RATIO_LIMIT = 1040 };

/* ".debug_…" of what debuggers read, and the old name of a compressed one. */
static bool debug_name(const char *name, char *ret, size_t size)
{
    if (strncmp(name, ".zdebug_", 8) == 0)
        return (size_t)snprintf(ret, size, ".debug_%s", name + 8) < size;
    return strncmp(name, ".debug_", 7) == 0 && (size_t)snprintf(ret, size, "%s", name) < size;
}

/* Bytes after decompression, as the section's own header says; false if it is compressed in no known way. */
static bool plain_size(Elf_Scn *section, const char *name, const GElf_Shdr *header, uint64_t *ret,
                       bool *compressed)
{
    *ret = header->sh_size;
    *compressed = false;
    if (header->sh_flags & SHF_COMPRESSED) {
        GElf_Chdr compression;
        if (!gelf_getchdr(section, &compression) || compression.ch_type != ELFCOMPRESS_ZLIB)
            return false;
        *ret = compression.ch_size;
        *compressed = true;
    } else if (strncmp(name, ".zdebug_", 8) == 0) {
        Elf_Data *data = elf_rawdata(section, NULL);
        const unsigned char *bytes = data ? data->d_buf : NULL;
        if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
            return false;
        *ret = 0;
        for (int i = 4; i < 12; i++)
            *ret = *ret << 8 | bytes[i];
        *compressed = true;
    }
    return !*compressed || *ret / RATIO_LIMIT <= header->sh_size;
}

void mpiq_debug_sections_limit(uint64_t file, uint64_t all)
{
    of_file = file;
    of_all = all;
}

bool mpiq_debug_sections_init(struct mpiq_debug_sections *ret, Elf *elf)
{
    struct mpiq_debug_sections sections = {.budget = of_file};
    GElf_Ehdr header;
    size_t names;
    if (!gelf_getehdr(elf, &header) || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    sections.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    sections.word_size = header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    sections.items = calloc(SECTION_LIMIT, sizeof *sections.items);
    if (!sections.items)
        return false;
    Elf_Scn *section = NULL;
    while (sections.count < SECTION_LIMIT && (section = elf_nextscn(elf, section))) {
        struct mpiq_debug_section *item = &sections.items[sections.count];
        GElf_Shdr section_header;
        bool compressed;
        const char *name =
            gelf_getshdr(section, &section_header) ? elf_strptr(elf, names, section_header.sh_name) : NULL;
        if (!name || section_header.sh_type == SHT_NOBITS || section_header.sh_size == 0 ||
            !debug_name(name, item->name, sizeof item->name) ||
            !plain_size(section, name, &section_header, &item->size, &compressed) || item->size == 0)
            continue;
        item->elf = section;
        bool doubled = false; /* libdwarf refuses a file that has a section twice */
        for (size_t i = 0; i < sections.count; i++)
            doubled = doubled || strcmp(sections.items[i].name, item->name) == 0;
        sections.count += !doubled;
    }
    if (!sections.count) {
        mpiq_debug_sections_deinit(&sections);
        return false;
    }
    *ret = sections;
    return true;
}

void mpiq_debug_sections_deinit(struct mpiq_debug_sections *sections)
{
    atomic_fetch_add(&of_all, sections->used);
    free(sections->items);
    *sections = (struct mpiq_debug_sections){0};
}

static bool decompress(struct mpiq_debug_sections *sections, struct mpiq_debug_section *section, bool gnu)
{
    if (section->size > sections->budget)
        return false;
    uint64_t left = atomic_load(&of_all);
    do {
        if (section->size >
            left) { /* another rank's file alone may be to blame: nothing is taken as absent */
            mpiq_memory_miss();
            return false;
        }
    } while (!atomic_compare_exchange_weak(&of_all, &left, left - section->size));
    sections->budget -= section->size;
    sections->used += section->size;
    return gnu ? elf_compress_gnu(section->elf, 0, 0) >= 0 : elf_compress(section->elf, 0, 0) >= 0;
}

const unsigned char *mpiq_debug_section_load(struct mpiq_debug_sections *sections,
                                             struct mpiq_debug_section *section)
{
    if (section->loaded)
        return section->data;
    section->loaded = true;
    GElf_Shdr header;
    if (!gelf_getshdr(section->elf, &header))
        return NULL;
    bool plain = header.sh_size == section->size && !(header.sh_flags & SHF_COMPRESSED);
    if (!plain && !decompress(sections, section, !(header.sh_flags & SHF_COMPRESSED)))
        return NULL;
    Elf_Data *data = elf_rawdata(section->elf, NULL);
    if (!data || !data->d_buf || data->d_size < section->size)
        return NULL;
    return section->data = data->d_buf;
}

const struct mpiq_debug_section *mpiq_debug_sections_find(struct mpiq_debug_sections *sections,
                                                          const char *name)
{
    static const char *const endings[] = {"", ".dwo"};
    for (size_t ending = 0; ending < 2; ending++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, ".debug_%s%s", name, endings[ending]);
        for (size_t i = 0; i < sections->count; i++) {
            if (strcmp(sections->items[i].name, wanted) == 0)
                return mpiq_debug_section_load(sections, &sections->items[i]) ? &sections->items[i] : NULL;
        }
    }
    return NULL;
}
