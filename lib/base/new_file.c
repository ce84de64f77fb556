/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static struct mpiq_error *check_place(const char *path)
{
    struct stat status;
    if (lstat(path, &status) < 0 || S_ISREG(status.st_mode))
        return NULL;
    return mpiq_error_create(MPIQ_ERROR_USAGE, "%s cannot be written: it is %s; name a file", path,
                             S_ISDIR(status.st_mode)   ? "a directory"
                             : S_ISLNK(status.st_mode) ? "a symbolic link"
                                                       : "no regular file");
}

static void deinit(struct mpiq_new_file *file)
{
    free(file->path);
    free(file->temporary);
    *file = (struct mpiq_new_file){0};
}

struct mpiq_error *mpiq_new_file_create(const char *path, struct mpiq_new_file *ret)
{
    struct mpiq_new_file file = {.path = strdup(path)};
    struct mpiq_error *error = check_place(path);
    if (!error && (!file.path || asprintf(&file.temporary, "%s.XXXXXX", path) < 0)) {
        file.temporary = NULL;
        error = mpiq_error_no_memory();
    }
    int fd = error ? -1 : mkostemp(file.temporary, O_CLOEXEC); /* mode 0600 */
    if (!error && fd < 0)
        error = mpiq_error_create_os(errno, "%s cannot be written", path);
    if (!error)
        file.stream = fdopen(fd, "w");
    if (!error && !file.stream) {
        error = mpiq_error_create_os(errno, "%s cannot be written", path);
        close(fd);
        unlink(file.temporary);
    }
    if (error)
        deinit(&file);
    else
        *ret = file;
    return error;
}

struct mpiq_error *mpiq_new_file_finish(struct mpiq_new_file *file)
{
    struct mpiq_error *error = NULL;
    FILE *stream = mpiq_steal(file->stream);
    bool whole = fflush(stream) == 0 && !ferror(stream) && fsync(fileno(stream)) == 0;
    int errnum = errno;
    if (fclose(stream) != 0 && whole) {
        whole = false;
        errnum = errno;
    }
    /* Somebody may have put something there meanwhile: renaming replaces a link, and does not follow it. */
    if (whole && rename(file->temporary, file->path) != 0) {
        whole = false;
        errnum = errno;
    }
    if (!whole) {
        unlink(file->temporary);
        error = mpiq_error_create_os(errnum ? errnum : EIO, "%s cannot be written", file->path);
    }
    deinit(file);
    return error;
}

void mpiq_new_file_abandon(struct mpiq_new_file *file)
{
    if (file->stream) {
        fclose(file->stream);
        unlink(file->temporary);
    }
    deinit(file);
}
