/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/partner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"

/* Processes with a pipe to one of ours are a few steps away: a launcher, its daemon, a shell. */
enum { ANCESTOR_LIMIT = 4, CHILD_LIMIT = 64 };

static bool parent_of(pid_t pid, pid_t *ret)
{
    struct mpiq_proc_stat line;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &line);
    bool known = !error && line.parent > 1;
    mpiq_error_destroy(error);
    if (known)
        *ret = line.parent;
    return known;
}

static void name_partner(pid_t partner, struct mpiq_target_thread *thread)
{
    struct mpiq_proc_stat line;
    struct mpiq_error *error = mpiq_proc_stat(partner, 0, &line);
    if (!error) {
        thread->partner = partner;
        thread->partner_state = line.state;
        memcpy(thread->partner_name, line.name, sizeof thread->partner_name);
    }
    mpiq_error_destroy(error);
}

void mpiq_partner_child(pid_t pid, int32_t child, struct mpiq_target_thread *thread)
{
    pid_t parent;
    if (child <= 0) {
        _cleanup_free_ pid_t *children = NULL;
        size_t count = 0;
        mpiq_error_destroy(mpiq_proc_children(pid, 0, &children, &count));
        if (count != 1)
            return;
        child = children[0];
    }
    if (parent_of(child, &parent) && parent == pid)
        name_partner(child, thread);
}

/* Of which terminal a process's file is the other side, "/dev/ptmx"; -1: of none. */
static int terminal_of(pid_t pid, const char *descriptor)
{
    char path[96], text[512];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", (int)pid, descriptor);
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    const char *at = error ? NULL : strstr(text, "tty-index:");
    int index = -1;
    if (at && sscanf(at, "tty-index: %d", &index) != 1)
        index = -1;
    mpiq_error_destroy(error);
    return index;
}

/* The other end of a file: of a pipe or socket by its name, of a terminal by its number (else -1). */
struct end {
    const char *name;
    int terminal;
    mode_t mode; /* with which it is open there: S_IRUSR, S_IWUSR */
};

/* Whether a process has that end open. */
static bool has_end(pid_t pid, const struct end *end)
{
    char path[64], file[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    bool found = false;
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, file, sizeof file - 1);
        file[length > 0 ? length : 0] = '\0';
        const char *name = strrchr(file, '/');
        struct stat status;
        found = end->terminal >= 0
                    ? name && strcmp(name, "/ptmx") == 0 && terminal_of(pid, entry->d_name) == end->terminal
                    : strcmp(file, end->name) == 0 &&
                          fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                          (status.st_mode & end->mode) == end->mode;
    }
    if (directory)
        closedir(directory);
    return found;
}

/* Of the children of `parent`, the first that has the end; false: none has. */
static bool find_child(pid_t parent, pid_t except, const struct end *end, struct mpiq_target_thread *thread)
{
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_proc_children(parent, 0, &children, &count));
    for (size_t i = 0; i < count && i < CHILD_LIMIT; i++) {
        if (children[i] != except && has_end(children[i], end)) {
            name_partner(children[i], thread);
            return true;
        }
    }
    return false;
}

static void find_relative(pid_t pid, const struct end *end, struct mpiq_target_thread *thread)
{
    pid_t ancestor = pid, below = pid;
    if (find_child(pid, pid, end, thread))
        return;
    for (int steps = 0; steps < ANCESTOR_LIMIT && parent_of(ancestor, &ancestor); steps++) {
        if (has_end(ancestor, end)) {
            name_partner(ancestor, thread);
            return;
        }
        if (find_child(ancestor, below, end, thread))
            return;
        below = ancestor;
    }
}

void mpiq_partner_pipe(pid_t pid, bool writes, struct mpiq_target_thread *thread)
{
    struct end end = {.name = thread->file, .terminal = -1, .mode = writes ? S_IRUSR : S_IWUSR};
    if (strncmp(thread->file, "pipe:", strlen("pipe:")) == 0 ||
        sscanf(thread->file, "/dev/pts/%d", &end.terminal) == 1)
        find_relative(pid, &end, thread);
}

/* ---- sockets ---------------------------------------------------------------------------------------------
 */

/* Both ends of a connection, as the kernel's tables write them: "0100007F:1F90". */
struct connection {
    char local[48];
    char remote[48];
    unsigned state;
    unsigned long long inode;
};

/* The row of a table of the process's network that `matches` the wanted one. */
static bool find_row(pid_t pid, const char *table, const struct connection *wanted,
                     bool (*matches)(const struct connection *, const struct connection *),
                     struct connection *ret)
{
    size_t size;
    char *text _cleanup_free_ = mpiq_proc_read_of(pid, table, &size);
    char *rest = text;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        if (sscanf(line, " %*d: %47s %47s %x %*s %*s %*s %*u %*u %llu", ret->local, ret->remote, &ret->state,
                   &ret->inode) == 4 &&
            matches(ret, wanted))
            return true;
    }
    return false;
}

static bool has_inode(const struct connection *row, const struct connection *wanted)
{
    return row->inode == wanted->inode;
}

static bool is_other_end(const struct connection *row, const struct connection *wanted)
{
    return strcmp(row->local, wanted->remote) == 0 && strcmp(row->remote, wanted->local) == 0 &&
           row->inode > 0;
}

/* "tcp:10.0.0.1:5432" of "0100000A:1538": words of the machine's byte order, the port as a number. */
static void write_end(const char *end, bool listens, struct mpiq_target_thread *thread)
{
    uint32_t words[4] = {0};
    unsigned port;
    char address[INET6_ADDRSTRLEN];
    bool four = sscanf(end, "%8x:%x", &words[0], &port) == 2;
    if (!four && sscanf(end, "%8x%8x%8x%8x:%x", &words[0], &words[1], &words[2], &words[3], &port) != 5)
        return;
    if (listens)
        snprintf(thread->file, sizeof thread->file, "listen:%u", port);
    else if (inet_ntop(four ? AF_INET : AF_INET6, words, address, sizeof address))
        snprintf(thread->file, sizeof thread->file, four ? "tcp:%s:%u" : "tcp:[%s]:%u", address, port);
}

/* The name of a local socket that has one. */
static void name_local(pid_t pid, uint64_t inode, struct mpiq_target_thread *thread)
{
    size_t size;
    char *text _cleanup_free_ = mpiq_proc_read_of(pid, "net/unix", &size);
    char *rest = text;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        unsigned long long its;
        char path[128];
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %llu %127s", &its, path) == 2 && its == inode)
            snprintf(thread->file, sizeof thread->file, "unix:%s", path);
    }
}

void mpiq_partner_socket(pid_t pid, uint64_t inode, struct mpiq_target_thread *thread)
{
    enum { LISTENS = 10 }; /* the kernel's TCP_LISTEN */
    static const char *const tables[] = {"net/tcp", "net/tcp6"};
    struct connection own = {.inode = inode}, other;
    bool known = false;
    for (size_t i = 0; i < 2 && !known; i++)
        known = find_row(pid, tables[i], &(struct connection){.inode = inode}, has_inode, &own);
    if (!known) {
        name_local(pid, inode, thread);
        return;
    }
    bool listens = own.state == LISTENS;
    write_end(listens ? own.local : own.remote, listens, thread);
    for (size_t i = 0; i < 2 && !listens; i++) {
        char name[48];
        if (!find_row(pid, tables[i], &own, is_other_end, &other))
            continue;
        snprintf(name, sizeof name, "socket:[%llu]", other.inode);
        find_relative(pid, &(struct end){.name = name, .terminal = -1}, thread);
        return;
    }
}

/* ---- mutexes ---------------------------------------------------------------------------------------------
 */

static bool shares_pids(pid_t pid)
{
    char path[64], ours[64] = "", its[64] = "";
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    return readlink("/proc/self/ns/pid", ours, sizeof ours - 1) > 0 &&
           readlink(path, its, sizeof its - 1) > 0 && strcmp(ours, its) == 0;
}

void mpiq_partner_owner(pid_t pid, pid_t owner, struct mpiq_target_thread *thread)
{
    long process = mpiq_proc_status_number(owner, "Tgid");
    if (process == pid || !shares_pids(pid)) /* in a container it numbers threads otherwise */
        return;
    if (process > 0) {
        name_partner((pid_t)process, thread);
        return;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", (int)owner);
    if (access(path, F_OK) != 0) {
        thread->partner = owner;
        thread->partner_state = 'X';
    }
}
