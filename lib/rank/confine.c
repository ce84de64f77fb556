/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"

/* A reader of many ranks has their files open, a helper its DLL and what that opens. */
enum { DESCRIPTORS_READER = 4096, DESCRIPTORS_HELPER = 64 };

extern char **environ;

/* ---- the first step --------------------------------------------------------------------------------- */

static bool limit(int resource, uint64_t value)
{
    struct rlimit both;
    if (getrlimit((__rlimit_resource_t)resource, &both) < 0)
        return false;
    if (both.rlim_max != RLIM_INFINITY && both.rlim_max < value)
        value = both.rlim_max;
    both.rlim_cur = both.rlim_max = value;
    return setrlimit((__rlimit_resource_t)resource, &both) == 0;
}

static bool detach_from_terminal(bool keep_error)
{
    if (getsid(0) != getpid() && setsid() < 0)
        return false;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        return false;
    bool good = true;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fd != STDERR_FILENO || !keep_error)
            good = dup2(nothing, fd) == fd && good;
    }
    if (nothing > STDERR_FILENO)
        close(nothing);
    umask(077);
    return good && chdir("/") == 0;
}

static bool has_capability(const struct __user_cap_data_struct *data, unsigned capability)
{
    return data[capability / 32].permitted >> capability % 32 & 1;
}

/* Of root's rights, the ones to look at other processes and, for a reader, at their files are left.  Where
   root may not do that (a container), what it has is what its ranks have, and is needed to look at them. */
static bool keep_only_looking(bool files)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct had[2] = {{0}};
    struct __user_cap_data_struct kept[2] = {{0}};
    if (syscall(SYS_capget, &header, had) < 0)
        return false;
    if (!has_capability(had, CAP_SYS_PTRACE))
        return true;
    kept[0].permitted = 1u << CAP_SYS_PTRACE;
    if (files && has_capability(had, CAP_DAC_READ_SEARCH))
        kept[0].permitted |= 1u << CAP_DAC_READ_SEARCH;
    kept[0].effective = kept[0].permitted;
    return syscall(SYS_capset, &header, kept) == 0;
}

static bool become(const struct mpiq_confinement *confinement)
{
    gid_t group = confinement->group;
    uid_t user = confinement->user;
    if (confinement->keep_trace && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
        return false;
    return setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 &&
           setresuid(user, user, user) == 0 && (!confinement->keep_trace || keep_only_looking(false));
}

bool mpiq_confine_options(struct mpiq_confinement *confinement, int count, char *const *arguments)
{
    for (int i = 1; i + 1 < count; i += 2) {
        const char *name = arguments[i], *value = arguments[i + 1];
        if (strcmp(name, "--memory") == 0)
            confinement->memory = strtoull(value, NULL, 10);
        else if (strcmp(name, "--parent") == 0)
            confinement->parent = (pid_t)strtol(value, NULL, 10);
        else if (strcmp(name, "--user") == 0)
            confinement->become = sscanf(value, "%u:%u", &confinement->user, &confinement->group) == 2;
        if (strcmp(name, "--user") == 0 && !confinement->become)
            return false;
    }
    return true;
}

bool mpiq_confine_begin(const struct mpiq_confinement *confinement)
{
    bool reader = confinement->kind == MPIQ_CONFINED_READER;
    if (!detach_from_terminal(confinement->keep_error) || !limit(RLIMIT_CORE, 0) ||
        !limit(RLIMIT_NOFILE, reader ? DESCRIPTORS_READER : DESCRIPTORS_HELPER))
        return false;
    if (!MPIQ_SANITIZED && confinement->memory && !limit(RLIMIT_AS, confinement->memory))
        return false;
    if (confinement->become ? !become(confinement) : geteuid() == 0 && !keep_only_looking(reader))
        return false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return false;
    /* A process loses this setting when it changes its user, so it is set afterwards.  If the parent has
       ended before, another process has adopted us. */
    if (confinement->parent &&
        (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != confinement->parent))
        return false;
    return true;
}

/* ---- the second step -------------------------------------------------------------------------------- */

/* What cannot reach beyond this process and what it has open. */
static const int harmless[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(sendto),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(shutdown),
    SCMP_SYS(setsockopt),
    SCMP_SYS(getsockopt),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(fstat),
    SCMP_SYS(fstat64),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(lseek),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(brk),
    SCMP_SYS(membarrier),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrandom),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
};

/* By the value of one argument. */
struct allowed {
    int call;
    unsigned argument;
    scmp_datum_t mask; /* of the bits that are compared */
    scmp_datum_t value;
};

/* Access mode 0 is reading; what creates or cuts a file is no reading, whatever its mode. */
#define READING_MASK ((scmp_datum_t)(O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)))
#define WHOLE (~(scmp_datum_t)0)
#define LOW ((scmp_datum_t)0xffffffff)

static const struct allowed by_argument[] = {
    {SCMP_SYS(open), 1, READING_MASK, O_RDONLY},
    {SCMP_SYS(openat), 2, READING_MASK, O_RDONLY},
    {SCMP_SYS(clone), 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM},
    {SCMP_SYS(fcntl), 1, LOW, F_GETFD},
    {SCMP_SYS(fcntl), 1, LOW, F_SETFD},
    {SCMP_SYS(fcntl), 1, LOW, F_GETFL},
    {SCMP_SYS(fcntl), 1, LOW, F_SETFL},
    {SCMP_SYS(fcntl), 1, LOW, F_DUPFD_CLOEXEC},
    {SCMP_SYS(prctl), 0, LOW, PR_SET_NAME},
    {SCMP_SYS(prctl), 0, LOW, PR_GET_NAME},
    {SCMP_SYS(prctl), 0, LOW, PR_SET_TIMERSLACK},
    {SCMP_SYS(prctl), 0, LOW, PR_GET_DUMPABLE},
    {SCMP_SYS(prlimit64), 2, WHOLE, 0}, /* asks, sets nothing */
};

/* A reader stops threads and copies registers; nothing of this changes any. */
static const int ptrace_requests[] = {PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_GETREGSET, PTRACE_DETACH};

static bool allow_masked(scmp_filter_ctx filter, const struct allowed *allowed)
{
    /* A call that this machine does not have needs no leave. */
    int code =
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed->call, 1,
                         SCMP_CMP(allowed->argument, SCMP_CMP_MASKED_EQ, allowed->mask, allowed->value));
    return code == 0 || code == -EDOM || allowed->call < 0;
}

static bool add_rules(scmp_filter_ctx filter, enum mpiq_confined kind)
{
    bool good = true;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        good = (seccomp_rule_add(filter, SCMP_ACT_ALLOW, harmless[i], 0) == 0 || harmless[i] < 0) && good;
    for (size_t i = 0; i < sizeof by_argument / sizeof *by_argument; i++)
        good = allow_masked(filter, &by_argument[i]) && good;
    const struct allowed ourselves = {SCMP_SYS(tgkill), 0, LOW, (scmp_datum_t)getpid()};
    good = allow_masked(filter, &ourselves) && good;
    for (size_t i = 0; kind == MPIQ_CONFINED_READER && i < sizeof ptrace_requests / sizeof *ptrace_requests;
         i++) {
        const struct allowed request = {SCMP_SYS(ptrace), 0, LOW, (scmp_datum_t)ptrace_requests[i]};
        good = allow_masked(filter, &request) && good;
    }
    return good;
}

bool mpiq_confine_end(enum mpiq_confined kind)
{
    if (MPIQ_SANITIZED)
        return true;
    /* ENOSYS rather than EPERM: the C library then takes an older way (clone for clone3). */
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return false;
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree: older libraries have none, and do */
    bool good = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 && add_rules(filter, kind) &&
                seccomp_load(filter) == 0;
    seccomp_release(filter);
    return good;
}

/* ---- crashes ---------------------------------------------------------------------------------------- */

void mpiq_confine_catch_crashes(void (*handler)(int), bool at_alarm)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGALRM};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < sizeof signals / sizeof *signals - !at_alarm; i++)
        sigaction(signals[i], &action, NULL);
}

bool mpiq_confine_use_crash_stack(void)
{
    enum { SIZE = 32768 };
    const stack_t stack = {.ss_sp = malloc(SIZE), .ss_size = SIZE};
    return stack.ss_sp && sigaltstack(&stack, NULL) == 0;
}

/* ---- environment ------------------------------------------------------------------------------------ */

char **mpiq_confine_environment(char *extra)
{
    static const char *const ours[] = {"MPIQ_DEBUG=", "MPIQ_TEST_"};
    size_t count = 0;
    size_t used = 0;
    while (environ && environ[count])
        count++;
    char **kept = calloc(count + 2, sizeof *kept);
    for (size_t i = 0; kept && i < count; i++) {
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) {
            if (strncmp(environ[i], ours[k], strlen(ours[k])) == 0)
                kept[used++] = environ[i];
        }
    }
    if (kept)
        kept[used] = extra;
    return kept;
}
