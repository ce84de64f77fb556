/* SPDX-License-Identifier: BSD-3-Clause */
/* ask_contents - a datatype's blocks, and the bytes of a buffer that they select. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "base/array.h"
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

struct mpiq_error *mpiq_ask_read_datatype(struct mpiq_reading *reading, mqs_taddr_t handle,
                                          struct mpiq_ask_datatype *ret)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    struct mpiq_ask_datatype datatype = {0};

    int code = extensions->setup_datatype_iterator && extensions->next_datatype_block
                   ? extensions->setup_datatype_iterator(&reading->process, handle, &datatype.details)
                   : mqs_no_information;
    if (code != mqs_ok)
        return mpiq_ask_error(reading, code, "the datatype cannot be read");
    size_t room = 0;
    while (code == mqs_ok && datatype.count < BLOCKS_MAX) {
        if (!mpiq_array_reserve(&datatype.blocks, &room, datatype.count + 1)) {
            mpiq_ask_datatype_deinit(&datatype);
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "the datatype cannot be read: no memory");
        }
        mqs_datatype_block *block = &datatype.blocks[datatype.count];
        *block = (mqs_datatype_block){0};
        code = extensions->next_datatype_block(&reading->process, block);
        datatype.count += code == mqs_ok;
    }
    datatype.complete = code == mqs_end_of_list;
    *ret = datatype;
    return NULL;
}

void mpiq_ask_datatype_deinit(struct mpiq_ask_datatype *datatype)
{
    free(datatype->blocks);
    *datatype = (struct mpiq_ask_datatype){0};
}

static void put_block(struct mpiq_text *text, const mqs_datatype_block *block)
{
    bool known = block->kind >= 0 && block->kind <= mqs_element_wide_character;
    mpiq_text_open(text, '{');
    mpiq_text_put_string(text, "kind", kinds[known ? block->kind : mqs_element_bytes]);
    mpiq_text_put_signed(text, "size", block->size);
    mpiq_text_put_signed(text, "displacement", block->displacement);
    mpiq_text_put_signed(text, "length", block->length);
    mpiq_text_put_signed(text, "count", block->count);
    mpiq_text_put_signed(text, "stride", block->stride);
    mpiq_text_close(text, '}');
}

void mpiq_ask_put_datatype(struct mpiq_text *text, const struct mpiq_ask_datatype *datatype)
{
    const mqs_datatype_details *details = &datatype->details;
    mpiq_text_key(text, "datatype");
    mpiq_text_open(text, '{');
    mpiq_ask_put_text(text, "name", details->name, sizeof details->name);
    mpiq_ask_put_text(text, "text", details->text, sizeof details->text);
    mpiq_text_put_signed(text, "size", details->size);
    mpiq_text_put_signed(text, "lower", details->lower);
    mpiq_text_put_signed(text, "extent", details->extent);
    mpiq_text_put_bool(text, "predefined", details->predefined);
    mpiq_text_put_bool(text, "committed", details->committed);
    mpiq_text_put_bool(text, "complete", datatype->complete);
    mpiq_text_key(text, "blocks");
    mpiq_text_open(text, '[');
    for (size_t i = 0; i < datatype->count; i++)
        put_block(text, &datatype->blocks[i]);
    mpiq_text_close(text, ']');
    mpiq_text_close(text, '}');
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

/* False for a datatype without data. */
static bool span_of(const struct mpiq_ask_datatype *datatype, struct span *ret)
{
    const __int128 far = (__int128)1 << 100;
    struct span span = {.first = far, .end = -far};
    for (size_t i = 0; i < datatype->count; i++) {
        const mqs_datatype_block *block = &datatype->blocks[i];
        __int128 first = block->displacement;
        __int128 size = (__int128)block->length * block->size;
        __int128 last = first + (block->count - (__int128)1) * block->stride;
        if (size <= 0 || block->count <= 0)
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
    if (!ret)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * size] = '\0';
    return ret;
}

static struct mpiq_error *put_bytes(struct mpiq_reading *reading, uint64_t address, size_t size,
                                    struct mpiq_text *text)
{
    _cleanup_free_ unsigned char *bytes = malloc(size + 1);
    struct mpiq_error *error =
        bytes ? mpiq_target_read(reading->target, address, size, bytes)
              : mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for %zu bytes of a message", size);
    if (error)
        return mpiq_error_prefix(error, "the buffer cannot be read");
    _cleanup_free_ char *hex = hex_of(bytes, size);
    if (!hex)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "the buffer cannot be shown: no memory");
    mpiq_text_put_string(text, "data", hex);
    return NULL;
}

/* As many whole elements as fit into what is read. */
static struct mpiq_error *put_elements(struct mpiq_reading *reading, const struct mpiq_ask_buffer *buffer,
                                       int64_t extent, struct span span, struct mpiq_text *text)
{
    int64_t count = buffer->count;
    if (buffer->elements > 0 && count > buffer->elements)
        count = buffer->elements;
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
    mpiq_text_put_signed(text, "start", (int64_t)all.first);
    mpiq_text_put_signed(text, "elements", count);
    return put_bytes(reading, buffer->address + (uint64_t)(int64_t)all.first, (size_t)(all.end - all.first),
                     text);
}

struct mpiq_error *mpiq_ask_put_data(struct mpiq_reading *reading, const struct mpiq_ask_buffer *buffer,
                                     const struct mpiq_ask_datatype *datatype, struct mpiq_text *text)
{
    struct span span;
    mpiq_text_put_bool(text, "big_endian", reading->sizes.big_endian);
    if (!datatype || buffer->packed) {
        int64_t size = buffer->bytes < DATA_MAX ? buffer->bytes : DATA_MAX;
        return buffer->address && size > 0 ? put_bytes(reading, buffer->address, (size_t)size, text) : NULL;
    }
    if (buffer->count <= 0 || !span_of(datatype, &span))
        return NULL;
    return put_elements(reading, buffer, datatype->details.extent, span, text);
}
