/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of work that a process's own processor time does not show.  test_proc_usage */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "support.h"
#include "process/object.h"
#include "wait_until.h"

/* How each thread of the watched process sleeps. */
enum { CONDITION, TIMED, SHARED, PAUSED, POLLS, POLLS_FOR_AN_HOUR, KINDS };

static const enum mpiq_target_sleep expected[KINDS] = {
    [CONDITION] = MPIQ_TARGET_SLEEP_PRIVATE_FUTEX,
    [TIMED] = MPIQ_TARGET_SLEEP_TIMED_FUTEX,
    [SHARED] = MPIQ_TARGET_SLEEP_OTHER,
    [PAUSED] = MPIQ_TARGET_SLEEP_OTHER,
    [POLLS] = MPIQ_TARGET_SLEEP_OTHER,
    [POLLS_FOR_AN_HOUR] = MPIQ_TARGET_SLEEP_TIMED_FUTEX,
};

static int word;

static void *sleep_as(void *argument)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec hour = {.tv_sec = 3600};
    const int *kind = argument;
    char name[16];
    snprintf(name, sizeof name, "sleeper %d", *kind);
    prctl(PR_SET_NAME, name);
    for (;;) {
        switch (*kind) {
        case CONDITION:
            pthread_mutex_lock(&mutex);
            pthread_cond_wait(&condition, &mutex);
            pthread_mutex_unlock(&mutex);
            break;
        case TIMED:
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &hour, NULL, 0);
            break;
        case SHARED:
            syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
            break;
        case POLLS:
        case POLLS_FOR_AN_HOUR:
            poll(NULL, 0, *kind == POLLS ? -1 : 3600000);
            break;
        default:
            pause();
        }
    }
    return NULL;
}

static void on_signal(int number)
{
    (void)number;
}

/* A process with one thread of each kind; caught: a signal that it has a handler for, or 0. */
static pid_t start_sleepers(int caught)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (caught)
        signal(caught, on_signal);
    static int kinds[KINDS];
    for (int i = 0; i < KINDS; i++) {
        pthread_t thread;
        kinds[i] = i;
        pthread_create(&thread, NULL, sleep_as, &kinds[i]);
    }
    for (;;)
        pause();
}

static void finish(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Of the kind: how it sleeps; UNKNOWN as long as it is not there or not asleep. */
static enum mpiq_target_sleep sleep_of(pid_t pid, int kind, bool stop)
{
    struct mpiq_target *target = NULL;
    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    char name[16];
    enum mpiq_target_sleep found = MPIQ_TARGET_SLEEP_UNKNOWN;
    snprintf(name, sizeof name, "sleeper %hhu", (unsigned char)kind);
    CHECK_OK(mpiq_target_live_create(pid, stop, &target));
    CHECK_OK(mpiq_target_threads(target, &threads, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(threads[i].name, name) == 0)
            found = (enum mpiq_target_sleep)threads[i].sleep;
    }
    free(threads);
    mpiq_target_destroy(target);
    return found;
}

/* A handler may post a semaphore; those for errors, for the end, and for profilers do not. */
static void signal_handlers_are_told(void)
{
    const int signals[] = {SIGALRM, SIGUSR2, SIGRTMIN, SIGSEGV, SIGINT, SIGPROF};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t pid = start_sleepers(signals[i]);
        enum mpiq_target_sleep found = MPIQ_TARGET_SLEEP_UNKNOWN;
        WAIT_UNTIL((found = sleep_of(pid, CONDITION, false)) != MPIQ_TARGET_SLEEP_UNKNOWN);
        CU_ASSERT_EQUAL(found, i < 3 ? MPIQ_TARGET_SLEEP_SIGNAL_FUTEX : MPIQ_TARGET_SLEEP_PRIVATE_FUTEX);
        finish(pid);
    }
}

/* Frozen: as it slept before, not as it stands now; and as before once it goes on, though the kernel then
   calls a timed call by another name (restart_syscall). */
static void what_a_thread_sleeps_in_is_told(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        pid_t pid = start_sleepers(0);
        enum mpiq_target_sleep found = MPIQ_TARGET_SLEEP_UNKNOWN;
        WAIT_UNTIL((found = sleep_of(pid, kind, false)) == expected[kind]); /* it may be starting */
        CU_ASSERT_EQUAL(found, expected[kind]);
        CU_ASSERT_EQUAL(sleep_of(pid, kind, true), expected[kind]);
        /* It may be on its way back. */
        WAIT_UNTIL((found = sleep_of(pid, kind, false)) != MPIQ_TARGET_SLEEP_UNKNOWN);
        CU_ASSERT_EQUAL(found, expected[kind]);
        finish(pid);
    }
}

static struct mpiq_target_status status_of(pid_t pid)
{
    struct mpiq_target *target = NULL;
    struct mpiq_target_status status = {0};
    CHECK_OK(mpiq_target_live_create(pid, false, &target));
    CHECK_OK(mpiq_target_status(target, &status));
    mpiq_target_destroy(target);
    return status;
}

/* Whether its children have worked since `before`; `now`, the status before this one, becomes this one. */
static bool have_worked(pid_t pid, const struct mpiq_target_status *before, struct mpiq_target_status *now)
{
    struct mpiq_target_status last = *now;
    *now = status_of(pid);
    CU_ASSERT_TRUE(now->children_cpu_ns >= last.children_cpu_ns);
    return now->children_cpu_ns >= before->children_cpu_ns + 50000000 &&
           now->io_bytes >= before->io_bytes + 100000000;
}

static bool all_sleep(pid_t pid)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (sleep_of(pid, kind, false) != expected[kind])
            return false;
    }
    return true;
}

static pid_t start_shell(const char *script)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* A shell that only waits for a shell that starts programs: what they do is the first one's work. */
static void programs_that_it_starts_count(void)
{
    pid_t pid = start_shell(
        "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
        "dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null; done' & wait; exec sleep 600");
    struct mpiq_target_status before = status_of(pid), after = before;
    WAIT_UNTIL(have_worked(pid, &before, &after));
    CU_ASSERT_TRUE(after.children_cpu_ns >= before.children_cpu_ns + 50000000);
    CU_ASSERT_TRUE(after.io_bytes >= before.io_bytes + 100000000);
    CU_ASSERT_TRUE(after.cpu_ns < 50000000);
    finish(pid);
}

/* One program after another ends, most of them while somebody looks. */
static void what_they_did_stays_when_they_end(void)
{
    const int64_t all = INT64_C(200) * 300 * 65536 * 2; /* read, and written */
    pid_t pid =
        start_shell("for i in $(seq 200); do dd if=/dev/zero of=/dev/null bs=64k count=300 2>/dev/null; "
                    "done; exec sleep 600");
    struct mpiq_target_status before = status_of(pid), last = before;
    unsigned lost = 0, looks = 0;
    for (time_t end = time(NULL) + 300; last.io_bytes < before.io_bytes + all && time(NULL) < end; looks++) {
        struct mpiq_target_status now = status_of(pid);
        lost += now.io_bytes < last.io_bytes || now.children_cpu_ns < last.children_cpu_ns;
        last = now;
    }
    CU_ASSERT_TRUE(last.io_bytes >= before.io_bytes + all);
    CU_ASSERT_EQUAL(lost, 0);
    printf("%u looks ", looks);
    finish(pid);
}

static void a_sleeping_process_does_nothing(void)
{
    pid_t pid = start_sleepers(0);
    WAIT_UNTIL(all_sleep(pid));
    struct mpiq_target_status before = status_of(pid);
    usleep(300000);
    struct mpiq_target_status after = status_of(pid);
    CU_ASSERT_EQUAL(before.children_cpu_ns, 0);
    CU_ASSERT_EQUAL(after.children_cpu_ns, 0);
    CU_ASSERT_TRUE(before.io_bytes >= 0);
    CU_ASSERT_EQUAL(before.io_bytes, after.io_bytes);
    finish(pid);
}

/* What a process waits for whose only thread is in a system call. */
enum { CHILD, PIPE, TERMINAL, PARTNERS };

/* Forks one that waits for its child, for us at the other end of a pipe, or at that of a terminal. */
static pid_t start_waiter(int kind, int end)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte;
    if (kind == CHILD) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, "the child");
            raise(SIGSTOP);
        }
        waitpid(child, NULL, 0);
    } else if (read(end, &byte, 1) < 0) {
        _exit(1);
    }
    for (;;)
        pause();
}

static struct mpiq_target_thread first_thread(pid_t pid)
{
    struct mpiq_target *target = NULL;
    struct mpiq_target_thread *threads = NULL, first = {0};
    size_t count = 0;
    CHECK_OK(mpiq_target_live_create(pid, false, &target));
    CHECK_OK(mpiq_target_threads(target, &threads, &count));
    if (count > 0)
        first = threads[0];
    free(threads);
    mpiq_target_destroy(target);
    return first;
}

static void whom_it_waits_for_is_told(void)
{
    int pipes[2];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    CU_ASSERT_TRUE_FATAL(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    CU_ASSERT_TRUE_FATAL(terminal >= 0);
    const int ends[PARTNERS] = {[CHILD] = -1, [PIPE] = pipes[0], [TERMINAL] = terminal};
    for (int kind = 0; kind < PARTNERS; kind++) {
        pid_t pid = start_waiter(kind, ends[kind]);
        struct mpiq_target_thread thread;
        WAIT_UNTIL((thread = first_thread(pid)).partner > 0 &&
                   (kind != CHILD || thread.partner_state == 'T'));
        if (kind == CHILD) {
            CU_ASSERT_STRING_EQUAL(thread.partner_name, "the child");
            CU_ASSERT_EQUAL(thread.partner_state, 'T');
        } else {
            CU_ASSERT_EQUAL(thread.partner, getpid());
        }
        finish(pid);
    }
    close(terminal);
    close(master);
    close(pipes[0]);
    close(pipes[1]);
}

enum { RECEIVES, POLLS_ONE, ACCEPTS, WANTS_MUTEX, WANTS_MUTEX_OF_THE_DEAD, ENDS };

/* Sleeps so, of a connection from and a mutex shared with its parent. */
static void sleep_for_parent(int kind, int connection, int listener, pthread_mutex_t *mutex)
{
    char byte;
    for (;;) {
        switch (kind) {
        case RECEIVES:
            if (recv(connection, &byte, 1, 0) < 0)
                _exit(1);
            break;
        case POLLS_ONE:
            poll(&(struct pollfd){.fd = connection, .events = POLLIN}, 1, -1);
            break;
        case ACCEPTS:
            accept(listener, NULL, NULL);
            break;
        default:
            pthread_mutex_lock(mutex);
        }
    }
}

/* A mutex of several processes; one that ends at once has it, or this process. */
static pthread_mutex_t *lock_shared(bool dead)
{
    pthread_mutex_t *mutex =
        mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &shared);
    pid_t pid = dead ? fork() : 0;
    if (pid) {
        waitpid(pid, NULL, 0);
        return mutex;
    }
    pthread_mutex_lock(mutex);
    if (dead)
        _exit(0);
    return mutex;
}

static void who_is_at_the_other_end_is_told(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
                    getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_FATAL(connect(connection, (struct sockaddr *)&address, size) == 0);
    int own = accept(listener, NULL, NULL);
    char port[32];
    snprintf(port, sizeof port, "listen:%d", ntohs(address.sin_port));
    for (int kind = 0; kind < ENDS; kind++) {
        pthread_mutex_t *mutex = lock_shared(kind == WANTS_MUTEX_OF_THE_DEAD);
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(own);
            sleep_for_parent(kind, connection, listener, mutex);
        }
        struct mpiq_target_thread thread;
        if (kind == ACCEPTS)
            WAIT_UNTIL((thread = first_thread(pid)).file[0]);
        else
            WAIT_UNTIL((thread = first_thread(pid)).partner > 0);
        if (kind == ACCEPTS) {
            CU_ASSERT_STRING_EQUAL(thread.file, port);
        } else if (kind == WANTS_MUTEX_OF_THE_DEAD) {
            CU_ASSERT_EQUAL(thread.partner_state, 'X');
        } else {
            CU_ASSERT_EQUAL(thread.partner, getpid());
        }
        if (kind == RECEIVES || kind == POLLS_ONE) {
            CU_ASSERT_EQUAL(strncmp(thread.file, "tcp:127.0.0.1:", 14), 0);
        }
        finish(pid);
        munmap(mutex, sizeof *mutex);
    }
    close(own);
    close(connection);
    close(listener);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the call that a thread sleeps in is reported", what_a_thread_sleeps_in_is_told},
        {"signal handlers are told", signal_handlers_are_told},
        {"programs started by a process count", programs_that_it_starts_count},
        {"what they did stays counted when they end", what_they_did_stays_when_they_end},
        {"a sleeping process does nothing", a_sleeping_process_does_nothing},
        {"whom a process waits for is reported", whom_it_waits_for_is_told},
        {"who is at the other end is reported", who_is_at_the_other_end_is_told},
        CU_TEST_INFO_NULL,
    };
    int status = suite_run("proc_usage", tests);
    mpiq_object_clear();
    return status;
}
