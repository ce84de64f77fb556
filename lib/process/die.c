/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/die.h"

#include <string.h>

static Dwarf_Die die_in(struct mpiq_debug_unit *unit, uint64_t offset)
{
    Dwarf_Die die = NULL;
    Dwarf_Error error = NULL;
    struct mpiq_debug_view *view = mpiq_debug_unit_view(unit);
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

struct mpiq_entry mpiq_die_entry(const struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    bool known = mpiq_dwarf_ok(dwarf_dieoffset(die, &offset, &error), error);
    return (struct mpiq_entry){unit->info, known ? unit->view->start + offset : 0, unit->in_types};
}

int mpiq_die_tag(Dwarf_Die die)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;
    return mpiq_dwarf_ok(dwarf_tag(die, &tag, &error), error) ? tag : 0;
}

/* ---- attributes ---- */

bool mpiq_die_has(Dwarf_Die die, Dwarf_Half attribute)
{
    Dwarf_Bool has = 0;
    Dwarf_Error error = NULL;
    return mpiq_dwarf_ok(dwarf_hasattr(die, attribute, &has, &error), error) && has;
}

static void free_attribute(const Dwarf_Attribute *attribute)
{
    if (*attribute)
        dwarf_dealloc_attribute(*attribute);
}
#define _cleanup_attribute_ __attribute__((cleanup(free_attribute)))

/* The caller frees it. */
static Dwarf_Attribute find_attribute(Dwarf_Die die, Dwarf_Half name, Dwarf_Half *form)
{
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
    _cleanup_attribute_ Dwarf_Attribute attribute = find_attribute(die, name, &form);
    if (!attribute)
        return NULL;
    char *string = NULL;
    Dwarf_Off offset = 0;
    Dwarf_Error error = NULL;
    if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup)
        return mpiq_dwarf_ok(dwarf_global_formref(attribute, &offset, &error), error)
                   ? alternate_string(unit->info, offset)
                   : NULL;
    return mpiq_dwarf_ok(dwarf_formstring(attribute, &string, &error), error) ? string : NULL;
}

bool mpiq_die_number(Dwarf_Die die, Dwarf_Half name, uint64_t *ret)
{
    Dwarf_Half form;
    _cleanup_attribute_ Dwarf_Attribute attribute = find_attribute(die, name, &form);
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
    if (found)
        *ret = value;
    return found;
}

bool mpiq_die_offset_or_index(Dwarf_Die die, Dwarf_Half name, Dwarf_Half *form, uint64_t *ret)
{
    _cleanup_attribute_ Dwarf_Attribute attribute = find_attribute(die, name, form);
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
    if (found)
        *ret = value;
    return found;
}

bool mpiq_die_expression(Dwarf_Die die, Dwarf_Half name, const unsigned char **bytes, size_t *size)
{
    Dwarf_Half form;
    _cleanup_attribute_ Dwarf_Attribute attribute = find_attribute(die, name, &form);
    if (!attribute)
        return false;
    Dwarf_Unsigned length = 0;
    Dwarf_Ptr start = NULL;
    Dwarf_Error error = NULL;
    bool found = form == DW_FORM_exprloc &&
                 mpiq_dwarf_ok(dwarf_formexprloc(attribute, &length, &start, &error), error) && start;
    if (found) {
        *bytes = start;
        *size = (size_t)length;
    }
    return found;
}

bool mpiq_die_address(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half name, uint64_t *ret)
{
    Dwarf_Half form;
    _cleanup_attribute_ Dwarf_Attribute attribute = find_attribute(die, name, &form);
    if (!attribute)
        return false;
    Dwarf_Unsigned index = 0;
    Dwarf_Addr address = 0;
    Dwarf_Error error = NULL;
    if (form != DW_FORM_addr)
        return mpiq_dwarf_ok(dwarf_get_debug_addr_index(attribute, &index, &error), error) &&
               mpiq_debug_address(unit, index, ret);
    bool found = mpiq_dwarf_ok(dwarf_formaddr(attribute, &address, &error), error);
    if (found)
        *ret = address;
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
    _cleanup_attribute_ Dwarf_Attribute attribute = find_attribute(die, name, &form);
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
    return found;
}

/* ---- what the first entry of a unit says ---- */

void mpiq_debug_unit_prepare(struct mpiq_debug_unit *unit)
{
    if (unit->prepared)
        return;
    unit->prepared = true;
    _cleanup_die_ Dwarf_Die die = mpiq_die_first(unit);
    if (!die)
        return;
    Dwarf_Half form;
    if (!mpiq_die_offset_or_index(die, DW_AT_addr_base, &form, &unit->address_base))
        mpiq_die_offset_or_index(die, DW_AT_GNU_addr_base, &form, &unit->address_base);
    mpiq_die_offset_or_index(die, DW_AT_GNU_ranges_base, &form, &unit->ranges_base);
    mpiq_die_offset_or_index(die, DW_AT_rnglists_base, &form, &unit->range_lists_base);
    mpiq_die_address(unit, die, DW_AT_low_pc, &unit->low_pc);
    /* DWARF 5 says in the header that it is a skeleton; before, an attribute did. */
    if (unit->version < 5 && mpiq_die_number(die, DW_AT_GNU_dwo_id, &unit->signature))
        unit->has_split = !unit->info->main && mpiq_die_has(die, DW_AT_GNU_dwo_name);
    unit->has_split = unit->has_split || unit->kind == DW_UT_skeleton;
}
