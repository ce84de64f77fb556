/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/lines.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/symbols.h"

/* Functions inlined into each other; scopes in each other; units; the addresses remembered for one object. */
enum { INLINE_LIMIT = 64, SCOPE_LIMIT = 256, UNIT_LIMIT = 1000000, ADDRESS_LIMIT = 1 << 20 };

/* What is known about one address. */
struct place {
    uint64_t address;
    struct mpiq_line *lines; /* NULL: the slot is free */
    size_t count;
};

/* A unit's code. */
struct range {
    uint64_t start, end;
    Dwarf_Off unit; /* offset of its DIE */
};

struct mpiq_lines {
    struct place *places; /* open addressing */
    size_t capacity, count;
    char **names; /* paths that were put together here */
    size_t name_count;
    struct range *ranges; /* ascending; made when .debug_aranges has no answer, as with clang */
    size_t range_count;
    bool ranges_read;
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
    larger.places = calloc(larger.capacity, sizeof *larger.places);
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

static const char *own(struct mpiq_lines *lines, char *name)
{
    char **larger = name ? realloc(lines->names, (lines->name_count + 1) * sizeof *larger) : NULL;
    if (!larger) {
        free(name);
        return NULL;
    }
    lines->names = larger;
    return lines->names[lines->name_count++] = name;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static void read_ranges(struct mpiq_lines *lines, Dwarf *dwarf)
{
    lines->ranges_read = true;
    Dwarf_Off offset = 0, next;
    size_t header_size, capacity = 0;
    for (int unit = 0;
         unit < UNIT_LIMIT && dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0 &&
         next > offset;
         unit++, offset = next) {
        Dwarf_Die die;
        if (!dwarf_offdie(dwarf, offset + header_size, &die))
            continue;
        Dwarf_Addr base, start, end;
        ptrdiff_t position = 0;
        for (int i = 0; i < UNIT_LIMIT && (position = dwarf_ranges(&die, position, &base, &start, &end)) > 0;
             i++) {
            if (lines->range_count == capacity) {
                capacity = capacity ? capacity * 2 : 256;
                struct range *larger = realloc(lines->ranges, capacity * sizeof *larger);
                if (!larger)
                    return;
                lines->ranges = larger;
            }
            lines->ranges[lines->range_count++] = (struct range){start, end, offset + header_size};
        }
    }
    if (lines->range_count)
        qsort(lines->ranges, lines->range_count, sizeof *lines->ranges, compare_ranges);
}

static bool find_unit(struct mpiq_lines *lines, Dwarf *dwarf, uint64_t address, Dwarf_Die *ret)
{
    if (dwarf_addrdie(dwarf, address, ret))
        return true;
    if (!lines->ranges_read)
        read_ranges(lines, dwarf);
    size_t low = 0, high = lines->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lines->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < lines->ranges[low - 1].end &&
           dwarf_offdie(dwarf, lines->ranges[low - 1].unit, ret);
}

/* The chain of functions around address, outermost first: a subprogram and what was inlined into it. */
struct chain {
    Dwarf_Die dies[INLINE_LIMIT];
    int count;
};

static bool is_container(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type;
}

/* Goes down from parent along what holds address.  Functions within functions (Fortran's internal procedures)
   lie outside their parent's code: `nested` looks there. */
static bool descend(Dwarf_Die *parent, uint64_t address, bool nested, int depth, struct chain *chain)
{
    Dwarf_Die child;
    if (depth > SCOPE_LIMIT || dwarf_child(parent, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        if (function || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
            if (dwarf_haspc(&child, address) == 1) {
                if (function && chain->count < INLINE_LIMIT)
                    chain->dies[chain->count++] = child;
                descend(&child, address, false, depth + 1, chain);
                return true;
            }
            if (nested && tag == DW_TAG_subprogram && descend(&child, address, true, depth + 1, chain))
                return true;
        } else if (is_container(tag) && descend(&child, address, nested, depth + 1, chain)) {
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static const char *function_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name =
        dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
    if (!name && dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name;
}

/* With the compilation directory in front if it is relative. */
static const char *file_name(struct mpiq_lines *lines, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    if (!file || file[0] == '/')
        return file;
    const char *directory =
        dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
    char *whole = NULL;
    if (!directory || asprintf(&whole, "%s/%s", directory, file) < 0)
        return file;
    const char *owned = own(lines, whole);
    return owned ? owned : file;
}

/* Where the function of that DIE was inlined. */
static void call_site(struct mpiq_lines *lines, Dwarf_Die *unit, Dwarf_Die *die, struct mpiq_line *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;
    ret->file = NULL;
    ret->line = 0;
    if (dwarf_attr(die, DW_AT_call_line, &attribute) && dwarf_formudata(&attribute, &number) == 0)
        ret->line = (int)number;
    if (dwarf_attr(die, DW_AT_call_file, &attribute) && dwarf_formudata(&attribute, &number) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
        ret->file = file_name(lines, unit, dwarf_filesrc(files, number, NULL, NULL));
}

static void from_dwarf(struct mpiq_lines *lines, Dwarf *dwarf, uint64_t address, struct mpiq_line *found,
                       size_t *count)
{
    Dwarf_Die unit;
    if (!find_unit(lines, dwarf, address, &unit))
        return;
    struct mpiq_line here = {.function = NULL};
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    if (line) {
        dwarf_lineno(line, &here.line);
        here.file = file_name(lines, &unit, dwarf_linesrc(line, NULL, NULL));
    }
    struct chain chain = {.count = 0};
    Dwarf_Die split, *whole = &unit;
    uint8_t type;
    if (dwarf_cu_info(unit.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton &&
        dwarf_tag(&split) > 0)
        whole = &split; /* functions are in the .dwo file, lines are not */
    if (!descend(whole, address, false, 0, &chain))
        descend(whole, address, true, 0, &chain);
    for (int i = chain.count; i-- > 0;) {
        here.function = function_name(&chain.dies[i]);
        here.inlined = i > 0;
        found[(*count)++] = here;
        if (i > 0)
            call_site(lines, &unit, &chain.dies[i], &here);
    }
    if (!chain.count && line)
        found[(*count)++] = here;
}

/* Nobody looks for the reason of a hang in the C library's source, and its debug file takes longer to
   decompress than a whole look at a job: names are enough there. */
static bool is_c_library(const struct mpiq_object *object)
{
    const char *slash = strrchr(object->path, '/');
    const char *name = slash ? slash + 1 : object->path;
    return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0 ||
           strncmp(name, "ld-linux", 8) == 0;
}

static Dwarf *dwarf_of(struct mpiq_object *object)
{
    return is_c_library(object) && !mpiq_object_has_own_dwarf(object) ? NULL : mpiq_object_dwarf(object);
}

const struct mpiq_line *mpiq_lines_at(struct mpiq_object *object, uint64_t address, size_t *count)
{
    if (!object->lines && !(object->lines = calloc(1, sizeof *object->lines)))
        return NULL;
    struct mpiq_lines *lines = object->lines;
    if (!grow(lines))
        return NULL;
    struct place *place = &lines->places[slot_of(lines, address)];
    if (!place->lines) {
        struct mpiq_line found[INLINE_LIMIT + 1] = {0};
        size_t found_count = 0;
        Dwarf *dwarf = dwarf_of(object);
        if (dwarf)
            from_dwarf(lines, dwarf, address, found, &found_count);
        if (!found_count)
            found_count = 1;
        if (!found[found_count - 1].function)
            found[found_count - 1].function = mpiq_symbols_function(object, address);
        struct mpiq_line *kept = malloc(found_count * sizeof *kept);
        if (!kept)
            return NULL;
        memcpy(kept, found, found_count * sizeof *kept);
        *place = (struct place){.address = address, .lines = kept, .count = found_count};
        lines->count++;
    }
    *count = place->count;
    return place->lines;
}

void mpiq_lines_destroy(struct mpiq_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->capacity; i++)
        free(lines->places[i].lines);
    for (size_t i = 0; i < lines->name_count; i++)
        free(lines->names[i]);
    free(lines->places);
    free(lines->names);
    free(lines->ranges);
    free(lines);
}
