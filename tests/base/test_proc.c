/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of this very process. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "suite.h"

static void own_stat_tells_us(void)
{
    struct mpiq_proc_stat stat;
    CU_ASSERT_PTR_NULL(mpiq_proc_stat(getpid(), 0, &stat));
    CU_ASSERT_EQUAL(stat.parent, getppid());
    CU_ASSERT_EQUAL(stat.state, 'R');
    CU_ASSERT_STRING_EQUAL(stat.name, "test_proc");
    CU_ASSERT(stat.faults > 0);
    CU_ASSERT(stat.start_time > 0);
}

static void a_name_may_hold_anything(void)
{
    char text[] = "7 (a) S 1 (b) R 4 5 6 7 8 9 10 11 12 13 200 300 16 17 18 19 20 21 22 23";
    struct mpiq_proc_stat stat;
    CU_ASSERT_TRUE(mpiq_proc_parse_stat(text, &stat));
    CU_ASSERT_STRING_EQUAL(stat.name, "a) S 1 (b");
    CU_ASSERT_EQUAL(stat.state, 'R');
    CU_ASSERT_EQUAL(stat.parent, 4);
    CU_ASSERT_EQUAL(stat.faults, 10 + 12);
    CU_ASSERT_EQUAL(stat.cpu_ns % 500, 0);
    CU_ASSERT(stat.cpu_ns > 0);
    CU_ASSERT_EQUAL(stat.start_time, 22);
}

static void nonsense_is_no_stat(void)
{
    static const char *const bad[] = {"", "7", ")(", "7 (a) S", "7 (a S 4 5 6 7 8 9"};
    struct mpiq_proc_stat stat;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64];
        strcpy(text, bad[i]); /* NOLINT */
        CU_ASSERT_FALSE(mpiq_proc_parse_stat(text, &stat));
    }
}

static void a_variable_is_found_by_its_whole_name(void)
{
    static const char text[] = "NAMES=1\0NAME=two\0NAME=three\0EMPTY=\0LAST";
    CU_ASSERT_STRING_EQUAL(mpiq_proc_variable(text, sizeof text, "NAME"), "two");
    CU_ASSERT_STRING_EQUAL(mpiq_proc_variable(text, sizeof text, "EMPTY"), "");
    CU_ASSERT_PTR_NULL(mpiq_proc_variable(text, sizeof text, "LAST"));
    CU_ASSERT_PTR_NULL(mpiq_proc_variable(text, 0, "NAME"));
}

static void files_come_whole_or_not_at_all(void)
{
    size_t size = 0;
    _cleanup_free_ char *text = mpiq_proc_read_of(getpid(), "cmdline", &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT(size > 0 && text[size] == '\0' && strstr(text, "test_proc") != NULL);
    errno = 0;
    CU_ASSERT_PTR_NULL(mpiq_proc_read_of(getpid(), "no_such_file", &size));
    CU_ASSERT_EQUAL(errno, ENOENT);

    char *none = NULL;
    struct mpiq_error *error = mpiq_proc_read("/proc/self/no_such_file", &none, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "/proc/self/no_such_file"));
    mpiq_error_destroy(error);
}

/* A file that is larger than the first buffer, and one that never ends. */
static void long_files_come_whole_and_endless_ones_not(void)
{
    char name[] = "/tmp/mpiq-test-proc-XXXXXX";
    _cleanup_close_ int fd = mkstemp(name);
    CU_ASSERT_FATAL(fd >= 0);
    unlink(name);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    CU_ASSERT_EQUAL_FATAL(pwrite(fd, "x", 1, 100000), 1);
    size_t size = 0;
    _cleanup_free_ char *text = mpiq_proc_read_at(AT_FDCWD, link, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(size, 100001);
    CU_ASSERT_EQUAL(text[100000], 'x');

    errno = 0;
    CU_ASSERT_PTR_NULL(mpiq_proc_read_at(AT_FDCWD, "/dev/zero", &size));
    CU_ASSERT_EQUAL(errno, ENOMEM);
}

static void processes_and_threads_are_listed_in_order(void)
{
    pid_t *pids = NULL;
    size_t count = 0, ours = 0;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_proc_processes(&pids, &count));
    for (size_t i = 0; i < count; i++) {
        ours += pids[i] == getpid();
        CU_ASSERT(i == 0 || pids[i - 1] < pids[i]);
    }
    CU_ASSERT_EQUAL(ours, 1);
    free(pids);
    CU_ASSERT_PTR_NULL_FATAL(mpiq_proc_threads(getpid(), &pids, &count));
    CU_ASSERT_EQUAL(count, 1);
    CU_ASSERT_EQUAL(pids[0], getpid());
    free(pids);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"our own stat describes this process", own_stat_tells_us},
        {"a process name may contain any characters", a_name_may_hold_anything},
        {"malformed stat lines are refused", nonsense_is_no_stat},
        {"a variable is found by its whole name", a_variable_is_found_by_its_whole_name},
        {"files are read whole or not at all", files_come_whole_or_not_at_all},
        {"long files are read whole, endless ones are refused", long_files_come_whole_and_endless_ones_not},
        {"processes and threads are listed in order", processes_and_threads_are_listed_in_order},
        CU_TEST_INFO_NULL,
    };
    return suite_run("proc", tests);
}
