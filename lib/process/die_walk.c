/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/die_walk.h"

#include "process/die.h"

enum { DEPTH_LIMIT = 256 /* of entries within entries */, UNCHECKED = -1 /* the unit only goes forward */ };

/* ---- whether a unit's entries can have a DW_AT_sibling at all ---- */

struct table {
    const unsigned char *at, *end;
    bool unsure; /* it has a DW_AT_sibling, or bytes that libdwarf might read in another way */
};

/* In its shortest form only. */
static uint64_t take_number(struct table *table)
{
    uint64_t value = 0;
    for (unsigned shift = 0; table->at < table->end && shift < 63; shift += 7) {
        unsigned char byte = *table->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            table->unsure = table->unsure || (byte == 0 && shift > 0);
            return value;
        }
    }
    table->unsure = true;
    return 0;
}

static void skip_constant(struct table *table)
{
    while (table->at < table->end && *table->at & 0x80)
        table->at++;
    if (table->at < table->end)
        table->at++;
    else
        table->unsure = true;
}

/* One abbreviation; false at the end of the table. */
static bool take_abbreviation(struct table *table)
{
    if (take_number(table) == 0) /* the code */
        return false;
    take_number(table); /* the tag */
    if (take_number(table) > DW_children_yes)
        table->unsure = true;
    while (!table->unsure) {
        uint64_t name = take_number(table), form = take_number(table);
        if (name == 0 && form == 0)
            return !table->unsure;
        if (name == 0 || form == 0 || name == DW_AT_sibling || name > UINT16_MAX)
            table->unsure = true;
        else if (form == DW_FORM_implicit_const)
            skip_constant(table);
    }
    return false;
}

/* Each table is read once where it belongs to one unit, or to units that follow each other.  Where units
   share it otherwise, as only an attacker would have it, reading ends early. */
static bool table_has_no_sibling(struct mpiq_debug_info *info, uint64_t offset)
{
    const struct mpiq_debug_section *section = mpiq_debug_sections_find(&info->sections, "abbrev");
    if (!section || offset >= section->size || info->walk_bytes > 4 * section->size)
        return false;
    if (info->walk_known && info->walk_table == offset)
        return info->walk_forward;
    struct table table = {section->data + offset, section->data + section->size, false};
    while (take_abbreviation(&table))
        ;
    info->walk_bytes += (uint64_t)(table.at - section->data) - offset;
    info->walk_table = offset;
    info->walk_known = true;
    info->walk_forward = !table.unsure;
    return info->walk_forward;
}

/* Whether libdwarf can only go forward in this unit.  Where a package has a unit's abbreviations is not known
   here. */
static bool goes_forward(struct mpiq_debug_unit *unit)
{
    if (!unit->walk_known)
        unit->walk_forward = !unit->info->package && table_has_no_sibling(unit->info, unit->abbreviations);
    unit->walk_known = true;
    return unit->walk_forward;
}

/* ---- the steps ---- */

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
    if (depth != UNCHECKED && !leads_on(unit, die, depth))
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

Dwarf_Die mpiq_die_sibling(struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    Dwarf_Die sibling;
    return step(unit, die, goes_forward(unit) ? UNCHECKED : DEPTH_LIMIT, &sibling) ? sibling : NULL;
}
