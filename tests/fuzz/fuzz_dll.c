/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_dll - breaks the memory of a made-up or recorded process and has the DLL read all of it, twice.
 *
 * Input: one byte that chooses the process, then changes of ten bytes: where (4, as an index into all its
 * bytes), what (1), how wide (1), value (4).  The DLL must neither crash nor leak, nor hold more than 64 MiB,
 * nor compute for more than a second, opening and two looks together.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "mqs/made_up.h"
#include "mqs/scenes.h"
#include "mqs/walk.h"

#define MAX_CHANGES 64
#define CHANGE 10
#define MEMORY_LIMIT (64ul << 20)

struct undo {
    size_t index;
    unsigned char old;
};

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Values that break things: wild and aligned pointers into the process, extremes, the input's own. */
static uint64_t value_of(const struct made_up *scene, const uint8_t *change)
{
    uint32_t value = number(change + 6);

    switch (change[4] % 8) {
    case 0:
        return made_up_address(scene, value % made_up_bytes(scene));
    case 1:
        return made_up_address(scene, value % made_up_bytes(scene)) & ~(uint64_t)7;
    case 2:
        return UINT64_C(1) << value % 64;
    case 3:
        return (UINT64_C(1) << value % 64) - 1;
    case 4:
        return (uint64_t) - (int64_t)(value % 256);
    case 5:
        return value % 256;
    default:
        return value;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct undo undo[MAX_CHANGES * 8];
    struct made_up *scene;
    size_t undos = 0;

    if (size < 1) {
        return 0;
    }
    scene = scene_get(data[0] % scene_count());
    for (size_t at = 1; at + CHANGE <= size && at < 1 + MAX_CHANGES * CHANGE; at += CHANGE) {
        static const int widths[] = {8, 4, 8, 2, 8, 1, 4, 8};
        const uint8_t *change = data + at;
        uint64_t value = value_of(scene, change);
        size_t index = number(change) % made_up_bytes(scene);
        int width = widths[change[5] % 8];

        if (width > 1) {
            index &= ~(size_t)(width - 1);
        }
        for (int i = 0; i < width && index + (size_t)i < made_up_bytes(scene); i++) {
            unsigned char *byte = made_up_byte(scene, index + (size_t)i);

            undo[undos].index = index + (size_t)i;
            undo[undos++].old = *byte;
            *byte = (unsigned char)(value >> 8 * i);
        }
    }
    made_up_counts()->peak = made_up_counts()->allocated;
    limit_begin();
    if (made_up_open(scene) == 0) {
        walk_all(scene);
        walk_all(scene);
    }
    made_up_close(scene);
    limit_end();
    if (made_up_counts()->blocks != 0 || made_up_counts()->peak > MEMORY_LIMIT) {
        abort();
    }
    while (undos > 0) {
        undos--;
        *made_up_byte(scene, undo[undos].index) = undo[undos].old;
    }
    return 0;
}
