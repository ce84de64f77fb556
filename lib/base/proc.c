/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* Maps of a process with a hundred thousand mappings fit; a file that never ends does not. */
static const size_t file_limit = (size_t)64 << 20;

char *mpiq_proc_read_at(int directory, const char *name, size_t *size)
{
    _cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t capacity = 4096, used = 0;
    _cleanup_free_ char *text = malloc(capacity + 1);
    while (text) {
        if (used == capacity) {
            char *larger = capacity < file_limit ? realloc(text, capacity * 4 + 1) : NULL;
            if (!larger)
                break;
            text = larger;
            capacity *= 4;
        }
        ssize_t got = read(fd, text + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return NULL;
        if (got == 0) {
            text[used] = '\0';
            *size = used;
            return mpiq_steal(text);
        }
        used += (size_t)got;
    }
    errno = ENOMEM;
    return NULL;
}

char *mpiq_proc_read_of(pid_t pid, const char *name, size_t *size)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return mpiq_proc_read_at(AT_FDCWD, path, size);
}

struct mpiq_error *mpiq_proc_read(const char *path, char **ret, size_t *size)
{
    *ret = mpiq_proc_read_at(AT_FDCWD, path, size);
    return *ret ? NULL : mpiq_error_create_os(errno, "cannot read %s", path);
}

struct mpiq_error *mpiq_proc_read_line(const char *path, char *ret, size_t size)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    ssize_t got;
    do
        got = read(fd, ret, size - 1);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return mpiq_error_create_os(errno, "cannot read %s", path);
    ret[got] = '\0';
    return NULL;
}

bool mpiq_proc_parse_stat(char *text, struct mpiq_proc_stat *ret)
{
    /* The name is in parentheses and may hold some itself. */
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    struct mpiq_proc_stat stat = {0};
    int parent;
    unsigned long long minor, major, user, system, start;
    long long children_user, children_system;
    if (!name || !end || end < name ||
        sscanf(end + 1,
               " %c %d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %lld %lld %*d %*d %*d %*d %llu",
               &stat.state, &parent, &minor, &major, &user, &system, &children_user, &children_system,
               &start) != 9)
        return false;
    snprintf(stat.name, sizeof stat.name, "%.*s", (int)(end - name - 1), name + 1);
    stat.parent = parent;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    stat.cpu_ns = (user + system) * tick_ns;
    if (children_user >= 0 && children_system >= 0)
        stat.children_ns = ((uint64_t)children_user + (uint64_t)children_system) * tick_ns;
    stat.faults = minor + major;
    stat.start_time = start;
    *ret = stat;
    return true;
}

struct mpiq_error *mpiq_proc_stat(pid_t pid, pid_t tid, struct mpiq_proc_stat *ret)
{
    char path[64];
    if (tid)
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    else
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char text[1024];
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    if (error)
        return error;
    if (!mpiq_proc_parse_stat(text, ret))
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not as expected", path);
    return NULL;
}

bool mpiq_proc_has_ended(pid_t pid)
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *gone = mpiq_proc_stat(pid, 0, &stat);
    bool ended = gone || stat.state == 'Z' || stat.state == 'X';
    mpiq_error_destroy(gone);
    return ended;
}

/* The last field of its stat. */
int mpiq_proc_wait_status(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    if (error) {
        mpiq_error_destroy(error);
        return -1;
    }
    const char *state = strrchr(text, ')'), *last = strrchr(text, ' ');
    return state && last && state[1] == ' ' && state[2] == 'Z' ? (int)strtol(last, NULL, 10) : -1;
}

static long number_in(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return strtol(line + length + 1, NULL, 10);
    }
    return -1;
}

void mpiq_proc_status_numbers(pid_t pid, const char *const names[2], long ret[2])
{
    char path[64];
    _cleanup_free_ char *text = NULL;
    size_t size;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    struct mpiq_error *error = mpiq_proc_read(path, &text, &size);
    for (int i = 0; i < 2; i++)
        ret[i] = error || !names[i] ? -1 : number_in(text, names[i]);
    mpiq_error_destroy(error);
}

bool mpiq_proc_thread_time(pid_t pid, pid_t tid, uint64_t *ret)
{
    char path[80];
    char text[128];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
    struct mpiq_error *error = mpiq_proc_read_line(path, text, sizeof text);
    bool known = !error;
    mpiq_error_destroy(error);
    if (known)
        *ret = strtoull(text, NULL, 10);
    return known;
}

long mpiq_proc_status_number(pid_t pid, const char *name)
{
    long numbers[2];
    mpiq_proc_status_numbers(pid, (const char *const[]){name, NULL}, numbers);
    return numbers[0];
}

uint64_t mpiq_proc_count(const char *text, const char *name)
{
    long number = number_in(text, name);
    return number > 0 ? (uint64_t)number : 0;
}

bool mpiq_proc_parse_call(const char *line, struct mpiq_proc_call *ret)
{
    enum { ARGUMENTS = 6 };
    uint64_t words[ARGUMENTS + 2];
    char *next;
    long number = strtol(line, &next, 10);
    if (next == line || number < 0 || number > INT32_MAX)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = next;
        words[i] = strtoull(at, &next, 16);
        if (next == at)
            return false;
    }
    *ret = (struct mpiq_proc_call){.number = number, .sp = words[ARGUMENTS], .pc = words[ARGUMENTS + 1]};
    memcpy(ret->arguments, words, sizeof ret->arguments);
    return true;
}

pid_t mpiq_proc_inner_tid(pid_t pid, pid_t tid)
{
    char path[80];
    _cleanup_free_ char *text = NULL;
    size_t size;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    struct mpiq_error *error = mpiq_proc_read(path, &text, &size);
    mpiq_error_destroy(error);
    /* From our namespace's inwards. */
    char *numbers = text ? strstr(text, "\nNSpid:") : NULL;
    if (!numbers)
        return 0;
    numbers[1 + strcspn(numbers + 1, "\n")] = '\0';
    const char *last = strrchr(numbers, '\t');
    return last ? (pid_t)strtol(last + 1, NULL, 10) : 0;
}

const char *mpiq_proc_variable(const char *text, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *entry = text; entry < text + size; entry += strlen(entry) + 1) {
        if (strncmp(entry, name, length) == 0 && entry[length] == '=')
            return entry + length + 1;
    }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    return (*(const pid_t *)a > *(const pid_t *)b) - (*(const pid_t *)a < *(const pid_t *)b);
}

/* The entries of a directory that are numbers. */
static struct mpiq_error *list_numbers(const char *path, pid_t **ret, size_t *count)
{
    DIR *directory = opendir(path);
    if (!directory)
        return mpiq_error_create_os(errno == ENOENT ? ESRCH : errno, "cannot list %s", path);
    _cleanup_free_ pid_t *numbers = NULL;
    size_t used = 0, capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        int number = atoi(entry->d_name);
        if (number <= 0)
            continue;
        if (!mpiq_array_reserve(&numbers, &capacity, used + 1)) {
            closedir(directory);
            return mpiq_error_no_memory();
        }
        numbers[used++] = number;
    }
    closedir(directory);
    if (used)
        qsort(numbers, used, sizeof *numbers, by_number);
    *ret = mpiq_steal(numbers);
    *count = used;
    return NULL;
}

struct mpiq_error *mpiq_proc_processes(pid_t **ret, size_t *count)
{
    return list_numbers("/proc", ret, count);
}

struct mpiq_error *mpiq_proc_threads(pid_t pid, pid_t **ret, size_t *count)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return list_numbers(path, ret, count);
}

static struct mpiq_error *add_children(pid_t pid, pid_t tid, pid_t **children, size_t *count,
                                       size_t *capacity)
{
    char name[48];
    size_t size = 0;
    snprintf(name, sizeof name, "task/%d/children", (int)tid);
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, name, &size);
    char *at = text, *next;
    for (long child; at && (child = strtol(at, &next, 10)) > 0 && next != at; at = next) {
        if (!mpiq_array_reserve(children, capacity, *count + 1))
            return mpiq_error_no_memory();
        (*children)[(*count)++] = (pid_t)child;
    }
    return NULL;
}

struct mpiq_error *mpiq_proc_children(pid_t pid, pid_t tid, pid_t **ret, size_t *count)
{
    _cleanup_free_ pid_t *tids = NULL, *children = NULL;
    size_t threads = 1, used = 0, capacity = 0;
    struct mpiq_error *error = tid ? NULL : mpiq_proc_threads(pid, &tids, &threads);
    for (size_t i = 0; i < threads && !error; i++)
        error = add_children(pid, tid ? tid : tids[i], &children, &used, &capacity);
    if (error)
        return error;
    *ret = mpiq_steal(children);
    *count = used;
    return NULL;
}
