/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_live PID - serves a live process over the wire on standard input and output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "process/target.h"

int main(int argc, char **argv)
{
    struct mpiq_target *target = NULL;
    struct mpiq_error *error;

    if (argc != 2) {
        fprintf(stderr, "usage: serve_live PID\n");
        return 2;
    }
    error = mpiq_target_live_create((pid_t)atoi(argv[1]), false, &target);
    if (error == NULL) {
        error = mpiq_target_serve(target, 0, 1, NULL, NULL);
    }
    mpiq_target_destroy(target);
    if (error != NULL) {
        fprintf(stderr, "serve_live: %s\n", error->message);
        mpiq_error_destroy(error);
        return 1;
    }
    return 0;
}
