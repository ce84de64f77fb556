/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/reader_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "rank/confine.h"
#include "rank/program_path.h"
#include "rank/trust.h"
#include "base/proc.h"

/* Address space of a reader: what it maps of objects and debug files counts. */
#define MEMORY ((uint64_t)8 << 30)
/* For a reader to end its helpers. */
enum { END_MS = 500 };
/* Of a rank's state as text: a quarter of a million operations fit. */
#define ANSWER_MAX ((size_t)128 << 20)
#define SEND_NS ((int64_t)5 * 1000 * 1000 * 1000)

/* ---- whose it is ------------------------------------------------------------------------------------ */

static bool read_yama(void)
{
    char text[16] = "0";
    mpiq_error_destroy(mpiq_proc_read_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text));
    return text[0] != '0';
}

static bool yama_forbids(void)
{
    static atomic_int known; /* 0: not known yet */
    if (!known)
        known = 1 + read_yama();
    return known == 2;
}

static bool in_our_user_namespace(pid_t pid)
{
    char path[64];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    return stat("/proc/self/ns/user", &ours) < 0 ||
           (stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

struct mpiq_owner mpiq_owner_of(const struct mpiq_look_source *source)
{
    struct mpiq_owner owner = {.become = false};
    long ids[2] = {-1, -1};
    struct stat file;
    if (geteuid() != 0)
        return owner;
    if (source->path && stat(source->path, &file) == 0) {
        ids[0] = file.st_uid;
        ids[1] = file.st_gid;
    } else if (!source->path) {
        mpiq_proc_status_numbers(source->pid, (const char *const[]){"Uid", "Gid"}, ids);
        owner.keep_trace = yama_forbids() || !in_our_user_namespace(source->pid);
    }
    owner.become = ids[0] > 0 && ids[1] >= 0;
    owner.user = owner.become ? (uid_t)ids[0] : 0;
    owner.group = owner.become ? (gid_t)ids[1] : 0;
    owner.keep_trace = owner.keep_trace && owner.become;
    return owner;
}

bool mpiq_owner_equal(const struct mpiq_owner *a, const struct mpiq_owner *b)
{
    return a->become == b->become && a->keep_trace == b->keep_trace && a->user == b->user &&
           a->group == b->group;
}

/* ---- starting and ending ---------------------------------------------------------------------------- */

/* What a reader is given, opened with our own rights: it may have too few to find them. */
struct gifts {
    int wire;
    int helper;
    int dll; /* -1: none */
    char *dll_path;
    int recorder; /* the DLL for processes under the recorder; -1: none */
    char *recorder_path;
};

static void gifts_deinit(struct gifts *gifts)
{
    for (int *fd = (int[]){gifts->wire, gifts->helper, gifts->dll, gifts->recorder, -2}; *fd != -2; fd++) {
        if (*fd >= 0)
            close(*fd);
    }
    free(gifts->dll_path);
    free(gifts->recorder_path);
}

/* Away from where the reader expects them, so that none is overwritten by another. */
static int move_up(int fd)
{
    enum { FIRST_FREE = 7 };
    int moved = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE) : -1;
    if (fd >= 0)
        close(fd);
    return moved;
}

static struct mpiq_error *open_dll(const char *asked, struct gifts *gifts)
{
    struct mpiq_error *error = NULL;
    if (asked) {
        gifts->dll_path = realpath(asked, NULL);
        if (!gifts->dll_path)
            return mpiq_error_create_os(errno, "the message-queue library %s", asked);
    } else {
        error = mpiq_program_path("MPIQ_MQS_DLL", "libompi_dbg_msgq.so", MPIQ_LIB, "mqs", &gifts->dll_path);
    }
    if (!error)
        error = mpiq_trust_open(gifts->dll_path, false, &gifts->dll);
    if (asked || !error)
        return error;
    mpiq_error_destroy(error); /* without our own, what a process announces will have to do */
    return NULL;
}

/* Without it, a process under the recorder is read as any other. */
static void open_recorder_dll(struct gifts *gifts)
{
    struct mpiq_error *error = mpiq_program_path("MPIQ_RECORD_DLL", "libmpiq_record_msgq.so", MPIQ_LIB, "mqs",
                                                 &gifts->recorder_path);
    if (!error)
        error = mpiq_trust_open(gifts->recorder_path, false, &gifts->recorder);
    mpiq_error_destroy(error);
}

static struct mpiq_error *open_gifts(const char *dll, struct gifts *gifts)
{
    _cleanup_free_ char *helper = NULL;
    struct mpiq_error *error = open_dll(dll, gifts);
    if (!error)
        error = mpiq_program_path("MPIQ_DLL_HOST", "mpiq-dll-host", MPIQ_LIBEXEC, "lib/rank", &helper);
    if (error)
        return error;
    gifts->helper = move_up(open(helper, O_PATH | O_CLOEXEC));
    if (!dll)
        open_recorder_dll(gifts);
    gifts->dll = move_up(gifts->dll);
    gifts->recorder = move_up(gifts->recorder);
    gifts->wire = move_up(gifts->wire);
    return gifts->helper < 0 || gifts->wire < 0 ? mpiq_error_create_os(errno, "cannot open %s", helper)
                                                : NULL;
}

/* Where the objects of core files may be opened (target/object_dirs.h): said here, as a reader has neither
   the user's home nor directory.  NULL on allocation failure: system directories alone. */
static char *object_dirs(void)
{
    char here[PATH_MAX], *variable = NULL;
    const char *listed = getenv("MPIQ_OBJECT_DIRS"), *home = getenv("HOME");
    int length = listed ? asprintf(&variable, "MPIQ_OBJECT_DIRS=%s", listed)
                        : asprintf(&variable, "MPIQ_OBJECT_DIRS=%s:%s", home ? home : "",
                                   getcwd(here, sizeof here) ? here : "");
    return length < 0 ? NULL : variable;
}

static int spawn(const char *path, char **arguments, const struct gifts *gifts, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t ordinary;

    _cleanup_free_ char *objects = object_dirs();
    _cleanup_free_ char **environment = mpiq_confine_environment(objects);
    if (!environment)
        return ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, gifts->wire, 3);
    posix_spawn_file_actions_adddup2(&actions, gifts->helper, 4);
    if (gifts->dll >= 0)
        posix_spawn_file_actions_adddup2(&actions, gifts->dll, 5);
    else
        posix_spawn_file_actions_addclose(&actions, 5);
    if (gifts->recorder >= 0)
        posix_spawn_file_actions_adddup2(&actions, gifts->recorder, 6);
    posix_spawn_file_actions_addclosefrom_np(&actions, gifts->recorder >= 0 ? 7 : 6);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&ordinary);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &ordinary);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    int errnum = posix_spawn(ret, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return errnum;
}

static struct mpiq_error *spawn_reader(const struct mpiq_reader_start *start, const struct gifts *gifts,
                                       pid_t *ret)
{
    _cleanup_free_ char *path = NULL;
    char memory[32], parent[32], threads[32], sources[32], user[64];
    struct mpiq_error *error =
        start->trace
            ? mpiq_program_path("MPIQ_TRACE_READER", "mpiq-trace-reader", MPIQ_LIBEXEC, "lib/trace", &path)
            : mpiq_program_path("MPIQ_READER", "mpiq-reader", MPIQ_LIBEXEC, "lib/rank", &path);
    if (error)
        return error;
    snprintf(memory, sizeof memory, "%" PRIu64, MEMORY);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    snprintf(threads, sizeof threads, "%zu", start->threads);
    snprintf(sources, sizeof sources, "%zu", start->sources);
    snprintf(user, sizeof user, "%u:%u", (unsigned)start->owner.user, (unsigned)start->owner.group);
    char *words[20] = {path,    (char *)"--memory",  memory, (char *)"--parent", parent, (char *)"--threads",
                       threads, (char *)"--sources", sources};
    size_t count = 9;
    if (start->owner.become) {
        words[count++] = (char *)"--user";
        words[count++] = user;
        words[count++] = (char *)"--keep-trace";
        words[count++] = start->owner.keep_trace ? (char *)"1" : (char *)"0";
    }
    if (gifts->dll >= 0) {
        words[count++] = start->dll ? (char *)"--dll" : (char *)"--our-dll";
        words[count++] = gifts->dll_path;
    }
    if (gifts->recorder >= 0) {
        words[count++] = (char *)"--recorder-dll";
        words[count++] = gifts->recorder_path;
    }
    words[count] = NULL;
    int errnum = spawn(path, words, gifts, ret);
    return errnum ? mpiq_error_create_os(errnum, "cannot start %s", path) : NULL;
}

struct mpiq_error *mpiq_reader_process_start(const struct mpiq_reader_start *start,
                                             struct mpiq_reader_process *ret)
{
    struct gifts gifts = {.wire = -1, .helper = -1, .dll = -1, .recorder = -1};
    pid_t pid = 0;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
        return mpiq_error_create_os(errno, "cannot make a connection to a reader");
    gifts.wire = sockets[1];
    struct mpiq_error *error = open_gifts(start->dll, &gifts);
    if (!error)
        error = spawn_reader(start, &gifts, &pid);
    gifts_deinit(&gifts);
    if (error) {
        close(sockets[0]);
        return error;
    }
    mpiq_debug("look", "started a reader as process %d", (int)pid);
    fcntl(sockets[0], F_SETFL, O_NONBLOCK);
    *ret = (struct mpiq_reader_process){.pid = pid, .socket = sockets[0]};
    mpiq_pipe_init(&ret->pipe, ret->socket, ret->socket);
    ret->pipe.patient = true;
    ret->pipe.limit = ANSWER_MAX;
    return NULL;
}

static void forget(struct mpiq_reader_process *process)
{
    if (process->socket >= 0)
        close(process->socket);
    mpiq_pipe_deinit(&process->pipe);
    *process = (struct mpiq_reader_process){.socket = -1};
}

void mpiq_reader_process_kill(struct mpiq_reader_process *process)
{
    if (process->pid <= 0)
        return;
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    forget(process);
}

void mpiq_reader_process_end(struct mpiq_reader_process *process)
{
    if (process->pid <= 0)
        return;
    shutdown(process->socket, SHUT_RDWR);
    for (int i = 0; i < END_MS; i++) {
        if (waitpid(process->pid, NULL, WNOHANG) == process->pid) {
            forget(process);
            return;
        }
        usleep(1000);
    }
    mpiq_reader_process_kill(process);
}

/* ---- talking ---------------------------------------------------------------------------------------- */

struct mpiq_error *mpiq_reader_process_request(struct mpiq_reader_process *process, uint64_t number,
                                               const struct mpiq_look_source *source, size_t index, int look,
                                               bool stop, enum mpiq_stacks stacks, const char *question)
{
    _cleanup_free_ char *line = NULL;
    char pid[16];
    if (source->path && strchr(source->path, '\n'))
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a file whose name contains a line break is not read");
    snprintf(pid, sizeof pid, "%d", (int)source->pid);
    int length = asprintf(&line, "%s%s%sread %" PRIu64 " %zu %d %d %d %s %s\n", question ? "question " : "",
                          question ? question : "", question ? "\n" : "", number, index, look, stop,
                          (int)stacks, source->path ? "core" : "live", source->path ? source->path : pid);
    if (length < 0)
        return mpiq_error_no_memory();
    process->pipe.deadline = mpiq_monotonic_ns() + SEND_NS;
    return mpiq_pipe_write(&process->pipe, line, (size_t)length);
}

struct mpiq_error *mpiq_reader_process_request_snapshot(struct mpiq_reader_process *process, uint64_t number,
                                                        const char *path)
{
    _cleanup_free_ char *line = NULL;
    if (strchr(path, '\n'))
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a file whose name contains a line break is not read");
    if (asprintf(&line, "read %" PRIu64 " 0 1 0 0 snapshot %s\n", number, path) < 0)
        return mpiq_error_no_memory();
    process->pipe.deadline = mpiq_monotonic_ns() + SEND_NS;
    return mpiq_pipe_write(&process->pipe, line, strlen(line));
}

struct mpiq_error *mpiq_reader_process_request_trace(struct mpiq_reader_process *process, uint64_t number,
                                                     const char *what, int64_t at_ns, const char *path)
{
    _cleanup_free_ char *line = NULL;
    if (strchr(path, '\n'))
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a file whose name contains a line break is not read");
    if (asprintf(&line, "trace %" PRIu64 " %s %" PRId64 " %s\n", number, what, at_ns, path) < 0)
        return mpiq_error_no_memory();
    process->pipe.deadline = mpiq_monotonic_ns() + SEND_NS;
    return mpiq_pipe_write(&process->pipe, line, strlen(line));
}

struct mpiq_error *mpiq_reader_process_request_bytes(struct mpiq_reader_process *process, uint64_t number,
                                                     const char *bytes, size_t size)
{
    enum { HEAD = 64 };
    size_t length = MPIQ_BASE64_LENGTH(size);
    _cleanup_free_ char *line = malloc(HEAD + length);
    if (!line)
        return mpiq_error_no_memory();
    size_t head = (size_t)snprintf(line, HEAD, "read %" PRIu64 " 0 1 0 0 bytes ", number);
    mpiq_base64_encode(bytes, size, line + head);
    line[head + length] = '\n';
    process->pipe.deadline = mpiq_monotonic_ns() + SEND_NS;
    return mpiq_pipe_write(&process->pipe, line, head + length + 1);
}

static struct mpiq_error *malformed(void)
{
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the process that reads ranks sent a malformed reply");
}

/* "CODE TEXT". */
static struct mpiq_error *parse_failure(const char *rest)
{
    char code[32] = "";
    size_t length = strcspn(rest, " ");
    snprintf(code, sizeof code, "%.*s", (int)(length < sizeof code ? length : sizeof code - 1), rest);
    return mpiq_error_create(mpiq_error_code_of(code), "%s", rest[length] ? rest + length + 1 : "no reason");
}

/* Takes the line apart. */
static struct mpiq_error *parse_answer(char *line, struct mpiq_reader_answer *ret)
{
    char *rest = line;
    const char *word = mpiq_pipe_word(&rest);
    uint64_t signal_number = 0;
    *ret = (struct mpiq_reader_answer){0};
    if (!word || !mpiq_pipe_number(mpiq_pipe_word(&rest), &ret->number) || !rest)
        return malformed();
    if (strcmp(word, "done") == 0) {
        ret->text = rest;
    } else if (strcmp(word, "state") == 0) {
        ret->line = true;
        ret->text = rest;
    } else if (strcmp(word, "fail") == 0) {
        ret->error = parse_failure(rest);
    } else if (strcmp(word, "crash") == 0 && mpiq_pipe_number(rest, &signal_number) && signal_number < 65) {
        ret->crash = signal_number ? (int)signal_number : -1;
    } else {
        return malformed();
    }
    return NULL;
}

/* Its end of the wire is closed: it has ended, or does so now. */
static struct mpiq_error *explain_end(const struct mpiq_reader_process *process)
{
    siginfo_t end = {0};
    for (int i = 0; i < END_MS && end.si_pid == 0; i++) {
        if (waitid(P_PID, (id_t)process->pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0)
            break;
        if (end.si_pid == 0)
            usleep(1000);
    }
    if (end.si_code == CLD_EXITED && end.si_status == MPIQ_EXIT_NO_MEMORY)
        return mpiq_error_create(MPIQ_ERROR_GONE, "the process that reads ranks ran out of memory");
    return mpiq_error_create(MPIQ_ERROR_GONE, "the process that reads ranks has ended");
}

struct mpiq_error *mpiq_reader_process_next(struct mpiq_reader_process *process,
                                            struct mpiq_reader_answer *answer, bool *ret)
{
    for (;;) {
        char *line = NULL;
        size_t length = 0;
        process->pipe.deadline = 1; /* long past: it does not wait */
        struct mpiq_error *error = mpiq_pipe_read(&process->pipe, &line, &length);
        *ret = false;
        if (error && error->code == MPIQ_ERROR_TIMEOUT) {
            mpiq_error_destroy(error);
            return NULL;
        }
        if (error)
            return error;
        if (!line)
            return explain_end(process);
        if (length == 0) /* before a crash */
            continue;
        *ret = true;
        return parse_answer(line, answer);
    }
}
