/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/object_dirs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char systems[] = "/usr:/lib:/lib32:/lib64:/libx32:/bin:/sbin:/opt:/nix/store:/gnu/store";

/* Whether path lies beneath the directory of that many characters; "/" holds nothing: it would hold all. */
static bool beneath(const char *path, const char *directory, size_t length)
{
    while (length > 0 && directory[length - 1] == '/')
        length--;
    return length > 0 && directory[0] == '/' && strncmp(path, directory, length) == 0 && path[length] == '/';
}

static bool beneath_any(const char *path, const char *list)
{
    for (;;) {
        size_t length = strcspn(list, ":");
        if (beneath(path, list, length))
            return true;
        if (!list[length])
            return false;
        list += length + 1;
    }
}

bool mpiq_object_dirs_hold(const char *path, const char *beside)
{
    char here[PATH_MAX], whole[PATH_MAX];
    size_t length = strlen(path);
    if (path[0] != '/' || strstr(path, "/../") || (length >= 3 && strcmp(path + length - 3, "/..") == 0))
        return false;
    if (beneath_any(path, systems))
        return true;
    if (beside && realpath(beside, whole)) {
        const char *slash = strrchr(whole, '/');
        if (slash && beneath(path, whole, (size_t)(slash - whole)))
            return true;
    }
    const char *listed = getenv("MPIQ_OBJECT_DIRS"), *home = getenv("HOME");
    if (listed)
        return beneath_any(path, listed);
    return (home && beneath(path, home, strlen(home))) ||
           (getcwd(here, sizeof here) && beneath(path, here, strlen(here)));
}
