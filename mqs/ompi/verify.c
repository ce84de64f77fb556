/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "class_object.h"
#include "verify_contents.h"

static const struct {
    enum layout_slot slot;
    bool needed;
} classes[] = {
    {AT_OBJECT, true},    {AT_ITEM, true},       {AT_LIST, true},          {AT_ARRAY, true},
    {AT_FREE_ITEM, true}, {AT_FREE_LIST, true},  {AT_PROC, true},          {AT_GROUP, true},
    {AT_COMM, true},      {AT_REQUEST, true},    {AT_PML, true},           {AT_SEND, true},
    {AT_RECV, true},      {AT_OPAL_TYPE, true},  {AT_TYPE, true},          {AT_OP, true},
    {AT_OB1_COMM, true},  {AT_OB1_PROC, true},   {AT_FRAG, true},          {AT_OB1_SEND, true},
    {AT_ENDPOINT, true},  {AT_NBC, true},        {AT_COMM_REQUEST, false}, {AT_COMM_STEP, false},
    {AT_HAN, false},      {AT_PART_ITEM, false}, {AT_PARTITIONED, false},
};

size_t verify_classes(void)
{
    return sizeof classes / sizeof classes[0];
}

enum layout_slot verify_class_slot(size_t index)
{
    return classes[index].slot;
}

const char *verify_class_structure(size_t index)
{
    return layout_structure(classes[index].slot);
}

bool verify_class_is_needed(size_t index)
{
    return classes[index].needed;
}

enum verify_result verify_class(struct memory *memory, size_t index, char *check, size_t size)
{
    const char *structure = verify_class_structure(index);
    int expected = memory->layout.size[classes[index].slot];
    uint64_t there;
    char name[64];

    if (!layout_has(&memory->layout, classes[index].slot) ||
        !class_object_read(memory, class_object_find(memory, structure), name, sizeof name, &there)) {
        return VERIFY_ABSENT;
    }
    if (strcmp(name, structure) != 0) {
        if (check != NULL) {
            snprintf(check, size, "its class object has another name");
        }
        return VERIFY_FAILED;
    }
    if (there != (uint64_t)expected) {
        if (check != NULL) {
            snprintf(check, size, "its size is %llu bytes in the process, but %d in the built-in layout",
                     (unsigned long long)there, expected);
        }
        return VERIFY_FAILED;
    }
    return VERIFY_PASSED;
}

static const struct {
    enum layout_slot slot;
    const char *(*check)(struct memory *memory);
} contents[] = {
    {AT_ARRAY, check_array},
    {AT_COMM, check_comm},
    {AT_GROUP, check_group},
    {AT_PROC, check_proc},
    {AT_COLL, check_coll},
    {AT_COMPONENT, check_component},
    {AT_REQUEST, check_request},
    {AT_FREE_LIST, check_free_list},
    {AT_LIST, check_list},
    {AT_PML, check_pml},
    {AT_PART, check_part},
    {AT_OB1_COMM, check_ob1_comm},
    {AT_OB1_PROC, check_ob1_proc},
    {AT_LIBNBC, check_libnbc},
    {AT_OPAL_TYPE, check_opal_type},
    {AT_TYPE, check_type},
    {AT_DESCRIPTION, check_description},
    {AT_OP, check_op},
};

/* Whether a structure has all rows but those that are not in every release. */
static bool has_members(const struct layout *layout, enum layout_slot structure)
{
    for (int i = structure + 1; i < AT_END && !layout_is_size((enum layout_slot)i); i++) {
        if (!layout_has(layout, (enum layout_slot)i) && i != AT_COMM_INDEX && i != AT_COMM_MQS &&
            i != AT_COMM_NBC_TAG && i != AT_COMM_BSEND) {
            return false;
        }
    }
    return true;
}

size_t verify_contents(void)
{
    return sizeof contents / sizeof contents[0];
}

enum layout_slot verify_content_slot(size_t index)
{
    return contents[index].slot;
}

const char *verify_content_structure(size_t index)
{
    return layout_structure(contents[index].slot);
}

const char *verify_content(struct memory *memory, size_t index)
{
    enum layout_slot slot = contents[index].slot;

    if (!layout_has(&memory->layout, slot)) {
        return NULL;
    }
    return has_members(&memory->layout, slot) ? contents[index].check(memory)
                                              : "one of its members lies outside it";
}
