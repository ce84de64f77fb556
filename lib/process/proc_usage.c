/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/proc_usage.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
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

/* A rank whose programs end during every try is busy without doubt, too. */
enum { TRIES = 8 };

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

/* Adds up what pid and its descendants have used.  False: one of them ended meanwhile and is not counted, so
   the sums are too small. */
static bool add_up(pid_t pid, uint64_t *cpu_ns, int64_t *io_bytes)
{
    struct descendants found = {.pids = {pid}, .count = 1};
    bool whole = true;
    *cpu_ns = 0;
    *io_bytes = 0;
    for (size_t i = 0; i < found.count; i++) {
        struct mpiq_proc_stat stat_line;
        /* Children first: the time of one that ends after this is its parent's, and counts once. */
        add_children(found.pids[i], &found);
        int64_t bytes = *io_bytes >= 0 ? io_of(found.pids[i]) : -1;
        if (i == 0 && bytes < 0)
            *io_bytes = -1;
        struct mpiq_error *error = mpiq_proc_stat(found.pids[i], 0, &stat_line);
        mpiq_error_destroy(error);
        if (error || stat_line.state == 'X') { /* X: its parent is about to count it, or has */
            whole = false;
            continue;
        }
        *cpu_ns += stat_line.children_ns + (i > 0 ? stat_line.cpu_ns : 0);
        if (bytes > 0 && *io_bytes <= INT64_MAX - bytes)
            *io_bytes += bytes;
    }
    return whole;
}

void mpiq_proc_usage(pid_t pid, uint64_t *children_cpu_ns, int64_t *io_bytes)
{
    *children_cpu_ns = 0;
    *io_bytes = -1;
    bool whole = false;
    for (int tries = 0; tries < TRIES && !whole; tries++) {
        uint64_t cpu_ns;
        int64_t bytes;
        whole = add_up(pid, &cpu_ns, &bytes);
        *children_cpu_ns = cpu_ns > *children_cpu_ns ? cpu_ns : *children_cpu_ns;
        *io_bytes = bytes > *io_bytes ? bytes : *io_bytes;
    }
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

static bool read_memory(pid_t pid, uint64_t address, size_t size, void *ret)
{
    struct iovec ours = {ret, size}, its = {(void *)(uintptr_t)address, size}; /* NOLINT: an address there */
    return process_vm_readv(pid, &ours, 1, &its, 1, 0) == (ssize_t)size;
}

/* The call that goes on after a stop as restart_syscall, by the code before the place where it returns to:
   poll, where that is known. */
static long restarted(pid_t pid, uint64_t pc)
{
#if defined __x86_64__
    static const unsigned char call_poll[] = {0xb8, SYS_poll, 0, 0, 0, 0x0f, 0x05}; /* mov $7,%eax; syscall */
    unsigned char code[sizeof call_poll];
    if (read_memory(pid, pc - sizeof code, sizeof code, code) && memcmp(code, call_poll, sizeof code) == 0)
        return SYS_poll;
#else
    (void)pid, (void)pc;
#endif
    return SYS_restart_syscall;
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

/* What is at the other end of a descriptor (-1: of none), and who: a pipe, a terminal, a socket. */
static void find_end(pid_t pid, int descriptor, bool writes, struct mpiq_target_thread *thread)
{
    if (descriptor < 0)
        return;
    uint64_t inode = read_descriptor(pid, (uint64_t)descriptor, thread);
    mpiq_partner_pipe(pid, writes, thread);
    if (strncmp(thread->file, "socket:", strlen("socket:")) == 0)
        mpiq_partner_socket(pid, inode, thread);
}

/* The one descriptor that poll waits for; -1: there are several, or none. */
static int polled_descriptor(pid_t pid, const uint64_t arguments[6])
{
    struct pollfd one;
    return arguments[1] == 1 && read_memory(pid, arguments[0], sizeof one, &one) ? one.fd : -1;
}

/* The one descriptor in the sets of select; -1. */
static int selected_descriptor(pid_t pid, const uint64_t arguments[6])
{
    int found = -1;
    uint64_t count = arguments[0] < FD_SETSIZE ? arguments[0] : FD_SETSIZE;
    for (int set = 1; set <= 3; set++) {
        fd_set bits;
        if (!arguments[set])
            continue;
        FD_ZERO(&bits);
        if (!read_memory(pid, arguments[set], (size_t)(count + 63) / 64 * 8, &bits))
            return -1;
        for (int fd = 0; fd < (int)count; fd++) {
            if (!FD_ISSET(fd, &bits))
                continue;
            if (found >= 0 && found != fd)
                return -1;
            found = fd;
        }
    }
    return found;
}

/* Whether a wait for descriptors, a signal, a semaphore, a message or I/O has a timeout. */
static bool is_timed(long number, const uint64_t arguments[6])
{
    switch (number) {
#ifdef SYS_poll
    case SYS_poll:
        return (int32_t)arguments[2] >= 0;
#endif
    case SYS_ppoll:
    case SYS_rt_sigtimedwait:
        return arguments[2] != 0;
    case SYS_semtimedop:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
        return arguments[3] != 0;
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_recvmmsg:
        return arguments[4] != 0;
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return (int32_t)arguments[3] >= 0;
    default:
        return false;
    }
}

/* The process that has a mutex of the C library's which several share: it keeps the number of its owner 8
   bytes behind its word (2: somebody waits). */
static void find_mutex_owner(pid_t pid, uint64_t futex, struct mpiq_target_thread *thread)
{
    int32_t mutex[3];
    enum { WORD, COUNT, OWNER, CONTENDED = 2 };
    if (read_memory(pid, futex, sizeof mutex, mutex) && mutex[WORD] == CONTENDED && mutex[OWNER] > 0)
        mpiq_partner_owner(pid, mutex[OWNER], thread);
}

/* On which file, or for which process, the call with these arguments sleeps. */
static void find_object(pid_t pid, long number, const uint64_t arguments[6],
                        struct mpiq_target_thread *thread)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
        find_end(pid, (int)arguments[0], false, thread);
        break;
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_sendmsg:
        find_end(pid, (int)arguments[0], true, thread);
        break;
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
        find_end(pid, polled_descriptor(pid, arguments), false, thread);
        break;
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        find_end(pid, selected_descriptor(pid, arguments), false, thread);
        break;
    case SYS_futex:
        find_mutex_owner(pid, arguments[0], thread);
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
    if (thread->state != 'S' && thread->state != 'D')
        return;
    char path[80], text[256];
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)thread->tid);
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    if (error) {
        mpiq_error_destroy(error);
        return;
    }
    struct mpiq_proc_call call;
    if (!mpiq_proc_parse_call(text, &call))
        return;
    long number = call.number;
    const uint64_t *arguments = call.arguments;
    if (number == SYS_restart_syscall)
        number = restarted(pid, call.pc);
    thread->system_call = (int32_t)number;
    thread->futex = number == SYS_futex ? arguments[0] : 0;
    find_object(pid, number, arguments, thread);
    /* A wait with a timeout that was stopped meanwhile, by a look at its stack, say, goes on as this call. */
    bool timed = number == SYS_restart_syscall || is_timed(number, arguments);
    thread->sleep = timed                 ? MPIQ_TARGET_SLEEP_TIMED_FUTEX
                    : number == SYS_futex ? futex_sleep(arguments)
                                          : MPIQ_TARGET_SLEEP_OTHER;
    if (thread->sleep == MPIQ_TARGET_SLEEP_PRIVATE_FUTEX && handles_signals(pid))
        thread->sleep = MPIQ_TARGET_SLEEP_SIGNAL_FUTEX;
    /* A lock of POSIX's is its process's; flock's and those of open files are also its children's. */
    bool of_process = number == SYS_fcntl && arguments[1] == F_SETLKW && thread->lock_holder > 0;
    if (of_process && !handles_signals(pid))
        thread->sleep = MPIQ_TARGET_SLEEP_LOCK;
}
