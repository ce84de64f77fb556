/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/open_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deeper than anybody installs a library; as many links as the kernel follows. */
enum { DEPTH_MAX = 128, LINKS_MAX = 40 };

/* The directories from the root down: ".." goes back to the one before, and is never opened. */
struct walk {
    int root; /* the caller's */
    int directories[DEPTH_MAX];
    size_t depth;
    unsigned links;
    char rest[PATH_MAX]; /* of the path */
};

static int current(const struct walk *walk)
{
    return walk->depth > 0 ? walk->directories[walk->depth - 1] : walk->root;
}

static void go_up(struct walk *walk)
{
    if (walk->depth > 0)
        close(walk->directories[--walk->depth]);
}

/* Takes the descriptor. */
static bool go_down(struct walk *walk, int directory)
{
    if (walk->depth < DEPTH_MAX) {
        walk->directories[walk->depth++] = directory;
        return true;
    }
    close(directory);
    errno = ENAMETOOLONG;
    return false;
}

/* What the link says comes before the rest of the path. */
static bool follow(struct walk *walk, int link)
{
    char path[PATH_MAX];
    ssize_t got = readlinkat(link, "", path, sizeof path);
    if (got < 0)
        return false;
    size_t length = (size_t)got;
    size_t rest = strlen(walk->rest);
    if (++walk->links > LINKS_MAX || length == 0) {
        errno = length == 0 ? ENOENT : ELOOP;
        return false;
    }
    if (length + rest >= sizeof walk->rest) {
        errno = ENAMETOOLONG;
        return false;
    }
    memmove(walk->rest + length, walk->rest, rest + 1); /* which is empty or begins with a slash */
    memcpy(walk->rest, path, length);
    while (path[0] == '/' && walk->depth > 0)
        go_up(walk);
    return true;
}

/* The next name of the path, which is taken off it; NULL at its end. */
static const char *next_name(struct walk *walk, char *buffer)
{
    size_t start = strspn(walk->rest, "/");
    size_t length = strcspn(walk->rest + start, "/");
    if (length == 0)
        return NULL;
    memcpy(buffer, walk->rest + start, length);
    buffer[length] = '\0';
    memmove(walk->rest, walk->rest + start + length, strlen(walk->rest + start + length) + 1);
    return buffer;
}

/* One step: *ret becomes the descriptor if the path ends there.  False with errno set. */
static bool step(struct walk *walk, const char *name, int *ret)
{
    struct stat file;
    if (strcmp(name, ".") == 0)
        return true;
    if (strcmp(name, "..") == 0) {
        go_up(walk);
        return true;
    }
    int fd = openat(current(walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &file) == 0;
    if (good && S_ISLNK(file.st_mode)) {
        good = follow(walk, fd);
    } else if (good && S_ISDIR(file.st_mode)) {
        return go_down(walk, fd);
    } else if (good && walk->rest[0] == '\0') {
        *ret = fd;
        return true;
    } else if (good) {
        errno = ENOTDIR;
        good = false;
    }
    int errnum = errno;
    close(fd);
    errno = errnum;
    return good;
}

int mpiq_open_beneath(int root, const char *path)
{
    struct walk walk = {.root = root};
    char name[PATH_MAX];
    int ret = -1;
    bool good = strlen(path) < sizeof walk.rest;
    errno = ENAMETOOLONG;
    if (good)
        strcpy(walk.rest, path); /* NOLINT: it fits */
    while (good && ret < 0) {
        const char *next = next_name(&walk, name);
        if (!next) /* it names a directory */
            ret = fcntl(current(&walk), F_DUPFD_CLOEXEC, 0);
        good = next ? step(&walk, next, &ret) : ret >= 0;
    }
    int errnum = errno;
    while (walk.depth > 0)
        go_up(&walk);
    errno = errnum;
    return ret;
}
