/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols and types of a process: searches the objects of its modules one after another. */
#include "process/module.h"

#include <string.h>

#include "process/symbols.h"
#include "process/types.h"

/* "… in any of the N objects", and what may be the reason. */
static struct mpiq_error *not_found(const struct mpiq_modules *modules, const char *what, const char *name)
{
    size_t closed = 0;
    const struct mpiq_error *first = NULL;
    for (size_t i = 0; i < modules->count; i++) {
        if (modules->items[i].error) {
            first = first ? first : modules->items[i].error;
            closed++;
        }
    }
    if (!closed)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no %s %s in any of the %zu objects", what, name,
                                 modules->count);
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                             "no %s %s in any of %zu objects; %zu more cannot be used (%s)", what, name,
                             modules->count - closed, closed, first->message);
}

struct mpiq_error *mpiq_modules_find_symbol(struct mpiq_modules *modules, const char *name, uint64_t *ret)
{
    static const enum mpiq_symbol_scope scopes[] = {MPIQ_SYMBOL_GLOBAL, MPIQ_SYMBOL_LOCAL, MPIQ_SYMBOL_DEBUG};
    for (size_t scope = 0; scope < sizeof scopes / sizeof *scopes; scope++) {
        for (size_t i = 0; i < modules->count; i++) {
            struct mpiq_object *object = mpiq_module_object(modules, &modules->items[i]);
            uint64_t address;
            if (object && mpiq_symbols_find(object, scopes[scope], name, &address)) {
                *ret = address + modules->items[i].bias;
                return NULL;
            }
        }
    }
    return not_found(modules, "symbol", name);
}

struct mpiq_error *mpiq_modules_file_at(struct mpiq_modules *modules, uint64_t address, char **ret)
{
    const struct mpiq_module *module = mpiq_modules_at(modules, address);
    if (!module || !module->mapping || !module->mapping->path[0])
        return mpiq_error_create_address(MPIQ_ERROR_NOT_FOUND, address, "no file is mapped at 0x%llx",
                                         (unsigned long long)address);
    char *path = strdup(module->mapping->path);
    if (!path)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a path");
    *ret = path;
    return NULL;
}

struct mpiq_error *mpiq_modules_find_type(struct mpiq_modules *modules, const char *name,
                                          const struct mpiq_target_type **ret)
{
    /* Those that bring their DWARF first: separate files are the system's libraries', dear to open, and
       seldom what is meant. */
    for (int separate = 0; separate < 2; separate++) {
        for (size_t i = 0; i < modules->count; i++) {
            struct mpiq_object *object = mpiq_module_object(modules, &modules->items[i]);
            if (!object || mpiq_object_has_own_dwarf(object) == separate)
                continue;
            const struct mpiq_type *type = mpiq_types_find(object, name);
            if (type) {
                *ret = (const struct mpiq_target_type *)type;
                return NULL;
            }
        }
    }
    return not_found(modules, "debug information for the type", name);
}

struct mpiq_error *mpiq_modules_sizes(const struct mpiq_modules *modules, struct mpiq_target_sizes *ret)
{
    *ret = (struct mpiq_target_sizes){
        .short_size = 2,
        .int_size = 4,
        .long_size = modules->word_size,
        .long_long_size = 8,
        .pointer_size = modules->word_size,
        .bool_size = 1,
        .size_t_size = modules->word_size,
        .big_endian = modules->big_endian,
        .machine = modules->machine,
    };
    return NULL;
}
