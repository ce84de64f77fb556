/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Maps of a process with a hundred thousand mappings fit; a file that never ends does not. */
static const size_t file_limit = (size_t)64 << 20;

static struct mpiq_error *no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
}

struct mpiq_error *mpiq_proc_read(const char *path, char **ret, size_t *size)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return mpiq_error_create_os(errno, "cannot open %s", path);
    size_t capacity = 4096, used = 0;
    _cleanup_free_ char *text = malloc(capacity + 1);
    if (!text)
        return no_memory();
    for (;;) {
        if (used == capacity) {
            char *larger = capacity < file_limit ? realloc(text, capacity * 4 + 1) : NULL;
            if (!larger)
                return no_memory();
            text = larger;
            capacity *= 4;
        }
        ssize_t got = read(fd, text + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mpiq_error_create_os(errno, "cannot read %s", path);
        if (got == 0)
            break;
        used += (size_t)got;
    }
    text[used] = '\0';
    *ret = mpiq_steal(text);
    *size = used;
    return NULL;
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
    /* The name is in parentheses and may hold some itself. */
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    struct mpiq_proc_stat stat = {0};
    int parent;
    unsigned long long user, system, start;
    long long children_user, children_system;
    if (!name || !end || end < name ||
        sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d %llu",
               &stat.state, &parent, &user, &system, &children_user, &children_system, &start) != 7)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not as expected", path);
    snprintf(stat.name, sizeof stat.name, "%.*s", (int)(end - name - 1), name + 1);
    stat.parent = parent;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    stat.cpu_ns = (user + system) * tick_ns;
    if (children_user >= 0 && children_system >= 0)
        stat.children_ns = ((uint64_t)children_user + (uint64_t)children_system) * tick_ns;
    stat.start_time = start;
    *ret = stat;
    return NULL;
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

long mpiq_proc_status_number(pid_t pid, const char *name)
{
    long numbers[2];
    mpiq_proc_status_numbers(pid, (const char *const[]){name, NULL}, numbers);
    return numbers[0];
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
    char *numbers = error ? NULL : strstr(text, "\nNSpid:");
    if (!numbers)
        return 0;
    numbers[1 + strcspn(numbers + 1, "\n")] = '\0';
    const char *last = strrchr(numbers, '\t');
    return last ? (pid_t)strtol(last + 1, NULL, 10) : 0;
}

void mpiq_mapping_set_path(struct mpiq_mapping *mapping, char *path)
{
    static const char suffix[] = " (deleted)";
    size_t length = strlen(path);
    if (length >= sizeof suffix - 1 && strcmp(path + length - (sizeof suffix - 1), suffix) == 0) {
        path[length - (sizeof suffix - 1)] = '\0';
        mapping->deleted = true;
    }
    for (char *escape = path; (escape = strstr(escape, "\\012")); escape++) {
        *escape = '\n';
        memmove(escape + 1, escape + 4, strlen(escape + 4) + 1);
    }
    mapping->path = path;
}

/* A number, and the separator that has to follow it.  sscanf would take a third of the time of a look. */
static bool take_number(char **at, int base, char separator, uint64_t *ret)
{
    uint64_t value = 0;
    char *c = *at;
    for (;; c++) {
        int digit = *c >= '0' && *c <= '9' ? *c - '0' : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10 : 16;
        if (digit >= base)
            break;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    if (c == *at || *c != separator)
        return false;
    *at = c + 1;
    *ret = value;
    return true;
}

/* "START-END FLAGS OFFSET MAJOR:MINOR INODE    PATH" */
static bool parse_mapping(char *line, struct mpiq_mapping *ret)
{
    struct mpiq_mapping mapping = {0};
    uint64_t device_major, device_minor;
    if (!take_number(&line, 16, '-', &mapping.start) || !take_number(&line, 16, ' ', &mapping.end) ||
        strlen(line) < 5 || line[4] != ' ')
        return false;
    mapping.executable = line[2] == 'x';
    line += 5;
    if (!take_number(&line, 16, ' ', &mapping.offset) || !take_number(&line, 16, ':', &device_major) ||
        !take_number(&line, 16, ' ', &device_minor))
        return false;
    mapping.device = makedev((unsigned)device_major, (unsigned)device_minor);
    if (!take_number(&line, 10, ' ', &mapping.inode))
        return false;
    mpiq_mapping_set_path(&mapping, line + strspn(line, " "));
    *ret = mapping;
    return true;
}

struct mpiq_error *mpiq_proc_mappings(pid_t pid, struct mpiq_mappings *ret)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    _cleanup_free_ char *text = NULL;
    size_t size, lines = 1;
    struct mpiq_error *error = mpiq_proc_read(path, &text, &size);
    if (error || !text)
        return error;
    for (const char *c = text; (c = strchr(c, '\n')); c++)
        lines++;
    struct mpiq_mappings mappings = {.items = calloc(lines, sizeof *mappings.items)};
    if (!mappings.items)
        return no_memory();
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (!parse_mapping(line, &mappings.items[mappings.count])) {
            error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s is not as expected: \"%s\"", path, line);
            free(mappings.items);
            return error;
        }
        mappings.count++;
    }
    mappings.text = mpiq_steal(text);
    *ret = mappings;
    return NULL;
}

void mpiq_mappings_deinit(struct mpiq_mappings *mappings)
{
    free(mappings->items);
    free(mappings->text);
    *mappings = (struct mpiq_mappings){0};
}

const struct mpiq_mapping *mpiq_mappings_at(const struct mpiq_mappings *mappings, uint64_t address)
{
    size_t low = 0, high = mappings->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (mappings->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < mappings->count && mappings->items[low].start <= address)
        return &mappings->items[low];
    return NULL;
}

static int compare_tids(const void *a, const void *b)
{
    return (*(const pid_t *)a > *(const pid_t *)b) - (*(const pid_t *)a < *(const pid_t *)b);
}

struct mpiq_error *mpiq_proc_threads(pid_t pid, pid_t **ret, size_t *count)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    if (!directory)
        return mpiq_error_create_os(errno == ENOENT ? ESRCH : errno, "cannot list %s", path);
    _cleanup_free_ pid_t *tids = NULL;
    size_t used = 0, capacity = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        int tid = atoi(entry->d_name);
        if (tid <= 0)
            continue;
        if (used == capacity) {
            capacity = capacity ? capacity * 2 : 16;
            pid_t *larger = realloc(tids, capacity * sizeof *tids);
            if (!larger) {
                closedir(directory);
                return no_memory();
            }
            tids = larger;
        }
        tids[used++] = tid;
    }
    closedir(directory);
    if (used)
        qsort(tids, used, sizeof *tids, compare_tids);
    *ret = mpiq_steal(tids);
    *count = used;
    return NULL;
}
