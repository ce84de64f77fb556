/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record_body.h - a communicator's record: made and dropped with the communicator, its ring made by the first
 * call, its counts beyond the first classes by the first call of each class.
 */
#ifndef OMPI_MQS_RECORD_BODY_H
#define OMPI_MQS_RECORD_BODY_H

#include "ompi/mqs/thread_body.h"

static struct ompi_mqs_own_collectives *ompi_mqs_free_records; /* under the lock of the lists */

static void *ompi_mqs_pointer(ompi_mqs_addr_t address)
{
    return (void *) (uintptr_t) address;
}

/* A new record for comm; NULL if recording is off or there is no memory. */
static struct ompi_mqs_collectives *ompi_mqs_collectives_create(const void *comm)
{
    struct ompi_mqs_own_collectives *own;
    struct ompi_mqs_collectives *record;

    if (0 == ompi_mqs_root.recording) {
        return NULL;
    }
    ompi_mqs_lock();
    own = ompi_mqs_free_records;
    if (NULL != own) {
        ompi_mqs_free_records = own->next_free;
    }
    ompi_mqs_unlock();
    if (NULL == own) {
        own = calloc(1, sizeof(*own));
        if (NULL == own) {
            return NULL;
        }
    }
    record = &own->record;
    ompi_mqs_lock_word(&own->lock);
    memset(record, 0, sizeof(*record));
    record->size = sizeof(*record);
    record->classes = OMPI_MQS_HOT;
    record->no_ring = 1;
    record->comm = ompi_mqs_address(comm);
    ompi_mqs_unlock_word(&own->lock);
    return record;
}

/* No thread is in a call of this record from now on. */
static void ompi_mqs_threads_forget(struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_thread *thread;
    ompi_mqs_addr_t gone = ompi_mqs_address(record);
    uint32_t i;

    /* Under this lock no thread ends. */
    ompi_mqs_lock();
    for (thread = ompi_mqs_pointer(ompi_mqs_root.threads); NULL != thread;
         thread = ompi_mqs_pointer(thread->next)) {
        uint64_t *inside = ompi_mqs_pointer(thread->inside);

        if (NULL != inside && gone == __atomic_load_n(inside, __ATOMIC_RELAXED)) {
            /* Inside a call still: of the process, for what is left of it. */
            ompi_mqs_store(inside, ompi_mqs_address(&ompi_mqs_process.record));
        }
        for (i = 0; i < OMPI_MQS_OUTER_DEPTH; i++) {
            if (gone == __atomic_load_n(&thread->outer[i].collectives, __ATOMIC_RELAXED)) {
                ompi_mqs_store(&thread->outer[i].collectives, 0);
            }
        }
    }
    ompi_mqs_unlock();
}

/* Calls that are under way find out by the generation that there is nothing to end. */
static void ompi_mqs_collectives_destroy(struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_own_collectives *own = ompi_mqs_home(record);
    struct ompi_mqs_count_block *block, *next;
    void *ring;

    if (NULL == record) {
        return;
    }
    ompi_mqs_threads_forget(record);
    ompi_mqs_lock_word(&own->lock);
    own->generation++;
    record->comm = 0;
    record->outstanding = 0;
    record->no_ring = 1;
    record->position = 0;
    ring = ompi_mqs_pointer(record->ring);
    record->ring = 0;
    block = ompi_mqs_pointer(record->more_counts);
    record->more_counts = 0;
    ompi_mqs_unlock_word(&own->lock);
    free(ring);
    for (; NULL != block; block = next) {
        next = ompi_mqs_pointer(block->next);
        free(block);
    }
    ompi_mqs_lock();
    own->next_free = ompi_mqs_free_records;
    ompi_mqs_free_records = own;
    ompi_mqs_unlock();
}

/* Gives the record a ring if it has none.  Returns false without memory. Not under its lock. */
static int ompi_mqs_ring_make(struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_own_collectives *own = ompi_mqs_home(record);
    void *made;

    if (0 != __atomic_load_n(&record->ring, __ATOMIC_ACQUIRE)) {
        return 1;
    }
    made = calloc(OMPI_MQS_RING, sizeof(struct ompi_mqs_call));
    if (NULL == made) {
        return 0;
    }
    ompi_mqs_lock_word(&own->lock);
    if (0 == record->ring) {
        __atomic_store_n(&record->ring, ompi_mqs_address(made), __ATOMIC_RELEASE);
        ompi_mqs_store(&record->no_ring, 0);
        made = NULL;
    }
    ompi_mqs_unlock_word(&own->lock);
    free(made);
    return 1;
}

static void ompi_mqs_count_add(uint32_t *count, uint32_t change)
{
    __atomic_store_n(count, *count + change, __ATOMIC_RELAXED);
}

/* The counts of a class, made if it has none yet; NULL without memory.  Under the record's lock, which a
   class that comes for the first time holds around an allocation. */
static struct ompi_mqs_count *ompi_mqs_count_of(struct ompi_mqs_collectives *record, uint32_t collective)
{
    struct ompi_mqs_class_count *unused = NULL;
    struct ompi_mqs_count_block *block;
    unsigned int i;

    if (collective < OMPI_MQS_HOT) {
        return &record->counts[collective];
    }
    for (block = ompi_mqs_pointer(record->more_counts); NULL != block; block = ompi_mqs_pointer(block->next)) {
        for (i = 0; i < OMPI_MQS_COUNT_BLOCK; i++) {
            if (collective == block->of[i].collective) {
                return &block->of[i].count;
            }
            if (0 == block->of[i].collective) {
                unused = &block->of[i];
            }
        }
    }
    if (NULL == unused) {
        block = calloc(1, sizeof(*block));
        if (NULL == block) {
            return NULL;
        }
        unused = &block->of[0];
        block->next = record->more_counts;
        OMPI_MQS_ORDER();
        record->more_counts = ompi_mqs_address(block);
    }
    OMPI_MQS_ORDER();
    unused->collective = collective;
    return &unused->count;
}

/* Puts a call into the ring where it belongs: an ordered one into its communicator's, which gives it a
   number; any other into the process's.  Returns the number or 0.  Under the lock of the record that
   ompi_mqs_ring_of names, which has a ring. */
OMPI_MQS_INLINE uint64_t ompi_mqs_ring_put(struct ompi_mqs_collectives *record, const struct ompi_mqs_call *call)
{
    struct ompi_mqs_call *slot = ompi_mqs_ring_next(record);

    *slot = *call;
    record->position += OMPI_MQS_POSITION;
    return call->flags & OMPI_MQS_CALL_ORDERED ? ompi_mqs_ring_calls(record->position) : 0;
}

/* One step of the hash of a group's members; start with OMPI_MQS_HASH_START. */
static uint64_t ompi_mqs_hash_member(uint64_t hash, uint32_t jobid, uint32_t vpid)
{
    uint64_t name = (uint64_t) jobid | (uint64_t) vpid << 32;
    int i;

    for (i = 0; i < 8; i++, name >>= 8) {
        hash = (hash ^ (name & 0xff)) * OMPI_MQS_HASH_PRIME;
    }
    return hash;
}

#endif
