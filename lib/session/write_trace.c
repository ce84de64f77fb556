/* SPDX-License-Identifier: BSD-3-Clause */
/* write_trace - what was read of a job, as an OTF2 archive: by a program of its own, from a snapshot. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "mpiq.h"
#include "rank/program_path.h"

extern char **environ;

static struct mpiq_error *run_writer(const char *program, const char *snapshot, const char *directory)
{
    char *const words[] = {(char *)program, (char *)snapshot, (char *)directory, NULL};
    pid_t pid;
    int status = 0;
    int errnum = posix_spawn(&pid, program, NULL, NULL, words, environ);
    if (errnum)
        return mpiq_error_create_os(errnum, "cannot start %s", program);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return mpiq_error_create_os(errno, "waiting for %s", program);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? NULL
               : mpiq_error_create(MPIQ_ERROR_IO, "the archive %s could not be written", directory);
}

struct mpiq_error *mpiq_job_otf2(const struct mpiq_job *job, const char *directory)
{
    _cleanup_free_ char *program = NULL;
    _cleanup_free_ char *snapshot = NULL;
    struct mpiq_error *error =
        mpiq_program_path("MPIQ_TRACE_WRITER", "mpiq-trace-writer", MPIQ_LIBEXEC, "lib/trace", &program);
    if (error && error->code == MPIQ_ERROR_NOT_FOUND) {
        mpiq_error_destroy(error);
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "this mpiq was built without libotf2, which writes traces (on Debian: "
                                 "libopen-trace-format2-dev)");
    }
    if (error)
        return error;
    if (mkdir(directory, 0700) < 0)
        return errno == EEXIST
                   ? mpiq_error_create(MPIQ_ERROR_USAGE, "%s exists: name a new directory", directory)
                   : mpiq_error_create_os(errno, "cannot make the directory %s", directory);
    if (asprintf(&snapshot, "%s/.job.mpiq", directory) < 0) {
        snapshot = NULL;
        return mpiq_error_no_memory();
    }
    error = mpiq_job_snapshot(job, snapshot);
    if (!error)
        error = run_writer(program, snapshot, directory);
    unlink(snapshot);
    return error;
}
