/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that the freezer of a control group holds: told from the group's files, and from one that is.
   test_freezer SUBJECT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"
#include "support.h"
#include "base/cleanup.h"
#include "base/proc.h"
#include "process/freezer.h"
#include "wait_until.h"

static const char *path;

/* ---- made-up groups --------------------------------------------------------------------------------- */

static void put(const char *group, const char *file, const char *text)
{
    run("mkdir -p %s/groups/%s && printf '%s' >%s/groups/%s/%s", scratch(), group, text, scratch(), group,
        file);
}

/* "yes FILE" with FILE below the made-up groups, or "no". */
static const char *found(const char *groups, const char *root, const char *type, const char *options)
{
    static char answer[PATH_MAX];
    char mounts[PATH_MAX], file[512];
    snprintf(
        mounts, sizeof mounts,
        "22 1 0:21 / /proc rw - proc proc rw\n31 23 0:28 %s %s/groups rw,relatime shared:9 - %s none %s\n",
        root, scratch(), type, options);
    bool frozen = mpiq_freezer_find(groups, mounts, file, sizeof file);
    size_t above = strlen(scratch()) + strlen("/groups");
    snprintf(answer, sizeof answer, "%s%s%s", frozen ? "yes" : "no", file[0] ? " " : "",
             file[0] ? file + above : "");
    return answer;
}

static void the_first_version_is_read(void)
{
    scratch();
    put("top/job", "freezer.state", "FROZEN\\n");
    put("top/job", "freezer.self_freezing", "0\\n");
    put("top", "freezer.state", "FROZEN\\n");
    put("top", "freezer.self_freezing", "1\\n");
    put("half", "freezer.state", "FREEZING\\n");
    put("half", "freezer.self_freezing", "1\\n");
    put("free", "freezer.state", "THAWED\\n");
    static const char options[] = "rw,cpu,freezer";
    CU_ASSERT_STRING_EQUAL(found("9:name=systemd:/x\n6:cpu,freezer:/top\n0::/\n", "/", "cgroup", options),
                           "yes /top/freezer.state");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/top/job\n", "/", "cgroup", options), "yes /top/freezer.state");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/half\n", "/", "cgroup", options), "yes /half/freezer.state");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/free\n", "/", "cgroup", options), "no");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/nowhere\n", "/", "cgroup", options), "no");
    CU_ASSERT_STRING_EQUAL(found("6:freezers:/top\n5:cpu:/top\n", "/", "cgroup", options), "no");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/top\n", "/", "cgroup", "rw,cpu"), "no");
    /* In a container the group that is mounted is not the topmost one. */
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/docker/4711/top/job\n", "/docker/4711", "cgroup", options),
                           "yes /top/freezer.state");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/docker/47111/top\n", "/docker/4711", "cgroup", options), "no");
}

static void the_second_version_is_read(void)
{
    scratch();
    put("job.scope", "cgroup.events", "populated 1\\nfrozen 1\\n");
    put("job.scope", "cgroup.freeze", "1\\n");
    put("job.scope/inner", "cgroup.events", "populated 1\\nfrozen 1\\n");
    put("job.scope/inner", "cgroup.freeze", "0\\n");
    put("free", "cgroup.events", "populated 1\\nfrozen 0\\n");
    put("above", "cgroup.events", "frozen 1\\n");
    CU_ASSERT_STRING_EQUAL(found("6:freezer:/\n0::/job.scope\n", "/", "cgroup2", "rw"),
                           "yes /job.scope/cgroup.freeze");
    CU_ASSERT_STRING_EQUAL(found("0::/job.scope/inner\n", "/", "cgroup2", "rw"),
                           "yes /job.scope/cgroup.freeze");
    CU_ASSERT_STRING_EQUAL(found("0::/free\n", "/", "cgroup2", "rw"), "no");
    CU_ASSERT_STRING_EQUAL(found("0::/job.scope\n", "/", "cgroup", "rw"), "no");
    /* Frozen by one above that cannot be seen from here. */
    CU_ASSERT_STRING_EQUAL(found("0::/above\n", "/", "cgroup2", "rw"), "yes");
    CU_ASSERT_STRING_EQUAL(found("0::/../job.scope", "/", "cgroup2", "rw"), "no");
}

static void nonsense_is_not_frozen(void)
{
    static const char *const texts[] = {
        "", "\n", ":", "::", "0::", "0:", "6:freezer:", "6:freezer:job", "\n\n0::\n"};
    char file[8];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            CU_ASSERT_FALSE(mpiq_freezer_find(texts[i], texts[j], file, sizeof file));
        CU_ASSERT_STRING_EQUAL(found(texts[i], "/", "cgroup2", "rw"), "no");
    }
}

/* ---- a real one ------------------------------------------------------------------------------------- */

struct group {
    char directory[300], file[400];
    const char *freeze, *thaw;
};

/* Makes a group of its own below the topmost one that is mounted, for pid; false: says why it cannot. */
static bool make_group(int version, pid_t pid, struct group *ret)
{
    static const char *const mounts[] = {"/sys/fs/cgroup/freezer", "/sys/fs/cgroup/unified",
                                         "/sys/fs/cgroup"};
    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
        snprintf(ret->directory, sizeof ret->directory, "%s/mpiq-test-%d", mounts[i], (int)getpid());
        snprintf(ret->file, sizeof ret->file, "%s/%s", ret->directory,
                 version == 1 ? "freezer.state" : "cgroup.freeze");
        ret->freeze = version == 1 ? "FROZEN" : "1";
        ret->thaw = version == 1 ? "THAWED" : "0";
        char procs[400];
        snprintf(procs, sizeof procs, "%s/cgroup.procs", ret->directory);
        if (mkdir(ret->directory, 0755) != 0)
            continue;
        FILE *file = access(ret->file, W_OK) == 0 ? fopen(procs, "w") : NULL;
        if (file && fprintf(file, "%d", (int)pid) > 0 && fclose(file) == 0)
            return true;
        rmdir(ret->directory);
    }
    printf(" (skipped: no control group of version %d can be made here: %s) ", version, strerror(errno));
    return false;
}

static bool is_held(pid_t pid)
{
    char file[512];
    struct mpiq_proc_stat stat = {0};
    mpiq_error_destroy(mpiq_proc_stat(pid, 0, &stat));
    return mpiq_freezer_holds(pid, stat.state, false, file, sizeof file);
}

/* It is told as frozen while it is, also if it is to be stopped as well, and nothing waits for it. */
static void check_frozen(int version)
{
    struct subject subject = subject_start(path, "wait");
    struct group group;
    if (!make_group(version, subject.pid, &group)) {
        subject_end(&subject);
        return;
    }
    CU_ASSERT_FALSE(is_held(subject.pid));
    run("echo %s >%s", group.freeze, group.file);
    WAIT_UNTIL(is_held(subject.pid));
    CU_ASSERT_TRUE(is_held(subject.pid));
    for (int stop = 0; stop < 2; stop++) {
        struct mpiq_target *target = NULL;
        struct mpiq_target_status status = {0};
        CHECK_OK(mpiq_target_live_create(subject.pid, stop, &target));
        CHECK_OK(mpiq_target_status(target, &status));
        CU_ASSERT_TRUE(status.frozen);
        CU_ASSERT_STRING_EQUAL(status.freezer, group.file);
        struct mpiq_target_stack stack;
        struct mpiq_error *error = mpiq_target_stack(target, subject.pid, &stack);
        if (!error)
            mpiq_target_stack_deinit(&stack);
        mpiq_error_destroy(error);
        CHECK_OK(mpiq_target_status(target, &status));
        CU_ASSERT_TRUE(status.frozen); /* on its way back, it may be */
        mpiq_target_destroy(target);
        WAIT_UNTIL(is_held(subject.pid)); /* it still is */
        CU_ASSERT_TRUE(is_held(subject.pid));
    }
    run("echo %s >%s", group.thaw, group.file);
    WAIT_UNTIL(!is_held(subject.pid));
    CU_ASSERT_FALSE(is_held(subject.pid));
    subject_end(&subject);
    WAIT_UNTIL(rmdir(group.directory) == 0);
    CU_ASSERT_NOT_EQUAL(access(group.directory, F_OK), 0);
}

static void a_process_frozen_by_the_first_version_is_told(void)
{
    check_frozen(1);
}

static void a_process_frozen_by_the_second_version_is_told(void)
{
    check_frozen(2);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    path = argv[1];
    CU_TestInfo tests[] = {
        {"the first version is read", the_first_version_is_read},
        {"the second version is read", the_second_version_is_read},
        {"nonsense is not frozen", nonsense_is_not_frozen},
        {"a process frozen by the first version is told", a_process_frozen_by_the_first_version_is_told},
        {"a process frozen by the second version is told", a_process_frozen_by_the_second_version_is_told},
        CU_TEST_INFO_NULL,
    };
    return suite_run("freezer", tests);
}
