/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void mpiq_command_close(struct mpiq_command *command, int *fd)
{
    (void)command;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* In the child. */
static _Noreturn void become(const struct mpiq_launch *launch, const struct mpiq_launch_command *command,
                             char **environment, const int ends[3], pid_t parent)
{
    sigset_t none;
    int moved[3];
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid(); /* ^C and the terminal are mpiq's */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    for (int i = 0; i < 3; i++)
        moved[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        dup2(moved[i], i);
    syscall(SYS_close_range, 3u, UINT_MAX, 0u);
    if (command->run) {
        environ = environment;
        exit(command->run(launch, command));
    }
    execvpe(command->argv[0], command->argv, environment);
    dprintf(STDERR_FILENO, "cannot start %s: %m\n", command->argv[0]);
    _exit(127);
}

static bool make_pipes(int pipes[3][2])
{
    for (int i = 0; i < 3; i++)
        pipes[i][0] = pipes[i][1] = -1;
    /* A socket can be written to without a signal where nobody reads any more. */
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipes[0]) == 0 &&
           pipe2(pipes[1], O_CLOEXEC) == 0 && pipe2(pipes[2], O_CLOEXEC) == 0;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

struct mpiq_error *mpiq_command_start(const struct mpiq_launch *launch,
                                      const struct mpiq_launch_command *command, char **environment,
                                      struct mpiq_command *ret)
{
    int pipes[3][2];
    pid_t parent = getpid();
    bool good = make_pipes(pipes);
    int ends[3] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    int ours[3] = {pipes[0][1], pipes[1][0], pipes[2][0]};
    pid_t child = good ? fork() : -1;
    if (child == 0)
        become(launch, command, environment, ends, parent);
    int errnum = errno;
    close_all(ends, 3);
    if (child < 0) {
        close_all(ours, 3);
        return mpiq_error_create_os(errnum, "cannot start %s", command->argv ? command->argv[0] : "it");
    }
    for (int i = 0; i < 3; i++)
        fcntl(ours[i], F_SETFL, O_NONBLOCK);
    *ret = (struct mpiq_command){.pid = child, .input = ours[0], .output = ours[1], .errors = ours[2]};
    return NULL;
}

void mpiq_command_hear(struct mpiq_command *command)
{
    char bytes[MPIQ_COMMAND_SAID_MOST / 2];
    ssize_t got = 0;
    while (command->errors >= 0 && (got = read(command->errors, bytes, sizeof bytes)) > 0) {
        size_t had = strlen(command->said);
        size_t room = sizeof command->said - 1 - (size_t)got;
        if (had > room) {
            memmove(command->said, command->said + had - room, room + 1);
            had = room;
        }
        for (ssize_t i = 0; i < got; i++)
            command->said[had++] = bytes[i] ? bytes[i] : ' ';
        command->said[had] = '\0';
    }
    if (command->errors >= 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)))
        mpiq_command_close(command, &command->errors);
}

bool mpiq_command_has_ended(struct mpiq_command *command)
{
    if (command->pid > 0 && waitpid(command->pid, &command->status, WNOHANG) == command->pid)
        command->pid = 0;
    return command->pid == 0;
}

/* Where its last line begins that is not empty. */
static const char *last_line(const char *said, size_t *length)
{
    *length = strlen(said);
    while (*length > 0 && strchr(" \r\n", said[*length - 1]))
        --*length;
    size_t start = *length;
    while (start > 0 && said[start - 1] != '\n')
        start--;
    *length -= start;
    return said + start;
}

char *mpiq_command_end_text(const struct mpiq_command *command)
{
    char *text = NULL;
    size_t length;
    const char *line = last_line(command->said, &length);
    bool killed = WIFSIGNALED(command->status);
    if (asprintf(&text, "%s %d%s%.*s", killed ? "signal" : "exit status",
                 killed ? WTERMSIG(command->status) : WEXITSTATUS(command->status), length > 0 ? ": " : "",
                 (int)length, line) < 0)
        return NULL;
    return text;
}
