/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_body.h - the records of windows.
 *
 * A record is changed by calls on its window, under its lock: several threads may lock targets at once.
 */
#ifndef OMPI_MQS_WINDOW_BODY_H
#define OMPI_MQS_WINDOW_BODY_H

#include "ompi/mqs/record_body.h"
#include "ompi/mqs/window.h"

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/win/win.h"

struct ompi_mqs_own_window {
    struct ompi_mqs_window record;
    char lock;
    uint32_t room;              /* entries that fit at locks */
};

static struct ompi_mqs_own_window *ompi_mqs_own_window(struct ompi_mqs_window *record)
{
    return (struct ompi_mqs_own_window *) record;
}

/* A free record of the list, or a new one at its head. */
static struct ompi_mqs_window *ompi_mqs_window_take(const void *win)
{
    struct ompi_mqs_window *record;
    struct ompi_mqs_own_window *own;

    ompi_mqs_lock();
    for (record = ompi_mqs_pointer(ompi_mqs_root.windows); NULL != record && 0 != record->window;
         record = ompi_mqs_pointer(record->next)) {
    }
    if (NULL != record) {
        record->window = ompi_mqs_address(win);
    }
    ompi_mqs_unlock();
    if (NULL != record) {
        return record;
    }
    own = calloc(1, sizeof(*own));
    if (NULL == own) {
        return NULL;
    }
    record = &own->record;
    record->size = sizeof(*record);
    record->window = ompi_mqs_address(win);
    record->locks = ompi_mqs_address(record->first_locks);
    own->room = OMPI_MQS_LOCKS;
    ompi_mqs_lock();
    record->next = ompi_mqs_root.windows;
    OMPI_MQS_ORDER();
    ompi_mqs_root.windows = ompi_mqs_address(record);
    ompi_mqs_unlock();
    return record;
}

/* Return address of the last call on a communicator. */
static ompi_mqs_addr_t ompi_mqs_newest_caller(const struct ompi_mqs_collectives *record)
{
    const struct ompi_mqs_call *ring = NULL != record ? ompi_mqs_pointer(record->ring) : NULL;

    if (NULL == ring || 0 == record->position) {
        return 0;
    }
    return ring[(ompi_mqs_ring_calls(record->position) - 1) % OMPI_MQS_RING].caller;
}

void ompi_mqs_window_made(struct ompi_win_t *win, struct ompi_communicator_t *comm)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;
    struct ompi_mqs_window *record;

    win->w_mqs = NULL;
    if (0 == ompi_mqs_root.recording || 0 == self->tid || NULL == (record = ompi_mqs_window_take(win))) {
        return;
    }
    record->local_rank = ompi_comm_rank(comm);
    record->comm = ompi_mqs_address(comm);
    record->group = ompi_mqs_address(win->w_group);
    record->group_hash = NULL != comm->c_mqs ? comm->c_mqs->group_hash : 0;
    record->made_by = self->collective;
    record->made_caller = ompi_mqs_newest_caller(comm->c_mqs);
    record->id[0] = record->id[1] = 0;
    ompi_mqs_own(self)->new_window = record;
    win->w_mqs = record;
}

/* The first communicator that is made while a window is: the window's own copy, on every member. */
static void ompi_mqs_window_name(struct ompi_mqs_thread *self, uint64_t base, uint64_t id)
{
    struct ompi_mqs_window *record = 0 != self->tid ? ompi_mqs_own(self)->new_window : NULL;

    if (NULL != record) {
        record->id[0] = base;
        record->id[1] = id;
        ompi_mqs_own(self)->new_window = NULL;
    }
}

static void ompi_mqs_group_drop(ompi_mqs_addr_t *group)
{
    ompi_group_t *held = ompi_mqs_pointer(*group);

    *group = 0;
    if (NULL != held) {
        OBJ_RELEASE(held);
    }
}

void ompi_mqs_window_gone(struct ompi_win_t *win)
{
    struct ompi_mqs_window *record = win->w_mqs;
    struct ompi_mqs_own_window *own = ompi_mqs_own_window(record);

    if (NULL == record) {
        return;
    }
    win->w_mqs = NULL;
    ompi_mqs_group_drop(&record->access_group);
    ompi_mqs_group_drop(&record->exposure_group);
    ompi_mqs_lock_word(&own->lock);
    record->access = OMPI_MQS_ACCESS_NONE;
    record->exposure = OMPI_MQS_EXPOSURE_NONE;
    record->lock_count = 0;
    record->comm = 0;
    record->group = 0;
    memset(ompi_mqs_pointer(record->locks), 0, own->room * sizeof(struct ompi_mqs_lock));
    ompi_mqs_unlock_word(&own->lock);
    ompi_mqs_lock();
    record->window = 0;
    ompi_mqs_unlock();
}

/* comm goes away; windows that were made on it live on. */
static void ompi_mqs_windows_forget(const void *comm)
{
    struct ompi_mqs_window *record;

    if (0 == __atomic_load_n(&ompi_mqs_root.windows, __ATOMIC_RELAXED)) {
        return;
    }
    ompi_mqs_lock();
    for (record = ompi_mqs_pointer(ompi_mqs_root.windows); NULL != record;
         record = ompi_mqs_pointer(record->next)) {
        if (record->comm == ompi_mqs_address(comm)) {
            record->comm = 0;
        }
    }
    ompi_mqs_unlock();
}

#define OMPI_MQS_UNUSED -2

/* The lock on target that is held, or wanted; for target OMPI_MQS_UNUSED an unused entry, made if need be.
   NULL if there is none.  Under the lock of the record. */
static struct ompi_mqs_lock *ompi_mqs_lock_find(struct ompi_mqs_own_window *own, int target, int held)
{
    struct ompi_mqs_lock *locks = ompi_mqs_pointer(own->record.locks), *grown;
    uint32_t i;

    for (i = 0; i < own->record.lock_count; i++) {
        if (OMPI_MQS_UNUSED == target ? OMPI_MQS_LOCK_NONE == locks[i].type
                                      : OMPI_MQS_LOCK_NONE != locks[i].type && locks[i].target == target &&
                                            locks[i].held == held) {
            return &locks[i];
        }
    }
    if (OMPI_MQS_UNUSED != target) {
        return NULL;
    }
    if (i == own->room) {
        grown = calloc(2 * (size_t) own->room, sizeof(*grown));
        if (NULL == grown) {
            return NULL;
        }
        memcpy(grown, locks, i * sizeof(*grown));
        OMPI_MQS_ORDER();
        own->record.locks = ompi_mqs_address(grown);
        own->room *= 2;
        if (locks != own->record.first_locks) {
            free(locks);
        }
        locks = grown;
    }
    own->record.lock_count = i + 1;
    return &locks[i];
}

struct ompi_mqs_epoch_guard
ompi_mqs_epoch_begin(struct ompi_mqs_window *record, enum ompi_mqs_epoch epoch, int target, int lock_type,
                     struct ompi_group_t *group, const int *result, const int *flag)
{
    struct ompi_mqs_epoch_guard guard = {record, epoch, target, group, result, flag};
    struct ompi_mqs_own_window *own = ompi_mqs_own_window(record);
    struct ompi_mqs_lock *entry;

    if (NULL == record) {
        return guard;
    }
    if (OMPI_MQS_EPOCH_START == epoch && 0 == record->access_group) {
        /* Now, so that one sees whom the call waits for. */
        OBJ_RETAIN(group);
        record->access_group = ompi_mqs_address(group);
    } else if (OMPI_MQS_EPOCH_START == epoch) {
        guard.record = NULL; /* an error of the program's: one is open */
    } else if (OMPI_MQS_EPOCH_LOCK == epoch || OMPI_MQS_EPOCH_LOCK_ALL == epoch) {
        ompi_mqs_lock_word(&own->lock);
        entry = ompi_mqs_lock_find(own, OMPI_MQS_UNUSED, 0);
        if (NULL != entry) {
            entry->target = target;
            entry->held = 0;
            OMPI_MQS_ORDER();
            entry->type = (uint16_t) lock_type;
        }
        ompi_mqs_unlock_word(&own->lock);
    }
    return guard;
}

/* The lock that the call has asked for is held, or given back; before it was held or wanted. */
static void ompi_mqs_lock_settle(struct ompi_mqs_own_window *own, int target, int before, int held)
{
    struct ompi_mqs_lock *entry;
    uint32_t access = OMPI_MQS_ACCESS_NONE, i;

    ompi_mqs_lock_word(&own->lock);
    entry = ompi_mqs_lock_find(own, target, before);
    if (NULL != entry) {
        entry->held = (uint16_t) held;
        entry->type = held ? entry->type : OMPI_MQS_LOCK_NONE;
    }
    entry = ompi_mqs_pointer(own->record.locks);
    for (i = 0; i < own->record.lock_count; i++) {
        if (OMPI_MQS_LOCK_NONE != entry[i].type && entry[i].held) {
            access = -1 == entry[i].target ? OMPI_MQS_ACCESS_LOCK_ALL : OMPI_MQS_ACCESS_LOCK;
        }
    }
    own->record.access = access;
    ompi_mqs_unlock_word(&own->lock);
}

void ompi_mqs_epoch_end(struct ompi_mqs_epoch_guard *guard)
{
    struct ompi_mqs_window *record = guard->record;
    struct ompi_mqs_own_window *own = ompi_mqs_own_window(record);
    int failed;

    if (NULL == record) {
        return;
    }
    failed = OMPI_SUCCESS != *guard->result;
    switch (guard->epoch) {
    case OMPI_MQS_EPOCH_LOCK:
    case OMPI_MQS_EPOCH_LOCK_ALL:
        ompi_mqs_lock_settle(own, guard->target, 0, !failed);
        return;
    case OMPI_MQS_EPOCH_START:
        if (failed) {
            ompi_mqs_group_drop(&record->access_group);
        } else {
            record->access = OMPI_MQS_ACCESS_START;
        }
        return;
    default:
        break;
    }
    if (failed || (NULL != guard->flag && !*guard->flag)) {
        return;
    }
    switch (guard->epoch) {
    case OMPI_MQS_EPOCH_FENCE:
        record->exposure = OMPI_MQS_EXPOSURE_FENCE;
        record->access = OMPI_MQS_ACCESS_FENCE;
        break;
    case OMPI_MQS_EPOCH_LAST_FENCE:
        record->exposure = OMPI_MQS_EXPOSURE_NONE;
        record->access = OMPI_MQS_ACCESS_NONE;
        break;
    case OMPI_MQS_EPOCH_POST:
        if (0 == record->exposure_group) {
            OBJ_RETAIN(guard->group);
            record->exposure_group = ompi_mqs_address(guard->group);
        }
        record->exposure = OMPI_MQS_EXPOSURE_POST;
        break;
    case OMPI_MQS_EPOCH_WAIT:
        record->exposure = OMPI_MQS_EXPOSURE_NONE;
        ompi_mqs_group_drop(&record->exposure_group);
        break;
    case OMPI_MQS_EPOCH_COMPLETE:
        record->access = OMPI_MQS_ACCESS_NONE;
        ompi_mqs_group_drop(&record->access_group);
        break;
    default:
        ompi_mqs_lock_settle(own, guard->target, 1, 0);
        break;
    }
}

#endif
