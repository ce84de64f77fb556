/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <stdio.h>

#include "exit_status.h"

int put_out(const char *path, const char *text)
{
    struct mpiq_error *error = path ? mpiq_write_file(path, text) : NULL;
    if (error)
        return say_error(error);
    if (!path && (fputs(text, stdout) < 0 || fflush(stdout) != 0)) {
        fprintf(stderr, "mpiq: cannot write the answer to stdout: %m\n");
        return EXIT_NOTHING_READ;
    }
    return EXIT_FINE;
}

int say_error(struct mpiq_error *error)
{
    int status = mpiq_error_is_usage(error) ? EXIT_USAGE : EXIT_NOTHING_READ;
    fprintf(stderr, "mpiq: %s\n", mpiq_error_message(error));
    mpiq_error_destroy(error);
    return status;
}
