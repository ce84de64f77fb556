/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank that came to its end left undone, as facts for the check (lib/job/check.c): messages that were
   not received, requests that were not completed, collectives that not all called. */
#include "mpiq_record.h"
#include "trace/pending.h"

static struct mpiq_fact *add_fact(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                                  uint8_t kind, uint32_t comm, uint32_t path)
{
    const struct mpiq_trace_definitions *definitions = telling->replay->definitions;
    struct mpiq_place place;
    mpiq_trace_place(telling->replay, state, path, &place);
    const char *call = mpiq_rank_state_intern(state, mpiq_trace_call_name(telling->replay, path));
    struct mpiq_fact *fact = mpiq_rank_state_add_fact(state);
    if (!fact)
        return NULL;
    fact->kind = kind;
    fact->collective = -1;
    fact->peer = fact->tag = -1;
    fact->bytes = -1;
    fact->call = call;
    fact->place = place;
    if (comm == MPIQ_TRACE_NONE)
        return fact;
    const struct mpiq_trace_comm *row = &definitions->comms[comm];
    fact->comm = (uint64_t)comm + 1;
    fact->comm_size = (int32_t)mpiq_trace_comm_size(definitions, comm);
    fact->comm_flags = (row->self ? MPIQ_COMM_SELF : 0u) | (row->inter ? MPIQ_COMM_INTER : 0u);
    fact->comm_name = mpiq_rank_state_intern(state, row->name);
    return fact;
}

static bool add_communicators(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                              uint32_t number)
{
    const struct mpiq_trace_rank *rank = &telling->replay->ranks[number];
    for (uint32_t i = 0; i < telling->replay->definitions->comm_count; i++) {
        if (telling->comms[i] < 0)
            continue;
        struct mpiq_fact *fact = add_fact(telling, state, MPIQ_FACT_COMMUNICATOR, i, 0);
        if (!fact)
            return false;
        fact->count = rank->unrecorded; /* what it received is not certain */
        for (uint32_t j = 0; j < rank->member_count; j++) {
            if (rank->members[j].comm == i)
                fact->sum = rank->members[j].number;
        }
    }
    return true;
}

/* Receives that never completed, whose envelope the trace does not tell, may each have taken a message. */
static uint64_t open_receives(const struct mpiq_trace_replay *replay, uint32_t rank)
{
    uint64_t count = 0;
    for (const struct mpiq_trace_receive *r = replay->ranks[rank].open_receives; r; r = r->next_open)
        count++;
    return count;
}

static uint64_t outstanding(const struct mpiq_trace_telling *telling, uint32_t index)
{
    const struct mpiq_trace_outstanding *of = &telling->messages[index];
    uint64_t count = 0;
    for (uint32_t i = 0; i < telling->message_count; i++) {
        const struct mpiq_trace_outstanding *row = &telling->messages[i];
        if (row->from == of->from && row->to == of->to && row->comm == of->comm && row->tag == of->tag)
            count += row->count;
    }
    return count;
}

static bool add_sent(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t comm,
                     const struct mpiq_trace_outstanding *row, uint64_t count)
{
    struct mpiq_fact *fact = add_fact(telling, state, MPIQ_FACT_SENT, comm, row->path);
    if (!fact)
        return false;
    fact->peer = (int32_t)row->to;
    fact->tag = (int32_t)row->tag;
    fact->count = count;
    return true;
}

static bool add_messages(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                         uint32_t number)
{
    for (uint32_t i = 0; i < telling->message_count; i++) {
        const struct mpiq_trace_outstanding *row = &telling->messages[i];
        bool first = i == 0 || row[-1].from != row->from || row[-1].comm != row->comm ||
                     row[-1].to != row->to || row[-1].tag != row->tag;
        if (row->from == number && telling->comms[row->comm] >= 0) {
            uint64_t lost = outstanding(telling, i);
            if (lost <= open_receives(telling->replay, row->to) || telling->replay->ranks[row->to].unrecorded)
                continue;
            uint64_t more = first && row->sent > lost ? row->sent - lost : 0;
            if (!add_sent(telling, state, row->comm, row, row->count + more))
                return false;
        }
        if (row->to == number && first && row->received > 0 && telling->comms[row->comm] >= 0) {
            struct mpiq_fact *fact = add_fact(telling, state, MPIQ_FACT_RECEIVED, row->comm, 0);
            if (!fact)
                return false;
            fact->peer = (int32_t)row->from;
            fact->tag = (int32_t)row->tag;
            fact->count = row->received;
        }
    }
    return true;
}

/* Whether the program freed so many active requests: a trace does not say which. */
static bool add_requests(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                         uint32_t number)
{
    const struct mpiq_trace_rank *rank = &telling->replay->ranks[number];
    const struct mpiq_trace_send *send = rank->open_sends;
    uint64_t freed = rank->frees;
    for (; send; send = send->next_open) {
        if (freed > 0) {
            freed--;
            continue;
        }
        struct mpiq_fact *fact =
            add_fact(telling, state, MPIQ_FACT_OBJECT, MPIQ_TRACE_NONE, send->posted->path);
        if (!fact)
            return false;
        fact->base = MPIQ_OBJECT_REQUEST;
        fact->count = 1;
    }
    const struct mpiq_trace_receive *receive = rank->open_receives;
    for (; receive; receive = receive->next_open) {
        if (freed > 0) {
            freed--;
            continue;
        }
        struct mpiq_fact *fact =
            add_fact(telling, state, MPIQ_FACT_OBJECT, MPIQ_TRACE_NONE, receive->posted->path);
        if (!fact)
            return false;
        fact->base = MPIQ_OBJECT_REQUEST;
        fact->count = 1;
    }
    return true;
}

static bool add_part(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                     const struct mpiq_trace_instance *instance, uint32_t number)
{
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct mpiq_trace_part *part = &instance->parts[i];
        if (part->rank != number || part->collective < 0)
            continue;
        struct mpiq_fact *fact =
            add_fact(telling, state, MPIQ_FACT_COLLECTIVE, instance->comm, part->posted->path);
        if (!fact)
            return false;
        bool inter = telling->replay->definitions->comms[instance->comm].inter;
        fact->collective = part->collective;
        fact->peer = !inter && part->root < OTF2_COLLECTIVE_ROOT_THIS_GROUP ? (int32_t)part->root : -1;
        fact->count = 1;
        fact->sum = mpiq_record_mix(instance->number);
        fact->first = instance->number;
        fact->base = MPIQ_FACT_BASE_ANY;
    }
    return true;
}

/* Of collectives that all called alike there is nothing to say. */
static bool add_collectives(const struct mpiq_trace_telling *telling, struct mpiq_rank_state *state,
                            uint32_t number)
{
    const struct mpiq_trace_replay *replay = telling->replay;
    struct mpiq_trace_instance *const *const lists[] = {replay->bad, replay->instances};
    for (uint32_t i = 0; i < replay->definitions->comm_count; i++) {
        for (int j = 0; j < 2; j++) {
            const struct mpiq_trace_instance *instance = lists[j][i];
            for (; instance; instance = instance->next) {
                if (!add_part(telling, state, instance, number))
                    return false;
            }
        }
    }
    return true;
}

bool mpiq_trace_add_facts(struct mpiq_trace_telling *telling, struct mpiq_rank_state *state, uint32_t rank)
{
    return add_communicators(telling, state, rank) && add_messages(telling, state, rank) &&
           add_requests(telling, state, rank) && add_collectives(telling, state, rank);
}
