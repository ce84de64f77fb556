/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/debug_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/debug.h"

enum { UNIT_LIMIT = 1000000, DEPTH_LIMIT = 256 /* of entries within entries */ };

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

static int section_info(void *object, Dwarf_Half index, Dwarf_Obj_Access_Section *ret, int *error)
{
    const struct mpiq_debug_view *view = object;
    *error = 0;
    *ret = (Dwarf_Obj_Access_Section){.name = ""};
    if (index == 0) /* as in ELF, the first one is none */
        return DW_DLV_OK;
    if (index > view->info->sections.count)
        return DW_DLV_NO_ENTRY;
    const struct mpiq_debug_section *section = &view->info->sections.items[index - 1];
    if (!is_shown(section))
        return DW_DLV_OK;
    ret->name = section->name;
    ret->type = SHT_PROGBITS;
    ret->size = is_part(view, section) ? view->end - view->start : section->size;
    return DW_DLV_OK;
}

static Dwarf_Endianness byte_order(void *object)
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

static int load_section(void *object, Dwarf_Half index, Dwarf_Small **ret, int *error)
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

static const Dwarf_Obj_Access_Methods methods = {
    .get_section_info = section_info,
    .get_byte_order = byte_order,
    .get_length_size = word_size,
    .get_pointer_size = word_size,
    .get_section_count = section_count,
    .load_section = load_section,
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
    view->access = (Dwarf_Obj_Access_Interface){.object = view, .methods = &methods};
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
    mpiq_dwarf_ok(dwarf_object_finish(view->debug, &error), error);
    free(view);
}

/* A package's index speaks of offsets in the whole file. */
static struct mpiq_debug_view *view_of(struct mpiq_debug_unit *unit)
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

/* Reads the header at offset. */
static bool read_header(struct mpiq_debug_info *info, const struct mpiq_debug_section *section,
                        uint64_t offset, bool in_types, struct mpiq_debug_unit *ret)
{
    uint64_t at = offset, length, version, kind = DW_UT_compile, address_size, value;
    struct mpiq_debug_unit unit = {.info = info, .start = offset, .offset_size = 4, .in_types = in_types};
    if (!mpiq_debug_number(info, section, at, 4, &length))
        return false;
    at += 4;
    if (length == 0xffffffff) {
        if (!mpiq_debug_number(info, section, at, 8, &length))
            return false;
        at += 8;
        unit.offset_size = 8;
    }
    if (length > section->size - at || !mpiq_debug_number(info, section, at, 2, &version))
        return false;
    unit.end = at + length;
    at += 2;
    if (version < 2 || version > 5)
        return false;
    if (version == 5) {
        if (!mpiq_debug_number(info, section, at++, 1, &kind) ||
            !mpiq_debug_number(info, section, at++, 1, &address_size))
            return false;
        at += unit.offset_size; /* of abbreviations */
    } else {
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

void mpiq_debug_unit_prepare(struct mpiq_debug_unit *unit)
{
    if (unit->prepared)
        return;
    unit->prepared = true;
    _cleanup_die_ Dwarf_Die die = mpiq_die_first(unit);
    if (!die)
        return;
    Dwarf_Half form;
    if (!mpiq_die_offset_or_index(unit, die, DW_AT_addr_base, &form, &unit->address_base))
        mpiq_die_offset_or_index(unit, die, DW_AT_GNU_addr_base, &form, &unit->address_base);
    mpiq_die_offset_or_index(unit, die, DW_AT_GNU_ranges_base, &form, &unit->ranges_base);
    mpiq_die_offset_or_index(unit, die, DW_AT_rnglists_base, &form, &unit->range_lists_base);
    mpiq_die_address(unit, die, DW_AT_low_pc, &unit->low_pc);
    /* DWARF 5 says in the header that it is a skeleton; before, an attribute did. */
    if (unit->version < 5 && mpiq_die_number(unit, die, DW_AT_GNU_dwo_id, &unit->signature))
        unit->has_split = !unit->info->main && mpiq_die_has(unit, die, DW_AT_GNU_dwo_name);
    unit->has_split = unit->has_split || unit->kind == DW_UT_skeleton;
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

/* ---- entries ---- */

static Dwarf_Die die_in(struct mpiq_debug_unit *unit, uint64_t offset)
{
    Dwarf_Die die = NULL;
    Dwarf_Error error = NULL;
    struct mpiq_debug_view *view = view_of(unit);
    if (!view)
        return NULL;
    int result = dwarf_offdie_b(view->debug, offset - view->start, !unit->in_types, &die, &error);
    return mpiq_dwarf_ok(result, error) ? die : NULL;
}

Dwarf_Die mpiq_die_first(struct mpiq_debug_unit *unit)
{
    return die_in(unit, unit->entry);
}

Dwarf_Die mpiq_die_at(const struct mpiq_entry *entry, struct mpiq_debug_unit **ret)
{
    struct mpiq_debug_unit *unit = mpiq_debug_unit_at(entry->info, entry->offset, entry->in_types);
    if (!unit || entry->offset < unit->entry)
        return NULL;
    *ret = unit;
    return die_in(unit, entry->offset);
}

void mpiq_die_free(Dwarf_Die die)
{
    if (die)
        dwarf_dealloc_die(die);
}

Dwarf_Die mpiq_die_child(const struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    (void)unit;
    Dwarf_Die child = NULL;
    Dwarf_Error error = NULL;
    return mpiq_dwarf_ok(dwarf_child(die, &child, &error), error) ? child : NULL;
}

/* In the section, or in the part of it that its view shows; 0 if libdwarf does not say. */
static Dwarf_Off offset_of(Dwarf_Die die)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    return mpiq_dwarf_ok(dwarf_dieoffset(die, &offset, &error), error) ? offset : 0;
}

/* Whether libdwarf reaches the next sibling by DW_AT_sibling, without walking the children. */
static bool names_sibling(Dwarf_Die die)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Half form = 0;
    Dwarf_Error error = NULL;
    if (!mpiq_dwarf_ok(dwarf_attr(die, DW_AT_sibling, &attribute, &error), error))
        return false;
    bool known = mpiq_dwarf_ok(dwarf_whatform(attribute, &form, &error), error);
    dwarf_dealloc_attribute(attribute);
    return known && (form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 ||
                     form == DW_FORM_ref8 || form == DW_FORM_ref_udata);
}

static bool has_children(Dwarf_Die die)
{
    Dwarf_Half flag = 0;
    return dwarf_die_abbrev_children_flag(die, &flag) == DW_DLV_OK && flag;
}

static bool leads_on(const struct mpiq_debug_unit *unit, Dwarf_Die die, int depth);

/* The next sibling, or NULL after the last.  False: a DW_AT_sibling points back (a circle), or libdwarf
   reports an error, which it may ignore when it skips children. */
static bool step(const struct mpiq_debug_unit *unit, Dwarf_Die die, int depth, Dwarf_Die *ret)
{
    Dwarf_Die sibling = NULL;
    Dwarf_Error error = NULL;
    *ret = NULL;
    if (!leads_on(unit, die, depth))
        return false;
    int result = dwarf_siblingof_b(unit->view->debug, die, !unit->in_types, &sibling, &error);
    if (!mpiq_dwarf_ok(result, error))
        return result == DW_DLV_NO_ENTRY;
    if (offset_of(sibling) <= offset_of(die)) {
        mpiq_die_free(sibling);
        return false;
    }
    *ret = sibling;
    return true;
}

/* Whether every step below the entry goes forward.  libdwarf 20210528 skips children by itself, and loops for
   ever in a circle. */
static bool leads_on(const struct mpiq_debug_unit *unit, Dwarf_Die die, int depth)
{
    if (!has_children(die) || names_sibling(die))
        return true;
    if (depth == 0)
        return false;
    Dwarf_Die child = NULL;
    Dwarf_Error error = NULL;
    int result = dwarf_child(die, &child, &error);
    if (!mpiq_dwarf_ok(result, error))
        return result == DW_DLV_NO_ENTRY;
    bool forward = true;
    while (child && forward) {
        Dwarf_Die next;
        forward = step(unit, child, depth - 1, &next);
        mpiq_die_free(child);
        child = next;
    }
    return forward;
}

Dwarf_Die mpiq_die_sibling(const struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    Dwarf_Die sibling;
    return step(unit, die, DEPTH_LIMIT, &sibling) ? sibling : NULL;
}

struct mpiq_entry mpiq_die_entry(const struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    bool known = mpiq_dwarf_ok(dwarf_dieoffset(die, &offset, &error), error);
    return (struct mpiq_entry){unit->info, known ? unit->view->start + offset : 0, unit->in_types};
}

int mpiq_die_tag(const struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    (void)unit;
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    return mpiq_dwarf_ok(dwarf_tag(die, &tag, &error), error) ? tag : 0;
}

bool mpiq_die_has(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half attribute)
{
    (void)unit;
    Dwarf_Bool has = 0;
    Dwarf_Error error = NULL;
    return mpiq_dwarf_ok(dwarf_hasattr(die, attribute, &has, &error), error) && has;
}

/* The caller frees it with dwarf_dealloc_attribute. */
static Dwarf_Attribute find_attribute(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name,
                                      Dwarf_Half *form)
{
    (void)unit;
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    if (!mpiq_dwarf_ok(dwarf_attr(die, name, &attribute, &error), error))
        return NULL;
    error = NULL;
    if (mpiq_dwarf_ok(dwarf_whatform(attribute, form, &error), error))
        return attribute;
    dwarf_dealloc_attribute(attribute);
    return NULL;
}

/* A string of dwz's common file: libdwarf would look for it in the tied file, which is another one for split
   units. */
static const char *alternate_string(struct mpiq_debug_info *info, uint64_t offset)
{
    const struct mpiq_debug_section *strings =
        info->alternate ? mpiq_debug_sections_find(&info->alternate->sections, "str") : NULL;
    if (!strings || offset >= strings->size)
        return NULL;
    const char *string = (const char *)strings->data + offset;
    return memchr(string, '\0', strings->size - offset) ? string : NULL;
}

const char *mpiq_die_string(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name)
{
    Dwarf_Half form;
    Dwarf_Attribute attribute = find_attribute(unit, die, name, &form);
    if (!attribute)
        return NULL;
    char *string = NULL;
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup) {
        if (mpiq_dwarf_ok(dwarf_global_formref(attribute, &offset, &error), error))
            string = (char *)alternate_string(unit->info, offset);
    } else if (!mpiq_dwarf_ok(dwarf_formstring(attribute, &string, &error), error)) {
        string = NULL;
    }
    dwarf_dealloc_attribute(attribute);
    return string;
}

bool mpiq_die_number(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name, uint64_t *ret)
{
    Dwarf_Half form;
    Dwarf_Attribute attribute = find_attribute(unit, die, name, &form);
    if (!attribute)
        return false;
    Dwarf_Unsigned value = 0;
    Dwarf_Signed number = 0;
    Dwarf_Error error = NULL;
    bool found;
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
        found = mpiq_dwarf_ok(dwarf_formsdata(attribute, &number, &error), error);
        value = (Dwarf_Unsigned)number;
    } else {
        found = mpiq_dwarf_ok(dwarf_formudata(attribute, &value, &error), error);
    }
    dwarf_dealloc_attribute(attribute);
    if (found)
        *ret = value;
    return found;
}

bool mpiq_die_offset_or_index(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name,
                              Dwarf_Half *form, uint64_t *ret)
{
    Dwarf_Attribute attribute = find_attribute(unit, die, name, form);
    if (!attribute)
        return false;
    Dwarf_Unsigned value = 0;
    Dwarf_Error error = NULL;
    bool found;
    if (*form == DW_FORM_sec_offset) {
        found = mpiq_dwarf_ok(dwarf_global_formref(attribute, &value, &error), error);
    } else {
        found = (*form == DW_FORM_rnglistx || *form == DW_FORM_data4 || *form == DW_FORM_data8) &&
                mpiq_dwarf_ok(dwarf_formudata(attribute, &value, &error), error);
    }
    dwarf_dealloc_attribute(attribute);
    if (found)
        *ret = value;
    return found;
}

bool mpiq_die_address(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name, uint64_t *ret)
{
    Dwarf_Half form;
    Dwarf_Attribute attribute = find_attribute(unit, die, name, &form);
    if (!attribute)
        return false;
    Dwarf_Unsigned index = 0;
    Dwarf_Addr address = 0;
    Dwarf_Error error = NULL;
    bool found;
    if (form == DW_FORM_addr) {
        found = mpiq_dwarf_ok(dwarf_formaddr(attribute, &address, &error), error);
        if (found)
            *ret = address;
    } else {
        found = mpiq_dwarf_ok(dwarf_get_debug_addr_index(attribute, &index, &error), error) &&
                mpiq_debug_address(unit, index, ret);
    }
    dwarf_dealloc_attribute(attribute);
    return found;
}

/* The type that a type unit of this signature defines. */
static bool find_signature(struct mpiq_debug_info *info, const Dwarf_Sig8 *signature, struct mpiq_entry *ret)
{
    uint64_t wanted = 0;
    for (size_t i = 0; i < sizeof signature->signature; i++)
        wanted = wanted << 8 | (unsigned char)signature->signature[info->sections.big_endian ? i : 7 - i];
    for (size_t i = 0; i < info->unit_count; i++) {
        const struct mpiq_debug_unit *unit = &info->units[i];
        if ((unit->kind == DW_UT_type || unit->kind == DW_UT_split_type) && unit->signature == wanted &&
            unit->type) {
            *ret = (struct mpiq_entry){info, unit->type, unit->in_types};
            return true;
        }
    }
    return false;
}

bool mpiq_die_reference(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name,
                        struct mpiq_entry *ret)
{
    struct mpiq_debug_info *info = unit->info;
    Dwarf_Half form;
    Dwarf_Attribute attribute = find_attribute(unit, die, name, &form);
    if (!attribute)
        return false;
    Dwarf_Error error = NULL;
    Dwarf_Off offset = 0;
    Dwarf_Sig8 signature;
    bool found;
    if (form == DW_FORM_ref_sig8) {
        found = mpiq_dwarf_ok(dwarf_formsig8(attribute, &signature, &error), error) &&
                find_signature(info, &signature, ret);
    } else if ((found = mpiq_dwarf_ok(dwarf_global_formref(attribute, &offset, &error), error))) {
        if (form == DW_FORM_GNU_ref_alt) /* into dwz's common file */
            *ret = (struct mpiq_entry){info->alternate, offset, false};
        else if (form == DW_FORM_ref_addr) /* into all of .debug_info */
            *ret = (struct mpiq_entry){info, offset, false};
        else
            *ret = (struct mpiq_entry){info, unit->view->start + offset, unit->in_types};
        found = ret->info != NULL;
    }
    dwarf_dealloc_attribute(attribute);
    return found;
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
