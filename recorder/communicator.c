/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator - the program's communicators, their groups, and names that all members agree on.
 *
 * Nothing is communicated: a communicator's id is made from its parent's id, the number of earlier ordered
 * creations by all members of the parent, and its own members.  Creations in which not all members of the
 * parent take part are distinguished by what their members have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

enum { TABLE = 4 * MPIQ_RECORD_MAX_COMMS, FREED_MAX = 8192 };
#define REMOVED UINT64_MAX

static struct {
    uint64_t handle;
    struct mpiq_record_comm *comm;
} table[TABLE];
static uint32_t comm_count;
static uint64_t generation; /* counts removals, for the caches of the threads */
static struct mpiq_record_comm *free_comms;

/* Number of communicators created apart, by seed. */
enum { SEEDS = 1024 };
static struct {
    uint64_t seed;
    uint64_t count;
} seeds[SEEDS];

static size_t slot_of(uint64_t handle)
{
    return mpiq_record_mix(handle) % TABLE;
}

struct mpiq_record_comm *comm_find(struct self *self, uint64_t handle)
{
    uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (__builtin_expect(self->comm_handle == handle && self->comm && self->comm_generation == now, 1))
        return self->comm;
    for (size_t i = 0, slot = slot_of(handle); i < TABLE; i++, slot = (slot + 1) % TABLE) {
        uint64_t key = __atomic_load_n(&table[slot].handle, __ATOMIC_ACQUIRE);
        if (key == 0)
            break;
        if (key != handle)
            continue;
        self->comm_handle = handle;
        self->comm_generation = now;
        return self->comm = table[slot].comm;
    }
    return NULL;
}

static bool insert(uint64_t handle, struct mpiq_record_comm *comm)
{
    if (comm_count >= MPIQ_RECORD_MAX_COMMS)
        return false;
    for (size_t slot = slot_of(handle);; slot = (slot + 1) % TABLE) {
        if (table[slot].handle != 0 && table[slot].handle != REMOVED)
            continue;
        table[slot].comm = comm;
        __atomic_store_n(&table[slot].handle, handle, __ATOMIC_RELEASE);
        comm_count++;
        return true;
    }
}

static void erase(uint64_t handle)
{
    for (size_t i = 0, slot = slot_of(handle); i < TABLE && table[slot].handle;
         i++, slot = (slot + 1) % TABLE) {
        if (table[slot].handle != handle)
            continue;
        /* Removed slots directly before a free slot become free. */
        bool last = table[(slot + 1) % TABLE].handle == 0;
        __atomic_store_n(&table[slot].handle, last ? 0 : REMOVED, __ATOMIC_RELEASE);
        for (; last && table[(slot + TABLE - 1) % TABLE].handle == REMOVED; slot = (slot + TABLE - 1) % TABLE)
            table[(slot + TABLE - 1) % TABLE].handle = 0;
        comm_count--;
        return;
    }
}

/* ---- groups ------------------------------------------------------------------------------------------ */

static uint64_t hash_word(uint64_t hash, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        hash = (hash ^ (value >> 8 * i & 0xff)) * OMPI_MQS_HASH_PRIME;
    return hash;
}

static uint64_t hash_members(const int *ranks, uint32_t count)
{
    uint64_t hash = OMPI_MQS_HASH_START;
    for (uint32_t i = 0; i < count; i++) {
        hash = hash_word(hash, ranks[i] < 0 ? UINT32_MAX : mpiq_record_root.jobid);
        hash = hash_word(hash, ranks[i] < 0 ? MPIQ_RECORD_FOREIGN : (uint32_t)ranks[i]);
    }
    return hash ? hash : 1;
}

/* Splits members into runs and counts these; only counts if runs is NULL. */
static uint32_t make_runs(const int *ranks, uint32_t count, struct mpiq_record_run *runs)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < count;) {
        struct mpiq_record_run run = {.first = ranks[i] < 0 ? MPIQ_RECORD_FOREIGN : (uint32_t)ranks[i],
                                      .count = 1};
        if (i + 1 < count)
            run.stride = ranks[i] < 0 ? 0 : ranks[i + 1] - ranks[i];
        while (i + run.count < count && (ranks[i] < 0) == (ranks[i + run.count] < 0) &&
               (ranks[i] < 0 || ranks[i + run.count] - ranks[i + run.count - 1] == run.stride))
            run.count++;
        if (runs)
            runs[made] = run;
        made++;
        i += run.count;
    }
    return made;
}

/* Finds or adds a group: equal groups exist once.  NULL: no room.  The caller holds the lock. */
static struct mpiq_record_group *keep_group(const int *ranks, uint32_t count)
{
    uint64_t hash = hash_members(ranks, count);
    uint32_t runs = make_runs(ranks, count, NULL);
    struct mpiq_record_group *free_one = NULL;
    struct mpiq_record_group *group = arena_at(mpiq_record_root.groups);
    for (; group; group = arena_at(group->next)) {
        if (group->users > 0 && group->hash == hash && group->count == count) {
            group->users++;
            return group;
        }
        if (group->users == 0 && group->run_count == runs)
            free_one = group;
    }
    group = free_one;
    if (!group) {
        group = arena_allocate_locked(sizeof *group + runs * sizeof *group->runs);
        if (!group)
            return NULL;
        group->next = mpiq_record_root.groups;
        group->run_count = runs;
        __atomic_store_n(&mpiq_record_root.groups, arena_offset(group), __ATOMIC_RELEASE);
    }
    make_runs(ranks, count, group->runs);
    group->count = count;
    group->hash = hash;
    group->users = 1;
    return group;
}

/* World ranks of a group (handle), -1 for members of another world; NULL on failure.  The caller frees. */
static int *world_ranks(uint64_t group, int *count)
{
    uint64_t world = 0;
    if (ASK(Group_size, group, (word)count) != 0 || *count < 0 ||
        ASK(Comm_group, recorder_abi.comm_world, (word)&world) != 0)
        return NULL;
    int *own = malloc(((size_t)*count + 1) * sizeof *own);
    int *ranks = malloc(((size_t)*count + 1) * sizeof *ranks);
    for (int i = 0; own && i < *count; i++)
        own[i] = i;
    bool good =
        own && ranks &&
        ASK(Group_translate_ranks, group, (word)*count, (word)own, handle_at(&world, 0), (word)ranks) == 0;
    ASK(Group_free, (word)&world);
    free(own);
    if (good)
        return ranks;
    free(ranks);
    return NULL;
}

static struct mpiq_record_group *group_of(uint64_t comm, bool remote)
{
    uint64_t group = 0;
    int count = 0;
    int failed = remote ? ASK(Comm_remote_group, comm, (word)&group) : ASK(Comm_group, comm, (word)&group);
    if (failed)
        return NULL;
    int *ranks = world_ranks(handle_at(&group, 0), &count);
    ASK(Group_free, (word)&group);
    if (!ranks)
        return NULL;
    arena_lock();
    struct mpiq_record_group *kept = keep_group(ranks, (uint32_t)count);
    arena_unlock();
    free(ranks);
    return kept;
}

int32_t comm_world_rank(const struct mpiq_record_comm *comm, int32_t local)
{
    const struct mpiq_record_group *group =
        comm ? arena_at(comm->remote_group ? comm->remote_group : comm->group) : NULL;
    uint32_t before = 0;
    if (local < 0)
        return local;
    for (uint32_t i = 0; group && i < group->run_count; i++) {
        const struct mpiq_record_run *run = &group->runs[i];
        if ((uint32_t)local - before < run->count)
            return run->first == MPIQ_RECORD_FOREIGN
                       ? MPIQ_RECORD_NO_PEER
                       : (int32_t)run->first + ((int32_t)((uint32_t)local - before)) * run->stride;
        before += run->count;
    }
    return MPIQ_RECORD_NO_PEER;
}

static uint32_t hash_of_members(const int *ranks, int count)
{
    for (int i = 0; i < count; i++) {
        if (ranks[i] < 0)
            return 0; /* of another world, which knows it by another number */
    }
    return (uint32_t)hash_members(ranks, (uint32_t)count);
}

uint32_t comm_tag_group(const struct call *call)
{
    const word *a = call->arguments;
    if (call->function->action == ACTION_CREATE_GROUP) {
        int count = 0;
        int *ranks = world_ranks(handle_of(a[1]), &count);
        uint32_t hash = ranks ? hash_of_members(ranks, count) : 0;
        free(ranks);
        return hash;
    }
    if (!call->comm || call->comm->local_rank != (int32_t)a[1])
        return 0; /* no leader: it does not use the tag */
    int own = mpiq_record_root.world_rank;
    int other = comm_world_rank(comm_find(call->self, handle_of(a[2])), (int32_t)a[3]);
    return hash_of_members(own < other ? (int[]){own, other} : (int[]){other, own}, 2);
}

/* ---- communicators ----------------------------------------------------------------------------------- */

static uint64_t combine(uint64_t a, uint64_t b)
{
    return mpiq_record_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

/* Makes a record with its groups and rank, not yet in any list; NULL: no room. */
static struct mpiq_record_comm *make(uint64_t handle, struct mpiq_record_comm *same_group_as)
{
    arena_lock();
    struct mpiq_record_comm *comm = free_comms;
    if (comm) {
        free_comms = arena_at(comm->next);
        memset(comm, 0, sizeof *comm);
    } else {
        comm = arena_allocate_locked(sizeof *comm);
    }
    arena_unlock();
    if (!comm)
        return NULL;
    comm->handle = handle;
    if (same_group_as) {
        struct mpiq_record_group *group = arena_at(same_group_as->group);
        struct mpiq_record_group *remote = arena_at(same_group_as->remote_group);
        comm->group = same_group_as->group;
        comm->remote_group = same_group_as->remote_group;
        comm->local_rank = same_group_as->local_rank;
        comm->flags = same_group_as->flags & (MPIQ_RECORD_COMM_INTER | MPIQ_RECORD_COMM_TOPOLOGY);
        arena_lock();
        if (group)
            group->users++;
        if (remote)
            remote->users++;
        arena_unlock();
        return comm;
    }
    int inter = 0;
    int rank = -1;
    ASK(Comm_test_inter, handle, (word)&inter);
    ASK(Comm_rank, handle, (word)&rank);
    comm->local_rank = rank;
    comm->flags = inter ? MPIQ_RECORD_COMM_INTER : 0;
    comm->group = arena_offset(group_of(handle, false));
    if (inter)
        comm->remote_group = arena_offset(group_of(handle, true));
    return comm;
}

static void publish(struct mpiq_record_comm *comm)
{
    arena_lock();
    bool room = comm && comm->group && insert(comm->handle, comm);
    if (room) {
        comm->next = mpiq_record_root.comms;
        __atomic_store_n(&mpiq_record_root.comms, arena_offset(comm), __ATOMIC_RELEASE);
    } else {
        mpiq_record_root.lost_comms++;
    }
    arena_unlock();
}

static uint64_t hash_of(const struct mpiq_record_comm *comm)
{
    const struct mpiq_record_group *group = arena_at(comm->group);
    const struct mpiq_record_group *remote = arena_at(comm->remote_group);
    return (group ? group->hash : 0) + (remote ? remote->hash : 0);
}

bool comm_init(void)
{
    static const char names[2][16] = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};
    for (unsigned i = 0; i < 2; i++) {
        struct mpiq_record_comm *comm = make(i == 0 ? recorder_abi.comm_world : recorder_abi.comm_self, NULL);
        if (!comm)
            return false;
        comm->flags |= i == 0 ? MPIQ_RECORD_COMM_WORLD : MPIQ_RECORD_COMM_SELF;
        comm->id[1] = i == 0 ? 1 : 2;
        memcpy(comm->name, names[i], sizeof names[i]);
        publish(comm);
        if (i == 0) {
            const struct mpiq_record_group *group = arena_at(comm->group);
            mpiq_record_root.world_rank = comm->local_rank;
            mpiq_record_root.world_size = group ? (int32_t)group->count : 0;
        }
    }
    return true;
}

static void note_origin(struct mpiq_record_comm *comm, const struct call *call)
{
    comm->parent = arena_offset(call->comm);
    comm->caller = call->caller;
    comm->made_by = call->function->collective;
}

void comm_created(const struct call *call, uint64_t handle, bool same_group)
{
    struct mpiq_record_comm *parent = call->comm;
    uint64_t number = parent ? counter_add(&parent->creations, 1) + 1 : 0;
    if (handle == recorder_abi.comm_null)
        return;
    struct mpiq_record_comm *comm = make(handle, same_group ? parent : NULL);
    if (comm) {
        const char *name = recorder_functions[call->entry->function].name;
        note_origin(comm, call);
        comm->id[0] = combine(parent ? parent->id[1] : 0, number);
        comm->id[1] = combine(comm->id[0], hash_of(comm));
        if (!parent)
            comm->flags |= MPIQ_RECORD_COMM_UNCLEAR;
        else if (parent->flags & (MPIQ_RECORD_COMM_UNCOUNTED | MPIQ_RECORD_COMM_DOUBTED))
            comm->flags |= MPIQ_RECORD_COMM_DOUBTED;
        if (strstr(name, "Cart") || strstr(name, "raph"))
            comm->flags |= MPIQ_RECORD_COMM_TOPOLOGY;
    }
    publish(comm);
}

/* Counts a creation with this seed; returns its number, from 1, or 0 if there is no room. */
static uint64_t count_seed(uint64_t seed)
{
    uint64_t count = 0;
    arena_lock();
    for (unsigned i = 0, slot = (unsigned)(seed % SEEDS); i < SEEDS; i++, slot = (slot + 1) % SEEDS) {
        if (seeds[slot].count && seeds[slot].seed != seed)
            continue;
        seeds[slot].seed = seed;
        count = ++seeds[slot].count;
        break;
    }
    arena_unlock();
    return count;
}

void comm_created_apart(const struct call *call, uint64_t handle, uint64_t seed, bool unclear)
{
    if (handle == recorder_abi.comm_null)
        return;
    struct mpiq_record_comm *comm = make(handle, NULL);
    if (comm) {
        uint64_t own = combine(seed, hash_of(comm));
        uint64_t number = count_seed(own);
        note_origin(comm, call);
        comm->id[0] = own;
        comm->id[1] = combine(own, number);
        if (unclear || number == 0)
            comm->flags |= MPIQ_RECORD_COMM_UNCLEAR;
    }
    publish(comm);
}

void comm_name(struct mpiq_record_comm *comm, const char *name)
{
    if (!comm || !name)
        return;
    size_t length = strnlen(name, sizeof comm->name - 1);
    memcpy(comm->name, name, length);
    comm->name[length] = '\0';
}

static void release_group(uint32_t offset)
{
    struct mpiq_record_group *group = arena_at(offset);
    if (group && group->users > 0)
        group->users--;
}

/* Keeps a freed communicator for the check at the end; false: too many.  The caller holds the lock. */
static bool keep_freed(struct mpiq_record_comm *comm)
{
    static uint32_t count;
    if (count >= FREED_MAX) {
        mpiq_record_root.lost_facts++;
        return false;
    }
    count++;
    __atomic_fetch_or(&comm->flags, MPIQ_RECORD_COMM_FREED, __ATOMIC_RELAXED);
    comm->next = mpiq_record_root.freed;
    mpiq_record_root.freed = arena_offset(comm);
    return true;
}

/* A communicator lives on until its messages have gone out (MPI 4.0, 7.4.3), and so do the counts of these.
 */
enum { LINGERING_MAX = 256 };
static uint32_t lingering;

static bool may_have_messages(const struct mpiq_record_comm *comm)
{
    return comm->flags & MPIQ_RECORD_COMM_LOOSE || request_is_active_on(arena_offset(comm));
}

/* The caller holds the lock, as for what follows. */
static void drop(struct mpiq_record_comm *comm)
{
    comm->handle = 0;
    if (recorder_check && keep_freed(comm))
        return;
    release_group(comm->group);
    release_group(comm->remote_group);
    channel_free_all(comm);
    neighbour_free(comm);
    request_forget_comm(arena_offset(comm));
    window_forget_comm(arena_offset(comm));
    file_forget_comm(arena_offset(comm));
    comm->next = arena_offset(free_comms);
    free_comms = comm;
}

static void drop_lingering(void)
{
    uint32_t *link = &mpiq_record_root.comms;
    while (lingering > 0 && *link) {
        struct mpiq_record_comm *comm = arena_at(*link);
        if (comm->flags & MPIQ_RECORD_COMM_LINGERS && !may_have_messages(comm)) {
            *link = comm->next;
            lingering--;
            drop(comm);
        } else {
            link = &comm->next;
        }
    }
}

void comm_removed(struct mpiq_record_comm *comm)
{
    if (!comm || comm->flags & (MPIQ_RECORD_COMM_WORLD | MPIQ_RECORD_COMM_SELF))
        return;
    arena_lock();
    drop_lingering();
    uint32_t *link = &mpiq_record_root.comms;
    while (*link && arena_at(*link) != comm)
        link = &((struct mpiq_record_comm *)arena_at(*link))->next;
    bool lingers = *link && may_have_messages(comm);
    if (lingers && lingering == LINGERING_MAX) {
        counter_add(&mpiq_record_root.lost_requests, 1); /* their messages are not known any more */
        lingers = false;
    }
    if (*link) {
        erase(comm->handle);
        __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    }
    if (lingers) {
        lingering++;
        comm->handle = (uintptr_t)comm;
        __atomic_fetch_or(&comm->flags, MPIQ_RECORD_COMM_LINGERS, __ATOMIC_RELAXED);
    } else if (*link) {
        *link = comm->next;
        drop(comm);
    }
    arena_unlock();
}

void comm_is_loose(struct mpiq_record_comm *comm)
{
    if (comm)
        __atomic_fetch_or(&comm->flags, MPIQ_RECORD_COMM_LOOSE, __ATOMIC_RELAXED);
}
