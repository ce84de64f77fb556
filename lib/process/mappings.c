/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/proc.h"

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
        return mpiq_error_no_memory();
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
