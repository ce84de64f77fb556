/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/python_layout.h"

#include <string.h>

/* Made with offsetof from the releases' headers (Include/internal); 3.10 and 3.12 by hand.  Places in the
   order of enum mpiq_python_member: interpreters, next, threads, | thread's next, number, frame, | frame's
   code, previous, instruction, | code's first line, file, name, table, instructions, | text */
/* clang-format off */
static const struct mpiq_python_layout layouts[] = {
    {0x0309, {32, 0, 8,   8, 176, 24,  32, 24, 104,  40, 104, 112, 120, 0,   48}, MPIQ_PYTHON_LNOTAB, -1, 72, 0, 0},
    {0x030a, {32, 0, 8,   8, 176, 24,  32, 24, 96,   40, 104, 112, 120, 0,   48}, MPIQ_PYTHON_LINETABLE, -1, 72, 0, 0},
    {0x030b, {40, 0, 16,  8, 160, 56,  32, 48, 56,   72, 112, 128, 136, 184, 48}, MPIQ_PYTHON_LOCATIONS, 8, 0, 0, 0},
    {0x030c, {40, 0, 72,  8, 144, 56,  0,  8,  56,   68, 112, 128, 136, 192, 40}, MPIQ_PYTHON_LOCATIONS, 0, 0, 0, 0},
};

/* The same, of releases with a table of their own: where in _Py_DebugOffsets a member's place stands. */
static const struct mpiq_python_layout tables[] = {
    {0x030d, {40, 64, 72,  168, 200, 184,  240, 232, 248,  312, 280, 296, 304, 344, 560}, MPIQ_PYTHON_LOCATIONS, -1, 0, 136, 144},
    {0x030e, {40, 64, 72,  192, 224, 208,  264, 256, 272,  352, 320, 336, 344, 384, 640}, MPIQ_PYTHON_LOCATIONS, -1, 0, 144, 152},
};
/* clang-format on */

enum {
    TABLE_VERSION = 8, /* in _Py_DebugOffsets, behind its "xdebugpy" */
    TABLE_FREE_THREADED = 16,
    TABLE_BYTES = 648,        /* of the longest that is known, as far as it is used */
    MEMBER_FURTHEST = 1 << 20 /* from a record's start: PyInterpreterState has some 300 KB */
};

uint64_t mpiq_python_symbol(struct mpiq_target *target, const char *name)
{
    uint64_t address = 0;
    mpiq_error_destroy(mpiq_target_find_symbol(target, name, &address));
    return address;
}

/* Its release, 0x030b for 3.11; 0: none that is known. */
static uint32_t find_release(struct mpiq_target *target)
{
    uint64_t symbol = mpiq_python_symbol(target, "Py_Version");
    if (symbol) {
        uint64_t version = 0;
        struct mpiq_error *error = mpiq_target_read(target, symbol, sizeof version, &version);
        mpiq_error_destroy(error);
        return error ? 0 : (uint32_t)(version >> 16 & 0xffff);
    }
    /* Older ones do not say; each brought a function. */
    if (mpiq_python_symbol(target, "Py_Is"))
        return 0x030a;
    return mpiq_python_symbol(target, "PyObject_GC_IsTracked") ? 0x0309 : 0;
}

static uint64_t word_at(const unsigned char *table, uint64_t offset)
{
    uint64_t word;
    memcpy(&word, table + offset, sizeof word);
    return word;
}

/* Puts the places that the process's own table has into *layout. */
static bool read_table(struct mpiq_target *target, struct mpiq_python_layout *layout)
{
    unsigned char table[TABLE_BYTES];
    struct mpiq_error *error =
        mpiq_target_read(target, mpiq_python_symbol(target, "_PyRuntime"), sizeof table, table);
    mpiq_error_destroy(error);
    if (error || memcmp(table, "xdebugpy", 8) != 0 ||
        word_at(table, TABLE_VERSION) >> 16 != layout->release || word_at(table, TABLE_FREE_THREADED) != 0)
        return false;
    for (unsigned i = 0; i < MPIQ_PYTHON_MEMBERS; i++) {
        layout->at[i] = word_at(table, layout->at[i]);
        if (layout->at[i] > MEMBER_FURTHEST)
            return false;
    }
    layout->locked = word_at(table, layout->locked);
    layout->holder = word_at(table, layout->holder);
    return layout->locked <= MEMBER_FURTHEST && layout->holder <= MEMBER_FURTHEST;
}

bool mpiq_python_layout(struct mpiq_target *target, struct mpiq_python_layout *ret)
{
    struct mpiq_target_sizes sizes;
    struct mpiq_error *error = mpiq_target_sizes(target, &sizes);
    bool known = !error && sizes.pointer_size == 8 && !sizes.big_endian;
    mpiq_error_destroy(error);
    uint32_t release = known ? find_release(target) : 0;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].release == release) {
            *ret = layouts[i];
            return true;
        }
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (tables[i].release == release) {
            *ret = tables[i];
            return read_table(target, ret);
        }
    }
    return false;
}
