/* SPDX-License-Identifier: BSD-3-Clause */
/* type - sizes and names of datatypes, asked for once. */
#include <stdio.h>

#include "recorder.h"

static struct mpiq_record_type *types;

void type_init(void)
{
    types = arena_allocate(MPIQ_RECORD_MAX_TYPES * sizeof *types);
    mpiq_record_root.types = arena_offset(types);
}

/* Asks the library.  A new type replaces the one in its slot, whose records then have no name.  A thread that
   sees the new size also sees that the handle has changed. */
static int64_t learn(struct mpiq_record_type *slot, uint64_t handle)
{
    int size = -1;
    char name[256] = "";
    int length = 0;
    if (ASK(Type_size, handle, (word)&size) != 0)
        return -1;
    if (ASK(Type_get_name, handle, (word)name, (word)&length) != 0)
        name[0] = '\0';
    name[sizeof name - 1] = '\0';
    arena_lock();
    __atomic_store_n(&slot->handle, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->size, size, __ATOMIC_RELEASE);
    snprintf(slot->name, sizeof slot->name, "%.47s", name);
    __atomic_store_n(&slot->handle, handle, __ATOMIC_RELEASE);
    arena_unlock();
    return size;
}

static struct mpiq_record_type *slot_of(uint64_t handle)
{
    return &types[mpiq_record_mix(handle) % MPIQ_RECORD_MAX_TYPES];
}

int64_t type_size(uint64_t handle)
{
    if (!types || handle == 0 || handle == recorder_abi.type_null)
        return -1; /* the library would raise an error, and end the program */
    struct mpiq_record_type *slot = slot_of(handle);
    if (__builtin_expect(__atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE) == handle, 1)) {
        int64_t size = __atomic_load_n(&slot->size, __ATOMIC_ACQUIRE);
        if (!recorder_multiple || __atomic_load_n(&slot->handle, __ATOMIC_RELAXED) == handle)
            return size;
    }
    return learn(slot, handle);
}

void type_name(uint64_t handle, char *name, size_t size)
{
    const struct mpiq_record_type *slot = types ? slot_of(handle) : NULL;
    bool known = slot && __atomic_load_n(&slot->handle, __ATOMIC_ACQUIRE) == handle;
    snprintf(name, size, "%s", known ? slot->name : "");
}

void type_forget(uint64_t handle)
{
    struct mpiq_record_type *slot = types ? slot_of(handle) : NULL;
    if (slot && __atomic_load_n(&slot->handle, __ATOMIC_RELAXED) == handle)
        __atomic_store_n(&slot->handle, 0, __ATOMIC_RELEASE);
}
