/* SPDX-License-Identifier: BSD-3-Clause */
/* thread - a record for each thread that calls MPI. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

__thread struct self recorder_self __attribute__((tls_model("initial-exec")));

static pthread_key_t ended;
static uint32_t count;

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The record stays in the list, and the next new thread takes it. */
static void end_thread(void *argument)
{
    struct mpiq_record_thread *record = argument;
    struct self *self = &recorder_self;
    step_thread_ended(self);
    if (self->requests)
        munmap(self->requests, self->request_room * sizeof *self->requests);
    if (self->statuses)
        munmap(self->statuses, self->status_room * recorder_abi.status_size);
    *self = (struct self){.depth = 1}; /* calls by later destructors are not recorded */
    __atomic_store_n(&record->tid, 0, __ATOMIC_RELEASE);
}

bool thread_init(void)
{
    return pthread_key_create(&ended, end_thread) == 0;
}

static struct mpiq_record_thread *take_record(void)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct mpiq_record_thread *record = arena_at(mpiq_record_root.threads);
    for (; record; record = arena_at(record->next)) {
        if (__atomic_load_n(&record->tid, __ATOMIC_ACQUIRE) == 0) {
            record->tid = tid;
            return record;
        }
    }
    if (count >= MPIQ_RECORD_MAX_THREADS)
        return NULL;
    record = arena_allocate_locked(sizeof *record);
    if (!record)
        return NULL;
    count++;
    record->tid = tid;
    record->next = mpiq_record_root.threads;
    __atomic_store_n(&mpiq_record_root.threads, arena_offset(record), __ATOMIC_RELEASE);
    return record;
}

struct mpiq_record_thread *thread_begin(struct self *self)
{
    arena_lock();
    self->record = take_record();
    if (!self->record)
        counter_add(&mpiq_record_root.lost_threads, 1); /* others add to it without the lock */
    arena_unlock();
    if (self->record)
        pthread_setspecific(ended, self->record);
    return self->record;
}

/* Doubles the room until it suffices; discards the contents. */
static bool make_room(void **memory, size_t *room, size_t count_wanted, size_t size)
{
    size_t wanted = *room ? *room : 512;
    while (wanted < count_wanted)
        wanted *= 2;
    void *larger = map(wanted * size);
    if (!larger)
        return false;
    if (*memory)
        munmap(*memory, *room * size);
    *memory = larger;
    *room = wanted;
    return true;
}

bool thread_room(struct self *self, size_t wanted)
{
    void *memory = self->requests;
    if (wanted <= self->request_room)
        return true;
    if (!make_room(&memory, &self->request_room, wanted, sizeof *self->requests))
        return false;
    self->requests = memory;
    return true;
}

bool thread_status_room(struct self *self, size_t wanted)
{
    void *memory = self->statuses;
    if (wanted <= self->status_room)
        return true;
    if (!make_room(&memory, &self->status_room, wanted, recorder_abi.status_size))
        return false;
    self->statuses = memory;
    return true;
}
