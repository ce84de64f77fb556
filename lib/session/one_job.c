/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/one_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static uint32_t root_of(uint32_t *parent, uint32_t world)
{
    while (parent[world] != world)
        world = parent[world] = parent[parent[world]];
    return world;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    if (a != MPIQ_NONE && b != MPIQ_NONE)
        parent[root_of(parent, a)] = root_of(parent, b);
}

/* What the names of related worlds have in common: "prterun-n1-4711@2" was spawned by a rank of
   "prterun-n1-4711@1"; Open MPI 4.1's numbers of jobs have that of the launcher in their upper half. */
struct kin {
    const char *name;
    size_t length;   /* of what is before the @; 0: it is a number */
    uint64_t number; /* its upper half */
    uint32_t world;
};

static int compare_kin(const void *left, const void *right)
{
    const struct kin *a = left;
    const struct kin *b = right;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return strncmp(a->name, b->name, a->length);
}

/* Joins the worlds whose names tell that they are related; false without memory. */
static bool join_related(const struct mpiq_job_state *job, uint32_t *parent)
{
    struct kin *kin _cleanup_free_ = calloc(job->world_count + 1, sizeof *kin);
    size_t count = 0;
    if (!kin)
        return false;
    for (uint32_t i = 0; i < job->world_count; i++) {
        const char *name = job->worlds[i].nspace ? mpiq_job_string(job, job->worlds[i].nspace) : "";
        size_t length = strcspn(name, "@");
        if (name[length] == '@' && length > 0)
            kin[count++] = (struct kin){.name = name, .length = length, .world = i};
        else if (*name && strspn(name, "0123456789") == strlen(name))
            kin[count++] = (struct kin){.name = name, .number = strtoull(name, NULL, 10) >> 16, .world = i};
    }
    qsort(kin, count, sizeof *kin, compare_kin);
    for (size_t i = 1; i < count; i++) {
        if (compare_kin(&kin[i - 1], &kin[i]) == 0)
            join(parent, kin[i - 1].world, kin[i].world);
    }
    return true;
}

static void join_communicators(const struct mpiq_job_state *job, uint32_t *parent)
{
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        const struct mpiq_job_communicator *comm = &job->communicators[i];
        const uint32_t groups[] = {comm->group, comm->remote};
        uint32_t first = MPIQ_NONE;
        for (int side = 0; side < 2; side++) {
            const struct mpiq_job_group *group =
                groups[side] == MPIQ_NONE ? NULL : &job->groups[groups[side]];
            for (uint32_t k = 0; group && group->members && k < group->count; k++) {
                if (group->members[k] == MPIQ_NONE)
                    continue;
                uint32_t world = mpiq_job_world_rank(job, group->members[k]).world;
                join(parent, first, world);
                first = world;
            }
        }
    }
}

static uint32_t world_of(const struct mpiq_job_state *job, const struct mpiq_rank_state *state)
{
    for (uint32_t i = 0; state && state->name.rank >= 0 && i < job->world_count; i++) {
        if (job->worlds[i].job == state->name.job)
            return i;
    }
    return MPIQ_NONE;
}

/* What one word of the user's, or one file, has named. */
static void join_found(const struct mpiq_look_sources *sources, const struct mpiq_job_state *job,
                       uint32_t *parent)
{
    uint32_t last = MPIQ_NONE;
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_look_source *source = &sources->items[i];
        uint32_t world = world_of(job, source->looks[0] ? source->looks[0] : source->looks[1]);
        if (i > 0 && source->target_number == sources->items[i - 1].target_number)
            join(parent, last, world);
        last = world;
    }
    for (size_t i = 0; i < sources->snapshot_state_count; i++) {
        const struct mpiq_snapshot_state *state = &sources->snapshot_states[i];
        uint32_t world = world_of(job, state->state);
        if (i > 0 && state->file == sources->snapshot_states[i - 1].file)
            join(parent, last, world);
        last = world;
    }
}

/* "4711@1 (solver, 4 ranks)" */
static char *describe(const struct mpiq_job_state *job, uint32_t index)
{
    const struct mpiq_world *world = &job->worlds[index];
    const char *program = NULL;
    for (uint32_t i = 0; i < world->size && !program; i++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, world->first + i);
        program = rank ? mpiq_job_string(job, rank->executable) : NULL;
    }
    char *text = NULL;
    const char *name = world->nspace ? mpiq_job_string(job, world->nspace) : "a job without a name";
    int length =
        asprintf(&text, "%s (%s, %" PRIu32 " rank%s)", name, program ? mpiq_job_base_name(program) : "?",
                 world->size, world->size == 1 ? "" : "s");
    return length < 0 ? NULL : text;
}

struct mpiq_error *mpiq_check_one_job(const struct mpiq_look_sources *sources,
                                      const struct mpiq_job_state *job)
{
    uint32_t *parent _cleanup_free_ = calloc(job->world_count + 1, sizeof *parent);
    if (!parent)
        return mpiq_error_no_memory();
    uint32_t first = MPIQ_NONE;
    for (uint32_t i = 0; i < job->world_count; i++)
        parent[i] = i;
    join_communicators(job, parent);
    join_found(sources, job, parent);
    if (!join_related(job, parent))
        return mpiq_error_no_memory();
    for (uint32_t i = 0; i < job->world_count; i++) {
        if (job->worlds[i].present == 0)
            continue;
        first = first == MPIQ_NONE ? i : first;
        if (root_of(parent, i) == root_of(parent, first))
            continue;
        _cleanup_free_ char *one = describe(job, first), *other = describe(job, i);
        return mpiq_error_create(MPIQ_ERROR_USAGE, "%s and %s are different jobs: look at one of them",
                                 one ? one : "?", other ? other : "?");
    }
    return NULL;
}
