/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/type_index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "base/name_table.h"

/* A name that occurs more often than this in .debug_str (as the end of others) is not searched for. */
enum { OCCURRENCE_LIMIT = 64, UNIT_LIMIT = 1000000 };

struct unit {
    Dwarf_Off start; /* of its header, in .debug_info */
    Dwarf_Off end;
    Dwarf_Off die;
    bool indexed;
};

struct mpiq_type_index {
    Dwarf *dwarf;
    struct mpiq_type_index *alternate; /* dwz's common file, or NULL */
    struct mpiq_name_table spaces[2];  /* name -> index in dies */
    Dwarf_Die *dies;                   /* of .debug_info, .debug_types and .dwo files alike */
    size_t die_count, die_capacity;
    struct unit *units;
    size_t unit_count;
    Elf_Data *info, *strings;
    bool big_endian;
    bool names_hide;    /* names may be elsewhere than in .debug_str and referred to in other ways */
    bool names_unknown; /* … and not even in .debug_str (inline, split DWARF) */
    bool may_be_split;  /* some units may be in .dwo files */
    bool indexed;       /* all units */
};

static void find_sections(struct mpiq_type_index *index)
{
    Elf *elf = dwarf_getelf(index->dwarf);
    GElf_Ehdr header;
    size_t names;
    if (!gelf_getehdr(elf, &header) || elf_getshdrstrndx(elf, &names) != 0)
        return;
    index->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr section_header;
        const char *name =
            gelf_getshdr(section, &section_header) ? elf_strptr(elf, names, section_header.sh_name) : NULL;
        if (!name)
            continue;
        if (strncmp(name, ".zdebug_", 8) == 0)
            name += 2; /* decompressed by dwarf_begin_elf */
        else if (strncmp(name, ".debug_", 7) == 0)
            name += 1;
        else
            continue;
        if (strcmp(name, "debug_info") == 0)
            index->info = elf_getdata(section, NULL);
        else if (strcmp(name, "debug_str") == 0)
            index->strings = elf_getdata(section, NULL);
        else if (strcmp(name, "debug_str_offsets") == 0)
            index->names_hide = true;
        else if (strcmp(name, "debug_types") == 0)
            index->names_hide = index->names_unknown = true; /* gcc writes the names of type units inline */
        else if (strcmp(name, "debug_addr") == 0)
            index->may_be_split = true;
    }
    if (index->alternate)
        index->names_hide = true;
    if (!index->info || !index->info->d_buf || !index->strings || !index->strings->d_buf)
        index->names_hide = index->names_unknown = true;
}

/* Reads the units' headers. */
static void find_units(struct mpiq_type_index *index)
{
    Dwarf_Off offset = 0, next;
    size_t header_size, capacity = 0;
    Dwarf_Half version;
    while (index->unit_count < UNIT_LIMIT &&
           dwarf_next_unit(index->dwarf, offset, &next, &header_size, &version, NULL, NULL, NULL, NULL,
                           NULL) == 0 &&
           next > offset) {
        if (index->unit_count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            struct unit *larger = realloc(index->units, capacity * sizeof *larger);
            if (!larger)
                return;
            index->units = larger;
        }
        index->units[index->unit_count++] =
            (struct unit){.start = offset, .end = next, .die = offset + header_size};
        offset = next;
    }
}

/* Whether the producer writes names beside their types, where a search by string offset cannot find them: the
   first unit shows. */
static bool writes_names_inline(struct mpiq_type_index *index)
{
    Dwarf_Die die;
    if (!index->unit_count || !dwarf_offdie(index->dwarf, index->units[0].die, &die) ||
        dwarf_child(&die, &die) != 0)
        return false;
    int visited = 0;
    do {
        Dwarf_Attribute attribute;
        const char *name = dwarf_attr(&die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
        if (name && strlen(name) >= 4 && dwarf_whatform(&attribute) == DW_FORM_string)
            return true;
    } while (++visited < 64 && dwarf_siblingof(&die, &die) == 0);
    return false;
}

static void add(struct mpiq_type_index *index, enum mpiq_type_space space, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    if (!name || (space == MPIQ_TYPE_TAGGED && dwarf_hasattr(die, DW_AT_declaration)) ||
        mpiq_name_table_get(&index->spaces[space], name, NULL))
        return;
    if (index->die_count == index->die_capacity) {
        size_t capacity = index->die_capacity ? index->die_capacity * 2 : 256;
        Dwarf_Die *larger = realloc(index->dies, capacity * sizeof *larger);
        if (!larger)
            return;
        index->dies = larger;
        index->die_capacity = capacity;
    }
    index->dies[index->die_count] = *die;
    if (mpiq_name_table_add(&index->spaces[space], name, index->die_count))
        index->die_count++;
}

static void index_children(struct mpiq_type_index *index, Dwarf_Die *unit)
{
    Dwarf_Die child;
    if (dwarf_child(unit, &child) != 0)
        return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_class_type:
        case DW_TAG_enumeration_type:
            add(index, MPIQ_TYPE_TAGGED, &child);
            break;
        case DW_TAG_typedef:
        case DW_TAG_base_type:
            add(index, MPIQ_TYPE_NAMED, &child);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void index_unit(struct mpiq_type_index *index, struct unit *unit)
{
    if (unit->indexed)
        return;
    unit->indexed = true;
    Dwarf_Die die;
    if (dwarf_offdie(index->dwarf, unit->die, &die))
        index_children(index, &die);
}

/* Every unit, type units and those of .dwo files included. */
static void index_all(struct mpiq_type_index *index)
{
    if (index->indexed)
        return;
    index->indexed = true;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    int count = 0;
    while (count < UNIT_LIMIT && dwarf_get_units(index->dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
        index_children(index, type == DW_UT_skeleton && dwarf_tag(&split) > 0 ? &split : &die);
        count++;
    }
    mpiq_debug("dwarf", "indexed all %d units", count);
}

/* Whether names are in .dwo files, and only there. */
static bool is_split(struct mpiq_type_index *index)
{
    Dwarf_CU *unit = NULL;
    uint8_t type;
    for (int i = 0;
         i < UNIT_LIMIT && dwarf_get_units(index->dwarf, unit, &unit, NULL, &type, NULL, NULL) == 0; i++) {
        if (type == DW_UT_skeleton)
            return true;
    }
    return false;
}

static bool get(struct mpiq_type_index *index, const char *name, enum mpiq_type_space space, Dwarf_Die *ret)
{
    uint64_t number;
    if (!mpiq_name_table_get(&index->spaces[space], name, &number))
        return false;
    *ret = index->dies[number];
    return true;
}

struct mpiq_type_index *mpiq_type_index_create(Dwarf *dwarf)
{
    struct mpiq_type_index *index = calloc(1, sizeof *index);
    if (!index)
        return NULL;
    index->dwarf = dwarf;
    Dwarf *alternate = dwarf_getalt(dwarf);
    if (alternate && alternate != dwarf)
        index->alternate = mpiq_type_index_create(alternate);
    find_sections(index);
    find_units(index);
    if (writes_names_inline(index) || (index->may_be_split && is_split(index)))
        index->names_hide = index->names_unknown = true;
    return index;
}

static struct unit *unit_at(struct mpiq_type_index *index, Dwarf_Off offset)
{
    size_t low = 0, high = index->unit_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->units[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->unit_count ? &index->units[low] : NULL;
}

/* Indexes the units that refer to the string at that offset, in their order, until one defines the name. */
static bool search_references(struct mpiq_type_index *index, uint32_t string, const char *name,
                              enum mpiq_type_space space, Dwarf_Die *ret)
{
    unsigned char needle[4];
    for (int i = 0; i < 4; i++)
        needle[i] = (unsigned char)(string >> (index->big_endian ? 24 - 8 * i : 8 * i));
    const unsigned char *start = index->info->d_buf, *end = start + index->info->d_size, *at = start;
    while (at < end && (at = memmem(at, (size_t)(end - at), needle, sizeof needle))) {
        struct unit *unit = unit_at(index, (Dwarf_Off)(at - start));
        if (!unit)
            return false;
        /* The types of an indexed one are in the table, where get() did not find the name. */
        if (!unit->indexed) {
            index_unit(index, unit);
            if (get(index, name, space, ret))
                return true;
        }
        at = unit->end < index->info->d_size ? start + unit->end : end; /* a header may say anything */
    }
    return false;
}

/* The offsets in .debug_str where name is written: more than one where it ends others and nobody merged
   them.  Returns their number, OCCURRENCE_LIMIT if there are too many. */
static size_t find_string(const struct mpiq_type_index *index, const char *name, uint32_t *offsets)
{
    const char *start = index->strings->d_buf, *end = start + index->strings->d_size, *at = start;
    size_t length = strlen(name) + 1, count = 0;
    while (count < OCCURRENCE_LIMIT && at < end && (at = memmem(at, (size_t)(end - at), name, length))) {
        if ((uint64_t)(at - start) <= UINT32_MAX)
            offsets[count++] = (uint32_t)(at - start);
        at += 1;
    }
    return count;
}

bool mpiq_type_index_find(struct mpiq_type_index *index, const char *name, enum mpiq_type_space space,
                          Dwarf_Die *ret)
{
    if (get(index, name, space, ret))
        return true;
    if (index->alternate && mpiq_type_index_find(index->alternate, name, space, ret))
        return true;
    if (index->indexed)
        return false;
    uint32_t offsets[OCCURRENCE_LIMIT];
    size_t count = index->names_unknown ? 0 : find_string(index, name, offsets);
    /* gcc writes names of less than four characters beside the type, others into .debug_str. */
    bool may_hide = index->names_unknown || strlen(name) < 4 || count == OCCURRENCE_LIMIT ||
                    (index->names_hide && (count > 0 || index->alternate));
    if (may_hide) {
        index_all(index);
        return get(index, name, space, ret);
    }
    for (size_t i = 0; i < count; i++) {
        if (search_references(index, offsets[i], name, space, ret))
            return true;
    }
    return false;
}

void mpiq_type_index_destroy(struct mpiq_type_index *index)
{
    if (!index)
        return;
    mpiq_type_index_destroy(index->alternate);
    for (size_t i = 0; i < sizeof index->spaces / sizeof *index->spaces; i++)
        mpiq_name_table_deinit(&index->spaces[i]);
    free(index->dies);
    free(index->units);
    free(index);
}
