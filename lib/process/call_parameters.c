/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/call_parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "process/die_walk.h"
#include "process/lines.h"
#include "process/scopes.h"

/* Calls remembered for one object; entries looked at for one of them; scopes in each other. */
enum { CALLS_MOST = 4096, ENTRIES_MOST = 100000, SCOPE_LIMIT = 256 };

struct call {
    uint64_t address;
    struct mpiq_call_parameters *parameters; /* NULL: nothing is said of it */
};

struct calls {
    struct call *items;
    size_t count, capacity;
};

struct search {
    struct mpiq_debug_unit *unit;
    uint64_t address;
    int entries; /* that may still be looked at */
    struct mpiq_call_parameters *found;
};

static void take_parameter(struct search *search, Dwarf_Die die)
{
    struct mpiq_call_parameters *found = search->found;
    struct mpiq_call_parameter one;
    int tag = mpiq_die_tag(die);
    if ((tag != DW_TAG_call_site_parameter && tag != DW_TAG_GNU_call_site_parameter) ||
        found->count == MPIQ_PARAMETERS_MOST ||
        !mpiq_die_expression(die, DW_AT_location, &one.place.bytes, &one.place.size))
        return;
    if (mpiq_die_expression(die, DW_AT_call_value, &one.value.bytes, &one.value.size) ||
        mpiq_die_expression(die, DW_AT_GNU_call_site_value, &one.value.bytes, &one.value.size))
        found->items[found->count++] = one;
}

/* Whether the entry is that of the call. */
static bool is_call(const struct search *search, Dwarf_Die die, int tag)
{
    uint64_t address;
    return (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) &&
           (mpiq_die_address(search->unit, die, DW_AT_call_return_pc, &address) ||
            mpiq_die_address(search->unit, die, DW_AT_low_pc, &address)) &&
           address == search->address;
}

static void visit(struct search *search, Dwarf_Die parent, int depth);

static void take_entry(struct search *search, Dwarf_Die die, int depth)
{
    int tag = mpiq_die_tag(die);
    if (mpiq_scopes_is(tag)) {
        visit(search, die, depth + 1);
        return;
    }
    if (!is_call(search, die, tag))
        return;
    search->found = mpiq_memory_checked(calloc(1, sizeof *search->found));
    Dwarf_Die child = search->found ? mpiq_die_child(search->unit, die) : NULL;
    while (child && --search->entries > 0) {
        take_parameter(search, child);
        Dwarf_Die next = mpiq_die_sibling(search->unit, child);
        mpiq_die_free(child);
        child = next;
    }
    mpiq_die_free(child);
}

static void visit(struct search *search, Dwarf_Die parent, int depth)
{
    Dwarf_Die child = depth <= SCOPE_LIMIT ? mpiq_die_child(search->unit, parent) : NULL;
    while (child && !search->found && --search->entries > 0) {
        take_entry(search, child, depth);
        Dwarf_Die next = search->found ? NULL : mpiq_die_sibling(search->unit, child);
        mpiq_die_free(child);
        child = next;
    }
    mpiq_die_free(child);
}

/* GNU compilers say it of themselves; of others nothing is known. */
static bool is_gnu(struct mpiq_debug_unit *unit)
{
    _cleanup_die_ Dwarf_Die first = mpiq_die_first(unit);
    const char *producer = first ? mpiq_die_string(unit, first, DW_AT_producer) : NULL;
    return producer && strncmp(producer, "GNU ", 4) == 0;
}

static struct mpiq_call_parameters *read_parameters(struct mpiq_object *object, uint64_t address)
{
    struct mpiq_scopes scopes;
    if (!address || !mpiq_lines_scopes(object, address - 1, &scopes))
        return NULL;
    struct search search = {.unit = scopes.unit, .address = address, .entries = ENTRIES_MOST};
    struct mpiq_debug_unit *unit;
    _cleanup_die_ Dwarf_Die function = mpiq_die_at(&scopes.functions[0], &unit);
    if (!function)
        return NULL;
    visit(&search, function, 0);
    if (search.found) {
        struct mpiq_expression base = {0};
        search.found->unit = scopes.unit;
        search.found->as_at_call = is_gnu(scopes.unit);
        if (mpiq_die_expression(function, DW_AT_frame_base, &base.bytes, &base.size))
            search.found->frame_base = base;
    }
    return search.found;
}

static void calls_deinit(void *memory)
{
    struct calls *calls = memory;
    for (size_t i = 0; i < calls->count; i++)
        free(calls->items[i].parameters);
    free(calls->items);
}

const struct mpiq_call_parameters *mpiq_call_parameters_find(struct mpiq_object *object, uint64_t address)
{
    struct calls *calls = mpiq_object_part(object, MPIQ_OBJECT_CALLS, sizeof(struct calls), calls_deinit);
    if (!calls)
        return NULL;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->items[i].address == address)
            return calls->items[i].parameters;
    }
    if (calls->count == CALLS_MOST || !mpiq_array_reserve(&calls->items, &calls->capacity, calls->count + 1))
        return NULL;
    struct mpiq_call_parameters *parameters = read_parameters(object, address);
    calls->items[calls->count++] = (struct call){address, parameters};
    return parameters;
}
