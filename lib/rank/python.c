/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/python.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Bounds for what a process can make us walk or read. */
enum { INTERPRETERS_MAX = 16, THREADS_MAX = 4096, FRAMES_MAX = 64, TEXT_MAX = 1024, TABLE_MAX = 1 << 20 };

/* Where the members of one release's structures lie, of 64-bit processes with the least byte first. */
struct layout {
    uint32_t version; /* Py_Version's upper half */
    struct {
        uint16_t interpreters;                                /* of _PyRuntimeState: the first interpreter */
        uint16_t next, threads;                               /* of PyInterpreterState */
        uint16_t thread_next, thread_id, cframe;              /* of PyThreadState */
        uint16_t current;                                     /* of _PyCFrame */
        uint16_t code, previous, instruction;                 /* of _PyInterpreterFrame */
        uint16_t first_line, file, name, table, instructions; /* of PyCodeObject */
    } at;
};

/* Made with offsetof from the release's headers (Include/internal). */
static const struct layout layouts[] = {
    {0x030b,
     {.interpreters = 40,
      .next = 0,
      .threads = 16,
      .thread_next = 8,
      .thread_id = 160,
      .cframe = 56,
      .current = 8,
      .code = 32,
      .previous = 48,
      .instruction = 56,
      .first_line = 72,
      .file = 112,
      .name = 128,
      .table = 136,
      .instructions = 184}},
};

/* The same in all of them. */
enum {
    OBJECT_TYPE = 8,
    OBJECT_SIZE = 16,
    BYTES_DATA = 32,
    TEXT_LENGTH = 16,
    TEXT_STATE = 32,
    ASCII_DATA = 48
};

struct reader {
    struct mpiq_target *target;
    const struct layout *layout;
    uint64_t code_type;
    uint64_t text_type;
};

static bool fetch(const struct reader *reader, uint64_t address, size_t size, void *ret)
{
    struct mpiq_error *error = address ? mpiq_target_read(reader->target, address, size, ret)
                                       : mpiq_error_create(MPIQ_ERROR_UNMAPPED, "no address");
    mpiq_error_destroy(error);
    return !error;
}

/* 0: it cannot be read. */
static uint64_t pointer_at(const struct reader *reader, uint64_t address, unsigned offset)
{
    uint64_t value = 0;
    return address && fetch(reader, address + offset, sizeof value, &value) ? value : 0;
}

static uint64_t symbol(struct mpiq_target *target, const char *name)
{
    uint64_t address = 0;
    mpiq_error_destroy(mpiq_target_find_symbol(target, name, &address));
    return address;
}

static bool begin(struct mpiq_target *target, struct reader *ret)
{
    struct mpiq_target_sizes sizes;
    struct mpiq_error *error = mpiq_target_sizes(target, &sizes);
    bool known = !error && sizes.pointer_size == 8 && !sizes.big_endian;
    mpiq_error_destroy(error);
    *ret = (struct reader){.target = target};
    uint64_t version = known ? pointer_at(ret, symbol(target, "Py_Version"), 0) : 0;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (version >> 16 == layouts[i].version)
            ret->layout = &layouts[i];
    }
    if (!ret->layout)
        return false;
    ret->code_type = symbol(target, "PyCode_Type");
    ret->text_type = symbol(target, "PyUnicode_Type");
    return ret->code_type && ret->text_type;
}

/* The record of a thread: that with its number, or the only one there is. */
static uint64_t find_thread(const struct reader *reader, int32_t tid)
{
    const struct layout *layout = reader->layout;
    uint64_t runtime = symbol(reader->target, "_PyRuntime");
    uint64_t interpreter = pointer_at(reader, runtime, layout->at.interpreters);
    uint64_t only = 0;
    unsigned seen = 0;
    for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        uint64_t thread = pointer_at(reader, interpreter, layout->at.threads);
        for (; thread && seen < THREADS_MAX; seen++) {
            if (pointer_at(reader, thread, layout->at.thread_id) == (uint64_t)tid)
                return thread;
            only = thread;
            thread = pointer_at(reader, thread, layout->at.thread_next);
        }
        interpreter = pointer_at(reader, interpreter, layout->at.next);
    }
    return seen == 1 ? only : 0; /* in a container it knows its threads by other numbers */
}

/* A str of ASCII alone, which names of files and functions nearly always are; NULL: it is none.  The caller
 * frees. */
static char *read_text(const struct reader *reader, uint64_t object)
{
    unsigned char head[ASCII_DATA];
    uint64_t length, type;
    uint32_t state;
    if (!fetch(reader, object, sizeof head, head))
        return NULL;
    memcpy(&type, head + OBJECT_TYPE, sizeof type);
    memcpy(&length, head + TEXT_LENGTH, sizeof length);
    memcpy(&state, head + TEXT_STATE, sizeof state);
    bool compact_ascii = (state >> 5 & 3) == 3 && (state >> 2 & 7) == 1;
    if (type != reader->text_type || !compact_ascii || length == 0 || length > TEXT_MAX)
        return NULL;
    char *text = malloc((size_t)length + 1);
    if (!text || !fetch(reader, object + ASCII_DATA, (size_t)length, text) ||
        memchr(text, '\0', (size_t)length)) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* ---- lines -------------------------------------------------------------------------------------------- */

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

/* How far an entry moves the line, and how many bytes of columns follow; false: the table is cut off. */
static bool take_move(struct cursor *cursor, unsigned code, int64_t *move)
{
    enum { FIRST_ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
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

int mpiq_python_line(const unsigned char *table, size_t size, int first_line, uint64_t offset)
{
    struct cursor cursor = {table, table + size};
    int64_t line = first_line;
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
            return code == 15 || line <= 0 || line > INT_MAX ? 0 : (int)line;
    }
    return 0;
}

static int read_line(const struct reader *reader, uint64_t code, uint64_t instruction)
{
    const struct layout *layout = reader->layout;
    uint64_t table = pointer_at(reader, code, layout->at.table);
    uint64_t size = pointer_at(reader, table, OBJECT_SIZE);
    int32_t first = 0;
    uint64_t start = code + layout->at.instructions;
    if (instruction < start || size == 0 || size > TABLE_MAX ||
        !fetch(reader, code + layout->at.first_line, sizeof first, &first))
        return 0;
    _cleanup_free_ unsigned char *bytes = calloc(1, (size_t)size);
    if (!bytes || !fetch(reader, table + BYTES_DATA, (size_t)size, bytes))
        return 0;
    return mpiq_python_line(bytes, (size_t)size, first, instruction - start);
}

/* ---- frames ------------------------------------------------------------------------------------------- */

static bool read_frame(const struct reader *reader, uint64_t at, struct mpiq_rank_state *state,
                       struct mpiq_frame *ret)
{
    const struct layout *layout = reader->layout;
    uint64_t code = pointer_at(reader, at, layout->at.code);
    if (pointer_at(reader, code, OBJECT_TYPE) != reader->code_type)
        return false;
    int line = read_line(reader, code, pointer_at(reader, at, layout->at.instruction));
    _cleanup_free_ char *file = read_text(reader, pointer_at(reader, code, layout->at.file));
    _cleanup_free_ char *name = read_text(reader, pointer_at(reader, code, layout->at.name));
    if (line == 0 || !file || file[0] == '<') /* <frozen importlib._bootstrap> */
        return false;
    *ret = (struct mpiq_frame){.file = mpiq_rank_state_intern(state, file),
                               .function = mpiq_rank_state_intern(state, name),
                               .object = mpiq_rank_state_intern(state, file),
                               .line = line};
    return true;
}

static bool find_frame(struct mpiq_target *target, struct mpiq_rank_state *state, int32_t tid,
                       struct mpiq_frame *ret)
{
    struct reader reader;
    if (!begin(target, &reader))
        return false;
    uint64_t thread = find_thread(&reader, tid);
    uint64_t at =
        pointer_at(&reader, pointer_at(&reader, thread, reader.layout->at.cframe), reader.layout->at.current);
    for (unsigned i = 0; at && i < FRAMES_MAX; i++) {
        if (read_frame(&reader, at, state, ret))
            return true;
        at = pointer_at(&reader, at, reader.layout->at.previous);
    }
    return false;
}

/* Whether the interpreter has called what lies further in than that frame. */
static bool is_interpreted(const struct mpiq_thread *thread, size_t from)
{
    for (size_t i = from; i < thread->frame_count; i++) {
        const char *function = thread->frames[i].function;
        if (function && strcmp(function, "_PyEval_EvalFrameDefault") == 0)
            return true;
    }
    return false;
}

void mpiq_rank_add_python(struct mpiq_target *target, struct mpiq_rank_state *state,
                          struct mpiq_thread *thread)
{
    struct mpiq_frame frame;
    if (thread->user_frame < 0 || (size_t)thread->user_frame >= thread->frame_count ||
        thread->frames[thread->user_frame].file || !is_interpreted(thread, (size_t)thread->user_frame) ||
        !find_frame(target, state, thread->tid, &frame) || !mpiq_thread_add_frame(thread))
        return;
    struct mpiq_frame *place = &thread->frames[thread->user_frame];
    memmove(place + 1, place, (thread->frame_count - 1 - (size_t)thread->user_frame) * sizeof *place);
    *place = frame;
}
