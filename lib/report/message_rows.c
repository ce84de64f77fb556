/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/message_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/message_kind.h"

/* Peers, or distances to them, that are told apart. */
#define MOST_PEERS 4
#define MOST_DISTANCES 6

/* How many different things the peers of a kind are. */
struct spread {
    uint32_t exact;    /* different peers, up to MOST_PEERS + 1 */
    uint32_t relative; /* different distances, likewise */
};

/* A peer, or the distance to one, of operations of a kind. */
struct variant {
    uint32_t kind;
    enum mpiq_peer_form form;
    int64_t value;
    uint32_t row; /* MPIQ_NONE: none yet */
};

struct collector {
    const struct mpiq_page *page;
    enum mpiq_queue queue;
    struct mpiq_message_kinds kinds;
    struct spread *spreads; /* by kind */
    struct variant *variants;
    size_t variant_count;
    struct mpiq_hash_table variant_table;
    uint32_t *kind_of; /* by operation, of those of this queue */
    struct mpiq_message_rows *ret;
};

static void collector_deinit(struct collector *c)
{
    mpiq_message_kinds_deinit(&c->kinds);
    free(c->spreads);
    free(c->variants);
    mpiq_hash_table_deinit(&c->variant_table);
    free(c->kind_of);
}

/* The process on the other side: of a matched wildcard the one that came. */
static uint32_t peer_of(const struct mpiq_job_state *job, uint32_t index)
{
    const struct mpiq_job_operation *operation = &job->operations[index];
    return operation->any && mpiq_message_is_matched(operation) ? mpiq_job_more(job, operation)->actual
                                                                : operation->peer;
}

/* The variant with that value, found or made (*made); NULL without memory. */
static struct variant *variant_of(struct collector *c, uint32_t kind, enum mpiq_peer_form form, int64_t value,
                                  bool *made)
{
    uint64_t hash = mpiq_hash(mpiq_hash(MPIQ_HASH_START, (uint64_t)form << 32 | kind), (uint64_t)value);
    uint64_t cursor = hash;
    *made = false;
    for (uint32_t i; (i = mpiq_hash_table_next(&c->variant_table, hash, &cursor)) != UINT32_MAX;) {
        struct variant *variant = &c->variants[i];
        if (variant->kind == kind && variant->form == form && variant->value == value)
            return variant;
    }
    struct variant *variants = mpiq_array_grown(c->variants, c->variant_count, sizeof *variants);
    if (!variants)
        return NULL;
    c->variants = variants;
    if (!mpiq_hash_table_add(&c->variant_table, hash, (uint32_t)c->variant_count))
        return NULL;
    variants[c->variant_count] =
        (struct variant){.kind = kind, .form = form, .value = value, .row = MPIQ_NONE};
    *made = true;
    return &variants[c->variant_count++];
}

/* How far the peer is from the rank, around the end of the world where that is nearer; far out of range
   for a peer that has no distance. */
static int64_t distance_of(const struct collector *c, uint32_t process, uint32_t operation)
{
    const struct mpiq_job_state *job = c->page->job;
    uint32_t peer = peer_of(job, operation);
    struct mpiq_world_rank own = mpiq_job_world_rank(job, process);
    if (peer == MPIQ_NONE)
        return INT64_MAX;
    struct mpiq_world_rank other = mpiq_job_world_rank(job, peer);
    if (other.world != own.world)
        return INT64_MAX - 1 - peer;
    int64_t size = job->worlds[own.world].size;
    int64_t distance = (int64_t)other.rank - (int64_t)own.rank;
    if (2 * distance > size)
        distance -= size;
    else if (2 * distance < -size)
        distance += size;
    return distance;
}

static bool find_kind(struct collector *c, uint32_t process, uint32_t operation)
{
    c->kind_of[operation] = mpiq_message_kinds_add(&c->kinds, process, operation);
    return c->kind_of[operation] != MPIQ_NONE;
}

static bool survey_peer(struct collector *c, uint32_t process, uint32_t operation)
{
    bool made;
    uint32_t kind = c->kind_of[operation] = mpiq_message_kinds_merged(&c->kinds, c->kind_of[operation]);
    struct spread *spread = &c->spreads[kind];
    if (spread->exact <= MOST_PEERS) {
        if (!variant_of(c, kind, MPIQ_PEER_EXACT, peer_of(c->page->job, operation), &made))
            return false;
        spread->exact += made;
    }
    if (spread->relative <= MOST_DISTANCES) {
        if (!variant_of(c, kind, MPIQ_PEER_RELATIVE, distance_of(c, process, operation), &made))
            return false;
        spread->relative += made;
    }
    return true;
}

static void count_one(struct mpiq_message_row *row, uint32_t process)
{
    if (row->counted_process != process) {
        row->each_least = row->counted > 0 && row->counted < row->each_least ? row->counted : row->each_least;
        row->counted_process = process;
        row->counted = 0;
    }
    row->counted++;
    row->each_most = row->counted > row->each_most ? row->counted : row->each_most;
}

/* Tags and lengths that the row stands for. */
static void widen(const struct mpiq_job_state *job, struct mpiq_message_row *row,
                  const struct mpiq_job_operation *operation)
{
    int32_t tag = operation->tag_any ? mpiq_job_more(job, operation)->actual_tag : operation->tag;
    row->tag_least = tag < row->tag_least ? tag : row->tag_least;
    row->tag_most = tag > row->tag_most ? tag : row->tag_most;
    if (operation->bytes < 0)
        return;
    row->bytes_least = operation->bytes < row->bytes_least ? operation->bytes : row->bytes_least;
    row->bytes_most = operation->bytes > row->bytes_most ? operation->bytes : row->bytes_most;
}

static struct mpiq_message_row *row_of(struct collector *c, uint32_t process, uint32_t operation)
{
    bool made;
    uint32_t kind = c->kind_of[operation];
    enum mpiq_peer_form form = c->spreads[kind].exact <= MOST_PEERS          ? MPIQ_PEER_EXACT
                               : c->spreads[kind].relative <= MOST_DISTANCES ? MPIQ_PEER_RELATIVE
                                                                             : MPIQ_PEER_VARIOUS;
    int64_t value = form == MPIQ_PEER_EXACT      ? peer_of(c->page->job, operation)
                    : form == MPIQ_PEER_RELATIVE ? distance_of(c, process, operation)
                                                 : 0;
    struct variant *variant = variant_of(c, kind, form, value, &made);
    if (!variant)
        return NULL;
    if (variant->row != MPIQ_NONE)
        return &c->ret->items[variant->row];
    struct mpiq_message_row *items = mpiq_array_grown(c->ret->items, c->ret->count, sizeof *items);
    if (!items)
        return NULL;
    c->ret->items = items;
    variant->row = (uint32_t)c->ret->count;
    items[c->ret->count] = (struct mpiq_message_row){
        .example = &c->page->job->operations[operation],
        .process = process,
        .form = form,
        .distance = value,
        .each_least = UINT32_MAX,
        .tag_least = INT32_MAX,
        .tag_most = INT32_MIN,
        .bytes_least = INT64_MAX,
        .bytes_most = -1,
        .counted_process = MPIQ_NONE,
    };
    return &items[c->ret->count++];
}

static bool fill_operation(struct collector *c, uint32_t process, uint32_t operation)
{
    struct mpiq_message_row *row = row_of(c, process, operation);
    struct mpiq_world_rank name = mpiq_job_world_rank(c->page->job, process);
    if (!row)
        return false;
    if (row->counted_process != process && !mpiq_rank_set_add(&row->ranks, name.world, name.rank))
        return false;
    count_one(row, process);
    widen(c->page->job, row, &c->page->job->operations[operation]);
    return true;
}

/* Calls a step for each operation of the queue that the page wants. */
static bool each_operation(struct collector *c, bool (*step)(struct collector *, uint32_t, uint32_t))
{
    const struct mpiq_job_state *job = c->page->job;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank || !mpiq_page_wants(c->page, process))
            continue;
        for (uint32_t i = rank->first_operation; i < rank->first_operation + rank->operation_count; i++) {
            const struct mpiq_job_operation *operation = &job->operations[i];
            if (operation->queue == c->queue && (c->page->options->all || !operation->internal) &&
                !step(c, process, i))
                return false;
        }
    }
    return true;
}

static int by_importance(const void *left, const void *right)
{
    const struct mpiq_message_row *a = left;
    const struct mpiq_message_row *b = right;
    bool holds = mpiq_message_holds(a->example);
    if (holds != mpiq_message_holds(b->example))
        return holds ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->example > b->example) - (a->example < b->example);
}

static bool collect(struct collector *c)
{
    uint32_t count = c->page->job->operation_count;
    c->kind_of = malloc((count ? count : 1) * sizeof *c->kind_of);
    if (!c->kind_of || !each_operation(c, find_kind))
        return false;
    if (c->kinds.count == 0)
        return true;
    c->spreads = calloc(c->kinds.count, sizeof *c->spreads);
    return c->spreads && each_operation(c, survey_peer) && each_operation(c, fill_operation);
}

bool mpiq_message_rows_collect(const struct mpiq_page *page, enum mpiq_queue queue,
                               struct mpiq_message_rows *ret)
{
    struct collector c = {.page = page, .queue = queue, .kinds = {.page = page}, .ret = ret};
    *ret = (struct mpiq_message_rows){0};
    bool good = collect(&c);
    collector_deinit(&c);
    for (size_t i = 0; i < ret->count; i++) {
        struct mpiq_message_row *row = &ret->items[i];
        row->each_least = row->counted < row->each_least ? row->counted : row->each_least;
    }
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, by_importance);
    return good;
}

void mpiq_message_rows_deinit(struct mpiq_message_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        mpiq_rank_set_deinit(&rows->items[i].ranks);
    free(rows->items);
    *rows = (struct mpiq_message_rows){0};
}
