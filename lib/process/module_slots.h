/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module_slots - what a target whose modules are known (live, core) fills its table with: each slot is
 * answered from the modules (module.h) that the table's own slot `modules` gives.
 */
#ifndef MPIQ_MODULE_SLOTS_H
#define MPIQ_MODULE_SLOTS_H

#include "process/target.h"

/* For the initializer of a struct mpiq_target_ops. */
#define MPIQ_MODULE_SLOTS                                                                             \
    .find_symbol = mpiq_slot_find_symbol, .file_at = mpiq_slot_file_at, .objects = mpiq_slot_objects, \
    .find_type = mpiq_slot_find_type, .field_offset = mpiq_slot_field_offset,                         \
    .type_size = mpiq_slot_type_size, .sizes = mpiq_slot_sizes, .place = mpiq_slot_place,             \
    .call_words = mpiq_slot_call_words, .earlier_calls = mpiq_slot_earlier_calls

struct mpiq_error *mpiq_slot_find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret);
struct mpiq_error *mpiq_slot_file_at(struct mpiq_target *target, uint64_t address, char **ret);
struct mpiq_error *mpiq_slot_objects(struct mpiq_target *target, const char *const *symbols,
                                     struct mpiq_target_object **ret, size_t *count);
struct mpiq_error *mpiq_slot_find_type(struct mpiq_target *target, const char *name,
                                       const struct mpiq_target_type **ret);
struct mpiq_error *mpiq_slot_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret);
struct mpiq_error *mpiq_slot_place(struct mpiq_target *target, uint64_t address,
                                   struct mpiq_target_stack *ret);
/* Of types that find_type returned: these two need no process. */
struct mpiq_error *mpiq_slot_field_offset(struct mpiq_target *target, const struct mpiq_target_type *type,
                                          const char *member, uint64_t *ret);
struct mpiq_error *mpiq_slot_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                       uint64_t *ret);
void mpiq_slot_call_words(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                          size_t count, struct mpiq_call_word words[MPIQ_CALL_WORDS]);
void mpiq_slot_earlier_calls(struct mpiq_target *target, const struct mpiq_target_stack *stack, size_t callee,
                             mpiq_call_effect_of *effect_of, void *argument, const uint64_t *addresses,
                             size_t count, struct mpiq_earlier_call *ret, struct mpiq_array_makers *array);

#endif
