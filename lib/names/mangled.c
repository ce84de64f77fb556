/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/mangled.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "4step": *at goes beyond it, *length is the word's; NULL: it is none. */
static const char *take_word(const char **at, size_t *length)
{
    char *end = NULL;
    unsigned long count = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : 0;
    if (count == 0 || strnlen(end, count) < count)
        return NULL;
    *at = end + count;
    *length = count;
    return end;
}

/* Beyond the arguments of a template, which begin there; NULL: they are too much for us. */
static const char *skip_arguments(const char *at)
{
    size_t depth = 1, length;
    while (at && depth > 0) {
        switch (*at) {
        case 'E':
            depth--;
            at++;
            break;
        case 'I':
        case 'N':
        case 'J':
        case 'F':
            depth++;
            at++;
            break;
        case 'L': /* a number; of a type with a name it might be anything */
            at = islower((unsigned char)at[1]) ? strchr(at, 'E') : NULL;
            at += at != NULL;
            break;
        case 'S':
            if (at[1] && islower((unsigned char)at[1])) {
                at += 2;
                break;
            }
            __attribute__((fallthrough));
        case 'T': /* T_, S1_, A16_ */
        case 'A':
            at = strchr(at, '_');
            at += at != NULL;
            break;
        case 'P':
        case 'R':
        case 'O':
        case 'K':
        case 'V':
            at++;
            break;
        default:
            if (isdigit((unsigned char)*at))
                at = take_word(&at, &length) ? at : NULL;
            else
                at = islower((unsigned char)*at) ? at + 1 : NULL;
        }
    }
    return at;
}

struct name {
    char *text;
    size_t length, size;
    const char *last; /* the word added last */
    size_t last_length;
};

static bool add(struct name *name, const char *prefix, const char *word, size_t length)
{
    size_t colons = name->length > 0 ? 2 : 0, prefixed = strlen(prefix);
    if (!word || length >= name->size || name->length + colons + prefixed + length >= name->size)
        return false;
    memcpy(name->text + name->length, "::", colons);
    memcpy(name->text + name->length + colons, prefix, prefixed);
    memcpy(name->text + name->length + colons + prefixed, word, length);
    name->length += colons + prefixed + length;
    name->last = word;
    name->last_length = length;
    return true;
}

/* One part of a name, and whether that is possible; *at goes beyond it. */
static bool take_part(struct name *name, const char **at)
{
    static const char anonymous[] = "_GLOBAL__N_";
    size_t length;
    if (**at == 'I') {
        *at = name->length > 0 ? skip_arguments(*at + 1) : NULL;
        return *at != NULL;
    }
    if (strncmp(*at, "St", 2) == 0) {
        *at += 2;
        return add(name, "", "std", 3);
    }
    if ((**at == 'C' || **at == 'D') && isdigit((unsigned char)(*at)[1])) {
        const char *tilde = **at == 'D' ? "~" : "";
        *at += 2;
        return add(name, tilde, name->last, name->last_length);
    }
    bool tag = **at == 'B';
    *at += tag || **at == 'L';
    const char *word = take_word(at, &length);
    if (word && tag)
        return true;
    if (word && strncmp(word, anonymous, sizeof anonymous - 1) == 0)
        return add(name, "", "(anonymous)", 11);
    return add(name, "", word, word ? length : 0);
}

bool mpiq_unmangle(const char *symbol, char *ret, size_t size)
{
    struct name name = {.text = ret, .size = size};
    if (!symbol || strncmp(symbol, "_Z", 2) != 0)
        return false;
    const char *at = symbol + 2;
    bool nested = *at == 'N';
    at += nested;
    while (nested && *at && strchr("rVKRO", *at))
        at++;
    bool good = true;
    while (good && (nested ? *at != 'E' : name.length == 0 || *at == 'I' || strcmp(ret, "std") == 0)) {
        good = take_part(&name, &at);
        ret[name.length] = '\0';
    }
    return good && name.length > 0;
}
