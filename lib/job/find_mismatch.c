/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with the same running number that do not match: different collectives or different arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"
#include "job/given.h"

/* Ranks that gave one value (a class, a root, an operation, a length). */
struct value_group {
    int64_t value;
    struct mpiq_rank_set ranks;
};

enum { MOST_GROUPS = 8 };

/* In place of a root's rank, on an intercommunicator: what its own group gives.  The recorder has numbers of
   its own for them, Open MPI another one for MPI_ROOT, and a call without a root has -1. */
enum { PROC_NULL = -2, IS_ROOT = -3 };

/* What all members must give alike; COUNT: of elements, where the call is known by its arguments alone. */
enum field { CLASS, ROOT, OP, BYTES, FIELDS, COUNT = FIELDS };
static const char *const field_names[] = {[ROOT] = "root", [OP] = "op", [BYTES] = "bytes", [COUNT] = "count"};

struct value_groups {
    struct value_group list[MOST_GROUPS];
    uint32_t count;
};

static void value_groups_deinit(struct value_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        mpiq_rank_set_deinit(&groups->list[i].ranks);
}

static void join(struct mpiq_analysis *analysis, struct value_groups *groups, int64_t value, uint32_t process)
{
    uint32_t i = 0;
    while (i < groups->count && groups->list[i].value != value)
        i++;
    if (i == MOST_GROUPS)
        return;
    if (i == groups->count)
        groups->list[groups->count++].value = value;
    mpiq_analysis_add(analysis, &groups->list[i].ranks, process);
}

/* Larger groups first; then by value. */
static int compare_value_groups(const void *left, const void *right)
{
    const struct value_group *a = left;
    const struct value_group *b = right;
    if (a->ranks.size != b->ranks.size)
        return a->ranks.size > b->ranks.size ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* The ranks that a majority contradicts; none if there is no majority. */
static void suspect(struct mpiq_analysis *analysis, const struct value_groups *groups,
                    struct mpiq_finding *finding)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        total += groups->list[i].ranks.size;
    for (uint32_t i = 1; i < groups->count && 2 * groups->list[0].ranks.size > total; i++) {
        if (!mpiq_rank_set_add_set(&finding->suspects, &groups->list[i].ranks))
            analysis->failed = true;
    }
}

static void add_ranks(struct mpiq_analysis *analysis, const struct value_groups *groups,
                      struct mpiq_finding *finding)
{
    enum { MOST_LOOKED_AT = 4096 };
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct mpiq_rank_set *set = &groups->list[i].ranks;
        if (!mpiq_rank_set_add_set(&finding->ranks, set))
            analysis->failed = true;
        uint32_t looked = 0;
        for (uint32_t j = 0; j < set->count; j++) {
            for (uint32_t rank = set->ranges[j].first; rank <= set->ranges[j].last && looked < MOST_LOOKED_AT;
                 rank++, looked++) {
                uint32_t process = mpiq_job_process(analysis->job, set->ranges[j].world, rank);
                mpiq_analysis_site(analysis, finding, process, MPIQ_NONE);
                mpiq_add_evidence(analysis, finding, process, MPIQ_NONE, MPIQ_NONE);
                mpiq_analysis_since(analysis, finding, process, MPIQ_NONE);
            }
        }
    }
}

/* Where a member made its call of that number, if it is elsewhere by now: MPIQ_NONE if not, or not known. */
static uint32_t made_elsewhere(const struct mpiq_analysis *analysis, uint32_t comm, int64_t number,
                               uint32_t process)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member =
        rank && number > 0 ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm) : NULL;
    const struct mpiq_job_call *call = member ? mpiq_numbered_call(job, member, number) : NULL;
    uint32_t now = analysis->diagnosis->ranks[process].site;
    if (!call || call->started == MPIQ_NONE)
        return MPIQ_NONE;
    const struct mpiq_site *made = &job->sites[call->started];
    return now != MPIQ_NONE && job->sites[now].file == made->file && job->sites[now].line == made->line &&
                   job->sites[now].function == made->function
               ? MPIQ_NONE
               : call->started;
}

/* Where the first of the ranks made the call, if they are elsewhere by now: adds that place to the finding.
 */
static uint32_t place_of(struct mpiq_analysis *analysis, struct mpiq_finding *finding, const char *name,
                         const struct mpiq_rank_set *ranks)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t process = mpiq_job_process(job, ranks->ranges[0].world, ranks->ranges[0].first);
    uint32_t at = made_elsewhere(analysis, finding->comm, finding->number, process);
    if (at == MPIQ_NONE || (!job->sites[at].function && (!job->sites[at].file || job->sites[at].line <= 0)))
        return MPIQ_NONE;
    struct mpiq_finding_site *site =
        finding->site_count < MPIQ_MOST_SITES ? mpiq_finding_add_site(finding) : NULL;
    if (site) {
        site->call = name;
        site->file = mpiq_job_string(job, job->sites[at].file);
        site->function = mpiq_job_string(job, job->sites[at].function);
        site->line = job->sites[at].line;
        analysis->failed = analysis->failed || !mpiq_rank_set_add_set(&site->ranks, ranks);
    }
    return at;
}

/* Whether that call was found to differ already, by those who wait in another one. */
static bool is_known(const struct mpiq_analysis *analysis, uint32_t comm, int64_t number, enum field field)
{
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        enum mpiq_finding_kind kind =
            field == CLASS ? MPIQ_FINDING_COLLECTIVE_MISMATCH : MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH;
        if (finding->kind == kind && finding->comm == comm && finding->number == number &&
            (field == CLASS || finding->field == field_names[field]))
            return true;
    }
    return false;
}

static struct mpiq_finding *new_finding(struct mpiq_analysis *analysis, enum mpiq_finding_kind kind,
                                        uint32_t comm, int64_t number, bool proven,
                                        const struct value_groups *groups)
{
    struct mpiq_finding *finding = mpiq_diagnosis_add_finding(analysis->diagnosis, kind);
    if (!finding) {
        analysis->failed = true;
        return NULL;
    }
    finding->comm = comm;
    finding->number = number;
    finding->proven = proven;
    add_ranks(analysis, groups, finding);
    return finding;
}

/* "collective 1 on MPI_COMM_WORLD: rank 0 called MPI_Iallreduce, rank 1 called MPI_Ibcast". */
static void add_classes(struct mpiq_analysis *analysis, uint32_t comm, int64_t number, bool proven,
                        const struct value_groups *groups)
{
    struct mpiq_finding *finding =
        new_finding(analysis, MPIQ_FINDING_COLLECTIVE_MISMATCH, comm, number, proven, groups);
    if (finding)
        suspect(analysis, groups, finding);
    for (uint32_t i = 0; finding && i < groups->count; i++) {
        struct mpiq_finding_call *call = mpiq_finding_add_call(finding);
        const char *name = mpiq_collective_name((int)groups->list[i].value);
        if (!call || !mpiq_rank_set_add_set(&call->ranks, &groups->list[i].ranks)) {
            analysis->failed = true;
            return;
        }
        call->collective = name ? name : "a collective";
        call->made = place_of(analysis, finding, call->collective, &groups->list[i].ranks);
    }
}

/* "rank 3 called MPI_Bcast with root 1, ranks 0-2 with root 0 (collective 4 on MPI_COMM_WORLD)": the fewest
   first.  type: of a count. */
static void add_argument(struct mpiq_analysis *analysis, uint32_t comm, int64_t number, bool proven,
                         int collective, const char *field, const char *type,
                         const struct value_groups *groups)
{
    struct mpiq_finding *finding =
        new_finding(analysis, MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH, comm, number, proven, groups);
    if (!finding)
        return;
    finding->field = field;
    finding->collective = mpiq_collective_name(collective);
    bool roots = strcmp(field, "root") == 0 && analysis->job->communicators[comm].remote != MPIQ_NONE;
    if (!roots) /* the two groups of an intercommunicator are equals */
        suspect(analysis, groups, finding);
    for (uint32_t i = 0; i < groups->count; i++) {
        struct mpiq_finding_value *value = mpiq_finding_add_value(finding);
        if (!value || !mpiq_rank_set_add_set(&value->ranks, &groups->list[i].ranks)) {
            analysis->failed = true;
            return;
        }
        value->number = groups->list[i].value;
        if (roots && value->number >= 0)
            value->number = mpiq_job_world_rank(analysis->job, (uint32_t)value->number).rank;
        else if (roots)
            value->name = value->number == PROC_NULL ? "MPI_PROC_NULL" : "MPI_ROOT";
        if (strcmp(field, "op") == 0)
            value->name = groups->list[i].value
                              ? mpiq_job_string(analysis->job, (mpiq_string_id)groups->list[i].value)
                              : "user-defined";
        value->type = type;
    }
    for (size_t i = finding->value_count; i-- > 0;) /* the fewest first */
        finding->values[i].made = place_of(analysis, finding, finding->collective, &finding->values[i].ranks);
}

/* Shape of the call of a number, MPIQ_NONE where it has not come yet or is not known any more.  In most rings
   the entries are numbered without a gap, so it is where it must be. */
static uint32_t shape_at(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                         int64_t number)
{
    int64_t at = member->ordered - number;
    if (at < 0)
        return MPIQ_NONE;
    if (at < (int64_t)member->call_count) {
        uint32_t shape = job->calls[member->first_call + at].shape;
        if (job->shapes[shape].number == number)
            return shape;
    }
    const struct mpiq_job_call *call = mpiq_numbered_call(job, member, number);
    return call ? call->shape : MPIQ_NONE;
}

static bool field_of(const struct mpiq_call_shape *shape, enum field field, bool inter, int64_t *ret)
{
    switch (field) {
    case CLASS:
        *ret = shape->collective;
        return true;
    case ROOT: /* of an intercommunicator: collect_roots */
        *ret = shape->root;
        return !inter && shape->root >= 0 && mpiq_collective_has_root(shape->collective);
    case OP:
        *ret = shape->op;
        return shape->op && mpiq_collective_has_op(shape->collective);
    case BYTES:
        *ret = shape->bytes;
        return !inter && shape->bytes >= 0 && mpiq_collective_has_bytes(shape->collective);
    case FIELDS:
        break;
    }
    return false;
}

/* Finds out quickly whether a number has more than one shape; most have one. */
static bool is_uniform(const struct mpiq_job_state *job, const struct mpiq_job_communicator *comm,
                       int64_t number)
{
    uint32_t first = MPIQ_NONE;
    for (uint32_t i = 0; i < comm->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[comm->first_member + i];
        uint32_t shape = shape_at(job, member, number);
        if (shape == MPIQ_NONE)
            continue;
        if (first != MPIQ_NONE && first != shape)
            return false;
        first = shape;
    }
    return true;
}

static int root_of(const struct mpiq_job_state *job, const struct mpiq_job_member *member, int64_t number)
{
    uint32_t shape = shape_at(job, member, number);
    if (shape == MPIQ_NONE || !mpiq_collective_has_root(job->shapes[shape].collective))
        return -1;
    return job->shapes[shape].root < IS_ROOT ? IS_ROOT : job->shapes[shape].root;
}

/* The roots that members of an intercommunicator gave one rooted call.  One group names a rank of the other,
   and that rank alone gives MPI_ROOT.  Those who give MPI_PROC_NULL, as they should, are left out.  Returns
   the class of the call. */
static int collect_roots(struct mpiq_analysis *analysis, const struct mpiq_job_communicator *comm,
                         int64_t number, struct value_groups *groups)
{
    const struct mpiq_job_state *job = analysis->job;
    int collective = -1;
    for (uint32_t i = 0; i < comm->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[comm->first_member + i];
        uint32_t process = job->ranks[member->rank].process, root = process;
        int given = root_of(job, member, number);
        if (given >= 0)
            root = mpiq_job_local_process(job, member, true, given);
        if (process == MPIQ_NONE || root == MPIQ_NONE || (given < 0 && given != IS_ROOT))
            continue;
        collective = job->shapes[shape_at(job, member, number)].collective;
        join(analysis, groups, given == IS_ROOT ? IS_ROOT : (int64_t)root, process);
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, root);
        const struct mpiq_job_member *other =
            rank && given >= 0 ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), member->comm) : NULL;
        if (other && root_of(job, other, number) == PROC_NULL)
            join(analysis, groups, PROC_NULL, root);
    }
    return collective;
}

/* Whether they name but one root. */
static bool is_one_root(const struct mpiq_analysis *analysis, const struct value_groups *groups)
{
    int64_t root = -1;
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct mpiq_rank_set *ranks = &groups->list[i].ranks;
        int64_t own = groups->list[i].value;
        if (own == IS_ROOT)
            own = mpiq_job_process(analysis->job, ranks->ranges[0].world, ranks->ranges[0].first);
        if (own == PROC_NULL || (root >= 0 && own != root) ||
            (groups->list[i].value == IS_ROOT && ranks->size > 1))
            return false;
        root = own;
    }
    return true;
}

/* A finding if the members of an intercommunicator do not agree who is the root. */
static bool compare_roots(struct mpiq_analysis *analysis, uint32_t comm, int64_t number, bool proven)
{
    struct value_groups groups _cleanup_(value_groups_deinit) = {0};
    int collective = collect_roots(analysis, &analysis->job->communicators[comm], number, &groups);
    if (is_one_root(analysis, &groups))
        return false;
    qsort(groups.list, groups.count, sizeof *groups.list, compare_value_groups);
    if (!is_known(analysis, comm, number, ROOT))
        add_argument(analysis, comm, number, proven, collective, field_names[ROOT], NULL, &groups);
    return true;
}

static bool compare_field(struct mpiq_analysis *analysis, uint32_t index, int64_t number, enum field field,
                          bool proven)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_communicator *comm = &job->communicators[index];
    struct value_groups groups _cleanup_(value_groups_deinit) = {0};
    int collective = -1;
    for (uint32_t i = 0; i < comm->member_count; i++) {
        const struct mpiq_job_member *member = &job->members[comm->first_member + i];
        uint32_t process = job->ranks[member->rank].process;
        uint32_t shape = shape_at(job, member, number);
        int64_t value;
        if (shape == MPIQ_NONE || process == MPIQ_NONE ||
            !field_of(&job->shapes[shape], field, comm->remote != MPIQ_NONE, &value))
            continue;
        collective = job->shapes[shape].collective;
        join(analysis, &groups, value, process);
    }
    if (groups.count < 2)
        return false;
    qsort(groups.list, groups.count, sizeof *groups.list, compare_value_groups);
    if (is_known(analysis, index, number, field))
        return true;
    if (field == CLASS)
        add_classes(analysis, index, number, proven, &groups);
    else
        add_argument(analysis, index, number, proven, collective, field_names[field], NULL, &groups);
    return true;
}

bool mpiq_find_mismatches(struct mpiq_analysis *analysis, uint32_t comm, int64_t number, bool proven)
{
    enum { NUMBERS_BACK = 15 };
    int64_t first = number > NUMBERS_BACK ? number - NUMBERS_BACK : 1;
    bool inter = analysis->job->communicators[comm].remote != MPIQ_NONE;
    for (int64_t at = first; at <= number; at++) {
        if (!inter && is_uniform(analysis->job, &analysis->job->communicators[comm], at))
            continue;
        bool mixed = compare_field(analysis, comm, at, CLASS, proven);
        bool found = mixed || (inter && compare_roots(analysis, comm, at, proven));
        for (int field = ROOT; !found && field < FIELDS; field++)
            found = compare_field(analysis, comm, at, (enum field)field, proven);
        if (found) /* what follows may follow from it */
            return at == number || mixed;
    }
    return false;
}

void mpiq_add_tag_mismatch(struct mpiq_analysis *analysis, int collective, uint32_t comm, bool proven,
                           const struct mpiq_tagged_call *calls, uint32_t count)
{
    struct value_groups groups _cleanup_(value_groups_deinit) = {0};
    for (uint32_t i = 0; i < count; i++)
        join(analysis, &groups, calls[i].tag, calls[i].process);
    qsort(groups.list, groups.count, sizeof *groups.list, compare_value_groups);
    add_argument(analysis, comm, 0, proven, collective, "tag", NULL, &groups);
}

static bool compare_given(struct mpiq_analysis *analysis, uint32_t comm, int collective, enum field field,
                          const uint32_t *threads, uint32_t count, bool proven)
{
    static const enum mpiq_given_kind kinds[] = {
        [ROOT] = MPIQ_GIVEN_ROOT, [OP] = MPIQ_GIVEN_OP, [COUNT] = MPIQ_GIVEN_COUNT};
    const struct mpiq_job_state *job = analysis->job;
    struct value_groups groups _cleanup_(value_groups_deinit) = {0};
    mpiq_string_id type = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t process = mpiq_thread_process(analysis->graph, threads[i]);
        struct mpiq_given_value given;
        if (!mpiq_given_argument(job, threads[i], collective, mpiq_local_rank(job, process, comm),
                                 kinds[field], &given))
            continue;
        if (field == COUNT && type && given.name != type)
            return false; /* as many bytes, perhaps */
        type = field == COUNT ? given.name : 0;
        join(analysis, &groups, field == OP ? given.name : given.value, process);
    }
    if (groups.count < 2)
        return false;
    qsort(groups.list, groups.count, sizeof *groups.list, compare_value_groups);
    add_argument(analysis, comm, 0, proven, collective, field_names[field],
                 type ? mpiq_job_string(job, type) : NULL, &groups);
    return true;
}

bool mpiq_find_given_mismatch(struct mpiq_analysis *analysis, uint32_t comm, int collective,
                              const uint32_t *threads, uint32_t count, bool proven)
{
    static const enum field fields[] = {ROOT, OP, COUNT};
    if (analysis->job->communicators[comm].remote != MPIQ_NONE)
        return false; /* the two groups give different ones */
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (compare_given(analysis, comm, collective, fields[i], threads, count, proven))
            return true;
    }
    return false;
}
