/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <string.h>

#include "../error.h"

int window_setup_iterator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    info->window = NULL;
    info->next_window = info->copy.root.windows;
    info->windows_seen = 0;
    return info->read ? mqs_ok : mqs_no_information;
}

/* A window's peers, wholly inside the copy; NULL: none.  False: the records are corrupt, or newer than the
   size of the copy. */
static bool find_peers(const struct copy *copy, const struct mpiq_record_window *window,
                       const struct mpiq_record_window_peers **ret)
{
    const struct mpiq_record_window_peers *peers = copy_at(copy, window->peers, sizeof *peers);

    *ret = peers;
    if (window->peers == 0) {
        return true;
    }
    return peers != NULL && peers->room <= MPIQ_RECORD_MAX_WINDOW_PEERS &&
           copy_at(copy, window->peers, sizeof *peers + peers->room * sizeof *peers->list) != NULL;
}

/* Windows that are not fully known are left out, so nothing is concluded from what they lack. */
static bool is_known(mqs_process_info *info, const struct mpiq_record_window *window)
{
    return window->handle != 0 && (window->flags & MPIQ_RECORD_WINDOW_UNCLEAR) == 0 &&
           find_peers(&info->copy, window, &info->window_peers);
}

/* The process's access epoch; a requested lock counts, granted or not. */
static int access_of(const struct mpiq_record_window *window, const struct mpiq_record_window_peers *peers)
{
    if (window->access != OMPI_MQS_ACCESS_NONE) {
        return (int)window->access;
    }
    if ((window->flags & MPIQ_RECORD_WINDOW_LOCK_ALL) != 0) {
        return OMPI_MQS_ACCESS_LOCK_ALL;
    }
    for (uint32_t i = 0; peers != NULL && i < peers->room; i++) {
        if (peers->list[i].used && peers->list[i].lock != OMPI_MQS_LOCK_NONE) {
            return OMPI_MQS_ACCESS_LOCK;
        }
    }
    return OMPI_MQS_ACCESS_NONE;
}

int window_next(mqs_process *process, mqs_window *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_window *window;
    const struct mpiq_record_comm *comm;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    info->window = NULL;
    do {
        if (info->next_window == 0) {
            return mqs_end_of_list;
        }
        window = copy_at(&info->copy, info->next_window, sizeof *window);
        if (window == NULL || info->windows_seen++ >= MPIQ_RECORD_MAX_WINDOWS) {
            info->next_window = 0;
            return ERROR_WINDOWS;
        }
        info->next_window = window->next;
    } while (!is_known(info, window));
    info->window = window;
    comm = copy_comm(&info->copy, window->comm);
    memset(ret, 0, sizeof *ret);
    ret->handle = (mqs_taddr_t)window->handle;
    ret->id[0] = window->id[0];
    ret->id[1] = window->id[1];
    ret->comm = comm == NULL ? 0 : (mqs_taddr_t)comm->handle;
    ret->group_hash = window->group_hash;
    ret->caller = (mqs_taddr_t)window->caller;
    ret->local_rank = window->local_rank;
    ret->exposure = (int)window->exposure;
    ret->access = access_of(window, info->window_peers);
    ret->made_by = window->made_by;
    text_copy(ret->name, sizeof ret->name, (const unsigned char *)window->name, sizeof window->name);
    return mqs_ok;
}

static void put_lock(mqs_window_lock *ret, int room, int *found, int target, int type, bool held)
{
    if (*found < room) {
        ret[*found].target = target;
        ret[*found].exclusive = type == OMPI_MQS_LOCK_EXCLUSIVE;
        ret[*found].held = held;
    }
    ++*found;
}

int window_get_locks(mqs_process *process, int room, mqs_window_lock *ret, int *count)
{
    mqs_process_info *info = entry_process(process);
    int found = 0;

    if (info == NULL || count == NULL || (ret == NULL && room > 0)) {
        return ERROR_ARGUMENT;
    }
    if (info->window == NULL) {
        return ERROR_ORDER;
    }
    bool all = (info->window->flags & MPIQ_RECORD_WINDOW_LOCK_ALL) != 0;
    if (all) { /* held only where known to be granted */
        put_lock(ret, room, &found, -1, OMPI_MQS_LOCK_SHARED, false);
    }
    for (uint32_t i = 0; info->window_peers != NULL && i < info->window_peers->room; i++) {
        const struct mpiq_record_window_peer *peer = &info->window_peers->list[i];
        bool held = (peer->flags & MPIQ_RECORD_PEER_GRANTED) != 0;

        if (peer->used && peer->lock != OMPI_MQS_LOCK_NONE) {
            put_lock(ret, room, &found, peer->peer, peer->lock, held);
        } else if (peer->used && all && held) {
            put_lock(ret, room, &found, peer->peer, OMPI_MQS_LOCK_SHARED, true);
        }
    }
    *count = found;
    return mqs_ok;
}

int window_get_progress(mqs_process *process, mqs_window_progress *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->window == NULL) {
        return ERROR_ORDER;
    }
    memset(ret, 0, sizeof *ret);
    ret->fences = info->window->fences > INT64_MAX ? INT64_MAX : (int64_t)info->window->fences;
    ret->freeing = info->window->freeing != 0;
    ret->synchronises = (info->window->flags & MPIQ_RECORD_WINDOW_SYNCHRONISES) != 0;
    return mqs_ok;
}

int window_get_group(mqs_process *process, int exposure, int room, int *ret, int *count)
{
    mqs_process_info *info = entry_process(process);
    unsigned wanted;
    int found = 0;

    if (info == NULL || count == NULL || (ret == NULL && room > 0)) {
        return ERROR_ARGUMENT;
    }
    if (info->window == NULL) {
        return ERROR_ORDER;
    }
    if (exposure) {
        wanted = info->window->exposure == OMPI_MQS_EXPOSURE_POST ? MPIQ_RECORD_PEER_POSTED
                                                                  : MPIQ_RECORD_PEER_EVER_POSTED;
    } else {
        wanted = info->window->access == OMPI_MQS_ACCESS_START ? MPIQ_RECORD_PEER_STARTED
                                                               : MPIQ_RECORD_PEER_EVER_STARTED;
    }
    for (uint32_t i = 0; info->window_peers != NULL && i < info->window_peers->room; i++) {
        const struct mpiq_record_window_peer *peer = &info->window_peers->list[i];

        if (!peer->used || (peer->flags & wanted) == 0) {
            continue;
        }
        if (found < room) {
            ret[found] = peer->peer;
        }
        found++;
    }
    *count = found;
    return mqs_ok;
}
