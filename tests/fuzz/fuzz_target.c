/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_target - ELF objects with their DWARF, core files, and the wire's lines, as an enemy would write them.
 *
 * The first byte says what the rest is: 0 an object, 1 a core file, 2 the server's lines to a client of the
 * wire, 3 the client's lines to a server, 4 a core file with its program behind it (four bytes before them
 * say, lowest first, where it begins).  Any end will do but a crash, a leak, an overrun or a loop.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limit.h"
#include "madeup.h"
#include "process/lines.h"
#include "process/object.h"
#include "process/symbols.h"
#include "process/target.h"
#include "process/types.h"

/* libdwarf 20210528 gives an error back only through the Dwarf_Debug it came from, which the place that
   learns of it does not have, and keeps a list of none: a few dozen bytes a malformed entry, until the reader
   ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:_dwarf_get_alloc\nleak:_dwarf_error_string\nleak:dwarfstring_resize_to\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names that the kept inputs have, and some that they have not. */
static const char *const names[] = {"thing", "struct thing", "thing_t", "main", "nothing", "int", "far"};

static void ask_types(const struct mpiq_type *type)
{
    uint64_t number;
    if (!type)
        return;
    mpiq_type_size(type, &number);
    mpiq_type_member(type, "a", &number);
    mpiq_type_member(type, "inner.b", &number);
    mpiq_type_member(type, "next", &number);
}

static void try_object(const uint8_t *data, size_t size)
{
    uint8_t *image = malloc(size ? size : 1);
    struct mpiq_object *object = NULL;
    if (!image)
        return;
    memcpy(image, data, size);
    struct mpiq_error *error = mpiq_object_from_image(image, size, "/input", &object);
    mpiq_error_destroy(error);
    if (object) {
        uint64_t address = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            mpiq_symbols_find(object, MPIQ_SYMBOL_GLOBAL, names[i], &address);
            mpiq_symbols_find(object, MPIQ_SYMBOL_LOCAL, names[i], &address);
            ask_types(mpiq_types_find(object, names[i]));
        }
        size_t count;
        mpiq_object_lock();
        mpiq_lines_at(object, address, &count);
        for (uint64_t at = object->first; at < object->end && at < object->first + 0x3000; at += 0x40)
            mpiq_lines_at(object, at, &count);
        mpiq_object_unlock();
    }
    mpiq_object_clear();
}

static void ask_target(struct mpiq_target *target)
{
    uint64_t number;
    char bytes[64], *value = NULL;
    const struct mpiq_target_type *type = NULL;
    struct mpiq_target_sizes sizes;
    struct mpiq_target_status status;
    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_target_sizes(target, &sizes));
    mpiq_error_destroy(mpiq_target_status(target, &status));
    mpiq_error_destroy(mpiq_target_find_symbol(target, "thing", &number));
    struct mpiq_error *error = mpiq_target_find_type(target, "struct thing", &type);
    if (!error) {
        mpiq_error_destroy(mpiq_target_type_size(target, type, &number));
        mpiq_error_destroy(mpiq_target_field_offset(target, type, "a", &number));
    }
    mpiq_error_destroy(error);
    mpiq_error_destroy(mpiq_target_read(target, 0x400000, sizeof bytes, bytes));
    mpiq_error_destroy(mpiq_target_environment(target, "A", &value));
    free(value);
    error = mpiq_target_threads(target, &threads, &count);
    mpiq_error_destroy(error);
    for (size_t i = 0; i < count && i < 4; i++) {
        struct mpiq_target_stack stack;
        error = mpiq_target_stack(target, threads[i].tid, &stack);
        if (!error)
            mpiq_target_stack_deinit(&stack);
        mpiq_error_destroy(error);
    }
    free(threads);
    mpiq_target_forget(target);
    mpiq_target_destroy(target);
}

/* A descriptor that gives data and then ends. */
static int feed(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0) {
        perror("memfd");
        abort();
    }
    return fd;
}

static void look_at_core(int core, int program)
{
    char path[64], executable[64];
    struct mpiq_target *target = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", core);
    snprintf(executable, sizeof executable, "/proc/self/fd/%d", program);
    struct mpiq_error *error = mpiq_target_core_create(path, program >= 0 ? executable : NULL, &target);
    if (!error)
        ask_target(target);
    mpiq_error_destroy(error);
    close(core);
    if (program >= 0)
        close(program);
    mpiq_object_clear();
}

static void try_core(const uint8_t *data, size_t size)
{
    look_at_core(feed(data, size), -1);
}

static void try_core_and_program(const uint8_t *data, size_t size)
{
    if (size < 4)
        return;
    size_t at = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    data += 4;
    size -= 4;
    if (at > size)
        at = size;
    look_at_core(feed(data, at), feed(data + at, size - at));
}

static void try_client(const uint8_t *data, size_t size)
{
    struct mpiq_target *target = NULL;
    int in = feed(data, size), out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct mpiq_error *error = mpiq_target_wire_create(in, out, &target);
    if (!error)
        ask_target(target);
    mpiq_error_destroy(error);
    close(in);
    close(out);
}

static bool take_line(void *argument, const char *line)
{
    (void)argument;
    return line[0] != 'x';
}

static void try_server(const uint8_t *data, size_t size)
{
    static const char memory[] = "some memory that a client may read";
    static const struct mpiq_madeup_segment segments[] = {{0x400000, sizeof memory, memory}, {0}};
    static const struct mpiq_madeup_symbol symbols[] = {{"thing", 0x400000}, {0}};
    static const struct mpiq_madeup_member members[] = {{"a", 4, NULL}, {0}};
    static const struct mpiq_madeup_type types[] = {{"thing", 8, members}, {0}};
    struct mpiq_madeup what = {.segments = segments, .symbols = symbols, .types = types};
    struct mpiq_target *target = NULL;
    struct mpiq_error *error = mpiq_target_madeup_create(&what, &target);
    if (!error) {
        int in = feed(data, size), out = open("/dev/null", O_WRONLY | O_CLOEXEC);
        error = mpiq_target_serve(target, in, out, take_line, NULL);
        close(in);
        close(out);
        mpiq_target_destroy(target);
    }
    mpiq_error_destroy(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const uint8_t *data, size_t size) = {try_object, try_core, try_client,
                                                                      try_server, try_core_and_program};
    limit_begin();
    if (size)
        kinds[data[0] % 5](data + 1, size - 1);
    limit_end();
    return 0;
}
