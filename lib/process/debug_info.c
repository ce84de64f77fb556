/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/debug_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/debug.h"

enum { UNIT_LIMIT = 1000000 };

/* ---- what libdwarf asks about the file ---- */

/* Lists of ranges are read in ranges.c, of locations by nobody; libdwarf would go through all their headers.
 */
static bool is_shown(const struct mpiq_debug_section *section)
{
    static const char *const hidden[] = {".debug_rnglists", ".debug_ranges", ".debug_loc", ".debug_macro",
                                         ".debug_frame",    ".debug_pub",    ".debug_gnu"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (strncmp(section->name, hidden[i], strlen(hidden[i])) == 0)
            return false;
    }
    return true;
}

/* Whether the section is the one that the view shows a part of. */
static bool is_part(const struct mpiq_debug_view *view, const struct mpiq_debug_section *section)
{
    const char *name = view->in_types ? ".debug_types" : ".debug_info";
    return view->end != UINT64_MAX && strncmp(section->name, name, strlen(name)) == 0;
}

static int section_info(void *object, libdwarf_index index, libdwarf_section *ret, int *error)
{
    const struct mpiq_debug_view *view = object;
    *error = 0;
    *ret = (libdwarf_section){.LIBDWARF_SECTION(name) = ""};
    if (index == 0) /* as in ELF, the first one is none */
        return DW_DLV_OK;
    if (index > view->info->sections.count)
        return DW_DLV_NO_ENTRY;
    const struct mpiq_debug_section *section = &view->info->sections.items[index - 1];
    if (!is_shown(section))
        return DW_DLV_OK;
    ret->LIBDWARF_SECTION(name) = section->name;
    ret->LIBDWARF_SECTION(type) = SHT_PROGBITS;
    ret->LIBDWARF_SECTION(size) = is_part(view, section) ? view->end - view->start : section->size;
    return DW_DLV_OK;
}

static libdwarf_order byte_order(void *object)
{
    const struct mpiq_debug_view *view = object;
    return view->info->sections.big_endian ? DW_OBJECT_MSB : DW_OBJECT_LSB;
}

static Dwarf_Small word_size(void *object)
{
    const struct mpiq_debug_view *view = object;
    return (Dwarf_Small)view->info->sections.word_size;
}

static Dwarf_Unsigned section_count(void *object)
{
    const struct mpiq_debug_view *view = object;
    return view->info->sections.count + 1;
}

static int load_section(void *object, libdwarf_index index, Dwarf_Small **ret, int *error)
{
    struct mpiq_debug_view *view = object;
    struct mpiq_debug_sections *sections = &view->info->sections;
    struct mpiq_debug_section *section =
        index > 0 && index <= sections->count ? &sections->items[index - 1] : NULL;
    const unsigned char *data = section ? mpiq_debug_section_load(sections, section) : NULL;
    *error = 0;
    if (!data) {
        *error = DW_DLE_SECTION_ERROR;
        return DW_DLV_ERROR;
    }
    *ret = (Dwarf_Small *)data + (is_part(view, section) ? view->start : 0); /* libdwarf only reads it */
    return DW_DLV_OK;
}

#ifdef LIBDWARF_RENAMED
/* The sections are checked here: it has no reason to doubt their sizes. */
static Dwarf_Unsigned file_size(void *object)
{
    (void)object;
    return INT64_MAX;
}
#endif

static const libdwarf_methods methods = {
    .LIBDWARF_METHOD(get_section_info) = section_info,
    .LIBDWARF_METHOD(get_byte_order) = byte_order,
    .LIBDWARF_METHOD(get_length_size) = word_size,
    .LIBDWARF_METHOD(get_pointer_size) = word_size,
    .LIBDWARF_METHOD(get_section_count) = section_count,
    .LIBDWARF_METHOD(load_section) = load_section,
#ifdef LIBDWARF_RENAMED
    .om_get_filesize = file_size,
#endif
};

bool mpiq_dwarf_ok(int result, Dwarf_Error error)
{
    if (result == DW_DLV_ERROR && error)
        dwarf_dealloc_error(NULL, error);
    return result == DW_DLV_OK;
}

static struct mpiq_debug_view *open_view(struct mpiq_debug_info *info, uint64_t start, uint64_t end,
                                         bool in_types)
{
    struct mpiq_debug_view *view = calloc(1, sizeof *view);
    if (!view)
        return NULL;
    *view = (struct mpiq_debug_view){.info = info, .start = start, .end = end, .in_types = in_types};
    view->access = (libdwarf_access){.LIBDWARF_ACCESS(object) = view, .LIBDWARF_ACCESS(methods) = &methods};
    Dwarf_Error error = NULL;
    dwarf_set_de_alloc_flag(0); /* it need not note what it allocates: all is given back here */
    int result = dwarf_object_init_b(&view->access, NULL, NULL, DW_GROUPNUMBER_ANY, &view->debug, &error);
    if (result == DW_DLV_ERROR)
        mpiq_debug("dwarf", "libdwarf: %s", dwarf_errmsg(error));
    if (mpiq_dwarf_ok(result, error))
        return view;
    free(view);
    return NULL;
}

static void close_view(struct mpiq_debug_view *view)
{
    Dwarf_Error error = NULL;
    if (!view)
        return;
    mpiq_dwarf_ok(libdwarf_finish(view->debug, &error), error);
    free(view);
}

/* A package's index speaks of offsets in the whole file. */
struct mpiq_debug_view *mpiq_debug_unit_view(struct mpiq_debug_unit *unit)
{
    struct mpiq_debug_info *info = unit->info;
    if (!unit->view)
        unit->view = info->walk || info->package ? info->whole
                                                 : open_view(info, unit->start, unit->end, unit->in_types);
    return unit->view;
}

/* ---- units ---- */

bool mpiq_debug_number(const struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                       uint64_t offset, size_t size, uint64_t *ret)
{
    if (!section || size > 8 || section->size < size || offset > section->size - size)
        return false;
    const unsigned char *at = section->data + offset;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[info->sections.big_endian ? i : size - 1 - i];
    *ret = value;
    return true;
}

bool mpiq_debug_within(const struct mpiq_debug_section *section, const char *string)
{
    uintptr_t start = section ? (uintptr_t)section->data : 0, at = (uintptr_t)string;
    return section && at >= start && at - start < section->size;
}

bool mpiq_debug_length(const struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                       uint64_t *at, uint64_t *end, uint8_t *offset_size)
{
    uint64_t start = *at + 4, length;
    uint8_t size = 4;
    if (!mpiq_debug_number(info, section, *at, 4, &length))
        return false;
    if (length == 0xffffffff) {
        if (!mpiq_debug_number(info, section, start, 8, &length))
            return false;
        start += 8;
        size = 8;
    }
    if (length > section->size - start)
        return false;
    *at = start;
    *end = start + length;
    *offset_size = size;
    return true;
}

/* Reads the header at offset. */
static bool read_header(struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                        uint64_t offset, bool in_types, struct mpiq_debug_unit *ret)
{
    uint64_t at = offset, version, kind = DW_UT_compile, address_size, value;
    struct mpiq_debug_unit unit = {.info = info, .start = offset, .in_types = in_types};
    if (!mpiq_debug_length(info, section, &at, &unit.end, &unit.offset_size) ||
        !mpiq_debug_number(info, section, at, 2, &version))
        return false;
    at += 2;
    if (version < 2 || version > 5)
        return false;
    if (version == 5) {
        if (!mpiq_debug_number(info, section, at++, 1, &kind) ||
            !mpiq_debug_number(info, section, at++, 1, &address_size) ||
            !mpiq_debug_number(info, section, at, unit.offset_size, &unit.abbreviations))
            return false;
        at += unit.offset_size;
    } else {
        if (!mpiq_debug_number(info, section, at, unit.offset_size, &unit.abbreviations))
            return false;
        at += unit.offset_size;
        if (!mpiq_debug_number(info, section, at++, 1, &address_size))
            return false;
        if (in_types)
            kind = DW_UT_type;
    }
    if (kind == DW_UT_type || kind == DW_UT_split_type || kind == DW_UT_skeleton ||
        kind == DW_UT_split_compile) {
        if (!mpiq_debug_number(info, section, at, 8, &unit.signature))
            return false;
        at += 8;
    }
    if (kind == DW_UT_type || kind == DW_UT_split_type) {
        if (!mpiq_debug_number(info, section, at, unit.offset_size, &value))
            return false;
        at += unit.offset_size;
        unit.type = value < unit.end - offset ? offset + value : 0;
    }
    unit.entry = at;
    unit.kind = (uint8_t)kind;
    unit.version = (uint8_t)version;
    unit.address_size = (uint8_t)address_size;
    *ret = unit;
    return at < unit.end && (address_size == 4 || address_size == 8);
}

/* A header that makes no sense ends the list: what follows cannot be found. */
static void read_units(struct mpiq_debug_info *info, const char *name, bool in_types)
{
    const struct mpiq_debug_section *section = mpiq_debug_sections_find(&info->sections, name);
    uint64_t offset = 0;
    struct mpiq_debug_unit unit;
    size_t capacity = info->unit_count;
    while (section && info->unit_count < UNIT_LIMIT && offset < section->size &&
           read_header(info, section, offset, in_types, &unit)) {
        if (!mpiq_array_reserve(&info->units, &capacity, info->unit_count + 1))
            return;
        info->units[info->unit_count++] = unit;
        offset = unit.end;
    }
}

struct mpiq_debug_unit *mpiq_debug_unit_at(const struct mpiq_debug_info *info, uint64_t offset, bool in_types)
{
    size_t low = in_types ? info->info_count : 0, high = in_types ? info->unit_count : info->info_count;
    size_t count = high;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (info->units[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && info->units[low].start <= offset ? &info->units[low] : NULL;
}

bool mpiq_debug_address(const struct mpiq_debug_unit *unit, uint64_t index, uint64_t *ret)
{
    struct mpiq_debug_info *holder = unit->info->main ? unit->info->main : unit->info;
    const struct mpiq_debug_section *section = mpiq_debug_sections_find(&holder->sections, "addr");
    if (!section || index > section->size)
        return false;
    return mpiq_debug_number(holder, section, unit->address_base + index * unit->address_size,
                             unit->address_size, ret);
}

/* ---- the file ---- */

struct mpiq_debug_info *mpiq_debug_info_create(Elf *elf)
{
    struct mpiq_debug_info *info = calloc(1, sizeof *info);
    if (!info)
        return NULL;
    if (mpiq_debug_sections_init(&info->sections, elf))
        info->whole = open_view(info, 0, UINT64_MAX, false);
    if (!info->whole) {
        mpiq_debug_sections_deinit(&info->sections);
        free(info);
        return NULL;
    }
    info->package = mpiq_debug_sections_find(&info->sections, "cu_index") != NULL;
    read_units(info, "info", false);
    info->info_count = info->unit_count;
    read_units(info, "types", true);
    return info;
}

void mpiq_debug_info_destroy(struct mpiq_debug_info *info)
{
    if (!info)
        return;
    for (size_t i = 0; i < info->unit_count; i++) {
        if (info->units[i].view != info->whole)
            close_view(info->units[i].view);
    }
    close_view(info->whole);
    mpiq_debug_sections_deinit(&info->sections);
    free(info->units);
    free(info);
}
