/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <stdio.h>

#include "options.h"

int say_error(struct mpiq_error *error)
{
    int status = mpiq_error_is_usage(error) ? EXIT_USAGE : EXIT_NOTHING_READ;
    fprintf(stderr, "mpiq: %s\n", mpiq_error_message(error));
    mpiq_error_destroy(error);
    return status;
}
