/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file - the communicators on which the program's files were opened.  File handles are pointers in every
 * library.  If the table is full, a file's communicator is not known.
 */
#include "recorder.h"

enum { MOST = 256 };

static struct {
    word handle; /* 0: free */
    uint32_t comm;
} list[MOST];

/* The entry's index; MOST: there is none. */
static unsigned find(word handle)
{
    unsigned i = 0;
    while (i < MOST && __atomic_load_n(&list[i].handle, __ATOMIC_ACQUIRE) != handle)
        i++;
    return i;
}

void file_opened(word handle, const struct mpiq_record_comm *comm)
{
    if (!handle || !comm)
        return;
    arena_lock();
    unsigned i = find(handle); /* closed unseen in a callback, then reused */
    if (i == MOST)
        i = find(0);
    if (i < MOST) {
        __atomic_store_n(&list[i].comm, arena_offset(comm), __ATOMIC_RELAXED);
        __atomic_store_n(&list[i].handle, handle, __ATOMIC_RELEASE);
    }
    arena_unlock();
}

struct mpiq_record_comm *file_comm(word handle)
{
    unsigned i = handle ? find(handle) : MOST;
    return i < MOST ? arena_at(__atomic_load_n(&list[i].comm, __ATOMIC_RELAXED)) : NULL;
}

void file_closing(word handle)
{
    unsigned i = handle ? find(handle) : MOST;
    if (i < MOST)
        __atomic_store_n(&list[i].handle, 0, __ATOMIC_RELEASE);
}

void file_forget_comm(uint32_t comm)
{
    for (unsigned i = 0; i < MOST; i++) {
        if (__atomic_load_n(&list[i].comm, __ATOMIC_RELAXED) == comm)
            __atomic_store_n(&list[i].comm, 0, __ATOMIC_RELAXED);
    }
}
