/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/python.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "names/objects.h"
#include "rank/python_layout.h"

/* Bounds for what a process can make us walk or read. */
enum { INTERPRETERS_MAX = 16, THREADS_MAX = 4096, FRAMES_MAX = 64, TEXT_MAX = 1024, TABLE_MAX = 1 << 20 };

/* The same in all of them. */
enum {
    OBJECT_TYPE = 8,
    OBJECT_SIZE = 16,
    BYTES_DATA = 32,
    TEXT_LENGTH = 16,
    TEXT_STATE = 32,
    TEXT_HEAD = 40
};

struct reader {
    struct mpiq_target *target;
    struct mpiq_python_layout layout;
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
static uint64_t pointer_at(const struct reader *reader, uint64_t address, uint64_t offset)
{
    uint64_t value = 0;
    return address && fetch(reader, address + offset, sizeof value, &value) ? value : 0;
}

static uint64_t member(const struct reader *reader, uint64_t record, enum mpiq_python_member member)
{
    return pointer_at(reader, record, reader->layout.at[member]);
}

static bool begin(struct mpiq_target *target, struct reader *ret)
{
    *ret = (struct reader){.target = target};
    if (!mpiq_python_layout(target, &ret->layout))
        return false;
    ret->code_type = mpiq_python_symbol(target, "PyCode_Type");
    ret->text_type = mpiq_python_symbol(target, "PyUnicode_Type");
    return ret->code_type && ret->text_type;
}

/* By which number its record has a thread.  Releases that keep pthread_self() alone tell the main thread from
   the others; 0: it is not known. */
static uint64_t thread_number(const struct reader *reader, uint64_t runtime, int32_t tid, bool is_main)
{
    if (!reader->layout.main)
        return (uint64_t)tid;
    return is_main ? pointer_at(reader, runtime, reader->layout.main) : 0;
}

/* The record of a thread: that with its number, or the only one there is. */
static uint64_t find_thread(const struct reader *reader, int32_t tid, bool is_main)
{
    uint64_t runtime = mpiq_python_symbol(reader->target, "_PyRuntime");
    uint64_t number = thread_number(reader, runtime, tid, is_main);
    uint64_t interpreter = member(reader, runtime, MPIQ_PYTHON_INTERPRETERS);
    uint64_t only = 0;
    unsigned seen = 0;
    for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        uint64_t thread = member(reader, interpreter, MPIQ_PYTHON_THREADS);
        for (; thread && seen < THREADS_MAX; seen++) {
            if (number && member(reader, thread, MPIQ_PYTHON_THREAD_ID) == number)
                return thread;
            only = thread;
            thread = member(reader, thread, MPIQ_PYTHON_THREAD_NEXT);
        }
        interpreter = member(reader, interpreter, MPIQ_PYTHON_NEXT);
    }
    return seen == 1 ? only : 0; /* in a container it knows its threads by other numbers */
}

/* The number of the thread that has that record; 0: there is none, or its number is not known. */
static int32_t number_of_record(const struct reader *reader, uint64_t record, int32_t pid)
{
    uint64_t runtime = mpiq_python_symbol(reader->target, "_PyRuntime");
    uint64_t interpreter = member(reader, runtime, MPIQ_PYTHON_INTERPRETERS);
    unsigned seen = 0;
    for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        uint64_t thread = member(reader, interpreter, MPIQ_PYTHON_THREADS);
        for (; thread && seen < THREADS_MAX; seen++) {
            uint64_t number = member(reader, thread, MPIQ_PYTHON_THREAD_ID);
            if (thread == record && !reader->layout.main)
                return number > 0 && number <= INT32_MAX ? (int32_t)number : 0;
            if (thread == record)
                return number && number == thread_number(reader, runtime, pid, true) ? pid : 0;
            thread = member(reader, thread, MPIQ_PYTHON_THREAD_NEXT);
        }
        interpreter = member(reader, interpreter, MPIQ_PYTHON_NEXT);
    }
    return 0;
}

/* What begins struct _gil_runtime_state. */
struct lock {
    uint64_t interval_us;
    uint64_t last_holder; /* the record of the one that has it now, if anybody does */
    int32_t locked;
    int32_t padding;
};

/* The thread that has the lock, if that is one; 0: it is none, or nobody has it.  Any interval will do:
   sys.setswitchinterval() takes hours as well. */
static int32_t owner_of(const struct reader *reader, const struct lock *lock, int32_t pid)
{
    return lock->locked == 1 && lock->interval_us > 0 && lock->last_holder
               ? number_of_record(reader, lock->last_holder, pid)
               : 0;
}

/* The thread that has the lock, where it lies in these bytes of the process; 0: it does not. */
static int32_t owner_within(const struct reader *reader, uint64_t start, size_t size, int32_t pid)
{
    _cleanup_free_ unsigned char *bytes = calloc(1, size);
    int32_t owner = 0;
    if (!bytes || !fetch(reader, start, size, bytes))
        return 0;
    for (size_t at = 0; !owner && at + sizeof(struct lock) <= size; at += sizeof(uint64_t)) {
        struct lock lock;
        memcpy(&lock, bytes + at, sizeof lock);
        owner = owner_of(reader, &lock, pid);
    }
    return owner;
}

/* The same of the lock that the interpreter's record leads to: it has a pointer to its lock near its
 * beginning. */
static int32_t owner_behind(const struct reader *reader, uint64_t interpreter, int32_t pid)
{
    enum { BEGINNING = 4096 };
    uint64_t words[BEGINNING / sizeof(uint64_t)];
    struct lock lock;
    int32_t owner = 0;
    if (!fetch(reader, interpreter, sizeof words, words))
        return 0;
    for (size_t i = 0; !owner && i < sizeof words / sizeof *words; i++) {
        if (words[i] % sizeof(uint64_t) == 0 && fetch(reader, words[i], sizeof lock, &lock))
            owner = owner_of(reader, &lock, pid);
    }
    return owner;
}

/* The number of the thread that has the interpreter's lock for which one sleeps on that futex (0: not known):
   a word of the lock's own condition.  Else the lock is the runtime's up to 3.11, then the interpreter's. */
static int32_t find_owner(struct mpiq_target *target, int32_t pid, uint64_t futex)
{
    enum { UP_TO_CONDITION = 128, OF_RUNTIME = 4096, ITS_OWN_SINCE = 0x030c };
    struct reader reader;
    if (!begin(target, &reader))
        return 0;
    uint64_t start = (futex & ~(uint64_t)7) - UP_TO_CONDITION;
    int32_t owner = futex > UP_TO_CONDITION ? owner_within(&reader, start, UP_TO_CONDITION, pid) : 0;
    if (owner)
        return owner;
    uint64_t runtime = mpiq_python_symbol(target, "_PyRuntime");
    if (reader.layout.release < ITS_OWN_SINCE)
        return owner_within(&reader, runtime, OF_RUNTIME, pid);
    uint64_t interpreter = member(&reader, runtime, MPIQ_PYTHON_INTERPRETERS);
    uint64_t holder = reader.layout.holder; /* beside it: whether it is locked */
    int32_t locked = 0;
    if (!holder)
        return owner_behind(&reader, interpreter, pid);
    return fetch(&reader, interpreter + reader.layout.locked, sizeof locked, &locked) && locked == 1
               ? number_of_record(&reader, pointer_at(&reader, interpreter, holder), pid)
               : 0;
}

/* A str of ASCII alone, which names of files and functions nearly always are; NULL: it is none.  The caller
 * frees. */
static char *read_text(const struct reader *reader, uint64_t object)
{
    unsigned char head[TEXT_HEAD];
    uint64_t length, type;
    uint32_t state;
    if (!fetch(reader, object, sizeof head, head))
        return NULL;
    memcpy(&type, head + OBJECT_TYPE, sizeof type);
    memcpy(&length, head + TEXT_LENGTH, sizeof length);
    memcpy(&state, head + TEXT_STATE, sizeof state);
    bool compact_ascii = (state >> 2 & 7) == 1 && (state >> 5 & 3) == 3;
    if (type != reader->text_type || !compact_ascii || length == 0 || length > TEXT_MAX)
        return NULL;
    char *text = malloc((size_t)length + 1);
    if (!text || !fetch(reader, object + reader->layout.at[MPIQ_PYTHON_TEXT], (size_t)length, text) ||
        memchr(text, '\0', (size_t)length)) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* How many bytes into its code a frame is. */
static bool read_offset(const struct reader *reader, uint64_t frame, uint64_t code, uint64_t *ret)
{
    const uint64_t at = reader->layout.at[MPIQ_PYTHON_INSTRUCTION];
    if (reader->layout.table == MPIQ_PYTHON_LOCATIONS) {
        uint64_t start = code + reader->layout.at[MPIQ_PYTHON_INSTRUCTIONS];
        uint64_t instruction = pointer_at(reader, frame, at);
        *ret = instruction - start;
        return instruction >= start;
    }
    int32_t last = -1; /* in bytes, or in instructions of two */
    if (!fetch(reader, frame + at, sizeof last, &last) || last < 0)
        return false;
    *ret = reader->layout.table == MPIQ_PYTHON_LNOTAB ? (uint64_t)last : 2 * (uint64_t)last;
    return true;
}

static int read_line(const struct reader *reader, uint64_t frame, uint64_t code)
{
    uint64_t table = member(reader, code, MPIQ_PYTHON_TABLE);
    uint64_t size = pointer_at(reader, table, OBJECT_SIZE);
    uint64_t offset;
    int32_t first = 0;
    if (!read_offset(reader, frame, code, &offset) || size == 0 || size > TABLE_MAX ||
        !fetch(reader, code + reader->layout.at[MPIQ_PYTHON_FIRST_LINE], sizeof first, &first))
        return 0;
    _cleanup_free_ unsigned char *bytes = calloc(1, (size_t)size);
    if (!bytes || !fetch(reader, table + BYTES_DATA, (size_t)size, bytes))
        return 0;
    return mpiq_python_line(reader->layout.table, bytes, (size_t)size, first, offset);
}

/* ---- frames ------------------------------------------------------------------------------------------- */

static bool read_frame(const struct reader *reader, uint64_t at, struct mpiq_rank_state *state,
                       struct mpiq_frame *ret)
{
    uint64_t code =
        member(reader, at, MPIQ_PYTHON_CODE) & ~(uint64_t)3; /* two bits of 3.14's say who owns it */
    if (pointer_at(reader, code, OBJECT_TYPE) != reader->code_type)
        return false;
    int line = read_line(reader, at, code);
    _cleanup_free_ char *file = read_text(reader, member(reader, code, MPIQ_PYTHON_FILE));
    _cleanup_free_ char *name = read_text(reader, member(reader, code, MPIQ_PYTHON_NAME));
    if (line == 0 || !file || file[0] == '<') /* <frozen importlib._bootstrap> */
        return false;
    *ret = (struct mpiq_frame){.file = mpiq_rank_state_intern(state, file),
                               .function = mpiq_rank_state_intern(state, name),
                               .object = mpiq_rank_state_intern(state, file),
                               .line = line,
                               .owner = MPIQ_OWNER_USER};
    return true;
}

/* The frames of a thread, innermost first: how many. */
static size_t find_frames(struct mpiq_target *target, struct mpiq_rank_state *state, int32_t tid,
                          struct mpiq_frame ret[static FRAMES_MAX])
{
    struct reader reader;
    if (!begin(target, &reader))
        return 0;
    size_t count = 0;
    uint64_t thread = find_thread(&reader, tid, tid == state->pid);
    uint64_t at = member(&reader, thread, MPIQ_PYTHON_FRAME);
    if (reader.layout.cframe >= 0)
        at = pointer_at(&reader, at, (uint64_t)reader.layout.cframe);
    for (unsigned i = 0; at && i < FRAMES_MAX; i++) {
        count += read_frame(&reader, at, state, &ret[count]);
        at = member(&reader, at, MPIQ_PYTHON_PREVIOUS);
    }
    return count;
}

/* Whether a thread waits for the interpreter's lock: of all that the interpreter does, that alone waits for a
   condition of the C library's with a timeout. */
static bool waits_for_lock(const struct mpiq_thread *thread)
{
    for (size_t i = 0; i + 1 < thread->frame_count; i++) {
        const char *name = thread->frames[i].function;
        while (name && *name == '_')
            name++;
        bool timed = name && (strncmp(name, "pthread_cond_timedwait", 22) == 0 ||
                              strncmp(name, "pthread_cond_clockwait", 22) == 0);
        if (timed)
            return mpiq_is_interpreter(thread->frames[i + 1].function, thread->frames[i + 1].object);
    }
    return false;
}

void mpiq_rank_add_interpreter_lock(struct mpiq_target *target, const struct mpiq_rank_state *state,
                                    struct mpiq_thread *thread)
{
    if (thread->mpi_frame >= 0 || !waits_for_lock(thread))
        return;
    int32_t owner = find_owner(target, state->pid, thread->futex);
    thread->interpreter = true;
    thread->owner = 0;
    for (size_t i = 0; owner > 0 && i < state->thread_count; i++) {
        if (state->threads[i].tid == owner && owner != thread->tid)
            thread->owner = owner;
    }
}

/* Whether the interpreter has called what lies further in than that frame. */
static bool is_interpreted(const struct mpiq_thread *thread, size_t from)
{
    for (size_t i = from; i < thread->frame_count; i++) {
        if (mpiq_is_interpreter(thread->frames[i].function, thread->frames[i].object))
            return true;
    }
    return false;
}

bool mpiq_python_made(const char *function, const char *file)
{
    const char *suffix = file ? strrchr(file, '.') : NULL;
    return function && strncmp(function, "__pyx_", 6) == 0 && suffix && strncmp(suffix, ".c", 2) == 0;
}

/* Whether a frame is a binding's. */
static bool is_binding(const struct mpiq_frame *frame)
{
    return !frame->file || mpiq_python_made(frame->function, frame->file);
}

void mpiq_rank_add_python(struct mpiq_target *target, struct mpiq_rank_state *state,
                          struct mpiq_thread *thread)
{
    struct mpiq_frame frames[FRAMES_MAX];
    size_t count = 0;
    if (thread->user_frame < 0 || (size_t)thread->user_frame >= thread->frame_count ||
        !is_binding(&thread->frames[thread->user_frame]) ||
        !is_interpreted(thread, (size_t)thread->user_frame))
        return;
    count = find_frames(target, state, thread->tid, frames);
    for (size_t i = count; i-- > 0;) {
        if (!mpiq_thread_add_frame(thread))
            return;
        struct mpiq_frame *place = &thread->frames[thread->user_frame];
        memmove(place + 1, place, (thread->frame_count - 1 - (size_t)thread->user_frame) * sizeof *place);
        *place = frames[i];
    }
}
