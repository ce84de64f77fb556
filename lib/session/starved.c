/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/starved.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/proc.h"

/* A reader, its broker, a helper of theirs. */
enum { DEPTH_MOST = 3 };

static void add_process(pid_t pid, int depth, struct mpiq_share *ret);

/* Where the kernel lists no children, their share is not known: none is starved. */
static void add_children(pid_t pid, pid_t tid, int depth, struct mpiq_share *ret)
{
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_proc_children(pid, tid, &children, &count));
    for (size_t i = 0; i < count; i++)
        add_process(children[i], depth - 1, ret);
}

static void add_process(pid_t pid, int depth, struct mpiq_share *ret)
{
    pid_t *tids = NULL;
    size_t count = 0;
    struct mpiq_error *error = mpiq_proc_threads(pid, &tids, &count);
    for (size_t i = 0; i < count && !error; i++) {
        struct mpiq_proc_stat stat = {0};
        uint64_t ns = 0;
        struct mpiq_error *ended = mpiq_proc_stat(pid, tids[i], &stat);
        if (!ended && mpiq_proc_thread_time(pid, tids[i], &ns)) {
            ret->cpu_ns += ns;
            ret->wants = ret->wants || stat.state == 'R';
        }
        mpiq_error_destroy(ended);
        if (depth > 0)
            add_children(pid, tids[i], depth, ret);
    }
    free(tids);
    mpiq_error_destroy(error);
}

struct mpiq_share mpiq_share_of(pid_t pid, bool below)
{
    struct mpiq_share share = {0};
    if (pid > 0)
        add_process(pid, below ? DEPTH_MOST : 0, &share);
    return share;
}

bool mpiq_is_starved(const struct mpiq_share *before, const struct mpiq_share *now, int64_t ns)
{
    return now->wants && now->cpu_ns >= before->cpu_ns && 2 * (int64_t)(now->cpu_ns - before->cpu_ns) < ns;
}
