/* SPDX-License-Identifier: BSD-3-Clause */
#include "recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "state/state_lines.h"
#include "merge/merge.h"

void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

void expect_no_error(struct mpiq_error *error, const char *where)
{
    if (error)
        give_up("%s: %s", where, error->message);
}

void *need(void *allocated)
{
    if (!allocated)
        give_up("no memory");
    return allocated;
}

/* The whole file; NULL: there is none. */
static char *read_file(const char *path, size_t *size)
{
    FILE *file _cleanup_fclose_ = fopen(path, "rb");
    if (!file && errno == ENOENT)
        return NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0)
        give_up("%s cannot be read: %s", path, strerror(errno));
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = need(malloc(*size + 1));
    if (fread(bytes, 1, *size, file) != *size)
        give_up("%s cannot be read", path);
    return bytes;
}

/* The text that the file holds compressed, terminated. */
static char *decompress(const char *path)
{
    size_t size = 0;
    char *bytes _cleanup_free_ = read_file(path, &size);
    if (!bytes)
        return NULL;
    unsigned long long whole = ZSTD_getFrameContentSize(bytes, size);
    if (whole == ZSTD_CONTENTSIZE_ERROR || whole == ZSTD_CONTENTSIZE_UNKNOWN)
        give_up("%s is no pack of recordings", path);
    char *text = need(malloc(whole + 1));
    if (ZSTD_decompress(text, whole, bytes, size) != whole)
        give_up("%s is damaged", path);
    text[whole] = '\0';
    return text;
}

static struct mpiq_error *add_state(void *context, int look, struct mpiq_rank_state **state)
{
    return mpiq_job_state_add(context, look, *state);
}

static void finish(struct recording *recording, const char *path)
{
    if (recording && recording->job)
        expect_no_error(mpiq_job_state_finish(recording->job), path);
}

static struct recording *begin(struct recordings *recordings, const char *line, const char *only)
{
    recordings->items = need(realloc(recordings->items, (recordings->count + 1) * sizeof(struct recording)));
    struct recording *recording = &recordings->items[recordings->count++];
    *recording = (struct recording){0};
    if (sscanf(line, "case %ms %ms %ms", &recording->name, &recording->date, &recording->commit) != 3)
        give_up("'%.80s' begins no case", line);
    if (!only || strcmp(only, recording->name) == 0)
        recording->job = need(mpiq_job_state_create());
    return recording;
}

struct recordings recordings_read(const char *path, const char *only)
{
    struct recordings recordings = {0};
    struct recording *recording = NULL;
    struct mpiq_state_lines lines = {0};
    char *text _cleanup_free_ = decompress(path);
    for (char *line = text, *end; line && *line; line = end + 1) {
        end = need(strchr(line, '\n'));
        *end = '\0';
        if (strncmp(line, "case ", 5) == 0) {
            finish(recording, path);
            mpiq_state_lines_deinit(&lines);
            lines = (struct mpiq_state_lines){0};
            recording = begin(&recordings, line, only);
        } else if (strncmp(line, "source ", 7) != 0 && ((struct recording *)need(recording))->job) {
            struct mpiq_error *error =
                mpiq_state_lines_take(&lines, line, (size_t)(end - line), add_state, recording->job);
            expect_no_error(error, recording->name);
        }
    }
    finish(recording, path);
    mpiq_state_lines_deinit(&lines);
    return recordings;
}

void recordings_deinit(struct recordings *recordings)
{
    for (size_t i = 0; i < recordings->count; i++) {
        struct recording *recording = &recordings->items[i];
        free(recording->name);
        free(recording->date);
        free(recording->commit);
        mpiq_job_state_destroy(recording->job);
    }
    free(recordings->items);
}
