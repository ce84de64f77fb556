/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/message_kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Kinds that differ in tag or length alone and are told apart. */
#define MOST_SIBLINGS 6

void mpiq_message_kinds_deinit(struct mpiq_message_kinds *kinds)
{
    free(kinds->items);
    mpiq_hash_table_deinit(&kinds->table);
    mpiq_hash_table_deinit(&kinds->families);
}

bool mpiq_message_holds(const struct mpiq_job_operation *operation)
{
    return operation->blocked && !operation->inactive && operation->status != MPIQ_STATUS_COMPLETE;
}

/* Whether a thread's innermost wait is for that request. */
static bool waits_for(const struct mpiq_job_state *job, const struct mpiq_job_thread *thread,
                      uint64_t request)
{
    if (thread->wait_count == 0)
        return false;
    const struct mpiq_job_wait *wait = &job->waits[thread->first_wait + thread->wait_count - 1];
    for (uint32_t i = 0; i < wait->operation_count; i++) {
        if (job->operations[wait->first_operation + i].request == request)
            return true;
    }
    return false;
}

struct mpiq_waiter mpiq_message_waiter(const struct mpiq_page *page, uint32_t process,
                                       const struct mpiq_job_operation *operation)
{
    const struct mpiq_job_state *job = page->job;
    const struct mpiq_rank_diagnosis *diagnosis = &page->diagnosis->ranks[process];
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    if (!mpiq_message_holds(operation))
        return (struct mpiq_waiter){.site = MPIQ_NONE};
    for (uint32_t i = 0; rank && rank->thread_count > 1 && operation->request && i < rank->thread_count;
         i++) {
        const struct mpiq_job_thread *thread = &job->threads[rank->first_thread + i];
        if (waits_for(job, thread, operation->request))
            return (struct mpiq_waiter){.call = mpiq_job_string(job, thread->call), .site = thread->site};
    }
    return (struct mpiq_waiter){.call = diagnosis->call, .site = diagnosis->site};
}

static bool same_waiter(const struct mpiq_waiter *a, const struct mpiq_waiter *b)
{
    return a->site == b->site &&
           (a->call == b->call || (a->call && b->call && strcmp(a->call, b->call) == 0));
}

static bool same_name(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    return a == b || strcmp(mpiq_job_communicator_name(job, a), mpiq_job_communicator_name(job, b)) == 0;
}

static bool same_family(const struct mpiq_message_kinds *kinds, const struct mpiq_message_kind *kind,
                        const struct mpiq_waiter *waiter, const struct mpiq_job_operation *b)
{
    const struct mpiq_job_operation *a = &kinds->page->job->operations[kind->operation];
    return a->kind == b->kind && a->status == b->status && a->any == b->any && a->tag_any == b->tag_any &&
           a->inactive == b->inactive && a->internal == b->internal && a->persistent == b->persistent &&
           a->out_of_order == b->out_of_order && a->cancelled == b->cancelled &&
           mpiq_message_holds(a) == mpiq_message_holds(b) && same_waiter(&kind->waiter, waiter) &&
           same_name(kinds->page->job, a->comm, b->comm);
}

/* The tag that counts: of a wildcard none, until it has matched. */
static int64_t tag_of(const struct mpiq_job_state *job, const struct mpiq_job_operation *operation)
{
    if (!operation->tag_any)
        return operation->tag;
    return mpiq_message_is_matched(operation) ? mpiq_job_more(job, operation)->actual_tag : INT64_MIN;
}

static bool same_envelope(const struct mpiq_job_state *job, const struct mpiq_job_operation *a,
                          const struct mpiq_job_operation *b)
{
    return a->bytes == b->bytes && tag_of(job, a) == tag_of(job, b);
}

/* Of what same_family compares the part that differs most: names are left to it. */
static uint64_t family_hash(const struct mpiq_job_operation *operation, const struct mpiq_waiter *waiter)
{
    uint64_t flags = (uint64_t)operation->kind << 16 | (uint64_t)operation->status << 8 |
                     (uint64_t)mpiq_message_holds(operation) << 3 | (uint64_t)operation->internal << 2 |
                     (uint64_t)operation->any << 1 | operation->tag_any;
    return mpiq_hash(mpiq_hash(MPIQ_HASH_START, flags), waiter->site);
}

static bool add_to_family(struct mpiq_message_kinds *kinds, uint64_t hash, uint32_t index)
{
    struct mpiq_message_kind *kind = &kinds->items[index];
    const struct mpiq_job_operation *operation = &kinds->page->job->operations[kind->operation];
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&kinds->families, hash, &cursor)) != UINT32_MAX;) {
        if (same_family(kinds, &kinds->items[i], &kind->waiter, operation)) {
            kind->family = i;
            kinds->items[i].siblings++;
            return true;
        }
    }
    kind->family = index;
    kind->siblings = 1;
    return mpiq_hash_table_add(&kinds->families, hash, index);
}

uint32_t mpiq_message_kinds_add(struct mpiq_message_kinds *kinds, uint32_t process, uint32_t operation)
{
    const struct mpiq_job_state *job = kinds->page->job;
    const struct mpiq_job_operation *operations = job->operations;
    const struct mpiq_job_operation *row = &operations[operation];
    struct mpiq_waiter waiter = mpiq_message_waiter(kinds->page, process, row);
    uint64_t family = family_hash(row, &waiter);
    uint64_t hash = mpiq_hash(mpiq_hash(family, (uint64_t)row->bytes), (uint64_t)tag_of(job, row));
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&kinds->table, hash, &cursor)) != UINT32_MAX;) {
        if (i < kinds->count && same_envelope(job, &operations[kinds->items[i].operation], row) &&
            same_family(kinds, &kinds->items[i], &waiter, row))
            return i;
    }
    struct mpiq_message_kind *items = mpiq_array_grown(kinds->items, kinds->count, sizeof *items);
    if (!items)
        return MPIQ_NONE;
    kinds->items = items;
    uint32_t index = (uint32_t)kinds->count;
    items[index] = (struct mpiq_message_kind){.process = process, .operation = operation, .waiter = waiter};
    kinds->count++;
    if (!mpiq_hash_table_add(&kinds->table, hash, index) || !add_to_family(kinds, family, index))
        return MPIQ_NONE;
    return index;
}

uint32_t mpiq_message_kinds_merged(const struct mpiq_message_kinds *kinds, uint32_t kind)
{
    uint32_t family = kinds->items[kind].family;
    return kinds->items[family].siblings > MOST_SIBLINGS ? family : kind;
}
