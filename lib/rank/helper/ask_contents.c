/* SPDX-License-Identifier: BSD-3-Clause */
/* ask_contents - a datatype's blocks, and the bytes of a buffer that they select. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "base/cleanup.h"

/* Nobody reads more on a screen. */
#define DATA_MAX ((int64_t)1 << 20)
#define BLOCKS_MAX 4096

static const char *const kinds[] = {
    [mqs_element_bytes] = "bytes",       [mqs_element_character] = "character",
    [mqs_element_signed] = "signed",     [mqs_element_unsigned] = "unsigned",
    [mqs_element_floating] = "floating", [mqs_element_complex] = "complex",
    [mqs_element_boolean] = "boolean",   [mqs_element_wide_character] = "wide",
};

static void add_number(json_object *to, const char *name, int64_t value)
{
    json_object_object_add(to, name, json_object_new_int64(value));
}

/* Takes error. */
static void add_problem(json_object *ret, struct mpiq_error *error)
{
    json_object_object_add(ret, "problem", json_object_new_string(error->message));
    mpiq_error_destroy(error);
}

static json_object *convert_block(const mqs_datatype_block *block)
{
    json_object *ret = json_object_new_object();
    const char *kind =
        block->kind >= 0 && block->kind <= mqs_element_wide_character ? kinds[block->kind] : kinds[0];
    json_object_object_add(ret, "kind", json_object_new_string(kind));
    add_number(ret, "size", block->size);
    add_number(ret, "displacement", block->displacement);
    add_number(ret, "length", block->length);
    add_number(ret, "count", block->count);
    add_number(ret, "stride", block->stride);
    return ret;
}

void mpiq_ask_add_datatype(struct mpiq_look *look, mqs_taddr_t handle, json_object *ret)
{
    const mqs_extensions *extensions = &look->dll->extensions;
    mqs_datatype_details details = {0};
    mqs_datatype_block block;

    int code = extensions->setup_datatype_iterator && extensions->next_datatype_block
                   ? extensions->setup_datatype_iterator(&look->process, handle, &details)
                   : mqs_no_information;
    if (code != mqs_ok) {
        add_problem(ret, mpiq_ask_error(look, code, "the datatype cannot be read"));
        return;
    }
    json_object *type = json_object_new_object();
    json_object *blocks = json_object_new_array();
    for (int i = 0; i < BLOCKS_MAX && code == mqs_ok; i++) {
        memset(&block, 0, sizeof block);
        code = extensions->next_datatype_block(&look->process, &block);
        if (code == mqs_ok)
            json_object_array_add(blocks, convert_block(&block));
    }
    mpiq_ask_add_text(type, "name", details.name, sizeof details.name);
    mpiq_ask_add_text(type, "text", details.text, sizeof details.text);
    add_number(type, "size", details.size);
    add_number(type, "lower", details.lower);
    add_number(type, "extent", details.extent);
    json_object_object_add(type, "predefined", json_object_new_boolean(details.predefined));
    json_object_object_add(type, "committed", json_object_new_boolean(details.committed));
    json_object_object_add(type, "complete", json_object_new_boolean(code == mqs_end_of_list));
    json_object_object_add(type, "blocks", blocks);
    json_object_object_add(ret, "datatype", type);
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

/* The bytes that an element covers, from the buffer's address: [first, end). */
struct span {
    __int128 first;
    __int128 end;
};

static void widen(struct span *span, __int128 first, __int128 end)
{
    span->first = first < span->first ? first : span->first;
    span->end = end > span->end ? end : span->end;
}

static int64_t number_in(json_object *from, const char *name)
{
    return json_object_get_int64(json_object_object_get(from, name));
}

/* False for a datatype without data. */
static bool span_of(json_object *type, struct span *ret)
{
    json_object *blocks = json_object_object_get(type, "blocks");
    const __int128 far = (__int128)1 << 100;
    struct span span = {.first = far, .end = -far};
    for (size_t i = 0; i < json_object_array_length(blocks); i++) {
        json_object *block = json_object_array_get_idx(blocks, i);
        __int128 first = number_in(block, "displacement");
        __int128 size = (__int128)number_in(block, "length") * number_in(block, "size");
        __int128 last = first + (number_in(block, "count") - (__int128)1) * number_in(block, "stride");
        if (size <= 0 || number_in(block, "count") <= 0)
            continue;
        widen(&span, first, first + size);
        widen(&span, last, last + size);
    }
    *ret = span;
    return span.end > span.first;
}

static char *hex_of(const unsigned char *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char *ret = malloc(2 * size + 1);
    for (size_t i = 0; ret && i < size; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    if (ret)
        ret[2 * size] = '\0';
    return ret;
}

static void add_bytes(struct mpiq_look *look, uint64_t address, size_t size, json_object *ret)
{
    _cleanup_free_ unsigned char *bytes = malloc(size + 1);
    if (!bytes) {
        add_problem(ret, mpiq_error_create(MPIQ_ERROR_NO_MEMORY,
                                           "the buffer cannot be read: no memory for %zu bytes of a message",
                                           size));
        return;
    }
    struct mpiq_error *error = mpiq_target_read(look->target, address, size, bytes);
    if (error) {
        add_problem(ret, mpiq_error_prefix(error, "the buffer cannot be read"));
        return;
    }
    _cleanup_free_ char *hex = hex_of(bytes, size);
    if (hex)
        json_object_object_add(ret, "data", json_object_new_string(hex));
}

void mpiq_ask_add_data(struct mpiq_look *look, uint64_t buffer, bool packed, int64_t count, int64_t bytes,
                       int64_t elements, json_object *ret)
{
    json_object *type = json_object_object_get(ret, "datatype");
    struct span span;

    json_object_object_add(ret, "big_endian", json_object_new_boolean(look->sizes.big_endian));
    if (!type || packed) {
        int64_t size = bytes < 0 ? 0 : bytes < DATA_MAX ? bytes : DATA_MAX;
        if (buffer && size > 0 && (packed || !json_object_object_get(ret, "problem")))
            add_bytes(look, buffer, (size_t)size, ret);
        return;
    }
    if (count <= 0 || !span_of(type, &span))
        return;
    int64_t extent = number_in(type, "extent");
    if (elements > 0 && count > elements)
        count = elements;
    /* As many whole elements as fit into what is read. */
    __int128 one = span.end - span.first;
    __int128 step = extent < 0 ? -(__int128)extent : extent;
    if (one > DATA_MAX) { /* its beginning */
        count = 1;
        span.end = span.first + DATA_MAX;
        one = DATA_MAX;
    }
    if (step > 0 && (__int128)(count - 1) * step + one > DATA_MAX)
        count = (int64_t)((DATA_MAX - one) / step) + 1;
    struct span all = span;
    widen(&all, span.first + (__int128)extent * (count - 1), span.end + (__int128)extent * (count - 1));
    add_number(ret, "start", (int64_t)all.first);
    add_number(ret, "elements", count);
    add_bytes(look, buffer + (uint64_t)(int64_t)all.first, (size_t)(all.end - all.first), ret);
}
