/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/python_lines.h"

#include <limits.h>
#include <stdbool.h>

static int line_or_none(int64_t line)
{
    return line <= 0 || line > INT_MAX ? 0 : (int)line;
}

/* Pairs: how many bytes further the next line begins, and how far from the last one it lies. */
static int line_by_lnotab(const unsigned char *table, size_t size, int64_t line, uint64_t offset)
{
    uint64_t start = 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        start += table[i];
        if (start > offset)
            break;
        line += (signed char)table[i + 1];
    }
    return line_or_none(line);
}

/* Pairs: how many bytes a run of instructions has, and how far from the last one its line lies. */
static int line_by_linetable(const unsigned char *table, size_t size, int64_t line, uint64_t offset)
{
    enum { NO_LINE = -128 };
    uint64_t end = 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        int move = table[i + 1] < 128 ? table[i + 1] : table[i + 1] - 256; /* a signed byte */
        end += table[i];
        if (move != NO_LINE)
            line += move;
        if (offset < end)
            return move == NO_LINE ? 0 : line_or_none(line);
    }
    return 0;
}

/* ---- locations ---------------------------------------------------------------------------------------- */

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

/* Six bits a byte, the lowest first; the seventh: there is more. */
static bool take_number(struct cursor *cursor, uint32_t *ret)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 30; shift += 6) {
        if (cursor->at == cursor->end)
            return false;
        unsigned char byte = *cursor->at++;
        value |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

enum { FIRST_ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* How far an entry moves the line, and how many bytes of columns follow; false: the table is cut off. */
static bool take_move(struct cursor *cursor, unsigned code, int64_t *move)
{
    uint32_t number = 0;
    *move = 0;
    if (code == NONE)
        return true;
    if (code >= NO_COLUMNS) {
        if (!take_number(cursor, &number))
            return false;
        *move = number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
        for (unsigned i = 0; code == LONG && i < 3; i++) {
            if (!take_number(cursor, &number))
                return false;
        }
        return true;
    }
    size_t columns = code < FIRST_ONE_LINE ? 1 : 2;
    *move = code < FIRST_ONE_LINE ? 0 : (int64_t)code - FIRST_ONE_LINE;
    if ((size_t)(cursor->end - cursor->at) < columns)
        return false;
    cursor->at += columns;
    return true;
}

static int line_by_locations(const unsigned char *table, size_t size, int64_t line, uint64_t offset)
{
    struct cursor cursor = {table, table + size};
    uint64_t end = 0;
    while (cursor.at < cursor.end) {
        unsigned char head = *cursor.at++;
        unsigned code = head >> 3 & 15;
        int64_t move;
        if (!(head & 0x80) || !take_move(&cursor, code, &move))
            return 0;
        line += move;
        end += 2 * ((uint64_t)(head & 7) + 1);
        if (offset < end)
            return code == NONE ? 0 : line_or_none(line);
    }
    return 0;
}

int mpiq_python_line(enum mpiq_python_table kind, const unsigned char *table, size_t size, int first_line,
                     uint64_t offset)
{
    switch (kind) {
    case MPIQ_PYTHON_LNOTAB:
        return line_by_lnotab(table, size, first_line, offset);
    case MPIQ_PYTHON_LINETABLE:
        return line_by_linetable(table, size, first_line, offset);
    case MPIQ_PYTHON_LOCATIONS:
        return line_by_locations(table, size, first_line, offset);
    }
    return 0;
}
