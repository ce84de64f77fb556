/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiq-trace-writer SNAPSHOT DIRECTORY - writes a snapshot's job as an OTF2 archive (trace/write.h).
 *
 * A process of its own, so that mpiq need not load libotf2.  It is started by mpiq, with a snapshot that mpiq
 * has just written.
 */
#include <stdio.h>
#include <stdlib.h>

#include "state/snapshot.h"
#include "trace/write.h"
#include "merge/merge.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "mpiq-trace-writer is started by mpiq, not by hand\n");
        return EXIT_FAILURE;
    }
    struct mpiq_job_state *job = mpiq_job_state_create();
    struct mpiq_error *error = job ? mpiq_merge_snapshot(job, argv[1]) : mpiq_error_no_memory();
    if (!error)
        error = mpiq_job_state_finish(job);
    if (!error)
        error = mpiq_trace_write(job, argv[2]);
    if (error)
        fprintf(stderr, "mpiq: %s\n", error->message);
    int status = error ? EXIT_FAILURE : EXIT_SUCCESS;
    mpiq_error_destroy(error);
    mpiq_job_state_destroy(job);
    return status;
}
