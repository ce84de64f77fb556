/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "datatype_text.h"
#include "error.h"

#define MAX_DEPTH 6
#define MAX_DIMENSIONS 16
/* Parts of a structure that are named one by one. */
#define MAX_PARTS 12

/* MPI_COMBINER_ of this library's mpi.h, which both release lines number alike. */
enum combiner {
    COMBINER_NAMED,
    COMBINER_DUP,
    COMBINER_CONTIGUOUS,
    COMBINER_VECTOR,
    COMBINER_HVECTOR_INTEGER,
    COMBINER_HVECTOR,
    COMBINER_INDEXED,
    COMBINER_HINDEXED_INTEGER,
    COMBINER_HINDEXED,
    COMBINER_INDEXED_BLOCK,
    COMBINER_STRUCT_INTEGER,
    COMBINER_STRUCT,
    COMBINER_SUBARRAY,
    COMBINER_DARRAY,
    COMBINER_F90_REAL,
    COMBINER_F90_COMPLEX,
    COMBINER_F90_INTEGER,
    COMBINER_RESIZED,
    COMBINER_HINDEXED_BLOCK
};

/* The text as it grows. */
struct writer {
    struct datatypes *datatypes;
    struct memory *memory;
    char *text;
    size_t size;
    size_t length;
};

/* What a constructor was given. */
struct arguments {
    int combiner;
    int64_t integer_count;
    int64_t address_count;
    int64_t datatype_count;
    mqs_taddr_t integers;
    mqs_taddr_t addresses;
    mqs_taddr_t datatypes;
};

static void write_datatype(struct writer *writer, mqs_taddr_t handle, int depth);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(struct writer *writer, const char *format, ...)
{
    size_t room = writer->size - writer->length;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(writer->text + writer->length, room, format, arguments);
    va_end(arguments);
    if (length > 0) {
        writer->length += (size_t)length < room ? (size_t)length : room - 1;
    }
}

static bool is_full(const struct writer *writer)
{
    return writer->length + 1 >= writer->size;
}

static bool read_arguments(struct memory *memory, mqs_taddr_t handle, struct arguments *ret)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;

    if (!layout_has(&memory->layout, AT_TYPE_ARGUMENTS) ||
        !layout_has(&memory->layout, AT_ARGUMENTS_DATATYPES) ||
        fetch_structure(memory, handle, AT_TYPE, bytes) != mqs_ok) {
        return false;
    }
    address = (mqs_taddr_t)field_unsigned(memory, bytes, AT_TYPE_ARGUMENTS);
    if (address == 0 || fetch_structure(memory, address, AT_ARGUMENTS, bytes) != mqs_ok) {
        return false;
    }
    ret->combiner = (int)field_signed(memory, bytes, AT_ARGUMENTS_COMBINER);
    ret->integer_count = field_signed(memory, bytes, AT_ARGUMENTS_INTEGER_COUNT);
    ret->address_count = field_signed(memory, bytes, AT_ARGUMENTS_ADDRESS_COUNT);
    ret->datatype_count = field_signed(memory, bytes, AT_ARGUMENTS_DATATYPE_COUNT);
    ret->integers = (mqs_taddr_t)field_unsigned(memory, bytes, AT_ARGUMENTS_INTEGERS);
    ret->addresses = (mqs_taddr_t)field_unsigned(memory, bytes, AT_ARGUMENTS_ADDRESSES);
    ret->datatypes = (mqs_taddr_t)field_unsigned(memory, bytes, AT_ARGUMENTS_DATATYPES);
    return true;
}

static bool number_at(struct memory *memory, mqs_taddr_t array, int64_t count, int64_t index, int width,
                      int64_t *ret)
{
    unsigned char bytes[8];

    if (array == 0 || index < 0 || index >= count ||
        fetch_bytes(&memory->fetch, array + (mqs_taddr_t)(index * width), (size_t)width, bytes) != mqs_ok) {
        return false;
    }
    *ret = number_signed(&memory->fetch, bytes, width);
    return true;
}

/* One of its integer arguments, addresses, datatypes; 0 if it is not there. */
static long long integer(struct memory *memory, const struct arguments *arguments, int64_t index)
{
    int64_t value = 0;

    number_at(memory, arguments->integers, arguments->integer_count, index, 4, &value);
    return (long long)value;
}

static long long address(struct memory *memory, const struct arguments *arguments, int64_t index)
{
    int64_t value = 0;

    number_at(memory, arguments->addresses, arguments->address_count, index, memory->layout.sizes.size_t_size,
              &value);
    return (long long)value;
}

static void write_part(struct writer *writer, const struct arguments *arguments, int64_t index, int depth)
{
    int64_t handle = 0;

    if (number_at(writer->memory, arguments->datatypes, arguments->datatype_count, index,
                  writer->memory->layout.sizes.pointer_size, &handle)) {
        write_datatype(writer, (mqs_taddr_t)(uint64_t)handle, depth + 1);
    } else {
        put(writer, "?");
    }
}

static void write_struct(struct writer *writer, const struct arguments *arguments, int depth)
{
    int64_t count = integer(writer->memory, arguments, 0);

    put(writer, "struct of ");
    for (int64_t i = 0; i < count && !is_full(writer); i++) {
        if (i == MAX_PARTS) {
            put(writer, ", and %lld more", (long long)(count - i));
            return;
        }
        put(writer, "%s%lld ", i == 0 ? "" : ", ", integer(writer->memory, arguments, 1 + i));
        write_part(writer, arguments, i, depth);
    }
}

static void write_dimensions(struct writer *writer, const struct arguments *arguments, int64_t first,
                             int64_t count)
{
    for (int64_t i = 0; i < count && i < MAX_DIMENSIONS; i++) {
        put(writer, "[%lld]", integer(writer->memory, arguments, first + i));
    }
}

static void write_arguments(struct writer *writer, const struct arguments *arguments, int depth)
{
    struct memory *memory = writer->memory;
    long long first = integer(memory, arguments, 0);
    long long second = integer(memory, arguments, 1);

    switch (arguments->combiner) {
    case COMBINER_DUP:
        put(writer, "duplicate of ");
        break;
    case COMBINER_CONTIGUOUS:
        put(writer, "contiguous, %lld ", first);
        break;
    case COMBINER_VECTOR:
        put(writer, "vector of %lld blocks, stride %lld, of %lld ", first, integer(memory, arguments, 2),
            second);
        break;
    case COMBINER_HVECTOR:
    case COMBINER_HVECTOR_INTEGER:
        put(writer, "vector of %lld blocks, stride %lld bytes, of %lld ", first,
            address(memory, arguments, 0), second);
        break;
    case COMBINER_INDEXED:
    case COMBINER_HINDEXED:
    case COMBINER_HINDEXED_INTEGER:
        put(writer, "indexed, %lld blocks of ", first);
        break;
    case COMBINER_INDEXED_BLOCK:
    case COMBINER_HINDEXED_BLOCK:
        put(writer, "indexed, %lld blocks of %lld ", first, second);
        break;
    case COMBINER_STRUCT:
    case COMBINER_STRUCT_INTEGER:
        write_struct(writer, arguments, depth);
        return;
    case COMBINER_SUBARRAY:
        put(writer, "subarray ");
        write_dimensions(writer, arguments, 1 + first, first);
        put(writer, " of ");
        write_dimensions(writer, arguments, 1, first);
        put(writer, " ");
        break;
    case COMBINER_DARRAY:
        put(writer, "distributed array, part of process %lld of %lld, of ", second, first);
        break;
    case COMBINER_RESIZED:
        put(writer, "resized to %lld bytes, of ", address(memory, arguments, 1));
        break;
    default:
        return;
    }
    write_part(writer, arguments, 0, depth);
}

/* The name that a datatype has, else how it was made. */
static void write_datatype(struct writer *writer, mqs_taddr_t handle, int depth)
{
    const struct datatype *type = datatype_get(writer->datatypes, handle);
    struct arguments arguments;

    if (depth > 0 && type->known && type->name[0] != '\0') {
        put(writer, "%s", type->name);
    } else if (depth < MAX_DEPTH && !is_full(writer) && read_arguments(writer->memory, handle, &arguments)) {
        put(writer, depth > 0 ? "(" : "");
        write_arguments(writer, &arguments, depth);
        put(writer, depth > 0 ? ")" : "");
    } else if (depth > 0) {
        put(writer, "?");
    }
}

void datatype_text(struct datatypes *datatypes, mqs_taddr_t handle, char *text, size_t size)
{
    struct writer writer = {datatypes, datatypes->memory, text, size, 0};

    text[0] = '\0';
    memory_find_datatypes(datatypes->memory);
    write_datatype(&writer, handle, 0);
}
