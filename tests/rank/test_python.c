/* SPDX-License-Identifier: BSD-3-Clause */
/* CPython's frames: lines by the location table, and a made-up interpreter, whole and damaged. */
#include <stdlib.h>
#include <string.h>

#include "madeup.h"
#include "rank/python.h"
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
        CU_ASSERT_EQUAL(mpiq_python_line(table, sizeof table, 1, i), lines[i / 2]);
    CU_ASSERT_EQUAL(mpiq_python_line(table, sizeof table, 1, CODE_BYTES), 0);
    CU_ASSERT_EQUAL(mpiq_python_line(table, sizeof table, 100, 12), 102);
}

static void a_table_that_is_cut_off_has_no_line(void)
{
    for (size_t size = 0; size < sizeof table; size++) {
        unsigned char *copy = malloc(size + 1); /* of its own size, for the address sanitizer */
        memcpy(copy, table, size);
        int line = mpiq_python_line(copy, size, 1, CODE_BYTES - 1);
        CU_ASSERT_EQUAL(line, 0);
        free(copy);
    }
    static const unsigned char endless[] = {0xe8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    CU_ASSERT_EQUAL(mpiq_python_line(endless, sizeof endless, 1, 0), 0);
    static const unsigned char backwards[] = {0xe8, 63}; /* 31 lines before the first one */
    CU_ASSERT_EQUAL(mpiq_python_line(backwards, sizeof backwards, 1, 0), 0);
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
    TID = 77
};
static unsigned char page[PAGE];
static const struct mpiq_madeup_segment segments[] = {{BASE, PAGE, page}, {0}};
static const struct mpiq_madeup_symbol symbols[] = {{"Py_Version", VERSION},
                                                    {"_PyRuntime", RUNTIME},
                                                    {"PyCode_Type", CODE_TYPE},
                                                    {"PyUnicode_Type", TEXT_TYPE},
                                                    {0}};

static void put(uint64_t address, uint64_t value)
{
    memcpy(page + (address - BASE), &value, sizeof value);
}

static void put_text(uint64_t address, const char *text)
{
    put(address + 8, TEXT_TYPE);
    put(address + 16, strlen(text));
    put(address + 32, 0xe4); /* ready, ASCII, compact, one byte a character */
    memcpy(page + (address - BASE) + 48, text, strlen(text));
}

static void set_up(void)
{
    memset(page, 0, sizeof page);
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
    put_text(FILE_NAME, "/home/me/solve.py");
    put_text(FUNCTION, "exchange");
}

/* The line of the user's frame; 0: it is still the binding's. */
static int line_of(int32_t tid)
{
    const struct mpiq_madeup what = {.segments = segments, .symbols = symbols};
    struct mpiq_target *target = NULL;
    struct mpiq_error *error = mpiq_target_madeup_create(&what, &target);
    CU_ASSERT_PTR_NULL_FATAL(error);
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    static const char *const functions[] = {"MPI_Recv", NULL, "_PyEval_EvalFrameDefault", "main"};
    for (unsigned i = 0; i < 4; i++) {
        struct mpiq_frame *frame = mpiq_thread_add_frame(thread);
        frame->pc = 100 + i;
        frame->function = functions[i];
    }
    thread->tid = tid;
    thread->mpi_frame = 0;
    thread->user_frame = 1;
    mpiq_rank_add_python(target, state, thread);
    const struct mpiq_frame *user = &thread->frames[1];
    int line = thread->frame_count == 5 ? user->line : 0;
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

static void what_does_not_fit_gives_none(void)
{
    static const struct {
        uint64_t address;
        uint64_t value;
    } damages[] = {
        {VERSION, 0x030c00f0},         /* another release */
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

int main(void)
{
    CU_TestInfo tests[] = {
        {"lines are those of the compiler", lines_are_those_of_the_compiler},
        {"a table that is cut off has no line", a_table_that_is_cut_off_has_no_line},
        {"the frame stands before the binding's", the_frame_stands_before_the_bindings},
        {"what does not fit gives none", what_does_not_fit_gives_none},
        CU_TEST_INFO_NULL,
    };
    return suite_run("python", tests);
}
