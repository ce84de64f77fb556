/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/type_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/debug.h"
#include "base/name_table.h"
#include "process/debug_files.h"
#include "process/die_walk.h"

/* A name that occurs more often than this in .debug_str (as the end of others) is not searched for. */
enum { OCCURRENCE_LIMIT = 64, ENTRY_LIMIT = 1 << 24 };

struct mpiq_type_index {
    struct mpiq_debug_info *info;
    struct mpiq_type_index *alternate; /* of dwz's common file, or NULL */
    struct mpiq_name_table spaces[2];  /* name -> index in entries */
    struct mpiq_entry *entries;        /* of .debug_info, .debug_types and split files alike */
    size_t entry_count, entry_capacity;
    const struct mpiq_debug_section *units, *strings; /* .debug_info, .debug_str; NULL: none */
    bool names_hide;    /* names may be elsewhere than in .debug_str and referred to in other ways */
    bool names_unknown; /* … and not even in .debug_str (inline, split DWARF) */
    bool indexed;       /* all units */
};

static void find_sections(struct mpiq_type_index *index)
{
    struct mpiq_debug_info *info = index->info;
    index->units = mpiq_debug_sections_find(&info->sections, "info");
    index->strings = mpiq_debug_sections_find(&info->sections, "str");
    index->names_hide = index->alternate || mpiq_debug_sections_find(&info->sections, "str_offsets") != NULL;
    /* gcc writes the names of type units inline */
    index->names_unknown =
        !index->units || !index->strings || mpiq_debug_sections_find(&info->sections, "types") != NULL;
}

/* Whether the producer writes names beside their types, where a search by string offset cannot find them: the
   first unit shows. */
static bool writes_names_inline(struct mpiq_type_index *index)
{
    struct mpiq_debug_info *info = index->info;
    if (!info->info_count)
        return false;
    struct mpiq_debug_unit *unit = &info->units[0];
    Dwarf_Die parent = mpiq_die_first(unit), die = parent ? mpiq_die_child(unit, parent) : NULL;
    bool inline_names = false;
    mpiq_die_free(parent);
    for (int visited = 0; die && visited < 64 && !inline_names; visited++) {
        const char *name = mpiq_die_string(unit, die, DW_AT_name);
        inline_names = name && strlen(name) >= 4 && mpiq_debug_within(index->units, name);
        Dwarf_Die next = mpiq_die_sibling(unit, die);
        mpiq_die_free(die);
        die = next;
    }
    mpiq_die_free(die);
    return inline_names;
}

static void add(struct mpiq_type_index *index, const struct mpiq_debug_unit *unit, enum mpiq_type_space space,
                Dwarf_Die die)
{
    const char *name = mpiq_die_string(unit, die, DW_AT_name);
    if (!name || mpiq_name_table_get(&index->spaces[space], name, NULL) ||
        (space == MPIQ_TYPE_TAGGED && mpiq_die_has(die, DW_AT_declaration)))
        return;
    if (!mpiq_array_reserve(&index->entries, &index->entry_capacity, index->entry_count + 1))
        return;
    index->entries[index->entry_count] = mpiq_die_entry(unit, die);
    if (mpiq_name_table_add(&index->spaces[space], name, index->entry_count))
        index->entry_count++;
}

static void index_children(struct mpiq_type_index *index, struct mpiq_debug_unit *unit)
{
    Dwarf_Die parent = mpiq_die_first(unit), die = parent ? mpiq_die_child(unit, parent) : NULL;
    mpiq_die_free(parent);
    for (int visited = 0; die && visited < ENTRY_LIMIT; visited++) {
        switch (mpiq_die_tag(die)) {
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_class_type:
        case DW_TAG_enumeration_type:
            add(index, unit, MPIQ_TYPE_TAGGED, die);
            break;
        case DW_TAG_typedef:
        case DW_TAG_base_type:
            add(index, unit, MPIQ_TYPE_NAMED, die);
            break;
        default:
            break;
        }
        Dwarf_Die next = mpiq_die_sibling(unit, die);
        mpiq_die_free(die);
        die = next;
    }
    mpiq_die_free(die);
}

/* A split file's type units belong to all of its units. */
static void index_split(struct mpiq_type_index *index, struct mpiq_debug_info *split)
{
    split->walk = true;
    for (size_t i = 0; i < split->unit_count; i++) {
        if (!split->units[i].indexed)
            index_children(index, &split->units[i]);
        split->units[i].indexed = true;
    }
}

static void index_unit(struct mpiq_type_index *index, struct mpiq_debug_unit *unit)
{
    if (unit->indexed)
        return;
    unit->indexed = true;
    if (mpiq_debug_split(index->info, unit))
        index_split(index, unit->split);
    else
        index_children(index, unit);
}

/* Every unit, type units and those of split files included. */
static void index_all(struct mpiq_type_index *index)
{
    if (index->indexed)
        return;
    index->indexed = index->info->walk = true;
    for (size_t i = 0; i < index->info->unit_count; i++)
        index_unit(index, &index->info->units[i]);
    mpiq_debug("dwarf", "indexed all %zu units", index->info->unit_count);
}

/* Whether names are in split files, and only there. */
static bool is_split(const struct mpiq_type_index *index)
{
    struct mpiq_debug_info *info = index->info;
    /* Both kinds of skeleton have their addresses in .debug_addr. */
    if (!mpiq_debug_sections_find(&info->sections, "addr"))
        return false;
    info->walk = true;
    for (size_t i = 0; i < info->info_count; i++) {
        mpiq_debug_unit_prepare(&info->units[i]);
        if (info->units[i].has_split)
            return true;
    }
    return false;
}

static bool get(struct mpiq_type_index *index, const char *name, enum mpiq_type_space space,
                struct mpiq_entry *ret)
{
    uint64_t number;
    if (!mpiq_name_table_get(&index->spaces[space], name, &number))
        return false;
    *ret = index->entries[number];
    return true;
}

struct mpiq_type_index *mpiq_type_index_create(struct mpiq_debug_info *info)
{
    struct mpiq_type_index *index = calloc(1, sizeof *index);
    if (!index)
        return NULL;
    index->info = info;
    if (info->alternate && info->alternate != info)
        index->alternate = mpiq_type_index_create(info->alternate);
    find_sections(index);
    if (index->names_unknown || writes_names_inline(index) || is_split(index))
        index->names_hide = index->names_unknown = true;
    return index;
}

/* Indexes the units that refer to the string at that offset, in their order, until one defines the name. */
static bool search_references(struct mpiq_type_index *index, uint32_t string, const char *name,
                              enum mpiq_type_space space, struct mpiq_entry *ret)
{
    unsigned char needle[4];
    for (int i = 0; i < 4; i++)
        needle[i] = (unsigned char)(string >> (index->info->sections.big_endian ? 24 - 8 * i : 8 * i));
    const unsigned char *start = index->units->data, *end = start + index->units->size, *at = start;
    while (at < end && (at = memmem(at, (size_t)(end - at), needle, sizeof needle))) {
        struct mpiq_debug_unit *unit = mpiq_debug_unit_at(index->info, (uint64_t)(at - start), false);
        if (!unit)
            return false;
        /* The types of an indexed one are in the table, where get() did not find the name. */
        if (!unit->indexed) {
            index_unit(index, unit);
            if (get(index, name, space, ret))
                return true;
        }
        at = start + unit->end;
    }
    return false;
}

/* The offsets in .debug_str where name is written: more than one where it ends others and nobody merged
   them.  Returns their number, OCCURRENCE_LIMIT if there are too many. */
static size_t find_string(const struct mpiq_type_index *index, const char *name, uint32_t *offsets)
{
    const char *start = (const char *)index->strings->data, *end = start + index->strings->size, *at = start;
    size_t length = strlen(name) + 1, count = 0;
    while (count < OCCURRENCE_LIMIT && at < end && (at = memmem(at, (size_t)(end - at), name, length))) {
        if ((uint64_t)(at - start) <= UINT32_MAX)
            offsets[count++] = (uint32_t)(at - start);
        at += 1;
    }
    return count;
}

bool mpiq_type_index_find(struct mpiq_type_index *index, const char *name, enum mpiq_type_space space,
                          struct mpiq_entry *ret)
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
    free(index->entries);
    free(index);
}
