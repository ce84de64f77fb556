/* SPDX-License-Identifier: BSD-3-Clause */
/* arena - the one mapping that holds all records, and the root that leads a reader to it. */
#include <sched.h>
#include <sys/mman.h>

#include "recorder.h"

/* Pages of its own, so that they can be mapped elsewhere. */
__attribute__((aligned(RECORDER_PAGE))) static union {
    struct mpiq_record_root root;
    unsigned char pages[RECORDER_PAGE];
} root_pages;
extern __attribute__((visibility("default"), alias("root_pages"))) struct mpiq_record_root mpiq_record_root;
bool recorder_multiple;

unsigned char *recorder_arena;
static uint64_t arena_size;
static char locked;

void arena_lock(void)
{
    while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE))
        sched_yield();
}

bool arena_try_lock(void)
{
    return !__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE);
}

void arena_unlock(void)
{
    __atomic_clear(&locked, __ATOMIC_RELEASE);
}

bool arena_init(void)
{
    if (recorder_arena)
        return true;
    /* Where address space is limited (ulimit -v), use a smaller arena. */
    for (arena_size = MPIQ_RECORD_ARENA; arena_size >= 1u << 20; arena_size /= 4) {
        void *memory = remains_map(arena_size);
        if (!memory)
            memory = mmap(NULL, arena_size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED) {
            recorder_arena = memory;
            mpiq_record_root.arena = (uintptr_t)memory;
            mpiq_record_root.arena_size = arena_size;
            mpiq_record_root.arena_used = 64; /* offset 0 means no record */
            return true;
        }
    }
    return false;
}

void *arena_allocate_locked(size_t size)
{
    uint64_t used = mpiq_record_root.arena_used;
    size = (size + 63) & ~(size_t)63;
    if (size > arena_size || used > arena_size - size)
        return NULL;
    __atomic_store_n(&mpiq_record_root.arena_used, used + size, __ATOMIC_RELEASE);
    return recorder_arena + used;
}

void *arena_allocate(size_t size)
{
    arena_lock();
    void *memory = arena_allocate_locked(size);
    arena_unlock();
    return memory;
}
