/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/step_data.h"

#include <inttypes.h>
#include <string.h>

#include "words/put.h"
#include "words/quantities.h"

static bool put_integer(struct mpiq_buffer *text, const unsigned char *at, uint32_t size, bool is_signed)
{
    uint64_t value = 0;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    memcpy(&value, at, size); /* of this machine's byte order: the rank runs on it */
    if (is_signed && size < 8 && value >> (8 * size - 1))
        value |= UINT64_MAX << (8 * size);
    if (is_signed)
        mpiq_buffer_signed(text, (int64_t)value);
    else
        mpiq_buffer_unsigned(text, value);
    return true;
}

static bool put_floating(struct mpiq_buffer *text, const unsigned char *at, uint32_t size)
{
    float single = 0;
    double twice = 0;
    long double longest = 0;
    if (size == sizeof single) {
        memcpy(&single, at, size);
        mpiq_buffer_printf(text, "%.7g", (double)single);
    } else if (size == sizeof twice) {
        memcpy(&twice, at, size);
        mpiq_buffer_printf(text, "%.10g", twice);
    } else if (size == sizeof longest) {
        memcpy(&longest, at, size);
        mpiq_buffer_printf(text, "%.10Lg", longest);
    } else {
        return false;
    }
    return true;
}

static bool put_complex(struct mpiq_buffer *text, const unsigned char *at, uint32_t size)
{
    mpiq_buffer_char(text, '(');
    bool good = put_floating(text, at, size / 2);
    mpiq_buffer_char(text, ',');
    good = good && put_floating(text, at + size / 2, size / 2);
    mpiq_buffer_char(text, ')');
    return good;
}

static bool put_element(struct mpiq_buffer *text, const unsigned char *at, const struct mpiq_step_row *row)
{
    switch (row->kind) {
    case 's':
    case 'w':
    case 'l':
        return put_integer(text, at, row->element, true);
    case 'u':
    case 'b':
        return put_integer(text, at, row->element, false);
    case 'f':
        return put_floating(text, at, row->element);
    case 'c':
        return row->element % 2 == 0 && put_complex(text, at, row->element);
    default:
        return false;
    }
}

/* Characters as a string in quotation marks. */
static void put_characters(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    char string[MPIQ_STEP_DATA + 1];
    memcpy(string, row->data, row->data_size);
    for (uint32_t i = 0; i < row->data_size; i++)
        string[i] = string[i] >= ' ' && string[i] <= '~' ? string[i] : '.';
    string[row->data_size] = '\0';
    mpiq_buffer_char(text, '"');
    mpiq_put_plain(text, string);
    mpiq_buffer_string(text, (int64_t)row->data_size < row->bytes ? "\"..." : "\"");
}

static void put_elements(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    enum { MOST = 8 };
    uint32_t size = row->element, shown = 0;
    if (row->kind == 't' && size == 1) {
        put_characters(text, row);
        return;
    }
    for (uint32_t at = 0; shown < MOST && at + size <= row->data_size; at += size, shown++) {
        mpiq_buffer_string(text, shown > 0 ? " " : "");
        if (!put_element(text, row->data + at, row)) {
            mpiq_buffer_string(text, "?");
            return;
        }
    }
    mpiq_buffer_string(text, (int64_t)shown < row->count ? " ..." : "");
}

void mpiq_step_put_data(struct mpiq_buffer *text, const struct mpiq_step_row *row)
{
    char size[MPIQ_SIZE_ROOM];
    if (row->in_place) {
        mpiq_buffer_string(text, "data: MPI_IN_PLACE");
        return;
    }
    if (row->bytes < 0)
        return;
    mpiq_buffer_printf(text, "data: %" PRId64 " ", row->count);
    mpiq_put_plain(text, row->type[0] ? row->type : "of a derived type");
    if (row->count == 0)
        return;
    bool shown = row->kind && row->element > 0 && row->element <= row->data_size &&
                 row->element <= MPIQ_STEP_DATA && strchr("swlubfct", row->kind);
    if (shown) {
        mpiq_buffer_string(text, ": ");
        put_elements(text, row);
    } else {
        mpiq_buffer_printf(text, " (%s%s)", mpiq_size_text(row->bytes, size),
                           row->kind && row->data_size == 0 ? ", which cannot be read" : "");
    }
}
