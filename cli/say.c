/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <stdio.h>

#include "options.h"

int put_out(const char *path, const char *text)
{
    FILE *file = path ? fopen(path, "we") : stdout;
    bool written = file && fputs(text, file) >= 0;
    if (file)
        written &= (file == stdout ? fflush(file) : fclose(file)) == 0;
    if (!written) {
        fprintf(stderr, "mpiq: cannot write the answer to %s: %m\n", path ? path : "stdout");
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
