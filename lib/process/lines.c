/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"
#include "process/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/die.h"
#include "process/line_table.h"
#include "process/scopes.h"
#include "process/symbols.h"
#include "process/unit_map.h"

/* Steps from an inlined function to its name; the addresses remembered for one object. */
enum { ORIGIN_LIMIT = 16, ADDRESS_LIMIT = 1 << 20 };

/* What is known about one address. */
struct place {
    uint64_t address;
    struct mpiq_source_place *lines; /* NULL: the slot is free */
    size_t count;
};

/* The line table of a unit that an address was looked up in. */
struct unit_lines {
    struct unit_lines *next;
    const struct mpiq_debug_unit *unit;
    struct mpiq_line_table *table; /* NULL: it has none */
};

struct mpiq_lines {
    struct place *places; /* open addressing */
    size_t capacity, count;
    struct unit_lines *tables;
    struct mpiq_unit_map units;
};

static size_t slot_of(const struct mpiq_lines *lines, uint64_t address)
{
    size_t i = (size_t)(address * 0x9e3779b97f4a7c15u >> 32) & (lines->capacity - 1);
    while (lines->places[i].lines && lines->places[i].address != address)
        i = (i + 1) & (lines->capacity - 1);
    return i;
}

static bool grow(struct mpiq_lines *lines)
{
    if (lines->count * 2 < lines->capacity)
        return true;
    if (lines->capacity >= ADDRESS_LIMIT)
        return false;
    struct mpiq_lines larger = {.capacity = lines->capacity ? lines->capacity * 2 : 64};
    larger.places = mpiq_memory_checked(calloc(larger.capacity, sizeof *larger.places));
    if (!larger.places)
        return false;
    for (size_t i = 0; i < lines->capacity; i++) {
        if (lines->places[i].lines)
            larger.places[slot_of(&larger, lines->places[i].address)] = lines->places[i];
    }
    free(lines->places);
    lines->places = larger.places;
    lines->capacity = larger.capacity;
    return true;
}

static struct mpiq_line_table *table_of(struct mpiq_lines *lines, struct mpiq_debug_unit *unit)
{
    for (struct unit_lines *known = lines->tables; known; known = known->next) {
        if (known->unit == unit)
            return known->table;
    }
    struct unit_lines *added = mpiq_memory_checked(calloc(1, sizeof *added));
    if (!added)
        return NULL;
    *added = (struct unit_lines){lines->tables, unit, mpiq_line_table_create(unit)};
    lines->tables = added;
    return added->table;
}

/* The name of the entry, or of what it is an instance of. */
static const char *name_of(struct mpiq_entry entry, Dwarf_Half attribute)
{
    for (int i = 0; i < ORIGIN_LIMIT; i++) {
        struct mpiq_debug_unit *unit;
        _cleanup_die_ Dwarf_Die die = mpiq_die_at(&entry, &unit);
        const char *name = die ? mpiq_die_string(unit, die, attribute) : NULL;
        struct mpiq_entry origin;
        if (!die || name)
            return name;
        if (!mpiq_die_reference(unit, die, DW_AT_abstract_origin, &origin) &&
            !mpiq_die_reference(unit, die, DW_AT_specification, &origin))
            return NULL;
        entry = origin;
    }
    return NULL;
}

static const char *function_name(const struct mpiq_entry *entry)
{
    const char *name = name_of(*entry, DW_AT_name);
    return name ? name : name_of(*entry, DW_AT_linkage_name);
}

/* Where the function of that entry was inlined. */
static void call_site(struct mpiq_line_table *table, const struct mpiq_entry *entry,
                      struct mpiq_source_place *ret)
{
    uint64_t number;
    ret->file = NULL;
    ret->line = 0;
    struct mpiq_debug_unit *unit;
    _cleanup_die_ Dwarf_Die die = mpiq_die_at(entry, &unit);
    if (!die)
        return;
    if (mpiq_die_number(die, DW_AT_call_line, &number) && number <= INT32_MAX)
        ret->line = (int)number;
    if (table && mpiq_die_number(die, DW_AT_call_file, &number))
        ret->file = mpiq_line_table_path(table, number);
}

static void from_debug_info(struct mpiq_lines *lines, struct mpiq_debug_info *info, uint64_t address,
                            struct mpiq_source_place *found, size_t *count)
{
    struct mpiq_debug_unit *unit = mpiq_unit_map_find(&lines->units, info, address);
    if (!unit)
        return;
    mpiq_debug_unit_prepare(unit);
    struct mpiq_source_place here = {.function = NULL};
    struct mpiq_line_table *table = table_of(lines, unit);
    uint32_t file;
    bool has_line = table && mpiq_line_table_find(table, address, &file, &here.line);
    if (has_line)
        here.file = mpiq_line_table_path(table, file);
    struct mpiq_scopes scopes;
    mpiq_scopes_find(info, unit, address, &scopes);
    for (int i = scopes.count; i-- > 0;) {
        here.function = function_name(&scopes.functions[i]);
        here.inlined = i > 0;
        found[(*count)++] = here;
        if (i > 0)
            call_site(table, &scopes.functions[i], &here);
    }
    if (!scopes.count && has_line)
        found[(*count)++] = here;
}

/* Function names are enough for the C library: the reason of a hang is not in its source, and its debug file
   takes longer to decompress than a whole look at a job. */
static bool is_c_library(const struct mpiq_object *object)
{
    const char *slash = strrchr(object->path, '/');
    const char *name = slash ? slash + 1 : object->path;
    return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0 ||
           strncmp(name, "ld-linux", 8) == 0;
}

static struct mpiq_debug_info *info_of(struct mpiq_object *object)
{
    return is_c_library(object) && !mpiq_object_has_own_dwarf(object) ? NULL : mpiq_object_debug_info(object);
}

static void lines_deinit(void *memory)
{
    struct mpiq_lines *lines = memory;
    for (size_t i = 0; i < lines->capacity; i++)
        free(lines->places[i].lines);
    while (lines->tables) {
        struct unit_lines *first = lines->tables;
        lines->tables = first->next;
        mpiq_line_table_destroy(first->table);
        free(first);
    }
    free(lines->places);
    mpiq_unit_map_deinit(&lines->units);
}

bool mpiq_lines_scopes(struct mpiq_object *object, uint64_t address, struct mpiq_scopes *ret)
{
    struct mpiq_lines *lines =
        mpiq_object_part(object, MPIQ_OBJECT_LINES, sizeof(struct mpiq_lines), lines_deinit);
    struct mpiq_debug_info *info = lines ? info_of(object) : NULL;
    struct mpiq_debug_unit *unit = info ? mpiq_unit_map_find(&lines->units, info, address) : NULL;
    if (!unit)
        return false;
    mpiq_debug_unit_prepare(unit);
    mpiq_scopes_find(info, unit, address, ret);
    return ret->count > 0;
}

const struct mpiq_source_place *mpiq_lines_at(struct mpiq_object *object, uint64_t address, size_t *count)
{
    struct mpiq_lines *lines =
        mpiq_object_part(object, MPIQ_OBJECT_LINES, sizeof(struct mpiq_lines), lines_deinit);
    if (!lines || !grow(lines))
        return NULL;
    struct place *place = &lines->places[slot_of(lines, address)];
    if (!place->lines) {
        struct mpiq_source_place found[MPIQ_SCOPES_MOST + 1] = {0};
        size_t found_count = 0;
        struct mpiq_debug_info *info = info_of(object);
        if (info)
            from_debug_info(lines, info, address, found, &found_count);
        if (!found_count)
            found_count = 1;
        if (!found[found_count - 1].function)
            found[found_count - 1].function = mpiq_symbols_function(object, address);
        struct mpiq_source_place *kept = malloc(found_count * sizeof *kept);
        if (!kept)
            return NULL;
        memcpy(kept, found, found_count * sizeof *kept);
        *place = (struct place){.address = address, .lines = kept, .count = found_count};
        lines->count++;
    }
    *count = place->count;
    return place->lines;
}
