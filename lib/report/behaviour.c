/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/behaviour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "words/wait_text.h"

/* Lines into which ranks that wait at one place for different things are split. */
#define MOST_VARIANTS 3

/* Ranks alike but for what they wait for. */
struct kind {
    uint32_t process;  /* the first one */
    uint32_t exact;    /* different things waited for, up to MOST_VARIANTS + 1 */
    bool collective;   /* the call is one: then this alone tells them apart */
    uint32_t relative; /* as above, said relative to the rank */
};

/* Something that ranks of a kind wait for. */
struct variant {
    uint32_t kind;
    char *text;
};

struct collector {
    const struct mpiq_page *page;
    const struct mpiq_rank_set *without; /* ranks that are not asked for; NULL */
    struct kind *kinds;
    size_t kind_count;
    struct mpiq_hash_table kind_table;
    struct variant *variants;
    size_t variant_count;
    struct mpiq_hash_table variant_table;
    uint32_t *kind_of; /* by process; MPIQ_NONE: not wanted */
    uint32_t *line_of; /* by variant: its behaviour; MPIQ_NONE none yet */
    struct mpiq_rank_set suspects;
    struct mpiq_buffer scratch;
};

static void collector_deinit(struct collector *c)
{
    free(c->kinds);
    mpiq_hash_table_deinit(&c->kind_table);
    for (size_t i = 0; i < c->variant_count; i++)
        free(c->variants[i].text);
    free(c->variants);
    mpiq_hash_table_deinit(&c->variant_table);
    free(c->kind_of);
    free(c->line_of);
    mpiq_rank_set_deinit(&c->suspects);
    mpiq_buffer_deinit(&c->scratch);
}

static const char *communicator_of(const struct mpiq_page *page, const struct mpiq_rank_diagnosis *rank)
{
    return mpiq_job_communicator_name(page->job, rank->comm);
}

static bool same_kind(const struct mpiq_page *page, const struct mpiq_rank_diagnosis *a,
                      const struct mpiq_rank_diagnosis *b)
{
    return a->activity == b->activity && a->stuck == b->stuck && a->number == b->number &&
           a->site == b->site && mpiq_same_string(a->call, b->call) &&
           mpiq_same_string(a->library_call, b->library_call) &&
           (a->comm == b->comm || mpiq_same_string(communicator_of(page, a), communicator_of(page, b)));
}

static uint32_t kind_of(struct collector *c, uint32_t process)
{
    const struct mpiq_rank_diagnosis *ranks = c->page->diagnosis->ranks;
    const struct mpiq_rank_diagnosis *rank = &ranks[process];
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, (uint64_t)rank->activity << 1 | rank->stuck);
    hash = mpiq_hash(hash, (uint64_t)rank->number);
    hash = mpiq_hash(hash, rank->site);
    hash = mpiq_hash_string(hash, rank->call);
    hash = mpiq_hash_string(hash, rank->library_call);
    hash = mpiq_hash_string(hash, communicator_of(c->page, rank));

    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&c->kind_table, hash, &cursor)) != UINT32_MAX;) {
        if (i < c->kind_count && same_kind(c->page, &ranks[c->kinds[i].process], rank))
            return i;
    }
    struct kind *kinds = mpiq_array_grown(c->kinds, c->kind_count, sizeof *kinds);
    if (!kinds)
        return MPIQ_NONE;
    c->kinds = kinds;
    if (!mpiq_hash_table_add(&c->kind_table, hash, (uint32_t)c->kind_count))
        return MPIQ_NONE;
    kinds[c->kind_count] = (struct kind){
        .process = process,
        .collective = rank->call && mpiq_collective_class(rank->call) >= 0,
    };
    return (uint32_t)c->kind_count++;
}

/* The variant of that kind with that text, found or, if `add`, made; MPIQ_NONE without memory or if it is
   not there.  *made says whether it is new. */
static uint32_t variant_of(struct collector *c, uint32_t kind, const char *text, bool *made)
{
    uint64_t hash = mpiq_hash_string(mpiq_hash(MPIQ_HASH_START, kind), text);
    uint64_t cursor = hash;
    *made = false;
    for (uint32_t i; (i = mpiq_hash_table_next(&c->variant_table, hash, &cursor)) != UINT32_MAX;) {
        if (c->variants[i].kind == kind && strcmp(c->variants[i].text, text) == 0)
            return i;
    }
    struct variant *variants = mpiq_array_grown(c->variants, c->variant_count, sizeof *variants);
    if (!variants)
        return MPIQ_NONE;
    c->variants = variants;
    char *copy = strdup(text);
    if (!copy || !mpiq_hash_table_add(&c->variant_table, hash, (uint32_t)c->variant_count)) {
        free(copy);
        return MPIQ_NONE;
    }
    variants[c->variant_count] = (struct variant){.kind = kind, .text = copy};
    *made = true;
    return (uint32_t)c->variant_count++;
}

/* What a process waits for, valid until the next one. */
static const char *what_of(struct collector *c, uint32_t process, enum mpiq_wait_form form)
{
    const struct mpiq_rank_diagnosis *rank = &c->page->diagnosis->ranks[process];
    c->scratch.length = 0;
    mpiq_put_wait(c->page->job, &c->scratch, rank->waits_for, rank->call, process, form);
    return mpiq_buffer_text(&c->scratch);
}

static const char *relative_what(struct collector *c, uint32_t process)
{
    return what_of(c, process, MPIQ_WAIT_RELATIVE);
}

static const char *exact_what(struct collector *c, uint32_t process)
{
    return what_of(c, process, MPIQ_WAIT_EXACT);
}

/* Whether the page shows this process here. */
static bool wanted(const struct collector *c, uint32_t process)
{
    struct mpiq_world_rank name = mpiq_job_world_rank(c->page->job, process);
    return mpiq_page_wants(c->page, process) &&
           !(c->without && mpiq_rank_set_contains(c->without, name.world, name.rank));
}

/* Sorts the processes into kinds and counts what those of a kind wait for. */
static bool survey(struct collector *c)
{
    uint32_t count = c->page->diagnosis->rank_count;
    bool made;
    for (uint32_t process = 0; process < count; process++) {
        c->kind_of[process] = MPIQ_NONE;
        if (!wanted(c, process))
            continue;
        uint32_t kind = c->kind_of[process] = kind_of(c, process);
        if (kind == MPIQ_NONE)
            return false;
        if (c->kinds[kind].exact > MOST_VARIANTS || c->kinds[kind].collective)
            continue;
        if (variant_of(c, kind, exact_what(c, process), &made) == MPIQ_NONE)
            return false;
        c->kinds[kind].exact += made;
    }
    for (uint32_t process = 0; process < count; process++) {
        uint32_t kind = c->kind_of[process];
        if (kind == MPIQ_NONE || c->kinds[kind].exact <= MOST_VARIANTS ||
            c->kinds[kind].relative > MOST_VARIANTS)
            continue;
        if (variant_of(c, kind, relative_what(c, process), &made) == MPIQ_NONE)
            return false;
        c->kinds[kind].relative += made;
    }
    return true;
}

/* The text that a process' line is told by. */
static const char *line_text(struct collector *c, uint32_t process)
{
    const struct kind *kind = &c->kinds[c->kind_of[process]];
    if (kind->collective)
        return exact_what(c, kind->process);
    if (kind->exact <= MOST_VARIANTS)
        return exact_what(c, process);
    return kind->relative <= MOST_VARIANTS ? relative_what(c, process) : exact_what(c, kind->process);
}

static struct mpiq_behaviour *line_of(struct collector *c, uint32_t process, struct mpiq_behaviours *ret)
{
    bool made;
    uint32_t kind = c->kind_of[process];
    uint32_t variant = variant_of(c, kind, line_text(c, process), &made);
    if (variant == MPIQ_NONE)
        return NULL;
    if (c->line_of[variant] != MPIQ_NONE)
        return &ret->items[c->line_of[variant]];
    struct mpiq_behaviour *items = mpiq_array_grown(ret->items, ret->count, sizeof *items);
    if (!items)
        return NULL;
    ret->items = items;
    const struct mpiq_rank_diagnosis *example = &c->page->diagnosis->ranks[process];
    c->line_of[variant] = (uint32_t)ret->count;
    items[ret->count] = (struct mpiq_behaviour){
        .example = example,
        .varies = c->kinds[kind].exact > MOST_VARIANTS && c->kinds[kind].relative > MOST_VARIANTS,
        .since = -1,
    };
    struct mpiq_behaviour *line = &items[ret->count++];
    if (*c->variants[variant].text) {
        line->what = strdup(c->variants[variant].text);
        if (!line->what)
            return NULL;
    }
    return line;
}

/* Notes whom one more rank in a collective waits for. */
static bool add_awaited(struct collector *c, uint32_t process, struct mpiq_behaviour *line)
{
    const struct mpiq_waits_for *wait = c->page->diagnosis->ranks[process].waits_for;
    if (!wait) {
        line->varies |= line->what && strcmp(line->what, exact_what(c, process)) != 0;
        return true;
    }
    for (uint32_t i = 0; i < wait->ranks.count; i++) {
        const struct mpiq_rank_range *range = &wait->ranks.ranges[i];
        if (!mpiq_rank_set_add_range(&line->awaited, range->world, range->first, range->last))
            return false;
    }
    return true;
}

/* Says whom the ranks of a line wait for, where they do not all say the same. */
static bool tell_awaited(struct collector *c, struct mpiq_behaviour *line)
{
    const struct mpiq_waits_for *wait = line->example->waits_for;
    if (line->awaited.size == 0 || line->varies ||
        (wait && mpiq_rank_set_equal(&line->awaited, &(struct mpiq_rank_set){
                                                         .ranges = (void *)wait->ranks.ranges,
                                                         .count = wait->ranks.count,
                                                     })))
        return true;
    const struct mpiq_ranks awaited = {
        .ranges = line->awaited.ranges, .count = line->awaited.count, .size = line->awaited.size};
    c->scratch.length = 0;
    mpiq_put_ranks_named(&c->scratch, &awaited);
    free(line->what);
    line->what = strdup(mpiq_buffer_text(&c->scratch));
    return line->what != NULL;
}

static bool fill(struct collector *c, struct mpiq_behaviours *ret)
{
    for (uint32_t process = 0; process < c->page->diagnosis->rank_count; process++) {
        if (c->kind_of[process] == MPIQ_NONE)
            continue;
        const struct mpiq_rank_diagnosis *rank = &c->page->diagnosis->ranks[process];
        struct mpiq_world_rank name = mpiq_job_world_rank(c->page->job, process);
        struct mpiq_behaviour *line = line_of(c, process, ret);
        if (!line || !mpiq_rank_set_add(&line->ranks, name.world, name.rank))
            return false;
        if (c->kinds[c->kind_of[process]].collective && !add_awaited(c, process, line))
            return false;
        line->suspect |= mpiq_rank_set_contains(&c->suspects, name.world, name.rank);
        line->cause |= rank->cause;
        if (rank->since > line->since)
            line->since = rank->since;
        mpiq_last_call_add(&line->last, &rank->last);
    }
    for (size_t i = 0; i < ret->count; i++) {
        if (!tell_awaited(c, &ret->items[i]))
            return false;
    }
    return true;
}

static int by_importance(const void *left, const void *right)
{
    const struct mpiq_behaviour *a = left;
    const struct mpiq_behaviour *b = right;
    if (a->suspect != b->suspect)
        return a->suspect ? -1 : 1;
    if (a->cause != b->cause)
        return a->cause ? -1 : 1;
    if (a->example->stuck != b->example->stuck)
        return a->example->stuck ? -1 : 1;
    if (a->ranks.size != b->ranks.size)
        return a->ranks.size > b->ranks.size ? -1 : 1;
    return a->example < b->example ? -1 : 1;
}

static bool collect(struct collector *c, struct mpiq_behaviours *ret)
{
    uint32_t count = c->page->diagnosis->rank_count;
    c->kind_of = malloc((count ? count : 1) * sizeof *c->kind_of);
    if (!c->kind_of || !mpiq_page_suspects(c->page, &c->suspects) || !survey(c))
        return false;
    /* Each kind has one more variant at most: the example's, which stands for all that differ. */
    size_t most = c->variant_count + c->kind_count + 1;
    c->line_of = malloc(most * sizeof *c->line_of);
    if (!c->line_of)
        return false;
    memset(c->line_of, 0xff, most * sizeof *c->line_of);
    return fill(c, ret) && !c->scratch.failed;
}

bool mpiq_behaviours_collect(const struct mpiq_page *page, const struct mpiq_rank_set *without,
                             struct mpiq_behaviours *ret)
{
    struct collector c = {.page = page, .without = without};
    *ret = (struct mpiq_behaviours){0};
    bool good = collect(&c, ret);
    collector_deinit(&c);
    if (ret->count > 1)
        qsort(ret->items, ret->count, sizeof *ret->items, by_importance);
    return good;
}

void mpiq_behaviours_deinit(struct mpiq_behaviours *behaviours)
{
    for (size_t i = 0; i < behaviours->count; i++) {
        mpiq_rank_set_deinit(&behaviours->items[i].ranks);
        mpiq_rank_set_deinit(&behaviours->items[i].awaited);
        free(behaviours->items[i].what);
    }
    free(behaviours->items);
    *behaviours = (struct mpiq_behaviours){0};
}
