/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* What is worth a write. */
#define DRAIN_BYTES ((size_t)256 << 10)
#define FIRST_ROOM ((size_t)4096)

void mpiq_buffer_deinit(struct mpiq_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct mpiq_buffer){0};
}

char *mpiq_buffer_reserve(struct mpiq_buffer *buffer, size_t length)
{
    if (buffer->failed)
        return NULL;
    if (buffer->room - buffer->length < length) {
        size_t room = buffer->room ? buffer->room : FIRST_ROOM;
        while (room - buffer->length < length)
            room *= 2;
        char *larger = realloc(buffer->bytes, room);
        if (!larger) {
            mpiq_buffer_fail(buffer);
            return NULL;
        }
        buffer->bytes = larger;
        buffer->room = room;
    }
    return buffer->bytes + buffer->length;
}

void mpiq_buffer_add(struct mpiq_buffer *buffer, const char *bytes, size_t length)
{
    char *at = mpiq_buffer_reserve(buffer, length);
    if (!at || length == 0)
        return;
    memcpy(at, bytes, length);
    buffer->length += length;
}

void mpiq_buffer_string(struct mpiq_buffer *buffer, const char *string)
{
    if (string)
        mpiq_buffer_add(buffer, string, strlen(string));
}

void mpiq_buffer_escaped(struct mpiq_buffer *buffer, enum mpiq_escape format, const char *text, size_t length)
{
    while (length > 0) {
        char escaped[MPIQ_ESCAPE_ROOM];
        size_t escaped_length = 0;
        size_t plain = mpiq_escape_plain(text, length);
        mpiq_buffer_add(buffer, text, plain);
        text += plain;
        length -= plain;
        if (length == 0)
            return;
        size_t used = mpiq_escape_character(format, text, length, escaped, &escaped_length);
        mpiq_buffer_add(buffer, escaped, escaped_length);
        text += used;
        length -= used;
    }
}

void mpiq_buffer_char(struct mpiq_buffer *buffer, char c)
{
    mpiq_buffer_add(buffer, &c, 1);
}

void mpiq_buffer_unsigned(struct mpiq_buffer *buffer, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    mpiq_buffer_add(buffer, digits + at, sizeof digits - at);
}

void mpiq_buffer_signed(struct mpiq_buffer *buffer, int64_t value)
{
    if (value < 0)
        mpiq_buffer_char(buffer, '-');
    mpiq_buffer_unsigned(buffer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void mpiq_buffer_printf(struct mpiq_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    mpiq_buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

void mpiq_buffer_vprintf(struct mpiq_buffer *buffer, const char *format, va_list arguments)
{
    char *text _cleanup_free_ = NULL;
    int length = vasprintf(&text, format, arguments);
    if (length < 0) {
        text = NULL;
        mpiq_buffer_fail(buffer);
        return;
    }
    mpiq_buffer_add(buffer, text, (size_t)length);
}

const char *mpiq_buffer_text(struct mpiq_buffer *buffer)
{
    char *end = mpiq_buffer_reserve(buffer, 1);
    if (!end)
        return "";
    *end = '\0';
    return buffer->bytes;
}

void mpiq_buffer_drain(struct mpiq_buffer *buffer, bool all)
{
    if (!buffer->out || buffer->failed || buffer->length == 0 || (!all && buffer->length < DRAIN_BYTES))
        return;
    if (fwrite(buffer->bytes, 1, buffer->length, buffer->out) != buffer->length) {
        buffer->errnum = errno ? errno : EIO;
        mpiq_buffer_fail(buffer);
    }
    buffer->length = 0;
}

struct mpiq_error *mpiq_buffer_end(struct mpiq_buffer *buffer, char **ret)
{
    struct mpiq_error *error = NULL;
    mpiq_buffer_drain(buffer, true);
    if (!buffer->out)
        mpiq_buffer_add(buffer, "", 1);
    if (buffer->errnum)
        error = mpiq_error_create_os(buffer->errnum, "the answer could not be written");
    else if (buffer->failed)
        error = mpiq_error_no_memory();
    else if (!buffer->out)
        *ret = mpiq_steal(buffer->bytes);
    mpiq_buffer_deinit(buffer);
    return error;
}
