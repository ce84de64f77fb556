/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/python_layout.h"

#include <string.h>

/* Made with offsetof from the releases' headers (Include/internal); 3.10 and 3.12 by hand. */
static const struct mpiq_python_layout layouts[] = {
    {.release = 0x0309,
     .table = MPIQ_PYTHON_LNOTAB,
     .cframe = -1,
     .main = 72,
     .at = {[MPIQ_PYTHON_INTERPRETERS] = 32,
            [MPIQ_PYTHON_NEXT] = 0,
            [MPIQ_PYTHON_THREADS] = 8,
            [MPIQ_PYTHON_THREAD_NEXT] = 8,
            [MPIQ_PYTHON_THREAD_ID] = 176,
            [MPIQ_PYTHON_FRAME] = 24,
            [MPIQ_PYTHON_CODE] = 32,
            [MPIQ_PYTHON_PREVIOUS] = 24,
            [MPIQ_PYTHON_INSTRUCTION] = 104,
            [MPIQ_PYTHON_FIRST_LINE] = 40,
            [MPIQ_PYTHON_FILE] = 104,
            [MPIQ_PYTHON_NAME] = 112,
            [MPIQ_PYTHON_TABLE] = 120,
            [MPIQ_PYTHON_TEXT] = 48}},
    {.release = 0x030a,
     .table = MPIQ_PYTHON_LINETABLE,
     .cframe = -1,
     .main = 72,
     .at = {[MPIQ_PYTHON_INTERPRETERS] = 32,
            [MPIQ_PYTHON_NEXT] = 0,
            [MPIQ_PYTHON_THREADS] = 8,
            [MPIQ_PYTHON_THREAD_NEXT] = 8,
            [MPIQ_PYTHON_THREAD_ID] = 176,
            [MPIQ_PYTHON_FRAME] = 24,
            [MPIQ_PYTHON_CODE] = 32,
            [MPIQ_PYTHON_PREVIOUS] = 24,
            [MPIQ_PYTHON_INSTRUCTION] = 96,
            [MPIQ_PYTHON_FIRST_LINE] = 40,
            [MPIQ_PYTHON_FILE] = 104,
            [MPIQ_PYTHON_NAME] = 112,
            [MPIQ_PYTHON_TABLE] = 120,
            [MPIQ_PYTHON_TEXT] = 48}},
    {.release = 0x030b,
     .table = MPIQ_PYTHON_LOCATIONS,
     .cframe = 8,
     .main = 0,
     .at = {[MPIQ_PYTHON_INTERPRETERS] = 40,
            [MPIQ_PYTHON_NEXT] = 0,
            [MPIQ_PYTHON_THREADS] = 16,
            [MPIQ_PYTHON_THREAD_NEXT] = 8,
            [MPIQ_PYTHON_THREAD_ID] = 160,
            [MPIQ_PYTHON_FRAME] = 56,
            [MPIQ_PYTHON_CODE] = 32,
            [MPIQ_PYTHON_PREVIOUS] = 48,
            [MPIQ_PYTHON_INSTRUCTION] = 56,
            [MPIQ_PYTHON_FIRST_LINE] = 72,
            [MPIQ_PYTHON_FILE] = 112,
            [MPIQ_PYTHON_NAME] = 128,
            [MPIQ_PYTHON_TABLE] = 136,
            [MPIQ_PYTHON_INSTRUCTIONS] = 184,
            [MPIQ_PYTHON_TEXT] = 48}},
    {.release = 0x030c,
     .table = MPIQ_PYTHON_LOCATIONS,
     .cframe = 0,
     .main = 0,
     .at = {[MPIQ_PYTHON_INTERPRETERS] = 40,
            [MPIQ_PYTHON_NEXT] = 0,
            [MPIQ_PYTHON_THREADS] = 72,
            [MPIQ_PYTHON_THREAD_NEXT] = 8,
            [MPIQ_PYTHON_THREAD_ID] = 144,
            [MPIQ_PYTHON_FRAME] = 56,
            [MPIQ_PYTHON_CODE] = 0,
            [MPIQ_PYTHON_PREVIOUS] = 8,
            [MPIQ_PYTHON_INSTRUCTION] = 56,
            [MPIQ_PYTHON_FIRST_LINE] = 68,
            [MPIQ_PYTHON_FILE] = 112,
            [MPIQ_PYTHON_NAME] = 128,
            [MPIQ_PYTHON_TABLE] = 136,
            [MPIQ_PYTHON_INSTRUCTIONS] = 192,
            [MPIQ_PYTHON_TEXT] = 40}},
};

/* The same, of releases with a table of their own: `at` is where in _Py_DebugOffsets a member's place
   stands. */
static const struct mpiq_python_layout tables[] = {
    {.release = 0x030d,
     .table = MPIQ_PYTHON_LOCATIONS,
     .cframe = -1,
     .main = 0,
     .at = {[MPIQ_PYTHON_INTERPRETERS] = 40,
            [MPIQ_PYTHON_NEXT] = 64,
            [MPIQ_PYTHON_THREADS] = 72,
            [MPIQ_PYTHON_THREAD_NEXT] = 168,
            [MPIQ_PYTHON_THREAD_ID] = 200,
            [MPIQ_PYTHON_FRAME] = 184,
            [MPIQ_PYTHON_CODE] = 240,
            [MPIQ_PYTHON_PREVIOUS] = 232,
            [MPIQ_PYTHON_INSTRUCTION] = 248,
            [MPIQ_PYTHON_FIRST_LINE] = 312,
            [MPIQ_PYTHON_FILE] = 280,
            [MPIQ_PYTHON_NAME] = 296,
            [MPIQ_PYTHON_TABLE] = 304,
            [MPIQ_PYTHON_INSTRUCTIONS] = 344,
            [MPIQ_PYTHON_TEXT] = 560}},
    {.release = 0x030e,
     .table = MPIQ_PYTHON_LOCATIONS,
     .cframe = -1,
     .main = 0,
     .at = {[MPIQ_PYTHON_INTERPRETERS] = 40,
            [MPIQ_PYTHON_NEXT] = 64,
            [MPIQ_PYTHON_THREADS] = 72,
            [MPIQ_PYTHON_THREAD_NEXT] = 192,
            [MPIQ_PYTHON_THREAD_ID] = 224,
            [MPIQ_PYTHON_FRAME] = 208,
            [MPIQ_PYTHON_CODE] = 264,
            [MPIQ_PYTHON_PREVIOUS] = 256,
            [MPIQ_PYTHON_INSTRUCTION] = 272,
            [MPIQ_PYTHON_FIRST_LINE] = 352,
            [MPIQ_PYTHON_FILE] = 320,
            [MPIQ_PYTHON_NAME] = 336,
            [MPIQ_PYTHON_TABLE] = 344,
            [MPIQ_PYTHON_INSTRUCTIONS] = 384,
            [MPIQ_PYTHON_TEXT] = 640}},
};

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
    return true;
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
