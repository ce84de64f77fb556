/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/dot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/debug.h"
#include "report/page.h"

#define LONGEST_MS 20000
#define LARGEST_PICTURE ((off_t)16 << 20)

extern char **environ;

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

/* In and out are files in memory, not pipes: nobody has to read and write at once, and a program that dies
   early raises no signal here. */
static bool spawn_dot(int in, int out, pid_t *ret)
{
    static char *const arguments[] = {"dot", "-Tsvg", NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool good = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO) == 0 &&
                posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) == 0 &&
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                posix_spawnp(ret, arguments[0], &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

/* Waits for it to end, or ends it; whether it succeeded. */
static bool finish_dot(pid_t pid)
{
    int status = 0;
    int process _cleanup_close_ = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd wait = {.fd = process, .events = POLLIN};
    /* Without pidfds (Linux before 5.3) it gets the time that it takes. */
    if (process >= 0 && poll(&wait, 1, LONGEST_MS) != 1)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Adds what stands in the file from its <svg> on: the prolog before it is none of a page's. */
static bool add_picture(int fd, struct mpiq_buffer *ret)
{
    struct stat file;
    if (fstat(fd, &file) < 0 || file.st_size <= 0 || file.st_size > LARGEST_PICTURE)
        return false;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
    char *at = mpiq_buffer_reserve(&text, (size_t)file.st_size + 1);
    if (!at || pread(fd, at, (size_t)file.st_size, 0) != file.st_size)
        return false;
    at[file.st_size] = '\0';
    const char *picture = strstr(at, "<svg");
    if (!picture)
        return false;
    mpiq_buffer_string(ret, picture);
    return true;
}

bool mpiq_dot_svg(const char *source, struct mpiq_buffer *ret)
{
    int in _cleanup_close_ = memfd_create("mpiq-graph", MFD_CLOEXEC);
    int out _cleanup_close_ = memfd_create("mpiq-picture", MFD_CLOEXEC);
    pid_t pid = 0;
    if (in < 0 || out < 0 || !write_all(in, source, strlen(source)))
        return false;
    if (!spawn_dot(in, out, &pid)) {
        mpiq_debug("report", "no program dot here: the page goes without a picture");
        return false;
    }
    if (!finish_dot(pid)) {
        mpiq_debug("report", "dot failed: the page goes without a picture");
        return false;
    }
    return add_picture(out, ret);
}

void mpiq_put_dot_string(struct mpiq_buffer *buffer, const char *string)
{
    mpiq_buffer_char(buffer, '"');
    mpiq_put_escaped(buffer, MPIQ_ESCAPE_DOT, string);
    mpiq_buffer_char(buffer, '"');
}
