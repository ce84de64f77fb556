/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/module_slots.h"

#include "process/call_history.h"
#include "process/call_site.h"
#include "process/unwind.h"
#include "process/module.h"
#include "process/needs.h"
#include "process/types.h"

struct mpiq_error *mpiq_slot_find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    return error ? error : mpiq_modules_find_symbol(modules, name, ret);
}

struct mpiq_error *mpiq_slot_file_at(struct mpiq_target *target, uint64_t address, char **ret)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    return error ? error : mpiq_modules_file_at(modules, address, ret);
}

struct mpiq_error *mpiq_slot_objects(struct mpiq_target *target, const char *const *symbols,
                                     struct mpiq_target_object **ret, size_t *count)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    return error ? error : mpiq_modules_objects(modules, symbols, ret, count);
}

struct mpiq_error *mpiq_slot_find_type(struct mpiq_target *target, const char *name,
                                       const struct mpiq_target_type **ret)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    return error ? error : mpiq_modules_find_type(modules, name, ret);
}

struct mpiq_error *mpiq_slot_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    return error ? error : mpiq_modules_sizes(modules, ret);
}

struct mpiq_error *mpiq_slot_place(struct mpiq_target *target, uint64_t address,
                                   struct mpiq_target_stack *ret)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    return error ? error : mpiq_modules_place(modules, address, ret);
}

/* The modules of a process of which a stack is known; NULL: it has gone. */
static struct mpiq_modules *modules_of(struct mpiq_target *target)
{
    struct mpiq_modules *modules;
    struct mpiq_error *error = target->ops->modules(target, &modules);
    if (!error)
        return modules;
    mpiq_error_destroy(error);
    return NULL;
}

void mpiq_slot_call_words(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                          size_t count, struct mpiq_call_word words[MPIQ_CALL_WORDS])
{
    struct mpiq_modules *modules = modules_of(target);
    if (modules)
        mpiq_call_site_read(modules, stack->registers + callee + 1, stack->register_count - callee - 1,
                            stack->registers[callee].pc, count, words);
}

void mpiq_slot_earlier_calls(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                             mpiq_call_effect_of *effect_of, void *argument, const uint64_t *addresses,
                             size_t count, struct mpiq_earlier_call *ret, struct mpiq_array_makers *array)
{
    struct mpiq_modules *modules = modules_of(target);
    if (modules)
        mpiq_call_history_read(modules, stack->registers + callee + 1, stack->register_count - callee - 1,
                               effect_of, argument, addresses, count, ret, array);
}

struct mpiq_error *mpiq_slot_field_offset(struct mpiq_target *target, const struct mpiq_target_type *type,
                                          const char *member, uint64_t *ret)
{
    (void)target;
    const struct mpiq_type *own = (const struct mpiq_type *)type;
    if (mpiq_type_member(own, member, ret))
        return NULL;
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no member %s in %s", member, mpiq_type_name(own));
}

struct mpiq_error *mpiq_slot_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                       uint64_t *ret)
{
    (void)target;
    const struct mpiq_type *own = (const struct mpiq_type *)type;
    if (mpiq_type_size(own, ret))
        return NULL;
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s has no size", mpiq_type_name(own));
}
