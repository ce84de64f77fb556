/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on which members disagreed although the job ended: the first such call of each communicator.
 *
 * Each rank counts its calls by class and arguments, with a sum over their running numbers.  Where all
 * members agree, they have the same counts and sums for the same arguments; where two differ by one call, the
 * sums' difference is that call's number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/find.h"

/* What must be the same on all members; what need not, or is not known of all, is left out. */
struct key {
    uint64_t comm;
    int collective;
    int32_t root;
    mpiq_string_id op;
    int64_t bytes;
    uint64_t signature;
};

/* The calls of one rank with that key. */
struct entry {
    struct key key;
    uint32_t process;
    const struct mpiq_job_fact *fact; /* the first of them */
    uint64_t count;
    uint64_t sum;
    uint64_t first;
};

/* Which arguments of a class all members told, on one communicator. */
struct known {
    bool bytes;
    bool signature;
};

struct list {
    struct entry *entries;
    size_t count;
};

/* ---- entries ------------------------------------------------------------------------------------------- */

#define COMPARE(a, b)                  \
    do {                               \
        if ((a) != (b))                \
            return (a) < (b) ? -1 : 1; \
    } while (0)

static int compare_keys(const struct key *a, const struct key *b)
{
    COMPARE(a->comm, b->comm);
    COMPARE(a->collective, b->collective);
    COMPARE(a->root, b->root);
    COMPARE(a->op, b->op);
    COMPARE(a->bytes, b->bytes);
    COMPARE(a->signature, b->signature);
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    int order = compare_keys(&a->key, &b->key);
    return order ? order : a->process < b->process ? -1 : a->process > b->process;
}

/* A length or type that one member does not tell, as with MPI_IN_PLACE, is compared with none. */
static void hide_unknown(struct list *list)
{
    for (size_t i = 0; i < list->count;) {
        struct known known = {.bytes = mpiq_collective_has_bytes(list->entries[i].key.collective),
                              .signature = true};
        size_t end = i;
        while (end < list->count && list->entries[end].key.comm == list->entries[i].key.comm &&
               list->entries[end].key.collective == list->entries[i].key.collective) {
            known.bytes = known.bytes && list->entries[end].fact->bytes >= 0;
            known.signature = known.signature && list->entries[end].fact->base != MPIQ_FACT_BASE_ANY;
            end++;
        }
        for (; i < end; i++) {
            struct key *key = &list->entries[i].key;
            key->bytes = known.bytes ? key->bytes : -1;
            key->signature = known.bytes && known.signature ? key->signature : 0;
        }
    }
}

static void add_rank(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank, struct list *list)
{
    for (uint32_t i = 0; i < rank->fact_count; i++) {
        const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + i];
        if (fact->kind != MPIQ_FACT_COLLECTIVE || fact->comm == 0 || fact->comm_flags & MPIQ_COMM_SELF)
            continue;
        list->entries[list->count++] = (struct entry){
            .key = {.comm = fact->comm,
                    .collective = fact->collective,
                    .root = mpiq_collective_has_root(fact->collective) ? fact->peer : -1,
                    .op = mpiq_collective_has_op(fact->collective) ? fact->op : 0,
                    .bytes = fact->bytes,
                    .signature = fact->signature},
            .process = rank->process,
            .fact = fact,
            .count = fact->count,
            .sum = fact->sum,
            .first = fact->first,
        };
    }
}

/* Calls of one rank that differ by their place alone become one entry. */
static void join(struct list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct entry *last = kept > 0 ? &list->entries[kept - 1] : NULL;
        if (!last || compare(last, &list->entries[i]) != 0) {
            list->entries[kept++] = list->entries[i];
            continue;
        }
        if (list->entries[i].first < last->first) {
            last->first = list->entries[i].first;
            last->fact = list->entries[i].fact;
        }
        last->count += list->entries[i].count;
        last->sum += list->entries[i].sum;
    }
    list->count = kept;
}

/* ---- the first call that differs ----------------------------------------------------------------------- */

/* The inverse of mpiq_record_mix: murmur's finalizer, backwards. */
static uint64_t unmix(uint64_t value)
{
    value = (value ^ value >> 33) * UINT64_C(0x9cb4b2f8129337db);
    value = (value ^ value >> 33) * UINT64_C(0x4f74430c22a54005);
    return value ^ value >> 33;
}

/* The number of a call with that key that some members made and others did not; 0: all agree, UINT64_MAX: not
   known which. */
static uint64_t differing(const struct entry *entries, size_t count, uint32_t members)
{
    const struct entry *most = entries;
    const struct entry *least = entries;
    for (size_t i = 1; i < count; i++) {
        most = entries[i].count > most->count ? &entries[i] : most;
        least = entries[i].count < least->count ? &entries[i] : least;
    }
    if (count < members) {
        uint64_t first = UINT64_MAX;
        for (size_t i = 0; i < count; i++)
            first = entries[i].first < first ? entries[i].first : first;
        return first;
    }
    if (most->count == least->count + 1) {
        uint64_t number = unmix(most->sum - least->sum);
        return number >= 1 && number < UINT64_C(1) << 48 ? number : UINT64_MAX;
    }
    for (size_t i = 1; i < count; i++) {
        if (entries[i].count != entries->count || entries[i].sum != entries->sum)
            return UINT64_MAX;
    }
    return 0;
}

/* Whether the entry's calls have that number among them, as far as that can be told. */
static bool has_number(const struct entry *entries, size_t count, const struct entry *entry, uint64_t number)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        least = entries[i].count < least ? entries[i].count : least;
    return entry->first == number || (entry->first < number && entry->count > least);
}

/* ---- what is said of it ----------------------------------------------------------------------------------
 */

/* What a group of ranks called under the number. */
struct side {
    const struct entry *entry;
    struct mpiq_rank_set ranks;
};
enum { MOST_SIDES = 8 };

struct clash {
    uint64_t number;
    struct side sides[MOST_SIDES];
    size_t count;
    struct mpiq_rank_set missing;
};

static const char *value_of(struct mpiq_finder *finder, const struct key *key, const char *field,
                            const struct entry *entry)
{
    const char *op = mpiq_job_string(finder->job, key->op);
    if (strcmp(field, "root") == 0)
        return WORDS(finder->arena, "%d", key->root);
    if (strcmp(field, "op") == 0)
        return op && op[0] ? op : "not known";
    if (strcmp(field, "bytes") == 0)
        return WORDS(finder->arena, "%lld", (long long)key->bytes);
    const char *base = mpiq_job_string(finder->job, entry->fact->base_name);
    return base && base[0] ? base : "no elements";
}

/* The argument in which two calls of one class differ. */
static const char *field_of(const struct key *a, const struct key *b)
{
    return a->root != b->root ? "root" : a->op != b->op ? "op" : a->bytes != b->bytes ? "bytes" : "type";
}

static void add_sides(struct mpiq_finder *finder, struct mpiq_finding *finding, const struct clash *clash,
                      bool mismatch, const char *field)
{
    for (size_t i = 0; i < clash->count; i++) {
        const struct side *side = &clash->sides[i];
        mpiq_check_site(finder, finding, side->entry->fact);
        struct mpiq_finding_site *site = &finding->sites[finding->site_count - 1];
        finder->failed |= !mpiq_rank_set_add_set(&site->ranks, &side->ranks);
        finder->failed |= !mpiq_rank_set_add_set(&finding->ranks, &side->ranks);
        if (mismatch) {
            struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
            finder->failed |= !call || !mpiq_rank_set_add_set(&call->ranks, &side->ranks);
            if (call)
                call->collective = mpiq_collective_name(side->entry->key.collective);
        } else if (field) {
            struct mpiq_finding_value *value = mpiq_finding_add_value(finding);
            finder->failed |= !value || !mpiq_rank_set_add_set(&value->ranks, &side->ranks);
            if (value)
                value->value = value_of(finder, &side->entry->key, field, side->entry);
        }
    }
}

static void say(struct mpiq_finder *finder, const struct clash *clash)
{
    const struct side *first = &clash->sides[0];
    const struct side *second = clash->count > 1 ? &clash->sides[1] : NULL;
    bool mismatch = second && first->entry->key.collective != second->entry->key.collective;
    const char *field = second && !mismatch ? field_of(&first->entry->key, &second->entry->key) : NULL;
    enum mpiq_finding_kind kind = !second                      ? MPIQ_FINDING_COLLECTIVE_INCOMPLETE
                                  : mismatch                   ? MPIQ_FINDING_COLLECTIVE_MISMATCH
                                  : strcmp(field, "type") == 0 ? MPIQ_FINDING_TYPE_MISMATCH
                                                               : MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH;
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(finder->diagnosis, kind);
    if (!finding) {
        finder->failed = true;
        return;
    }
    struct mpiq_arena *arena = finder->arena;
    const char *name = mpiq_collective_name(first->entry->key.collective);
    const char *comm = mpiq_check_comm(finder, first->entry->fact);
    finding->comm = mpiq_check_comm_index(finder, first->entry->fact);
    finding->number = (int64_t)clash->number;
    finding->collective = mismatch ? NULL : name;
    finding->field = field;
    add_sides(finder, finding, clash, mismatch, field);
    unsigned long long number = clash->number;
    if (!second) {
        finder->failed |= !mpiq_rank_set_add_set(&finding->missing, &clash->missing) ||
                          !mpiq_rank_set_add_set(&finding->suspects, &clash->missing);
        finding->text =
            WORDS(arena, "%s never entered %s%s, collective %llu on %s, which %s called",
                  mpiq_words_ranks(arena, &clash->missing), name, mpiq_check_at(finder, first->entry->fact),
                  number, comm, mpiq_words_ranks(arena, &first->ranks));
    } else if (mismatch) {
        finding->text =
            WORDS(arena, "collective %llu on %s: %s called %s, %s called %s", number, comm,
                  mpiq_words_ranks(arena, &first->ranks), name, mpiq_words_ranks(arena, &second->ranks),
                  mpiq_collective_name(second->entry->key.collective));
    } else {
        finding->text = WORDS(arena, "%s called %s with %s %s, %s with %s %s (collective %llu on %s)",
                              mpiq_words_ranks(arena, &first->ranks), name, field,
                              value_of(finder, &first->entry->key, field, first->entry),
                              mpiq_words_ranks(arena, &second->ranks), field,
                              value_of(finder, &second->entry->key, field, second->entry), number, comm);
    }
}

/* ---- one communicator ------------------------------------------------------------------------------------
 */

static size_t end_of_key(const struct entry *entries, size_t count)
{
    size_t end = 1;
    while (end < count && compare_keys(&entries[0].key, &entries[end].key) == 0)
        end++;
    return end;
}

static int compare_sides(const void *left, const void *right)
{
    const struct side *a = left;
    const struct side *b = right;
    if (a->ranks.size != b->ranks.size) /* the few are named first */
        return a->ranks.size < b->ranks.size ? -1 : 1;
    return a->entry->process < b->entry->process ? -1 : a->entry->process > b->entry->process;
}

static void find_missing(struct mpiq_finder *finder, uint64_t comm, struct clash *clash)
{
    const struct mpiq_job_state *job = finder->job;
    for (uint32_t i = 0; i < job->fact_count; i++) {
        const struct mpiq_job_fact *fact = &job->facts[i];
        const struct mpiq_job_rank *rank = &job->ranks[fact->rank];
        bool own = i >= rank->first_fact && i - rank->first_fact < rank->fact_count;
        if (own && rank->held && fact->kind == MPIQ_FACT_COMMUNICATOR && fact->comm == comm &&
            fact->sum < clash->number)
            mpiq_finder_add(finder, &clash->missing, rank->process);
    }
}

static void check_communicator(struct mpiq_finder *finder, const struct entry *entries, size_t count,
                               uint32_t members)
{
    struct clash clash = {.number = UINT64_MAX};
    for (size_t i = 0, size; i < count; i += size) {
        size = end_of_key(&entries[i], count - i);
        uint64_t number = differing(&entries[i], size, members);
        clash.number = number > 0 && number < clash.number ? number : clash.number;
    }
    for (size_t i = 0, size; clash.number < UINT64_MAX && i < count; i += size) {
        size = end_of_key(&entries[i], count - i);
        if (differing(&entries[i], size, members) == 0 || clash.count == MOST_SIDES)
            continue;
        struct side *side = &clash.sides[clash.count];
        for (size_t j = i; j < i + size; j++) {
            if (!has_number(&entries[i], size, &entries[j], clash.number))
                continue;
            side->entry = side->entry ? side->entry : &entries[j];
            mpiq_finder_add(finder, &side->ranks, entries[j].process);
        }
        clash.count += side->entry != NULL;
    }
    if (clash.count > 0) {
        qsort(clash.sides, clash.count, sizeof *clash.sides, compare_sides);
        find_missing(finder, entries->key.comm, &clash);
        if (clash.count > 1 || clash.missing.size > 0)
            say(finder, &clash);
    }
    for (size_t i = 0; i < clash.count; i++)
        mpiq_rank_set_deinit(&clash.sides[i].ranks);
    mpiq_rank_set_deinit(&clash.missing);
}

/* How many ranks have that communicator, if all of its members were read in full; else 0. */
static uint32_t members_of(const struct mpiq_job_state *job, uint64_t comm)
{
    uint32_t found = 0;
    uint32_t size = 0;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        for (uint32_t j = 0; rank->held && rank->process != MPIQ_NONE && j < rank->fact_count; j++) {
            const struct mpiq_job_fact *fact = &job->facts[rank->first_fact + j];
            if (fact->kind != MPIQ_FACT_COMMUNICATOR || fact->comm != comm)
                continue;
            if (rank->lost_facts > 0)
                return 0;
            found++;
            size = (uint32_t)fact->comm_size;
        }
    }
    return found == size ? size : 0;
}

void mpiq_check_collectives(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct list list = {.entries = calloc((size_t)job->fact_count + 1, sizeof *list.entries)};
    struct entry *owner _cleanup_free_ = list.entries;
    if (!owner) {
        finder->failed = true;
        return;
    }
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].held && job->ranks[i].process != MPIQ_NONE)
            add_rank(job, &job->ranks[i], &list);
    }
    if (list.count == 0)
        return;
    qsort(list.entries, list.count, sizeof *list.entries, compare);
    hide_unknown(&list);
    qsort(list.entries, list.count, sizeof *list.entries, compare);
    join(&list);
    for (size_t i = 0; i < list.count && !finder->failed;) {
        size_t end = i + 1;
        while (end < list.count && list.entries[end].key.comm == list.entries[i].key.comm)
            end++;
        uint32_t members = members_of(job, list.entries[i].key.comm);
        if (members > 1)
            check_communicator(finder, &list.entries[i], end - i, members);
        i = end;
    }
}
