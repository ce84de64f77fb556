/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that not all members have entered: who is in, who is not, and what those do instead. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/waits.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"
#include "base/array.h"

/* One call of a collective, by those who are blocked in it. */
struct instance {
    int64_t number; /* 0 not known */
    int64_t fence;  /* on a window, MPIQ_FREED: MPI_Win_free */
    uint32_t window;
    uint32_t comm;  /* MPIQ_NONE: MPI_Init, MPI_Finalize */
    uint32_t world; /* of these */
    int collective;
    uint32_t first; /* last one added: index in entries, plus one */
    uint32_t count;
    uint32_t lowest; /* the first process in it */
    bool in_closed_set;
    bool stuck;
    bool same_wait; /* one of them was seen in it twice, or there was but one look */
    bool requests;  /* they wait for a request of it */
};

struct entry {
    uint32_t process;
    uint32_t thread;
    uint32_t next; /* plus one */
};

struct instances {
    struct mpiq_analysis *analysis;
    struct mpiq_hash_table table;
    struct instance *list;
    uint32_t count;
    uint32_t capacity;
    struct entry *entries;
    uint32_t entry_count;
    uint32_t entry_capacity;
};

static struct instance *instance_of(struct instances *instances, const struct instance *key)
{
    uint64_t hash = mpiq_hash(MPIQ_HASH_START, (uint64_t)key->comm << 32 | key->world);
    hash = mpiq_hash(mpiq_hash(hash, (uint64_t)key->number), key->number > 0 ? 0 : (uint64_t)key->collective);
    uint64_t cursor = hash;
    for (uint32_t i; (i = mpiq_hash_table_next(&instances->table, hash, &cursor)) < instances->count;) {
        struct instance *known = &instances->list[i];
        if (known->comm == key->comm && known->world == key->world && known->number == key->number &&
            known->window == key->window && known->fence == key->fence &&
            (key->number > 0 || known->collective == key->collective))
            return known;
    }
    if (!mpiq_array_reserve(&instances->list, &instances->capacity, instances->count + 1) ||
        !mpiq_hash_table_add(&instances->table, hash, instances->count)) {
        instances->analysis->failed = true;
        return NULL;
    }
    instances->list[instances->count] = *key;
    return &instances->list[instances->count++];
}

/* Whether the recorder did not count a rank's collectives on a communicator right: one failed, say. */
static bool is_uncounted(const struct mpiq_job_state *job, uint32_t process, uint32_t comm)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member = comm == MPIQ_NONE || !rank || rank->source != MPIQ_SOURCE_RECORDER
                                               ? NULL
                                               : mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm);
    return member && member->ordered < 0;
}

static void add(struct instances *instances, const struct instance *key, uint32_t process, uint32_t thread)
{
    if (is_uncounted(instances->analysis->job, process, key->comm))
        return;
    struct instance *instance = instance_of(instances, key);
    if (!instance ||
        !mpiq_array_reserve(&instances->entries, &instances->entry_capacity, instances->entry_count + 1)) {
        instances->analysis->failed = true;
        return;
    }
    if (instance->first && instances->entries[instance->first - 1].process == process)
        return;
    instances->entries[instances->entry_count] =
        (struct entry){.process = process, .thread = thread, .next = instance->first};
    instance->first = ++instances->entry_count;
    instance->lowest = instance->count++ == 0 ? process : instance->lowest;
    instance->in_closed_set =
        instance->in_closed_set || instances->analysis->explanation->closed_set_of[thread] != MPIQ_NONE;
    instance->stuck = instance->stuck || mpiq_is_stuck(instances->analysis->graph, thread);
    const struct mpiq_job_state *job = instances->analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    instance->same_wait =
        instance->same_wait || job->threads[thread].same_wait == MPIQ_YES || !rank || rank->looks != 3;
}

static void collect_requests(struct instances *instances, uint32_t process, uint32_t thread)
{
    const struct mpiq_job_state *job = instances->analysis->job;
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, &job->threads[thread]);
    for (uint32_t i = 0; wait && i < wait->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[wait->first_operation + i];
        uint32_t comm = MPIQ_NONE;
        const struct mpiq_job_call *call =
            mpiq_outstanding_call(job, mpiq_job_rank_of(job, process), op, &comm);
        if (!call || call->done)
            continue;
        const struct mpiq_call_shape *shape = &job->shapes[call->shape];
        struct instance key = {.comm = comm,
                               .window = MPIQ_NONE,
                               .number = shape->number,
                               .collective = shape->collective,
                               .requests = true};
        add(instances, &key, process, thread);
    }
}

static void collect_thread(struct instances *instances, uint32_t process, uint32_t thread)
{
    const struct mpiq_job_state *job = instances->analysis->job;
    const struct mpiq_job_thread *row = &job->threads[thread];
    struct mpiq_thread_collective in;
    mpiq_thread_collective(job, mpiq_job_rank_of(job, process), row, &in);
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, row);
    enum mpiq_blocking blocking = row->blocking;
    bool fence = wait && (wait->kind == MPIQ_WAIT_FINALIZE || wait->kind == MPIQ_WAIT_INIT);
    if (blocking == MPIQ_BLOCKING_FINALIZE || blocking == MPIQ_BLOCKING_INIT || fence) {
        bool finalize = fence ? wait->kind == MPIQ_WAIT_FINALIZE : blocking == MPIQ_BLOCKING_FINALIZE;
        struct instance key = {
            .comm = MPIQ_NONE,
            .window = MPIQ_NONE,
            .world = mpiq_job_world_rank(job, process).world,
            .collective = mpiq_collective_class(finalize ? "MPI_Finalize" : "MPI_Init"),
        };
        add(instances, &key, process, thread);
    } else if (in.collective >= 0 && in.comm != MPIQ_NONE) {
        struct instance key = {
            .comm = in.comm,
            .window = mpiq_counted_window(job, process, wait),
            .number = in.number,
            .collective = in.collective,
        };
        if (key.window != MPIQ_NONE)
            key.fence = mpiq_window_number(mpiq_job_window_view_of(job, process, key.window), wait);
        add(instances, &key, process, thread);
    } else {
        collect_requests(instances, process, thread);
    }
}

static void collect(struct instances *instances)
{
    const struct mpiq_analysis *analysis = instances->analysis;
    const struct mpiq_job_state *job = analysis->job;
    for (uint32_t process = 0; process < job->process_count && !analysis->failed; process++) {
        const struct mpiq_rank_diagnosis *diagnosed = &analysis->diagnosis->ranks[process];
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        /* Who came late into the call is in it, too, as long as somebody was seen in it twice. */
        bool lives =
            diagnosed->activity == MPIQ_ACTIVITY_BLOCKED || diagnosed->activity == MPIQ_ACTIVITY_POLLING;
        for (uint32_t i = 0; rank && lives && i < rank->thread_count; i++) {
            uint32_t thread = rank->first_thread + i;
            if (mpiq_is_waiting(&job->threads[thread]))
                collect_thread(instances, process, thread);
        }
    }
}

static uint32_t class_count(const struct mpiq_job_state *job, const struct mpiq_job_member *member,
                            int collective)
{
    for (uint32_t i = 0; i < member->count_count; i++) {
        if (job->counts[member->first_count + i].collective == collective)
            return job->counts[member->first_count + i].count;
    }
    return 0;
}

/* What decides whether a member of the communicator has come. */
struct roll_call {
    const struct instance *instance;
    const bool *in;     /* of each process: blocked in it */
    const bool *wanted; /* of each process: somebody in it waits for it; NULL: not asked */
    int64_t starts;     /* of a persistent one, by those who are in; 0: not kept */
    uint32_t most;      /* calls of that class by those who are in; 0: not kept */
};

static bool is_missing(const struct mpiq_analysis *analysis, const struct roll_call *roll, uint32_t process)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = process == MPIQ_NONE ? NULL : mpiq_job_rank_of(job, process);
    if (!rank || roll->in[process])
        return false;
    const struct mpiq_rank_diagnosis *diagnosed = &analysis->diagnosis->ranks[process];
    const struct mpiq_job_member *member =
        mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), roll->instance->comm);
    if (!member) /* it has freed the communicator, unless none of its could be read */
        return diagnosed->activity == MPIQ_ACTIVITY_GONE || rank->member_count > 0;
    if (roll->starts > 0) {
        const struct mpiq_job_persistent *request = mpiq_persistent_of(job, member, roll->instance->number);
        return request && request->starts < roll->starts && (!roll->wanted || roll->wanted[process]);
    }
    if (is_uncounted(job, process, roll->instance->comm))
        return false;
    bool neighbours = roll->wanted && mpiq_collective_rule(roll->instance->collective) == MPIQ_RULE_SOURCES;
    if (roll->instance->number > 0 && member->ordered >= 0)
        return member->ordered < roll->instance->number && (!neighbours || roll->wanted[process]);
    const struct mpiq_job_window_view *view =
        roll->instance->window == MPIQ_NONE ? NULL
                                            : mpiq_job_window_view_of(job, process, roll->instance->window);
    if (view && view->fences >= 0)
        return mpiq_is_behind(view, roll->instance->fence);
    if (roll->wanted && mpiq_collective_is_tagged(roll->instance->collective))
        return roll->wanted[process]; /* others may be no members of the group */
    if (roll->most > 0)
        return class_count(job, member, roll->instance->collective) < roll->most;
    /* Where nobody leaves before all have come, it is not only those whose messages are waited for. */
    bool holds_all = roll->instance->stuck && mpiq_collective_needs_all(roll->instance->collective, -1);
    const char *call = mpiq_collective_name(roll->instance->collective);
    bool maybe_in =
        diagnosed->comm == MPIQ_NONE && diagnosed->call && call && strcmp(diagnosed->call, call) == 0;
    /* The leaders of an intercommunicator's two groups wait for each other, and have not come to their
     * members. */
    if (maybe_in && strcmp(call, "MPI_Intercomm_create") == 0)
        return false;
    return roll->wanted && (!holds_all || maybe_in) ? roll->wanted[process] : true;
}

/* Marks the processes that a node waits for by itself, or by what its members need in a neighbourhood;
   whether there are any.  in: those that are not marked. */
static bool mark_wanted(const struct mpiq_wait_graph *graph, const struct mpiq_node *node, const bool *in,
                        bool *wanted, bool mark)
{
    bool any = false;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_node *child = &graph->nodes[graph->edges[node->first_edge + i].child];
        if (child->kind == MPIQ_KIND_SOURCES || child->kind == MPIQ_KIND_BACKGROUND)
            any = mark_wanted(graph, child, in, wanted, mark) || any;
        if ((child->kind == MPIQ_KIND_RANK || child->kind == MPIQ_KIND_INTERNAL) && !in[child->subject]) {
            wanted[child->subject] = mark;
            any = true;
        }
    }
    return any;
}

/* The processes that those in the call wait for; false: for nobody that is seen.  mark false: for none any
   more. */
static bool wanted_by(const struct mpiq_analysis *analysis, const struct instances *instances,
                      const struct instance *instance, const bool *in, bool *wanted, bool mark)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    bool any = false;
    for (uint32_t at = instance->first; at; at = instances->entries[at - 1].next) {
        uint32_t node = graph->thread_nodes[instances->entries[at - 1].thread];
        if (node != MPIQ_NONE)
            any = mark_wanted(graph, &graph->nodes[node], in, wanted, mark) || any;
    }
    return any;
}

static void find_missing(struct mpiq_analysis *analysis, const struct roll_call *roll,
                         struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct instance *instance = roll->instance;
    if (instance->comm == MPIQ_NONE) {
        const struct mpiq_world *world = &job->worlds[instance->world];
        bool finalize = strcmp(finding->collective, "MPI_Finalize") == 0;
        for (uint32_t i = 0; i < world->size; i++) {
            const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, world->first + i);
            if (rank && !roll->in[world->first + i] &&
                (finalize ? rank->phase < MPIQ_PHASE_FINALIZING : rank->phase <= MPIQ_PHASE_LOADED))
                mpiq_analysis_add(analysis, &finding->missing, world->first + i);
        }
        return;
    }
    const struct mpiq_job_communicator *comm = &job->communicators[instance->comm];
    const uint32_t groups[] = {comm->group, comm->remote};
    for (int side = 0; side < 2; side++) {
        const struct mpiq_job_group *group = groups[side] == MPIQ_NONE ? NULL : &job->groups[groups[side]];
        for (uint32_t i = 0; group && group->members && i < group->count; i++) {
            if (is_missing(analysis, roll, group->members[i]))
                mpiq_analysis_add(analysis, &finding->missing, group->members[i]);
        }
    }
}

/* Where the first of those who are missing created the request that it did not start. */
static void find_made(const struct mpiq_analysis *analysis, const struct roll_call *roll,
                      struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    if (roll->starts == 0 || finding->missing.size == 0)
        return;
    const struct mpiq_rank_range *first = &finding->missing.ranges[0];
    const struct mpiq_job_rank *rank =
        mpiq_job_rank_of(job, mpiq_job_process(job, first->world, first->first));
    const struct mpiq_job_member *member =
        rank ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), finding->comm) : NULL;
    const struct mpiq_job_persistent *request =
        member ? mpiq_persistent_of(job, member, roll->instance->number) : NULL;
    finding->made = request ? request->made : MPIQ_NONE;
    finding->restarted = request && request->starts > 0;
}

static bool is_in_collective(const struct mpiq_analysis *analysis, uint32_t process)
{
    return analysis->diagnosis->ranks[process].collective;
}

/* Whether a process may still come: it acts, or may act once it is woken or continued. */
static bool may_come(const struct mpiq_analysis *analysis, uint32_t process)
{
    return analysis->graph->nodes[mpiq_rank_node(process)].may;
}

/* What a collective has to be like. */
enum any_of { ANY_COLLECTIVE, WITH_ROOT, WITH_DATA };

static bool is_in_call(const struct mpiq_analysis *analysis, uint32_t process, enum any_of which)
{
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    if (rank->blocking != MPIQ_BLOCKING_COLLECTIVE)
        return false;
    int collective = mpiq_collective_class(rank->call);
    return which == WITH_ROOT   ? mpiq_collective_has_root(collective)
           : which == WITH_DATA ? mpiq_collective_moves_data(collective)
                                : true;
}

/* Whether all missing members are in another collective of that kind. */
static bool are_in_calls(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding,
                         enum any_of which)
{
    const struct mpiq_rank_set *missing = &finding->missing;
    for (uint32_t i = 0; i < missing->count; i++) {
        for (uint32_t rank = missing->ranges[i].first; rank <= missing->ranges[i].last; rank++) {
            uint32_t process = mpiq_job_process(analysis->job, missing->ranges[i].world, rank);
            if (!is_in_call(analysis, process, which))
                return false;
        }
    }
    return true;
}

/* A rank that waits for messages inside a collective call that it has started on another communicator: from
   ranks in the finding's call, which have not started theirs.  Adds those to the suspects in its place. */
static bool suspect_partners(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process)
{
    uint32_t thread = analysis->diagnosis->ranks[process].thread;
    if (!finding->proven || thread == MPIQ_NONE || is_in_collective(analysis, process))
        return false;
    const struct mpiq_waits_for *waits = mpiq_thread_waits(analysis, thread);
    for (uint32_t i = 0; waits && i < waits->part_count; i++) {
        struct mpiq_world_rank peer = mpiq_job_world_rank(analysis->job, waits->parts[i].peer);
        if (!waits->parts[i].internal || waits->parts[i].comm == finding->comm ||
            waits->parts[i].peer == MPIQ_NONE ||
            !mpiq_rank_set_contains(&finding->ranks, peer.world, peer.rank))
            return false;
    }
    for (uint32_t i = 0; waits && i < waits->part_count; i++)
        mpiq_analysis_add(analysis, &finding->suspects, waits->parts[i].peer);
    return waits && waits->part_count > 0 && waits->more == 0;
}

/* Suspected are fewer than are in; of as many those that took another way than a collective, or that never
   started what the others have started.  Where it is
   proven that the call will never be complete, not those who may still come; where it is not, not those who
   wait for somebody at a window. */
static void suspect(struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    const struct mpiq_rank_set *missing = &finding->missing;
    for (uint32_t i = 0; i < missing->count; i++) {
        for (uint32_t rank = missing->ranges[i].first; rank <= missing->ranges[i].last; rank++) {
            uint32_t process = mpiq_job_process(analysis->job, missing->ranges[i].world, rank);
            if (suspect_partners(analysis, finding, process))
                continue;
            if (finding->proven ? !may_come(analysis, process)
                                : !mpiq_call_waits_in_window(analysis->diagnosis->ranks[process].call))
                mpiq_analysis_add(analysis, &finding->suspects, process);
        }
    }
    bool apart =
        finding->suspects.size == finding->ranks.size && finding->suspects.size > 0 &&
        (finding->requests ||
         !is_in_collective(analysis, mpiq_job_process(analysis->job, finding->suspects.ranges[0].world,
                                                      finding->suspects.ranges[0].first)));
    if (finding->suspects.size >= finding->ranks.size && !apart)
        mpiq_rank_set_deinit(&finding->suspects);
}

/* Whether those who are missing made their call before that of the others, in the same function. */
static bool are_before(const struct mpiq_finding *finding)
{
    const struct mpiq_finding_site *in = &finding->sites[0];
    for (size_t i = 1; i < finding->site_count; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        if (mpiq_rank_set_overlaps(&site->ranks, &finding->missing) &&
            !(site->line > 0 && site->line < in->line && mpiq_same_string(site->file, in->file) &&
              mpiq_same_string(site->function, in->function)))
            return false;
    }
    return finding->site_count > 1;
}

/* If calls are not counted and all missing members are in another collective, they may already have left
   this one.  Some ranks leave a rooted one before others, and different roots end the same way: then it
   cannot be decided who went wrong.  Any other one with arguments they may have left if those do not fit, by
   an error perhaps.  Where theirs has data and stands before it, they may be one round of a loop behind,
   which the others have left too early. */
static void note_order(struct mpiq_analysis *analysis, struct mpiq_finding *finding, int collective)
{
    if (mpiq_find_passed(analysis, finding))
        return;
    bool rooted = mpiq_collective_has_root(collective);
    bool unknown = are_in_calls(analysis, finding, rooted ? ANY_COLLECTIVE : WITH_ROOT);
    finding->roots_may_differ = unknown && rooted;
    bool behind = !unknown && are_in_calls(analysis, finding, WITH_DATA) && are_before(finding);
    finding->may_have_left = finding->roots_may_differ || behind;
    unknown = unknown || behind;
    finding->elsewhere =
        !unknown && mpiq_collective_moves_data(collective) && are_in_calls(analysis, finding, ANY_COLLECTIVE);
    if (!unknown)
        suspect(analysis, finding);
}

/* Whether all who are in it are known to have given it different tags. */
static bool have_tag_mismatch(const struct instances *instances, const struct instance *instance)
{
    const struct mpiq_analysis *analysis = instances->analysis;
    uint32_t named = 0;
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        if (finding->kind != MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH || strcmp(finding->field, "tag") != 0)
            continue;
        for (uint32_t at = instance->first; at; at = instances->entries[at - 1].next) {
            struct mpiq_world_rank name =
                mpiq_job_world_rank(analysis->job, instances->entries[at - 1].process);
            named += mpiq_rank_set_contains(&finding->ranks, name.world, name.rank);
        }
    }
    return named == instance->count;
}

/* Whether what its members gave the call, or made of that number, does not fit together. */
static bool find_mismatch(const struct instances *instances, const struct instance *instance)
{
    struct mpiq_analysis *analysis = instances->analysis;
    if (instance->comm == MPIQ_NONE)
        return false;
    if (mpiq_collective_has_tag(instance->collective) && have_tag_mismatch(instances, instance))
        return true;
    if (instance->number > 0)
        return mpiq_find_mismatches(analysis, instance->comm, instance->number, instance->stuck);
    uint32_t *threads _cleanup_free_ = calloc((size_t)instance->count + 1, sizeof *threads);
    if (!threads) {
        analysis->failed = true;
        return false;
    }
    uint32_t place = instance->count;
    for (uint32_t at = instance->first; at; at = instances->entries[at - 1].next)
        threads[--place] = instances->entries[at - 1].thread;
    return mpiq_find_given_mismatch(analysis, instance->comm, instance->collective, threads, instance->count,
                                    instance->stuck);
}

static void find_instance(struct instances *instances, const struct instance *instance, bool *in,
                          bool *wanted)
{
    struct mpiq_analysis *analysis = instances->analysis;
    const struct mpiq_job_state *job = analysis->job;
    if (find_mismatch(instances, instance))
        return;
    struct mpiq_finding *finding =
        mpiq_diagnosis_add_finding(analysis->diagnosis, MPIQ_FINDING_COLLECTIVE_INCOMPLETE);
    if (!finding) {
        analysis->failed = true;
        return;
    }
    finding->collective = mpiq_collective_name(instance->collective);
    finding->comm = instance->comm;
    finding->number = instance->number;
    finding->window = instance->window;
    finding->proven = instance->stuck;
    /* Those in it wait for a circle that they are no part of. */
    finding->outside =
        instance->stuck && !instance->in_closed_set && analysis->explanation->closed_set_count > 0;
    finding->requests = instance->requests;
    struct roll_call roll = {.instance = instance, .in = in};
    for (uint32_t at = instance->first; at; at = instances->entries[at - 1].next) {
        uint32_t process = instances->entries[at - 1].process;
        in[process] = true;
        mpiq_analysis_since(analysis, finding, process, instances->entries[at - 1].thread);
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        const struct mpiq_job_member *member =
            instance->comm == MPIQ_NONE
                ? NULL
                : mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), instance->comm);
        const struct mpiq_job_persistent *request =
            member ? mpiq_persistent_of(job, member, instance->number) : NULL;
        if (request && request->starts > roll.starts)
            roll.starts = request->starts;
        uint32_t count = member ? class_count(job, member, instance->collective) : 0;
        roll.most = count > roll.most ? count : roll.most;
    }
    if (wanted_by(analysis, instances, instance, in, wanted, true))
        roll.wanted = wanted;
    /* Entries were chained as they came, ascending: the last one is the first of the chain. */
    uint32_t *order _cleanup_free_ = calloc((size_t)instance->count + 1, sizeof *order);
    if (!order) {
        analysis->failed = true;
        return;
    }
    uint32_t place = instance->count;
    for (uint32_t at = instance->first; at; at = instances->entries[at - 1].next)
        order[--place] = at - 1;
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct entry *entry = &instances->entries[order[i]];
        mpiq_analysis_add(analysis, &finding->ranks, entry->process);
        mpiq_analysis_site(analysis, finding, entry->process, entry->thread);
        mpiq_add_evidence(analysis, finding, entry->process, entry->thread, MPIQ_NONE);
    }
    find_missing(analysis, &roll, finding);
    find_made(analysis, &roll, finding);
    for (uint32_t i = 0; i < finding->missing.count; i++) {
        const struct mpiq_rank_range *range = &finding->missing.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            uint32_t process = mpiq_job_process(job, range->world, rank);
            mpiq_analysis_site(analysis, finding, process, MPIQ_NONE);
            mpiq_add_evidence(analysis, finding, process, MPIQ_NONE, MPIQ_NONE);
        }
    }
    if (finding->missing.size == 0) {
        if (!mpiq_find_left(analysis, finding))
            mpiq_diagnosis_drop_finding(analysis->diagnosis);
    } else {
        bool counted = instance->comm == MPIQ_NONE || instance->number > 0 || roll.most > 0;
        /* Nobody knows the group of MPI_Comm_create_group but those who wait for a member of it. */
        bool of_group = mpiq_collective_is_tagged(instance->collective);
        if (!counted && !of_group)
            note_order(analysis, finding, instance->collective);
        else if (!of_group || roll.wanted)
            suspect(analysis, finding);
        else
            finding->elsewhere = true;
    }
    wanted_by(analysis, instances, instance, in, wanted, false);
    for (uint32_t i = 0; i < instance->count; i++)
        in[instances->entries[order[i]].process] = false;
}

static int compare_instances(const void *left, const void *right)
{
    const struct instance *a = left;
    const struct instance *b = right;
    if (a->in_closed_set != b->in_closed_set)
        return a->in_closed_set ? -1 : 1;
    if (a->stuck != b->stuck)
        return a->stuck ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    if (a->lowest != b->lowest) /* communicators are numbered by the library's ids */
        return a->lowest < b->lowest ? -1 : 1;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->window != b->window)
        return a->window < b->window ? -1 : 1;
    if (a->fence != b->fence)
        return a->fence < b->fence ? -1 : 1;
    return a->world < b->world ? -1 : a->world > b->world;
}

void mpiq_find_collectives(struct mpiq_analysis *analysis)
{
    struct instances instances = {.analysis = analysis};
    bool *in _cleanup_free_ = calloc((size_t)analysis->job->process_count + 1, sizeof *in);
    bool *wanted _cleanup_free_ = calloc((size_t)analysis->job->process_count + 1, sizeof *wanted);
    analysis->failed = analysis->failed || !in || !wanted;
    mpiq_find_tags(analysis);
    if (!analysis->failed)
        collect(&instances);
    if (instances.count > 1)
        qsort(instances.list, instances.count, sizeof *instances.list, compare_instances);
    for (uint32_t i = 0; i < instances.count && !analysis->failed; i++)
        if (instances.list[i].same_wait)
            find_instance(&instances, &instances.list[i], in, wanted);
    free(instances.list);
    free(instances.entries);
    mpiq_hash_table_deinit(&instances.table);
}
