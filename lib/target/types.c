/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "base/name_table.h"
#include "target/type_index.h"

/* A typedef of a typedef of … ends; so do structs inside structs. */
enum { TYPEDEF_LIMIT = 64, NESTING_LIMIT = 16, MEMBER_LIMIT = 65536, TYPE_LIMIT = 100000 };

struct member {
    const char *name;
    uint64_t offset;
    Dwarf_Die type;
};

struct mpiq_type {
    struct mpiq_object *object;
    char *name;
    Dwarf_Die die; /* typedefs and qualifiers stripped */
    uint64_t size;
    bool has_size;
    bool members_read;
    struct member *members; /* anonymous ones' members in their place */
    size_t member_count, member_capacity;
};

struct mpiq_types {
    struct mpiq_name_table by_name; /* of what was asked for: index + 1 of found, 0: there is none */
    struct mpiq_type **found;
    size_t count, capacity;
    char **missing; /* names that by_name holds with 0 */
    size_t missing_count, missing_capacity;
    struct mpiq_type_index *index;
};

static bool is_tagged(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_enumeration_type;
}

/* Follows typedefs and qualifiers. */
static bool strip(Dwarf_Die *die)
{
    for (int i = 0; i < TYPEDEF_LIMIT; i++) {
        int tag = dwarf_tag(die);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
            tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
            return tag > 0;
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &next))
            return false; /* void */
        *die = next;
    }
    return false;
}

/* Replaces a declaration by the definition of the same name elsewhere in the object. */
static bool complete(struct mpiq_types *types, Dwarf_Die *die)
{
    if (!strip(die))
        return false;
    if (!is_tagged(dwarf_tag(die)) || !dwarf_hasattr(die, DW_AT_declaration))
        return true;
    const char *name = dwarf_diename(die);
    return name && mpiq_type_index_find(types->index, name, MPIQ_TYPE_TAGGED, die);
}

static bool lookup(struct mpiq_types *types, const char *name, Dwarf_Die *ret)
{
    static const char *const keywords[] = {"struct ", "union ", "enum ", "class "};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        size_t length = strlen(keywords[i]);
        if (strncmp(name, keywords[i], length) == 0)
            return mpiq_type_index_find(types->index, name + length, MPIQ_TYPE_TAGGED, ret);
    }
    return (mpiq_type_index_find(types->index, name, MPIQ_TYPE_NAMED, ret) && complete(types, ret)) ||
           mpiq_type_index_find(types->index, name, MPIQ_TYPE_TAGGED, ret);
}

static void *grow(void *array, size_t count, size_t *capacity, size_t item)
{
    if (count < *capacity)
        return array;
    size_t larger_capacity = *capacity ? *capacity * 2 : 16;
    void *larger = realloc(array, larger_capacity * item);
    if (larger)
        *capacity = larger_capacity;
    return larger;
}

static void remember_missing(struct mpiq_types *types, const char *name)
{
    char **larger = types->missing_count < TYPE_LIMIT
                        ? grow(types->missing, types->missing_count, &types->missing_capacity, sizeof *larger)
                        : NULL;
    char *copy = larger ? strdup(name) : NULL;
    if (larger)
        types->missing = larger;
    if (copy) {
        types->missing[types->missing_count++] = copy;
        mpiq_name_table_add(&types->by_name, copy, 0);
    }
}

static const struct mpiq_type *remember(struct mpiq_types *types, struct mpiq_object *object,
                                        const char *name, const Dwarf_Die *die)
{
    struct mpiq_type **larger =
        grow(types->found, types->count, &types->capacity, sizeof *larger); /* NOLINT */
    if (!larger)
        return NULL;
    types->found = larger;
    struct mpiq_type *type = calloc(1, sizeof *type);
    if (!type || !(type->name = strdup(name))) {
        free(type);
        return NULL;
    }
    type->object = object;
    type->die = *die;
    Dwarf_Word size;
    type->has_size = dwarf_aggregate_size(&type->die, &size) == 0;
    type->size = type->has_size ? size : 0;
    types->found[types->count++] = type;
    mpiq_name_table_add(&types->by_name, type->name, types->count);
    return type;
}

static struct mpiq_types *types_of(struct mpiq_object *object)
{
    if (!object->types) {
        struct mpiq_types *types = calloc(1, sizeof *types);
        if (!types)
            return NULL;
        Dwarf *dwarf = mpiq_object_dwarf(object);
        types->index = dwarf ? mpiq_type_index_create(dwarf) : NULL;
        object->types = types;
    }
    return object->types;
}

const struct mpiq_type *mpiq_types_find(struct mpiq_object *object, const char *name)
{
    mpiq_object_lock();
    struct mpiq_types *types = types_of(object);
    const struct mpiq_type *type = NULL;
    uint64_t number;
    Dwarf_Die die;
    if (!types || !types->index)
        type = NULL;
    else if (mpiq_name_table_get(&types->by_name, name, &number))
        type = number && types->found ? types->found[number - 1] : NULL;
    else if (lookup(types, name, &die))
        type = remember(types, object, name, &die);
    else
        remember_missing(types, name);
    mpiq_object_unlock();
    return type;
}

bool mpiq_type_size(const struct mpiq_type *type, uint64_t *ret)
{
    if (type->has_size)
        *ret = type->size;
    return type->has_size;
}

const char *mpiq_type_name(const struct mpiq_type *type)
{
    return type->name;
}

/* The member's offset in its struct; those of a union have none written down. */
static bool member_offset(Dwarf_Die *die, uint64_t *ret)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, DW_AT_data_member_location, &attribute)) {
        /* A bit field, or a union's member. */
        if (dwarf_attr(die, DW_AT_data_bit_offset, &attribute) && dwarf_formudata(&attribute, &value) == 0) {
            *ret = value / 8;
            return true;
        }
        *ret = 0;
        return true;
    }
    if (dwarf_formudata(&attribute, &value) == 0) {
        *ret = value;
        return true;
    }
    /* DWARF 2 wrote an expression that adds a constant. */
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_getlocation(&attribute, &ops, &count) == 0 && count == 1 &&
        (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu)) {
        *ret = ops[0].number;
        return true;
    }
    return false;
}

static void add_member(struct mpiq_type *type, const char *name, uint64_t offset, const Dwarf_Die *die)
{
    struct member *larger = type->member_count < MEMBER_LIMIT ? grow(type->members, type->member_count,
                                                                     &type->member_capacity, sizeof *larger)
                                                              : NULL;
    if (!larger)
        return;
    type->members = larger;
    type->members[type->member_count++] = (struct member){.name = name, .offset = offset, .type = *die};
}

static void read_members(struct mpiq_type *type, struct mpiq_types *types, Dwarf_Die *aggregate,
                         uint64_t base, int depth)
{
    Dwarf_Die child;
    if (depth > NESTING_LIMIT || dwarf_child(aggregate, &child) != 0)
        return;
    int visited = 0;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Die member_type;
        uint64_t offset;
        if (dwarf_tag(&child) != DW_TAG_member || !dwarf_attr_integrate(&child, DW_AT_type, &attribute) ||
            !dwarf_formref_die(&attribute, &member_type) || !member_offset(&child, &offset))
            continue;
        const char *name = dwarf_diename(&child);
        if (name)
            add_member(type, name, base + offset, &member_type);
        else if (complete(types, &member_type))
            read_members(type, types, &member_type, base + offset, depth + 1);
    } while (++visited < MEMBER_LIMIT && dwarf_siblingof(&child, &child) == 0);
}

/* One name without dots. */
static const struct member *find_member(struct mpiq_type *type, const char *name, size_t length)
{
    for (size_t i = 0; i < type->member_count; i++) {
        if (strncmp(type->members[i].name, name, length) == 0 && type->members[i].name[length] == '\0')
            return &type->members[i];
    }
    return NULL;
}

/* The part before the first dot is a member of type; the rest is looked up in that member's own type. */
static bool find_path(struct mpiq_type *type, const char *path, int depth, uint64_t *ret)
{
    struct mpiq_types *types = type->object->types;
    if (!type->members_read) {
        type->members_read = true;
        read_members(type, types, &type->die, 0, 0);
    }
    size_t length = strcspn(path, ".");
    const struct member *member = find_member(type, path, length);
    if (!member)
        return false;
    if (!path[length]) {
        *ret = member->offset;
        return true;
    }
    if (depth >= NESTING_LIMIT)
        return false;
    struct mpiq_type inner = {.object = type->object, .die = member->type};
    uint64_t offset;
    bool found = complete(types, &inner.die) && find_path(&inner, path + length + 1, depth + 1, &offset);
    free(inner.members);
    if (found)
        *ret = member->offset + offset;
    return found;
}

bool mpiq_type_member(const struct mpiq_type *type, const char *member, uint64_t *ret)
{
    mpiq_object_lock();
    bool found = find_path((struct mpiq_type *)type, member, 0, ret);
    mpiq_object_unlock();
    return found;
}

void mpiq_types_destroy(struct mpiq_types *types)
{
    if (!types)
        return;
    for (size_t i = 0; i < types->count; i++) {
        free(types->found[i]->members);
        free(types->found[i]->name);
        free(types->found[i]);
    }
    for (size_t i = 0; i < types->missing_count; i++)
        free(types->missing[i]);
    free(types->found);
    free(types->missing);
    mpiq_name_table_deinit(&types->by_name);
    mpiq_type_index_destroy(types->index);
    free(types);
}
