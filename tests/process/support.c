/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "subject.h"
#include "wait_until.h"

/* Whether the thread is in pause(2). */
static bool pauses(const struct subject *subject, pid_t tid)
{
    char name[64];
    long number = -1;
    snprintf(name, sizeof name, "/proc/%d/task/%d/syscall", (int)subject->pid, (int)tid);
    FILE *file = fopen(name, "r");
    int got = file ? fscanf(file, "%ld", &number) : 0;
    if (file)
        fclose(file);
#ifdef SYS_pause
    return got == 1 && number == SYS_pause;
#else
    return got == 1 && number == SYS_ppoll;
#endif
}

struct subject subject_start(const char *path, const char *mode)
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    fflush(stdout);
    struct subject subject = {.pid = fork()};
    if (subject.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("SUBJECT_SAYS", "hello=world", 1);
        execl(path, path, mode, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    subject.output = fdopen(ends[0], "r");
    if (!subject.output)
        abort();
    subject_ready(&subject, mode);
    return subject;
}

void subject_ready(struct subject *subject, const char *mode)
{
    int waiting, spinning;
    if (fscanf(subject->output, " ready %" SCNx64 " %d %d", &subject->record, &waiting, &spinning) != 3) {
        fprintf(stderr, "the subject does not get ready to %s\n", mode);
        abort();
    }
    subject->waiting = waiting;
    subject->spinning = spinning;
    /* It is said before the wait is entered. */
    WAIT_UNTIL(pauses(subject, subject->waiting));
    if (strcmp(mode, "wait") == 0 || strcmp(mode, "execs") == 0)
        WAIT_UNTIL(pauses(subject, subject->pid));
}

void subject_end(struct subject *subject)
{
    fclose(subject->output);
    kill(subject->pid, SIGKILL);
    while (waitpid(subject->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int subject_line(const char *text)
{
    static FILE *source; /* stays open: who gave up root's rights may not come to it any more */
    char line[512];
    int number = 0, found = 0;
    if (!source && !(source = fopen(SUBJECT_SOURCE, "r")))
        abort();
    rewind(source);
    while (!found && fgets(line, sizeof line, source)) {
        number++;
        if (strstr(line, text))
            found = number;
    }
    return found;
}

void run(const char *format, ...)
{
    char *command = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&command, format, args);
    va_end(args);
    if (length < 0 || system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        abort();
    }
    free(command);
}

const char *scratch(void)
{
    static char path[] = "/tmp/mpiq-target-test-XXXXXX";
    static bool made;
    if (!made && !mkdtemp(path))
        abort();
    made = true;
    return path;
}

void check_memory_and_symbols(struct mpiq_target *target, const struct subject *subject)
{
    uint64_t address = 0;
    CHECK_OK(mpiq_target_find_symbol(target, "subject_record", &address));
    CU_ASSERT_EQUAL(address, subject->record);
    struct subject_record record = {0};
    CHECK_OK(mpiq_target_read(target, subject->record, sizeof record, &record));
    CU_ASSERT_EQUAL(record.number, 42);
    CU_ASSERT_STRING_EQUAL(record.text, "forty-two");
    CU_ASSERT_EQUAL(record.high, 1);

    /* A static one, and one in read-only memory, which cores leave out. */
    int hidden = 0;
    char constant[11] = "";
    CHECK_OK(mpiq_target_find_symbol(target, "subject_hidden", &address));
    CHECK_OK(mpiq_target_read(target, address, sizeof hidden, &hidden));
    CU_ASSERT_EQUAL(hidden, 17);
    CHECK_OK(mpiq_target_find_symbol(target, "subject_constant", &address));
    CHECK_OK(mpiq_target_read(target, address, sizeof constant, constant));
    CU_ASSERT_STRING_EQUAL(constant, "a constant");

    /* The executable's copy of what a library defines (a copy relocation), and a function of the library. */
    CHECK_OK(mpiq_target_find_symbol(target, "stdout", &address));
    CHECK_OK(mpiq_target_find_symbol(target, "getpid", &address));

    uint64_t untouched = 7;
    for (int i = 0; i < 2; i++)
        CHECK_ERROR(mpiq_target_find_symbol(target, "subject_nonsense", &untouched), MPIQ_ERROR_NOT_FOUND,
                    "subject_nonsense");
    CU_ASSERT_EQUAL(untouched, 7);
    char byte;
    CHECK_ERROR(mpiq_target_read(target, 8, 1, &byte), MPIQ_ERROR_UNMAPPED, "0x8");

    struct mpiq_target_sizes sizes;
    CHECK_OK(mpiq_target_sizes(target, &sizes));
    CU_ASSERT_EQUAL(sizes.int_size, sizeof(int));
    CU_ASSERT_EQUAL(sizes.long_size, sizeof(long));
    CU_ASSERT_EQUAL(sizes.pointer_size, sizeof(void *));
    CU_ASSERT_FALSE(sizes.big_endian);

    _cleanup_free_ char *value = NULL, *none = NULL;
    CHECK_OK(mpiq_target_environment(target, "SUBJECT_SAYS", &value));
    CU_ASSERT(value && strcmp(value, "hello=world") == 0);
    CHECK_ERROR(mpiq_target_environment(target, "SUBJECT_SAY", &none), MPIQ_ERROR_NOT_FOUND, "SUBJECT_SAY");
}

static void check_type(struct mpiq_target *target, const char *name, uint64_t size)
{
    const struct mpiq_target_type *type = NULL;
    uint64_t found = 0;
    CHECK_OK(mpiq_target_find_type(target, name, &type));
    if (type)
        CHECK_OK(mpiq_target_type_size(target, type, &found));
    CU_ASSERT_EQUAL(found, size);
    if (found != size)
        fprintf(stderr, "%s has %" PRIu64 " bytes, not %" PRIu64 "\n", name, found, size);
}

void check_types(struct mpiq_target *target)
{
    check_type(target, "struct subject_record", sizeof(struct subject_record));
    check_type(target, "subject_record", sizeof(struct subject_record));
    check_type(target, "struct subject_point", sizeof(subject_point_t));
    check_type(target, "subject_point_t", sizeof(subject_point_t));
    check_type(target, "subject_color", sizeof(enum subject_color));
    check_type(target, "enum subject_color", sizeof(enum subject_color));
    check_type(target, "int", sizeof(int));
    check_type(target, "double", sizeof(double));
    check_type(target, "struct subject_opaque", 28);
    check_type(target, "struct subject_only_used_here", 16);

    static const struct {
        const char *name;
        size_t offset;
    } members[] = {
        {"number", offsetof(struct subject_record, number)},
        {"text", offsetof(struct subject_record, text)},
        {"whole", offsetof(struct subject_record, whole)},
        {"low", offsetof(struct subject_record, low)},
        {"high", offsetof(struct subject_record, high)},
        {"point", offsetof(struct subject_record, point)},
        {"point.x", offsetof(struct subject_record, point.x)},
        {"point.y", offsetof(struct subject_record, point.y)},
        {"next", offsetof(struct subject_record, next)},
        {"flag", offsetof(struct subject_record, next) + sizeof(void *)},
        {"opaque", offsetof(struct subject_record, opaque)},
    };
    const struct mpiq_target_type *type = NULL;
    CHECK_OK(mpiq_target_find_type(target, "struct subject_record", &type));
    uint64_t offset = 0;
    for (size_t i = 0; type && i < sizeof members / sizeof *members; i++) {
        CHECK_OK(mpiq_target_field_offset(target, type, members[i].name, &offset));
        CU_ASSERT_EQUAL(offset, members[i].offset);
    }
    if (type) {
        CHECK_ERROR(mpiq_target_field_offset(target, type, "nonsense", &offset), MPIQ_ERROR_NOT_FOUND,
                    "nonsense");
        CHECK_ERROR(mpiq_target_field_offset(target, type, "number.x", &offset), MPIQ_ERROR_NOT_FOUND,
                    "number.x");
        CHECK_ERROR(mpiq_target_field_offset(target, type, "point.", &offset), MPIQ_ERROR_NOT_FOUND,
                    "point.");
        CHECK_ERROR(mpiq_target_field_offset(target, type, "", &offset), MPIQ_ERROR_USAGE, "name");
    }
    for (int i = 0; i < 2; i++) {
        CHECK_ERROR(mpiq_target_find_type(target, "struct subject_nonsense", &type), MPIQ_ERROR_NOT_FOUND,
                    "subject_nonsense");
        CHECK_ERROR(mpiq_target_find_type(target, "struct int", &type), MPIQ_ERROR_NOT_FOUND, "struct int");
    }
}

static bool is_frame(const struct mpiq_target_frame *frame, const char *function, const char *marker,
                     bool inlined)
{
    return frame->function && strcmp(frame->function, function) == 0 && frame->inlined == inlined &&
           frame->file && strstr(frame->file, "subject.c") && frame->file[0] == '/' &&
           frame->line == subject_line(marker);
}

/* The same of an address alone: three functions inlined into one another, and one that is not. */
static void check_place(struct mpiq_target *target, uint64_t inlined, uint64_t in_main)
{
    struct mpiq_target_stack place = {0};
    CHECK_OK(mpiq_target_place(target, inlined, &place));
    CU_ASSERT_EQUAL(place.count, 3);
    if (place.count == 3) {
        CU_ASSERT(is_frame(&place.frames[0], "subject_inner", "line of inner", true));
        CU_ASSERT(is_frame(&place.frames[2], "subject_outer", "line of outer", false));
    }
    mpiq_target_stack_deinit(&place);
    CHECK_OK(mpiq_target_place(target, in_main, &place));
    CU_ASSERT_EQUAL(place.count, 1);
    CU_ASSERT(place.count == 1 && is_frame(&place.frames[0], "main", "return subject_outer(2)", false));
    mpiq_target_stack_deinit(&place);
    for (uint64_t nowhere = 0; nowhere < 2; nowhere++) {
        CHECK_OK(mpiq_target_place(target, nowhere, &place));
        CU_ASSERT_EQUAL(place.count, 0);
        mpiq_target_stack_deinit(&place);
    }
}

void check_stack(struct mpiq_target *target, const struct subject *subject)
{
    struct mpiq_target_stack stack = {0};
    CHECK_OK(mpiq_target_stack(target, subject->pid, &stack));
    size_t at = 0;
    while (at < stack.count &&
           (!stack.frames[at].function || strcmp(stack.frames[at].function, "subject_inner") != 0))
        at++;
    CU_ASSERT(at + 6 < stack.count);
    if (at + 6 < stack.count) {
        CU_ASSERT(is_frame(&stack.frames[at], "subject_inner", "line of inner", true));
        CU_ASSERT(is_frame(&stack.frames[at + 1], "subject_middle", "line of middle", true));
        CU_ASSERT(is_frame(&stack.frames[at + 2], "subject_outer", "line of outer", false));
        CU_ASSERT_EQUAL(stack.frames[at].pc, stack.frames[at + 2].pc);
        CU_ASSERT(is_frame(&stack.frames[at + 3], "subject_outer", "subject_outer(depth - 1) + 1", false));
        CU_ASSERT(is_frame(&stack.frames[at + 4], "subject_outer", "subject_outer(depth - 1) + 1", false));
        CU_ASSERT(is_frame(&stack.frames[at + 5], "main", "return subject_outer(2)", false));
        check_place(target, stack.frames[at].pc, stack.frames[at + 5].pc);
    }
    CU_ASSERT(stack.count && stack.frames[stack.count - 1].function &&
              strcmp(stack.frames[stack.count - 1].function, "_start") == 0);
    CU_ASSERT_FALSE(stack.truncated);
    mpiq_target_stack_deinit(&stack);

    CHECK_OK(mpiq_target_stack(target, subject->waiting, &stack));
    bool found = false;
    for (size_t i = 0; i < stack.count; i++)
        found = found || is_frame(&stack.frames[i], "wait_in_thread", "wait_for_ever();", false);
    CU_ASSERT(found);
    CU_ASSERT_FALSE(stack.truncated);
    mpiq_target_stack_deinit(&stack);

    CHECK_ERROR(mpiq_target_stack(target, 1, &stack),
                target->ops->kind[0] == 'c' ? MPIQ_ERROR_NOT_FOUND : MPIQ_ERROR_GONE, "1");
}
