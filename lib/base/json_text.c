/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json_text.h"

#include <string.h>

#include "base/escape.h"

static struct mpiq_buffer *buffer_of(struct mpiq_text *text)
{
    return text->out ? text->out : &text->own;
}

struct mpiq_buffer *mpiq_text_value(struct mpiq_text *text)
{
    struct mpiq_buffer *out = buffer_of(text);
    if (text->comma)
        mpiq_buffer_char(out, ',');
    text->comma = true;
    return out;
}

void mpiq_text_open(struct mpiq_text *text, char open)
{
    mpiq_buffer_char(mpiq_text_value(text), open);
    text->comma = false;
}

void mpiq_text_close(struct mpiq_text *text, char close)
{
    mpiq_buffer_char(buffer_of(text), close);
    text->comma = true;
}

void mpiq_text_break(struct mpiq_text *text)
{
    struct mpiq_buffer *out = buffer_of(text);
    if (text->comma)
        mpiq_buffer_char(out, ',');
    text->comma = false;
    mpiq_buffer_char(out, '\n');
    mpiq_buffer_drain(out, false);
}

void mpiq_text_key(struct mpiq_text *text, const char *key)
{
    struct mpiq_buffer *out = buffer_of(text);
    size_t length = strlen(key);
    char *at = mpiq_buffer_reserve(out, length + 4);
    if (!at)
        return;
    char *begin = at;
    if (text->comma)
        *at++ = ',';
    *at++ = '"';
    at = mempcpy(at, key, length);
    *at++ = '"';
    *at++ = ':';
    out->length += (size_t)(at - begin);
    text->comma = false;
}

void mpiq_text_signed(struct mpiq_text *text, int64_t value)
{
    mpiq_buffer_signed(mpiq_text_value(text), value);
}

void mpiq_text_unsigned(struct mpiq_text *text, uint64_t value)
{
    mpiq_buffer_unsigned(mpiq_text_value(text), value);
}

void mpiq_text_hex(struct mpiq_text *text, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '"';
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value > 0);
    digits[--at] = 'x';
    digits[--at] = '0';
    digits[--at] = '"';
    mpiq_buffer_add(mpiq_text_value(text), digits + at, sizeof digits - at);
}

void mpiq_text_bool(struct mpiq_text *text, bool value)
{
    mpiq_buffer_string(mpiq_text_value(text), value ? "true" : "false");
}

void mpiq_text_string(struct mpiq_text *text, const char *string, size_t length)
{
    struct mpiq_buffer *out = mpiq_text_value(text);

    mpiq_buffer_char(out, '"');
    mpiq_buffer_escaped(out, MPIQ_ESCAPE_JSON, string, strnlen(string, length));
    mpiq_buffer_char(out, '"');
}

void mpiq_text_raw(struct mpiq_text *text, const char *json, size_t length)
{
    mpiq_buffer_add(mpiq_text_value(text), json, length);
}

void mpiq_text_put_string(struct mpiq_text *text, const char *key, const char *string)
{
    if (!string || !*string)
        return;
    mpiq_text_key(text, key);
    mpiq_text_string(text, string, SIZE_MAX);
}

void mpiq_text_put_signed(struct mpiq_text *text, const char *key, int64_t value)
{
    mpiq_text_key(text, key);
    mpiq_text_signed(text, value);
}

void mpiq_text_put_unsigned(struct mpiq_text *text, const char *key, uint64_t value)
{
    mpiq_text_key(text, key);
    mpiq_text_unsigned(text, value);
}

void mpiq_text_put_bool(struct mpiq_text *text, const char *key, bool value)
{
    mpiq_text_key(text, key);
    mpiq_text_bool(text, value);
}

struct mpiq_error *mpiq_text_end(struct mpiq_text *text, char **ret)
{
    struct mpiq_error *error = mpiq_buffer_end(&text->own, ret);
    *text = (struct mpiq_text){0};
    return error;
}
