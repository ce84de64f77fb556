/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel - per communicator and peer, how many sends were begun and how many receives completed, by tag.
 *
 * The first tags of a channel are counted one by one, all others go into a sketch per direction.  Counts are
 * only ever added to, so with several threads atomic additions in any order give the same sums.
 */
#include <string.h>

#include "recorder.h"

/* Channels by (communicator, peer).  Single channels are never removed, so look-ups take no lock.  A table
   that is too full is replaced by a new one; the old one stays for threads that still read it. */
struct table {
    uint64_t mask;
    uint64_t count;
    struct {
        uint64_t key;
        struct mpiq_record_channel *channel;
    } slots[];
};
static struct table *table;
static struct table *spare; /* the previous table, if no other thread can still read it */
static struct mpiq_record_channel *free_channels;

#define REMOVED UINT64_MAX

static uint64_t key_of(const struct mpiq_record_comm *comm, int32_t peer)
{
    return (uint64_t)arena_offset(comm) << 32 | (uint32_t)peer;
}

static struct mpiq_record_channel *find(const struct table *in, uint64_t key)
{
    if (!in)
        return NULL;
    for (uint64_t slot = mpiq_record_mix(key) & in->mask;; slot = (slot + 1) & in->mask) {
        uint64_t found = __atomic_load_n(&in->slots[slot].key, __ATOMIC_ACQUIRE);
        if (found == key)
            return in->slots[slot].channel;
        if (found == 0)
            return NULL;
    }
}

static void insert(struct table *in, uint64_t key, struct mpiq_record_channel *channel)
{
    uint64_t slot = mpiq_record_mix(key) & in->mask;
    while (in->slots[slot].key != 0)
        slot = (slot + 1) & in->mask;
    in->slots[slot].channel = channel;
    __atomic_store_n(&in->slots[slot].key, key, __ATOMIC_RELEASE);
    in->count++;
}

/* Makes room for one more channel; false: none left.  The caller holds the lock. */
static bool grow(void)
{
    if (table && table->count < (table->mask + 1) / 2)
        return true;
    uint64_t kept = 0;
    for (uint64_t i = 0; table && i <= table->mask; i++)
        kept += table->slots[i].key != 0 && table->slots[i].key != REMOVED;
    uint64_t size = 64;
    while (size < kept * 4)
        size *= 2;
    struct table *larger = NULL;
    if (spare && spare->mask == size - 1) {
        larger = spare;
        memset(larger, 0, sizeof *larger + size * sizeof *larger->slots);
    } else {
        larger = arena_allocate_locked(sizeof *larger + size * sizeof *larger->slots);
    }
    if (!larger)
        return false;
    larger->mask = size - 1;
    for (uint64_t i = 0; table && i <= table->mask; i++) {
        if (table->slots[i].key != 0 && table->slots[i].key != REMOVED)
            insert(larger, table->slots[i].key, table->slots[i].channel);
    }
    spare = recorder_multiple ? NULL : table;
    __atomic_store_n(&table, larger, __ATOMIC_RELEASE);
    return true;
}

static struct mpiq_record_channel *make(struct mpiq_record_comm *comm, int32_t peer, uint64_t key)
{
    arena_lock();
    struct mpiq_record_channel *channel = find(table, key); /* another thread may have added it */
    if (!channel && grow()) {
        channel = free_channels;
        if (channel) {
            free_channels = arena_at(channel->next);
            uint32_t sketches[2] = {channel->sent_sketch, channel->received_sketch};
            memset(channel, 0, sizeof *channel);
            for (unsigned i = 0; i < 2; i++) { /* clear the reused sketches */
                void *cells = arena_at(sketches[i]);
                if (cells)
                    memset(cells, 0, MPIQ_RECORD_CELLS * sizeof(struct mpiq_record_cell));
            }
            channel->sent_sketch = sketches[0];
            channel->received_sketch = sketches[1];
        } else {
            channel = arena_allocate_locked(sizeof *channel);
        }
        if (channel) {
            channel->peer = peer;
            channel->next = comm->channels;
            insert(table, key, channel);
            comm->channel_count++;
            __atomic_store_n(&comm->channels, arena_offset(channel), __ATOMIC_RELEASE);
        }
    }
    arena_unlock();
    if (!channel)
        counter_add32(&comm->lost, 1);
    return channel;
}

static struct mpiq_record_channel *channel_of(struct mpiq_record_comm *comm, int32_t peer)
{
    uint64_t key = key_of(comm, peer);
    struct mpiq_record_channel *channel = find(__atomic_load_n(&table, __ATOMIC_ACQUIRE), key);
    return channel ? channel : make(comm, peer, key);
}

void channel_free_all(struct mpiq_record_comm *comm)
{
    uint32_t at = comm->channels;
    while (at) {
        struct mpiq_record_channel *channel = arena_at(at);
        uint64_t key = key_of(comm, channel->peer);
        uint64_t slot = mpiq_record_mix(key) & table->mask;
        while (table->slots[slot].key != 0 && table->slots[slot].key != key)
            slot = (slot + 1) & table->mask;
        if (table->slots[slot].key == key)
            __atomic_store_n(&table->slots[slot].key, REMOVED, __ATOMIC_RELEASE);
        at = channel->next;
        channel->next = arena_offset(free_channels);
        free_channels = channel;
    }
    comm->channels = 0;
    comm->channel_count = 0;
}

/* ---- counting ---------------------------------------------------------------------------------------- */

/* The tag's own counters, allocated now if some are free; NULL: the tag goes into the sketch. */
static struct mpiq_record_tag *own_counters(struct mpiq_record_channel *channel, int32_t tag)
{
    for (unsigned i = 0; i < MPIQ_RECORD_TAGS; i++) {
        struct mpiq_record_tag *own = &channel->tags[i];
        uint32_t used = __atomic_load_n(&own->used, __ATOMIC_ACQUIRE);
        if (used && own->tag == tag)
            return own;
        if (used)
            continue;
        arena_lock();
        if (!own->used) {
            own->tag = tag;
            __atomic_store_n(&own->used, 1, __ATOMIC_RELEASE);
        }
        arena_unlock();
        if (own->tag == tag)
            return own;
    }
    return NULL;
}

/* Adds so many messages of that tag; one less is UINT64_MAX. */
static void add_to_sketch(struct mpiq_record_comm *comm, uint32_t *sketch, int32_t tag, uint64_t messages,
                          uint64_t bytes)
{
    uint32_t at = __atomic_load_n(sketch, __ATOMIC_ACQUIRE);
    if (!at) {
        arena_lock();
        at = *sketch;
        if (!at) {
            at = arena_offset(arena_allocate_locked(MPIQ_RECORD_CELLS * sizeof(struct mpiq_record_cell)));
            __atomic_store_n(sketch, at, __ATOMIC_RELEASE);
        }
        arena_unlock();
    }
    struct mpiq_record_cell *cells = arena_at(at);
    if (!cells) {
        counter_add32(&comm->lost, 1);
        return;
    }
    uint64_t hash = mpiq_record_tag_hash(tag);
    for (unsigned i = 0; i < 3; i++) {
        struct mpiq_record_cell *cell = &cells[mpiq_record_cell_of(hash, i)];
        counter_add(&cell->count, messages);
        counter_add(&cell->tags, messages * (uint32_t)tag);
        counter_add(&cell->hashes, messages * hash);
        counter_add(&cell->bytes, bytes);
    }
}

uint64_t channel_send(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int64_t bytes)
{
    struct mpiq_record_channel *channel = channel_of(comm, peer);
    if (!channel)
        return 0;
    if (bytes < 0) {
        counter_add32(&channel->bytes_unclear, 1);
        bytes = 0;
    }
    struct mpiq_record_tag *own = own_counters(channel, tag);
    if (own) {
        counter_add(&own->sent, 1);
        counter_add(&own->sent_bytes, (uint64_t)bytes);
    } else {
        add_to_sketch(comm, &channel->sent_sketch, tag, 1, (uint64_t)bytes);
    }
    return counter_add(&channel->sent, 1) + 1;
}

void channel_send_undone(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int64_t bytes)
{
    const uint64_t one_less = UINT64_MAX, size = bytes < 0 ? 0 : (uint64_t)bytes;
    struct mpiq_record_channel *channel = channel_of(comm, peer);
    if (!channel)
        return;
    struct mpiq_record_tag *own = own_counters(channel, tag);
    counter_add(&channel->sent, one_less);
    if (own) {
        counter_add(&own->sent, one_less);
        counter_add(&own->sent_bytes, -size);
    } else {
        add_to_sketch(comm, &channel->sent_sketch, tag, one_less, -size);
    }
}

void channel_receive(struct mpiq_record_comm *comm, int32_t peer, int32_t tag, int64_t bytes)
{
    struct mpiq_record_channel *channel = channel_of(comm, peer);
    if (!channel)
        return;
    if (bytes < 0) {
        counter_add32(&channel->bytes_unclear, 1);
        bytes = 0;
    }
    struct mpiq_record_tag *own = own_counters(channel, tag);
    if (own) {
        counter_add(&own->received, 1);
        counter_add(&own->received_bytes, (uint64_t)bytes);
    } else {
        add_to_sketch(comm, &channel->received_sketch, tag, 1, (uint64_t)bytes);
    }
    counter_add(&channel->received, 1);
}

void channel_unclear(struct mpiq_record_comm *comm, int32_t peer)
{
    struct mpiq_record_channel *channel = peer >= 0 ? channel_of(comm, peer) : NULL;
    counter_add32(channel ? &channel->unclear : &comm->unclear, 1);
}
