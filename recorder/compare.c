/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare - whether the members of a communicator make the same collective calls, known before the library is
 * told of a call; for `mpiq run --strict`.
 *
 * The ranks of a host share a table, a memory file of mpiq run's that nobody else can open and that leaves no
 * name behind.  The first member to make its n-th ordered call on a communicator writes down which call it
 * is; each later one compares its own.  Nobody waits, and nothing is sent.  The call that does not match is
 * refused: it is not passed on, and its thread stays in it until mpiq run ends the job.
 *
 * An entry is overwritten once all members have come or, if the bucket is full of others, before: then a call
 * is not compared.  Nothing is compared on communicators whose id members may not share, nor once a member's
 * calls are not counted right (a call failed, say).
 *
 * Members on other hosts, or without a table, compare while blocking collectives wait for all (compare_all).
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder.h"

enum { BUCKETS = 4096, ENTRIES = 4 };

/* What members must call alike. */
struct call_of_member {
    int64_t bytes; /* -1: need not agree, or not known of this member */
    int32_t root;  /* -1: need not agree */
    int16_t collective;
    uint16_t op; /* 0: need not agree */
};

struct entry {
    uint64_t key;    /* of communicator and number; 0: free */
    uint64_t number; /* 0: nothing is compared on the communicator any more */
    struct call_of_member call;
    uint32_t come; /* members so far */
    uint32_t size;
};

struct bucket {
    uint32_t locked;
    uint32_t reserved;
    struct entry entries[ENTRIES];
};

/* The file.  mpiq run reads the first member (cli/strict.c). */
struct table {
    uint32_t refused; /* calls so far */
    uint32_t reserved[15];
    struct bucket buckets[BUCKETS];
};

static struct table *table;
static bool everybody; /* the table is shared by all ranks of the job */
static uint64_t job;   /* tells the ranks of this job's MPI_COMM_WORLD from others that have the table */

/* ---- the table ----------------------------------------------------------------------------------------- */

/* "PID/FD/NAME": mpiq run's memory file of that name.  It is no other process's of the same number, as on
   another host, if the link says so. */
static int open_table(const char *where)
{
    unsigned pid, descriptor;
    char name[64], path[64], expected[96], target[96];
    if (sscanf(where, "%u/%u/%63s", &pid, &descriptor, name) != 3)
        return -1;
    snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, descriptor);
    snprintf(expected, sizeof expected, "/memfd:%s (deleted)", name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    return strcmp(target, expected) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

/* When a process started, in clock ticks since boot; 0: not known. */
static uint64_t start_of(int pid)
{
    enum { STARTED = 20 }; /* fields after the name, which may have blanks */
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length < 0 ? 0 : length] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < STARTED; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* The processes of one world have the same namespace or, started by MPICH's launcher, the same parent. */
static uint64_t name_job(void)
{
    if (mpiq_record_root.jobid)
        return mpiq_record_root.jobid;
    uint64_t start = start_of((int)getppid());
    return start ? mpiq_record_mix((uint64_t)getppid() << 40 ^ start) | 1 : 0;
}

/* How many ranks of the job are on this host, by what its launcher says; 0: not known. */
static int ranks_here(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value)
            return atoi(value);
    }
    return 0;
}

void compare_begin(void)
{
    const char *where = getenv("MPIQ_STRICT");
    const size_t size = sizeof *table;
    int file = where ? open_table(where) : -1;
    job = name_job();
    if (file < 0 || !job)
        return;
    if (ftruncate(file, (off_t)size) == 0) {
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        table = memory == MAP_FAILED ? NULL : memory;
    }
    close(file);
    everybody = table && ranks_here() == mpiq_record_root.world_size;
}

/* Never waits long: a process may be killed while it has the lock. */
static bool lock(struct bucket *bucket)
{
    enum { TRIES = 10000 };
    for (int i = 0; i < TRIES; i++) {
        if (!__atomic_exchange_n(&bucket->locked, 1, __ATOMIC_ACQUIRE))
            return true;
        sched_yield();
    }
    return false;
}

static void unlock(struct bucket *bucket)
{
    __atomic_store_n(&bucket->locked, 0, __ATOMIC_RELEASE);
}

static uint64_t key_of(const struct mpiq_record_comm *comm, uint64_t number)
{
    const struct mpiq_record_group *group = arena_at(comm->group);
    const struct mpiq_record_group *remote = arena_at(comm->remote_group);
    uint64_t members = group->hash + (remote ? remote->hash : 0);
    uint64_t key = mpiq_record_mix(job) + comm->id[1];
    return mpiq_record_mix(mpiq_record_mix(mpiq_record_mix(key) + members) + number) | 1;
}

/* The entry of that key, or one to make it of, whose number is then not 0.  The caller has the lock. */
static struct entry *entry_of(struct bucket *bucket, uint64_t key)
{
    struct entry *free_one = NULL;
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct entry *entry = &bucket->entries[i];
        if (entry->key == key)
            return entry;
        bool done = entry->key == 0 || entry->come >= entry->size;
        bool worse = free_one && (free_one->key == 0 || free_one->come >= free_one->size ||
                                  (!done && free_one->number <= entry->number));
        free_one = worse ? free_one : entry;
    }
    return free_one;
}

static struct bucket *bucket_of(uint64_t key)
{
    return &table->buckets[(key >> 1) % BUCKETS];
}

/* Whether a member has said that its calls on the communicator are not counted right. */
static bool is_doubted(const struct mpiq_record_comm *comm)
{
    uint64_t key = key_of(comm, 0);
    const struct bucket *bucket = bucket_of(key);
    for (unsigned i = 0; i < ENTRIES; i++) {
        if (__atomic_load_n(&bucket->entries[i].key, __ATOMIC_ACQUIRE) == key)
            return true;
    }
    return false;
}

void compare_doubt(const struct mpiq_record_comm *comm)
{
    if (!table || !comm->group)
        return;
    uint64_t key = key_of(comm, 0);
    struct bucket *bucket = bucket_of(key);
    if (!lock(bucket))
        return;
    struct entry *entry = entry_of(bucket, key);
    *entry = (struct entry){.number = UINT64_MAX, .size = UINT32_MAX}; /* never overwritten first */
    __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
    unlock(bucket);
}

/* ---- one call ------------------------------------------------------------------------------------------ */

/* Whether one scalar says how many bytes all members give or take. */
static bool has_one_length(int collective)
{
#define ALIKE(name)        \
    case OMPI_MQS_##name:  \
    case OMPI_MQS_i##name: \
    case OMPI_MQS_##name##_init
    switch (collective) {
        ALIKE(bcast)
            : ALIKE(allgather)
            : ALIKE(allreduce)
            : ALIKE(alltoall)
            : ALIKE(reduce_scatter_block)
            : ALIKE(reduce) : ALIKE(gather) : ALIKE(scatter) : ALIKE(scan) : ALIKE(exscan) : return true;
    default:
        return false;
    }
#undef ALIKE
}

static struct call_of_member describe(const struct mpiq_record_comm *comm,
                                      const struct mpiq_record_collective *note)
{
    struct call_of_member call = {.bytes = -1, .root = -1, .collective = note->collective};
    if (comm->remote_group) /* each group gives arguments of its own */
        return call;
    call.root = note->root >= 0 ? note->root : -1;
    call.op = fact_op(note->op);
    call.op = call.op == UINT16_MAX ? 0 : call.op; /* the program's own: handles differ from rank to rank */
    call.bytes = has_one_length(note->collective) ? note->bytes : -1;
    return call;
}

static bool match(const struct call_of_member *a, const struct call_of_member *b)
{
    return a->collective == b->collective && a->root == b->root && (a->op == b->op || !a->op || !b->op) &&
           (a->bytes == b->bytes || a->bytes < 0 || b->bytes < 0);
}

/* Whether the number of the call, and what its communicator is, are the same for all members. */
static bool is_comparable(const struct call *call, const struct mpiq_record_group *group)
{
    const unsigned unsure = MPIQ_RECORD_COMM_UNCLEAR | MPIQ_RECORD_COMM_UNCOUNTED | MPIQ_RECORD_COMM_DOUBTED;
    return group && call->collective && call->thread->number > 0 && !(call->comm->flags & unsure) &&
           (group->count > 1 || call->comm->remote_group);
}

bool compare_is_like_others(const struct call *call)
{
    const struct mpiq_record_comm *comm = call->comm;
    const struct mpiq_record_group *group = comm ? arena_at(comm->group) : NULL;
    const struct mpiq_record_group *remote = comm ? arena_at(comm->remote_group) : NULL;
    if (!table || !is_comparable(call, group) || is_doubted(comm))
        return true;
    struct call_of_member own = describe(comm, call->collective);
    uint64_t number = call->thread->number;
    uint64_t key = key_of(comm, number);
    struct bucket *bucket = bucket_of(key);
    if (!lock(bucket))
        return true;
    struct entry *entry = entry_of(bucket, key);
    bool alike = true;
    if (entry->key != key) {
        *entry = (struct entry){
            .number = number, .call = own, .size = group->count + (remote ? remote->count : 0)};
        __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
    } else {
        alike = match(&entry->call, &own);
        if (alike) {
            entry->call.bytes = entry->call.bytes < 0 ? own.bytes : entry->call.bytes;
            entry->call.op = entry->call.op ? entry->call.op : own.op;
        }
    }
    entry->come += alike;
    unlock(bucket);
    return alike;
}

/* ---- while all wait for all ---------------------------------------------------------------------------- */

bool compare_all(const struct call *call)
{
    const struct mpiq_record_comm *comm = call->comm;
    uint64_t bor = fact_op_handle("MPI_BOR");
    if (everybody || !bor || !recorder_abi.byte || !is_comparable(call, arena_at(comm->group))) {
        if (call->function->collective != OMPI_MQS_barrier)
            ASK(Barrier, comm->handle);
        return true;
    }
    struct call_of_member own = describe(comm, call->collective);
    uint64_t sent[2], got[2] = {0};
    sent[0] =
        mpiq_record_mix(mpiq_record_mix(((uint64_t)(uint16_t)own.collective << 32) + (uint32_t)own.root) +
                        call->thread->number);
    sent[1] = ~sent[0]; /* equal on all if no bit is set in both */
    if (ASK(Allreduce, (word)sent, (word)got, sizeof sent, (word)recorder_abi.byte, (word)bor,
            comm->handle) != 0)
        return true;
    return (got[0] & got[1]) == 0 && got[0] == sent[0];
}

/* ---- a call that is refused ---------------------------------------------------------------------------- */

void compare_refuse(const struct call *call)
{
    __atomic_store_n(&call->entry->refused, 1, __ATOMIC_RELEASE);
    if (table)
        __atomic_add_fetch(&table->refused, 1, __ATOMIC_RELEASE);
    while (!table || !is_doubted(call->comm)) {
        int flag;
        unsigned char status[64];
        ASK(Iprobe, (word)recorder_abi.any_source, (word)recorder_abi.any_tag, recorder_abi.comm_self,
            (word)&flag, (word)status);
        sched_yield();
    }
    __atomic_store_n(&call->entry->refused, 0, __ATOMIC_RELEASE);
}
