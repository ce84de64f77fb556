/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stepper - mpiq run --step: what the ranks of a job are held before, and when they go on: mpiq_stepper_ of
 * mpiq.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "report/step.h"
#include "session/job.h"
#include "session/remains_item.h"
#include "session/step_breaks.h"
#include "session/step_memory.h"
#include "session/step_places.h"

enum { THREADS_MOST = 64 };

struct stepped {
    struct mpiq_step_memory memory;
    pid_t pid;
    uint32_t world;
    int32_t rank;
    enum mpiq_step_state state; /* unless threads say more */
    bool told;                  /* it has the breakpoints */
    struct mpiq_step_thread *threads;
    size_t thread_count;
    size_t first_row;
};

struct mpiq_stepper {
    struct mpiq_remains *remains;
    struct stepped *ranks; /* one for each item of remains */
    size_t count;
    size_t capacity;
    struct mpiq_step_row *rows; /* sorted */
    struct row_place {
        uint32_t rank;   /* in ranks */
        uint32_t thread; /* in its threads; MPIQ_NONE */
    } * places;
    size_t row_count;
    size_t row_capacity;
    size_t place_capacity;
    uint32_t *missing; /* of all rows */
    size_t missing_count;
    size_t missing_capacity;
    uint32_t selected; /* row */
    struct mpiq_step_break breaks[MPIQ_RECORD_MAX_BREAKS];
    struct mpiq_step_places known; /* lines of call sites */
    bool wants_look;               /* a line is not known */
    bool ended;                    /* nobody is to be held any more */
    bool running;                  /* all ranks run to breakpoints */
};

struct mpiq_error *mpiq_stepper_create(struct mpiq_remains *remains, struct mpiq_stepper **ret)
{
    struct mpiq_stepper *stepper = calloc(1, sizeof *stepper);
    if (!stepper)
        return mpiq_error_no_memory();
    stepper->remains = remains;
    *ret = stepper;
    return NULL;
}

void mpiq_stepper_destroy(struct mpiq_stepper *stepper)
{
    if (!stepper)
        return;
    for (size_t i = 0; i < stepper->count; i++)
        free(stepper->ranks[i].threads);
    for (size_t i = 0; i < MPIQ_RECORD_MAX_BREAKS; i++)
        mpiq_step_break_deinit(&stepper->breaks[i]);
    mpiq_step_places_deinit(&stepper->known);
    free(stepper->ranks);
    free(stepper->rows);
    free(stepper->places);
    free(stepper->missing);
    free(stepper);
}

/* ---- what the ranks do -----------------------------------------------------------------------------------
 */

/* Worlds in the order in which they came. */
static uint32_t world_of(const struct mpiq_stepper *stepper, const struct stepped *one)
{
    uint32_t worlds = 0;
    for (const struct stepped *other = stepper->ranks; other < one; other++) {
        if (other->memory.root.magic[0] && other->memory.root.jobid == one->memory.root.jobid &&
            strcmp(other->memory.root.nspace, one->memory.root.nspace) == 0)
            return other->world;
        worlds = other->memory.root.magic[0] && other->world + 1 > worlds ? other->world + 1 : worlds;
    }
    return worlds;
}

static void tell_breaks(const struct mpiq_stepper *stepper, const struct stepped *one, size_t index)
{
    const struct mpiq_step_break *wanted = &stepper->breaks[index];
    bool here = wanted->used && (wanted->ranks.size == 0 ||
                                 mpiq_rank_set_contains(&wanted->ranks, one->world, (uint32_t)one->rank));
    mpiq_step_memory_break(&one->memory, (unsigned)index, here ? &wanted->record : NULL);
}

/* A rank that has come. */
static void greet(struct mpiq_stepper *stepper, struct stepped *one)
{
    for (size_t i = 0; i < MPIQ_RECORD_MAX_BREAKS && !stepper->ended; i++) {
        if (stepper->breaks[i].used)
            tell_breaks(stepper, one, i);
    }
    mpiq_step_memory_mode(&one->memory, stepper->ended     ? MPIQ_RECORD_STEP_NEVER
                                        : stepper->running ? MPIQ_RECORD_STEP_BREAKS
                                                           : MPIQ_RECORD_STEP_EACH);
    one->told = true;
}

static void read_rank(struct mpiq_stepper *stepper, struct stepped *one, const struct mpiq_remains_item *item)
{
    struct mpiq_step_memory memory;
    one->thread_count = 0;
    if (item->ended)
        one->state = MPIQ_STEP_ENDED;
    if (item->ended || item->file < 0 || !mpiq_step_memory_open(item->file, &memory))
        return;
    one->memory = memory;
    const struct mpiq_record_root *root = &one->memory.root;
    one->rank = root->world_rank >= 0 ? root->world_rank : root->started_rank;
    one->state = root->phase >= OMPI_MQS_PHASE_FINALIZED ? MPIQ_STEP_FINALIZED
                 : root->phase >= OMPI_MQS_PHASE_RUNNING ? MPIQ_STEP_OUTSIDE
                                                         : MPIQ_STEP_STARTING;
    one->world = world_of(stepper, one);
    if (!root->step)
        return;
    if (!one->told)
        greet(stepper, one);
    if (!one->threads)
        one->threads = calloc(THREADS_MOST, sizeof *one->threads);
    if (one->threads && one->state != MPIQ_STEP_FINALIZED)
        one->thread_count = mpiq_step_memory_threads(&one->memory, one->threads, THREADS_MOST);
}

static void read_ranks(struct mpiq_stepper *stepper)
{
    struct mpiq_remains_item item;
    for (size_t i = 0; mpiq_remains_item(stepper->remains, i, &item); i++) {
        if (i == stepper->count) {
            if (!mpiq_array_reserve(&stepper->ranks, &stepper->capacity, i + 1))
                return;
            stepper->ranks[stepper->count++] = (struct stepped){.pid = item.pid, .rank = -1};
        }
        read_rank(stepper, &stepper->ranks[i], &item);
    }
}

/* ---- rows ------------------------------------------------------------------------------------------------
 */

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%.*s", (int)size - 1, from);
}

static int32_t rank_of(int32_t recorded)
{
    return recorded >= 0                       ? recorded
           : recorded == MPIQ_RECORD_ANY       ? MPIQ_STEP_ANY
           : recorded == MPIQ_RECORD_PROC_NULL ? MPIQ_STEP_NULL
           : recorded == MPIQ_RECORD_ROOT      ? MPIQ_STEP_ROOT
                                               : MPIQ_STEP_NONE;
}

static void fill_peer(const struct stepped *one, const struct mpiq_step_thread *thread,
                      const struct mpiq_record_hold_peer *from, struct mpiq_step_peer *to)
{
    struct mpiq_record_function function = {.name = ""};
    *to = (struct mpiq_step_peer){.rank = rank_of(from->rank),
                                  .tag = rank_of(from->tag),
                                  .receives = from->kind == MPIQ_RECORD_REQUEST_RECEIVE,
                                  .collective = from->kind == MPIQ_RECORD_REQUEST_COLLECTIVE,
                                  .window = from->kind == MPIQ_RECORD_REQUEST_OTHER};
    if (from->function == thread->hold.function)
        return;
    mpiq_step_memory_function(&one->memory, from->function, &function);
    copy_text(to->call, sizeof to->call, function.name);
}

static void fill_row(struct mpiq_stepper *stepper, const struct stepped *one,
                     const struct mpiq_step_thread *thread, struct mpiq_step_row *row)
{
    const struct mpiq_record_hold *hold = &thread->hold;
    row->state = thread->held && !thread->asks ? MPIQ_STEP_HELD
                 : thread->inside              ? MPIQ_STEP_INSIDE
                                               : row->state;
    copy_text(row->call, sizeof row->call, thread->call);
    copy_text(row->comm, sizeof row->comm, hold->comm_name);
    copy_text(row->type, sizeof row->type, hold->type);
    copy_text(row->op, sizeof row->op, hold->op);
    row->comm_size = hold->comm_size;
    row->root = rank_of(hold->root);
    row->repeats = hold->repeats;
    row->broke = hold->broke;
    row->requests = hold->request_count;
    row->count = hold->count;
    row->bytes = hold->data_bytes;
    row->in_place = hold->in_place != 0;
    row->kind = (char)hold->data_kind;
    row->element = hold->element;
    row->data_size = hold->data_size;
    memcpy(row->data, hold->data, sizeof row->data);
    row->peer_count = hold->peer_count;
    for (uint32_t i = 0; i < hold->peer_count; i++)
        fill_peer(one, thread, &hold->peers[i], &row->peers[i]);
    const struct mpiq_step_place *place = mpiq_step_places_find(&stepper->known, &one->memory, thread);
    if (place)
        copy_text(row->place, sizeof row->place, place->text);
    else if (row->state == MPIQ_STEP_HELD || thread->asks)
        stepper->wants_look = true;
}

static bool add_row(struct mpiq_stepper *stepper, uint32_t rank, uint32_t thread)
{
    struct stepped *one = &stepper->ranks[rank];
    if (!mpiq_array_reserve(&stepper->rows, &stepper->row_capacity, stepper->row_count + 1) ||
        !mpiq_array_reserve(&stepper->places, &stepper->place_capacity, stepper->row_count + 1))
        return false;
    struct mpiq_step_row *row = &stepper->rows[stepper->row_count];
    *row = (struct mpiq_step_row){
        .world = one->world, .rank = one->rank, .state = one->state, .root = MPIQ_STEP_NONE, .bytes = -1};
    if (thread != MPIQ_NONE)
        fill_row(stepper, one, &one->threads[thread], row);
    if (one->thread_count > 1)
        row->thread = (int32_t)one->threads[thread].hold.tid;
    stepper->places[stepper->row_count++] = (struct row_place){rank, thread};
    return true;
}

struct order {
    uint32_t world;
    int32_t rank;
    uint32_t index;
};

static int by_rank(const void *left, const void *right)
{
    const struct order *a = left, *b = right;
    if (a->world != b->world)
        return a->world < b->world ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void make_rows(struct mpiq_stepper *stepper)
{
    _cleanup_free_ struct order *order = calloc(stepper->count + 1, sizeof *order);
    stepper->row_count = 0;
    stepper->wants_look = false;
    if (!order)
        return;
    for (size_t i = 0; i < stepper->count; i++)
        order[i] = (struct order){stepper->ranks[i].world, stepper->ranks[i].rank, (uint32_t)i};
    qsort(order, stepper->count, sizeof *order, by_rank);
    for (size_t i = 0; i < stepper->count; i++) {
        const struct stepped *one = &stepper->ranks[order[i].index];
        if (one->thread_count == 0)
            add_row(stepper, order[i].index, MPIQ_NONE);
        for (uint32_t k = 0; k < one->thread_count; k++)
            add_row(stepper, order[i].index, k);
    }
    if (stepper->selected >= stepper->row_count)
        stepper->selected = stepper->row_count > 0 ? (uint32_t)stepper->row_count - 1 : 0;
}

/* ---- who has not come to a collective --------------------------------------------------------------------
 */

struct missing {
    struct mpiq_stepper *stepper;
    const struct stepped *one;
    const struct mpiq_step_thread *thread;
    bool failed;
};

static void add_missing(void *argument, uint32_t rank)
{
    struct missing *missing = argument;
    struct mpiq_stepper *stepper = missing->stepper;
    uint64_t ordered;
    for (size_t i = 0; i < stepper->count; i++) {
        const struct stepped *other = &stepper->ranks[i];
        if (other->world != missing->one->world || other->rank != (int32_t)rank || other == missing->one ||
            other->state >= MPIQ_STEP_FINALIZED ||
            !mpiq_step_memory_ordered(&other->memory, missing->thread->hold.comm_id, &ordered) ||
            ordered >= missing->thread->number)
            continue;
        if (mpiq_array_reserve(&stepper->missing, &stepper->missing_capacity, stepper->missing_count + 1))
            stepper->missing[stepper->missing_count++] = rank;
    }
}

static void find_missing(struct mpiq_stepper *stepper)
{
    stepper->missing_count = 0;
    for (size_t i = 0; i < stepper->row_count; i++) {
        const struct row_place *place = &stepper->places[i];
        struct mpiq_step_row *row = &stepper->rows[i];
        if (row->state != MPIQ_STEP_INSIDE || place->thread == MPIQ_NONE)
            continue;
        const struct stepped *one = &stepper->ranks[place->rank];
        struct missing missing = {stepper, one, &one->threads[place->thread], false};
        size_t before = stepper->missing_count;
        if (missing.thread->number > 0)
            mpiq_step_memory_members(&one->memory, &missing.thread->hold, add_missing, &missing);
        row->missing_count = (uint32_t)(stepper->missing_count - before);
    }
    uint32_t *at = stepper->missing;
    for (size_t i = 0; i < stepper->row_count; at += stepper->rows[i++].missing_count)
        stepper->rows[i].missing = at;
}

/* ---- lines of call sites ---------------------------------------------------------------------------------
 */

static uint32_t breaks_at(const struct mpiq_stepper *stepper, const struct mpiq_step_place *place)
{
    uint32_t ret = 0;
    for (unsigned i = 0; i < MPIQ_RECORD_MAX_BREAKS; i++) {
        if (stepper->breaks[i].used && mpiq_step_break_is_at(&stepper->breaks[i], place->file, place->line))
            ret |= 1u << i;
    }
    return ret;
}

/* Tells ranks what they ask for, as far as it is known. */
static void tell_sites(struct mpiq_stepper *stepper)
{
    struct mpiq_record_site site;
    for (size_t i = 0; i < stepper->count; i++) {
        const struct stepped *one = &stepper->ranks[i];
        if (one->thread_count == 0)
            continue;
        for (unsigned k = 0; mpiq_step_memory_site(&one->memory, k, &site); k++) {
            const struct mpiq_step_place *place =
                site.known ? NULL : mpiq_step_places_at(&stepper->known, &one->memory, site.caller);
            if (place)
                mpiq_step_memory_know(&one->memory, k, breaks_at(stepper, place));
        }
        for (size_t k = 0; k < one->thread_count; k++) {
            const struct mpiq_step_place *place =
                one->threads[k].asks ? mpiq_step_places_find(&stepper->known, &one->memory, &one->threads[k])
                                     : NULL;
            if (place && !place->object)
                mpiq_step_memory_answer(&one->memory, &one->threads[k], breaks_at(stepper, place));
        }
    }
}

void mpiq_stepper_take(struct mpiq_stepper *stepper)
{
    mpiq_remains_take(stepper->remains);
    read_ranks(stepper);
    make_rows(stepper);
    find_missing(stepper);
    tell_sites(stepper);
}

bool mpiq_stepper_wants_look(const struct mpiq_stepper *stepper)
{
    return stepper->wants_look;
}

uint64_t mpiq_stepper_motion(const struct mpiq_stepper *stepper)
{
    uint64_t hash = MPIQ_HASH_START;
    for (size_t i = 0; i < stepper->row_count; i++) {
        const struct row_place *place = &stepper->places[i];
        const struct stepped *one = &stepper->ranks[place->rank];
        uint32_t number = place->thread == MPIQ_NONE ? 0 : one->threads[place->thread].hold.number;
        hash = mpiq_hash_two(hash, (uint64_t)one->pid << 32 | place->thread,
                             (uint64_t)number << 32 | stepper->rows[i].state);
    }
    return hash;
}

void mpiq_stepper_learn(struct mpiq_stepper *stepper, const struct mpiq_job *job)
{
    for (size_t i = 0; i < stepper->count; i++) {
        const struct stepped *one = &stepper->ranks[i];
        for (size_t k = 0; k < job->sources.count && one->thread_count > 0; k++) {
            const struct mpiq_look_source *source = &job->sources.items[k];
            const struct mpiq_rank_state *state = source->looks[1] ? source->looks[1] : source->looks[0];
            if (source->pid == one->pid && state)
                mpiq_step_places_learn(&stepper->known, &one->memory, one->threads, one->thread_count, state);
        }
    }
}

/* ---- orders ----------------------------------------------------------------------------------------------
 */

static void let_go(struct stepped *one, uint32_t thread, enum mpiq_step_how how)
{
    mpiq_step_memory_mode(&one->memory,
                          how == MPIQ_STEP_RUN ? MPIQ_RECORD_STEP_BREAKS : MPIQ_RECORD_STEP_EACH);
    if (one->threads[thread].held)
        mpiq_step_memory_go(&one->memory, &one->threads[thread], how == MPIQ_STEP_OTHER);
}

bool mpiq_stepper_go_one(struct mpiq_stepper *stepper, enum mpiq_step_how how)
{
    if (stepper->selected >= stepper->row_count)
        return false;
    const struct row_place *place = &stepper->places[stepper->selected];
    struct stepped *one = &stepper->ranks[place->rank];
    if (place->thread == MPIQ_NONE || place->thread >= one->thread_count)
        return false;
    bool held = one->threads[place->thread].held;
    let_go(one, place->thread, how);
    return held;
}

size_t mpiq_stepper_go_all(struct mpiq_stepper *stepper, enum mpiq_step_how how)
{
    size_t count = 0;
    stepper->running = how == MPIQ_STEP_RUN;
    for (size_t i = 0; i < stepper->count; i++) {
        struct stepped *one = &stepper->ranks[i];
        for (uint32_t k = 0; k < one->thread_count; k++) {
            count += one->threads[k].held;
            let_go(one, k, how);
        }
    }
    return count;
}

void mpiq_stepper_pause(struct mpiq_stepper *stepper)
{
    stepper->running = false;
    for (size_t i = 0; i < stepper->count; i++) {
        if (stepper->ranks[i].thread_count > 0)
            mpiq_step_memory_mode(&stepper->ranks[i].memory, MPIQ_RECORD_STEP_EACH);
    }
}

void mpiq_stepper_end(struct mpiq_stepper *stepper)
{
    stepper->ended = true;
    for (size_t i = 0; i < stepper->count; i++) {
        if (stepper->ranks[i].told)
            mpiq_step_memory_mode(&stepper->ranks[i].memory, MPIQ_RECORD_STEP_NEVER);
    }
}

void mpiq_stepper_select(struct mpiq_stepper *stepper, int rows)
{
    int64_t wanted = (int64_t)stepper->selected + rows, most = (int64_t)stepper->row_count - 1;
    stepper->selected = (uint32_t)(wanted < 0 || most < 0 ? 0 : wanted > most ? most : wanted);
}

bool mpiq_stepper_choose(struct mpiq_stepper *stepper, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < stepper->row_count; i++) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = {0};
        mpiq_step_put_name(&text, &stepper->rows[i]);
        const char *own = mpiq_buffer_text(&text);
        if (length == 0 || strncmp(own, name, length) != 0 || (own[length] && own[length] != '/'))
            continue;
        stepper->selected = (uint32_t)i;
        return true;
    }
    return false;
}

static void tell_all(const struct mpiq_stepper *stepper, size_t index)
{
    for (size_t i = 0; i < stepper->count; i++) {
        if (stepper->ranks[i].told && stepper->ranks[i].state < MPIQ_STEP_FINALIZED)
            tell_breaks(stepper, &stepper->ranks[i], index);
    }
}

struct mpiq_error *mpiq_stepper_break(struct mpiq_stepper *stepper, const char *text)
{
    size_t index = 0;
    while (index < MPIQ_RECORD_MAX_BREAKS && stepper->breaks[index].used)
        index++;
    if (index == MPIQ_RECORD_MAX_BREAKS)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "there are %d breakpoints already, which is the most",
                                 MPIQ_RECORD_MAX_BREAKS);
    struct mpiq_error *error = mpiq_step_break_parse(text, &stepper->breaks[index]);
    if (!error)
        tell_all(stepper, index);
    return error;
}

bool mpiq_stepper_unbreak(struct mpiq_stepper *stepper, unsigned number)
{
    if (number == 0 || number > MPIQ_RECORD_MAX_BREAKS || !stepper->breaks[number - 1].used)
        return false;
    mpiq_step_break_deinit(&stepper->breaks[number - 1]);
    tell_all(stepper, number - 1);
    return true;
}

struct mpiq_error *mpiq_check_break(const char *text)
{
    struct mpiq_step_break one;
    struct mpiq_error *error = mpiq_step_break_parse(text, &one);
    if (!error)
        mpiq_step_break_deinit(&one);
    return error;
}

/* Of the first world; 0: not known. */
static uint32_t world_size(const struct mpiq_stepper *stepper)
{
    uint32_t ret = 0;
    for (size_t i = 0; i < stepper->count && ret == 0; i++) {
        const struct mpiq_record_root *root = &stepper->ranks[i].memory.root;
        ret = stepper->ranks[i].world == 0 && root->world_size > 0 ? (uint32_t)root->world_size : 0;
    }
    return ret;
}

bool mpiq_stepper_complete(const struct mpiq_stepper *stepper, bool *some)
{
    *some = stepper->row_count > 0;
    return *some && stepper->count >= world_size(stepper);
}

struct mpiq_error *mpiq_stepper_text(const struct mpiq_stepper *stepper, const struct mpiq_job *job,
                                     const struct mpiq_render_options *options, size_t *line, char **ret)
{
    struct mpiq_buffer breaks _cleanup_(mpiq_buffer_deinit) = {0};
    struct mpiq_buffer verdict _cleanup_(mpiq_buffer_deinit) = {0};
    mpiq_step_break_list(stepper->breaks, MPIQ_RECORD_MAX_BREAKS, &breaks);
    if (job)
        mpiq_buffer_printf(&verdict, "%s: %s", mpiq_job_verdict(job), job->diagnosis->text);
    const struct mpiq_step_view view = {.rows = stepper->rows,
                                        .count = stepper->row_count,
                                        .world_size = world_size(stepper),
                                        .selected = stepper->selected,
                                        .verdict = mpiq_buffer_text(&verdict),
                                        .breaks = mpiq_buffer_text(&breaks)};
    return mpiq_step_text(&view, options, line, ret);
}
