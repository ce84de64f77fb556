/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_dll - breaks the memory of a made-up or recorded process and has all of it read (FUZZ_WORK,
 * changes.h).
 *
 * Input: one byte that chooses the process, then changes (changes.h).
 */
#include "changes.h"
#include "mqs/scenes.h"

/* Values that break things: wild and aligned pointers into the process, extremes, the input's own. */
static uint64_t value_of(const struct made_up *scene, unsigned what, uint32_t value)
{
    mqs_taddr_t address = made_up_address(scene, value % made_up_bytes(scene));

    switch (what % 8) {
    case 0:
        return address;
    case 1:
        return address & ~(mqs_taddr_t)7;
    default:
        return change_extreme(what % 8 - 2, value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct changes changes = {value_of, {8, 4, 8, 2, 8, 1, 4, 8}};
    struct made_up *scene;

    if (size < 1) {
        return 0;
    }
    scene = scene_get(data[0] % scene_count());
    changes_make(&changes, scene, data + 1, size - 1);
    FUZZ_WORK(scene);
    changes_undo(scene);
    return 0;
}
