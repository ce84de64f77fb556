/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"

/* What the analyzers see in other files. */
#undef mpiq_error_create
#undef mpiq_error_create_os
#undef mpiq_error_create_address
#undef mpiq_error_no_memory

static const char *const words[] = {
#define WORD(id, word) [MPIQ_ERROR_##id] = (word),
    MPIQ_ERRORS(WORD)
#undef WORD
};

static struct mpiq_error no_memory = {.code = MPIQ_ERROR_NO_MEMORY, .message = "out of memory"};

/* As vasprintf, with everything escaped that a terminal would obey: a sentence often holds a name that came
   from another process or file.  NULL on allocation failure. */
__attribute__((format(printf, 1, 0))) static char *sentence_of(const char *format, va_list args)
{
    char *raw = NULL;
    if (vasprintf(&raw, format, args) < 0)
        return NULL;
    char *escaped = mpiq_escape_string(MPIQ_ESCAPE_TEXT, raw);
    free(raw);
    return escaped;
}

static struct mpiq_error *without_memory(void)
{
    mpiq_memory_miss();
    return &no_memory;
}

__attribute__((format(printf, 3, 0))) static struct mpiq_error *
create(enum mpiq_error_code code, const char *suffix, const char *format, va_list args)
{
    char *sentence = sentence_of(format, args);
    if (!sentence)
        return without_memory();
    struct mpiq_error *error = calloc(1, sizeof *error);
    if (!error) {
        free(sentence);
        return without_memory();
    }
    error->code = code;
    error->message = sentence;
    char *whole = NULL;
    if (suffix && asprintf(&whole, "%s: %s", sentence, suffix) >= 0) {
        free(sentence);
        error->message = whole;
    }
    return error;
}

struct mpiq_error *mpiq_error_create(enum mpiq_error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct mpiq_error *error = create(code, NULL, format, args);
    va_end(args);
    return error;
}

static enum mpiq_error_code code_of_errno(int errnum)
{
    switch (errnum) {
    case ESRCH:
        return MPIQ_ERROR_GONE;
    case EPERM:
    case EACCES:
        return MPIQ_ERROR_PERMISSION;
    case ENOENT:
        return MPIQ_ERROR_NOT_FOUND;
    case ENOMEM:
        return MPIQ_ERROR_NO_MEMORY;
    default:
        return MPIQ_ERROR_IO;
    }
}

struct mpiq_error *mpiq_error_no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
}

struct mpiq_error *mpiq_error_create_os(int errnum, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    struct mpiq_error *error =
        create(code_of_errno(errnum), strerror_r(errnum, text, sizeof text), format, args);
    va_end(args);
    if (error != &no_memory)
        error->errnum = errnum;
    return error;
}

struct mpiq_error *mpiq_error_create_address(enum mpiq_error_code code, uint64_t address, const char *format,
                                             ...)
{
    va_list args;
    va_start(args, format);
    struct mpiq_error *error = create(code, NULL, format, args);
    va_end(args);
    if (error != &no_memory)
        error->address = address;
    return error;
}

struct mpiq_error *mpiq_error_prefix(struct mpiq_error *error, const char *format, ...)
{
    if (!error || error == &no_memory)
        return error;
    va_list args;
    va_start(args, format);
    char *prefix = sentence_of(format, args);
    va_end(args);
    if (!prefix)
        return error;
    char *whole = NULL;
    if (asprintf(&whole, "%s: %s", prefix, error->message) >= 0) {
        free(error->message);
        error->message = whole;
    }
    free(prefix);
    return error;
}

struct mpiq_error *mpiq_error_copy(const struct mpiq_error *error)
{
    return mpiq_error_create(error->code, "%s", error->message);
}

void mpiq_error_destroy(struct mpiq_error *error)
{
    if (!error || error == &no_memory)
        return;
    free(error->message);
    free(error);
}

const char *mpiq_error_word(enum mpiq_error_code code)
{
    return (unsigned)code < MPIQ_ERROR_COUNT ? words[code] : "internal";
}

enum mpiq_error_code mpiq_error_code_of(const char *word)
{
    for (unsigned code = 0; code < MPIQ_ERROR_COUNT; code++) {
        if (strcmp(words[code], word) == 0)
            return (enum mpiq_error_code)code;
    }
    return MPIQ_ERROR_INTERNAL;
}
