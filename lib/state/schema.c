/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

void *mpiq_list_append(void *list, size_t *count, size_t size, const void *unknown)
{
    void *element = mpiq_array_append(list, count, size);
    if (element)
        memcpy(element, unknown, size);
    return element;
}

/* What a string takes beside its characters, about: most are there once, but who counts on that? */
enum { STRING_COST = 16 };

static const char too_large[] = "makes this exceed its memory limit";

static bool take_memory(struct mpiq_schema_parser *parser, uint64_t bytes)
{
    if (bytes > parser->memory)
        return false;
    parser->memory -= bytes;
    return true;
}

uint64_t mpiq_load_number(const void *member, size_t size, bool is_signed)
{
    switch (size) {
    case 1:
        return is_signed ? (uint64_t) * (const int8_t *)member : *(const uint8_t *)member;
    case 2:
        return is_signed ? (uint64_t) * (const int16_t *)member : *(const uint16_t *)member;
    case 4:
        return is_signed ? (uint64_t) * (const int32_t *)member : *(const uint32_t *)member;
    default:
        return *(const uint64_t *)member;
    }
}

void mpiq_store_number(void *member, size_t size, uint64_t value)
{
    switch (size) {
    case 1:
        *(uint8_t *)member = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)member = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)member = (uint32_t)value;
        break;
    default:
        *(uint64_t *)member = value;
    }
}

/* ---- writing ----------------------------------------------------------------------------------------- */

static size_t list_count(const struct mpiq_field *field, const void *structure)
{
    return *(const size_t *)((const char *)structure + field->count_offset);
}

static bool is_unknown(const struct mpiq_field *field, const void *structure, const void *unknown)
{
    const char *member = (const char *)structure + field->offset;
    const char *none = (const char *)unknown + field->offset;
    switch (field->type) {
    case MPIQ_FIELD_LIST:
        return list_count(field, structure) == 0;
    case MPIQ_FIELD_ARRAY:
        return strncmp(member, none, field->size) == 0;
    default:
        return memcmp(member, none, field->size) == 0;
    }
}

static void write_field(struct mpiq_text *text, const struct mpiq_field *field, const void *structure)
{
    const char *member = (const char *)structure + field->offset;

    mpiq_text_key(text, field->key);
    switch (field->type) {
    case MPIQ_FIELD_BOOL:
        mpiq_text_bool(text, *(const bool *)member);
        break;
    case MPIQ_FIELD_SIGNED:
        mpiq_text_signed(text, (int64_t)mpiq_load_number(member, field->size, true));
        break;
    case MPIQ_FIELD_UNSIGNED:
        mpiq_text_unsigned(text, mpiq_load_number(member, field->size, false));
        break;
    case MPIQ_FIELD_HEX:
        mpiq_text_hex(text, mpiq_load_number(member, field->size, false));
        break;
    case MPIQ_FIELD_ENUM: {
        uint8_t value = *(const uint8_t *)member;
        const char *word = field->words[value < field->word_count ? value : 0];
        mpiq_text_string(text, word, SIZE_MAX);
        break;
    }
    case MPIQ_FIELD_LETTER:
        mpiq_text_string(text, member, 1);
        break;
    case MPIQ_FIELD_ARRAY:
        mpiq_text_string(text, member, field->size);
        break;
    case MPIQ_FIELD_STRING: {
        const char *string = *(const char *const *)member;
        mpiq_text_string(text, string ? string : "", SIZE_MAX);
        break;
    }
    case MPIQ_FIELD_STRUCTURE:
        mpiq_schema_write(text, field->schema, member);
        break;
    case MPIQ_FIELD_LIST: {
        const char *elements = *(const char *const *)member;
        mpiq_text_open(text, '[');
        for (size_t i = 0; i < list_count(field, structure); i++)
            mpiq_schema_write(text, field->schema, elements + i * field->schema->size);
        mpiq_text_close(text, ']');
        break;
    }
    case MPIQ_FIELD_CUSTOM:
        field->write(text, member);
        break;
    }
}

void mpiq_schema_write(struct mpiq_text *text, const struct mpiq_schema *schema, const void *structure)
{
    mpiq_text_open(text, '{');
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct mpiq_field *field = &schema->fields[i];
        if (field->required || !is_unknown(field, structure, schema->unknown))
            write_field(text, field, structure);
    }
    mpiq_text_close(text, '}');
}

/* ---- reading ----------------------------------------------------------------------------------------- */

/* What is wrong, with where: the path to the key, or the byte of a text that is no JSON. */
static struct mpiq_error *complain(const struct mpiq_schema_parser *parser, const char *key,
                                   const char *complaint)
{
    const struct mpiq_parser *json = &parser->json;
    char path[512];
    size_t used = 0;

    if (json->fault) {
        return mpiq_error_create(json->starved ? MPIQ_ERROR_NO_MEMORY : MPIQ_ERROR_CORRUPT,
                                 "JSON: %s, at byte %zu", json->fault, (size_t)(json->at - json->start));
    }
    path[0] = '\0';
    for (unsigned i = 0; i < parser->depth && used < sizeof path - 64; i++) {
        used +=
            (size_t)snprintf(path + used, sizeof path - used, "%s%s", used ? "." : "", parser->path[i].key);
        if (parser->path[i].indexed)
            used += (size_t)snprintf(path + used, sizeof path - used, "[%zu]", parser->path[i].index);
    }
    if (key)
        snprintf(path + used, sizeof path - used, "%s%s", used ? "." : "", key);
    return mpiq_error_create(json->starved ? MPIQ_ERROR_NO_MEMORY : MPIQ_ERROR_CORRUPT, "JSON: %s %s",
                             path[0] ? path : "the value", complaint);
}

static const char *read_number(struct mpiq_parser *json, const struct mpiq_field *field, void *member)
{
    uint64_t number = 0;
    unsigned spare = 64 - field->size * 8u;
    const char *complaint =
        field->type == MPIQ_FIELD_HEX ? mpiq_parser_hex(json, &number)
        : field->type == MPIQ_FIELD_UNSIGNED
            ? mpiq_parser_unsigned(json, UINT64_MAX >> spare, &number)
            : mpiq_parser_signed(json, INT64_MIN >> spare, INT64_MAX >> spare, (int64_t *)&number);
    if (!complaint)
        mpiq_store_number(member, field->size, number);
    return complaint;
}

static const char *read_text(struct mpiq_schema_parser *parser, const struct mpiq_field *field, void *member)
{
    const char *complaint = mpiq_parser_string(&parser->json);
    const char *string = parser->json.string;
    if (complaint || parser->json.fault)
        return complaint;
    switch (field->type) {
    case MPIQ_FIELD_ENUM: {
        unsigned word = 0;
        while (word < field->word_count && strcmp(field->words[word], string) != 0)
            word++;
        if (word == field->word_count)
            return "is an unknown word";
        mpiq_store_number(member, field->size, word);
        return NULL;
    }
    case MPIQ_FIELD_LETTER:
        if (string[0] == '\0' || string[1] != '\0')
            return "is not a single letter";
        *(char *)member = string[0];
        return NULL;
    case MPIQ_FIELD_ARRAY:
        memset(member, 0, field->size);
        mpiq_utf8_copy(member, field->size, string);
        return NULL;
    default:
        if (!take_memory(parser, STRING_COST + strlen(string)))
            return too_large;
        *(const char **)member = parser->intern(parser->state, string);
        parser->json.starved |= !*(const char **)member;
        return *(const char **)member ? NULL : "needs more memory than there is";
    }
}

/* What it takes of the budget of runs, it takes of memory too: 8 bytes, a process's name. */
static const char *read_custom(struct mpiq_schema_parser *parser, const struct mpiq_field *field,
                               void *member)
{
    uint64_t before = parser->json.budget;
    const char *complaint = field->read(&parser->json, member);
    uint64_t bytes = 8 * (before - parser->json.budget);
    return complaint || take_memory(parser, bytes) ? complaint : too_large;
}

static const char *read_scalar(struct mpiq_schema_parser *parser, const struct mpiq_field *field,
                               void *member)
{
    switch (field->type) {
    case MPIQ_FIELD_BOOL:
        return mpiq_parser_bool(&parser->json, member);
    case MPIQ_FIELD_SIGNED:
    case MPIQ_FIELD_UNSIGNED:
    case MPIQ_FIELD_HEX:
        return read_number(&parser->json, field, member);
    case MPIQ_FIELD_CUSTOM:
        return read_custom(parser, field, member);
    default:
        return read_text(parser, field, member);
    }
}

static struct mpiq_error *read_structure(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                         void *structure);

static void enter(struct mpiq_schema_parser *parser, const char *key, bool indexed)
{
    parser->path[parser->depth].key = key;
    parser->path[parser->depth].indexed = indexed;
    parser->path[parser->depth++].index = 0;
}

static struct mpiq_error *read_list(struct mpiq_schema_parser *parser, const struct mpiq_field *field,
                                    void *structure)
{
    void *list = (char *)structure + field->offset;
    size_t *count = (size_t *)((char *)structure + field->count_offset);

    const char *complaint = mpiq_parser_open(&parser->json, '[');
    if (complaint)
        return complain(parser, field->key, complaint);
    enter(parser, field->key, true);
    while (mpiq_parser_more(&parser->json, ']')) {
        if (!take_memory(parser, field->schema->size))
            return complain(parser, field->key, too_large);
        void *element = mpiq_list_append(list, count, field->schema->size, field->schema->unknown);
        if (!element)
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to read JSON");
        struct mpiq_error *error = read_structure(parser, field->schema, element);
        if (error)
            return error;
        parser->path[parser->depth - 1].index++;
    }
    parser->depth--;
    return NULL;
}

static struct mpiq_error *read_field(struct mpiq_schema_parser *parser, const struct mpiq_field *field,
                                     void *structure)
{
    if (field->type == MPIQ_FIELD_LIST)
        return read_list(parser, field, structure);
    void *member = (char *)structure + field->offset;
    if (field->type != MPIQ_FIELD_STRUCTURE) {
        const char *complaint = read_scalar(parser, field, member);
        return complaint ? complain(parser, field->key, complaint) : NULL;
    }
    enter(parser, field->key, false);
    struct mpiq_error *error = read_structure(parser, field->schema, member);
    parser->depth -= !error;
    return error;
}

/* The field of that key, looked for from the one after the last: a writer of ours keeps to the order. */
static const struct mpiq_field *find_field(const struct mpiq_schema *schema, const char *key, size_t *next)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t at = (*next + i) % schema->field_count;
        if (strcmp(schema->fields[at].key, key) == 0) {
            *next = at + 1;
            return &schema->fields[at];
        }
    }
    return NULL;
}

static struct mpiq_error *read_structure(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                         void *structure)
{
    struct mpiq_parser *json = &parser->json;
    uint64_t seen = 0;
    size_t next = 0;

    if (parser->depth >= MPIQ_SCHEMA_DEPTH)
        return mpiq_error_create(MPIQ_ERROR_INTERNAL, "JSON: objects nest too deep");
    const char *complaint = mpiq_parser_open(json, '{');
    if (complaint)
        return complain(parser, NULL, complaint);
    while (mpiq_parser_more(json, '}')) {
        mpiq_parser_key(json);
        const struct mpiq_field *field = json->fault ? NULL : find_field(schema, json->string, &next);
        if (!field) {
            mpiq_parser_skip(json);
            continue;
        }
        uint64_t bit = UINT64_C(1) << (field - schema->fields);
        if (seen & bit)
            return complain(parser, field->key, "is there twice");
        seen |= bit;
        struct mpiq_error *error = read_field(parser, field, structure);
        if (error)
            return error;
    }
    if (json->fault)
        return complain(parser, NULL, NULL);
    for (size_t i = 0; i < schema->field_count; i++) {
        if (schema->fields[i].required && !(seen & UINT64_C(1) << i))
            return complain(parser, schema->fields[i].key, "is missing");
    }
    return NULL;
}

/* ---- checking ---------------------------------------------------------------------------------------- */

/* The structures inside a member: *ret is the first. */
static size_t inner_structures(const struct mpiq_field *field, const void *structure, const char **ret)
{
    bool is_list = field->type == MPIQ_FIELD_LIST;
    const char *member = (const char *)structure + field->offset;
    *ret = is_list ? *(const char *const *)member : member;
    return is_list ? list_count(field, structure) : field->type == MPIQ_FIELD_STRUCTURE;
}

static struct mpiq_error *check_structure(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                          const void *structure)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct mpiq_field *field = &schema->fields[i];
        if (!field->schema)
            continue;
        const char *element = NULL;
        size_t count = inner_structures(field, structure, &element);
        enter(parser, field->key, field->type == MPIQ_FIELD_LIST);
        for (size_t at = 0; at < count; at++, element += field->schema->size) {
            parser->path[parser->depth - 1].index = at;
            struct mpiq_error *error = check_structure(parser, field->schema, element);
            if (error)
                return error;
        }
        parser->depth--;
    }
    const char *key = NULL;
    const char *complaint = schema->check ? schema->check(parser, structure, &key) : NULL;
    return complaint ? complain(parser, key, complaint) : NULL;
}

struct mpiq_error *mpiq_schema_check(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                     const void *structure)
{
    parser->depth = 0;
    return check_structure(parser, schema, structure);
}

bool mpiq_schema_checks(const struct mpiq_schema *schema, const void *structure, struct mpiq_checks *ret)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct mpiq_field *field = &schema->fields[i];
        const char *element = NULL;
        size_t count = inner_structures(field, structure, &element);
        for (; count > 0; count--, element += field->schema->size) {
            if (!mpiq_schema_checks(field->schema, element, ret))
                return false;
        }
    }
    if (!schema->check)
        return true;
    if (!mpiq_array_reserve(&ret->items, &ret->capacity, ret->count + 1))
        return false;
    ret->items[ret->count++] = (struct mpiq_checked){schema, structure};
    return true;
}

bool mpiq_checks_hold(struct mpiq_schema_parser *parser, const struct mpiq_checks *checks)
{
    const char *key = NULL;
    for (size_t i = 0; i < checks->count; i++) {
        if (checks->items[i].schema->check(parser, checks->items[i].structure, &key))
            return false;
    }
    return true;
}

void mpiq_checks_deinit(struct mpiq_checks *checks)
{
    free(checks->items);
    *checks = (struct mpiq_checks){0};
}

struct mpiq_error *mpiq_schema_parse(struct mpiq_schema_parser *parser, const struct mpiq_schema *schema,
                                     const char *text, size_t length, void *structure)
{
    mpiq_parser_init(&parser->json, text, length);
    parser->json.budget = parser->budget;
    parser->depth = 0;
    struct mpiq_error *error = read_structure(parser, schema, structure);
    if (!error) {
        mpiq_parser_end(&parser->json);
        error =
            parser->json.fault ? complain(parser, NULL, NULL) : check_structure(parser, schema, structure);
    }
    mpiq_parser_deinit(&parser->json);
    return error;
}
