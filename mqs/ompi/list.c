/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"
#include "list.h"

/* A list may gain items while it is walked. */
#define LIST_GROWTH 64

int list_start(struct memory *memory, mqs_taddr_t address, size_t limit, struct list_walk *ret)
{
    const struct layout *layout = &memory->layout;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    uint64_t length;
    int code = fetch_structure(memory, address, AT_LIST, bytes);

    if (code != mqs_ok) {
        return code;
    }
    length = field_unsigned(memory, bytes, AT_LIST_LENGTH);
    if (length > limit) {
        return ERROR_TOO_MANY;
    }
    ret->end = address + (mqs_taddr_t)layout->offset[AT_LIST_SENTINEL];
    ret->next = (mqs_taddr_t)field_unsigned(memory, bytes + layout->offset[AT_LIST_SENTINEL], AT_ITEM_NEXT);
    ret->left = (size_t)length + LIST_GROWTH;
    return mqs_ok;
}

/* The next item, for a caller who knows which one follows it. */
static int next_known(struct list_walk *walk, mqs_taddr_t following, mqs_taddr_t *ret)
{
    mqs_taddr_t item = walk->next;

    if (item == walk->end) {
        return mqs_end_of_list;
    }
    if (item == 0 || walk->left == 0) {
        return ERROR_TOO_MANY;
    }
    walk->left--;
    walk->next = following;
    *ret = item;
    return mqs_ok;
}

int list_next(struct memory *memory, struct list_walk *walk, mqs_taddr_t *ret)
{
    mqs_taddr_t following = 0;

    if (walk->next != walk->end && walk->next != 0) {
        int code = fetch_pointer(&memory->fetch,
                                 walk->next + (mqs_taddr_t)memory->layout.offset[AT_ITEM_NEXT], &following);

        if (code != mqs_ok) {
            return code;
        }
    }
    return next_known(walk, following, ret);
}

int list_visit_all(struct memory *memory, mqs_taddr_t address, size_t limit, int corrupt, list_visit visit,
                   void *argument)
{
    struct list_walk walk;
    int code = list_start(memory, address, limit, &walk);

    while (code == mqs_ok) {
        mqs_taddr_t next = 0;
        mqs_taddr_t item;

        if (walk.next != walk.end && walk.next != 0) {
            code = visit(memory, argument, walk.next, &next);
            if (code != mqs_ok) {
                return code;
            }
        }
        code = next_known(&walk, next, &item);
    }
    if (code == mqs_end_of_list) {
        return mqs_ok;
    }
    return code == ERROR_TOO_MANY ? corrupt : code;
}

bool cycle_check(struct cycle *cycle, mqs_taddr_t next)
{
    if (next == 0) {
        return true;
    }
    if (next == cycle->remembered) {
        return false;
    }
    if (cycle->steps == cycle->power) {
        cycle->power = cycle->power == 0 ? 1 : cycle->power * 2;
        cycle->steps = 0;
        cycle->remembered = next;
    }
    cycle->steps++;
    return true;
}
