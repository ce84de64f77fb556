/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "process/peer.h"
#include "process/permission.h"
#include "base/proc.h"

/* How long a thread may take to stop.  On a machine with many more busy ranks than cores it first has to get
   its turn; one in uninterruptible sleep never does. */
static const uint64_t stop_limit_ns = 1000000000u;
/* Much longer, if that is what it waits for. */
static const uint64_t starved_limit_ns = 10000000000u;
/* How often the list of threads is read again until nobody new is on it. */
enum { FREEZE_ROUNDS = 100, SEIZE_TRIES = 5 };

struct stopped {
    pid_t tid;
    bool is_stopped; /* false: it will, before it runs again */
    int signal;      /* that was about to be delivered, or 0 */
};

enum request { NOTHING, COPY, END };

struct mpiq_tracer {
    pid_t pid;
    bool freeze;
    pthread_t thread;
    bool started; /* thread is to be joined */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under lock: the request and its answer. */
    enum request request;
    bool ready; /* the thread has begun, and frozen what it was to freeze */
    bool ended; /* the thread is about to end by itself: a thread of the process did not stop */
    struct mpiq_error *error;
    pid_t tid;
    const struct mpiq_register_layout *layout;
    struct mpiq_thread_copy *copy;
    /* The thread's own. */
    struct stopped *frozen;
    size_t frozen_count, frozen_capacity;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* One look at whether the thread has stopped.  *gone: it has ended instead. */
static bool look(pid_t tid, struct stopped *ret, bool *gone)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) {
        *gone = errno != EINTR;
        return false;
    }
    if (info.si_pid == 0)
        return false;
    if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED) {
        *gone = true;
        return false;
    }
    /* The signal, with the ptrace event above it.  Without an event a signal is about to be delivered. */
    ret->is_stopped = true;
    ret->signal = info.si_status >> 8 ? 0 : info.si_status;
    return true;
}

static bool wants_processor(pid_t pid, pid_t tid)
{
    struct mpiq_proc_stat stat = {0};
    struct mpiq_error *error = mpiq_proc_stat(pid, tid, &stat);
    bool wants = !error && stat.state == 'R';
    mpiq_error_destroy(error);
    return wants;
}

/* Waits for a thread that was told to stop.  False: it has ended, or (*late) takes too long.  A running
   thread stops within microseconds; one that waits for a processor takes until it gets one.  We sleep
   between checks instead of yielding, which would only put us at the end of the same queue. */
static bool await(pid_t pid, pid_t tid, uint64_t deadline, struct stopped *ret, bool *late)
{
    bool gone = false;
    uint64_t start = now();
    long pause_ns = 5000;
    *late = false;
    for (;;) {
        if (look(tid, ret, &gone))
            return true;
        if (gone)
            return false;
        uint64_t time = now();
        if (time > deadline && (time > deadline + starved_limit_ns || !wants_processor(pid, tid))) {
            *late = true;
            return false;
        }
        if (time - start < 10000)
            continue;
        struct timespec pause = {.tv_nsec = pause_ns};
        nanosleep(&pause, NULL);
        if (pause_ns < 200000)
            pause_ns *= 2;
    }
}

static void release(const struct stopped *stopped)
{
    ptrace(PTRACE_DETACH, stopped->tid, NULL, (void *)(intptr_t)stopped->signal); /* NOLINT */
}

/* A thread that ended while we traced it waits for us to take notice; not so our own child, which is somebody
   else's to collect. */
static void collect(pid_t pid, pid_t tid)
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat);
    if (!error && (tid != pid || stat.parent != getpid()))
        waitpid(tid, NULL, __WALL | WNOHANG);
    mpiq_error_destroy(error);
}

static struct mpiq_error *sleeps(pid_t pid, pid_t tid)
{
    return mpiq_error_create(
        MPIQ_ERROR_TIMEOUT,
        "thread %d of process %d does not stop: no processor is free for it, or it is in uninterruptible "
        "sleep (a file system or device that does not answer, or the freezer of a control group)",
        (int)tid, (int)pid);
}

static struct mpiq_error *asleep(pid_t pid, pid_t tid)
{
    return mpiq_error_create(
        MPIQ_ERROR_UNSUPPORTED,
        "thread %d of process %d is in uninterruptible sleep (a file system or device that "
        "does not answer, or the freezer of a control group): its stack cannot be copied",
        (int)tid, (int)pid);
}

static struct mpiq_error *gone(pid_t pid, pid_t tid)
{
    struct mpiq_error *error = mpiq_permission_gone(pid);
    return error
               ? error
               : mpiq_error_create(MPIQ_ERROR_GONE, "thread %d of process %d has ended", (int)tid, (int)pid);
}

/* Registers and stack of a thread that stands still. */
static struct mpiq_error *copy_stopped(const struct mpiq_tracer *tracer)
{
    struct mpiq_thread_copy *copy = tracer->copy;
    struct iovec set = {.iov_base = copy->registers.bytes, .iov_len = sizeof copy->registers.bytes};
    if (ptrace(PTRACE_GETREGSET, tracer->tid, (void *)NT_PRSTATUS, &set) != 0)
        return mpiq_error_create_os(errno, "cannot read the registers of thread %d", (int)tracer->tid);
    copy->tid = tracer->tid;
    copy->registers.size = set.iov_len;
    struct mpiq_words words = {.size = tracer->layout->word_size};
    copy->stack_start = mpiq_register_at(&copy->registers, &words, tracer->layout->sp);
    struct iovec local = {.iov_base = copy->stack, .iov_len = MPIQ_STACK_COPY};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)copy->stack_start, /* NOLINT */
                           .iov_len = MPIQ_STACK_COPY};
    ssize_t got = process_vm_readv(tracer->pid, &local, 1, &remote, 1, 0);
    if (got < 0 && copy->stack_start <= INT64_MAX) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", (int)tracer->pid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? -1 : pread(fd, copy->stack, MPIQ_STACK_COPY, (off_t)copy->stack_start);
    }
    copy->stack_size = got > 0 ? (size_t)got : 0;
    return NULL;
}

static struct stopped *find_frozen(const struct mpiq_tracer *tracer, pid_t tid)
{
    for (size_t i = 0; i < tracer->frozen_count; i++) {
        if (tracer->frozen[i].tid == tid)
            return &tracer->frozen[i];
    }
    return NULL;
}

/* As ptrace's SEIZE; another mpiq that has the thread is waited out. */
static bool seize(pid_t tid)
{
    for (int tries = 0;; tries++) {
        if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
            return true;
        int errnum = errno;
        bool again = errnum == EPERM && tries < SEIZE_TRIES && mpiq_peer_await(tid);
        errno = errnum;
        if (!again)
            return false;
    }
}

/* Stops a thread, copies, lets it run.  *late: it did not stop, and only our end makes the kernel forget it.
 */
static struct mpiq_error *copy_running(const struct mpiq_tracer *tracer, bool *late)
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = mpiq_proc_stat(tracer->pid, tracer->tid, &stat);
    if (error || stat.state == 'Z' || stat.state == 'X') {
        mpiq_error_destroy(error);
        return gone(tracer->pid, tracer->tid);
    }
    if (stat.state == 'D')
        return asleep(tracer->pid, tracer->tid);
    if (!seize(tracer->tid))
        return mpiq_permission_trace_error(tracer->pid, tracer->tid, errno);
    struct stopped stopped = {.tid = tracer->tid};
    uint64_t start = now();
    if (ptrace(PTRACE_INTERRUPT, tracer->tid, NULL, NULL) != 0 ||
        !await(tracer->pid, tracer->tid, start + stop_limit_ns, &stopped, late)) {
        if (*late)
            return sleeps(tracer->pid, tracer->tid);
        collect(tracer->pid, tracer->tid);
        return gone(tracer->pid, tracer->tid);
    }
    uint64_t seen = now();
    error = copy_stopped(tracer);
    release(&stopped);
    uint64_t end = now();
    mpiq_debug("stop", "thread %d stood still for %llu us, at most %llu", (int)tracer->tid,
               (unsigned long long)(end - seen) / 1000, (unsigned long long)(end - start) / 1000);
    return error;
}

static struct mpiq_error *why_not(pid_t pid, pid_t tid)
{
    struct mpiq_proc_stat stat = {0};
    struct mpiq_error *error = mpiq_proc_stat(pid, tid, &stat);
    bool known = !error;
    mpiq_error_destroy(error);
    return known && stat.state == 'D' ? asleep(pid, tid) : sleeps(pid, tid);
}

static struct mpiq_error *copy_frozen(const struct mpiq_tracer *tracer)
{
    struct stopped *stopped = find_frozen(tracer, tracer->tid);
    bool ended = false;
    if (!stopped || (!stopped->is_stopped && !look(tracer->tid, stopped, &ended)))
        return ended || !stopped ? gone(tracer->pid, tracer->tid) : why_not(tracer->pid, tracer->tid);
    return copy_stopped(tracer);
}

/* Seizes and interrupts those that are not yet.  Returns how many were new, -1 on an error. */
static ssize_t freeze_round(struct mpiq_tracer *tracer, struct mpiq_error **error)
{
    _cleanup_free_ pid_t *tids = NULL;
    size_t count = 0;
    ssize_t fresh = 0;
    *error = mpiq_proc_threads(tracer->pid, &tids, &count);
    for (size_t i = 0; i < count && !*error; i++) {
        if (find_frozen(tracer, tids[i]))
            continue;
        if (tracer->frozen_count == tracer->frozen_capacity) {
            size_t capacity = tracer->frozen_capacity ? tracer->frozen_capacity * 2 : 16;
            struct stopped *larger = realloc(tracer->frozen, capacity * sizeof *larger);
            if (!larger) {
                *error = mpiq_error_no_memory();
                break;
            }
            tracer->frozen = larger;
            tracer->frozen_capacity = capacity;
        }
        if (!seize(tids[i])) {
            if (errno != ESRCH) /* a thread that ended meanwhile is nobody's concern */
                *error = mpiq_permission_trace_error(tracer->pid, tids[i], errno);
            continue;
        }
        ptrace(PTRACE_INTERRUPT, tids[i], NULL, NULL);
        tracer->frozen[tracer->frozen_count++] = (struct stopped){.tid = tids[i]};
        fresh++;
    }
    return *error ? -1 : fresh;
}

static struct mpiq_error *freeze(struct mpiq_tracer *tracer)
{
    struct mpiq_error *error = NULL;
    size_t awaited = 0;
    uint64_t deadline = now() + stop_limit_ns;
    for (int round = 0; round < FREEZE_ROUNDS; round++) {
        ssize_t fresh = freeze_round(tracer, &error);
        if (fresh <= 0)
            break;
        /* Only a thread that runs can give birth: wait for these before the list is read again. */
        for (; awaited < tracer->frozen_count; awaited++) {
            bool late;
            await(tracer->pid, tracer->frozen[awaited].tid, deadline, &tracer->frozen[awaited], &late);
        }
    }
    return error;
}

static void thaw(struct mpiq_tracer *tracer)
{
    for (size_t i = 0; i < tracer->frozen_count; i++) {
        struct stopped *stopped = &tracer->frozen[i];
        bool ended = false;
        if (stopped->is_stopped || look(stopped->tid, stopped, &ended))
            release(stopped);
        else if (ended)
            collect(tracer->pid, stopped->tid);
    }
    tracer->frozen_count = 0;
}

static void *serve(void *argument)
{
    struct mpiq_tracer *tracer = argument;
    prctl(PR_SET_TIMERSLACK, 1000); /* short sleeps are to be short */
    struct mpiq_error *error = tracer->freeze ? freeze(tracer) : NULL;
    pthread_mutex_lock(&tracer->lock);
    tracer->error = error;
    tracer->ready = true;
    pthread_cond_broadcast(&tracer->changed);
    while (!tracer->ended) {
        while (tracer->request == NOTHING)
            pthread_cond_wait(&tracer->changed, &tracer->lock);
        if (tracer->request == END)
            break;
        bool late = false;
        tracer->error = tracer->freeze ? copy_frozen(tracer) : copy_running(tracer, &late);
        tracer->ended = late;
        tracer->request = NOTHING;
        pthread_cond_broadcast(&tracer->changed);
    }
    thaw(tracer);
    pthread_mutex_unlock(&tracer->lock);
    return NULL;
}

/* The thread takes no signal: the program's handlers run where they always did. */
static int start(struct mpiq_tracer *tracer)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&tracer->thread, NULL, serve, tracer);
    tracer->started = result == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

struct mpiq_error *mpiq_tracer_create(pid_t pid, bool freeze_all, struct mpiq_tracer **ret)
{
    struct mpiq_tracer *tracer = calloc(1, sizeof *tracer);
    if (!tracer)
        return mpiq_error_no_memory();
    tracer->pid = pid;
    tracer->freeze = freeze_all;
    pthread_mutex_init(&tracer->lock, NULL);
    pthread_cond_init(&tracer->changed, NULL);
    int errnum = start(tracer);
    if (errnum) {
        free(tracer);
        return mpiq_error_create_os(errnum, "cannot start a thread");
    }
    pthread_mutex_lock(&tracer->lock);
    while (!tracer->ready)
        pthread_cond_wait(&tracer->changed, &tracer->lock);
    struct mpiq_error *error = mpiq_steal(tracer->error);
    pthread_mutex_unlock(&tracer->lock);
    if (error) {
        mpiq_tracer_destroy(tracer);
        return error;
    }
    *ret = tracer;
    return NULL;
}

struct mpiq_error *mpiq_tracer_copy(struct mpiq_tracer *tracer, pid_t tid,
                                    const struct mpiq_register_layout *layout, struct mpiq_thread_copy *ret)
{
    /* Room is made, and its pages, before anything stops. */
    struct mpiq_thread_copy copy = {.stack = malloc(MPIQ_STACK_COPY)};
    if (!copy.stack)
        return mpiq_error_no_memory();
    pthread_mutex_lock(&tracer->lock);
    struct mpiq_error *error = NULL;
    if (tracer->ended) {
        /* A thread that did not stop has cost us the tracer: once more with a new one. */
        pthread_mutex_unlock(&tracer->lock);
        if (tracer->started)
            pthread_join(tracer->thread, NULL);
        tracer->ended = false;
        int errnum = start(tracer);
        pthread_mutex_lock(&tracer->lock);
        tracer->ended = errnum != 0;
        if (errnum)
            error = mpiq_error_create_os(errnum, "cannot start a thread");
    }
    if (!error) {
        tracer->tid = tid;
        tracer->layout = layout;
        tracer->copy = &copy;
        tracer->request = COPY;
        pthread_cond_broadcast(&tracer->changed);
        while (tracer->request != NOTHING)
            pthread_cond_wait(&tracer->changed, &tracer->lock);
        tracer->copy = NULL;
        error = mpiq_steal(tracer->error);
    }
    pthread_mutex_unlock(&tracer->lock);
    if (error) {
        mpiq_thread_copy_deinit(&copy);
        return error;
    }
    *ret = copy;
    return NULL;
}

void mpiq_tracer_destroy(struct mpiq_tracer *tracer)
{
    if (!tracer)
        return;
    pthread_mutex_lock(&tracer->lock);
    tracer->request = END;
    pthread_cond_broadcast(&tracer->changed);
    pthread_mutex_unlock(&tracer->lock);
    if (tracer->started)
        pthread_join(tracer->thread, NULL);
    pthread_cond_destroy(&tracer->changed);
    pthread_mutex_destroy(&tracer->lock);
    mpiq_error_destroy(tracer->error);
    free(tracer->frozen);
    free(tracer);
}
