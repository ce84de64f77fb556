/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "rank/confine.h"
#include "rank/program_path.h"

/* Where a helper expects what it is given; above them nothing stays open. */
enum { WIRE = 3, DLL = 4, FIRST_FREE = 5 };
/* Helpers that one broker has at a time: a thread of the reader has one. */
enum { HELPERS_MAX = 64 };

/* ---- a process -------------------------------------------------------------------------------------- */

struct words {
    char memory[32];
    char parent[32];
    char user[64];
    char *arguments[8];
};

static void make_words(struct words *words, uint64_t memory, const struct mpiq_helper_user *user)
{
    snprintf(words->memory, sizeof words->memory, "%llu", (unsigned long long)memory);
    snprintf(words->parent, sizeof words->parent, "%d", (int)getpid());
    snprintf(words->user, sizeof words->user, "%u:%u", (unsigned)user->user, (unsigned)user->group);
    char *const all[] = {(char *)"mpiq-dll-host",
                         (char *)"--memory",
                         words->memory,
                         (char *)"--parent",
                         words->parent,
                         user->become ? (char *)"--user" : NULL,
                         words->user,
                         NULL};
    memcpy(words->arguments, all, sizeof all);
}

/* In the child.  Only calls that a child of a process with threads may make. */
static _Noreturn void execute(int executable, int wire, int dll, char **arguments, char **environment)
{
    sigset_t none;
    int moved_wire = fcntl(wire, F_DUPFD_CLOEXEC, FIRST_FREE);
    int moved_dll = fcntl(dll, F_DUPFD_CLOEXEC, FIRST_FREE);
    int moved_executable = fcntl(executable, F_DUPFD_CLOEXEC, FIRST_FREE);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid(); /* ^C and the terminal are mpiq's */
    if (moved_wire >= 0 && moved_dll >= 0 && moved_executable >= 0 && dup2(moved_wire, WIRE) == WIRE &&
        dup2(moved_dll, DLL) == DLL) {
        syscall(SYS_close_range, (unsigned)FIRST_FREE, UINT_MAX, 4u /* CLOSE_RANGE_CLOEXEC */);
        syscall(SYS_execveat, moved_executable, "", arguments, environment, AT_EMPTY_PATH);
    }
    _exit(127);
}

static struct mpiq_error *start(int executable, int dll, uint64_t memory, const struct mpiq_helper_user *user,
                                pid_t *pid, int *ret)
{
    struct words words;
    int sockets[2];
    _cleanup_free_ char **environment = mpiq_confine_environment(NULL);
    if (!environment)
        return mpiq_error_no_memory();
    make_words(&words, memory, user);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
        return mpiq_error_create_os(errno, "cannot make a connection to a helper");
    pid_t child = fork();
    if (child == 0)
        execute(executable, sockets[1], dll, words.arguments, environment);
    int errnum = errno;
    close(sockets[1]);
    if (child < 0) {
        close(sockets[0]);
        return mpiq_error_create_os(errnum, "cannot start a helper");
    }
    *pid = child;
    *ret = sockets[0];
    return NULL;
}

static int stop(pid_t pid)
{
    int status = -1;
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
    }
    return status;
}

static bool has_ended(pid_t pid, int *status)
{
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended < 0 && errno != EINTR)
        *status = -1;
    return ended == pid || (ended < 0 && errno != EINTR);
}

/* ---- the broker's side ------------------------------------------------------------------------------ */

enum what { START, STOP, ENDED, ALARM };

struct request {
    enum what what;
    pid_t pid;
    uint64_t memory;
};

struct reply {
    int errnum;
    pid_t pid;
    int status;
    bool ended;
};

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* With a descriptor, if fd is one. */
static bool send_with(int socket, const void *bytes, size_t size, int fd)
{
    union control control = {.bytes = {0}};
    struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size}; /* NOLINT */
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ssize_t sent;
    while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        continue;
    return sent == (ssize_t)size;
}

/* *fd is -1 if none came. */
static bool receive_with(int socket, void *bytes, size_t size, int *fd)
{
    union control control = {.bytes = {0}};
    struct iovec data = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
    ssize_t got;
    *fd = -1;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(header), sizeof *fd);
    return got == (ssize_t)size;
}

struct broker {
    int socket;
    int executable;
    pid_t helpers[HELPERS_MAX]; /* 0: free */
};

static pid_t *find_helper(struct broker *broker, pid_t pid)
{
    for (size_t i = 0; i < HELPERS_MAX; i++) {
        if (broker->helpers[i] == pid)
            return &broker->helpers[i];
    }
    return NULL;
}

static void serve_start(struct broker *broker, const struct request *request, int dll, struct reply *reply,
                        int *socket)
{
    static const struct mpiq_helper_user same = {.become = false};
    pid_t *place = find_helper(broker, 0);
    reply->errnum = EAGAIN;
    if (!place || dll < 0)
        return;
    struct mpiq_error *error = start(broker->executable, dll, request->memory, &same, &reply->pid, socket);
    reply->errnum = error ? (error->errnum ? error->errnum : ENOMEM) : 0;
    mpiq_error_destroy(error);
    if (!reply->errnum)
        *place = reply->pid;
}

/* Of a helper that it has started, and no other process. */
static void serve_helper(struct broker *broker, const struct request *request, struct reply *reply)
{
    pid_t *helper = request->pid > 0 ? find_helper(broker, request->pid) : NULL;
    reply->status = -1;
    reply->errnum = helper ? 0 : ESRCH;
    reply->ended = !helper;
    if (helper && request->what == STOP)
        reply->status = stop(request->pid);
    if (helper && request->what == ENDED)
        reply->ended = has_ended(request->pid, &reply->status);
    if (helper && request->what == ALARM)
        kill(request->pid, SIGALRM);
    if (helper && (request->what == STOP || reply->ended))
        *helper = 0;
}

static _Noreturn void serve(int socket, int executable)
{
    struct broker broker = {.socket = socket, .executable = executable};
    struct request request;
    int dll = -1;
    prctl(PR_SET_NAME, "mpiq-broker");
    while (receive_with(socket, &request, sizeof request, &dll)) {
        struct reply reply = {0};
        int wire = -1;
        if (request.what == START)
            serve_start(&broker, &request, dll, &reply, &wire);
        else
            serve_helper(&broker, &request, &reply);
        bool sent = send_with(socket, &reply, sizeof reply, wire);
        if (wire >= 0)
            close(wire);
        if (dll >= 0)
            close(dll);
        if (!sent)
            break;
    }
    /* They would end with us, but then somebody else has to collect them. */
    for (size_t i = 0; i < HELPERS_MAX; i++) {
        if (broker.helpers[i] > 0)
            stop(broker.helpers[i]);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the reader's side ------------------------------------------------------------------------------ */

static int broker_socket = -1;
static pid_t broker_pid;
static pthread_mutex_t broker_lock = PTHREAD_MUTEX_INITIALIZER;

bool mpiq_helper_use_broker(int executable)
{
    int sockets[2];
    pid_t reader = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != reader)
            _exit(EXIT_FAILURE);
        dup2(sockets[1], WIRE); /* the reader's own wire is not the broker's */
        dup2(executable, DLL);
        close_range(FIRST_FREE, UINT_MAX, 0);
        fcntl(WIRE, F_SETFD, FD_CLOEXEC);
        fcntl(DLL, F_SETFD, FD_CLOEXEC);
        serve(WIRE, DLL);
    }
    close(sockets[1]);
    if (child < 0) {
        close(sockets[0]);
        return false;
    }
    broker_socket = sockets[0];
    broker_pid = child;
    return true;
}

void mpiq_helper_end_broker(void)
{
    pthread_mutex_lock(&broker_lock); /* for good */
    close(broker_socket);
    while (waitpid(broker_pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* *fd: the one to send, and then the one that came. */
static bool ask_broker(const struct request *request, struct reply *reply, int *fd)
{
    pthread_mutex_lock(&broker_lock);
    bool good = send_with(broker_socket, request, sizeof *request, *fd) &&
                receive_with(broker_socket, reply, sizeof *reply, fd);
    pthread_mutex_unlock(&broker_lock);
    return good;
}

static struct mpiq_error *start_by_broker(int dll, uint64_t memory, pid_t *pid, int *socket)
{
    struct reply reply = {0};
    int fd = dll;
    if (!ask_broker(&(struct request){.what = START, .memory = memory}, &reply, &fd))
        return mpiq_error_create(MPIQ_ERROR_INTERNAL, "the process that starts helpers has ended");
    if (reply.errnum || fd < 0)
        return mpiq_error_create_os(reply.errnum ? reply.errnum : EIO, "cannot start a helper");
    *pid = reply.pid;
    *socket = fd;
    return NULL;
}

static struct mpiq_error *start_ourselves(int dll, uint64_t memory, const struct mpiq_helper_user *user,
                                          pid_t *pid, int *socket)
{
    _cleanup_free_ char *path = NULL;
    struct mpiq_error *error =
        mpiq_program_path("MPIQ_DLL_HOST", "mpiq-dll-host", MPIQ_LIBEXEC, "lib/rank", &path);
    if (error)
        return error;
    _cleanup_close_ int executable = open(path, O_PATH | O_CLOEXEC);
    if (executable < 0)
        return mpiq_error_create_os(errno, "cannot start %s", path);
    return start(executable, dll, memory, user, pid, socket);
}

struct mpiq_error *mpiq_helper_start(int dll, uint64_t memory, const struct mpiq_helper_user *user,
                                     pid_t *pid, int *socket)
{
    struct mpiq_error *error = broker_socket >= 0 ? start_by_broker(dll, memory, pid, socket)
                                                  : start_ourselves(dll, memory, user, pid, socket);
    if (!error)
        mpiq_debug("rank", "started a helper as process %d", (int)*pid);
    return error;
}

int mpiq_helper_stop(pid_t pid)
{
    struct reply reply = {0};
    int none = -1;
    if (broker_socket < 0)
        return stop(pid);
    return ask_broker(&(struct request){.what = STOP, .pid = pid}, &reply, &none) ? reply.status : -1;
}

bool mpiq_helper_ended(pid_t pid, int *status)
{
    struct reply reply = {0};
    int none = -1;
    if (broker_socket < 0)
        return has_ended(pid, status);
    if (!ask_broker(&(struct request){.what = ENDED, .pid = pid}, &reply, &none))
        return false;
    *status = reply.status;
    return reply.ended;
}

int64_t mpiq_helper_processor_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
        return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void mpiq_helper_alarm(pid_t pid)
{
    struct reply reply = {0};
    int none = -1;
    if (broker_socket < 0)
        kill(pid, SIGALRM);
    else
        ask_broker(&(struct request){.what = ALARM, .pid = pid}, &reply, &none);
}
