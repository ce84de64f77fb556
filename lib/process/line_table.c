/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/line_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/die.h"

/* libdwarf walks its list from the beginning for every file. */
enum { FILE_LIMIT = 8192, ROW_LIMIT = 1 << 26 };

struct row {
    uint64_t address;
    uint32_t file, order;
    int32_t line; /* -1: the address after the last of a sequence */
};

struct file {
    const char *name, *directory; /* in the section; NULL not known */
    char *path;                   /* made when it is first asked for */
};

struct mpiq_line_table {
    struct row *rows; /* ascending */
    size_t row_count;
    struct file *files;
    size_t first_file, file_count;
    const char *directory; /* where the unit was compiled; in the section; NULL */
};

/* Of rows with one address an end comes first, and the others in their order. */
static int compare_rows(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    bool left_ends = left->line < 0, right_ends = right->line < 0;
    if (left_ends != right_ends)
        return left_ends ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static bool read_row(Dwarf_Line line, struct row *ret)
{
    Dwarf_Addr address = 0;
    Dwarf_Unsigned number = 0, file = 0;
    Dwarf_Bool end = 0;
    Dwarf_Error error = NULL;
    if (!mpiq_dwarf_ok(dwarf_lineaddr(line, &address, &error), error))
        return false;
    error = NULL;
    if (!mpiq_dwarf_ok(dwarf_lineendsequence(line, &end, &error), error))
        return false;
    ret->address = address;
    ret->line = -1;
    if (end)
        return true;
    error = NULL;
    if (!mpiq_dwarf_ok(dwarf_lineno(line, &number, &error), error))
        return false;
    error = NULL;
    if (!mpiq_dwarf_ok(dwarf_line_srcfileno(line, &file, &error), error))
        return false;
    ret->line = number <= INT32_MAX ? (int32_t)number : 0;
    ret->file = file <= UINT32_MAX ? (uint32_t)file : UINT32_MAX;
    return true;
}

/* A line program that is being gone through for its rows alone. */
struct program {
    const unsigned char *at, *end;
    const unsigned char *operand_counts; /* of the standard operations, from 1 on */
    const unsigned char *lists;          /* of directories and files, behind them */
    unsigned first_special;
    uint8_t offset_size;
};

static uint64_t take_leb(struct program *program)
{
    uint64_t value = 0;
    for (unsigned shift = 0; program->at < program->end; shift += 7) {
        unsigned char byte = *program->at++;
        value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (!(byte & 128))
            break;
    }
    return value;
}

/* Of version 5; false if the header makes no sense. */
static bool open_program(struct mpiq_debug_info *info, uint64_t offset, struct program *ret)
{
    const struct mpiq_debug_section *section = mpiq_debug_sections_find(&info->sections, "line");
    uint64_t header_length, first_special, at = offset, end;
    uint8_t width;
    if (!mpiq_debug_length(info, section, &at, &end, &width))
        return false;
    at += 4; /* version, sizes of addresses and segments */
    if (!mpiq_debug_number(info, section, at, width, &header_length))
        return false;
    at += width;
    if (at > end || header_length > end - at ||
        !mpiq_debug_number(info, section, at + 5, 1, &first_special) || first_special == 0 ||
        first_special + 6 > header_length)
        return false;
    *ret = (struct program){.at = section->data + at + header_length,
                            .end = section->data + end,
                            .operand_counts = section->data + at + 6,
                            .lists = section->data + at + 5 + first_special,
                            .first_special = (unsigned)first_special,
                            .offset_size = width};
    return true;
}

/* Goes past the name of a directory; false if libdwarf would not. */
static bool skip_name(struct program *lists, uint64_t form)
{
    size_t left = (size_t)(lists->end - lists->at);
    const unsigned char *zero;
    if (form == DW_FORM_string && (zero = memchr(lists->at, 0, left)) != NULL)
        lists->at = zero + 1;
    else if (form == DW_FORM_line_strp && left >= lists->offset_size)
        lists->at += lists->offset_size;
    else
        return false;
    return true;
}

/* How an entry of a list looks, and how many there are; false if they cannot all be there. */
static bool open_list(struct program *lists, unsigned *formats, struct program *first_format, uint64_t *count)
{
    if (lists->at >= lists->end)
        return false;
    *formats = *lists->at++;
    *first_format = *lists;
    for (unsigned i = 0; i < *formats; i++) {
        take_leb(lists);
        take_leb(lists);
    }
    *count = take_leb(lists);
    /* No entry is shorter than a byte; without a format each is empty, and there may be 2^64. */
    return *count <= (*formats ? (uint64_t)(lists->end - lists->at) : 0);
}

/* Whether libdwarf may see the unit's line table.  For the directories of DWARF 5, libdwarf 20210528 takes
   eight bytes for each that the table says there are before it reads one, and writes behind them where that
   number of bytes is more than 64 bits hold; of files without a format it takes memory for as many as the
   table says. */
static bool is_sound(struct mpiq_debug_unit *unit, Dwarf_Die die)
{
    struct mpiq_debug_info *info = unit->info;
    const struct mpiq_debug_section *section = mpiq_debug_sections_find(&info->sections, "line");
    uint64_t offset, end, version, count;
    uint8_t width;
    Dwarf_Half form;
    if (info->package || !mpiq_die_offset_or_index(die, DW_AT_stmt_list, &form, &offset))
        return false;
    uint64_t at = offset;
    if (!mpiq_debug_length(info, section, &at, &end, &width) ||
        !mpiq_debug_number(info, section, at, 2, &version))
        return false;
    if (version != 5)
        return version >= 2 && version <= 4;
    struct program lists, format;
    unsigned formats;
    if (!open_program(info, offset, &lists))
        return false;
    lists.at = lists.lists;
    if (!open_list(&lists, &formats, &format, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct program next = format;
        for (unsigned j = 0; j < formats; j++) {
            take_leb(&next); /* what it is: libdwarf knows only a path */
            if (!skip_name(&lists, take_leb(&next)))
                return false;
        }
    }
    return open_list(&lists, &formats, &format, &count);
}

/* The next row; false at the end.  *chosen: the program has said which file the row is of. */
static bool next_row(struct program *program, bool *chosen, bool *ends)
{
    while (program->at < program->end) {
        unsigned operation = *program->at++;
        *ends = false;
        if (operation >= program->first_special || operation == DW_LNS_copy)
            return true;
        if (operation == DW_LNS_set_file) {
            take_leb(program);
            *chosen = true;
        } else if (operation == DW_LNS_fixed_advance_pc) {
            program->at += program->end - program->at < 2 ? program->end - program->at : 2;
        } else if (operation == 0) {
            uint64_t length = take_leb(program);
            if (length == 0 || length > (uint64_t)(program->end - program->at))
                return false;
            *ends = *program->at == DW_LNE_end_sequence;
            program->at += length;
            if (*ends)
                return true;
        } else {
            for (unsigned i = 0; i < program->operand_counts[operation - 1]; i++)
                take_leb(program);
        }
    }
    return false;
}

/* A sequence of DWARF 5 begins with file 1; libdwarf 20210528 takes 0 (changed back in a later release).  The
   two are one file except after link-time optimization. */
static void correct_first_files(struct mpiq_line_table *table, struct mpiq_debug_info *info, uint64_t offset)
{
    struct program program;
    bool chosen = false, ends;
    if (!open_program(info, offset, &program))
        return;
    for (size_t i = 0; i < table->row_count && next_row(&program, &chosen, &ends); i++) {
        if (ends)
            chosen = false;
        else if (!chosen && table->rows[i].file == 0)
            table->rows[i].file = 1;
    }
}

static void read_rows(struct mpiq_line_table *table, struct mpiq_debug_info *info, Dwarf_Line_Context context,
                      bool version_5)
{
    Dwarf_Line *lines = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;
    int result = dwarf_srclines_from_linecontext(context, &lines, &count, &error);
    if (!mpiq_dwarf_ok(result, error) || count <= 0 || count > ROW_LIMIT)
        return;
    table->rows = malloc((size_t)count * sizeof *table->rows);
    for (Dwarf_Signed i = 0; table->rows && i < count; i++) {
        struct row *row = &table->rows[table->row_count];
        *row = (struct row){.order = (uint32_t)i};
        if (!read_row(lines[i], row))
            break;
        table->row_count++;
    }
    Dwarf_Unsigned offset = 0;
    error = NULL;
    if (version_5 && mpiq_dwarf_ok(dwarf_srclines_table_offset(context, &offset, &error), error))
        correct_first_files(table, info, offset);
    bool sorted = true;
    for (size_t i = 1; i < table->row_count && sorted; i++)
        sorted = compare_rows(&table->rows[i - 1], &table->rows[i]) < 0;
    if (!sorted)
        qsort(table->rows, table->row_count, sizeof *table->rows, compare_rows);
}

static void read_files(struct mpiq_line_table *table, Dwarf_Line_Context context)
{
    Dwarf_Signed first = 0, count = 0, end = 0;
    Dwarf_Error error = NULL;
    int result = dwarf_srclines_files_indexes(context, &first, &count, &end, &error);
    if (!mpiq_dwarf_ok(result, error) || first < 0 || end <= first)
        return;
    size_t wanted = (size_t)(end - first) < FILE_LIMIT ? (size_t)(end - first) : FILE_LIMIT;
    table->files = calloc(wanted, sizeof *table->files);
    table->file_count = table->files ? wanted : 0;
    table->first_file = (size_t)first;
    for (size_t i = 0; i < table->file_count; i++) {
        Dwarf_Unsigned directory = 0;
        const char *name = NULL;
        error = NULL;
        result = dwarf_srclines_files_data_b(context, first + (Dwarf_Signed)i, &name, &directory, NULL, NULL,
                                             NULL, &error);
        if (!mpiq_dwarf_ok(result, error))
            continue;
        table->files[i].name = name;
        const char *path = NULL;
        error = NULL;
        result = directory <= INT64_MAX
                     ? dwarf_srclines_include_dir_data(context, (Dwarf_Signed)directory, &path, &error)
                     : DW_DLV_NO_ENTRY;
        if (mpiq_dwarf_ok(result, error))
            table->files[i].directory = path;
    }
}

struct mpiq_line_table *mpiq_line_table_create(struct mpiq_debug_unit *unit)
{
    _cleanup_die_ Dwarf_Die die = mpiq_die_first(unit);
    struct mpiq_line_table *table = die && is_sound(unit, die) ? calloc(1, sizeof *table) : NULL;
    if (!table)
        return NULL;
    Dwarf_Unsigned version = 0;
    Dwarf_Small tables = 0;
    Dwarf_Line_Context context = NULL;
    Dwarf_Error error = NULL;
    if (!mpiq_dwarf_ok(dwarf_srclines_b(die, &version, &tables, &context, &error), error)) {
        free(table);
        return NULL;
    }
    table->directory = mpiq_die_string(unit, die, DW_AT_comp_dir);
    if (tables == 1)
        read_rows(table, unit->info, context, version == 5);
    read_files(table, context);
    dwarf_srclines_dealloc_b(context);
    return table;
}

void mpiq_line_table_destroy(struct mpiq_line_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->file_count; i++)
        free(table->files[i].path);
    free(table->files);
    free(table->rows);
    free(table);
}

bool mpiq_line_table_find(const struct mpiq_line_table *table, uint64_t address, uint32_t *file, int *line)
{
    size_t low = 0, high = table->row_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || table->rows[low - 1].line < 0)
        return false;
    *file = table->rows[low - 1].file;
    *line = table->rows[low - 1].line;
    return true;
}

const char *mpiq_line_table_path(struct mpiq_line_table *table, uint64_t number)
{
    if (number < table->first_file || number - table->first_file >= table->file_count)
        return NULL;
    struct file *file = &table->files[number - table->first_file];
    if (!file->name || file->path)
        return file->path;
    const char *base = table->directory ? table->directory : "";
    int length;
    if (file->name[0] == '/')
        length = asprintf(&file->path, "%s", file->name);
    else if (file->directory && (file->directory[0] == '/' || !*base))
        length = asprintf(&file->path, "%s/%s", file->directory, file->name);
    else if (file->directory)
        length = asprintf(&file->path, "%s/%s/%s", base, file->directory, file->name);
    else
        length = asprintf(&file->path, "%s%s%s", base, *base ? "/" : "", file->name);
    if (length < 0)
        file->path = NULL;
    return file->path;
}
