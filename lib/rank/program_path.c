/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/program_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "rank/rank.h"

/* Levels of a build tree above the program: BUILD/tests/rank/rank-dump has two. */
#define LEVELS_MAX 3

static bool is_trusted(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && (file.st_uid == 0 || file.st_uid == geteuid());
}

static bool try(char **ret, const char *directory, const char *below, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s/%s", directory, below, name) < 0)
        return false;
    if (is_trusted(path)) {
        *ret = path;
        return true;
    }
    free(path);
    return false;
}

static bool search(char **ret, const char *name, const char *installed, const char *built)
{
    char directory[PATH_MAX];
    char below[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    if (length <= 0)
        return false;
    directory[length] = '\0';
    for (int level = 0; level <= LEVELS_MAX; level++) {
        char *slash = strrchr(directory, '/');
        if (!slash)
            return false;
        *slash = '\0';
        if (level == 0 && try(ret, directory, "", name))
            return true;
        snprintf(below, sizeof below, "/%s", level == 1 ? installed : built);
        if (level == 1 && try(ret, directory, below, name))
            return true;
        snprintf(below, sizeof below, "/%s", built);
        if (try(ret, directory, below, name))
            return true;
    }
    return false;
}

struct mpiq_error *mpiq_program_path(const char *variable, const char *name, const char *installed,
                                     const char *built, char **ret)
{
    const char *set = secure_getenv(variable);
    if (set && *set) {
        if (access(set, F_OK) < 0)
            return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s names %s, which is not there", variable, set);
        *ret = strdup(set);
        return *ret ? NULL : mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a path");
    }
    if (search(ret, name, installed, built))
        return NULL;
    /* A program that embeds libmpiq may be anywhere. */
    char below[PATH_MAX];
    snprintf(below, sizeof below, "/%s", installed);
    if (try(ret, MPIQ_PREFIX, below, name))
        return NULL;
    return mpiq_error_create(
        MPIQ_ERROR_NOT_FOUND,
        "%s is not beside this program, nor in %s of its prefix or of %s; set %s to its path", name,
        installed, MPIQ_PREFIX, variable);
}
