/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
    AROUND = 3,           /* lines before and after */
    LONGEST = 200,        /* of a line, in bytes */
    MOST_BYTES = 4 << 20, /* of a file that are read in search of the line */
    PATIENCE_MS = 2000,
    TAB = 8
};

/* The live process on this machine behind a rank; 0: none. */
static pid_t live_pid(const struct mpiq_job *job, const struct mpiq_job_rank *rank)
{
    for (size_t i = 0; rank && i < job->sources.count; i++) {
        const struct mpiq_look_source *source = &job->sources.items[i];
        const struct mpiq_rank_state *state = source->looks[1] ? source->looks[1] : source->looks[0];
        if (source->pid > 0 && !source->gone && state && state->pid == rank->pid && !state->final &&
            strcmp(state->host,
                   mpiq_job_string(job->state, rank->host) ? mpiq_job_string(job->state, rank->host) : "") ==
                0)
            return source->pid;
    }
    return 0;
}

static bool is_source(const char *file)
{
    static const char *const endings[] = {".c",  ".cc",  ".cpp", ".cxx", ".C",   ".h",   ".hpp", ".hh",
                                          ".f",  ".F",   ".f90", ".F90", ".f03", ".f08", ".F08", ".for",
                                          ".cu", ".hip", ".py",  ".rs",  ".jl",  ".inc"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++) {
        if (strcmp(dot, endings[i]) == 0)
            return true;
    }
    return false;
}

static bool same_files(pid_t pid)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &other) == 0 && own.st_ino == other.st_ino;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* In the process of its own: the lines to standard output's place. */
static void write_lines(pid_t pid, const char *file, int32_t line, int out)
{
    char path[64];
    struct stat owner, program, source;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &owner) != 0 || owner.st_uid != geteuid() || !same_files(pid))
        return;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || stat(path, &program) != 0 || fstat(fd, &source) != 0 || !S_ISREG(source.st_mode) ||
        is_newer(&source, &program))
        return;
    FILE *in = fdopen(fd, "r");
    FILE *to = fdopen(out, "w");
    int32_t number = 1;
    int column = 0;
    if (!in || !to)
        return;
    for (long read = 0; read < MOST_BYTES && number <= line + AROUND; read++) {
        int c = getc_unlocked(in);
        if (c == EOF)
            break;
        bool wanted = number >= line - AROUND;
        if (c == '\n') {
            number++;
            column = 0;
            if (wanted)
                fputc('\n', to);
        } else if (wanted && column < LONGEST && c != '\r') {
            int width = c == '\t' ? TAB - column % TAB : 1;
            for (int i = 0; i < width; i++)
                fputc(c == '\t' ? ' ' : c, to);
            column += width;
        }
    }
    if (number >= line) /* else the file is shorter than the program says: another one */
        fflush(to);
}

/* What the process says within its time; the caller frees it. */
static char *read_all(int fd)
{
    enum { MOST = (2 * AROUND + 1) * (LONGEST + TAB + 1) };
    char *text = calloc(1, MOST + 1);
    size_t length = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (text && length < MOST && poll(&wait, 1, PATIENCE_MS) > 0) {
        ssize_t got = read(fd, text + length, MOST - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    return text;
}

bool mpiq_read_excerpt(void *context, uint32_t process, const char *file, int32_t line,
                       struct mpiq_excerpt *ret)
{
    const struct mpiq_job *job = context;
    pid_t pid = live_pid(job, mpiq_job_rank_of(job->state, process));
    int ends[2];
    if (pid == 0 || !file || file[0] != '/' || !is_source(file) || line <= 0 || line > INT32_MAX - AROUND ||
        pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t reader = fork();
    if (reader == 0) {
        write_lines(pid, file, line, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    char *text = reader > 0 ? read_all(ends[0]) : NULL;
    close(ends[0]);
    if (reader > 0) {
        kill(reader, SIGKILL);
        while (waitpid(reader, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (!text || !*text) {
        free(text);
        return false;
    }
    *ret = (struct mpiq_excerpt){.first = line > AROUND ? line - AROUND : 1, .text = text};
    return true;
}

const char *mpiq_user_of(const struct mpiq_job *job, char text[static MPIQ_USER_ROOM])
{
    for (size_t i = 0; i < job->sources.count; i++) {
        char path[64], buffer[4096];
        struct stat process;
        struct passwd entry, *found = NULL;
        snprintf(path, sizeof path, "/proc/%d", (int)job->sources.items[i].pid);
        if (job->sources.items[i].pid <= 0 || stat(path, &process) != 0)
            continue;
        if (getpwuid_r(process.st_uid, &entry, buffer, sizeof buffer, &found) == 0 && found)
            snprintf(text, MPIQ_USER_ROOM, "%s", found->pw_name);
        else
            snprintf(text, MPIQ_USER_ROOM, "user %u", (unsigned)process.st_uid);
        return text;
    }
    return NULL;
}
