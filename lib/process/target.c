/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked calls into a target's table of callbacks. */
#include "process/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A single read larger than this is a length that was read wrongly, not a wish. */
static const size_t read_limit = (size_t)1 << 30;

/* libelf, libdw and libdwarf find less if they find no memory, and say so at most in errno: then it is
 * counted. */
#define WATCHED(call)                               \
    ({                                              \
        errno = 0;                                  \
        struct mpiq_error *watched_error_ = (call); \
        if (errno == ENOMEM)                        \
            mpiq_memory_miss();                     \
        watched_error_;                             \
    })

static struct mpiq_error *unsupported(const struct mpiq_target *target, const char *what)
{
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "a %s target has no %s", target->ops->kind, what);
}

struct mpiq_error *mpiq_target_read(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    if (size == 0)
        return NULL;
    if (size > read_limit || address + size < address) {
        return mpiq_error_create_address(MPIQ_ERROR_UNMAPPED, address, "no memory at 0x%llx, size %zu",
                                         (unsigned long long)address, size);
    }
    return target->ops->read(target, address, size, buffer);
}

struct mpiq_error *mpiq_target_find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    if (!name || !*name)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a symbol without a name was asked for");
    return WATCHED(target->ops->find_symbol(target, name, ret));
}

struct mpiq_error *mpiq_target_find_type(struct mpiq_target *target, const char *name,
                                         const struct mpiq_target_type **ret)
{
    if (!name || !*name)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a type without a name was asked for");
    return WATCHED(target->ops->find_type(target, name, ret));
}

struct mpiq_error *mpiq_target_field_offset(struct mpiq_target *target, const struct mpiq_target_type *type,
                                            const char *member, uint64_t *ret)
{
    if (!type || !member || !*member)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a member without a type or name was asked for");
    return WATCHED(target->ops->field_offset(target, type, member, ret));
}

struct mpiq_error *mpiq_target_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                         uint64_t *ret)
{
    if (!type)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "the size of no type was asked for");
    return WATCHED(target->ops->type_size(target, type, ret));
}

struct mpiq_error *mpiq_target_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret)
{
    return target->ops->sizes(target, ret);
}

struct mpiq_error *mpiq_target_status(struct mpiq_target *target, struct mpiq_target_status *ret)
{
    return target->ops->status(target, ret);
}

struct mpiq_error *mpiq_target_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                       size_t *count)
{
    if (!target->ops->threads)
        return unsupported(target, "threads");
    return WATCHED(target->ops->threads(target, ret, count));
}

struct mpiq_error *mpiq_target_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret)
{
    if (!target->ops->stack)
        return unsupported(target, "stacks");
    return WATCHED(target->ops->stack(target, tid, ret));
}

struct mpiq_error *mpiq_target_place(struct mpiq_target *target, uint64_t address,
                                     struct mpiq_target_stack *ret)
{
    if (!target->ops->place)
        return unsupported(target, "source places");
    return WATCHED(target->ops->place(target, address, ret));
}

struct mpiq_error *mpiq_target_file_at(struct mpiq_target *target, uint64_t address, char **ret)
{
    if (!target->ops->file_at)
        return unsupported(target, "list of files");
    return WATCHED(target->ops->file_at(target, address, ret));
}

void mpiq_target_call_words(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                            size_t count, struct mpiq_call_word words[MPIQ_CALL_WORDS])
{
    memset(words, 0, MPIQ_CALL_WORDS * sizeof *words);
    if (target->ops->call_words && callee + 1 < stack->register_count && count <= MPIQ_CALL_WORDS)
        target->ops->call_words(target, stack, callee, count, words);
}

void mpiq_target_earlier_calls(struct mpiq_target *target, const struct mpiq_target_stack *stack,
                               size_t callee, mpiq_call_effect_of *effect_of, void *argument,
                               const uint64_t *addresses, size_t count, struct mpiq_earlier_call *ret,
                               struct mpiq_array_makers *array)
{
    memset(ret, 0, count * sizeof *ret);
    array->count = 0;
    if (target->ops->earlier_calls && callee + 1 < stack->register_count)
        target->ops->earlier_calls(target, stack, callee, effect_of, argument, addresses, count, ret, array);
}

struct mpiq_error *mpiq_target_environment(struct mpiq_target *target, const char *name, char **ret)
{
    if (!target->ops->environment)
        return unsupported(target, "environment");
    return WATCHED(target->ops->environment(target, name, ret));
}

struct mpiq_error *mpiq_target_objects(struct mpiq_target *target, const char *const *symbols,
                                       struct mpiq_target_object **ret, size_t *count)
{
    if (!target->ops->objects)
        return unsupported(target, "list of objects");
    return WATCHED(target->ops->objects(target, symbols, ret, count));
}

void mpiq_target_forget(struct mpiq_target *target)
{
    if (target->ops->forget)
        target->ops->forget(target);
}

void mpiq_target_destroy(struct mpiq_target *target)
{
    if (target)
        target->ops->destroy(target);
}

void mpiq_target_stack_deinit(struct mpiq_target_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        free(stack->frames[i].function);
        free(stack->frames[i].file);
        free(stack->frames[i].object);
    }
    free(stack->frames);
    free(stack->registers);
    free(stack->why);
    *stack = (struct mpiq_target_stack){0};
}
