/* SPDX-License-Identifier: BSD-3-Clause */
/* A collector's two processes: the one that works, and its guard. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosts/collector.h"
#include "suite.h"

enum { STATUS = 7, PATIENCE_S = 300 };

static int input[2]; /* standard input of the collector */

/* Starts a collector whose worker does that; the guard's pid. */
static pid_t collector(void (*work)(const struct mpiq_collector *))
{
    CU_ASSERT_EQUAL_FATAL(pipe(input), 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid > 0) {
        close(input[0]);
        return pid;
    }
    struct mpiq_collector own;
    dup2(input[0], STDIN_FILENO);
    close(input[0]);
    close(input[1]);
    if (mpiq_collector_start(&own))
        _exit(1);
    work(&own);
    exit(STATUS);
}

/* How the guard ends, and that the worker, which is a child of this process then, has gone, too. */
static int end_of(pid_t guard)
{
    int status = 0;
    alarm(PATIENCE_S); /* ends a test that would wait for ever */
    CU_ASSERT_EQUAL(waitpid(guard, &status, 0), guard);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    alarm(0);
    return status;
}

static void do_nothing(const struct mpiq_collector *own)
{
    (void)own;
}

static void stop_the_guard(const struct mpiq_collector *own)
{
    kill(own->guard, SIGSTOP);
}

static void wait_for_ever(const struct mpiq_collector *own)
{
    (void)own;
    for (;;)
        pause();
}

static void test_its_status(void)
{
    int status = end_of(collector(do_nothing));
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    close(input[1]);
}

static void test_a_stopped_guard(void)
{
    int status = end_of(collector(stop_the_guard));
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(input[1]);
}

static void test_nobody_listens(void)
{
    pid_t guard = collector(wait_for_ever);
    close(input[1]);
    int status = end_of(guard);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"its status", test_its_status},
        {"a stopped guard", test_a_stopped_guard},
        {"a collector ends if nobody reads its output", test_nobody_listens},
        CU_TEST_INFO_NULL,
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return suite_run("collector", tests);
}
