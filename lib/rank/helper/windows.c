/* SPDX-License-Identifier: BSD-3-Clause */
/* windows - the windows of one-sided communication: their epochs, groups and locks. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "reading.h"

/* Window of that communicator, or failing that, one of the same members: windows outlive the communicator
   that they were made on.  -1: none is in the list. */
static int64_t comm_of_window(const struct mpiq_rank_state *state, const mqs_window *window)
{
    for (size_t i = 0; window->comm != 0 && i < state->communicator_count; i++) {
        if (state->communicators[i].handle == window->comm)
            return (int64_t)i;
    }
    for (size_t i = 0; window->group_hash != 0 && i < state->communicator_count; i++) {
        const struct mpiq_communicator *comm = &state->communicators[i];
        if (comm->local.hash == window->group_hash && comm->local_rank == window->local_rank)
            return (int64_t)i;
    }
    return -1;
}

static bool is_member(const struct mpiq_communicator *comm, int rank)
{
    return rank >= 0 && (uint32_t)rank < comm->local.count;
}

static void read_locks(struct mpiq_reading *reading, const struct mpiq_communicator *comm,
                       struct mpiq_window *window)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    int count = 0;

    if (!extensions->get_window_locks ||
        extensions->get_window_locks(&reading->process, 0, NULL, &count) != mqs_ok || count <= 0)
        return;
    if (count > MPIQ_MEMBERS_MAX)
        count = MPIQ_MEMBERS_MAX;
    mqs_window_lock *locks = mpiq_memory_checked(calloc((size_t)count, sizeof *locks));
    int found = 0;
    if (!locks || extensions->get_window_locks(&reading->process, count, locks, &found) != mqs_ok) {
        mpiq_reading_problem(reading, "windows", mqs_no_information, "the locks of a window cannot be read");
        free(locks);
        return;
    }
    for (int i = 0; i < found && i < count; i++) {
        if (locks[i].target != -1 && !is_member(comm, locks[i].target))
            continue;
        struct mpiq_window_lock *lock = mpiq_window_add_lock(window);
        if (!lock)
            break;
        lock->target_local = locks[i].target;
        lock->type = locks[i].exclusive ? MPIQ_LOCK_EXCLUSIVE : MPIQ_LOCK_SHARED;
        lock->held = locks[i].held != 0;
    }
    free(locks);
}

static void read_group(struct mpiq_reading *reading, const struct mpiq_communicator *comm,
                       struct mpiq_window *window, bool exposure)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    int count = 0;

    if (!extensions->get_window_group ||
        extensions->get_window_group(&reading->process, exposure, 0, NULL, &count) != mqs_ok || count <= 0)
        return;
    if (count > MPIQ_MEMBERS_MAX)
        count = MPIQ_MEMBERS_MAX;
    int *ranks = mpiq_memory_checked(calloc((size_t)count, sizeof *ranks));
    int found = 0;
    if (!ranks || extensions->get_window_group(&reading->process, exposure, count, ranks, &found) != mqs_ok) {
        mpiq_reading_problem(reading, "windows", mqs_no_information, "a group of a window cannot be read");
        free(ranks);
        return;
    }
    for (int i = 0; i < found && i < count; i++) {
        if (is_member(comm, ranks[i]) &&
            !(exposure ? mpiq_window_add_exposure : mpiq_window_add_access)(window, ranks[i]))
            break;
    }
    free(ranks);
}

static void read_progress(struct mpiq_reading *reading, struct mpiq_window *window)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mqs_window_progress progress;

    memset(&progress, 0, sizeof progress);
    if (!extensions->get_window_progress ||
        extensions->get_window_progress(&reading->process, &progress) != mqs_ok)
        return;
    window->fences = progress.fences >= 0 ? progress.fences : -1;
    window->freeing = progress.freeing != 0;
    window->synchronises = progress.synchronises != 0;
}

static void read_window(struct mpiq_reading *reading, const mqs_window *from)
{
    int64_t comm = comm_of_window(reading->state, from);

    /* Without its members nothing can be said of it. */
    if (comm < 0 || !is_member(&reading->state->communicators[comm], from->local_rank))
        return;
    struct mpiq_window *window = mpiq_rank_state_add_window(reading->state);
    if (!window)
        return;
    window->handle = from->handle;
    window->id[0] = from->id[0];
    window->id[1] = from->id[1];
    MPIQ_COPY(window->name, from->name);
    window->comm = (uint32_t)comm;
    window->local_rank = from->local_rank;
    if (from->exposure >= 0 && from->exposure <= MPIQ_EXPOSURE_POST)
        window->exposure = (uint8_t)from->exposure;
    if (from->access >= 0 && from->access <= MPIQ_ACCESS_LOCK_ALL)
        window->access = (uint8_t)from->access;
    mpiq_dll_copy_class(reading->dll, from->made_by, window->made_by, sizeof window->made_by);
    window->made_caller = from->caller;
    const struct mpiq_communicator *members = &reading->state->communicators[comm];
    read_progress(reading, window);
    read_locks(reading, members, window);
    read_group(reading, members, window, false);
    read_group(reading, members, window, true);
}

void mpiq_read_windows(struct mpiq_reading *reading)
{
    const mqs_extensions *extensions = &reading->dll->extensions;

    mpiq_reading_phase = "reading windows";
    if (!extensions->setup_window_iterator || !extensions->next_window)
        return;
    int code = extensions->setup_window_iterator(&reading->process);
    for (int i = 0; code == mqs_ok && i < MPIQ_WINDOWS_MAX; i++) {
        mqs_window window;
        memset(&window, 0, sizeof window);
        code = extensions->next_window(&reading->process, &window);
        if (code == mqs_ok)
            read_window(reading, &window);
    }
    if (code != mqs_end_of_list && code != mqs_no_information && code != mqs_ok)
        mpiq_reading_problem(reading, "windows", code, "windows cannot be read");
}
