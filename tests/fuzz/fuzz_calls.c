/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_calls - what the debug information says of calls, as an enemy would write it.
 *
 * The first byte's lowest bit says what the rest is: 0 an object with code and DWARF, which lies in memory as
 * in its file; two bytes before it for each of two call sites say where the call returns to, and two where
 * the called function is now.  1: an expression, evaluated with registers that point into it, and once more
 * as a frame's base.  Its highest bit says that it is of 64-bit Arm.  Any answer will do but one that nobody
 * asked for; no crash, no overrun, no loop.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call_words.h"
#include "limit.h"
#include "madeup.h"
#include "process/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As in fuzz_target.c: libdwarf 20210528 keeps what an error needs until the reader ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:_dwarf_get_alloc\nleak:_dwarf_error_string\nleak:dwarfstring_resize_to\n";
}

enum { BASE = 0x400000, IMAGE_MOST = 1 << 16 };

/* `what` must outlive the target. */
static struct mpiq_target *make_target(const struct mpiq_madeup *what)
{
    struct mpiq_target *target = NULL;
    if (mpiq_target_madeup_create(what, &target))
        abort();
    return target;
}

static void try_object(unsigned machine, const uint8_t *data, size_t size)
{
    uint16_t sites[2] = {take_number(&data, &size), take_number(&data, &size)},
             callee = take_number(&data, &size);
    size = size < IMAGE_MOST ? size : IMAGE_MOST;
    uint8_t *image = size ? malloc(size) : NULL;
    struct mpiq_module module = {.start = BASE, .end = BASE + size, .bias = BASE, .main = true};
    struct mpiq_module *by_address[] = {&module};
    if (!image)
        return;
    memcpy(image, data, size);
    struct mpiq_error *error = mpiq_object_from_image(image, size, "/input", &module.object);
    if (!error) {
        const struct mpiq_madeup_segment segments[] = {{BASE, size, data}, {0}};
        const struct mpiq_madeup what = {.segments = segments};
        struct mpiq_target *target = make_target(&what);
        struct mpiq_modules modules = {.target = target,
                                       .items = &module,
                                       .count = 1,
                                       .by_address = by_address,
                                       .word_size = 8,
                                       .machine = machine};
        ask_words(&modules, BASE, call_known(machine), CALL_FRAMES, sites, callee);
        mpiq_target_destroy(target);
    }
    mpiq_error_destroy(error);
    mpiq_object_clear();
}

static struct mpiq_call_word some(void *argument, uint64_t number)
{
    (void)argument;
    struct mpiq_call_word word = {
        .known = number % 5 != 4, .narrow = number % 7 == 6, .value = BASE + number};
    return word;
}

static struct mpiq_call_word frame_address(void *argument)
{
    return some(argument, 0);
}

static void try_expression(unsigned machine, const uint8_t *data, size_t size)
{
    const struct mpiq_madeup_segment segments[] = {{BASE, size, data}, {0}};
    const struct mpiq_madeup what = {.segments = segments};
    struct mpiq_target *target = make_target(&what);
    struct mpiq_modules modules = {.target = target, .word_size = 8, .machine = machine};
    struct mpiq_debug_info info = {.units = NULL};
    const struct mpiq_debug_unit unit = {.info = &info, .end = 64, .address_size = 8};
    const struct mpiq_expression expression = {data, size};
    int steps = 1000;
    const struct mpiq_expression_frame frame = {.modules = &modules,
                                                .unit = &unit,
                                                .frame_base = expression,
                                                .reg = some,
                                                .entry = some,
                                                .cfa = frame_address,
                                                .steps = &steps};
    struct mpiq_call_word word = mpiq_expression_evaluate(&expression, &frame);
    if (word.origin_count > MPIQ_WORD_ORIGINS || steps < -2)
        abort();
    mpiq_target_destroy(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    limit_begin();
    if (size > 1 && data[0] & 1)
        try_expression(call_machine(data[0]), data + 1, size - 1);
    else if (size > 1)
        try_object(call_machine(data[0]), data + 1, size - 1);
    limit_end();
    return 0;
}
