/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/host_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/hash_table.h"

#define MARK "@mpiq"
enum { HEX_DIGITS = 16, NUMBER_DIGITS = 10, WORD_MOST = 16 };

static const char *const words[] = {
#define WORD(id, word) word,
    MPIQ_MESSAGE_KINDS(WORD)
#undef WORD
};

static uint64_t check_of(unsigned version, const char *text, size_t length)
{
    return mpiq_hash_bytes(mpiq_hash(MPIQ_HASH_FIXED, version), text, length);
}

char *mpiq_host_message_write(uint64_t token, uint64_t number, enum mpiq_host_message_kind kind,
                              const void *bytes, size_t length)
{
    char *text _cleanup_free_ = malloc(MPIQ_BASE64_LENGTH(length) + 1);
    char *body _cleanup_free_ = NULL;
    char *line = NULL;
    if (!text)
        return NULL;
    mpiq_base64_encode(bytes, length, text);
    text[MPIQ_BASE64_LENGTH(length)] = '\0';
    if (asprintf(&body, "%016" PRIx64 " %" PRIu64 " %s %s", token, number, words[kind], text) < 0)
        return NULL;
    uint64_t check = check_of(MPIQ_PROTOCOL_VERSION, body, strlen(body));
    if (asprintf(&line, MARK "%d %s ~%016" PRIx64 "\n", MPIQ_PROTOCOL_VERSION, body, check) < 0)
        return NULL;
    return line;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool take_character(const char **at, const char *end, char character)
{
    if (*at == end || **at != character)
        return false;
    (*at)++;
    return true;
}

static bool take_decimal(const char **at, const char *end, uint64_t *ret)
{
    int count = 0;
    for (*ret = 0; *at < end && **at >= '0' && **at <= '9' && count < NUMBER_DIGITS; (*at)++, count++)
        *ret = *ret * 10 + (uint64_t)(**at - '0');
    return count > 0;
}

static bool take_hex(const char **at, const char *end, uint64_t *ret)
{
    *ret = 0;
    for (int i = 0; i < HEX_DIGITS; i++, (*at)++) {
        const char *digit = *at < end ? memchr("0123456789abcdef", **at, HEX_DIGITS) : NULL;
        if (!digit)
            return false;
        *ret = *ret << 4 | (uint64_t)(strchr("0123456789abcdef", *digit) - "0123456789abcdef");
    }
    return true;
}

static bool take_kind(const char **at, const char *end, enum mpiq_host_message_kind *ret)
{
    size_t length = 0;
    while (length < WORD_MOST && *at + length < end && (*at)[length] >= 'a' && (*at)[length] <= 'z')
        length++;
    for (*ret = 0; *ret < MPIQ_MESSAGE_KIND_COUNT; ++*ret) {
        if (strlen(words[*ret]) == length && memcmp(words[*ret], *at, length) == 0) {
            *at += length;
            return true;
        }
    }
    return false;
}

/* What stands behind the mark. */
static bool take_message(const char **at, const char *end, struct mpiq_host_message *ret)
{
    uint64_t version = 0, check = 0;
    if (!take_decimal(at, end, &version) || !take_character(at, end, ' '))
        return false;
    const char *body = *at;
    if (!take_hex(at, end, &ret->token) || !take_character(at, end, ' ') ||
        !take_decimal(at, end, &ret->number) || !take_character(at, end, ' ') ||
        !take_kind(at, end, &ret->kind) || !take_character(at, end, ' '))
        return false;
    ret->text = *at;
    while (*at < end && **at != ' ' && **at != '@')
        (*at)++;
    ret->length = (size_t)(*at - ret->text);
    ret->version = (unsigned)version;
    size_t length = (size_t)(*at - body);
    return take_character(at, end, ' ') && take_character(at, end, '~') && take_hex(at, end, &check) &&
           check == check_of(ret->version, body, length);
}

bool mpiq_host_message_next(const char **at, const char *end, struct mpiq_host_message *ret,
                            uint64_t *damaged)
{
    for (;;) {
        const char *mark = *at < end ? memmem(*at, (size_t)(end - *at), MARK, strlen(MARK)) : NULL;
        if (!mark) {
            *at = end;
            return false;
        }
        *at = mark + strlen(MARK);
        const char *after = *at;
        if (take_message(&after, end, ret)) {
            *at = after;
            return true;
        }
        ++*damaged;
    }
}
