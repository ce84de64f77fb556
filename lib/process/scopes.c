/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/scopes.h"

#include "process/debug_files.h"
#include "process/die_walk.h"
#include "process/ranges.h"

/* Scopes in each other. */
enum { SCOPE_LIMIT = 256 };

static bool is_container(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type;
}

bool mpiq_scopes_is(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static bool descend(struct mpiq_scopes *scopes, Dwarf_Die parent, bool nested, int depth);

/* Whether die or something in it holds the address; then the list goes on from there. */
static bool enter(struct mpiq_scopes *scopes, Dwarf_Die die, bool nested, int depth)
{
    int tag = mpiq_die_tag(die);
    if (is_container(tag))
        return descend(scopes, die, nested, depth + 1);
    if (!mpiq_scopes_is(tag))
        return false;
    if (!mpiq_ranges_hold(scopes->unit, die, scopes->address))
        return nested && tag == DW_TAG_subprogram && descend(scopes, die, true, depth + 1);
    if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) && scopes->count < MPIQ_SCOPES_MOST)
        scopes->functions[scopes->count++] = mpiq_die_entry(scopes->unit, die);
    descend(scopes, die, false, depth + 1);
    return true;
}

/* Goes down from parent along what holds the address.  Functions within functions (Fortran's internal
   procedures) lie outside their parent's code: `nested` looks there. */
static bool descend(struct mpiq_scopes *scopes, Dwarf_Die parent, bool nested, int depth)
{
    Dwarf_Die child = depth <= SCOPE_LIMIT ? mpiq_die_child(scopes->unit, parent) : NULL;
    bool found = false;
    while (child && !found) {
        found = enter(scopes, child, nested, depth);
        Dwarf_Die next = found ? NULL : mpiq_die_sibling(scopes->unit, child);
        mpiq_die_free(child);
        child = next;
    }
    return found;
}

void mpiq_scopes_find(struct mpiq_debug_info *info, struct mpiq_debug_unit *unit, uint64_t address,
                      struct mpiq_scopes *ret)
{
    *ret = (struct mpiq_scopes){.unit = unit, .address = address};
    /* Functions of a skeleton are in its split file, lines are not. */
    if (mpiq_debug_split(info, unit))
        ret->unit = unit->split_unit;
    _cleanup_die_ Dwarf_Die whole = mpiq_die_first(ret->unit);
    if (whole && !descend(ret, whole, false, 0))
        descend(ret, whole, true, 0);
}
