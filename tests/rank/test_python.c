/* SPDX-License-Identifier: BSD-3-Clause */
/* CPython's frames: lines by the location table, and a made-up interpreter, whole and damaged. */
#include <stdlib.h>
#include <string.h>

#include "madeup.h"
#include "rank/python.h"
#include "rank/python_lines.h"
#include "suite.h"

/* Of `def f(a):` in line 1, with `b = a + 1` in line 2 and `return (b *` and `a)` in lines 3 and 4: what
   CPython 3.11 compiles, and what its co_lines() says of it. */
static const unsigned char table[] = {128, 0,  216, 8,   9, 136, 65, 137, 5,   128, 65, 216, 12, 13,
                                      216, 12, 13,  241, 3, 1,   13, 14,  240, 0,   1,  5,   15};
enum { CODE_BYTES = 22 };
static const int lines[CODE_BYTES / 2] = {1, 2, 2, 2, 2, 2, 3, 4, 3, 3, 3};

static void lines_are_those_of_the_compiler(void)
{
    for (unsigned i = 0; i < CODE_BYTES; i++)
        CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LOCATIONS, table, sizeof table, 1, i), lines[i / 2]);
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LOCATIONS, table, sizeof table, 1, CODE_BYTES), 0);
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LOCATIONS, table, sizeof table, 100, 12), 102);
}

/* The same function's tables as 3.9 and 3.10 make them, in bytes of theirs. */
static const unsigned char lnotab[] = {0, 1, 8, 1, 2, 1, 2, 255};
static const unsigned char linetable[] = {8, 1, 2, 1, 2, 1, 4, 255};
static const int older_lines[16] = {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 3, 3, 3, 3};

static void older_tables_say_the_same(void)
{
    for (unsigned i = 0; i < 16; i++) {
        CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LNOTAB, lnotab, sizeof lnotab, 1, i), older_lines[i]);
        CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LINETABLE, linetable, sizeof linetable, 1, i),
                        older_lines[i]);
    }
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LINETABLE, linetable, sizeof linetable, 1, 16), 0);
    static const unsigned char none[] = {2, 128, 2, 1}; /* instructions of no line, then of the next one */
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LINETABLE, none, sizeof none, 1, 0), 0);
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LINETABLE, none, sizeof none, 1, 2), 2);
    static const unsigned char odd[] = {2, 1, 2}; /* cut off in a pair */
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LNOTAB, odd, sizeof odd, 1, 3), 2);
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LINETABLE, odd, sizeof odd, 1, 2), 0);
}

static void a_table_that_is_cut_off_has_no_line(void)
{
    for (size_t size = 0; size < sizeof table; size++) {
        unsigned char *copy = malloc(size + 1); /* of its own size, for the address sanitizer */
        memcpy(copy, table, size);
        int line = mpiq_python_line(MPIQ_PYTHON_LOCATIONS, copy, size, 1, CODE_BYTES - 1);
        CU_ASSERT_EQUAL(line, 0);
        free(copy);
    }
    static const unsigned char endless[] = {0xe8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LOCATIONS, endless, sizeof endless, 1, 0), 0);
    static const unsigned char backwards[] = {0xe8, 63}; /* 31 lines before the first one */
    CU_ASSERT_EQUAL(mpiq_python_line(MPIQ_PYTHON_LOCATIONS, backwards, sizeof backwards, 1, 0), 0);
}

enum {
    PAGE = 4096,
    BASE = 0x10000,
    VERSION = BASE,
    RUNTIME = BASE + 0x40,
    INTERPRETER = BASE + 0x100,
    THREAD = BASE + 0x200,
    CFRAME = BASE + 0x300,
    FRAME = BASE + 0x400,
    CODE = BASE + 0x500,
    TABLE = BASE + 0x700,
    FILE_NAME = BASE + 0x800,
    FUNCTION = BASE + 0x900,
    CODE_TYPE = BASE + 0xa00,
    TEXT_TYPE = BASE + 0xb00,
    OWN_TABLE = BASE + 0xc00,
    TID = 77
};
static unsigned char page[PAGE];
static const struct mpiq_madeup_segment segments[] = {{BASE, PAGE, page}, {0}};
static const struct mpiq_madeup_symbol with_version[] = {{"Py_Version", VERSION},
                                                         {"_PyRuntime", RUNTIME},
                                                         {"PyCode_Type", CODE_TYPE},
                                                         {"PyUnicode_Type", TEXT_TYPE},
                                                         {0}};
static const struct mpiq_madeup_symbol with_own_table[] = {{"Py_Version", VERSION},
                                                           {"_PyRuntime", OWN_TABLE},
                                                           {"PyCode_Type", CODE_TYPE},
                                                           {"PyUnicode_Type", TEXT_TYPE},
                                                           {0}};
static const struct mpiq_madeup_symbol of_3_10[] = {
    {"Py_Is", VERSION},         {"PyObject_GC_IsTracked", VERSION}, {"_PyRuntime", RUNTIME},
    {"PyCode_Type", CODE_TYPE}, {"PyUnicode_Type", TEXT_TYPE},      {0}};
static const struct mpiq_madeup_symbol *const of_3_9 = of_3_10 + 1;
static const struct mpiq_madeup_symbol *symbols = with_version;

static void put(uint64_t address, uint64_t value)
{
    memcpy(page + (address - BASE), &value, sizeof value);
}

static void put_text(uint64_t address, unsigned head, const char *text)
{
    put(address + 8, TEXT_TYPE);
    put(address + 16, strlen(text));
    put(address + 32, 0xe4); /* ready, ASCII, compact, one byte a character */
    memcpy(page + (address - BASE) + head, text, strlen(text));
}

static void set_up(void)
{
    memset(page, 0, sizeof page);
    symbols = with_version;
    put(VERSION, 0x030b02f0);
    put(RUNTIME + 40, INTERPRETER);
    put(INTERPRETER + 16, THREAD);
    put(THREAD + 160, TID);
    put(THREAD + 56, CFRAME);
    put(CFRAME + 8, FRAME);
    put(FRAME + 32, CODE);
    put(FRAME + 56, CODE + 184 + 14);
    put(CODE + 8, CODE_TYPE);
    put(CODE + 72, 10);
    put(CODE + 112, FILE_NAME);
    put(CODE + 128, FUNCTION);
    put(CODE + 136, TABLE);
    put(TABLE + 16, sizeof table);
    memcpy(page + (TABLE - BASE) + 32, table, sizeof table);
    put_text(FILE_NAME, 48, "/home/me/solve.py");
    put_text(FUNCTION, 48, "exchange");
}

static const char *binding, *binding_file; /* the function that has called MPI, and its source */

/* The line of the user's frame; 0: it is still the binding's. */
static int line_of(int32_t tid)
{
    const struct mpiq_madeup what = {.segments = segments, .symbols = symbols};
    struct mpiq_target *target = NULL;
    struct mpiq_error *error = mpiq_target_madeup_create(&what, &target);
    CU_ASSERT_PTR_NULL_FATAL(error);
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    const char *const functions[] = {"MPI_Recv", binding, "_PyEval_EvalFrameDefault", "main"};
    for (unsigned i = 0; i < 4; i++) {
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        frame->pc = 100 + i;
        frame->function = functions[i];
        frame->file = i == 1 ? binding_file : NULL;
    }
    state->pid = TID;
    thread->tid = tid;
    thread->mpi_frame = 0;
    thread->user_frame = 1;
    mpiq_rank_add_python(target, state, thread);
    const struct mpiq_frame *user = &thread->frames[1];
    CU_ASSERT(thread->frame_count >= 4 && thread->frame_count <= 4 + 64);
    int line = thread->frame_count > 4 ? user->line : 0;
    CU_ASSERT_EQUAL(thread->frames[0].pc, 100);
    CU_ASSERT_EQUAL(thread->frames[thread->frame_count - 1].pc, 103);
    if (line) {
        CU_ASSERT_STRING_EQUAL(user->file, "/home/me/solve.py");
        CU_ASSERT_STRING_EQUAL(user->function, "exchange");
    }
    mpiq_rank_state_destroy(state);
    mpiq_target_destroy(target);
    return line;
}

static void the_frame_stands_before_the_bindings(void)
{
    set_up();
    CU_ASSERT_EQUAL(line_of(TID), 13);
    CU_ASSERT_EQUAL(line_of(TID + 1), 13); /* by another number, in a container */
    put(THREAD + 8, THREAD);               /* several threads, without an end: none of them is it */
    CU_ASSERT_EQUAL(line_of(TID + 1), 0);
    CU_ASSERT_EQUAL(line_of(TID), 13);
}

/* A thread's own number is pthread_self() there; only the main thread's is known. */
static void set_up_3_9(uint64_t lasti, const unsigned char *lines_of_it, size_t size, unsigned lasti_at)
{
    enum { SELF = 0x7f001234 };
    memset(page, 0, sizeof page);
    put(RUNTIME + 32, INTERPRETER);
    put(RUNTIME + 72, SELF);
    put(INTERPRETER + 8, THREAD + 0x80);
    put(THREAD + 0x80 + 8, THREAD); /* a younger one, in no function */
    put(THREAD + 176, SELF);
    put(THREAD + 24, FRAME);
    put(FRAME + 32, CODE);
    put(FRAME + lasti_at, lasti);
    put(CODE + 8, CODE_TYPE);
    put(CODE + 40, 10);
    put(CODE + 104, FILE_NAME);
    put(CODE + 112, FUNCTION);
    put(CODE + 120, TABLE);
    put(TABLE + 16, size);
    memcpy(page + (TABLE - BASE) + 32, lines_of_it, size);
    put_text(FILE_NAME, 48, "/home/me/solve.py");
    put_text(FUNCTION, 48, "exchange");
}

static void older_releases_are_read(void)
{
    set_up_3_9(10, lnotab, sizeof lnotab, 104);
    symbols = of_3_9;
    CU_ASSERT_EQUAL(line_of(TID), 13);
    CU_ASSERT_EQUAL(line_of(TID + 1), 0);
    put(FRAME + 104, UINT32_MAX); /* -1: it has not begun */
    CU_ASSERT_EQUAL(line_of(TID), 0);
    set_up_3_9(5, linetable, sizeof linetable, 96); /* in instructions */
    symbols = of_3_10;
    CU_ASSERT_EQUAL(line_of(TID), 13);
    CU_ASSERT_EQUAL(line_of(TID + 1), 0);
}

/* What has changed since 3.11, of code and text. */
static void set_up_3_12(void)
{
    set_up();
    put(VERSION, 0x030c03f0);
    put(INTERPRETER + 16, 0);
    put(INTERPRETER + 72, THREAD);
    put(THREAD + 160, 0);
    put(THREAD + 144, TID);
    put(CFRAME + 8, 0);
    put(CFRAME, FRAME);
    put(FRAME, CODE);
    put(FRAME + 56, CODE + 192 + 14);
    put(CODE + 72, 0);
    put(CODE + 68, 10);
    memset(page + (FILE_NAME - BASE), 0, 0x200);
    put_text(FILE_NAME, 40, "/home/me/solve.py");
    put_text(FUNCTION, 40, "exchange");
}

/* The places are those of 3.12, but for what it says of itself. */
static void set_up_own_table(uint64_t version, const uint16_t *positions)
{
    static const uint64_t places[] = {808, 7, 72, 8, 152, 80, 0, 8, 56, 68, 112, 128, 136, 208, 40};
    set_up_3_12();
    symbols = with_own_table;
    put(VERSION, version);
    memcpy(page + (OWN_TABLE - BASE), "xdebugpy", 8);
    put(OWN_TABLE + 8, version);
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        put(OWN_TABLE + positions[i], places[i]);
    put(OWN_TABLE + 808, INTERPRETER);
    put(THREAD + 144, 0);
    put(THREAD + 152, TID);
    put(THREAD + 56, 0);
    put(THREAD + 80, FRAME);
    put(FRAME, CODE | 1); /* whose it is */
    put(FRAME + 56, CODE + 208 + 14);
}

static const uint16_t positions_3_13[] = {40,  64,  72,  168, 200, 184, 240, 232,
                                          248, 312, 280, 296, 304, 344, 560};
static const uint16_t positions_3_14[] = {40,  64,  72,  192, 224, 208, 264, 256,
                                          272, 352, 320, 336, 344, 384, 640};

static void newer_releases_are_read(void)
{
    set_up_3_12();
    CU_ASSERT_EQUAL(line_of(TID), 13);
    set_up_own_table(0x030d05f0, positions_3_13);
    CU_ASSERT_EQUAL(line_of(TID), 13);
    set_up_own_table(0x030e00f0, positions_3_14);
    CU_ASSERT_EQUAL(line_of(TID), 13);
    put(OWN_TABLE + 16, 1); /* without the interpreter lock: other records */
    CU_ASSERT_EQUAL(line_of(TID), 0);
    set_up_own_table(0x030e00f0, positions_3_13);
    CU_ASSERT_EQUAL(line_of(TID), 0);
    set_up_own_table(0x030d05f0, positions_3_13);
    put(OWN_TABLE, 0);
    CU_ASSERT_EQUAL(line_of(TID), 0);
    set_up_own_table(0x030d05f0, positions_3_13);
    put(OWN_TABLE + 8, 0x030e00f0);
    CU_ASSERT_EQUAL(line_of(TID), 0);
    set_up_own_table(0x030d05f0, positions_3_13);
    put(OWN_TABLE + positions_3_13[6], UINT64_MAX);
    CU_ASSERT_EQUAL(line_of(TID), 0);
}

/* The line where the binding's frame has a source file of its own. */
static int line_where_binding_is(const char *function, const char *file)
{
    binding = function;
    binding_file = file;
    int line = line_of(TID);
    binding = binding_file = NULL;
    return line;
}

static void c_that_cython_made_is_passed_over(void)
{
    set_up();
    CU_ASSERT_EQUAL(line_where_binding_is("__pyx_pf_6mpi4py_3MPI_4Comm_80Barrier", "src/mpi4py.MPI.c"), 13);
    CU_ASSERT_EQUAL(line_where_binding_is("__pyx_pf_5solve_exchange", "solve.cpp"), 13);
    CU_ASSERT_EQUAL(line_where_binding_is("__pyx_pf_5solve_exchange", "solve.pyx"),
                    0); /* somebody wrote that */
    CU_ASSERT_EQUAL(line_where_binding_is("exchange", "solve.c"), 0);
    CU_ASSERT_EQUAL(line_where_binding_is(NULL, "solve.c"), 0);
}

static void what_does_not_fit_gives_none(void)
{
    static const struct {
        uint64_t address;
        uint64_t value;
    } damages[] = {
        {VERSION, 0x030f00f0},         /* a release that is not known */
        {RUNTIME + 40, 0},             /* no interpreter */
        {RUNTIME + 40, 0x1234567},     /* nowhere */
        {THREAD + 56, UINT64_MAX - 4}, /* at the end of all memory */
        {CFRAME + 8, 0},               /* no frame */
        {CODE + 8, TEXT_TYPE},         /* not code */
        {FRAME + 56, CODE},            /* an instruction before the code */
        {FRAME + 56, CODE + 4096},     /* or beyond it */
        {TABLE + 16, UINT64_MAX},      /* a table of any size */
        {TABLE + 16, PAGE},            /* beyond what is mapped */
        {FILE_NAME + 16, UINT64_MAX},  /* a name of any length */
        {FILE_NAME + 16, 0},
        {FILE_NAME + 32, 0xa8},     /* not ASCII */
        {FILE_NAME + 8, CODE_TYPE}, /* no text */
        {FILE_NAME + 48, '<'},      /* <frozen ...>, and a zero in it */
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        set_up();
        put(FRAME + 48, FRAME); /* round and round */
        CU_ASSERT_EQUAL(line_of(TID), 13);
        put(damages[i].address, damages[i].value);
        CU_ASSERT_EQUAL(line_of(TID), 0);
    }
}

/* Which thread has the interpreter's lock, for one that waits on that futex; -1: it waits for something else.
 */
static int32_t owner_for(const char *call, uint64_t futex)
{
    const struct mpiq_madeup what = {.segments = segments, .symbols = symbols};
    struct mpiq_target *target = NULL;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_target_madeup_create(&what, &target));
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->pid = TID;
    mpiq_rank_state_add_thread(state)->tid = TID;
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    const char *const functions[] = {call, "_PyEval_EvalFrameDefault"};
    for (unsigned i = 0; i < 2; i++)
        *mpiq_thread_add_frame(thread) = (struct mpiq_frame){.pc = 100 + i, .function = functions[i]};
    thread->tid = TID + 1;
    thread->mpi_frame = -1;
    thread->futex = futex;
    thread->owner = 99; /* what lies behind the futex may look like a mutex */
    mpiq_rank_add_interpreter_lock(target, state, thread);
    int32_t owner = thread->interpreter ? thread->owner : -1;
    mpiq_rank_state_destroy(state);
    mpiq_target_destroy(target);
    return owner;
}

/* struct _gil_runtime_state: its interval is any number of microseconds. */
static void put_lock(uint64_t address, uint64_t interval_us, uint64_t holder, uint64_t locked)
{
    put(address, interval_us);
    put(address + 8, holder);
    put(address + 16, locked);
}

static void the_lock_of_the_interpreter_has_an_owner(void)
{
    enum { LOCK = BASE + 0xe00, CONDITION = LOCK + 32, FUTEX = CONDITION + 44 };
    static const uint64_t intervals_us[] = {1, 5000, 60000001, UINT64_C(86400) * 1000000, UINT64_MAX};
    for (size_t i = 0; i < sizeof intervals_us / sizeof *intervals_us; i++) {
        set_up();
        put_lock(LOCK, intervals_us[i], THREAD, 1);
        CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", FUTEX), TID);
        CU_ASSERT_EQUAL(owner_for("pthread_cond_wait", FUTEX), -1);
        CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", FUTEX + 0x100), 0); /* another's */
        put_lock(LOCK, intervals_us[i], THREAD, 0);                             /* nobody has it */
        CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", FUTEX), 0);
        put_lock(LOCK, intervals_us[i], CODE, 1); /* no thread */
        CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", FUTEX), 0);
    }
    set_up_3_12();
    put(INTERPRETER + 72 - 8, 3); /* three threads so far, the youngest, one of them the program's */
    put(INTERPRETER + 72 + 8, 1);
    put_lock(LOCK, 5000, THREAD, 1);
    CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", FUTEX), TID);
    set_up_own_table(0x030d05f0, positions_3_13);
    put(OWN_TABLE + 136, 0x90);
    put(OWN_TABLE + 144, 0x88);
    put_lock(INTERPRETER + 0x80, UINT64_MAX, THREAD, 1);
    CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", 0), TID);
    put_lock(INTERPRETER + 0x80, UINT64_MAX, THREAD, 0);
    CU_ASSERT_EQUAL(owner_for("pthread_cond_timedwait", 0), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"lines agree with the compiler's", lines_are_those_of_the_compiler},
        {"a truncated table gives no line", a_table_that_is_cut_off_has_no_line},
        {"the tables of 3.9 and 3.10 give the same lines", older_tables_say_the_same},
        {"3.9 and 3.10 are read", older_releases_are_read},
        {"3.12, 3.13 and 3.14 are read", newer_releases_are_read},
        {"the interpreter's lock has an owner", the_lock_of_the_interpreter_has_an_owner},
        {"C that Cython made is passed over", c_that_cython_made_is_passed_over},
        {"the Python frame comes before the binding's", the_frame_stands_before_the_bindings},
        {"inconsistent data gives no frame", what_does_not_fit_gives_none},
        CU_TEST_INFO_NULL,
    };
    return suite_run("python", tests);
}
