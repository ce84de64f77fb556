/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/ranges.h"

#include "process/die.h"

/* Of one entry, at most. */
enum { RANGE_LIMIT = 1 << 20 };

/* A list of ranges that is being read. */
struct reader {
    struct mpiq_debug_info *info; /* whose sections; of a split unit's list before DWARF 5, the main one's */
    const struct mpiq_debug_section *section;
    const struct mpiq_debug_unit *unit;
    uint64_t at;
};

static bool take(struct reader *reader, size_t size, uint64_t *ret)
{
    if (!mpiq_debug_number(reader->info, reader->section, reader->at, size, ret))
        return false;
    reader->at += size;
    return true;
}

static bool take_leb(struct reader *reader, uint64_t *ret)
{
    uint64_t value = 0, byte;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!take(reader, 1, &byte))
            return false;
        value |= (byte & 127) << shift;
        if (!(byte & 128)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool take_indexed(struct reader *reader, uint64_t *ret)
{
    uint64_t index;
    return take_leb(reader, &index) && mpiq_debug_address(reader->unit, index, ret);
}

/* DWARF 2 to 4: pairs, one with the largest address sets the base, one of zeros ends. */
static void visit_pairs(struct reader *reader, mpiq_range_visitor *visit, void *argument)
{
    uint64_t base = reader->unit->low_pc, start, end, size = reader->unit->address_size;
    uint64_t largest = size == 4 ? UINT32_MAX : UINT64_MAX;
    for (int i = 0; i < RANGE_LIMIT && take(reader, size, &start) && take(reader, size, &end); i++) {
        if (start == 0 && end == 0)
            return;
        if (start == largest)
            base = end;
        else if (start < end && !visit(argument, base + start, base + end))
            return;
    }
}

/* DWARF 5. */
static void visit_entries(struct reader *reader, mpiq_range_visitor *visit, void *argument)
{
    uint64_t base = reader->unit->low_pc, size = reader->unit->address_size, kind;
    for (int i = 0; i < RANGE_LIMIT && take(reader, 1, &kind); i++) {
        uint64_t start = 0, end = 0;
        bool known = true, range = true;
        switch (kind) {
        case DW_RLE_base_addressx:
            known = take_indexed(reader, &base);
            range = false;
            break;
        case DW_RLE_base_address:
            known = take(reader, size, &base);
            range = false;
            break;
        case DW_RLE_startx_endx:
            known = take_indexed(reader, &start) && take_indexed(reader, &end);
            break;
        case DW_RLE_startx_length:
            known = take_indexed(reader, &start) && take_leb(reader, &end);
            end += start;
            break;
        case DW_RLE_offset_pair:
            known = take_leb(reader, &start) && take_leb(reader, &end);
            start += base;
            end += base;
            break;
        case DW_RLE_start_end:
            known = take(reader, size, &start) && take(reader, size, &end);
            break;
        case DW_RLE_start_length:
            known = take(reader, size, &start) && take_leb(reader, &end);
            end += start;
            break;
        default: /* the end, or of a later standard */
            return;
        }
        if (!known || (range && start < end && !visit(argument, start, end)))
            return;
    }
}

/* Where in .debug_rnglists the unit's table of offsets begins.  A split unit's file has one table, or in a
   package one a unit. */
static bool offset_table(const struct mpiq_debug_unit *unit, Dwarf_Die die, uint64_t *ret)
{
    struct mpiq_debug_info *info = unit->info;
    if (!info->main) {
        *ret = unit->range_lists_base;
        return true;
    }
    uint64_t start = 0;
    if (info->package) {
        Dwarf_Debug_Fission_Per_CU part = {.pcu_type = NULL};
        Dwarf_Error error = NULL;
        if (!mpiq_dwarf_ok(dwarf_get_debugfission_for_die(die, &part, &error), error))
            return false;
        start = part.pcu_offset[DW_SECT_RNGLISTS];
    }
    *ret = start + (unit->offset_size == 8 ? 20 : 12); /* after its header */
    return true;
}

static void visit_list(const struct mpiq_debug_unit *unit, Dwarf_Die die, Dwarf_Half form, uint64_t value,
                       mpiq_range_visitor *visit, void *argument)
{
    struct mpiq_debug_info *info = unit->info;
    struct reader reader = {.info = info, .unit = unit, .at = value};
    if (unit->version < 5) {
        if (info->main) {
            reader.info = info->main;
            reader.at += unit->ranges_base;
        }
        reader.section = mpiq_debug_sections_find(&reader.info->sections, "ranges");
        if (reader.section)
            visit_pairs(&reader, visit, argument);
        return;
    }
    reader.section = mpiq_debug_sections_find(&info->sections, "rnglists");
    if (!reader.section)
        return;
    uint64_t table, offset;
    if (form == DW_FORM_rnglistx) {
        if (value > reader.section->size || !offset_table(unit, die, &table) ||
            !mpiq_debug_number(info, reader.section, table + value * unit->offset_size, unit->offset_size,
                               &offset))
            return;
        reader.at = table + offset;
    }
    visit_entries(&reader, visit, argument);
}

void mpiq_ranges_visit(const struct mpiq_debug_unit *unit, Dwarf_Die die, mpiq_range_visitor *visit,
                       void *argument)
{
    uint64_t low, high, value;
    Dwarf_Half form;
    /* The end is an address, or since DWARF 4 a number of bytes. */
    if (mpiq_die_address(unit, die, DW_AT_low_pc, &low)) {
        bool is_address = mpiq_die_address(unit, die, DW_AT_high_pc, &high);
        if (is_address || mpiq_die_number(die, DW_AT_high_pc, &high)) {
            high = is_address ? high : low + high;
            if (low < high)
                visit(argument, low, high);
            return;
        }
    }
    if (mpiq_die_offset_or_index(die, DW_AT_ranges, &form, &value))
        visit_list(unit, die, form, value, visit, argument);
}

struct search {
    uint64_t address;
    bool found;
};

static bool compare(void *argument, uint64_t start, uint64_t end)
{
    struct search *search = argument;
    search->found = search->address >= start && search->address < end;
    return !search->found;
}

bool mpiq_ranges_hold(const struct mpiq_debug_unit *unit, Dwarf_Die die, uint64_t address)
{
    struct search search = {.address = address};
    mpiq_ranges_visit(unit, die, compare, &search);
    return search.found;
}
