/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/job_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/debug.h"
#include "base/hash_table.h"
#include "base/proc.h"
#include "names/objects.h"
#include "names/variables.h"
#include "session/process_table.h"

/* More than any job has on one host. */
enum { PROCESSES_MAX = 1 << 16 };

void mpiq_job_motion_init(struct mpiq_job_motion *motion, pid_t root)
{
    *motion = (struct mpiq_job_motion){.root = root};
}

void mpiq_job_motion_deinit(struct mpiq_job_motion *motion)
{
    free(motion->processes);
    *motion = (struct mpiq_job_motion){0};
}

/* ---- one process --------------------------------------------------------------------------------------- */

/* Parent, state and counters. */
static bool read_stat(pid_t pid, struct mpiq_moving_process *ret)
{
    struct mpiq_proc_stat stat;
    struct mpiq_error *error = mpiq_proc_stat(pid, 0, &stat);
    mpiq_error_destroy(error);
    if (error)
        return false;
    ret->pid = pid;
    ret->parent = stat.parent;
    ret->state = stat.state;
    ret->start_time = stat.start_time;
    ret->cpu_ns = stat.cpu_ns + stat.children_ns;
    ret->faults = stat.faults;
    return true;
}

static void read_io(struct mpiq_moving_process *process)
{
    size_t size;
    _cleanup_free_ char *text = mpiq_proc_read_of(process->pid, "io", &size);
    if (!text)
        return;
    process->reads.bytes = mpiq_proc_count(text, "rchar");
    process->reads.calls = mpiq_proc_count(text, "syscr");
    process->writes.bytes = mpiq_proc_count(text, "wchar");
    process->writes.calls = mpiq_proc_count(text, "syscw");
}

/* An eventfd or timerfd moves eight bytes per call: that is a library waking its own threads, not I/O.  Nor
   is a call that moves no bytes: when we copy the stack of a thread that waits in read(), its read() begins
   again. */
static bool moved_bytes(const struct mpiq_transfers *before, const struct mpiq_transfers *now)
{
    enum { COUNTER = 8 };
    uint64_t bytes = now->bytes - before->bytes, calls = now->calls - before->calls;
    return bytes % COUNTER != 0 || bytes / COUNTER > calls;
}

static bool has_rank_variable(pid_t pid)
{
    size_t size = 0;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "environ", &size);
    for (size_t i = 0; text && mpiq_rank_variables[i]; i++) {
        if (mpiq_proc_variable(text, size, mpiq_rank_variables[i]))
            return true;
    }
    return false;
}

static bool maps_mpi(pid_t pid)
{
    size_t size = 0;
    _cleanup_free_ char *text = mpiq_proc_read_of(pid, "maps", &size);
    return text && mpiq_maps_mpi(text);
}

static uint64_t executable_of(pid_t pid)
{
    char path[96];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (stat(path, &status) < 0)
        return 0;
    return mpiq_hash(mpiq_hash(MPIQ_HASH_START, status.st_dev), status.st_ino);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static struct mpiq_moving_process *find(const struct mpiq_job_motion *motion, pid_t pid)
{
    for (size_t low = 0, high = motion->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (motion->processes[middle].pid == pid)
            return &motion->processes[middle];
        if (motion->processes[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool add(struct mpiq_job_motion *list, pid_t pid, pid_t not_this)
{
    struct mpiq_moving_process process = {0};
    if (pid <= 0 || pid == not_this || list->count >= PROCESSES_MAX || !read_stat(pid, &process) ||
        !mpiq_array_reserve(&list->processes, &list->capacity, list->count + 1))
        return false;
    list->processes[list->count++] = process;
    return true;
}

static void add_below(struct mpiq_job_motion *list, pid_t pid)
{
    _cleanup_free_ pid_t *children = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_proc_children(pid, 0, &children, &count));
    for (size_t i = 0; i < count; i++)
        add(list, children[i], list->root);
}

/* For kernels that do not list children: all processes, of which those stay that lie below root. */
static void add_all(struct mpiq_job_motion *list)
{
    struct mpiq_job_motion all = {.root = list->root};
    pid_t *pids = NULL;
    size_t count = 0;
    mpiq_error_destroy(mpiq_proc_processes(&pids, &count));
    for (size_t i = 0; i < count; i++)
        add(&all, pids[i], list->root);
    free(pids);
    pid_t parent = list->root;
    for (size_t next = 0;; parent = list->processes[next++].pid) {
        for (size_t i = 0; i < all.count; i++) {
            if (all.processes[i].parent == parent &&
                mpiq_array_reserve(&list->processes, &list->capacity, list->count + 1))
                list->processes[list->count++] = all.processes[i];
        }
        if (next == list->count)
            break;
    }
    mpiq_job_motion_deinit(&all);
}

static void list_processes(struct mpiq_job_motion *list)
{
    if (access("/proc/thread-self/children", R_OK) != 0) {
        add_all(list);
        return;
    }
    add_below(list, list->root);
    for (size_t i = 0; i < list->count; i++)
        add_below(list, list->processes[i].pid);
}

static bool below_rank(const struct mpiq_job_motion *list, size_t at)
{
    /* Parents come before their children. */
    for (size_t i = at; i-- > 0;) {
        if (list->processes[i].pid == list->processes[at].parent)
            return list->processes[i].is_rank || below_rank(list, i);
    }
    return false;
}

/* Who is a rank: asked again of a process until it maps an MPI library, and when it runs another program. */
static void classify(const struct mpiq_job_motion *before, struct mpiq_job_motion *list, size_t at)
{
    struct mpiq_moving_process *process = &list->processes[at];
    const struct mpiq_moving_process *known = find(before, process->pid);
    process->executable = executable_of(process->pid);
    if (below_rank(list, at)) {
        process->in_job = true;
        return;
    }
    bool same = known && known->start_time == process->start_time && known->executable == process->executable;
    bool was_rank = same && known->is_rank;
    process->is_rank = was_rank || maps_mpi(process->pid);
    if (!list->all_here && process->is_rank && !was_rank)
        list->all_here = mpiq_process_world_is_here(process->pid);
    process->in_job = process->is_rank || (same ? known->in_job : has_rank_variable(process->pid));
}

/* What has changed about it, for MPIQ_DEBUG=watch; NULL: nothing that counts. */
static const char *what_moved(const struct mpiq_moving_process *before, const struct mpiq_moving_process *now)
{
    if (!before || before->start_time != now->start_time || before->executable != now->executable)
        return "started";
    if (before->faults != now->faults)
        return "got memory";
    if (moved_bytes(&before->reads, &now->reads) || moved_bytes(&before->writes, &now->writes))
        return "did I/O";
    return !now->is_rank && before->cpu_ns != now->cpu_ns ? "used the processor" : NULL;
}

static int by_pid(const void *a, const void *b)
{
    const struct mpiq_moving_process *left = a, *right = b;
    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

struct mpiq_job_motion_sample mpiq_job_motion_sample(struct mpiq_job_motion *motion)
{
    struct mpiq_job_motion now = {.root = motion->root, .all_here = motion->all_here};
    struct mpiq_job_motion_sample sample = {0};
    size_t known = 0, in_job = 0;
    list_processes(&now);
    for (size_t i = 0; i < now.count; i++) {
        struct mpiq_moving_process *process = &now.processes[i];
        classify(motion, &now, i);
        if (!process->in_job || process->state == 'Z')
            continue;
        in_job++;
        read_io(process);
        const struct mpiq_moving_process *before = find(motion, process->pid);
        known += before && before->in_job && before->start_time == process->start_time;
        const char *what = what_moved(before, process);
        if (what)
            mpiq_debug("watch", "process %d %s", (int)process->pid, what);
        sample.moved |= what != NULL;
        sample.mover = what ? process->pid : sample.mover;
        sample.what = what ? what : sample.what;
        sample.ranks += process->is_rank;
        sample.debugged |= process->is_rank &&
                           (process->state == 't' || mpiq_proc_status_number(process->pid, "TracerPid") > 0);
    }
    size_t had = 0;
    for (size_t i = 0; i < motion->count; i++)
        had += motion->processes[i].in_job && motion->processes[i].state != 'Z';
    sample.moved |= known < had; /* one has ended */
    if (now.count > 0)
        qsort(now.processes, now.count, sizeof *now.processes, by_pid);
    free(motion->processes);
    *motion = now;
    return sample;
}

bool mpiq_job_motion_marks(pid_t pid, uint64_t *cpu_ns, uint64_t *sleeps)
{
    struct mpiq_moving_process process;
    pid_t *tids = NULL;
    size_t count = 0;
    if (!read_stat(pid, &process))
        return false;
    struct mpiq_error *error = mpiq_proc_threads(pid, &tids, &count);
    *cpu_ns = process.cpu_ns;
    *sleeps = 0;
    for (size_t i = 0; i < count && !error; i++) {
        char name[48];
        size_t size = 0;
        snprintf(name, sizeof name, "task/%d/status", (int)tids[i]);
        _cleanup_free_ char *text = mpiq_proc_read_of(pid, name, &size);
        *sleeps += text ? mpiq_proc_count(text, "voluntary_ctxt_switches") : 0;
    }
    free(tids);
    mpiq_error_destroy(error);
    return true;
}
