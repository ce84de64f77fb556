/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_DEPTH 32

void *mpiq_list_append(void *list, size_t *count, size_t size, const void *unknown)
{
    char **elements = list;
    if ((*count & (*count - 1)) == 0) {
        size_t room = *count ? *count * 2 : 1;
        char *grown = reallocarray(*elements, room, size);
        if (!grown)
            return NULL;
        *elements = grown;
    }
    void *element = *elements + *count * size;
    memcpy(element, unknown, size);
    (*count)++;
    return element;
}

static int64_t load_signed(const void *member, size_t size)
{
    switch (size) {
    case 1:
        return *(const int8_t *)member;
    case 2:
        return *(const int16_t *)member;
    case 4:
        return *(const int32_t *)member;
    default:
        return *(const int64_t *)member;
    }
}

static uint64_t load_unsigned(const void *member, size_t size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)member;
    case 2:
        return *(const uint16_t *)member;
    case 4:
        return *(const uint32_t *)member;
    default:
        return *(const uint64_t *)member;
    }
}

static void store(void *member, size_t size, uint64_t value)
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
        mpiq_text_signed(text, load_signed(member, field->size));
        break;
    case MPIQ_FIELD_UNSIGNED:
        mpiq_text_unsigned(text, load_unsigned(member, field->size));
        break;
    case MPIQ_FIELD_HEX:
        mpiq_text_hex(text, load_unsigned(member, field->size));
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
    case MPIQ_FIELD_RECORD:
        mpiq_record_write(text, field->record, member);
        break;
    case MPIQ_FIELD_LIST: {
        const char *elements = *(const char *const *)member;
        mpiq_text_open(text, '[');
        for (size_t i = 0; i < list_count(field, structure); i++)
            mpiq_record_write(text, field->record, elements + i * field->record->size);
        mpiq_text_close(text, ']');
        break;
    }
    case MPIQ_FIELD_CUSTOM:
        field->write(text, member);
        break;
    }
}

void mpiq_record_write(struct mpiq_text *text, const struct mpiq_record *record, const void *structure)
{
    mpiq_text_open(text, '{');
    for (size_t i = 0; i < record->field_count; i++) {
        const struct mpiq_field *field = &record->fields[i];
        if (field->required || !is_unknown(field, structure, record->unknown))
            write_field(text, field, structure);
    }
    mpiq_text_close(text, '}');
}

/* ---- reading ----------------------------------------------------------------------------------------- */

const char *mpiq_json_signed(json_object *value, int64_t low, int64_t high, int64_t *ret)
{
    if (!json_object_is_type(value, json_type_int))
        return "is not a whole number";
    int64_t number = json_object_get_int64(value);
    if (number < low || number > high || (number == INT64_MAX && json_object_get_uint64(value) > INT64_MAX))
        return "is a number out of range";
    *ret = number;
    return NULL;
}

const char *mpiq_json_unsigned(json_object *value, uint64_t high, uint64_t *ret)
{
    if (!json_object_is_type(value, json_type_int))
        return "is not a whole number";
    uint64_t number = json_object_get_uint64(value);
    if (json_object_get_int64(value) < 0 || number > high)
        return "is a number out of range";
    *ret = number;
    return NULL;
}

const char *mpiq_json_hex(json_object *value, uint64_t *ret)
{
    if (!json_object_is_type(value, json_type_string))
        return mpiq_json_unsigned(value, UINT64_MAX, ret);
    const char *string = json_object_get_string(value);
    size_t digits = (size_t)json_object_get_string_len(value);
    if (digits < 3 || digits > 18 || string[0] != '0' || string[1] != 'x' ||
        strspn(string + 2, "0123456789abcdefABCDEF") != digits - 2)
        return "is not a number in the form \"0x…\"";
    *ret = strtoull(string, NULL, 16);
    return NULL;
}

static const char *read_string(json_object *value, const char **ret)
{
    if (!json_object_is_type(value, json_type_string))
        return "is not a string";
    *ret = json_object_get_string(value);
    if (strlen(*ret) != (size_t)json_object_get_string_len(value))
        return "holds a zero byte";
    return NULL;
}

static const char *read_scalar(struct mpiq_reader *reader, const struct mpiq_field *field, json_object *value,
                               void *member)
{
    const char *complaint = NULL;
    const char *string = NULL;
    uint64_t number = 0;
    unsigned bits = field->size * 8u;

    switch (field->type) {
    case MPIQ_FIELD_BOOL:
        if (!json_object_is_type(value, json_type_boolean))
            return "is neither true nor false";
        *(bool *)member = json_object_get_boolean(value);
        return NULL;
    case MPIQ_FIELD_SIGNED:
        complaint =
            mpiq_json_signed(value, INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits), (int64_t *)&number);
        break;
    case MPIQ_FIELD_UNSIGNED:
        complaint = mpiq_json_unsigned(value, UINT64_MAX >> (64 - bits), &number);
        break;
    case MPIQ_FIELD_HEX:
        complaint = mpiq_json_hex(value, &number);
        break;
    case MPIQ_FIELD_CUSTOM:
        return field->read(reader, value, member);
    default:
        complaint = read_string(value, &string);
    }
    if (complaint)
        return complaint;

    switch (field->type) {
    case MPIQ_FIELD_ENUM:
        while (number < field->word_count && strcmp(field->words[number], string) != 0)
            number++;
        if (number == field->word_count)
            return "is a word that is not known here";
        store(member, field->size, number);
        return NULL;
    case MPIQ_FIELD_LETTER:
        if (string[0] == '\0' || string[1] != '\0')
            return "is not a single letter";
        *(char *)member = string[0];
        return NULL;
    case MPIQ_FIELD_ARRAY:
        if (strlen(string) >= field->size)
            return "is too long";
        memset(member, 0, field->size);
        memcpy(member, string, strlen(string));
        return NULL;
    case MPIQ_FIELD_STRING:
        *(const char **)member = reader->intern(reader->state, string);
        return *(const char **)member ? NULL : "finds no memory";
    default:
        store(member, field->size, number);
        return NULL;
    }
}

static struct mpiq_error *complain(const struct mpiq_reader *reader, const char *key, const char *complaint)
{
    char path[512];
    size_t used = 0;
    path[0] = '\0';
    for (unsigned i = 0; i < reader->depth && used < sizeof path - 64; i++) {
        used +=
            (size_t)snprintf(path + used, sizeof path - used, "%s%s", used ? "." : "", reader->path[i].key);
        if (reader->path[i].indexed)
            used += (size_t)snprintf(path + used, sizeof path - used, "[%zu]", reader->path[i].index);
    }
    if (key)
        snprintf(path + used, sizeof path - used, "%s%s", used ? "." : "", key);
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "JSON: %s %s", path[0] ? path : "the value", complaint);
}

static struct mpiq_error *read_list(struct mpiq_reader *reader, const struct mpiq_field *field,
                                    json_object *value, void *structure)
{
    void *list = (char *)structure + field->offset;
    size_t *count = (size_t *)((char *)structure + field->count_offset);

    if (!json_object_is_type(value, json_type_array))
        return complain(reader, field->key, "is not an array");
    unsigned level = reader->depth++;
    reader->path[level].key = field->key;
    reader->path[level].indexed = true;
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        reader->path[level].index = i;
        void *element = mpiq_list_append(list, count, field->record->size, field->record->unknown);
        if (!element)
            return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to read JSON");
        struct mpiq_error *error =
            mpiq_record_read(reader, field->record, json_object_array_get_idx(value, i), element);
        if (error)
            return error;
    }
    reader->depth--;
    return NULL;
}

static struct mpiq_error *read_field(struct mpiq_reader *reader, const struct mpiq_field *field,
                                     json_object *value, void *structure)
{
    if (field->type == MPIQ_FIELD_LIST)
        return read_list(reader, field, value, structure);
    void *member = (char *)structure + field->offset;
    if (field->type != MPIQ_FIELD_RECORD) {
        const char *complaint = read_scalar(reader, field, value, member);
        return complaint ? complain(reader, field->key, complaint) : NULL;
    }
    reader->path[reader->depth].key = field->key;
    reader->path[reader->depth++].indexed = false;
    struct mpiq_error *error = mpiq_record_read(reader, field->record, value, member);
    if (!error)
        reader->depth--;
    return error;
}

struct mpiq_error *mpiq_record_read(struct mpiq_reader *reader, const struct mpiq_record *record,
                                    json_object *object, void *structure)
{
    if (!json_object_is_type(object, json_type_object))
        return complain(reader, NULL, "is not an object");
    if (reader->depth >= MPIQ_READER_DEPTH)
        return mpiq_error_create(MPIQ_ERROR_INTERNAL, "JSON: records nest too deep");
    for (size_t i = 0; i < record->field_count; i++) {
        const struct mpiq_field *field = &record->fields[i];
        json_object *value = NULL;
        if (!json_object_object_get_ex(object, field->key, &value)) {
            if (field->required)
                return complain(reader, field->key, "is missing");
            continue;
        }
        struct mpiq_error *error = read_field(reader, field, value, structure);
        if (error)
            return error;
    }
    const char *key = NULL;
    const char *complaint = record->check ? record->check(reader, structure, &key) : NULL;
    return complaint ? complain(reader, key, complaint) : NULL;
}

struct mpiq_error *mpiq_json_parse(const char *text, size_t length, json_object **ret)
{
    if (length >= INT_MAX)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "JSON: %zu bytes are too many", length);
    json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
    if (!tokener)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory to read JSON");
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object *object = json_tokener_parse_ex(tokener, text, (int)length);
    enum json_tokener_error result = json_tokener_get_error(tokener);
    size_t end = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    if (result != json_tokener_success) {
        const char *what = result == json_tokener_continue ? "it ends before its value does"
                                                           : json_tokener_error_desc(result);
        json_object_put(object);
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "JSON: %s, at byte %zu", what, end);
    }
    while (end < length && strchr(" \t\r\n", text[end]) && text[end])
        end++;
    if (end < length) {
        json_object_put(object);
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "JSON: more text after the value, at byte %zu", end);
    }
    *ret = object;
    return NULL;
}
