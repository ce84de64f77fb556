/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live - a running process of this machine, read while it runs.
 *
 * Only one thread at a time may use a target; different targets may be used in parallel.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "process/proc_usage.h"
#include "process/freezer.h"
#include "process/module.h"
#include "process/module_slots.h"
#include "process/peer.h"
#include "process/permission.h"
#include "process/sleeper.h"
#include "base/proc.h"
#include "process/mappings.h"
#include "process/target.h"
#include "process/tracer.h"
#include "process/unwind.h"

struct live {
    struct mpiq_target target;
    pid_t pid;
    uint64_t start_time; /* another process with its pid has another one */
    int memory;          /* /proc/PID/mem where process_vm_readv is forbidden, -1 otherwise */
    struct mpiq_modules modules;
    bool modules_read;
    bool modules_doubted; /* the process may have loaded others since */
    struct mpiq_error *modules_error;
    struct mpiq_unwinder *unwinder; /* of modules, made when the first stack is wanted */
    struct mpiq_error *unwinder_error;
    struct mpiq_tracer *tracer;        /* likewise; from the beginning if we stop the process */
    struct mpiq_target_thread *before; /* its threads as they were before we stopped it; else NULL */
    size_t before_count;
    bool frozen; /* when it was read last: held by a control group's freezer, which that file thaws */
    char freezer[512];
    struct mpiq_error *not_frozen; /* why it runs on though it was to be frozen */
    char *environment;
    size_t environment_size;
};

static struct live *live_of(struct mpiq_target *target)
{
    return (struct live *)target;
}

/* The same bytes through /proc/PID/mem: a seccomp filter may forbid the system call and not the file. */
static ssize_t read_file(struct live *live, uint64_t address, size_t size, void *buffer)
{
    if (live->memory < 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", (int)live->pid);
        live->memory = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (live->memory < 0 || address > INT64_MAX)
        return -1;
    return pread(live->memory, buffer, size, (off_t)address);
}

static struct mpiq_error *live_read(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    struct live *live = live_of(target);
    size_t done = 0;
    while (done < size) {
        struct iovec local = {.iov_base = (char *)buffer + done, .iov_len = size - done};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)(address + done), /* NOLINT */
                               .iov_len = size - done};
        ssize_t got = live->memory < 0 ? process_vm_readv(live->pid, &local, 1, &remote, 1, 0)
                                       : read_file(live, address + done, size - done, (char *)buffer + done);
        int errnum = errno;
        if (got < 0 && live->memory < 0 && (errnum == ENOSYS || errnum == EPERM)) {
            got = read_file(live, address + done, size - done, (char *)buffer + done);
            if (got < 0)
                return mpiq_permission_error(live->pid, errnum);
        }
        if (got > 0) {
            done += (size_t)got;
            continue;
        }
        if (got < 0 && errnum == EINTR)
            continue;
        if (got < 0 && errnum == ESRCH)
            return mpiq_permission_error(live->pid, errnum);
        if (got < 0 && errnum != EFAULT && errnum != EIO)
            return mpiq_error_create_os(errnum, "cannot read memory of process %d", (int)live->pid);
        /* An exiting process has no memory left: that is not a wrong address. */
        struct mpiq_error *gone = mpiq_permission_gone(live->pid);
        if (gone)
            return gone;
        return mpiq_error_create_address(done ? MPIQ_ERROR_SHORT : MPIQ_ERROR_UNMAPPED, address + done,
                                         "process %d has no memory at 0x%llx", (int)live->pid,
                                         (unsigned long long)address + done);
    }
    return NULL;
}

static struct mpiq_error *read_modules(struct live *live)
{
    struct mpiq_mappings mappings;
    struct mpiq_error *error = mpiq_proc_mappings(live->pid, &mappings);
    if (error) {
        int errnum = error->errnum == ENOENT ? ESRCH : error->errnum;
        if (!errnum)
            return error;
        mpiq_error_destroy(error);
        return mpiq_permission_error(live->pid, errnum);
    }
    if (!mappings.count) {
        mpiq_mappings_deinit(&mappings);
        struct mpiq_error *gone = mpiq_permission_gone(live->pid);
        return gone ? gone
                    : mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                        "process %d has no memory of its own (a kernel thread)",
                                        (int)live->pid);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)live->pid);
    _cleanup_free_ char *auxv = NULL;
    size_t auxv_size = 0;
    mpiq_error_destroy(mpiq_proc_read(path, &auxv, &auxv_size));
    return mpiq_modules_init(&live->modules, &live->target, live->pid, NULL, &mappings, auxv, auxv_size);
}

static void drop_modules(struct live *live)
{
    mpiq_unwinder_destroy(mpiq_steal(live->unwinder));
    mpiq_error_destroy(mpiq_steal(live->unwinder_error));
    if (live->modules_read && !live->modules_error)
        mpiq_modules_deinit(&live->modules);
    mpiq_error_destroy(mpiq_steal(live->modules_error));
    live->modules_read = false;
    /* After an exec these are another program's. */
    free(mpiq_steal(live->environment));
    if (live->memory >= 0)
        close(live->memory);
    live->memory = -1;
}

/* Whether the pid has gone to another process, or to nobody. */
static bool has_ended(const struct live *live)
{
    struct mpiq_proc_stat stat_line;
    struct mpiq_error *error = mpiq_proc_stat(live->pid, 0, &stat_line);
    mpiq_error_destroy(error);
    return error || stat_line.start_time != live->start_time;
}

static struct mpiq_error *need_modules(struct live *live)
{
    /* A process that waits has loaded nothing: its list of mappings, the dearest thing to read, need not be
       read again. */
    if (live->modules_doubted && live->modules_read &&
        (live->modules_error || has_ended(live) || !mpiq_modules_current(&live->modules)))
        drop_modules(live);
    live->modules_doubted = false;
    if (!live->modules_read) {
        live->modules_read = true;
        live->modules_error = has_ended(live)
                                  ? mpiq_error_create(MPIQ_ERROR_GONE, "process %d has ended", (int)live->pid)
                                  : read_modules(live);
    }
    return live->modules_error ? mpiq_error_copy(live->modules_error) : NULL;
}

static struct mpiq_error *live_modules(struct mpiq_target *target, struct mpiq_modules **ret)
{
    *ret = &live_of(target)->modules;
    return need_modules(live_of(target));
}

/* To the nanosecond where the kernel gives the process's clock, else to a tick. */
static uint64_t cpu_time(pid_t pid, uint64_t ticks_ns)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return ticks_ns;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Whether the process shares that namespace with us ("uts": the host name, "pid"); in a container it may not.
   True also where nobody may know. */
static bool shares(pid_t pid, const char *nspace)
{
    char own_path[64], path[64];
    struct stat own, its;
    snprintf(own_path, sizeof own_path, "/proc/self/ns/%s", nspace);
    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, nspace);
    return stat(own_path, &own) != 0 || stat(path, &its) != 0 || own.st_ino == its.st_ino;
}

/* The state of a thread, or its state before we froze it: our own stop says nothing about the process. */
static char state_of(const struct live *live, pid_t tid, char now)
{
    for (size_t i = 0; now == 't' && i < live->before_count; i++) {
        if (live->before[i].tid == tid)
            return live->before[i].state;
    }
    return now == 't' && live->before ? 'R' : now; /* born since: it was running when it was stopped */
}

/* In what a thread sleeps, or did before we froze it. */
static void add_sleep(const struct live *live, struct mpiq_target_thread *thread)
{
    mpiq_proc_sleep(live->pid, thread);
    for (size_t i = 0; i < live->before_count; i++) {
        if (live->before[i].tid == thread->tid) {
            thread->sleep = live->before[i].sleep;
            thread->system_call = live->before[i].system_call;
            memcpy(thread->file, live->before[i].file, sizeof thread->file);
            thread->lock_holder = live->before[i].lock_holder;
            thread->partner = live->before[i].partner;
            memcpy(thread->partner_name, live->before[i].partner_name, sizeof thread->partner_name);
            thread->partner_state = live->before[i].partner_state;
            thread->futex = live->before[i].futex;
        }
    }
}

/* As mpiq_proc_stat, but a stop by another mpiq is waited out.  If that stop does not end, or returns, it is
   not one of the job's: the thread then counts as running, which proves nothing. */
static struct mpiq_error *stat_of(pid_t pid, pid_t tid, struct mpiq_proc_stat *ret)
{
    enum { TRIES = 3 };
    struct mpiq_error *error = mpiq_proc_stat(pid, tid, ret);
    for (int i = 0; i < TRIES && !error && ret->state == 't'; i++) {
        if (!mpiq_peer_await(tid ? tid : pid))
            return NULL;
        error = mpiq_proc_stat(pid, tid, ret);
    }
    if (!error && ret->state == 't')
        ret->state = 'R';
    return error;
}

/* The words that the process was started with, as far as there is room. */
static void read_command(pid_t pid, char *ret, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    memset(ret, 0, size);
    mpiq_error_destroy(mpiq_proc_read_line(path, ret, size));
    size_t length = size;
    while (length > 0 && !ret[length - 1])
        length--;
    for (size_t i = 0; i < length; i++)
        ret[i] = ret[i] ? ret[i] : ' ';
}

static void name_tracer(pid_t tracer, struct mpiq_target_status *status)
{
    struct mpiq_proc_stat stat_line;
    struct mpiq_error *error = mpiq_proc_stat(tracer, 0, &stat_line);
    status->tracer = tracer;
    if (!error)
        memcpy(status->tracer_name, stat_line.name, sizeof status->tracer_name);
    mpiq_error_destroy(error);
}

struct mpiq_core_end mpiq_target_live_end(pid_t pid)
{
    int status = mpiq_proc_wait_status(pid); /* 0 too where we may not know it */
    struct mpiq_core_end end = {.kind = MPIQ_CORE_END_NONE};
    if (status > 0 && WIFSIGNALED(status))
        end = (struct mpiq_core_end){.kind = MPIQ_CORE_END_SIGNAL, .code = WTERMSIG(status)};
    else if (status > 0 && WIFEXITED(status))
        end = (struct mpiq_core_end){.kind = MPIQ_CORE_END_EXIT, .code = WEXITSTATUS(status)};
    return end;
}

static void find_freezer(struct live *live, char state)
{
    live->frozen = mpiq_freezer_holds(live->pid, state, live->frozen, live->freezer, sizeof live->freezer);
}

static struct mpiq_error *live_status(struct mpiq_target *target, struct mpiq_target_status *ret)
{
    struct live *live = live_of(target);
    struct mpiq_target_status status = {.pid = live->pid, .uid = (uid_t)-1};
    struct mpiq_proc_stat stat_line;
    struct mpiq_error *error = stat_of(live->pid, 0, &stat_line);
    if (error || stat_line.start_time != live->start_time) {
        mpiq_error_destroy(error);
        return mpiq_error_create(MPIQ_ERROR_GONE, "process %d has ended", (int)live->pid);
    }
    status.state = state_of(live, live->pid, stat_line.state);
    if (!live->before)
        find_freezer(live, status.state);
    status.frozen = live->frozen;
    memcpy(status.freezer, live->freezer, sizeof status.freezer);
    if (status.state == 'Z')
        status.end = mpiq_target_live_end(live->pid);
    status.cpu_ns = stat_line.state == 'Z' ? stat_line.cpu_ns : cpu_time(live->pid, stat_line.cpu_ns);
    mpiq_proc_usage(live->pid, &status.children_cpu_ns, &status.io_bytes);
    long numbers[2];
    mpiq_proc_status_numbers(live->pid, (const char *const[]){"TracerPid", "Uid"}, numbers);
    status.traced = !live->before && numbers[0] > 0 && !mpiq_peer_is((pid_t)numbers[0]);
    if (status.traced)
        name_tracer((pid_t)numbers[0], &status);
    if (numbers[1] >= 0)
        status.uid = (uid_t)numbers[1];
    if (shares(live->pid, "uts"))
        gethostname(status.host, sizeof status.host - 1);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)live->pid);
    ssize_t length = readlink(path, status.executable, sizeof status.executable - 1);
    if (length < 0)
        status.executable[0] = '\0';
    read_command(live->pid, status.command, sizeof status.command);
    *ret = status;
    return NULL;
}

static uint64_t thread_time(pid_t pid, pid_t tid, uint64_t ticks_ns)
{
    uint64_t ns = 0;
    return mpiq_proc_thread_time(pid, tid, &ns) ? ns : ticks_ns;
}

static struct mpiq_error *live_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                       size_t *count)
{
    struct live *live = live_of(target);
    _cleanup_free_ pid_t *tids = NULL;
    size_t tid_count = 0, used = 0;
    struct mpiq_error *error = mpiq_proc_threads(live->pid, &tids, &tid_count);
    if (error) {
        struct mpiq_error *gone = mpiq_permission_gone(live->pid);
        if (!gone)
            return error;
        mpiq_error_destroy(error);
        return gone;
    }
    struct mpiq_target_thread *threads = calloc(tid_count + 1, sizeof *threads);
    if (!threads)
        return mpiq_error_no_memory();
    bool ours = shares(live->pid, "pid");
    for (size_t i = 0; i < tid_count; i++) {
        struct mpiq_proc_stat stat_line;
        error = stat_of(live->pid, tids[i], &stat_line);
        if (error) { /* ended since */
            mpiq_error_destroy(error);
            continue;
        }
        struct mpiq_target_thread *thread = &threads[used++];
        thread->tid = tids[i];
        thread->inner = ours ? 0 : mpiq_proc_inner_tid(live->pid, tids[i]);
        thread->state = state_of(live, tids[i], stat_line.state);
        thread->cpu_ns = thread_time(live->pid, tids[i], stat_line.cpu_ns);
        add_sleep(live, thread);
        memcpy(thread->name, stat_line.name, sizeof thread->name);
    }
    *ret = threads;
    *count = used;
    return NULL;
}

static struct mpiq_error *live_environment(struct mpiq_target *target, const char *name, char **ret)
{
    struct live *live = live_of(target);
    if (!live->environment) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/environ", (int)live->pid);
        struct mpiq_error *error = mpiq_proc_read(path, &live->environment, &live->environment_size);
        if (error) {
            int errnum = error->errnum == ENOENT ? ESRCH : error->errnum;
            mpiq_error_destroy(error);
            return mpiq_permission_error(live->pid, errnum);
        }
    }
    size_t length = strlen(name);
    const char *end = live->environment + live->environment_size;
    for (const char *entry = live->environment; entry < end; entry += strlen(entry) + 1) {
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
            char *value = strdup(entry + length + 1);
            if (!value)
                return mpiq_error_no_memory();
            *ret = value;
            return NULL;
        }
    }
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s is not in the environment of process %d", name,
                             (int)live->pid);
}

static struct mpiq_error *need_unwinder(struct live *live)
{
    struct mpiq_error *error = need_modules(live);
    if (!error && !live->unwinder && !live->unwinder_error)
        live->unwinder_error = mpiq_unwinder_create(&live->modules, &live->unwinder);
    if (!error && live->unwinder_error)
        error = mpiq_error_copy(live->unwinder_error);
    return error;
}

/* The whole stack of a thread in a call that a stop would end; false: it has to be stopped. */
static bool sleeper_stack(struct live *live, pid_t tid, struct mpiq_target_stack *ret)
{
    struct mpiq_thread_copy copy;
    struct mpiq_target_stack stack = {0};
    if (live->before ||
        !mpiq_sleeper_copy(live->pid, tid, mpiq_register_layout(live->modules.machine), &copy))
        return false;
    struct mpiq_error *error = mpiq_unwind(live->unwinder, &copy, &stack);
    if (!error && stack.truncated && mpiq_sleeper_add_frame_pointer(&live->modules, &stack, &copy)) {
        mpiq_target_stack_deinit(&stack);
        error = mpiq_unwind(live->unwinder, &copy, &stack);
    }
    mpiq_debug("stop", "thread %d sleeps in a call that a stop may end: its stack is %s", (int)tid,
               error || stack.truncated ? "not known without" : "read as it sleeps");
    mpiq_thread_copy_deinit(&copy);
    bool whole = !error && !stack.truncated;
    mpiq_error_destroy(error);
    if (whole)
        *ret = stack;
    else
        mpiq_target_stack_deinit(&stack);
    return whole;
}

static struct mpiq_error *live_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret)
{
    struct live *live = live_of(target);
    /* Everything is at hand before the thread stops. */
    struct mpiq_error *error = need_unwinder(live);
    if (error || sleeper_stack(live, tid, ret))
        return error;
    if (!live->tracer)
        error = mpiq_tracer_create(live->pid, false, &live->tracer);
    if (error)
        return error;
    struct mpiq_thread_copy copy;
    error = mpiq_tracer_copy(live->tracer, tid, mpiq_register_layout(live->modules.machine), &copy);
    if (error)
        return error;
    error = mpiq_unwind(live->unwinder, &copy, ret);
    mpiq_thread_copy_deinit(&copy);
    return error;
}

static void live_forget(struct mpiq_target *target)
{
    struct live *live = live_of(target);
    live->modules_doubted = true;
    /* Both are made in no time, and a look at many processes has many. */
    mpiq_unwinder_destroy(mpiq_steal(live->unwinder));
    if (!live->before)
        mpiq_tracer_destroy(mpiq_steal(live->tracer));
    free(mpiq_steal(live->environment));
}

static void live_destroy(struct mpiq_target *target)
{
    struct live *live = live_of(target);
    mpiq_tracer_destroy(live->tracer);
    drop_modules(live);
    free(live->before);
    mpiq_error_destroy(live->not_frozen);
    free(live);
}

/* Freezes the process and keeps how its threads did before. */
static struct mpiq_error *freeze(struct live *live)
{
    struct mpiq_target_thread *before = NULL;
    size_t count = 0;
    struct mpiq_error *error = live_threads(&live->target, &before, &count);
    for (size_t i = 0; i < count; i++) {
        if (before[i].tid == live->pid)
            find_freezer(live, before[i].state);
    }
    if (!error)
        error = mpiq_tracer_create(live->pid, true, &live->tracer);
    if (error) {
        free(before);
        return error;
    }
    live->before = before;
    live->before_count = count;
    return NULL;
}

static const struct mpiq_target_ops live_ops = {
    .kind = "live",
    .read = live_read,
    MPIQ_MODULE_SLOTS,
    .modules = live_modules,
    .status = live_status,
    .threads = live_threads,
    .stack = live_stack,
    .environment = live_environment,
    .forget = live_forget,
    .destroy = live_destroy,
};

struct mpiq_error *mpiq_target_live_create(pid_t pid, bool stop, struct mpiq_target **ret)
{
    if (pid <= 0)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "%d is not a process id", (int)pid);
    struct mpiq_proc_stat stat_line;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat_line);
    if (error) {
        mpiq_error_destroy(error);
        return mpiq_error_create(MPIQ_ERROR_GONE, "there is no process %d", (int)pid);
    }
    struct live *live = calloc(1, sizeof *live);
    if (!live)
        return mpiq_error_no_memory();
    live->target.ops = &live_ops;
    live->pid = pid;
    live->memory = -1;
    live->start_time = stat_line.start_time;
    /* One that may not be stopped opens all the same: what fails later says why. */
    if (stop)
        live->not_frozen = freeze(live);
    *ret = &live->target;
    return NULL;
}

const struct mpiq_error *mpiq_target_live_not_frozen(struct mpiq_target *target)
{
    return target->ops == &live_ops ? live_of(target)->not_frozen : NULL;
}
