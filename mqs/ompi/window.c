/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "record.h"
#include "window.h"

#define WINDOW_LEAST offsetof(struct ompi_mqs_window, first_locks)
#define MEMBER(member) RECORD(&library->memory.fetch, bytes, ompi_mqs_window, member)

static int fetch_window(struct library *library, mqs_taddr_t address, unsigned char *bytes)
{
    int code = record_fetch(&library->memory.fetch, address, offsetof(struct ompi_mqs_window, size),
                            WINDOW_LEAST, sizeof(struct ompi_mqs_window), bytes);

    return code == ERROR_ROOT_CORRUPT ? ERROR_WINDOWS : code;
}

mqs_taddr_t window_of_record(struct library *library, mqs_taddr_t record)
{
    unsigned char bytes[sizeof(struct ompi_mqs_window)];

    return record != 0 && fetch_window(library, record, bytes) == mqs_ok ? (mqs_taddr_t)MEMBER(window) : 0;
}

int windows_set_up(struct library *library, struct windows *windows)
{
    memset(windows, 0, sizeof *windows);
    if (!library->root.present) {
        return mqs_no_information;
    }
    windows->next = (mqs_taddr_t)library->root.record.windows;
    windows->left = OMPI_MQS_MAX_WINDOWS;
    windows->set_up = true;
    return mqs_ok;
}

static void read_name(struct library *library, mqs_taddr_t window, char name[64])
{
    int32_t offset = library->memory.layout.offset[AT_WIN_NAME];

    name[0] = '\0';
    if (layout_has(&library->memory.layout, AT_WIN_NAME)) {
        (void)fetch_string(&library->memory.fetch, window + (mqs_taddr_t)offset, name, 64);
    }
}

int windows_next(struct library *library, struct windows *windows, mqs_window *ret)
{
    unsigned char bytes[sizeof(struct ompi_mqs_window)];
    mqs_taddr_t address;
    uint64_t made_by;

    windows->in_window = false;
    if (!windows->set_up) {
        return ERROR_ORDER;
    }
    do {
        int code;

        address = windows->next;
        if (address == 0) {
            return mqs_end_of_list;
        }
        if (windows->left == 0 || !cycle_check(&windows->cycle, address)) {
            windows->next = 0;
            return ERROR_WINDOWS;
        }
        windows->left--;
        code = fetch_window(library, address, bytes);
        if (code != mqs_ok) {
            windows->next = 0;
            return code;
        }
        windows->next = (mqs_taddr_t)MEMBER(next);
    } while (MEMBER(window) == 0);

    windows->group = (mqs_taddr_t)MEMBER(group);
    windows->exposure_group = (mqs_taddr_t)MEMBER(exposure_group);
    windows->access_group = (mqs_taddr_t)MEMBER(access_group);
    windows->locks = (mqs_taddr_t)MEMBER(locks);
    windows->lock_count = (uint32_t)MEMBER(lock_count);
    windows->in_window = true;
    memset(ret, 0, sizeof *ret);
    ret->handle = (mqs_taddr_t)MEMBER(window);
    ret->id[0] = MEMBER(id[0]);
    ret->id[1] = MEMBER(id[1]);
    ret->comm = (mqs_taddr_t)MEMBER(comm);
    ret->group_hash = MEMBER(group_hash);
    ret->local_rank = (int)(int32_t)MEMBER(local_rank);
    ret->exposure = (int)MEMBER(exposure);
    ret->access = (int)MEMBER(access);
    ret->caller = (mqs_taddr_t)MEMBER(made_caller);
    made_by = MEMBER(made_by);
    ret->made_by = made_by == 0 || made_by >= OMPI_MQS_COLLECTIVE_COUNT ? -1 : (int)made_by;
    read_name(library, ret->handle, ret->name);
    return mqs_ok;
}

int windows_locks(struct library *library, const struct windows *windows, int room, mqs_window_lock *ret,
                  int *count)
{
    int found = 0;

    if (!windows->in_window) {
        return ERROR_ORDER;
    }
    if (windows->lock_count > OMPI_MQS_MAX_LOCKS) {
        return ERROR_WINDOWS;
    }
    for (uint32_t i = 0; i < windows->lock_count; i++) {
        unsigned char bytes[sizeof(struct ompi_mqs_lock)];
        int code = fetch_bytes(&library->memory.fetch, windows->locks + i * (mqs_taddr_t)sizeof bytes,
                               sizeof bytes, bytes);
        int type;

        if (code != mqs_ok) {
            return code;
        }
        type = (int)RECORD(&library->memory.fetch, bytes, ompi_mqs_lock, type);
        if (type == OMPI_MQS_LOCK_NONE) {
            continue;
        }
        if (found < room) {
            ret[found].target = (int)(int32_t)RECORD(&library->memory.fetch, bytes, ompi_mqs_lock, target);
            ret[found].exclusive = type == OMPI_MQS_LOCK_EXCLUSIVE;
            ret[found].held = RECORD(&library->memory.fetch, bytes, ompi_mqs_lock, held) != 0;
        }
        found++;
    }
    *count = found;
    return mqs_ok;
}

struct placed {
    mqs_process_name name;
    int rank;
};

static int compare_placed(const void *a, const void *b)
{
    const mqs_process_name *left = &((const struct placed *)a)->name;
    const mqs_process_name *right = &((const struct placed *)b)->name;

    if (left->jobid != right->jobid) {
        return left->jobid < right->jobid ? -1 : 1;
    }
    return (left->vpid > right->vpid) - (left->vpid < right->vpid);
}

/* The names of a group, in the debugger's memory; the caller frees them. */
static int read_names(struct library *library, mqs_taddr_t group, mqs_process_name **names, int *count)
{
    int code = group_size(&library->memory, group, count);

    *names = NULL;
    if (code == mqs_ok && *count > 0) {
        code = group_check(&library->groups, group, *count);
    }
    if (code != mqs_ok || *count == 0) {
        return code;
    }
    *names = heap_allocate((size_t)*count, sizeof **names);
    if (*names == NULL) {
        return ERROR_NO_STORE;
    }
    code = group_members(&library->groups, group, *count, *names);
    if (code != mqs_ok) {
        heap_free(*names);
        *names = NULL;
    }
    return code;
}

/* Local ranks, in all, of those of one group that are in the other. */
static int translate(const mqs_process_name *all, int all_count, const mqs_process_name *some, int some_count,
                     int room, int *ret)
{
    struct placed *sorted = heap_allocate((size_t)all_count, sizeof *sorted);

    if (sorted == NULL) {
        return ERROR_NO_STORE;
    }
    for (int i = 0; i < all_count; i++) {
        sorted[i].name = all[i];
        sorted[i].rank = i;
    }
    qsort(sorted, (size_t)all_count, sizeof *sorted, compare_placed);
    for (int i = 0; i < some_count && i < room; i++) {
        const struct placed wanted = {some[i], 0};
        const struct placed *found =
            bsearch(&wanted, sorted, (size_t)all_count, sizeof *sorted, compare_placed);

        ret[i] = found == NULL ? -1 : found->rank;
    }
    heap_free(sorted);
    return mqs_ok;
}

int windows_group(struct library *library, const struct windows *windows, bool exposure, int room, int *ret,
                  int *count)
{
    mqs_taddr_t group = exposure ? windows->exposure_group : windows->access_group;
    mqs_process_name *all = NULL;
    mqs_process_name *some = NULL;
    int all_count = 0;
    int some_count = 0;
    int code = mqs_ok;

    if (!windows->in_window) {
        return ERROR_ORDER;
    }
    if (group != 0) {
        code = read_names(library, group, &some, &some_count);
    }
    if (code == mqs_ok && some_count > 0 && room > 0) {
        code = read_names(library, windows->group, &all, &all_count);
        if (code == mqs_ok) {
            code = all_count == 0 ? ERROR_WINDOWS : translate(all, all_count, some, some_count, room, ret);
        }
    }
    heap_free(all);
    heap_free(some);
    if (code == mqs_ok) {
        *count = some_count;
    }
    return code;
}
