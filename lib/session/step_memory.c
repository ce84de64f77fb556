/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/step_memory.h"

#include <string.h>
#include <unistd.h>

#include "session/remains_core.h"

/* ---- bytes -----------------------------------------------------------------------------------------------
 */

static bool is_within(const struct mpiq_step_memory *memory, uint64_t offset, size_t size)
{
    return offset >= 64 && offset % 8 == 0 && offset <= memory->root.arena_used &&
           size <= memory->root.arena_used - offset;
}

static bool read_at(const struct mpiq_step_memory *memory, uint64_t offset, void *to, size_t size)
{
    return is_within(memory, offset, size) &&
           pread(memory->file, to, size, (off_t)(MPIQ_RECORD_FILE_ARENA + offset)) == (ssize_t)size;
}

/* Of a file that has been cut short the rank alone is to blame. */
static void write_at(const struct mpiq_step_memory *memory, uint64_t offset, const void *from, size_t size)
{
    if (is_within(memory, offset - offset % 8, size + offset % 8))
        (void)!pwrite(memory->file, from, size, (off_t)(MPIQ_RECORD_FILE_ARENA + offset));
}

bool mpiq_step_memory_open(int file, struct mpiq_step_memory *ret)
{
    ret->file = file;
    return file >= 0 && mpiq_remains_root(file, &ret->root);
}

/* ---- threads ---------------------------------------------------------------------------------------------
 */

/* The call that a thread is in; false: in none. */
static bool find_call(const struct mpiq_step_memory *memory, uint32_t tid, struct mpiq_record_call *call,
                      uint64_t *number)
{
    struct mpiq_record_thread thread;
    const size_t head = offsetof(struct mpiq_record_thread, history);
    uint32_t at = memory->root.threads;
    for (int i = 0; at && i < MPIQ_RECORD_MAX_THREADS; i++, at = thread.next) {
        if (!read_at(memory, at, &thread, head))
            return false;
        if (thread.tid != tid)
            continue;
        uint64_t slot = (thread.calls - 1) % MPIQ_RECORD_HISTORY;
        *number = thread.number;
        return thread.calls > 0 && read_at(memory, at + head + slot * sizeof *call, call, sizeof *call) &&
               call->end == 0;
    }
    return false;
}

void mpiq_step_memory_function(const struct mpiq_step_memory *memory, unsigned index,
                               struct mpiq_record_function *ret)
{
    if (index >= memory->root.function_count ||
        !read_at(memory, memory->root.functions + index * sizeof *ret, ret, sizeof *ret))
        *ret = (struct mpiq_record_function){.collective = -1};
    ret->name[sizeof ret->name - 1] = '\0';
}

/* Strings end, counts are within their arrays. */
static void tame(struct mpiq_record_hold *hold)
{
    hold->comm_name[sizeof hold->comm_name - 1] = '\0';
    hold->type[sizeof hold->type - 1] = '\0';
    hold->op[sizeof hold->op - 1] = '\0';
    if (hold->peer_count > MPIQ_RECORD_HOLD_PEERS)
        hold->peer_count = MPIQ_RECORD_HOLD_PEERS;
    if (hold->data_size > MPIQ_RECORD_HOLD_DATA)
        hold->data_size = MPIQ_RECORD_HOLD_DATA;
}

/* Of a call that is just being written down, nothing. */
static bool read_thread(const struct mpiq_step_memory *memory, uint32_t at, struct mpiq_step_thread *ret)
{
    struct mpiq_record_function function;
    struct mpiq_record_hold again;
    struct mpiq_record_call call;
    struct mpiq_record_hold *hold = &ret->hold;
    *ret = (struct mpiq_step_thread){.at = at};
    if (!read_at(memory, at, hold, sizeof *hold))
        return false;
    tame(hold);
    mpiq_step_memory_function(memory, hold->function, &function);
    memcpy(ret->call, function.name, sizeof ret->call);
    bool waits = hold->state == MPIQ_RECORD_HOLD_HELD || hold->state == MPIQ_RECORD_HOLD_ASKS;
    ret->asks = hold->state == MPIQ_RECORD_HOLD_ASKS;
    ret->held = waits && hold->go != hold->number;
    if (!waits)
        ret->inside = find_call(memory, hold->tid, &call, &ret->number) &&
                      hold->state == MPIQ_RECORD_HOLD_WENT && call.function == hold->function;
    return read_at(memory, at, &again, sizeof again) && again.number == hold->number &&
           again.state == hold->state;
}

size_t mpiq_step_memory_threads(const struct mpiq_step_memory *memory, struct mpiq_step_thread *threads,
                                size_t room)
{
    struct mpiq_record_step step;
    size_t count = 0;
    if (!read_at(memory, memory->root.step, &step, sizeof step))
        return 0;
    uint32_t at = step.holds;
    for (int i = 0; at && i < MPIQ_RECORD_MAX_THREADS && count < room; i++) {
        struct mpiq_step_thread *thread = &threads[count];
        bool whole = read_thread(memory, at, thread);
        if (!whole)
            thread->held = thread->asks = thread->inside = false;
        count += thread->hold.tid != 0;
        at = thread->hold.next;
    }
    return count;
}

/* ---- communicators ---------------------------------------------------------------------------------------
 */

bool mpiq_step_memory_ordered(const struct mpiq_step_memory *memory, const uint64_t id[2], uint64_t *ret)
{
    struct mpiq_record_comm comm;
    const size_t head = offsetof(struct mpiq_record_comm, nonblocking);
    uint32_t at = memory->root.comms;
    for (int i = 0; at && i < MPIQ_RECORD_MAX_COMMS; i++, at = comm.next) {
        if (!read_at(memory, at, &comm, head))
            return false;
        if (memcmp(comm.id, id, sizeof comm.id) == 0) {
            *ret = comm.ordered;
            return true;
        }
    }
    return false;
}

void mpiq_step_memory_members(const struct mpiq_step_memory *memory, const struct mpiq_record_hold *hold,
                              void (*take)(void *argument, uint32_t rank), void *argument)
{
    struct mpiq_record_comm comm;
    struct mpiq_record_group group;
    uint32_t most = (uint32_t)(memory->root.world_size > 0 ? memory->root.world_size : 0), taken = 0;
    if (!read_at(memory, hold->comm, &comm, offsetof(struct mpiq_record_comm, nonblocking)) ||
        memcmp(comm.id, hold->comm_id, sizeof comm.id) != 0 ||
        !read_at(memory, comm.group, &group, sizeof group))
        return;
    for (uint32_t i = 0; i < group.run_count; i++) {
        struct mpiq_record_run run;
        if (!read_at(memory, comm.group + sizeof group + (uint64_t)i * sizeof run, &run, sizeof run))
            return;
        for (uint32_t k = 0; k < run.count && run.first != MPIQ_RECORD_FOREIGN && taken < most; k++, taken++)
            take(argument, run.first + k * (uint32_t)run.stride);
    }
}

/* ---- orders ----------------------------------------------------------------------------------------------
 */

static void write_number(const struct mpiq_step_memory *memory, uint64_t offset, uint32_t value)
{
    write_at(memory, offset, &value, sizeof value);
}

void mpiq_step_memory_mode(const struct mpiq_step_memory *memory, enum mpiq_record_step_mode mode)
{
    write_number(memory, memory->root.step + offsetof(struct mpiq_record_step, mode), (uint32_t)mode);
}

void mpiq_step_memory_go(const struct mpiq_step_memory *memory, const struct mpiq_step_thread *thread,
                         bool skip)
{
    uint32_t number = thread->hold.number;
    write_number(memory, thread->at + offsetof(struct mpiq_record_hold, skip), skip ? number : 0);
    write_number(memory, thread->at + offsetof(struct mpiq_record_hold, go), number);
}

void mpiq_step_memory_answer(const struct mpiq_step_memory *memory, const struct mpiq_step_thread *thread,
                             uint32_t breaks)
{
    write_number(memory, thread->at + offsetof(struct mpiq_record_hold, breaks), breaks);
    write_number(memory, thread->at + offsetof(struct mpiq_record_hold, told), thread->hold.number);
}

void mpiq_step_memory_break(const struct mpiq_step_memory *memory, unsigned index,
                            const struct mpiq_record_break *one)
{
    struct mpiq_record_site site;
    uint64_t at = memory->root.step + offsetof(struct mpiq_record_step, breaks) + index * sizeof *one;
    write_number(memory, at + offsetof(struct mpiq_record_break, used), 0);
    for (unsigned i = 0; mpiq_step_memory_site(memory, i, &site); i++)
        write_number(memory,
                     memory->root.step + offsetof(struct mpiq_record_step, sites) + i * sizeof site +
                         offsetof(struct mpiq_record_site, known),
                     0);
    if (!one)
        return;
    write_at(memory, at, one, offsetof(struct mpiq_record_break, used));
    write_number(memory, at + offsetof(struct mpiq_record_break, by_line), one->by_line);
    write_number(memory, at + offsetof(struct mpiq_record_break, used), 1);
}

bool mpiq_step_memory_site(const struct mpiq_step_memory *memory, unsigned index,
                           struct mpiq_record_site *ret)
{
    uint64_t at = memory->root.step + offsetof(struct mpiq_record_step, sites) + index * sizeof *ret;
    uint32_t counts[4];
    return index < MPIQ_RECORD_MAX_SITES && read_at(memory, memory->root.step, counts, sizeof counts) &&
           index < counts[offsetof(struct mpiq_record_step, site_count) / sizeof *counts] &&
           read_at(memory, at, ret, sizeof *ret) && ret->caller != 0;
}

void mpiq_step_memory_know(const struct mpiq_step_memory *memory, unsigned index, uint32_t breaks)
{
    uint64_t at = memory->root.step + offsetof(struct mpiq_record_step, sites) +
                  index * sizeof(struct mpiq_record_site);
    write_number(memory, at + offsetof(struct mpiq_record_site, breaks), breaks);
    write_number(memory, at + offsetof(struct mpiq_record_site, known), 1);
}

/* ---- places ----------------------------------------------------------------------------------------------
 */

bool mpiq_step_memory_place(const struct mpiq_step_memory *memory, uint64_t address, char *path, size_t size,
                            uint64_t *offset)
{
    const struct mpiq_record_root *root = &memory->root;
    for (uint32_t i = 0; i < root->loaded_count && i < MPIQ_RECORD_MAX_LOADED; i++) {
        struct mpiq_record_loaded object;
        if (!read_at(memory, root->loaded + (uint64_t)i * sizeof object, &object, sizeof object))
            return false;
        if (address < object.start || address >= object.end || !object.path)
            continue;
        uint64_t room = root->arena_used - object.path;
        size_t length = object.path < root->arena_used ? (size_t)(room < size ? room : size) : 0;
        length -= length % 8;
        if (length == 0 || !read_at(memory, object.path, path, length))
            return false;
        path[length - 1] = '\0';
        *offset = address - object.start;
        return true;
    }
    return false;
}
