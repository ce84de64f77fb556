/* SPDX-License-Identifier: BSD-3-Clause */
#include "class_object.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* opal_class_t, of which every release has the same (no layout could be believed without it): a pointer to
   the name, three pointers, two ints, two pointers, the size of the class's objects. */
#define CLASS_BYTES 64
#define CLASS_NAME_AT 0
#define CLASS_SIZE_AT 56

mqs_taddr_t class_object_find(struct memory *memory, const char *structure)
{
    char name[80];
    mqs_taddr_t address = 0;

    snprintf(name, sizeof name, "%s_class", structure);
    return symbol_find_name(&memory->symbols, name, &address) ? address : 0;
}

bool class_object_read(struct memory *memory, mqs_taddr_t class_object, char *name, size_t size,
                       uint64_t *object_size)
{
    unsigned char bytes[CLASS_BYTES];
    mqs_taddr_t at;

    if (class_object == 0 || fetch_bytes(&memory->fetch, class_object, sizeof bytes, bytes) != mqs_ok) {
        return false;
    }
    *object_size = number_unsigned(&memory->fetch, bytes + CLASS_SIZE_AT, 8);
    at = (mqs_taddr_t)number_unsigned(&memory->fetch, bytes + CLASS_NAME_AT, 8);
    if (at == 0 || fetch_string(&memory->fetch, at, name, size) != mqs_ok) {
        name[0] = '\0';
    }
    return true;
}

bool object_class(struct memory *memory, mqs_taddr_t object, mqs_taddr_t *ret)
{
    return object != 0 &&
           fetch_pointer(&memory->fetch, object + (mqs_taddr_t)memory->layout.offset[AT_OBJECT_CLASS], ret) ==
               mqs_ok;
}

bool object_is_a(struct memory *memory, mqs_taddr_t object, const char *structure)
{
    mqs_taddr_t wanted = class_object_find(memory, structure);
    mqs_taddr_t there;

    return wanted != 0 && object_class(memory, object, &there) && there == wanted;
}
