/* SPDX-License-Identifier: BSD-3-Clause */
/* window - the program's windows, and the communicators they were made on. */
#include "recorder.h"

static uint32_t count;

void window_created(struct mpiq_record_comm *comm, uint64_t handle)
{
    if (handle == recorder_abi.win_null)
        return;
    arena_lock();
    struct mpiq_record_window *window = arena_at(mpiq_record_root.windows);
    while (window && window->handle)
        window = arena_at(window->next);
    if (!window && count < MPIQ_RECORD_MAX_WINDOWS) {
        window = arena_allocate_locked(sizeof *window);
        if (window) {
            count++;
            window->next = mpiq_record_root.windows;
            __atomic_store_n(&mpiq_record_root.windows, arena_offset(window), __ATOMIC_RELEASE);
        }
    }
    if (window) {
        window->comm = arena_offset(comm);
        window->id[0] = comm ? comm->id[1] : 0;
        window->id[1] = comm ? ++comm->creations : 0;
        window->name[0] = '\0';
        __atomic_store_n(&window->handle, handle, __ATOMIC_RELEASE);
    }
    arena_unlock();
}

struct mpiq_record_window *window_find(uint64_t handle)
{
    struct mpiq_record_window *window =
        arena_at(__atomic_load_n(&mpiq_record_root.windows, __ATOMIC_ACQUIRE));
    while (window && window->handle != handle)
        window = arena_at(window->next);
    return window;
}

void window_removed(uint64_t handle)
{
    struct mpiq_record_window *window = window_find(handle);
    if (window)
        __atomic_store_n(&window->handle, 0, __ATOMIC_RELEASE);
}
