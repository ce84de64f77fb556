/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/freezer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/proc.h"

/* What differs between the versions: the hierarchy's name in /proc/PID/cgroup and in mountinfo, the file that
   says that a group is frozen, by itself or by one above it, and the one that says whether it is by itself.
 */
static const struct version {
    const char *controller, *system, *state, *own, *thaws;
} versions[] = {{"freezer", "cgroup", "freezer.state", "freezer.self_freezing", "freezer.state"},
                {"", "cgroup2", "cgroup.events", "cgroup.freeze", "cgroup.freeze"}};

/* Whether a word is in a list with commas between the words. */
static bool lists(const char *list, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at <= list + length;) {
        const char *comma = memchr(at, ',', (size_t)(list + length - at));
        const char *end = comma ? comma : list + length;
        if ((size_t)(end - at) == size && memcmp(at, word, size) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

/* The group of a process in that hierarchy: of "6:cpu,freezer:/job" it is "/job", of "0::/job" version 2's.
 */
static bool find_group(const char *groups, const char *controller, char *ret, size_t size)
{
    for (const char *line = groups; *line;) {
        size_t length = strcspn(line, "\n");
        const char *list = memchr(line, ':', length);
        const char *path = list ? memchr(list + 1, ':', length - (size_t)(list + 1 - line)) : NULL;
        if (path && lists(list + 1, (size_t)(path - list - 1), controller)) {
            int room = snprintf(ret, size, "%.*s", (int)(line + length - path - 1), path + 1);
            return ret[0] == '/' && (size_t)room < size;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

/* Where that hierarchy is mounted, and which group stands there.  A line of mountinfo is "ID PARENT
   MAJOR:MINOR ROOT MOUNT OPTIONS [TAGS…] - TYPE SOURCE OPTIONS". */
static bool parse_mount(const char *line, const struct version *version, char root[PATH_MAX],
                        char mount[PATH_MAX])
{
    char type[16], options[1024];
    const char *rest = strstr(line, " - ");
    _Static_assert(PATH_MAX == 4096, "the widths below");
    return rest && sscanf(line, "%*d %*d %*s %4095s %4095s", root, mount) == 2 &&
           sscanf(rest, " - %15s %*s %1023s", type, options) == 2 && strcmp(type, version->system) == 0 &&
           (!version->controller[0] || lists(options, strlen(options), version->controller));
}

static bool read_group(const char *group, const char *file, char *ret, size_t size)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", group, file) >= sizeof path)
        return false;
    struct mpiq_error *error = mpiq_proc_read_line(path, ret, size);
    bool read = !error;
    mpiq_error_destroy(error);
    return read;
}

/* By the text of version->state: FROZEN, or FREEZING if not all are yet; a line "frozen 1". */
static bool is_frozen(const char *state)
{
    return strncmp(state, "FR", 2) == 0 || strstr(state, "frozen 1");
}

/* The group itself or one above it may be the one that somebody froze: which, in *ret.  False: none that can
   be seen. */
static bool name_file(char *group, size_t mount, const struct version *version, char *ret, size_t size)
{
    for (;;) {
        char text[16];
        bool own = read_group(group, version->own, text, sizeof text) && text[0] == '1';
        if (own && (size_t)snprintf(ret, size, "%s/%s", group, version->thaws) >= size)
            ret[0] = '\0';
        char *slash = strrchr(group, '/');
        if (own || !slash || slash < group + mount)
            return own;
        *slash = '\0';
    }
}

static bool is_held(const char *groups, const char *mounts, const struct version *version, char *ret,
                    size_t size)
{
    char group[PATH_MAX], root[PATH_MAX], mount[PATH_MAX], path[PATH_MAX], state[256];
    if (!find_group(groups, version->controller, group, sizeof group))
        return false;
    char *line _cleanup_free_ = NULL;
    for (const char *at = mounts; *at;) {
        size_t length = strcspn(at, "\n");
        free(line);
        line = strndup(at, length);
        at += length + (at[length] == '\n');
        if (!line || !parse_mount(line, version, root, mount))
            continue;
        size_t above = strcmp(root, "/") == 0 ? 0 : strlen(root);
        bool beneath = strncmp(group, root, above) == 0 && (group[above] == '/' || !group[above]);
        const char *rest = beneath && strcmp(group + above, "/") != 0 ? group + above : "";
        if (!beneath || (size_t)snprintf(path, sizeof path, "%s%s", mount, rest) >= sizeof path ||
            !read_group(path, version->state, state, sizeof state))
            continue;
        /* A thread that ptrace has let go takes a moment to come back: the group is then not whole. */
        bool named = name_file(path, strlen(mount), version, ret, size);
        return named || is_frozen(state);
    }
    return false;
}

bool mpiq_freezer_find(const char *groups, const char *mounts, char *ret, size_t size)
{
    ret[0] = '\0';
    return is_held(groups, mounts, &versions[0], ret, size) ||
           is_held(groups, mounts, &versions[1], ret, size);
}

/* Where in the kernel the main thread sleeps; "" not known. */
static void read_place(pid_t pid, char *ret, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/wchan", (int)pid);
    struct mpiq_error *error = mpiq_proc_read_line(path, ret, size);
    if (error || strcmp(ret, "0") == 0)
        ret[0] = '\0';
    mpiq_error_destroy(error);
}

bool mpiq_freezer_holds(pid_t pid, char state, bool before, char *ret, size_t size)
{
    char place[64];
    ret[0] = '\0';
    if (state != 'S' && state != 'D' && state != 'T' && !before)
        return false;
    read_place(pid, place, sizeof place);
    /* Kernels since 6.1 freeze a sleeper where it is.  Version 2's function may be part of its caller, where
       no other thread sleeps. */
    bool is_there = strcmp(place, "__refrigerator") == 0 || strcmp(place, "do_freezer_trap") == 0 ||
                    (state == 'S' && strcmp(place, "get_signal") == 0);
    if (state == 'S' && place[0] && !is_there && !before)
        return false;
    size_t length;
    char *groups _cleanup_free_ = mpiq_proc_read_of(pid, "cgroup", &length);
    char *mounts = NULL;
    mpiq_error_destroy(mpiq_proc_read("/proc/self/mountinfo", &mounts, &length));
    bool found = groups && mounts && mpiq_freezer_find(groups, mounts, ret, size);
    free(mounts);
    return found || is_there;
}
