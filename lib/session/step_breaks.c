/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/step_breaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

static const char usage[] = "is not a breakpoint: name a call (MPI_Bcast), a line (ring.c:20), comm=NAME, "
                            "rank=LIST, or several of these "
                            "with commas between";

static struct mpiq_error *take_line(const char *part, const char *colon, struct mpiq_step_break *ret)
{
    char *end;
    unsigned long line = strtoul(colon + 1, &end, 10);
    const char *slash = strrchr(part, '/'), *name = slash ? slash + 1 : part;
    size_t length = (size_t)(colon - name);
    if (colon[1] < '1' || colon[1] > '9' || *end || line > 1000000000 || colon <= name ||
        length >= sizeof ret->file)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "'%s' is not a line of a file, such as ring.c:20", part);
    memcpy(ret->file, name, length);
    ret->line = (unsigned)line;
    ret->record.by_line = 1;
    return NULL;
}

static struct mpiq_error *take_part(const char *part, struct mpiq_step_break *ret)
{
    const char *colon = strrchr(part, ':');
    if (strncmp(part, "comm=", 5) == 0 && part[5] && strlen(part + 5) < sizeof ret->record.comm) {
        snprintf(ret->record.comm, sizeof ret->record.comm, "%s", part + 5);
        return NULL;
    }
    if (strncmp(part, "rank=", 5) == 0 && part[5])
        return mpiq_rank_set_parse(part + 5, &ret->ranks);
    if (strncasecmp(part, "MPI_", 4) == 0 && part[4] && strlen(part) < sizeof ret->record.call &&
        strspn(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == strlen(part)) {
        snprintf(ret->record.call, sizeof ret->record.call, "%s", part);
        return NULL;
    }
    if (colon)
        return take_line(part, colon, ret);
    return mpiq_error_create(MPIQ_ERROR_USAGE, "'%s' %s", part, usage);
}

/* A comma separates parts, but in a list of ranks: "rank=0,2" goes on with digits. */
static char *next_part(char **rest)
{
    char *part = *rest, *comma = part;
    bool ranks = strncmp(part, "rank=", 5) == 0;
    do {
        comma = strchr(comma + (comma != part), ',');
    } while (comma && ranks && comma[1] >= '0' && comma[1] <= '9');
    *rest = comma ? comma + 1 : NULL;
    if (comma)
        *comma = '\0';
    return part;
}

struct mpiq_error *mpiq_step_break_parse(const char *text, struct mpiq_step_break *ret)
{
    struct mpiq_step_break one = {.used = true, .text = strdup(text)};
    _cleanup_free_ char *copy = strdup(text);
    struct mpiq_error *error = one.text && copy ? NULL : mpiq_error_no_memory();
    for (char *rest = copy; rest && !error;)
        error = take_part(next_part(&rest), &one);
    if (error)
        mpiq_step_break_deinit(&one);
    else
        *ret = one;
    return error;
}

void mpiq_step_break_deinit(struct mpiq_step_break *one)
{
    free(one->text);
    mpiq_rank_set_deinit(&one->ranks);
    *one = (struct mpiq_step_break){.used = false};
}

bool mpiq_step_break_is_at(const struct mpiq_step_break *one, const char *file, int line)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    return file && one->file[0] && line > 0 && (unsigned)line == one->line &&
           strcmp(slash ? slash + 1 : file, one->file) == 0;
}

void mpiq_step_break_list(const struct mpiq_step_break *all, size_t count, struct mpiq_buffer *text)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].used)
            mpiq_buffer_printf(text, "%s%zu %s", text->length > 0 ? "  " : "", i + 1, all[i].text);
    }
}
