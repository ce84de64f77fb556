/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request - the program's outstanding requests, by handle.
 *
 * Records come from chunks of the arena through a free list, whose head is exchanged with compare-and-swap;
 * an open-addressed index leads from a handle to its record, and a removed slot is used again by the next
 * handle that meets it.  Several requests may share one handle: libraries give the same one to all sends that
 * were complete at once.
 *
 * A library may give a handle to another thread as soon as a request has ended, before the thread that waited
 * for it is back here.  So with several threads a request leaves the index before its thread waits or tests,
 * and comes back if it has not ended.
 */
#include "recorder.h"

#include <sys/mman.h>

enum { INDEX = 1 << 18, PROBES = 4096 };
#define REMOVED UINT64_MAX

struct slot {
    uint64_t handle;
    struct mpiq_record_request *request;
};
static struct slot *slots;
static uint64_t free_head; /* offset of the first free record, and a count above it against reuse */
static uint32_t chunk_count;

bool request_init(void)
{
    if (slots)
        return true;
    void *memory = mmap(NULL, INDEX * sizeof *slots, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    slots = memory == MAP_FAILED ? NULL : memory;
    return slots != NULL;
}

/* Neighbours in the library's pool are neighbours in the index, so that few pages are touched. */
static size_t slot_of(uint64_t handle)
{
    return (recorder_abi.handle_size == 4 ? handle : handle >> 4) % INDEX;
}

static bool swap(uint64_t *target, uint64_t expected, uint64_t desired)
{
    if (!recorder_multiple) {
        if (*target != expected)
            return false;
        __atomic_store_n(target, desired, __ATOMIC_RELEASE);
        return true;
    }
    return __atomic_compare_exchange_n(target, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void give_back(struct mpiq_record_request *request)
{
    for (;;) {
        uint64_t head = __atomic_load_n(&free_head, __ATOMIC_ACQUIRE);
        __atomic_store_n(&request->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        if (swap(&free_head, head, ((head >> 32) + 1) << 32 | arena_offset(request)))
            return;
    }
}

static void let_go(struct mpiq_record_request *request)
{
    __atomic_store_n(&request->state, MPIQ_RECORD_REQUEST_FREE, __ATOMIC_RELEASE);
    give_back(request);
}

/* A new chunk: all of it becomes free. */
static bool add_chunk(void)
{
    arena_lock();
    bool room = chunk_count < MPIQ_RECORD_MAX_CHUNKS;
    struct mpiq_record_chunk *chunk = room ? arena_allocate_locked(sizeof *chunk) : NULL;
    if (chunk) {
        chunk_count++;
        chunk->count = MPIQ_RECORD_CHUNK;
        chunk->next = mpiq_record_root.chunks;
        __atomic_store_n(&mpiq_record_root.chunks, arena_offset(chunk), __ATOMIC_RELEASE);
    }
    arena_unlock();
    for (unsigned i = MPIQ_RECORD_CHUNK; chunk && i > 0; i--)
        give_back(&chunk->requests[i - 1]);
    return chunk != NULL;
}

struct mpiq_record_request *request_new(void)
{
    for (;;) {
        uint64_t head = __atomic_load_n(&free_head, __ATOMIC_ACQUIRE);
        struct mpiq_record_request *request = arena_at((uint32_t)head);
        if (!request) {
            if (add_chunk())
                continue;
            counter_add(&mpiq_record_root.lost_requests, 1);
            return NULL;
        }
        uint32_t next = __atomic_load_n(&request->next_free, __ATOMIC_RELAXED);
        if (!swap(&free_head, head, ((head >> 32) + 1) << 32 | next))
            continue;
        static uint64_t posted;
        *request = (struct mpiq_record_request){.sequence = counter_add(&posted, 1) + 1};
        return request;
    }
}

/* Under MPI_THREAD_MULTIPLE one thread at a time changes the index: some nanoseconds, and never while the
   library is called. */
static bool index_held;

static void hold_index(void)
{
    while (recorder_multiple && __atomic_test_and_set(&index_held, __ATOMIC_ACQUIRE))
        continue;
}

static void release_index(void)
{
    if (recorder_multiple)
        __atomic_clear(&index_held, __ATOMIC_RELEASE);
}

static void fill(struct slot *slot, struct mpiq_record_request *request)
{
    __atomic_store_n(&slot->request, request, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->handle, request->handle, __ATOMIC_RELEASE);
}

/* Makes it known by its handle; false: there is no room.  *other receives the record that had the handle. */
static bool insert(struct mpiq_record_request *request, struct mpiq_record_request **other)
{
    size_t at = slot_of(request->handle);
    *other = NULL;
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % INDEX) {
        uint64_t found = __atomic_load_n(&slots[at].handle, __ATOMIC_ACQUIRE);
        if (found != 0 && found != REMOVED && found != request->handle)
            continue;
        if (found == request->handle) {
            *other = slots[at].request;
            if (*other && (*other)->kind == request->kind) {
                counter_add32(&(*other)->duplicates, 1);
                return true;
            }
        }
        fill(&slots[at], request);
        return true;
    }
    return false;
}

void request_publish(struct mpiq_record_request *request, uint64_t handle,
                     enum mpiq_record_request_state state)
{
    struct mpiq_record_request *other = NULL;
    request->handle = handle;
    if (handle == recorder_abi.request_null) {
        give_back(request);
        return;
    }
    hold_index();
    bool room = insert(request, &other);
    bool duplicate = room && other && other->kind == request->kind;
    if (room && !duplicate)
        __atomic_store_n(&request->state, state, __ATOMIC_RELEASE);
    release_index();
    if (!room)
        counter_add(&mpiq_record_root.lost_requests, 1);
    if (!room || duplicate)
        give_back(request);
    if (other && !duplicate) /* its end was never seen */
        let_go(other);
}

static struct slot *find_slot(uint64_t handle)
{
    size_t at = slot_of(handle);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % INDEX) {
        uint64_t found = __atomic_load_n(&slots[at].handle, __ATOMIC_ACQUIRE);
        if (found == handle)
            return &slots[at];
        if (found == 0)
            return NULL;
    }
    return NULL;
}

struct mpiq_record_request *request_find(uint64_t handle)
{
    if (handle == recorder_abi.request_null || !slots)
        return NULL;
    struct slot *slot = find_slot(handle);
    return slot ? __atomic_load_n(&slot->request, __ATOMIC_ACQUIRE) : NULL;
}

/* Its handle leads to it no more. */
static void take_out(struct mpiq_record_request *request)
{
    struct slot *slot = find_slot(request->handle);
    if (!slot || __atomic_load_n(&slot->request, __ATOMIC_ACQUIRE) != request)
        return;
    struct slot *next = slot + 1 < slots + INDEX ? slot + 1 : slots;
    bool last = !recorder_multiple && next->handle == 0;
    __atomic_store_n(&slot->handle, last ? 0 : REMOVED, __ATOMIC_RELEASE);
}

void request_drop(struct mpiq_record_request *request)
{
    if (!recorder_multiple && request->duplicates > 0) {
        request->duplicates--;
        return;
    }
    if (!recorder_multiple)
        take_out(request); /* with several threads request_detach has done it */
    let_go(request);
}

/* Found and taken in one go: in between, the slot may become another handle's. */
struct mpiq_record_request *request_detach(uint64_t handle)
{
    struct mpiq_record_request *own = NULL;
    if (handle == recorder_abi.request_null || !slots)
        return NULL;
    hold_index();
    struct slot *slot = find_slot(handle);
    struct mpiq_record_request *request = slot ? slot->request : NULL;
    bool shared = request && request->duplicates > 0;
    if (shared)
        request->duplicates--;
    else if (request)
        take_out(request);
    release_index();
    if (!shared)
        return request;
    /* A send that was complete at once has no end to be noted. */
    if (request->kind > MPIQ_RECORD_REQUEST_RSEND)
        own = request_new();
    if (own) {
        struct mpiq_record_request copy = *request;
        copy.duplicates = 0;
        copy.next_free = 0;
        *own = copy;
    }
    return own;
}

void request_attach(struct mpiq_record_request *request)
{
    struct mpiq_record_request *other = NULL;
    hold_index();
    bool room = insert(request, &other);
    release_index();
    if (!room)
        counter_add(&mpiq_record_root.lost_requests, 1);
    if (!room || (other && other->kind == request->kind))
        let_go(request);
    else if (other) /* its end was never seen */
        let_go(other);
}

void request_forget_comm(uint32_t comm)
{
    struct mpiq_record_chunk *chunk = arena_at(mpiq_record_root.chunks);
    for (; chunk; chunk = arena_at(chunk->next)) {
        for (unsigned i = 0; i < MPIQ_RECORD_CHUNK; i++) {
            if (chunk->requests[i].state != MPIQ_RECORD_REQUEST_FREE && chunk->requests[i].comm == comm)
                chunk->requests[i].comm = 0;
        }
    }
}
