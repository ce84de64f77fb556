/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live process and a core file of it are read in a process in which one allocation after another fails:
 * what is missing is told, by an error, by a stack that says why it ends, or by the count of allocations that
 * failed; never by a shorter list alone.  test_memory SUBJECT.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "failing_memory.h"
#include "subject.h"
#include "suite.h"
#include "support.h"
#include "process/object.h"

static const char *path;

/* ---- what was read, as text in memory of its own ---------------------------------------------------- */

struct told {
    char text[1 << 14];
    size_t length;
    bool missing; /* something said that it is not all */
};

static struct told told;

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof told.text - told.length;
    int length = vsnprintf(told.text + told.length, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room)
        abort();
    told.length += (size_t)length;
}

static bool good(struct mpiq_error *error)
{
    told.missing |= error != NULL;
    mpiq_error_destroy(error);
    return !error;
}

static void tell_types(struct mpiq_target *target)
{
    static const char *const names[] = {"struct subject_record", "subject_point_t", "no_such_type"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct mpiq_target_type *type = NULL;
        uint64_t size = 0, offset = 0;
        struct mpiq_error *error = mpiq_target_find_type(target, names[i], &type);
        if (error && error->code == MPIQ_ERROR_NOT_FOUND) {
            tell("%s: none\n", names[i]); /* as good as an answer: it is remembered */
            mpiq_error_destroy(error);
        } else if (good(error) && good(mpiq_target_type_size(target, type, &size))) {
            tell("%s: %d", names[i], (int)size);
            error = mpiq_target_field_offset(target, type, i == 0 ? "point.y" : "y", &offset);
            if (good(error))
                tell(" %d", (int)offset);
            tell("\n");
        }
    }
}

static void tell_symbols(struct mpiq_target *target)
{
    static const char *const names[] = {"subject_record", "main", "no_such_symbol"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t address = 0;
        struct mpiq_error *error = mpiq_target_find_symbol(target, names[i], &address);
        if (error && error->code == MPIQ_ERROR_NOT_FOUND) {
            tell("%s: none\n", names[i]);
            mpiq_error_destroy(error);
        } else if (good(error)) {
            tell("%s: %#lx\n", names[i], (unsigned long)address);
        }
    }
}

static void tell_stack(struct mpiq_target *target, pid_t tid)
{
    struct mpiq_target_stack stack = {0};
    if (!good(mpiq_target_stack(target, tid, &stack)))
        return;
    for (size_t i = 0; i < stack.count; i++)
        tell(" %s %s:%d %s\n", stack.frames[i].function ? stack.frames[i].function : "?",
             stack.frames[i].file ? stack.frames[i].file : "?", stack.frames[i].line,
             stack.frames[i].object ? stack.frames[i].object : "?");
    told.missing |= stack.truncated;
    mpiq_target_stack_deinit(&stack);
}

static void tell_threads(struct mpiq_target *target, pid_t main)
{
    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    if (!good(mpiq_target_threads(target, &threads, &count)))
        return;
    tell("%d threads\n", (int)count);
    for (size_t i = 0; i < count; i++) {
        if (threads[i].tid == main)
            tell_stack(target, main);
    }
    free(threads);
}

struct kind {
    const char *name;
    const char *core; /* NULL: live */
    const char *program;
    pid_t pid;
};

static void read_all(const struct kind *kind)
{
    struct mpiq_target *target = NULL;
    char *value = NULL;
    told.length = 0;
    told.text[0] = '\0';
    told.missing = false;
    unsigned missed = mpiq_memory_missed();
    struct mpiq_error *error = kind->core ? mpiq_target_core_create(kind->core, kind->program, &target)
                                          : mpiq_target_live_create(kind->pid, false, &target);
    if (good(error)) {
        tell_symbols(target);
        tell_types(target);
        tell_threads(target, kind->pid);
        if (good(mpiq_target_environment(target, "PATH", &value)))
            tell("PATH=%s\n", value ? value : "?");
        free(value);
    }
    mpiq_target_destroy(target);
    told.missing |= mpiq_memory_missed() != missed;
}

/* ---- one allocation after another ------------------------------------------------------------------- */

/* Without debug information in libc there are 2,446, and a try takes a third of a millisecond: all of them.
   With it, a try takes 80 times as long: ever fewer, since most are of the libraries that read it, and
   alike. */
static unsigned long next(unsigned long n, unsigned long count)
{
    return count < 3072 ? n + 1 : n + 1 + n / 16;
}

enum outcome { NONE_FAILED, MISSED, NOBODY_MISSES, CRASHED };

/* In a process of its own, as a reader is: libdwarf 20210528 does not survive all allocations that fail. That
   a reader crashes is told in the report. */
static enum outcome try_one(const struct kind *kind, bool once, unsigned long n, const struct told *whole)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0) {
        fail_once = once;
        fail_at = n;
        read_all(kind);
        bool failed = fail_at == 0 || fail_at == 1;
        bool same = told.missing || strcmp(told.text, whole->text) == 0;
        _exit(!same ? NOBODY_MISSES : failed ? MISSED : NONE_FAILED);
    }
    if (waitpid(child, &status, 0) != child)
        abort();
    return WIFEXITED(status) ? (enum outcome)WEXITSTATUS(status) : CRASHED;
}

static void try_kind(const struct kind *kind, bool once)
{
    static struct told whole;
    unsigned long tried = 0;
    unsigned long crashes = 0;
    mpiq_object_clear();
    fail_at = ULONG_MAX;
    read_all(kind);
    unsigned long count = ULONG_MAX - fail_at;
    fail_at = 0;
    whole = told;
    mpiq_object_clear(); /* what a child finds is what it reads */
    CU_ASSERT_FALSE(whole.missing);
    CU_ASSERT_PTR_NOT_NULL(strstr(whole.text, "subject_middle"));
    CU_ASSERT_PTR_NOT_NULL(strstr(whole.text, "threads"));
    for (unsigned long n = 1, failed = 1; failed; n = next(n, count), tried++) {
        enum outcome outcome = try_one(kind, once, n, &whole);
        failed = outcome != NONE_FAILED;
        crashes += outcome == CRASHED;
        CU_ASSERT(outcome != NOBODY_MISSES);
        if (outcome == NOBODY_MISSES)
            printf("%s: nobody misses allocation %lu\n", kind->name, n);
    }
    CU_ASSERT(tried > 64);
    CU_ASSERT(crashes < tried / 4);
    printf("%s: %lu tries of %lu, %lu crashes ", kind->name, tried, count, crashes);
}

static void a_live_process(void)
{
    struct subject subject = subject_start(path, "wait");
    const struct kind kind = {.name = "live", .pid = subject.pid};
    try_kind(&kind, true);
    try_kind(&kind, false);
    subject_end(&subject);
}

static void a_core_file(void)
{
    if (system("command -v gcore >/dev/null") != 0) {
        puts("gcore is not installed: no core file");
        return;
    }
    struct subject subject = subject_start(path, "wait");
    char core[512];
    run("rm -rf %s/memory && mkdir %s/memory", scratch(), scratch());
    run("gcore -o %s/memory/core %d >/dev/null 2>&1", scratch(), (int)subject.pid);
    snprintf(core, sizeof core, "%s/memory/core.%d", scratch(), (int)subject.pid);
    const struct kind kind = {.name = "core", .core = core, .program = path, .pid = subject.pid};
    subject_end(&subject);
    try_kind(&kind, true);
    try_kind(&kind, false);
    unlink(core);
}

int main(int count, char **words)
{
    if (MPIQ_SANITIZED || count < 2)
        return 77; /* a sanitizer's allocations are its own */
    path = words[1];
    CU_TestInfo tests[] = {
        {"a live process", a_live_process},
        {"a core file", a_core_file},
        CU_TEST_INFO_NULL,
    };
    return suite_run("target memory", tests);
}
