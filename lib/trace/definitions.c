/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/job_state.h"

const char *const mpiq_trace_attribute_names[MPIQ_TRACE_ATTRIBUTES] = {
    [MPIQ_TRACE_PEER] = "mpiq peer",         [MPIQ_TRACE_TAG] = "mpiq tag",
    [MPIQ_TRACE_COMM] = "mpiq communicator", [MPIQ_TRACE_ROOT] = "mpiq root",
    [MPIQ_TRACE_NUMBER] = "mpiq number",     [MPIQ_TRACE_OPEN] = "mpiq open",
};

/* A new zeroed element of one of the arrays, found by id later; NULL: it is there already, or no memory. */
#define ADD(definitions, name, id_)                                                                 \
    ({                                                                                              \
        __typeof__(definitions) d_ = (definitions);                                                 \
        __typeof__(*d_->name##s) *added_ = NULL;                                                    \
        if (find(&d_->name##_index, d_->name##s, sizeof *d_->name##s, (id_)) != MPIQ_TRACE_NONE) {  \
            d_->broken = true;                                                                      \
        } else if (!mpiq_array_reserve(&d_->name##s, &d_->name##_room, d_->name##_count + 1) ||     \
                   !mpiq_hash_table_add(&d_->name##_index.table, mpiq_hash(MPIQ_HASH_START, (id_)), \
                                        d_->name##_count)) {                                        \
            d_->failed = true;                                                                      \
        } else {                                                                                    \
            added_ = &d_->name##s[d_->name##_count++];                                              \
            memset(added_, 0, sizeof *added_);                                                      \
            added_->id = (id_);                                                                     \
        }                                                                                           \
        added_;                                                                                     \
    })

/* Every element begins with its id. */
static uint32_t find(const struct mpiq_trace_index *index, const void *elements, size_t size, uint64_t id)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, id);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&index->table, hash, &cursor)) != MPIQ_TRACE_NONE;) {
        uint64_t other;
        memcpy(&other, (const char *)elements + i * size, sizeof other);
        if (other == id)
            return i;
    }
    return MPIQ_TRACE_NONE;
}

#define FIND(definitions, name, id) \
    find(&(definitions)->name##_index, (definitions)->name##s, sizeof *(definitions)->name##s, (id))

uint32_t mpiq_trace_find_region(const struct mpiq_trace_definitions *definitions, uint64_t id)
{
    return FIND(definitions, region, id);
}

uint32_t mpiq_trace_find_comm(const struct mpiq_trace_definitions *definitions, uint64_t id)
{
    return FIND(definitions, comm, id);
}

uint32_t mpiq_trace_find_window(const struct mpiq_trace_definitions *definitions, uint64_t id)
{
    return FIND(definitions, window, id);
}

uint32_t mpiq_trace_find_dimension(const struct mpiq_trace_definitions *definitions, uint64_t id)
{
    return FIND(definitions, dimension, id);
}

const char *mpiq_trace_string(const struct mpiq_trace_definitions *definitions, uint64_t id)
{
    uint32_t index = FIND(definitions, string, id);
    return index == MPIQ_TRACE_NONE ? "" : definitions->strings[index].text;
}

/* ---- callbacks ------------------------------------------------------------------------------------------
 */

static OTF2_CallbackCode done(const struct mpiq_trace_definitions *definitions)
{
    return definitions->failed ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct mpiq_trace_definitions *definitions = data;
    (void)realtime;
    definitions->resolution = resolution;
    definitions->offset = offset;
    definitions->length = length;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *text)
{
    struct mpiq_trace_definitions *definitions = data;
    struct mpiq_trace_string *string = ADD(definitions, string, (uint64_t)self);
    if (string) {
        string->text = strdup(text ? text : "");
        definitions->failed |= !string->text;
    }
    return done(definitions);
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role,
                                   OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file,
                                   uint32_t begin, uint32_t end)
{
    struct mpiq_trace_definitions *definitions = data;
    struct mpiq_trace_region *region = ADD(definitions, region, (uint64_t)self);
    (void)canonical, (void)description, (void)role, (void)flags, (void)end;
    if (region) {
        bool mpi = paradigm == OTF2_PARADIGM_MPI;
        region->name = mpiq_trace_string(definitions, name);
        region->file = mpi || file == OTF2_UNDEFINED_STRING ? NULL : mpiq_trace_string(definitions, file);
        region->line = mpi || begin > INT32_MAX ? 0 : (int32_t)begin;
        region->call = mpiq_trace_call_of(region->name, mpi, &region->collective);
        region->graph = region->call != MPIQ_TRACE_OUTSIDE && strstr(region->name, "raph_create");
    }
    return done(definitions);
}

static OTF2_CallbackCode on_node(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    struct mpiq_trace_definitions *definitions = data;
    struct mpiq_trace_node *node = ADD(definitions, node, (uint64_t)self);
    if (node) {
        node->name = mpiq_trace_string(definitions, name);
        node->host = strcmp(mpiq_trace_string(definitions, class_name), "node") == 0;
        node->parent = parent;
    }
    return done(definitions);
}

static OTF2_CallbackCode on_process(void *data, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    struct mpiq_trace_definitions *definitions = data;
    struct mpiq_trace_process *process = ADD(definitions, location_group, (uint64_t)self);
    (void)name, (void)type, (void)creator;
    if (process)
        process->node = parent;
    return done(definitions);
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t events, OTF2_LocationGroupRef process)
{
    struct mpiq_trace_definitions *definitions = data;
    if (type != OTF2_LOCATION_TYPE_CPU_THREAD)
        return OTF2_CALLBACK_SUCCESS;
    struct mpiq_trace_location *location = ADD(definitions, location, (uint64_t)self);
    if (location) {
        location->name = mpiq_trace_string(definitions, name);
        location->events = events;
        location->process = process;
        location->rank = MPIQ_TRACE_NONE;
    }
    return done(definitions);
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count,
                                  const uint64_t *members)
{
    struct mpiq_trace_definitions *definitions = data;
    (void)name, (void)flags;
    if (paradigm != OTF2_PARADIGM_MPI ||
        (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
         type != OTF2_GROUP_TYPE_COMM_SELF))
        return OTF2_CALLBACK_SUCCESS;
    struct mpiq_trace_group *group = ADD(definitions, group, (uint64_t)self);
    if (group) {
        group->self = type == OTF2_GROUP_TYPE_COMM_SELF;
        group->locations = type == OTF2_GROUP_TYPE_COMM_LOCATIONS;
        group->count = count;
        group->given = malloc((count + 1) * sizeof *group->given);
        definitions->failed |= !group->given;
        if (group->given && count > 0)
            memcpy(group->given, members, count * sizeof *group->given);
    }
    return done(definitions);
}

static struct mpiq_trace_comm *add_comm(struct mpiq_trace_definitions *definitions, uint64_t id,
                                        OTF2_StringRef name, OTF2_CommFlag flags)
{
    struct mpiq_trace_comm *comm = ADD(definitions, comm, id);
    if (!comm)
        return NULL;
    comm->name = mpiq_trace_string(definitions, name);
    comm->announced = flags & OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS;
    comm->group = comm->remote = MPIQ_TRACE_NONE;
    return comm;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct mpiq_trace_comm *comm = add_comm(data, self, name, flags);
    if (comm) {
        comm->group_id = group;
        comm->parent = parent;
    }
    return done(data);
}

static OTF2_CallbackCode on_inter_comm(void *data, OTF2_CommRef self, OTF2_StringRef name,
                                       OTF2_GroupRef group, OTF2_GroupRef remote, OTF2_CommRef parent,
                                       OTF2_CommFlag flags)
{
    struct mpiq_trace_comm *comm = add_comm(data, self, name, flags);
    if (comm) {
        comm->inter = true;
        comm->group_id = group;
        comm->remote_id = remote;
        comm->parent = parent;
    }
    return done(data);
}

static OTF2_CallbackCode on_window(void *data, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
    struct mpiq_trace_definitions *definitions = data;
    struct mpiq_trace_window *window = ADD(definitions, window, (uint64_t)self);
    (void)flags;
    if (window) {
        window->name = mpiq_trace_string(definitions, name);
        window->comm_id = comm;
    }
    return done(definitions);
}

static OTF2_CallbackCode on_dimension(void *data, OTF2_CartDimensionRef self, OTF2_StringRef name,
                                      uint32_t size, OTF2_CartPeriodicity periodicity)
{
    struct mpiq_trace_definitions *definitions = data;
    struct mpiq_trace_dimension *dimension = ADD(definitions, dimension, (uint64_t)self);
    (void)name;
    if (dimension) {
        dimension->size = size;
        dimension->periodic = periodicity == OTF2_CART_PERIODIC_TRUE;
    }
    return done(definitions);
}

static OTF2_CallbackCode on_topology(void *data, OTF2_CartTopologyRef self, OTF2_StringRef name,
                                     OTF2_CommRef comm, uint8_t dimensions,
                                     const OTF2_CartDimensionRef *sizes)
{
    struct mpiq_trace_definitions *definitions = data;
    uint32_t index = mpiq_trace_find_comm(definitions, comm);
    (void)self, (void)name;
    if (index == MPIQ_TRACE_NONE)
        return OTF2_CALLBACK_SUCCESS;
    struct mpiq_trace_comm *cart = &definitions->comms[index];
    cart->many_topologies |= cart->topology || dimensions > MPIQ_TRACE_DIMENSIONS;
    cart->topology = true;
    cart->dimension_count = cart->many_topologies ? 0 : dimensions;
    for (uint32_t i = 0; i < cart->dimension_count; i++)
        cart->dimension_ids[i] = sizes[i];
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *data, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct mpiq_trace_definitions *definitions = data;
    const char *text = mpiq_trace_string(definitions, name);
    (void)description, (void)type;
    for (int i = 0; i < MPIQ_TRACE_ATTRIBUTES; i++) {
        if (strcmp(text, mpiq_trace_attribute_names[i]) == 0)
            definitions->attributes[i] = self;
    }
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_GlobalDefReaderCallbacks *mpiq_trace_definition_callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    if (!callbacks)
        return NULL;
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_process);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, on_window);
    OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(callbacks, on_dimension);
    OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(callbacks, on_topology);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
    return callbacks;
}

/* ---- the end --------------------------------------------------------------------------------------------
 */

/* The group of all MPI processes' locations: its index is the world rank. */
static struct mpiq_error *find_ranks(struct mpiq_trace_definitions *definitions)
{
    const struct mpiq_trace_group *all = NULL;
    for (uint32_t i = 0; i < definitions->group_count; i++) {
        if (definitions->groups[i].locations)
            all = &definitions->groups[i];
    }
    if (!all || all->count == 0)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "it has no MPI ranks");
    if (all->count > MPIQ_JOB_MAX_PROCESSES)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "it names more ranks than a job can have");
    definitions->masters = malloc(all->count * sizeof *definitions->masters);
    if (!definitions->masters)
        return mpiq_error_no_memory();
    for (uint32_t rank = 0; rank < all->count; rank++) {
        uint32_t location = FIND(definitions, location, all->given[rank]);
        definitions->masters[rank] = location;
        if (location == MPIQ_TRACE_NONE)
            continue;
        if (definitions->locations[location].rank != MPIQ_TRACE_NONE)
            return mpiq_error_create(MPIQ_ERROR_CORRUPT, "one location stands for several ranks");
        definitions->locations[location].rank = rank;
    }
    definitions->rank_count = all->count;
    return NULL;
}

/* The other threads of a rank are those of its process. */
static struct mpiq_error *find_threads(struct mpiq_trace_definitions *definitions)
{
    uint32_t *ranks = malloc(((size_t)definitions->location_group_count + 1) * sizeof *ranks);
    if (!ranks)
        return mpiq_error_no_memory();
    for (uint32_t i = 0; i < definitions->location_group_count; i++)
        ranks[i] = MPIQ_TRACE_NONE;
    for (uint32_t rank = 0; rank < definitions->rank_count; rank++) {
        uint32_t master = definitions->masters[rank];
        uint32_t process = master == MPIQ_TRACE_NONE
                               ? MPIQ_TRACE_NONE
                               : FIND(definitions, location_group, definitions->locations[master].process);
        if (process != MPIQ_TRACE_NONE)
            ranks[process] = rank;
    }
    for (uint32_t i = 0; i < definitions->location_count; i++) {
        struct mpiq_trace_location *location = &definitions->locations[i];
        uint32_t process = FIND(definitions, location_group, location->process);
        if (location->rank == MPIQ_TRACE_NONE && process != MPIQ_TRACE_NONE)
            location->rank = ranks[process];
    }
    free(ranks);
    return NULL;
}

static bool check_groups(struct mpiq_trace_definitions *definitions)
{
    for (uint32_t i = 0; i < definitions->group_count; i++) {
        struct mpiq_trace_group *group = &definitions->groups[i];
        group->members = malloc(((size_t)group->count + 1) * sizeof *group->members);
        if (!group->members)
            return false;
        group->good = true;
        for (uint32_t j = 0; j < group->count; j++) {
            uint64_t rank = group->locations ? j : group->given[j];
            group->good = group->good && rank < definitions->rank_count;
            group->members[j] = (uint32_t)rank;
        }
        definitions->broken |= !group->good;
    }
    return true;
}

static bool is_whole_world(const struct mpiq_trace_definitions *definitions, uint32_t group)
{
    const struct mpiq_trace_group *all = &definitions->groups[group];
    bool whole = all->count == definitions->rank_count && !all->self;
    for (uint32_t i = 0; whole && i < all->count; i++)
        whole = all->members[i] == i;
    return whole;
}

static void check_comms(struct mpiq_trace_definitions *definitions)
{
    bool world = false, named = false;
    for (uint32_t i = 0; i < definitions->comm_count; i++)
        named = named || strcmp(definitions->comms[i].name, "MPI_COMM_WORLD") == 0;
    for (uint32_t i = 0; i < definitions->comm_count; i++) {
        struct mpiq_trace_comm *comm = &definitions->comms[i];
        uint32_t group = FIND(definitions, group, comm->group_id);
        uint32_t remote = comm->inter ? FIND(definitions, group, comm->remote_id) : MPIQ_TRACE_NONE;
        bool good = group != MPIQ_TRACE_NONE && definitions->groups[group].good &&
                    (!comm->inter || (remote != MPIQ_TRACE_NONE && definitions->groups[remote].good));
        if (!good)
            continue;
        comm->group = group;
        comm->remote = remote;
        comm->self = definitions->groups[group].self;
        bool first = !world && !comm->inter && FIND(definitions, comm, comm->parent) == MPIQ_TRACE_NONE;
        comm->world = first && is_whole_world(definitions, group) &&
                      (!named || strcmp(comm->name, "MPI_COMM_WORLD") == 0);
        world = world || comm->world;
        if (comm->world)
            comm->name = "MPI_COMM_WORLD"; /* of a program that ended early it is not written */
        else if (comm->self && !comm->name[0])
            comm->name = "MPI_COMM_SELF";
    }
    for (uint32_t i = 0; i < definitions->window_count; i++)
        definitions->windows[i].comm = FIND(definitions, comm, definitions->windows[i].comm_id);
}

struct mpiq_error *mpiq_trace_definitions_finish(struct mpiq_trace_definitions *definitions)
{
    if (definitions->failed)
        return mpiq_error_no_memory();
    struct mpiq_error *error = find_ranks(definitions);
    if (!error)
        error = find_threads(definitions);
    if (!error && !check_groups(definitions))
        error = mpiq_error_no_memory();
    if (error)
        return error;
    check_comms(definitions);
    if (definitions->resolution == 0)
        definitions->resolution = UINT64_C(1000000000);
    return NULL;
}

void mpiq_trace_definitions_deinit(struct mpiq_trace_definitions *definitions)
{
    for (uint32_t i = 0; i < definitions->string_count; i++)
        free(definitions->strings[i].text);
    for (uint32_t i = 0; i < definitions->group_count; i++) {
        free(definitions->groups[i].given);
        free(definitions->groups[i].members);
    }
    struct mpiq_trace_index *const indexes[] = {
        &definitions->string_index,         &definitions->region_index, &definitions->location_index,
        &definitions->location_group_index, &definitions->node_index,   &definitions->group_index,
        &definitions->comm_index,           &definitions->window_index, &definitions->dimension_index};
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        mpiq_hash_table_deinit(&indexes[i]->table);
    free(definitions->strings);
    free(definitions->regions);
    free(definitions->locations);
    free(definitions->location_groups);
    free(definitions->nodes);
    free(definitions->groups);
    free(definitions->comms);
    free(definitions->windows);
    free(definitions->dimensions);
    free(definitions->masters);
    *definitions = (struct mpiq_trace_definitions){0};
}

/* ---- questions ------------------------------------------------------------------------------------------
 */

static uint32_t local_in(const struct mpiq_trace_group *group, uint32_t rank)
{
    /* Most groups are the world or near it. */
    if (rank < group->count && group->members[rank] == rank)
        return rank;
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i] == rank)
            return i;
    }
    return MPIQ_TRACE_NONE;
}

bool mpiq_trace_is_member(const struct mpiq_trace_definitions *definitions, uint32_t index, uint32_t rank,
                          uint32_t *local, bool *remote)
{
    const struct mpiq_trace_comm *comm = &definitions->comms[index];
    *local = 0;
    *remote = false;
    if (comm->group == MPIQ_TRACE_NONE || comm->self)
        return comm->self;
    *local = local_in(&definitions->groups[comm->group], rank);
    if (*local == MPIQ_TRACE_NONE && comm->inter) {
        *remote = true;
        *local = local_in(&definitions->groups[comm->remote], rank);
    }
    return *local != MPIQ_TRACE_NONE;
}

uint32_t mpiq_trace_peer(const struct mpiq_trace_definitions *definitions, uint32_t index, uint32_t rank,
                         uint32_t local)
{
    const struct mpiq_trace_comm *comm = &definitions->comms[index];
    if (comm->group == MPIQ_TRACE_NONE)
        return MPIQ_TRACE_NONE;
    if (comm->self)
        return local == 0 ? rank : MPIQ_TRACE_NONE;
    uint32_t group = comm->group;
    if (comm->inter && local_in(&definitions->groups[group], rank) != MPIQ_TRACE_NONE)
        group = comm->remote;
    return local < definitions->groups[group].count ? definitions->groups[group].members[local]
                                                    : MPIQ_TRACE_NONE;
}

uint32_t mpiq_trace_comm_size(const struct mpiq_trace_definitions *definitions, uint32_t index)
{
    const struct mpiq_trace_comm *comm = &definitions->comms[index];
    if (comm->group == MPIQ_TRACE_NONE)
        return 0;
    if (comm->self)
        return 1;
    return definitions->groups[comm->group].count +
           (comm->inter ? definitions->groups[comm->remote].count : 0);
}

const char *mpiq_trace_host(const struct mpiq_trace_definitions *definitions, uint32_t rank)
{
    uint32_t master = definitions->masters[rank];
    if (master == MPIQ_TRACE_NONE)
        return NULL;
    uint32_t process = FIND(definitions, location_group, definitions->locations[master].process);
    if (process == MPIQ_TRACE_NONE)
        return NULL;
    uint64_t id = definitions->location_groups[process].node;
    for (int steps = 0; steps < 64; steps++) {
        uint32_t node = FIND(definitions, node, id);
        if (node == MPIQ_TRACE_NONE)
            return NULL;
        if (definitions->nodes[node].host)
            return definitions->nodes[node].name;
        id = definitions->nodes[node].parent;
    }
    return NULL;
}
