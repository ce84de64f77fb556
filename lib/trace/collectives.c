/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives of a replay: the parts of all members of one, by communicator and running number. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/rank_state.h"
#include "trace/replay.h"

/* Of one communicator, collectives of which not all called the same that are kept to be reported. */
enum { BAD_MOST = 64 };

/* Classes by the name, for traces whose regions are not named after MPI's functions. */
static const char *const operation_names[] = {
    [OTF2_COLLECTIVE_OP_BARRIER] = "MPI_Barrier",
    [OTF2_COLLECTIVE_OP_BCAST] = "MPI_Bcast",
    [OTF2_COLLECTIVE_OP_GATHER] = "MPI_Gather",
    [OTF2_COLLECTIVE_OP_GATHERV] = "MPI_Gatherv",
    [OTF2_COLLECTIVE_OP_SCATTER] = "MPI_Scatter",
    [OTF2_COLLECTIVE_OP_SCATTERV] = "MPI_Scatterv",
    [OTF2_COLLECTIVE_OP_ALLGATHER] = "MPI_Allgather",
    [OTF2_COLLECTIVE_OP_ALLGATHERV] = "MPI_Allgatherv",
    [OTF2_COLLECTIVE_OP_ALLTOALL] = "MPI_Alltoall",
    [OTF2_COLLECTIVE_OP_ALLTOALLV] = "MPI_Alltoallv",
    [OTF2_COLLECTIVE_OP_ALLTOALLW] = "MPI_Alltoallw",
    [OTF2_COLLECTIVE_OP_ALLREDUCE] = "MPI_Allreduce",
    [OTF2_COLLECTIVE_OP_REDUCE] = "MPI_Reduce",
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = "MPI_Reduce_scatter",
    [OTF2_COLLECTIVE_OP_SCAN] = "MPI_Scan",
    [OTF2_COLLECTIVE_OP_EXSCAN] = "MPI_Exscan",
    [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = "MPI_Reduce_scatter_block",
};

static int16_t class_of(const struct mpiq_trace_collective *collective)
{
    if (collective->posted->collective >= 0)
        return collective->posted->collective;
    if (collective->operation < sizeof operation_names / sizeof *operation_names)
        return (int16_t)mpiq_collective_class(operation_names[collective->operation]);
    return -1;
}

static void free_instance(struct mpiq_trace_replay *replay, struct mpiq_trace_instance *instance, bool close)
{
    for (uint32_t i = 0; i < instance->count; i++) {
        struct mpiq_trace_part *part = &instance->parts[i];
        if (close)
            mpiq_trace_call_close(replay, part->completed);
        mpiq_trace_call_unref(part->posted);
        mpiq_trace_call_unref(part->completed);
    }
    free(instance->parts);
    free(instance);
}

static struct mpiq_trace_instance *instance_of(struct mpiq_trace_replay *replay, uint32_t list, uint32_t comm,
                                               uint64_t number)
{
    struct mpiq_trace_instance **at = &replay->instances[list];
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    struct mpiq_trace_instance *known = *at;
    if (known)
        return known;
    struct mpiq_trace_instance *instance = calloc(1, sizeof *instance);
    if (!instance) {
        replay->failed = true;
        return NULL;
    }
    instance->comm = comm;
    instance->list = list;
    instance->number = number;
    *at = instance;
    return instance;
}

/* All members have ended it. */
static void resolve(struct mpiq_trace_replay *replay, struct mpiq_trace_instance *instance)
{
    struct mpiq_trace_instance **at = &replay->instances[instance->list];
    while (*at != instance)
        at = &(*at)->next;
    *at = instance->next;
    instance->next = NULL;
    if (!instance->mixed && replay->listener && replay->listener->collective)
        replay->listener->collective(replay->data, instance);
    uint32_t bad = 0;
    for (at = &replay->bad[instance->comm]; *at; at = &(*at)->next)
        bad++;
    /* Of fences and neighbours it is not asked that all called the same. */
    bool asked = instance->list < replay->definitions->comm_count;
    if (!instance->mixed || !asked || bad >= BAD_MOST) {
        free_instance(replay, instance, true);
        return;
    }
    for (uint32_t i = 0; i < instance->count; i++)
        mpiq_trace_call_close(replay, instance->parts[i].completed);
    *at = instance;
}

static void count(struct mpiq_trace_replay *replay, struct mpiq_trace_member *member, int16_t class)
{
    for (uint32_t i = 0; i < member->count_count; i++) {
        if (member->counts[i].collective == class) {
            member->counts[i].count++;
            return;
        }
    }
    if (!mpiq_array_reserve(&member->counts, &member->count_room, (size_t)member->count_count + 1)) {
        replay->failed = true;
        return;
    }
    member->counts[member->count_count++] = (struct mpiq_trace_class_count){1, class};
}

static bool has_root(int class)
{
    const char *name = mpiq_collective_name(class);
    static const char *const names[] = {"Bcast",   "bcast",   "Reduce",  "reduce",  "Gather",   "gather",
                                        "Gatherv", "gatherv", "Scatter", "scatter", "Scatterv", "scatterv"};
    const char *rest = name && strncmp(name, "MPI_", 4) == 0 ? name + 4 : NULL;
    if (!rest)
        return false;
    if (rest[0] == 'I')
        rest++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(rest, names[i]) == 0)
            return true;
    }
    return false;
}

/* What everyone has to agree on: the root, but not of an intercommunicator, whose groups name it differently.
 */
static void compare(struct mpiq_trace_replay *replay, struct mpiq_trace_instance *instance,
                    const struct mpiq_trace_part *part)
{
    bool inter = replay->definitions->comms[instance->comm].inter;
    if (instance->count == 1) {
        instance->collective = part->collective;
        instance->root = part->root;
        return;
    }
    if (instance->collective != part->collective)
        instance->mixed = true;
    else if (!inter && has_root(part->collective) && instance->root != part->root)
        instance->mixed = true;
    /* The group that has the root does not name it: the other one does. */
    if (inter && part->root < OTF2_COLLECTIVE_ROOT_THIS_GROUP)
        instance->root = part->root;
}

/* The rank's part in an instance, which it may be the last to end. */
static void join(struct mpiq_trace_replay *replay, uint32_t rank, struct mpiq_trace_collective *collective,
                 const struct mpiq_trace_member *member, uint32_t list, uint64_t number)
{
    struct mpiq_trace_instance *instance = instance_of(replay, list, collective->comm, number);
    if (!instance)
        return;
    if (!mpiq_array_reserve(&instance->parts, &instance->room, (size_t)instance->count + 1)) {
        replay->failed = true;
        return;
    }
    struct mpiq_trace_part *part = &instance->parts[instance->count++];
    *part = (struct mpiq_trace_part){.posted = mpiq_trace_call_ref(collective->posted),
                                     .completed = mpiq_trace_call_ref(collective->completed),
                                     .rank = rank,
                                     .local = member->local,
                                     .remote = member->remote,
                                     .root = collective->root,
                                     .collective = class_of(collective)};
    part->completed->open++;
    compare(replay, instance, part);
    if (instance->count == mpiq_trace_comm_size(replay->definitions, collective->comm))
        resolve(replay, instance);
}

static void add_part(struct mpiq_trace_replay *replay, uint32_t rank,
                     struct mpiq_trace_collective *collective)
{
    struct mpiq_trace_member *member = mpiq_trace_member_of(replay, rank, collective->comm);
    if (!member) {
        replay->undefined++;
        return;
    }
    int16_t class = class_of(collective);
    const struct mpiq_trace_mpi_call *posted = collective->posted;
    if (posted->call == MPIQ_TRACE_INIT || posted->call == MPIQ_TRACE_FINALIZE ||
        (class >= 0 && !mpiq_collective_ordered(class)))
        return;
    uint64_t number = ++member->number;
    count(replay, member, class);
    member->ring[(number - 1) % MPIQ_TRACE_RING] = (struct mpiq_trace_ring_call){.number = number,
                                                                                 .enter = posted->enter,
                                                                                 .path = posted->path,
                                                                                 .root = collective->root,
                                                                                 .collective = class};
    join(replay, rank, collective, member, collective->comm, number);
}

/* A fence: those of a window are numbered by themselves.  That all called the same is not asked. */
static void add_fence(struct mpiq_trace_replay *replay, uint32_t number,
                      struct mpiq_trace_collective *collective)
{
    struct mpiq_trace_rank *rank = &replay->ranks[number];
    const struct mpiq_trace_definitions *definitions = replay->definitions;
    collective->comm = definitions->windows[collective->window].comm;
    if (collective->comm == MPIQ_TRACE_NONE || collective->operation != OTF2_COLLECTIVE_OP_BARRIER)
        return;
    struct mpiq_trace_member *member = mpiq_trace_member_of(replay, number, collective->comm);
    if (!rank->fences)
        rank->fences = calloc((size_t)definitions->window_count + 1, sizeof *rank->fences);
    if (!member || !rank->fences) {
        replay->failed |= !rank->fences;
        return;
    }
    join(replay, number, collective, member, definitions->comm_count + collective->window,
         ++rank->fences[collective->window]);
}

uint32_t mpiq_trace_list_count(const struct mpiq_trace_definitions *definitions)
{
    return definitions->comm_count + definitions->window_count + 1;
}

void mpiq_trace_on_neighbors_end(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call)
{
    static const char prefix[] = "MPI_Neighbor_";
    const struct mpiq_trace_definitions *definitions = replay->definitions;
    if (call->collective < 0 || definitions->cart == MPIQ_TRACE_NONE || replay->graphs || !replay->listener ||
        strncmp(mpiq_collective_name(call->collective), prefix, strlen(prefix)) != 0)
        return;
    struct mpiq_trace_member *member = mpiq_trace_member_of(replay, call->rank, definitions->cart);
    if (!member)
        return;
    struct mpiq_trace_collective collective = {.posted = call,
                                               .completed = call,
                                               .comm = definitions->cart,
                                               .window = MPIQ_TRACE_NONE,
                                               .root = OTF2_COLLECTIVE_ROOT_NONE,
                                               .collective = call->collective};
    join(replay, call->rank, &collective, member, definitions->comm_count + definitions->window_count,
         ++replay->ranks[call->rank].neighbors);
}

static void add_ended(struct mpiq_trace_replay *replay, uint32_t rank,
                      struct mpiq_trace_collective *collective)
{
    if (collective->status != MPIQ_TRACE_DONE)
        return;
    if (collective->window != MPIQ_TRACE_NONE)
        add_fence(replay, rank, collective);
    else if (collective->comm != MPIQ_TRACE_NONE)
        add_part(replay, rank, collective);
}

/* ---- one rank's, in the order of starting ---------------------------------------------------------------
 */

static void free_collective(struct mpiq_trace_collective *collective)
{
    mpiq_trace_call_unref(collective->posted);
    mpiq_trace_call_unref(collective->completed);
    free(collective);
}

static void release(struct mpiq_trace_replay *replay, uint32_t number)
{
    struct mpiq_trace_rank *rank = &replay->ranks[number];
    while (rank->collectives && rank->collectives->status != MPIQ_TRACE_PENDING) {
        struct mpiq_trace_collective *collective = rank->collectives;
        rank->collectives = collective->next;
        add_ended(replay, number, collective);
        if (collective->completed)
            mpiq_trace_call_close(replay, collective->completed);
        free_collective(collective);
    }
}

void mpiq_trace_on_collective_begin(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                    const struct mpiq_trace_event *event)
{
    struct mpiq_trace_rank *rank = &replay->ranks[call->rank];
    struct mpiq_trace_thread *thread = &replay->threads[call->location];
    struct mpiq_trace_collective *collective = calloc(1, sizeof *collective);
    if (!collective) {
        replay->failed = true;
        return;
    }
    collective->posted = mpiq_trace_call_ref(call);
    collective->request = event->kind == MPIQ_TRACE_MPI_NBC_REQUEST ? event->request : 0;
    collective->comm = collective->window = MPIQ_TRACE_NONE;
    collective->collective = -1;
    collective->extra = event->extra;
    collective->operation = UINT8_MAX;
    if (rank->collectives)
        rank->last_collective->next = collective;
    else
        rank->collectives = collective;
    rank->last_collective = collective;
    if (event->kind == MPIQ_TRACE_MPI_NBC_REQUEST)
        return;
    /* One that never ended, and another one begins: it failed. */
    struct mpiq_trace_collective *before = thread->collective;
    thread->collective = collective;
    if (before) {
        before->status = MPIQ_TRACE_CANCELLED;
        release(replay, call->rank);
    }
}

void mpiq_trace_on_collective_end(struct mpiq_trace_replay *replay, struct mpiq_trace_mpi_call *call,
                                  const struct mpiq_trace_event *event)
{
    struct mpiq_trace_rank *rank = &replay->ranks[call->rank];
    struct mpiq_trace_thread *thread = &replay->threads[call->location];
    struct mpiq_trace_collective *collective;
    if (event->kind == MPIQ_TRACE_MPI_NBC_COMPLETE) {
        collective = rank->collectives;
        while (collective &&
               (collective->status != MPIQ_TRACE_PENDING || collective->request != event->request))
            collective = collective->next;
    } else {
        collective = thread->collective;
        thread->collective = NULL;
    }
    call->completed = true;
    if (!collective) {
        replay->unnested++;
        return;
    }
    bool window = event->kind == MPIQ_TRACE_RMA_COLLECTIVE_END;
    uint32_t subject = event->subject;
    replay->undefined += subject == MPIQ_TRACE_NONE;
    collective->comm = window ? MPIQ_TRACE_NONE : subject;
    collective->window = window ? subject : MPIQ_TRACE_NONE;
    collective->operation = event->operation;
    collective->root = event->peer;
    collective->bytes = event->bytes;
    collective->time = event->time;
    collective->status = MPIQ_TRACE_DONE;
    collective->completed = mpiq_trace_call_ref(call);
    call->open++;
    release(replay, call->rank);
}

void mpiq_trace_on_collective_cancelled(struct mpiq_trace_replay *replay, uint32_t number, uint64_t request)
{
    struct mpiq_trace_collective *collective = replay->ranks[number].collectives;
    while (collective && (collective->status != MPIQ_TRACE_PENDING || collective->request != request ||
                          collective->request == 0))
        collective = collective->next;
    if (!collective)
        return;
    collective->status = MPIQ_TRACE_CANCELLED;
    release(replay, number);
}

/* Those that wait behind one that never ended: its communicator is not known, and so the numbers of what came
   after it are not certain on any. */
void mpiq_trace_release_collectives(struct mpiq_trace_replay *replay)
{
    for (uint32_t i = 0; i < replay->definitions->rank_count; i++) {
        struct mpiq_trace_collective **next = &replay->ranks[i].collectives;
        while (*next) {
            struct mpiq_trace_collective *collective = *next;
            if (collective->status == MPIQ_TRACE_PENDING) {
                next = &collective->next;
                continue;
            }
            *next = collective->next;
            add_ended(replay, i, collective);
            if (collective->completed)
                mpiq_trace_call_close(replay, collective->completed);
            free_collective(collective);
        }
    }
}

static void free_instances(struct mpiq_trace_replay *replay, struct mpiq_trace_instance **lists,
                           uint32_t count)
{
    for (uint32_t i = 0; lists && i < count; i++) {
        while (lists[i]) {
            struct mpiq_trace_instance *instance = lists[i];
            lists[i] = instance->next;
            free_instance(replay, instance, false);
        }
    }
}

void mpiq_trace_collectives_deinit(struct mpiq_trace_replay *replay)
{
    const struct mpiq_trace_definitions *definitions = replay->definitions;
    free_instances(replay, replay->instances, mpiq_trace_list_count(definitions));
    free_instances(replay, replay->bad, definitions->comm_count);
    for (uint32_t i = 0; replay->ranks && i < replay->definitions->rank_count; i++) {
        while (replay->ranks[i].collectives) {
            struct mpiq_trace_collective *collective = replay->ranks[i].collectives;
            replay->ranks[i].collectives = collective->next;
            free_collective(collective);
        }
    }
}
