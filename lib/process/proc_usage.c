/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/proc_usage.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "process/partner.h"

/* A rank that starts more programs than that at a time is busy without doubt. */
enum { DESCENDANT_LIMIT = 256 };

/* The processes to visit: those found so far, in the order found. */
struct descendants {
    pid_t pids[DESCENDANT_LIMIT];
    size_t count;
};

static void add_children(pid_t pid, struct descendants *found)
{
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_proc_children(pid, 0, &children, &count));
    for (size_t i = 0; i < count && found->count < DESCENDANT_LIMIT; i++)
        found->pids[found->count++] = children[i];
}

static int64_t io_of(pid_t pid)
{
    char path[64];
    _cleanup_free_ char *text = NULL;
    size_t size;
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    struct mpiq_error *error = mpiq_proc_read(path, &text, &size);
    unsigned long long bytes_read, bytes_written;
    bool known = !error && sscanf(text, "rchar: %llu wchar: %llu", &bytes_read, &bytes_written) == 2;
    mpiq_error_destroy(error);
    uint64_t sum = known ? bytes_read + bytes_written : 0;
    return known && sum <= INT64_MAX ? (int64_t)sum : -1;
}

void mpiq_proc_usage(pid_t pid, uint64_t *children_cpu_ns, int64_t *io_bytes)
{
    struct mpiq_proc_stat stat_line;
    struct descendants found = {.count = 0};
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat_line);
    uint64_t cpu_ns = error ? 0 : stat_line.children_ns; /* of those that have ended */
    mpiq_error_destroy(error);
    int64_t bytes = io_of(pid);
    add_children(pid, &found);
    for (size_t i = 0; i < found.count; i++) {
        error = mpiq_proc_stat(found.pids[i], 0, &stat_line);
        if (!error)
            cpu_ns += stat_line.cpu_ns + stat_line.children_ns;
        mpiq_error_destroy(error);
        int64_t more = bytes >= 0 ? io_of(found.pids[i]) : -1;
        if (more > 0 && bytes <= INT64_MAX - more)
            bytes += more;
        add_children(found.pids[i], &found);
    }
    *children_cpu_ns = cpu_ns;
    *io_bytes = bytes;
}

/* How the futex call with these arguments sleeps: one for threads of the same process and without a timeout
   is woken by the same process alone. */
static enum mpiq_target_sleep futex_sleep(const uint64_t arguments[6])
{
    uint64_t operation = arguments[1] & (uint64_t)FUTEX_CMD_MASK;
    bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI ||
                 operation == FUTEX_WAIT_REQUEUE_PI;
    if (!waits)
        return MPIQ_TARGET_SLEEP_OTHER;
    if (arguments[3])
        return MPIQ_TARGET_SLEEP_TIMED_FUTEX;
    return arguments[1] & FUTEX_PRIVATE_FLAG ? MPIQ_TARGET_SLEEP_PRIVATE_FUTEX : MPIQ_TARGET_SLEEP_OTHER;
}

/* Whether the process has a handler for a signal that programs send themselves while they work: it may post a
   semaphore.  MPICH itself handles SIGUSR1. */
static bool handles_signals(pid_t pid)
{
    static const int work[] = {SIGALRM, SIGVTALRM, SIGUSR2, SIGIO, SIGCHLD};
    enum { FIRST_REALTIME = 34 }; /* those below are the C library's own */
    size_t size;
    char *text _cleanup_free_ = mpiq_proc_read_of(pid, "status", &size);
    const char *line = text ? strstr(text, "\nSigCgt:") : NULL;
    uint64_t caught = line ? strtoull(line + strlen("\nSigCgt:"), NULL, 16) : 0;
    uint64_t asked = ~UINT64_C(0) << (FIRST_REALTIME - 1);
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        asked |= UINT64_C(1) << (work[i] - 1);
    return caught & asked;
}

/* A path in the process's memory. */
static void read_path(pid_t pid, uint64_t address, struct mpiq_target_thread *thread)
{
    enum { PAGE = 4096 };
    size_t most = sizeof thread->file - 1, first = PAGE - (size_t)(address % PAGE);
    first = first < most ? first : most;
    struct iovec ours = {thread->file, most};
    struct iovec its[] = {
        {(void *)(uintptr_t)address, first},
        {(void *)(uintptr_t)(address + first), most - first}}; /* NOLINT: an address there */
    ssize_t got = process_vm_readv(pid, &ours, 1, its, 2, 0);
    thread->file[got > 0 ? got : 0] = '\0';
}

/* The file that a descriptor of the process is; its inode, or 0. */
static uint64_t read_descriptor(pid_t pid, uint64_t descriptor, struct mpiq_target_thread *thread)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, (int)descriptor);
    ssize_t length = readlink(path, thread->file, sizeof thread->file - 1);
    thread->file[length > 0 ? length : 0] = '\0';
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* Who has the lock on a file that the process waits for.  In /proc/locks those who wait follow the holder,
   with its number and an arrow: "3: POSIX ADVISORY WRITE 4711 fe:01:99 0 EOF", "3: -> POSIX … 4712 …". */
static pid_t find_holder(pid_t pid, uint64_t inode)
{
    size_t size;
    char *text = NULL;
    struct mpiq_error *error = mpiq_proc_read("/proc/locks", &text, &size);
    mpiq_error_destroy(error);
    if (error)
        return 0;
    pid_t holder = 0, found = 0;
    char *rest = text;
    for (char *line; !found && (line = strsep(&rest, "\n"));) {
        int number, who, at = 0;
        unsigned major, minor;
        unsigned long long its_inode;
        if (sscanf(line, "%d: -> %*s %*s %*s %d %x:%x:%llu", &number, &who, &major, &minor, &its_inode) == 5)
            found = who == pid && its_inode == inode ? holder : 0;
        else if (sscanf(line, "%d: %*s %*s %*s %d %x:%x:%llu%n", &number, &who, &major, &minor, &its_inode,
                        &at) == 5)
            holder = who;
    }
    free(text);
    return found > 0 ? found : 0;
}

/* On which file, or for which process, the call with these arguments sleeps. */
static void find_object(pid_t pid, long number, const uint64_t arguments[6],
                        struct mpiq_target_thread *thread)
{
    switch (number) {
    case SYS_read:
    case SYS_write:
        read_descriptor(pid, arguments[0], thread);
        mpiq_partner_pipe(pid, thread);
        break;
    case SYS_wait4:
        mpiq_partner_child(pid, (int32_t)arguments[0], thread);
        break;
    case SYS_waitid:
        mpiq_partner_child(pid, arguments[0] == P_PID ? (int32_t)arguments[1] : 0, thread);
        break;
#ifdef SYS_open
    case SYS_open:
        read_path(pid, arguments[0], thread);
        break;
#endif
    case SYS_openat:
        read_path(pid, arguments[1], thread);
        break;
    case SYS_fcntl:
        if (arguments[1] == F_SETLKW || arguments[1] == F_OFD_SETLKW)
            thread->lock_holder = find_holder(pid, read_descriptor(pid, arguments[0], thread));
        break;
    case SYS_flock:
        thread->lock_holder = find_holder(pid, read_descriptor(pid, arguments[0], thread));
        break;
    default:
        break;
    }
}

void mpiq_proc_sleep(pid_t pid, struct mpiq_target_thread *thread)
{
    thread->sleep = MPIQ_TARGET_SLEEP_UNKNOWN;
    thread->system_call = -1;
    thread->file[0] = '\0';
    thread->lock_holder = 0;
    thread->partner = 0;
    thread->futex = 0;
    if (thread->state != 'S')
        return;
    char path[80], text[256];
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)thread->tid);
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    if (error) {
        mpiq_error_destroy(error);
        return;
    }
    /* "202 0x7f… 0x80 0x0 0x0 0x0 0x0 0xSP 0xPC"; "running"; "-1 0xSP 0xPC" outside of any call. */
    char *at = text, *next;
    long number = strtol(at, &next, 10);
    if (next == at || number < 0 || number > INT32_MAX)
        return;
    uint64_t arguments[6];
    for (size_t i = 0; i < 6; i++) {
        at = next;
        arguments[i] = strtoull(at, &next, 16);
        if (next == at)
            return;
    }
    thread->system_call = (int32_t)number;
    thread->futex = number == SYS_futex ? arguments[0] : 0;
    find_object(pid, number, arguments, thread);
    /* A wait with a timeout that was stopped meanwhile, by a look at its stack, say, goes on as this call. */
    thread->sleep = number == SYS_restart_syscall ? MPIQ_TARGET_SLEEP_TIMED_FUTEX
                    : number == SYS_futex         ? futex_sleep(arguments)
                                                  : MPIQ_TARGET_SLEEP_OTHER;
    if (thread->sleep == MPIQ_TARGET_SLEEP_PRIVATE_FUTEX && handles_signals(pid))
        thread->sleep = MPIQ_TARGET_SLEEP_SIGNAL_FUTEX;
    /* A lock of POSIX's is its process's; flock's and those of open files are also its children's. */
    bool of_process = number == SYS_fcntl && arguments[1] == F_SETLKW && thread->lock_holder > 0;
    if (of_process && !handles_signals(pid))
        thread->sleep = MPIQ_TARGET_SLEEP_LOCK;
}
