/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fact - the facts that the check at the end needs: counts of identical calls, kept only with --check.
 *
 * One open-addressed table under the arena's lock.  Calls for which there is no room are counted in
 * lost_facts; then the check draws no conclusions from missing facts.
 */
#include <string.h>

#include "recorder.h"

bool recorder_check;

static struct mpiq_record_fact *facts;

bool fact_init(void)
{
    facts = arena_allocate(MPIQ_RECORD_MAX_FACTS * sizeof *facts);
    mpiq_record_root.facts = arena_offset(facts);
    return facts != NULL && signature_init();
}

static uint64_t add_key(uint64_t key, uint64_t value)
{
    return mpiq_record_mix(key * UINT64_C(0x9e3779b97f4a7c15) + value);
}

/* Hash of everything that distinguishes a fact from others, for look-up. */
static uint64_t key_of(const struct mpiq_record_fact *fact)
{
    uint64_t key = add_key(fact->kind, (uint64_t)fact->function << 32 | fact->comm);
    if (fact->kind == MPIQ_RECORD_FACT_OBJECT) {
        key = add_key(fact->kind, (uint64_t)fact->base << 32);
        return add_key(key, fact->first) | 1;
    }
    key = add_key(key, fact->caller);
    key = add_key(key, (uint64_t)(uint32_t)fact->peer << 32 | (uint32_t)fact->tag);
    key = add_key(key, (uint64_t)fact->base << 48 | (uint64_t)fact->op << 32 | (uint16_t)fact->collective);
    if (fact->kind == MPIQ_RECORD_FACT_COLLECTIVE)
        key = add_key(add_key(key, fact->signature), (uint64_t)fact->bytes);
    return key | 1;
}

/* Finds a matching fact or, if `make`, adds one; NULL: none.  The caller holds the lock. */
static struct mpiq_record_fact *find(const struct mpiq_record_fact *like, bool make)
{
    enum { PROBES = 512 };
    uint64_t key = key_of(like);
    struct mpiq_record_fact *free_one = NULL;
    for (uint64_t i = 0, at = key >> 1; i < PROBES; i++, at++) {
        struct mpiq_record_fact *fact = &facts[at % MPIQ_RECORD_MAX_FACTS];
        if (fact->key == key)
            return fact;
        if (!free_one && (fact->key == 0 || (fact->kind == MPIQ_RECORD_FACT_OBJECT && fact->count == 0)))
            free_one = fact;
        if (fact->key == 0)
            break;
    }
    if (!make)
        return NULL;
    if (!free_one) {
        mpiq_record_root.lost_facts++;
        return NULL;
    }
    *free_one = *like;
    free_one->key = key;
    return free_one;
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static void add_traffic(struct mpiq_record_fact *like, unsigned base, uint64_t messages, uint64_t elements)
{
    like->base = (uint8_t)base;
    struct mpiq_record_fact *fact = find(like, true);
    if (fact) {
        fact->count += messages;
        fact->sum += elements;
    }
}

void fact_message(bool sent, const struct message *message)
{
    if (!recorder_check || !message->comm || message->peer < 0)
        return;
    struct signature signature;
    if (message->request)
        signature_of_request(message->request, message->count, message->bytes, &signature);
    else
        signature_of_data(message->datatype, message->count, message->bytes, &signature);
    struct mpiq_record_fact like = {
        .kind = sent ? MPIQ_RECORD_FACT_SENT : MPIQ_RECORD_FACT_RECEIVED,
        .function = (uint16_t)message->function,
        .caller = message->caller,
        .comm = arena_offset(message->comm),
        .peer = message->peer,
        .tag = message->tag,
        .bytes = -1,
    };
    arena_lock();
    uint64_t messages = 1;
    if (signature.part_count == 0)
        add_traffic(&like, signature.known ? MPIQ_RECORD_BASE_NONE : MPIQ_RECORD_BASE_ANY, messages,
                    messages);
    for (unsigned i = 0; i < signature.part_count; i++) {
        add_traffic(&like, signature.parts[i].base, messages, signature.parts[i].count);
        messages = 0;
    }
    arena_unlock();
}

/* ---- collectives ------------------------------------------------------------------------------------- */

uint16_t fact_op(uint64_t handle)
{
    const struct mpiq_record_op *ops = arena_at(mpiq_record_root.ops);
    for (unsigned i = 0; handle && ops && i < MPIQ_RECORD_MAX_OPS; i++) {
        if (ops[i].handle == handle)
            return (uint16_t)(i + 1);
    }
    return handle ? UINT16_MAX : 0;
}

uint64_t fact_op_handle(const char *name)
{
    const struct mpiq_record_op *ops = arena_at(mpiq_record_root.ops);
    for (unsigned i = 0; ops && i < MPIQ_RECORD_MAX_OPS; i++) {
        if (strcmp(ops[i].name, name) == 0)
            return ops[i].handle;
    }
    return 0;
}

void fact_collective(const struct mpiq_record_comm *comm, const struct mpiq_record_collective *note)
{
    if (!recorder_check || !comm || note->number == 0)
        return;
    bool inter = comm->remote_group != 0;
    struct signature signature = {.known = true};
    if (!inter && note->bytes >= 0)
        signature_of_data(note->datatype, note->count, -1, &signature);
    struct mpiq_record_fact like = {
        .kind = MPIQ_RECORD_FACT_COLLECTIVE,
        .function = note->function,
        .collective = note->collective,
        .caller = note->caller,
        .comm = arena_offset(comm),
        .peer = inter ? MPIQ_RECORD_NO_PEER : note->root,
        .tag = MPIQ_RECORD_ANY,
        .op = fact_op(note->op),
        .bytes = inter ? -1 : note->bytes,
        .base = (uint8_t)(!signature.known            ? MPIQ_RECORD_BASE_ANY
                          : signature.part_count == 0 ? MPIQ_RECORD_BASE_NONE
                                                      : signature.parts[0].base),
        .signature = signature_hash(&signature),
        .first = note->number,
    };
    arena_lock();
    struct mpiq_record_fact *fact = find(&like, true);
    if (fact) {
        fact->count++;
        fact->sum += mpiq_record_mix(note->number);
    }
    arena_unlock();
}

/* ---- objects ----------------------------------------------------------------------------------------- */

void fact_object(enum mpiq_record_object object, uint64_t handle, unsigned function, word caller,
                 struct mpiq_record_comm *comm)
{
    struct mpiq_record_fact like = {
        .kind = MPIQ_RECORD_FACT_OBJECT,
        .base = (uint8_t)object,
        .first = handle,
        .peer = MPIQ_RECORD_NO_PEER,
        .function = (uint16_t)function,
        .caller = caller,
        .comm = arena_offset(comm),
        .bytes = -1,
        .collective = -1,
    };
    arena_lock();
    struct mpiq_record_fact *fact = find(&like, true);
    if (fact && fact->count++ == 0) {
        fact->function = like.function;
        fact->caller = caller;
        fact->comm = like.comm;
    }
    arena_unlock();
}

void fact_requests(void)
{
    const struct mpiq_record_chunk *chunk = arena_at(mpiq_record_root.chunks);
    for (; chunk; chunk = arena_at(chunk->next)) {
        for (unsigned i = 0; i < MPIQ_RECORD_CHUNK; i++) {
            const struct mpiq_record_request *request = &chunk->requests[i];
            bool half = request->flags & MPIQ_RECORD_REQUEST_EXCHANGE && request->handle == 0;
            if (request->state == MPIQ_RECORD_REQUEST_FREE || half)
                continue;
            bool active = request->state == MPIQ_RECORD_REQUEST_ACTIVE;
            bool receive = request->kind == MPIQ_RECORD_REQUEST_RECEIVE;
            struct mpiq_record_fact like = {
                .kind = MPIQ_RECORD_FACT_OBJECT,
                .base = active ? MPIQ_RECORD_OBJECT_REQUEST : MPIQ_RECORD_OBJECT_PERSISTENT,
                .first = arena_offset(request),
                .function = request->function,
                .caller = request->call.caller,
                .comm = request->comm,
                .peer = receive && active ? request->peer : MPIQ_RECORD_NO_PEER,
                .tag = request->tag,
                .bytes = -1,
                .collective = -1,
                .count = 1 + (uint64_t)request->duplicates,
            };
            arena_lock();
            find(&like, true);
            arena_unlock();
        }
    }
}

void fact_object_freed(enum mpiq_record_object object, uint64_t handle)
{
    struct mpiq_record_fact like = {
        .kind = MPIQ_RECORD_FACT_OBJECT, .base = (uint8_t)object, .first = handle};
    arena_lock();
    struct mpiq_record_fact *fact = find(&like, false);
    if (fact && fact->count > 0)
        fact->count--;
    arena_unlock();
}
