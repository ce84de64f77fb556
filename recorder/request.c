/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request - the program's outstanding requests, by handle.
 *
 * Records come from chunks of the arena through a free list, whose head is exchanged with compare-and-swap.
 * An open-addressed index leads from a handle to its record.  A slot is one word, so it changes atomically
 * and no thread waits for another; the next handle that probes a removed slot reuses it.
 *
 * Several requests may share one handle: libraries give the same one to all sends that complete immediately,
 * and these share one record with a count.  Other requests with the same handle have a record each, since
 * their completions differ; with one thread, similar ones share a record too.
 *
 * A library may reuse a handle in another thread as soon as its request ends, before the waiting thread has
 * returned here.  So with several threads, a request leaves the index before its thread waits or tests, and
 * returns to it if it has not ended.
 */
#include "recorder.h"

#include <string.h>
#include <sys/mman.h>

enum { INDEX = 1 << 18, PROBES = 4096 };

/*
 * A slot: the record's place and kind, the number of further requests that share it, and bits of the handle
 * that rule out most other handles without reading the record.  0: never used.  Without a record: removed.
 */
#define AT_BITS 25 /* in units of 8 bytes */
#define AT_MASK ((UINT64_C(1) << AT_BITS) - 1)
#define KIND_SHIFT AT_BITS
#define KIND_MASK UINT64_C(7)
#define SHARED_SHIFT (KIND_SHIFT + 3)
#define SHARED_ONE (UINT64_C(1) << SHARED_SHIFT)
#define SHARED_MOST UINT64_C(0xfffff)
#define PRINT_SHIFT (SHARED_SHIFT + 20)
#define REMOVED (UINT64_C(1) << KIND_SHIFT)
_Static_assert(MPIQ_RECORD_ARENA >> 3 <= AT_MASK + 1, "an offset fits");
_Static_assert(MPIQ_RECORD_REQUEST_OTHER <= KIND_MASK, "a kind fits");

static uint64_t *slots;
static uint64_t free_head; /* offset of the first free record; above it, a counter against ABA */
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

/* Neighbouring handles in the library's pool get neighbouring slots, so that few pages are touched. */
static uint64_t scaled(uint64_t handle)
{
    return recorder_abi.handle_size == 4 ? handle : handle >> 4;
}

static size_t slot_of(uint64_t handle)
{
    return scaled(handle) % INDEX;
}

/* Bits of the handle that its slot's index does not contain. */
static uint64_t print_of(uint64_t handle)
{
    uint64_t rest = scaled(handle) / INDEX;
    return (rest ^ rest >> 16) << PRINT_SHIFT;
}

static struct mpiq_record_request *record_of(uint64_t entry)
{
    return arena_at((uint32_t)((entry & AT_MASK) << 3));
}

static uint8_t kind_of(uint64_t entry)
{
    return (uint8_t)(entry >> KIND_SHIFT & KIND_MASK);
}

static uint64_t shared(uint64_t entry)
{
    return entry >> SHARED_SHIFT & SHARED_MOST;
}

static uint64_t entry_of(const struct mpiq_record_request *request)
{
    return arena_offset(request) >> 3 | (uint64_t)request->kind << KIND_SHIFT | print_of(request->handle);
}

/* Whether a slot holds that handle. */
static bool is_of(uint64_t entry, uint64_t handle)
{
    return (entry & AT_MASK) && entry >> PRINT_SHIFT << PRINT_SHIFT == print_of(handle) &&
           __atomic_load_n(&record_of(entry)->handle, __ATOMIC_RELAXED) == handle;
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
    struct mpiq_record_request *half = arena_at(request->send_half);
    __atomic_store_n(&request->state, MPIQ_RECORD_REQUEST_FREE, __ATOMIC_RELEASE);
    give_back(request);
    if (half) {
        __atomic_store_n(&half->state, MPIQ_RECORD_REQUEST_FREE, __ATOMIC_RELEASE);
        give_back(half);
    }
}

/* Adds a chunk, whose records are all free. */
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
        /* Another thread may still read the old handle: keep it. */
        static uint64_t posted;
        enum { AFTER_HANDLE = offsetof(struct mpiq_record_request, sequence) };
        memset((unsigned char *)request + AFTER_HANDLE, 0, sizeof *request - AFTER_HANDLE);
        request->sequence = counter_add(&posted, 1) + 1;
        return request;
    }
}

static bool is_send(uint8_t kind)
{
    return kind <= MPIQ_RECORD_REQUEST_RSEND;
}

/* Whether a request shares the record of the entry with the same handle. */
static bool are_one(uint64_t entry, const struct mpiq_record_request *request)
{
    if (shared(entry) == SHARED_MOST)
        return false;
    if (is_send(request->kind))
        return is_send(kind_of(entry));
    const struct mpiq_record_request *other = record_of(entry);
    return !recorder_multiple && kind_of(entry) == request->kind && other->comm == request->comm &&
           other->call.collective == request->call.collective;
}

enum outcome { INSERTED, SHARED, NO_ROOM };

/*
 * Adds a request to the index.  SHARED: another record with its handle counts it.  *ended receives the record
 * that it replaces: one of another kind with that handle, whose end was never seen.
 */
static enum outcome insert(struct mpiq_record_request *request, struct mpiq_record_request **ended)
{
    uint64_t entry = entry_of(request);
    size_t at = slot_of(request->handle);
    *ended = NULL;
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % INDEX) {
        uint64_t found;
        do {
            found = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
            if (!(found & AT_MASK)) {
                if (swap(&slots[at], found, entry))
                    return INSERTED;
            } else if (!is_of(found, request->handle)) {
                break;
            } else if (are_one(found, request)) {
                if (!swap(&slots[at], found, found + SHARED_ONE))
                    continue;
                counter_add32(&record_of(found)->duplicates, 1);
                return SHARED;
            } else if (kind_of(found) == request->kind) {
                break;
            } else if (swap(&slots[at], found, entry)) {
                *ended = record_of(found);
                return INSERTED;
            }
        } while (true);
    }
    return NO_ROOM;
}

void request_attach(struct mpiq_record_request *request)
{
    struct mpiq_record_request *ended;
    enum outcome outcome = insert(request, &ended);
    if (outcome == NO_ROOM)
        counter_add(&mpiq_record_root.lost_requests, 1);
    if (outcome != INSERTED)
        let_go(request);
    if (ended)
        let_go(ended);
}

void request_publish(struct mpiq_record_request *request, uint64_t handle,
                     enum mpiq_record_request_state state)
{
    if (handle == recorder_abi.request_null) {
        let_go(request);
        return;
    }
    __atomic_store_n(&request->handle, handle, __ATOMIC_RELAXED);
    __atomic_store_n(&request->state, state, __ATOMIC_RELEASE);
    request_attach(request);
}

void request_publish_half(struct mpiq_record_request *request)
{
    __atomic_store_n(&request->handle, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&request->state, MPIQ_RECORD_REQUEST_ACTIVE, __ATOMIC_RELEASE);
}

struct mpiq_record_request *request_find(uint64_t handle)
{
    if (handle == recorder_abi.request_null || !slots)
        return NULL;
    size_t at = slot_of(handle);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % INDEX) {
        uint64_t found = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        if (found == 0)
            return NULL;
        if (is_of(found, handle))
            return record_of(found);
    }
    return NULL;
}

/* With one thread: removes a request from the index; false: others share its record, which stays. */
static bool take_out(struct mpiq_record_request *request)
{
    size_t at = slot_of(request->handle);
    for (unsigned i = 0; i < PROBES && slots[at] != 0; i++, at = (at + 1) % INDEX) {
        if (record_of(slots[at]) != request)
            continue;
        if (shared(slots[at]) > 0) {
            slots[at] -= SHARED_ONE;
            request->duplicates--;
            return false;
        }
        slots[at] = slots[(at + 1) % INDEX] == 0 ? 0 : REMOVED;
        return true;
    }
    return true;
}

void request_drop(struct mpiq_record_request *request)
{
    /* With several threads, request_detach has already removed it. */
    if (recorder_multiple || take_out(request))
        let_go(request);
}

struct mpiq_record_request *request_detach(uint64_t handle, bool *known)
{
    *known = false;
    if (handle == recorder_abi.request_null || !slots)
        return NULL;
    size_t at = slot_of(handle);
    for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % INDEX) {
        uint64_t found = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        while (is_of(found, handle)) {
            struct mpiq_record_request *request = record_of(found);
            bool last = shared(found) == 0;
            if (swap(&slots[at], found, last ? REMOVED : found - SHARED_ONE)) {
                *known = true;
                if (last)
                    return request;
                counter_add32(&request->duplicates, UINT32_MAX);
                return NULL; /* a send that completes immediately has no end to note */
            }
            found = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        }
        if (found == 0)
            return NULL;
    }
    return NULL;
}

bool request_is_active_on(uint32_t comm)
{
    struct mpiq_record_chunk *chunk = arena_at(__atomic_load_n(&mpiq_record_root.chunks, __ATOMIC_ACQUIRE));
    for (; chunk; chunk = arena_at(chunk->next)) {
        for (unsigned i = 0; i < MPIQ_RECORD_CHUNK; i++) {
            const struct mpiq_record_request *request = &chunk->requests[i];
            if (__atomic_load_n(&request->state, __ATOMIC_ACQUIRE) == MPIQ_RECORD_REQUEST_ACTIVE &&
                __atomic_load_n(&request->comm, __ATOMIC_RELAXED) == comm &&
                request->kind <= MPIQ_RECORD_REQUEST_RECEIVE)
                return true;
        }
    }
    return false;
}

void request_forget_comm(uint32_t comm)
{
    struct mpiq_record_chunk *chunk = arena_at(__atomic_load_n(&mpiq_record_root.chunks, __ATOMIC_ACQUIRE));
    for (; chunk; chunk = arena_at(chunk->next)) {
        for (unsigned i = 0; i < MPIQ_RECORD_CHUNK; i++) {
            struct mpiq_record_request *request = &chunk->requests[i];
            if (__atomic_load_n(&request->state, __ATOMIC_ACQUIRE) != MPIQ_RECORD_REQUEST_FREE &&
                __atomic_load_n(&request->comm, __ATOMIC_RELAXED) == comm)
                __atomic_store_n(&request->comm, 0, __ATOMIC_RELAXED);
        }
    }
}
