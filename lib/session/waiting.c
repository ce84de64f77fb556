/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/waiting.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "mpiq_record.h"
#include "process/mappings.h"
#include "process/object.h"
#include "process/pipe.h"
#include "process/symbols.h"

enum { THREADS_MOST = 64 };

static bool read_rank(pid_t pid, uint64_t address, void *to, size_t size)
{
    struct iovec here = {.iov_base = to, .iov_len = size};
    struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size}; /* NOLINT */
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* From our own file, which is the one that ranks preload. */
static void find_offset(struct mpiq_waiting *waiting)
{
    _cleanup_free_ char *path = NULL;
    struct mpiq_object *object = NULL;
    if (waiting->sought)
        return;
    waiting->sought = true;
    struct mpiq_error *error = mpiq_recorder_path(&path);
    if (!error)
        error = mpiq_object_open(path, path, &object);
    if (!error && mpiq_symbols_find(object, MPIQ_SYMBOL_GLOBAL, "mpiq_record_root", &waiting->offset))
        waiting->offset -= object->first;
    mpiq_error_destroy(error);
}

static void find_root(const struct mpiq_waiting *waiting, struct mpiq_waiting_rank *rank)
{
    static const char name[] = "/libmpiq_record.so";
    struct mpiq_mappings mappings = {0};
    if (rank->sought || !waiting->offset)
        return;
    struct mpiq_error *error = mpiq_proc_mappings(rank->pid, &mappings);
    for (size_t i = 0; i < mappings.count && !error && !rank->root; i++) {
        const struct mpiq_mapping *mapping = &mappings.items[i];
        size_t length = strlen(mapping->path);
        if (mapping->offset == 0 && length >= sizeof name &&
            strcmp(mapping->path + length - (sizeof name - 1), name) == 0)
            rank->root = mapping->start + waiting->offset;
    }
    rank->sought = !error;
    mpiq_mappings_deinit(&mappings);
    mpiq_error_destroy(error);
}

/* The calls that its threads are in: equal only while none of them has moved on.  0: none is in a call, or
   that is not known. */
static uint64_t mark_of(const struct mpiq_waiting_rank *rank)
{
    struct mpiq_record_root root;
    struct mpiq_record_thread thread;
    const size_t head = offsetof(struct mpiq_record_thread, history);
    uint64_t mark = MPIQ_HASH_START;
    bool any = false;
    if (!rank->root || !read_rank(rank->pid, rank->root, &root, sizeof root) || root.magic[0] == '\0' ||
        root.size != sizeof root)
        return 0;
    uint32_t at = root.threads;
    for (int i = 0; at && i < THREADS_MOST; i++, at = thread.next) {
        uint64_t address = root.arena + at;
        struct mpiq_record_call call;
        if (!read_rank(rank->pid, address, &thread, head))
            return 0;
        if (thread.tid == 0 || thread.calls == 0)
            continue;
        uint64_t slot = (thread.calls - 1) % MPIQ_RECORD_HISTORY;
        if (!read_rank(rank->pid, address + head + slot * sizeof call, &call, sizeof call))
            return 0;
        any = any || call.end == 0;
        mark = mpiq_hash(mpiq_hash(mark, thread.calls), call.end);
    }
    return any ? mark : 0;
}

static struct mpiq_waiting_rank *find_rank(struct mpiq_waiting *waiting, pid_t pid)
{
    for (size_t i = 0; i < waiting->count; i++) {
        if (waiting->ranks[i].pid == pid)
            return &waiting->ranks[i];
    }
    if (!mpiq_array_reserve(&waiting->ranks, &waiting->capacity, waiting->count + 1))
        return NULL;
    waiting->ranks[waiting->count] = (struct mpiq_waiting_rank){.pid = pid};
    return &waiting->ranks[waiting->count++];
}

struct mpiq_waiting_ranks mpiq_waiting_sample(struct mpiq_waiting *waiting,
                                              const struct mpiq_job_motion *motion, double seconds)
{
    struct mpiq_waiting_ranks ret = {.mark = MPIQ_HASH_START};
    int64_t now = mpiq_monotonic_ns();
    find_offset(waiting);
    for (size_t i = 0; i < motion->count; i++) {
        const struct mpiq_moving_process *process = &motion->processes[i];
        struct mpiq_waiting_rank *rank =
            process->is_rank && process->state != 'Z' ? find_rank(waiting, process->pid) : NULL;
        if (!rank)
            continue;
        find_root(waiting, rank);
        uint64_t mark = mark_of(rank);
        rank->since = mark == rank->mark ? rank->since : now;
        rank->mark = mark;
        ret.all++;
        if (!mark || (double)(now - rank->since) / 1e9 < seconds)
            continue;
        ret.waiting++;
        ret.mark = mpiq_hash(mpiq_hash(ret.mark, (uint64_t)rank->pid), mark);
    }
    return ret;
}

void mpiq_waiting_deinit(struct mpiq_waiting *waiting)
{
    free(waiting->ranks);
    *waiting = (struct mpiq_waiting){0};
}
