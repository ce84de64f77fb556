/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json_parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Deeper than anything of ours nests. */
#define DEPTH_MAX 32

void mpiq_parser_init(struct mpiq_parser *parser, const char *text, size_t length)
{
    *parser = (struct mpiq_parser){.start = text, .at = text, .end = text + length};
}

void mpiq_parser_deinit(struct mpiq_parser *parser)
{
    free(parser->string);
    parser->string = NULL;
}

/* All ends here: what is left is passed over. */
static void fail(struct mpiq_parser *parser, const char *fault)
{
    if (!parser->fault)
        parser->fault = parser->at == parser->end ? "it ends in the middle of a value" : fault;
}

static void skip_space(struct mpiq_parser *parser)
{
    while (parser->at < parser->end &&
           (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r'))
        parser->at++;
}

/* Whether that character comes next, and if so, past it. */
static bool take(struct mpiq_parser *parser, char c)
{
    skip_space(parser);
    if (parser->fault || parser->at == parser->end || *parser->at != c)
        return false;
    parser->at++;
    return true;
}

static bool take_word(struct mpiq_parser *parser, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

char mpiq_parser_peek(struct mpiq_parser *parser)
{
    skip_space(parser);
    if (parser->fault || parser->at == parser->end)
        return '\0';
    char c = *parser->at;
    if (c == '-' || (c >= '0' && c <= '9'))
        return '0';
    if (c == 't' || c == 'f')
        return 't';
    return c == '{' || c == '[' || c == '"' || c == 'n' ? c : '\0';
}

/* ---- what holds others --------------------------------------------------------------------------------- */

const char *mpiq_parser_open(struct mpiq_parser *parser, char open)
{
    char next = mpiq_parser_peek(parser);
    if (next == '\0') {
        fail(parser, "no value");
        return NULL;
    }
    if (next != open)
        return open == '{' ? "is not an object" : "is not an array";
    if (++parser->depth > DEPTH_MAX) {
        fail(parser, "it nests too deep");
        return NULL;
    }
    parser->at++;
    parser->first = true;
    return NULL;
}

bool mpiq_parser_more(struct mpiq_parser *parser, char close)
{
    if (parser->fault)
        return false;
    if (take(parser, close)) {
        parser->depth--;
        parser->first = false;
        return false;
    }
    if (!parser->first && !take(parser, ',')) {
        fail(parser, "neither a comma nor an end");
        return false;
    }
    parser->first = false;
    return true;
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static bool append(struct mpiq_parser *parser, const char *bytes, size_t length)
{
    if (parser->string_room - parser->string_length <= length) {
        size_t room = parser->string_room ? parser->string_room * 2 : 256;
        while (room - parser->string_length <= length)
            room *= 2;
        char *grown = realloc(parser->string, room);
        if (!grown) {
            parser->fault = parser->fault ? parser->fault : "no memory for a string";
            parser->starved = true;
            return false;
        }
        parser->string = grown;
        parser->string_room = room;
    }
    memcpy(parser->string + parser->string_length, bytes, length);
    parser->string_length += length;
    parser->string[parser->string_length] = '\0';
    return true;
}

static bool take_hex4(struct mpiq_parser *parser, uint32_t *ret)
{
    uint32_t value = 0;
    if (parser->end - parser->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *parser->at++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return false;
        value = value << 4 | digit;
    }
    *ret = value;
    return true;
}

/* A character beyond the first 65,536 is a pair of escapes; half of one is none. */
static void take_unicode(struct mpiq_parser *parser)
{
    uint32_t code = 0;
    uint32_t low = 0;
    char bytes[4];
    if (!take_hex4(parser, &code)) {
        fail(parser, "an invalid escape");
        return;
    }
    if (code >= 0xd800 && code < 0xdc00) {
        const char *next = parser->at;
        if (take_word(parser, "\\u") && take_hex4(parser, &low) && low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            parser->at = next;
    }
    /* Half a character is how Python writes a byte that is not text. */
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    append(parser, bytes, mpiq_utf8_encode(code, bytes));
}

static void take_escape(struct mpiq_parser *parser)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = parser->at < parser->end && *parser->at ? strchr(letters, *parser->at) : NULL;
    if (letter) {
        parser->at++;
        append(parser, &meanings[letter - letters], 1);
    } else if (take_word(parser, "u")) {
        take_unicode(parser);
    } else {
        fail(parser, "an invalid escape");
    }
}

/* The next value, which is a string. */
static void take_string(struct mpiq_parser *parser)
{
    parser->at++;
    parser->string_length = 0;
    append(parser, "", 0);
    while (!parser->fault) {
        const char *plain = parser->at;
        while (parser->at < parser->end && (unsigned char)*parser->at >= 0x20 &&
               (unsigned char)*parser->at < 0x80 && *parser->at != '"' && *parser->at != '\\')
            parser->at++;
        if (!append(parser, plain, (size_t)(parser->at - plain)))
            return;
        if (parser->at == parser->end) {
            fail(parser, "");
        } else if (*parser->at == '"') {
            parser->at++;
            return;
        } else if (*parser->at == '\\') {
            parser->at++;
            take_escape(parser);
        } else {
            size_t length =
                mpiq_utf8_length((const unsigned char *)parser->at, (size_t)(parser->end - parser->at));
            if (length > 1 && append(parser, parser->at, length))
                parser->at += length;
            else
                fail(parser, "an invalid byte");
        }
    }
}

const char *mpiq_parser_string(struct mpiq_parser *parser)
{
    char next = mpiq_parser_peek(parser);
    if (next == '\0')
        fail(parser, "no value");
    else if (next != '"')
        return "is not a string";
    else
        take_string(parser);
    return !parser->fault && strlen(parser->string) != parser->string_length ? "holds a zero byte" : NULL;
}

void mpiq_parser_key(struct mpiq_parser *parser)
{
    if (mpiq_parser_peek(parser) == '"')
        take_string(parser);
    else
        fail(parser, "no key");
    if (!take(parser, ':'))
        fail(parser, "no colon after a key");
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static size_t count_digits(struct mpiq_parser *parser)
{
    const char *start = parser->at;
    while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9')
        parser->at++;
    return (size_t)(parser->at - start);
}

/* Takes a number; *whole says whether it has neither fraction nor exponent.  A value that does not fit in 64
   bits is not *fits. */
static void take_number(struct mpiq_parser *parser, bool *negative, uint64_t *value, bool *whole, bool *fits)
{
    *negative = take(parser, '-');
    const char *digits = parser->at;
    size_t count = count_digits(parser);
    *whole = *fits = true;
    *value = 0;
    if (count == 0 || (count > 1 && *digits == '0')) {
        fail(parser, "an invalid number");
        return;
    }
    for (size_t i = 0; i < count; i++)
        *fits &= !__builtin_mul_overflow(*value, 10, value) &&
                 !__builtin_add_overflow(*value, (uint64_t)(digits[i] - '0'), value);
    if (take_word(parser, ".")) {
        *whole = false;
        if (count_digits(parser) == 0)
            fail(parser, "an invalid number");
    }
    if (take_word(parser, "e") || take_word(parser, "E")) {
        *whole = false;
        if (!take_word(parser, "+"))
            take_word(parser, "-");
        if (count_digits(parser) == 0)
            fail(parser, "an invalid number");
    }
}

/* The next value, a whole number. */
static const char *whole_number(struct mpiq_parser *parser, bool *negative, uint64_t *value)
{
    bool whole = false;
    bool fits = false;
    char next = mpiq_parser_peek(parser);
    if (next == '\0')
        fail(parser, "no value");
    if (next != '0')
        return parser->fault ? NULL : "is not a whole number";
    take_number(parser, negative, value, &whole, &fits);
    if (parser->fault)
        return NULL;
    return !whole ? "is not a whole number" : !fits ? "is a number out of range" : NULL;
}

const char *mpiq_parser_signed(struct mpiq_parser *parser, int64_t low, int64_t high, int64_t *ret)
{
    bool negative = false;
    uint64_t value = 0;
    const char *complaint = whole_number(parser, &negative, &value);
    if (complaint || parser->fault)
        return complaint;
    if (value > (uint64_t)INT64_MAX + negative)
        return "is a number out of range";
    int64_t number = negative ? (int64_t)(0 - value) : (int64_t)value;
    if (number < low || number > high)
        return "is a number out of range";
    *ret = number;
    return NULL;
}

const char *mpiq_parser_unsigned(struct mpiq_parser *parser, uint64_t high, uint64_t *ret)
{
    bool negative = false;
    uint64_t value = 0;
    const char *complaint = whole_number(parser, &negative, &value);
    if (complaint || parser->fault)
        return complaint;
    if ((negative && value) || value > high)
        return "is a number out of range";
    *ret = value;
    return NULL;
}

const char *mpiq_parser_hex(struct mpiq_parser *parser, uint64_t *ret)
{
    if (mpiq_parser_peek(parser) != '"')
        return mpiq_parser_unsigned(parser, UINT64_MAX, ret);
    take_string(parser);
    if (parser->fault)
        return NULL;
    const char *string = parser->string;
    size_t length = parser->string_length;
    if (length < 3 || length > 18 || string[0] != '0' || string[1] != 'x' ||
        strspn(string + 2, "0123456789abcdefABCDEF") != length - 2)
        return "is not a number in the form \"0x…\"";
    *ret = strtoull(string, NULL, 16);
    return NULL;
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

const char *mpiq_parser_bool(struct mpiq_parser *parser, bool *ret)
{
    char next = mpiq_parser_peek(parser);
    if (next != 't' && next != '\0')
        return "is neither true nor false";
    if (next == 't' && take_word(parser, "true"))
        *ret = true;
    else if (next == 't' && take_word(parser, "false"))
        *ret = false;
    else
        fail(parser, "no value");
    return NULL;
}

void mpiq_parser_skip(struct mpiq_parser *parser)
{
    unsigned depth = parser->depth;
    bool objects[DEPTH_MAX + 1] = {false};
    uint64_t number = 0;
    bool flag = false;

    for (;;) {
        char next = mpiq_parser_peek(parser);
        bool opened = next == '{' || next == '[';
        if (opened)
            mpiq_parser_open(parser, next);
        else if (next == '"')
            take_string(parser);
        else if (next == '0')
            take_number(parser, &flag, &number, &flag, &flag);
        else if (next == 't')
            mpiq_parser_bool(parser, &flag);
        else if (next != 'n' || !take_word(parser, "null"))
            fail(parser, "no value");
        if (parser->fault)
            return;
        if (opened)
            objects[parser->depth] = next == '{';
        while (parser->depth > depth && !mpiq_parser_more(parser, objects[parser->depth] ? '}' : ']')) {
            if (parser->fault)
                return;
        }
        if (parser->depth == depth)
            return;
        if (objects[parser->depth])
            mpiq_parser_key(parser);
    }
}

void mpiq_parser_end(struct mpiq_parser *parser)
{
    skip_space(parser);
    if (!parser->fault && parser->at < parser->end)
        parser->fault = "more text after the value";
}

size_t mpiq_parser_span(struct mpiq_parser *parser, const char **start)
{
    skip_space(parser);
    *start = parser->at;
    mpiq_parser_skip(parser);
    return parser->fault ? 0 : (size_t)(parser->at - *start);
}

void mpiq_parser_try_signed(struct mpiq_parser *parser, int64_t low, int64_t high, int64_t *ret)
{
    if (mpiq_parser_peek(parser) == '0')
        mpiq_parser_signed(parser, low, high, ret);
    else
        mpiq_parser_skip(parser);
}

void mpiq_parser_try_unsigned(struct mpiq_parser *parser, uint64_t *ret)
{
    if (mpiq_parser_peek(parser) == '0')
        mpiq_parser_unsigned(parser, UINT64_MAX, ret);
    else
        mpiq_parser_skip(parser);
}

void mpiq_parser_try_bool(struct mpiq_parser *parser, bool *ret)
{
    if (mpiq_parser_peek(parser) == 't')
        mpiq_parser_bool(parser, ret);
    else
        mpiq_parser_skip(parser);
}

const char *mpiq_parser_try_string(struct mpiq_parser *parser)
{
    if (mpiq_parser_peek(parser) == '"')
        return !mpiq_parser_string(parser) && !parser->fault ? parser->string : NULL;
    mpiq_parser_skip(parser);
    return NULL;
}
