/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout_needs.h"

#include <stdbool.h>
#include <stddef.h>

/* What is left out with a structure that was left out: it lies inside, begins with it, or is only found or
   told apart by it. */
static const struct {
    enum layout_slot slot;
    enum layout_slot needs;
} dependents[] = {
    {AT_CLASS, AT_OBJECT},
    {AT_ITEM, AT_OBJECT},
    {AT_LIST, AT_ITEM},
    {AT_ARRAY, AT_OBJECT},
    {AT_FREE_ITEM, AT_ITEM},
    {AT_FREE_LIST, AT_LIST},
    {AT_PROC, AT_OBJECT},
    {AT_NAME, AT_PROC},
    {AT_GROUP, AT_OBJECT},
    {AT_SPORADIC, AT_GROUP},
    {AT_RANGE, AT_SPORADIC},
    {AT_STRIDED, AT_GROUP},
    {AT_BITMAP, AT_GROUP},
    {AT_COMM, AT_GROUP},
    {AT_CID, AT_COMM},
    {AT_COLL, AT_COMM},
    {AT_REQUEST, AT_FREE_ITEM},
    {AT_STATUS, AT_REQUEST},
    {AT_SYNC, AT_REQUEST},
    {AT_PML, AT_REQUEST},
    {AT_SEND, AT_PML},
    {AT_RECV, AT_PML},
    {AT_OB1_SEND, AT_SEND},
    /* Without these nobody tells an eager send from one that waits for its receiver. */
    {AT_SEND, AT_OB1_SEND},
    {AT_SEND, AT_ENDPOINT},
    {AT_BTLS, AT_ENDPOINT},
    {AT_BML_BTL, AT_ENDPOINT},
    {AT_BTL, AT_ENDPOINT},
    {AT_OB1_COMM, AT_LIST},
    {AT_OB1_PROC, AT_LIST},
    {AT_FRAG, AT_FREE_ITEM},
    {AT_SEGMENT, AT_FRAG},
    {AT_OB1_HEADER, AT_FRAG},
    {AT_HEADER_COMMON, AT_FRAG},
    {AT_HEADER, AT_FRAG},
    {AT_RENDEZVOUS, AT_FRAG},
    {AT_NBC, AT_REQUEST},
    {AT_LIBNBC, AT_NBC},
    {AT_COMM_REQUEST, AT_REQUEST},
    {AT_COMM_STEP, AT_COMM_REQUEST},
    {AT_PART_ITEM, AT_LIST},
    {AT_PARTITIONED, AT_REQUEST},
    {AT_PARTITIONED, AT_PART_ITEM},
    {AT_PART, AT_PARTITIONED},
    {AT_HAN, AT_OBJECT},
    {AT_OPAL_TYPE, AT_OBJECT},
    {AT_TYPE, AT_OPAL_TYPE},
    {AT_DESCRIPTION, AT_OPAL_TYPE},
    {AT_ENTRY, AT_DESCRIPTION},
    {AT_ELEMENT, AT_DESCRIPTION},
    {AT_LOOP, AT_DESCRIPTION},
    {AT_ARGUMENTS, AT_TYPE},
    {AT_OP, AT_OBJECT},
};

void layout_drop_dependents(struct layout *layout)
{
    bool changed;

    do {
        changed = false;
        for (size_t i = 0; i < sizeof dependents / sizeof dependents[0]; i++) {
            if (layout_has(layout, dependents[i].slot) && !layout_has(layout, dependents[i].needs)) {
                layout_drop(layout, dependents[i].slot);
                changed = true;
            }
        }
    } while (changed);
}
