/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static void append(struct mpiq_text *text, const char *bytes, size_t length)
{
    if (text->failed)
        return;
    if (text->room - text->length <= length) {
        size_t room = text->room ? text->room * 2 : 4096;
        while (room - text->length <= length)
            room *= 2;
        char *grown = realloc(text->bytes, room);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->room = room;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

static void before_value(struct mpiq_text *text)
{
    if (text->comma)
        append(text, ",", 1);
    text->comma = true;
}

void mpiq_text_open(struct mpiq_text *text, char open)
{
    before_value(text);
    append(text, &open, 1);
    text->comma = false;
}

void mpiq_text_close(struct mpiq_text *text, char close)
{
    append(text, &close, 1);
    text->comma = true;
}

void mpiq_text_key(struct mpiq_text *text, const char *key)
{
    before_value(text);
    append(text, "\"", 1);
    append(text, key, strlen(key));
    append(text, "\":", 2);
    text->comma = false;
}

void mpiq_text_signed(struct mpiq_text *text, int64_t value)
{
    char digits[24];
    before_value(text);
    append(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

void mpiq_text_unsigned(struct mpiq_text *text, uint64_t value)
{
    char digits[24];
    before_value(text);
    append(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value));
}

void mpiq_text_hex(struct mpiq_text *text, uint64_t value)
{
    char digits[24];
    before_value(text);
    append(text, digits, (size_t)snprintf(digits, sizeof digits, "\"0x%" PRIx64 "\"", value));
}

void mpiq_text_bool(struct mpiq_text *text, bool value)
{
    before_value(text);
    append(text, value ? "true" : "false", value ? 4 : 5);
}

void mpiq_text_string(struct mpiq_text *text, const char *string, size_t length)
{
    size_t left = strnlen(string, length);

    before_value(text);
    append(text, "\"", 1);
    while (left > 0) {
        char escaped[MPIQ_ESCAPE_ROOM];
        size_t used = 0;
        size_t plain = mpiq_escape_plain(string, left);
        append(text, string, plain);
        string += plain;
        left -= plain;
        if (left == 0)
            break;
        plain = mpiq_escape_character(MPIQ_ESCAPE_JSON, string, left, escaped, &used);
        append(text, escaped, used);
        string += plain;
        left -= plain;
    }
    append(text, "\"", 1);
}

void mpiq_text_raw(struct mpiq_text *text, const char *json, size_t length)
{
    before_value(text);
    append(text, json, length);
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
    append(text, "", 1);
    if (text->failed) {
        free(text->bytes);
        *text = (struct mpiq_text){0};
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to write JSON");
    }
    *ret = text->bytes;
    *text = (struct mpiq_text){0};
    return NULL;
}
