/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/escape.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define ELLIPSIS 0x2026

/* A character as its bytes say; one byte that is not UTF-8 is a character of its own. */
struct character {
    uint32_t code;
    size_t length;
    bool valid;
};

static struct character first_character(const unsigned char *text, size_t length)
{
    struct character c = {.length = mpiq_utf8_length(text, length)};
    c.valid = c.length > 0;
    if (!c.valid)
        return (struct character){.code = text[0], .length = 1};
    static const unsigned char marks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    c.code = text[0] & marks[c.length];
    for (size_t i = 1; i < c.length; i++)
        c.code = c.code << 6 | (text[i] & 0x3fu);
    return c;
}

/* Whether a terminal or a reader is led astray by it: controls, line breaks of all sorts, invisible
   characters and those that turn the direction of writing. */
static bool is_treacherous(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x061c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
           (code >= 0xe0000 && code <= 0xe0fff);
}

__attribute__((format(printf, 2, 3))) static size_t put(char ret[MPIQ_ESCAPE_ROOM], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(ret, MPIQ_ESCAPE_ROOM, format, arguments);
    va_end(arguments);
    return (size_t)length;
}

/* "\n", "\x1b", "\u202e"; backslash is how a backslash is written. */
static size_t put_visible(char ret[MPIQ_ESCAPE_ROOM], const char *backslash, struct character c)
{
    if (c.valid && c.code == ELLIPSIS)
        return put(ret, "...");
    if (c.code == '\n' || c.code == '\t')
        return put(ret, "%s%c", backslash, c.code == '\n' ? 'n' : 't');
    if (!c.valid || c.code < 0x80)
        return put(ret, "%sx%02" PRIx32, backslash, c.code);
    if (c.code < 0x10000)
        return put(ret, "%su%04" PRIx32, backslash, c.code);
    return put(ret, "%sU%08" PRIx32, backslash, c.code);
}

static size_t put_json(char ret[MPIQ_ESCAPE_ROOM], const char *text, struct character c)
{
    if (!c.valid)
        return put(ret, "\\ufffd");
    if (c.code == '"' || c.code == '\\')
        return put(ret, "\\%c", (char)c.code);
    if (is_treacherous(c.code) && c.code < 0x10000)
        return put(ret, "\\u%04" PRIx32, c.code);
    if (is_treacherous(c.code)) {
        uint32_t rest = c.code - 0x10000;
        return put(ret, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
    }
    memcpy(ret, text, c.length);
    return c.length;
}

static bool is_printable_ascii(uint32_t code)
{
    return code >= 0x20 && code < 0x7f;
}

static size_t put_dot(char ret[MPIQ_ESCAPE_ROOM], struct character c)
{
    if (c.code == '\n')
        return put(ret, "\\n");
    if (c.code == '"' || c.code == '\\')
        return put(ret, "\\%c", (char)c.code);
    return is_printable_ascii(c.code) ? put(ret, "%c", (char)c.code) : put_visible(ret, "\\\\", c);
}

static size_t put_html(char ret[MPIQ_ESCAPE_ROOM], struct character c)
{
    if (strchr("&<>\"'", (int)c.code) && c.code < 0x80 && c.code > 0)
        return put(ret, "&#%" PRIu32 ";", c.code);
    return is_printable_ascii(c.code) ? put(ret, "%c", (char)c.code) : put_visible(ret, "\\", c);
}

size_t mpiq_escape_plain(const char *text, size_t length)
{
    size_t plain = 0;
    while (plain < length && is_printable_ascii((unsigned char)text[plain]) && text[plain] != '"' &&
           text[plain] != '\\' && text[plain] != '&' && text[plain] != '<' && text[plain] != '>' &&
           text[plain] != '\'')
        plain++;
    return plain;
}

size_t mpiq_escape_character(enum mpiq_escape format, const char *text, size_t length,
                             char ret[MPIQ_ESCAPE_ROOM], size_t *ret_length)
{
    struct character c = first_character((const unsigned char *)text, length);
    switch (format) {
    case MPIQ_ESCAPE_JSON:
        *ret_length = put_json(ret, text, c);
        break;
    case MPIQ_ESCAPE_HTML:
        *ret_length = put_html(ret, c);
        break;
    case MPIQ_ESCAPE_DOT:
        *ret_length = put_dot(ret, c);
        break;
    case MPIQ_ESCAPE_TEXT:
        *ret_length = is_printable_ascii(c.code) ? put(ret, "%c", (char)c.code) : put_visible(ret, "\\", c);
        break;
    }
    return c.length;
}

void mpiq_escape_write(enum mpiq_escape format, const char *string, FILE *stream)
{
    size_t left = strlen(string);
    while (left > 0) {
        char escaped[MPIQ_ESCAPE_ROOM];
        size_t length = 0;
        size_t plain = mpiq_escape_plain(string, left);
        fwrite(string, 1, plain, stream);
        string += plain;
        left -= plain;
        if (left == 0)
            return;
        size_t used = mpiq_escape_character(format, string, left, escaped, &length);
        fwrite(escaped, 1, length, stream);
        string += used;
        left -= used;
    }
}

char *mpiq_escape_string(enum mpiq_escape format, const char *string)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    mpiq_escape_write(format, string, stream);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
