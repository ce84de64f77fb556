/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "han.h"

#define HAN_CLASS "mca_coll_han_module_t"
#define SUB_COMMS 2    /* within the node, between nodes */
#define CACHED_COMMS 2 /* one for each component that han may use on that level */

static bool is_han(struct memory *memory, mqs_taddr_t module)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    char name[sizeof HAN_CLASS];
    mqs_taddr_t class_;

    if (fetch_structure(memory, module, AT_OBJECT, bytes) != mqs_ok) {
        return false;
    }
    class_ = (mqs_taddr_t)field_unsigned(memory, bytes, AT_OBJECT_CLASS);
    if (class_ == 0 || fetch_structure(memory, class_, AT_CLASS, bytes) != mqs_ok) {
        return false;
    }
    return fetch_string(&memory->fetch, (mqs_taddr_t)field_unsigned(memory, bytes, AT_CLASS_NAME), name,
                        sizeof name) == mqs_ok &&
           strcmp(name, HAN_CLASS) == 0;
}

static void mark_array(struct memory *memory, struct communicators *communicators, mqs_taddr_t array,
                       int count, mqs_taddr_t parent)
{
    for (int i = 0; i < count; i++) {
        mqs_taddr_t hidden = 0;

        if (fetch_pointer(&memory->fetch, array + (mqs_taddr_t)(i * memory->layout.sizes.pointer_size),
                          &hidden) != mqs_ok) {
            return;
        }
        if (hidden != 0) {
            communicator_mark(communicators, hidden, parent);
        }
    }
}

static void mark_module(struct memory *memory, struct communicators *communicators, mqs_taddr_t module,
                        mqs_taddr_t parent)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t array;

    if (fetch_structure(memory, module, AT_HAN, bytes) != mqs_ok) {
        return;
    }
    if (layout_has(&memory->layout, AT_HAN_SUB)) {
        mark_array(memory, communicators, module + (mqs_taddr_t)memory->layout.offset[AT_HAN_SUB], SUB_COMMS,
                   parent);
    }
    array = (mqs_taddr_t)field_unsigned(memory, bytes, AT_HAN_LOW);
    if (array != 0) {
        mark_array(memory, communicators, array, CACHED_COMMS, parent);
    }
    array = (mqs_taddr_t)field_unsigned(memory, bytes, AT_HAN_UP);
    if (array != 0) {
        mark_array(memory, communicators, array, CACHED_COMMS, parent);
    }
}

void han_mark(struct memory *memory, struct communicators *communicators,
              const struct communicator *communicator)
{
    static const enum layout_slot slots[] = {AT_COLL_ALLREDUCE, AT_COLL_BARRIER, AT_COLL_BCAST,
                                             AT_COLL_REDUCE};
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t seen = 0;

    if (communicator->coll == 0 || !layout_has(&memory->layout, AT_HAN) ||
        fetch_structure(memory, communicator->coll, AT_COLL, bytes) != mqs_ok) {
        return;
    }
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        mqs_taddr_t module = (mqs_taddr_t)field_unsigned(memory, bytes, slots[i]);

        if (module != 0 && module != seen && is_han(memory, module)) {
            mark_module(memory, communicators, module, communicator->address);
            seen = module;
        }
    }
}
