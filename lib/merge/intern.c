/* SPDX-License-Identifier: BSD-3-Clause */
/* What many ranks share is stored once: strings, places, calls, names, groups, communicators. */
#include <stdlib.h>
#include <string.h>

#include "merge/builder_private.h"

void mpiq_job_builder_destroy(struct mpiq_job_builder *builder, uint32_t group_count)
{
    if (!builder)
        return;
    mpiq_hash_table_deinit(&builder->strings);
    mpiq_hash_table_deinit(&builder->sites);
    mpiq_hash_table_deinit(&builder->paths);
    mpiq_hash_table_deinit(&builder->shapes);
    mpiq_hash_table_deinit(&builder->groups);
    mpiq_hash_table_deinit(&builder->communicators);
    mpiq_hash_table_deinit(&builder->ranks);
    mpiq_hash_table_deinit(&builder->worlds);
    mpiq_hash_table_deinit(&builder->handles);
    free(builder->names);
    free(builder->marks);
    free(builder->thread_marks);
    free(builder->new_rows.threads);
    free(builder->new_rows.thread_marks);
    free(builder->new_rows.members);
    free(builder->new_rows.member_groups);
    free(builder->new_rows.channels);
    free(builder->tags);
    free(builder->rank_io);
    free(builder->rank_children);
    mpiq_hash_table_deinit(&builder->windows);
    free(builder->member_groups);
    free(builder->parents);
    for (uint32_t i = 0; builder->group_names && i < group_count; i++)
        free(builder->group_names[i]);
    free(builder->group_names);
    free(builder);
}

bool mpiq_job_intern(struct mpiq_job_state *job, const char *string, mpiq_string_id *ret)
{
    if (!string || !*string) {
        *ret = 0;
        return true;
    }
    struct mpiq_job_builder *builder = job->builder;
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_START, string, strlen(string));
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&builder->strings, hash, &cursor)) != MPIQ_NONE;) {
        if (strcmp(job->strings[i], string) == 0) {
            *ret = i;
            return true;
        }
    }
    if (!MPIQ_RESERVE(job->strings, job->string_count, builder->string_capacity, 2))
        return false;
    if (job->string_count == 0)
        job->strings[job->string_count++] = NULL;
    char *copy = strdup(string);
    if (!copy || !mpiq_hash_table_add(&builder->strings, hash, job->string_count)) {
        free(copy);
        return false;
    }
    job->strings[job->string_count] = copy;
    *ret = job->string_count++;
    return true;
}

/* A row that is compared as bytes: *ret, plus one, is where it stands, added if it was not there. */
static bool find_row(struct mpiq_hash_table *table, void **rows, uint32_t *count, uint32_t *capacity,
                     const void *row, size_t size, uint32_t *ret)
{
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_START, row, size);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(table, hash, &cursor)) != MPIQ_NONE;) {
        if (memcmp((char *)*rows + i * size, row, size) == 0) {
            *ret = i + 1;
            return true;
        }
    }
    size_t room = *capacity;
    if (*count == room && !mpiq_array_grow(rows, &room, room + 1, size, MPIQ_NONE - 1))
        return false;
    *capacity = (uint32_t)room;
    if (!mpiq_hash_table_add(table, hash, *count))
        return false;
    memcpy((char *)*rows + *count * size, row, size);
    *ret = ++*count;
    return true;
}

static bool find_site(struct mpiq_job_state *job, const struct mpiq_site *site, uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    void *rows = job->sites;
    bool found =
        find_row(&builder->sites, &rows, &job->site_count, &builder->site_capacity, site, sizeof *site, ret);
    job->sites = rows;
    return found;
}

static bool find_path(struct mpiq_job_state *job, const struct mpiq_path *path, uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    void *rows = job->paths;
    bool found =
        find_row(&builder->paths, &rows, &job->path_count, &builder->path_capacity, path, sizeof *path, ret);
    job->paths = rows;
    return found;
}

static bool intern_place(struct mpiq_job_state *job, const struct mpiq_frame *frame, uint32_t called_at,
                         uint32_t *ret)
{
    struct mpiq_site site = {.line = frame->line, .called_at = called_at};
    if (!mpiq_job_intern_cached(job, frame->function, &site.function) ||
        !mpiq_job_intern_cached(job, frame->file, &site.file) ||
        !mpiq_job_intern_cached(job, frame->object, &site.object))
        return false;
    uint32_t *recent = &job->builder->recent_sites[site.function % 32];
    if ((*recent == 0 || memcmp(&job->sites[*recent - 1], &site, sizeof site) != 0) &&
        !find_site(job, &site, recent))
        return false;
    *ret = *recent - 1;
    return true;
}

bool mpiq_job_intern_site(struct mpiq_job_state *job, const struct mpiq_frame *frame, uint32_t *ret)
{
    return intern_place(job, frame, 0, ret);
}

/* Whether a frame shows a line of the user's own. */
static bool is_own_line(const struct mpiq_rank_state *state, const struct mpiq_frame *frame)
{
    return frame->file && frame->line > 0 && mpiq_owner_is_user((uint8_t)mpiq_frame_owner(state, frame)) &&
           !mpiq_is_package_file(frame->file);
}

bool mpiq_job_intern_call_site(struct mpiq_job_state *job, const struct mpiq_rank_state *state,
                               const struct mpiq_thread *thread, size_t index, uint32_t *ret)
{
    uint32_t called_at = 0;
    for (size_t i = index; i < thread->frame_count; i++) {
        if (!is_own_line(state, &thread->frames[i]))
            continue;
        if (i > index && !intern_place(job, &thread->frames[i], 0, &called_at))
            return false;
        called_at += i > index;
        break;
    }
    return intern_place(job, &thread->frames[index], called_at, ret);
}

bool mpiq_job_intern_path(struct mpiq_job_state *job, const struct mpiq_rank_state *state,
                          const struct mpiq_thread *thread, size_t index, uint32_t *ret)
{
    struct mpiq_path path = {.caller = 0};
    for (size_t i = thread->frame_count; i-- > index;) {
        if (!is_own_line(state, &thread->frames[i]))
            continue;
        if (!intern_place(job, &thread->frames[i], 0, &path.site) || !find_path(job, &path, &path.caller))
            return false;
    }
    *ret = path.caller - 1; /* MPIQ_NONE of 0 */
    return true;
}

static bool find_shape(struct mpiq_job_state *job, const struct mpiq_call_shape *shape, uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    void *rows = job->shapes;
    bool found = find_row(&builder->shapes, &rows, &job->shape_count, &builder->shape_capacity, shape,
                          sizeof *shape, ret);
    job->shapes = rows;
    return found;
}

bool mpiq_job_intern_shape(struct mpiq_job_state *job, const struct mpiq_call *call, uint32_t *ret)
{
    struct mpiq_call_shape shape;
    memset(&shape, 0, sizeof shape); /* it is compared as bytes */
    shape.number = call->number;
    shape.count = call->count;
    shape.bytes = call->bytes;
    shape.root = call->root;
    shape.collective = call->collective;
    if (!mpiq_job_intern_cached(job, call->datatype, &shape.datatype) ||
        !mpiq_job_intern_cached(job, call->op, &shape.op))
        return false;
    uint32_t *recent = &job->builder->recent_shape;
    if ((*recent == 0 || memcmp(&job->shapes[*recent - 1], &shape, sizeof shape) != 0) &&
        !find_shape(job, &shape, recent))
        return false;
    *ret = *recent - 1;
    return true;
}

bool mpiq_job_intern_name(struct mpiq_job_state *job, struct mpiq_name name, uint64_t *ret)
{
    *ret = MPIQ_NO_NAME;
    if (name.rank < 0 || (uint32_t)name.rank >= MPIQ_JOB_MAX_PROCESSES)
        return true;
    struct mpiq_job_builder *builder = job->builder;
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, name.job);
    uint64_t cursor = hash;
    uint32_t world;
    while ((world = mpiq_hash_table_next(&builder->worlds, hash, &cursor)) != MPIQ_NONE) {
        if (job->worlds[world].job == name.job)
            break;
    }
    if (world == MPIQ_NONE) {
        world = job->world_count;
        if (!MPIQ_RESERVE(job->worlds, world, builder->world_capacity, 1) ||
            !mpiq_hash_table_add(&builder->worlds, hash, world))
            return false;
        job->worlds[job->world_count++] = (struct mpiq_world){.job = name.job};
    }
    if (job->worlds[world].size <= (uint32_t)name.rank)
        job->worlds[world].size = (uint32_t)name.rank + 1;
    *ret = (uint64_t)world << 32 | (uint32_t)name.rank;
    return true;
}

static bool group_members(struct mpiq_job_state *job, const struct mpiq_group *group, uint32_t index)
{
    uint64_t *names = malloc((group->count ? group->count : 1) * sizeof *names);
    if (!names)
        return false;
    for (uint32_t i = 0; i < group->count; i++) {
        if (!mpiq_job_intern_name(job, group->members[i], &names[i])) {
            free(names);
            return false;
        }
    }
    job->builder->group_names[index] = names;
    return true;
}

bool mpiq_job_intern_group(struct mpiq_job_state *job, const struct mpiq_group *group, uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    uint64_t hash = mpiq_hash(group->hash, group->count);
    uint64_t cursor = hash;
    uint32_t index;
    while ((index = mpiq_hash_table_next(&builder->groups, hash, &cursor)) != MPIQ_NONE) {
        if (job->groups[index].hash == group->hash && job->groups[index].count == group->count)
            break;
    }
    if (index == MPIQ_NONE) {
        index = job->group_count;
        if (!MPIQ_RESERVE(job->groups, index, builder->group_capacity, 1) ||
            !MPIQ_RESERVE(builder->group_names, index, builder->group_name_capacity, 1) ||
            !mpiq_hash_table_add(&builder->groups, hash, index))
            return false;
        job->groups[index] = (struct mpiq_job_group){.hash = group->hash, .count = group->count};
        builder->group_names[index] = NULL;
        job->group_count++;
    }
    *ret = index;
    return builder->group_names[index] || !group->members || group_members(job, group, index);
}

bool mpiq_job_intern_communicator(struct mpiq_job_state *job, const struct mpiq_communicator *comm,
                                  uint32_t local, uint32_t remote, uint32_t *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    bool self = comm->flags & MPIQ_COMM_SELF;
    uint32_t low = remote == MPIQ_NONE || local < remote ? local : remote;
    uint32_t high = low == local ? remote : local;
    if (self)
        low = high = MPIQ_NONE;
    uint64_t hash = MPIQ_HASH_START;
    hash = mpiq_hash(hash, self ? 1 : comm->context[0]);
    hash = mpiq_hash(hash, self ? 1 : comm->context[1]);
    hash = mpiq_hash(hash, (uint64_t)low << 32 | high);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&builder->communicators, hash, &cursor)) != MPIQ_NONE;) {
        const struct mpiq_job_communicator *known = &job->communicators[i];
        bool same = self ? known->flags & MPIQ_COMM_SELF
                         : known->context[0] == comm->context[0] && known->context[1] == comm->context[1] &&
                               known->group == low && known->remote == high;
        if (same) {
            *ret = i;
            return true;
        }
    }
    uint32_t index = job->communicator_count;
    if (!MPIQ_RESERVE(job->communicators, index, builder->communicator_capacity, 1) ||
        !MPIQ_RESERVE(builder->parents, index, builder->parent_capacity, 1) ||
        !mpiq_hash_table_add(&builder->communicators, hash, index))
        return false;
    job->communicators[index] = (struct mpiq_job_communicator){
        .context = {comm->context[0], comm->context[1]},
        .group = low,
        .remote = high,
        .user = index,
        .made = MPIQ_NONE,
    };
    builder->parents[index] = MPIQ_NONE;
    job->communicator_count++;
    *ret = index;
    return true;
}
