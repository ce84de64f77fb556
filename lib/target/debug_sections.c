/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/debug_sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All sections of one file together, and their number. */
static const uint64_t budget = (uint64_t)4 << 30;
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

bool mpiq_debug_sections_init(struct mpiq_debug_sections *ret, Elf *elf)
{
    struct mpiq_debug_sections sections = {.budget = budget};
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
    free(sections->items);
    *sections = (struct mpiq_debug_sections){0};
}

static bool decompress(struct mpiq_debug_sections *sections, struct mpiq_debug_section *section, bool gnu)
{
    if (section->size > sections->budget)
        return false;
    sections->budget -= section->size;
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
