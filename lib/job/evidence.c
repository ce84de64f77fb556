/* SPDX-License-Identifier: BSD-3-Clause */
/* Evidence: ranks that do the same at the same place are one line, generalised by relation ("from rank r-1").
 */
#include "job/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/causes.h"
#include "job/collective.h"
#include "job/rank_activity.h"
#include "names/objects.h"
#include "job/given.h"
#include "job/waits.h"

/* The operation that holds a thread: the first one that never happens, else the first; MPIQ_NONE: none. */
static uint32_t holding_operation(const struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_wait_graph *graph = analysis->graph;
    uint32_t node_index = thread == MPIQ_NONE ? MPIQ_NONE : graph->thread_nodes[thread];
    if (node_index == MPIQ_NONE)
        return MPIQ_NONE;
    const struct mpiq_node *node = &graph->nodes[node_index];
    uint32_t first = MPIQ_NONE;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_edge *edge = &graph->edges[node->first_edge + i];
        if (edge->operation == MPIQ_NONE)
            continue;
        if (!graph->nodes[edge->child].may)
            return edge->operation;
        if (first == MPIQ_NONE)
            first = edge->operation;
    }
    return first;
}

bool mpiq_same_communicator(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    if (a == MPIQ_NONE || b == MPIQ_NONE)
        return false;
    uint32_t internal = job->communicators[a].flags ^ job->communicators[b].flags;
    return job->communicators[a].name == job->communicators[b].name && !(internal & MPIQ_COMM_INTERNAL);
}

static bool same_operation(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    if (a == MPIQ_NONE || b == MPIQ_NONE)
        return false;
    const struct mpiq_job_operation *x = &job->operations[a];
    const struct mpiq_job_operation *y = &job->operations[b];
    if (x->internal && y->internal) /* which of a collective's messages it is says nothing to the user */
        return true;
    const struct mpiq_job_operation_more *more_x = mpiq_job_more(job, x);
    const struct mpiq_job_operation_more *more_y = mpiq_job_more(job, y);
    return x->kind == y->kind && x->internal == y->internal && x->any == y->any && x->tag_any == y->tag_any &&
           (x->tag_any || x->tag == y->tag) && mpiq_same_communicator(job, x->comm, y->comm) &&
           more_x->partitions == more_y->partitions && more_x->which == more_y->which;
}

int32_t mpiq_local_rank(const struct mpiq_job_state *job, uint32_t process, uint32_t comm)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_job_member *member =
        rank && comm != MPIQ_NONE ? mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), comm) : NULL;
    return member ? member->local_rank : -1;
}

/* One more: rank `own` of a communicator of that size (0 not known) with its peer there. */
static void relate(struct mpiq_relation *relation, int64_t own, int64_t size, uint32_t peer,
                   int64_t peer_local)
{
    int64_t offset = peer_local - own;
    bool known = own >= 0 && peer_local >= 0 && peer != MPIQ_NONE && size > 0;
    if (relation->count++ == 0) {
        *relation = (struct mpiq_relation){.count = 1,
                                           .peer = peer,
                                           .offset = offset,
                                           .size = size,
                                           .same_peer = true,
                                           .relative = known,
                                           .wraps = known};
        return;
    }
    relation->same_peer = relation->same_peer && peer == relation->peer;
    relation->relative = relation->relative && known && offset == relation->offset;
    int64_t distance = known && size > 0 ? (offset - relation->offset) % size : 1;
    relation->wraps = relation->wraps && known && size == relation->size && distance == 0;
    /* Written as the shorter way round. */
    if (relation->wraps && !relation->relative && llabs(offset) < llabs(relation->offset))
        relation->offset = offset;
}

void mpiq_relation_add(const struct mpiq_job_state *job, struct mpiq_relation *relation, uint32_t process,
                       uint32_t comm, uint32_t peer, int32_t peer_local)
{
    int32_t own = mpiq_local_rank(job, process, comm);
    uint32_t group = comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[comm].group;
    int64_t size = group == MPIQ_NONE || job->communicators[comm].remote != MPIQ_NONE
                       ? 0
                       : (int64_t)job->groups[group].count;
    relate(relation, own, size, peer, peer_local);
}

/* The same where the caller's code alone says who the peer is: its rank is told in MPI_COMM_WORLD. */
static void relate_given(struct mpiq_analysis *analysis, struct mpiq_evidence *evidence, uint32_t process,
                         uint32_t thread)
{
    struct mpiq_given_parts given = {.count = 0};
    if (thread != MPIQ_NONE)
        mpiq_given_parts(analysis, thread, &given);
    if (given.count == 0)
        return;
    struct mpiq_world_rank own = mpiq_job_world_rank(analysis->job, process);
    uint32_t peer = given.parts[0].peer;
    const char *comm = given.parts[0].given->comm;
    bool world = comm && strcmp(comm, "MPI_COMM_WORLD") == 0 && peer != MPIQ_NONE;
    int64_t local = world ? (int64_t)mpiq_job_world_rank(analysis->job, peer).rank : -1;
    relate(&evidence->relation, own.rank, analysis->job->worlds[own.world].size, peer, local);
}

void mpiq_relation_merge(struct mpiq_relation *into, const struct mpiq_relation *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    into->count += from->count;
    into->same_peer = into->same_peer && from->same_peer && into->peer == from->peer;
    into->relative = into->relative && from->relative && into->offset == from->offset;
    into->wraps = into->wraps && from->wraps && into->size == from->size && into->size > 0 &&
                  (into->offset - from->offset) % into->size == 0;
}

/* Whether two ranks in a collective are in it on communicators that the user tells apart no more: of one
   name, or made by one call, as the rows of a grid are.  Two that one rank is in are two. */
static bool is_on_alike(const struct mpiq_analysis *analysis, const struct mpiq_evidence *a,
                        const struct mpiq_evidence *b)
{
    const struct mpiq_job_communicator *comms = analysis->job->communicators;
    uint32_t x = analysis->diagnosis->ranks[a->process].comm;
    uint32_t y = analysis->diagnosis->ranks[b->process].comm;
    if (x == MPIQ_NONE || y == MPIQ_NONE || x == y || mpiq_blocking_call(a->call) != MPIQ_BLOCKING_COLLECTIVE)
        return true;
    if (mpiq_local_rank(analysis->job, a->process, y) >= 0 ||
        mpiq_local_rank(analysis->job, b->process, x) >= 0)
        return false;
    return a->number == 0 || mpiq_same_communicator(analysis->job, x, y) ||
           (comms[x].made != MPIQ_NONE && comms[x].made == comms[y].made);
}

/* Who has the lock on a file that it sleeps for. */
static uint32_t lock_of(const struct mpiq_analysis *analysis, const struct mpiq_evidence *evidence)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, evidence->process);
    bool sure;
    return rank && evidence->thread != MPIQ_NONE
               ? mpiq_lock_holder(analysis->job, rank, &analysis->job->threads[evidence->thread], &sure)
               : MPIQ_NONE;
}

static bool is_class(const struct mpiq_analysis *analysis, const struct mpiq_evidence *evidence,
                     const struct mpiq_evidence *wanted)
{
    bool same_call = evidence->call == wanted->call ||
                     (evidence->call && wanted->call && strcmp(evidence->call, wanted->call) == 0);
    return same_call && evidence->site == wanted->site && evidence->activity == wanted->activity &&
           evidence->number == wanted->number && evidence->collective == wanted->collective &&
           evidence->aside == wanted->aside && is_on_alike(analysis, evidence, wanted) &&
           lock_of(analysis, evidence) == lock_of(analysis, wanted) &&
           same_operation(analysis->job, evidence->operation, wanted->operation) &&
           (evidence->operation != MPIQ_NONE ||
            mpiq_given_alike(analysis->job, evidence->thread, wanted->thread));
}

/* The class of the non-blocking collective that holds a thread; -1: none, or not known. */
static int collective_of(const struct mpiq_analysis *analysis, uint32_t process, uint32_t thread)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    if (thread == MPIQ_NONE || graph->thread_nodes[thread] == MPIQ_NONE || !mpiq_has_outstanding(job, rank))
        return -1;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_edge *edge = &graph->edges[node->first_edge + i];
        uint32_t comm;
        const struct mpiq_job_call *call =
            edge->operation == MPIQ_NONE
                ? NULL
                : mpiq_outstanding_call(job, rank, &job->operations[edge->operation], &comm);
        if (call && (!graph->nodes[edge->child].may || node->may))
            return job->shapes[call->shape].collective;
    }
    return -1;
}

void mpiq_add_evidence(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process,
                       uint32_t thread, uint32_t operation)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_rank_diagnosis *rank = &analysis->diagnosis->ranks[process];
    bool speaks = thread == MPIQ_NONE || thread == rank->thread;
    if (speaks)
        thread = rank->thread;
    struct mpiq_evidence wanted = {
        .activity = rank->activity,
        .call = rank->call ? rank->call : rank->library_call,
        .site = rank->site,
        .since = rank->since,
        .number = rank->number,
        .collective = collective_of(analysis, process, thread),
        .process = process,
        .thread = thread,
        .operation = operation != MPIQ_NONE ? operation : holding_operation(analysis, thread),
        .finalizes = rank->blocking == MPIQ_BLOCKING_FINALIZE,
    };
    bool message =
        finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED || finding->kind == MPIQ_FINDING_SEND_UNMATCHED;
    struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
    wanted.aside = message && !mpiq_rank_set_contains(&finding->ranks, name.world, name.rank);
    if (!speaks) {
        const struct mpiq_job_thread *row = &job->threads[thread];
        wanted.call = mpiq_job_string(job, row->in_mpi ? row->call : row->blocks_in);
        if (row->interpreter && row->owner) { /* how the interpreter waits is its own affair */
            wanted.call = NULL;
            wanted.activity = MPIQ_ACTIVITY_ASLEEP;
        }
        wanted.finalizes = wanted.call && row->in_mpi && row->blocking == MPIQ_BLOCKING_FINALIZE;
        wanted.number = row->in_mpi ? wanted.number : 0;
        wanted.site = row->site != MPIQ_NONE ? row->site : row->innermost;
        wanted.since = mpiq_waited(job, mpiq_job_rank_of(job, process), row);
    }
    size_t at = 0;
    while (at < finding->evidence_count && !is_class(analysis, &finding->evidence[at], &wanted))
        at++;
    /* Of a job that has ended there is but this list to say what its ranks were doing. */
    if (at == (finding->ending ? MPIQ_MOST_EVIDENCE_OF_END : MPIQ_MOST_EVIDENCE)) {
        mpiq_analysis_add(analysis, &finding->unlisted, process);
        return;
    }
    if (at == finding->evidence_count) {
        struct mpiq_evidence *made = mpiq_finding_add_evidence(finding);
        if (!made) {
            analysis->failed = true;
            return;
        }
        wanted.started = made->started;
        wanted.owner = made->owner;
        wanted.failed = made->failed;
        wanted.inside = made->inside;
        *made = wanted;
    }
    struct mpiq_evidence *evidence = &finding->evidence[at];
    mpiq_analysis_add(analysis, &evidence->ranks, process);
    evidence->since = wanted.since > evidence->since ? wanted.since : evidence->since;
    if (speaks)
        mpiq_last_call_add(&evidence->last, &rank->last);
    if (wanted.operation != MPIQ_NONE) {
        const struct mpiq_job_operation *op = &job->operations[wanted.operation];
        mpiq_relation_add(job, &evidence->relation, process, op->comm, op->peer, op->peer_local);
    } else {
        relate_given(analysis, evidence, process, thread);
    }
}

void mpiq_add_evidence_of(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                          const struct mpiq_rank_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct mpiq_rank_range *range = &set->ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            if (!mpiq_rank_set_contains(&finding->ranks, range->world, rank))
                mpiq_add_evidence(analysis, finding, mpiq_job_process(analysis->job, range->world, rank),
                                  MPIQ_NONE, MPIQ_NONE);
        }
    }
}

/* Whether what would have done but for one thing lies at a rank of the finding. */
static bool lies_unreceived(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding)
{
    const struct mpiq_near_miss *miss = &finding->near_misses[0];
    return analysis->job->operations[miss->operation].queue == MPIQ_QUEUE_UNEXPECTED &&
           miss->differs != MPIQ_MISS_DESTINATION;
}

/* Whether they are two ranks that wait for each other: one after the other round a communicator, or by name.
 */
static bool is_mutual(const struct mpiq_analysis *analysis, const struct mpiq_evidence *evidence,
                      const struct mpiq_wait_part *part)
{
    const struct mpiq_relation *relation = &evidence->relation;
    if (evidence->ranks.size != 2 || part->any)
        return false;
    if (relation->wraps && relation->size == 2 && llabs(relation->offset) == 1)
        return true;
    const struct mpiq_rank_range *last = &evidence->ranks.ranges[evidence->ranks.count - 1];
    uint32_t other = mpiq_job_process(analysis->job, last->world, last->last);
    const struct mpiq_waits_for *back = analysis->diagnosis->ranks[other].waits_for;
    return part->peer == other && back && back->part_count > 0 && back->parts[0].kind == part->kind &&
           back->parts[0].peer == evidence->process;
}

static bool same_ranks(const struct mpiq_ranks *a, const struct mpiq_ranks *b)
{
    if (a->count != b->count || a->size != b->size)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->ranges[i].world != b->ranges[i].world || a->ranges[i].first != b->ranges[i].first ||
            a->ranges[i].last != b->ranges[i].last)
            return false;
    }
    return true;
}

static bool have_same_ranks(const struct mpiq_waits_for *a, const struct mpiq_waits_for *b)
{
    return same_ranks(&a->ranks, &b->ranks);
}

static bool begin_alike(const struct mpiq_waits_for *a, const struct mpiq_waits_for *b)
{
    return a->part_count == 0 || a->parts[0].kind == b->parts[0].kind;
}

/* Whether the wait of each rank of a class is so like the first one's. */
static bool all_wait_so(const struct mpiq_analysis *analysis, const struct mpiq_evidence *evidence,
                        const struct mpiq_waits_for *first,
                        bool (*alike)(const struct mpiq_waits_for *, const struct mpiq_waits_for *))
{
    for (uint32_t i = 0; i < evidence->ranks.count; i++) {
        const struct mpiq_rank_range *range = &evidence->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            uint32_t process = mpiq_job_process(analysis->job, range->world, rank);
            const struct mpiq_waits_for *own = analysis->diagnosis->ranks[process].waits_for;
            if (own && !alike(own, first))
                return false;
        }
    }
    return true;
}

/* Leaves out of a part of a class's wait what another rank's wait says otherwise (NULL: it has no such part).
 */
static void leave_out(struct mpiq_wait_part *part, const struct mpiq_wait_part *other)
{
    part->number = other && part->number == other->number ? part->number : 0;
    part->bytes = other && part->bytes == other->bytes ? part->bytes : -1;
}

/* The wait of a class of several ranks, without what is the first one's alone.  A request's handle is a
   process's own. */
static void leave_out_differing(struct mpiq_analysis *analysis, struct mpiq_evidence *evidence)
{
    const struct mpiq_waits_for *first = evidence->wait;
    struct mpiq_waits_for *made = mpiq_arena_alloc(analysis->arena, sizeof *made);
    struct mpiq_wait_part *parts = mpiq_arena_alloc(analysis->arena, (first->part_count + 1) * sizeof *parts);
    if (!made || !parts) {
        analysis->failed = true;
        return;
    }
    for (uint32_t i = 0; i < first->part_count; i++) {
        parts[i] = first->parts[i];
        parts[i].request = 0;
    }
    bool speaks = evidence->thread == analysis->diagnosis->ranks[evidence->process].thread;
    for (uint32_t i = 0; speaks && i < evidence->ranks.count; i++) {
        const struct mpiq_rank_range *range = &evidence->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            uint32_t process = mpiq_job_process(analysis->job, range->world, rank);
            const struct mpiq_waits_for *own = analysis->diagnosis->ranks[process].waits_for;
            for (uint32_t at = 0; own && own != first && at < first->part_count; at++)
                leave_out(&parts[at], at < own->part_count ? &own->parts[at] : NULL);
        }
    }
    *made = *first;
    made->parts = parts;
    evidence->wait = made;
}

/* What all ranks of a class wait for: the first one's wait, made general. */
static void set_wait(struct mpiq_analysis *analysis, struct mpiq_evidence *evidence)
{
    const struct mpiq_waits_for *first =
        evidence->thread == MPIQ_NONE ? NULL : mpiq_thread_waits(analysis, evidence->thread);
    evidence->wait = first;
    if (!first)
        return;
    const struct mpiq_wait_part *part = &first->parts[0];
    evidence->started = part->started;
    bool message =
        part->kind == MPIQ_PART_RECEIVE || part->kind == MPIQ_PART_SEND || part->kind == MPIQ_PART_PROBE;
    const struct mpiq_relation *relation = &evidence->relation;
    bool window = part->kind == MPIQ_PART_WINDOW && evidence->ranks.size > 1 &&
                  !all_wait_so(analysis, evidence, first, have_same_ranks);
    if (evidence->ranks.size < 2 || (!window && (!message || relation->same_peer)))
        return;
    /* Inside one collective each waits for another one, which says nothing of them all; nor does a send of
       what another one receives. */
    if (part->internal || (message && !all_wait_so(analysis, evidence, first, begin_alike))) {
        evidence->wait = NULL;
        return;
    }
    struct mpiq_waits_for *made = mpiq_arena_alloc(analysis->arena, sizeof *made);
    struct mpiq_wait_part *general = mpiq_arena_alloc(analysis->arena, sizeof *general);
    if (!made || !general) {
        analysis->failed = true;
        return;
    }
    *made = *first;
    *general = *part;
    general->relative = relation->relative || relation->wraps;
    general->wraps = relation->wraps && !relation->relative;
    general->offset = (int32_t)relation->offset;
    general->ranks = (struct mpiq_ranks){0};
    if (!general->relative)
        general->peer = MPIQ_NONE;
    made->parts = general;
    made->part_count = 1;
    made->more = first->part_count - 1 + first->more;
    made->ranks = (struct mpiq_ranks){0};
    if (is_mutual(analysis, evidence, part))
        made->ranks = mpiq_arena_ranks(analysis, &evidence->ranks);
    evidence->wait = made;
}

/* The last receive of a process that took a message like the one that this receive waits for, from the same
   sender; MPIQ_NONE: none is known. */
static uint32_t received_like(const struct mpiq_job_state *job, uint32_t process,
                              const struct mpiq_job_operation *op)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = rank && !op->any && !op->tag_any ? rank->past_count : 0; i > 0; i--) {
        const struct mpiq_job_past_call *past = &job->past_calls[rank->first_past + i - 1];
        const char *call = mpiq_job_string(job, past->call);
        /* Of these alone the record says whose message they took; a wait may be for several. */
        bool receives = call && (strcmp(call, "MPI_Recv") == 0 || strcmp(call, "MPI_Mrecv") == 0);
        if (receives && past->end_ns > 0 && past->peer == op->peer && past->comm == op->comm &&
            past->tag == op->tag)
            return rank->first_past + i - 1;
    }
    return MPIQ_NONE;
}

/* Of a finding about one receive of one rank, and of receives that wait for each other: the first of them for
   which there is such a one. */
static void note_received(const struct mpiq_analysis *analysis, struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = analysis->job;
    bool one = finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED && finding->ranks.size == 1;
    bool circle = finding->kind == MPIQ_FINDING_WAIT_CYCLE;
    size_t lines = one && finding->evidence_count > 0 ? 1 : circle ? finding->evidence_count : 0;
    for (size_t i = 0; i < lines && finding->received_before == MPIQ_NONE; i++) {
        struct mpiq_evidence *evidence = &finding->evidence[i];
        uint32_t operation = one ? finding->operation : evidence->operation;
        if (operation == MPIQ_NONE || !mpiq_is_receive(&job->operations[operation]))
            continue;
        finding->received_before = received_like(job, evidence->process, &job->operations[operation]);
        if (circle && finding->received_before != MPIQ_NONE && evidence->remark == MPIQ_REMARK_NONE &&
            evidence->ranks.size == 1)
            evidence->remark = MPIQ_REMARK_RECEIVED;
    }
}

/* Of a rank that an interpreter brings to its end: no line of the user's called MPI_Finalize. */
static bool script_ended(const struct mpiq_job_state *job, const struct mpiq_evidence *evidence)
{
    if (!evidence->finalizes || evidence->site == MPIQ_NONE)
        return false;
    const struct mpiq_site *site = &job->sites[evidence->site];
    const char *object = mpiq_job_string(job, site->object);
    return object && !mpiq_job_string(job, site->file) && mpiq_is_python(object);
}

/* What there is to say of the first line, which is about those that a finding is about. */
static enum mpiq_remark first_remark(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding)
{
    if (finding->near_miss_count > 0)
        return lies_unreceived(analysis, finding) ? MPIQ_REMARK_UNRECEIVED : MPIQ_REMARK_NONE;
    return finding->received_before != MPIQ_NONE && finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED
               ? MPIQ_REMARK_RECEIVED
               : MPIQ_REMARK_NONE;
}

/* Whether the one peer of all messages of a finding is in MPI_Finalize. */
static bool peer_finalizes(const struct mpiq_analysis *analysis, const struct mpiq_finding *finding)
{
    const struct mpiq_job_operation *op =
        finding->operation == MPIQ_NONE ? NULL : &analysis->job->operations[finding->operation];
    bool message =
        finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED || finding->kind == MPIQ_FINDING_SEND_UNMATCHED;
    return message && op && op->peer != MPIQ_NONE && finding->relation.same_peer &&
           mpiq_has_left(analysis, op->peer) &&
           analysis->diagnosis->ranks[op->peer].activity != MPIQ_ACTIVITY_GONE;
}

/* The host of all ranks of a set; 0: they are on several, or it is not known. */
static mpiq_string_id host_of(const struct mpiq_job_state *job, const struct mpiq_rank_set *set)
{
    mpiq_string_id host = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct mpiq_rank_range *range = &set->ranges[i];
        for (uint32_t number = range->first; number <= range->last; number++) {
            const struct mpiq_job_rank *rank =
                mpiq_job_rank_of(job, mpiq_job_process(job, range->world, number));
            if (!rank || !rank->host || (host && host != rank->host))
                return 0;
            host = rank->host;
        }
    }
    return host;
}

/* Whether they are all those of one host, of a job on several. */
static bool fills_host(const struct mpiq_job_state *job, const struct mpiq_rank_set *set)
{
    const mpiq_string_id host = set->size > 1 ? host_of(job, set) : 0;
    uint64_t there = 0;
    for (uint32_t process = 0; host && process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank || !rank->host)
            return false; /* it may be there, too */
        there += rank->host == host;
    }
    return host && there == set->size && there < job->process_count;
}

/* The recorded call of a rank inside which its own code has made another one: the recorder sees the outermost
   call alone.  MPIQ_NONE: none. */
static uint32_t inside_of(const struct mpiq_analysis *analysis, uint32_t process)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    uint32_t thread = analysis->diagnosis->ranks[process].thread;
    const struct mpiq_job_thread *row = thread == MPIQ_NONE ? NULL : &job->threads[thread];
    for (uint32_t i = 0; rank && row && row->called_back && row->wait_count == 0 && i < rank->past_count;
         i++) {
        const struct mpiq_job_past_call *call = &job->past_calls[rank->first_past + i];
        if (call->end_ns == 0 && call->tid == row->tid && call->call != row->call)
            return rank->first_past + i;
    }
    return MPIQ_NONE;
}

/* The same of a line of evidence, if it holds for all its ranks: of the first one. */
static uint32_t all_inside(const struct mpiq_analysis *analysis, const struct mpiq_evidence *evidence)
{
    const struct mpiq_job_state *job = analysis->job;
    uint32_t first = inside_of(analysis, evidence->process);
    for (uint32_t i = 0; first != MPIQ_NONE && i < evidence->ranks.count; i++) {
        const struct mpiq_rank_range *range = &evidence->ranks.ranges[i];
        for (uint32_t rank = range->first; rank <= range->last; rank++) {
            uint32_t own = inside_of(analysis, mpiq_job_process(job, range->world, rank));
            if (own == MPIQ_NONE || job->past_calls[own].call != job->past_calls[first].call ||
                job->past_calls[own].site != job->past_calls[first].site)
                return MPIQ_NONE;
        }
    }
    return first;
}

void mpiq_finish_evidence(struct mpiq_analysis *analysis)
{
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        note_received(analysis, finding);
        finding->peer_finalizes = finding->peer_finalizes || peer_finalizes(analysis, finding);
        for (size_t j = 0; j < finding->evidence_count && !analysis->failed; j++) {
            struct mpiq_evidence *evidence = &finding->evidence[j];
            set_wait(analysis, evidence);
            if (evidence->wait && evidence->ranks.size > 1)
                leave_out_differing(analysis, evidence);
            if (evidence->remark == MPIQ_REMARK_NONE && script_ended(analysis->job, evidence))
                evidence->remark = MPIQ_REMARK_SCRIPT_ENDED;
            evidence->inside = all_inside(analysis, evidence);
            if (evidence->remark == MPIQ_REMARK_NONE && evidence->inside != MPIQ_NONE)
                evidence->remark = MPIQ_REMARK_INSIDE;
        }
        if (finding->evidence_count > 0 && finding->evidence[0].remark == MPIQ_REMARK_NONE)
            finding->evidence[0].remark = first_remark(analysis, finding);
        for (size_t j = 0; j < finding->evidence_count; j++) {
            struct mpiq_evidence *evidence = &finding->evidence[j];
            if (evidence->remark == MPIQ_REMARK_NONE && fills_host(analysis->job, &evidence->ranks))
                evidence->remark = MPIQ_REMARK_HOST;
        }
    }
}

/* Whether a thread outside MPI waits for another one of its rank, and is worth a line: the main thread, or
   one that waits for a certain other one.  Pools of idle threads wait for a condition. */
static bool waits_beside(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_thread *thread)
{
    const char *call = mpiq_job_string(job, thread->blocks_in);
    if (thread->interpreter && thread->site != MPIQ_NONE && mpiq_lock_owner(job, rank, thread) != MPIQ_NONE)
        return true;
    if (thread->in_mpi || !call || thread->site == MPIQ_NONE || !mpiq_thread_waits_for_own(job, thread))
        return false;
    return thread->tid == rank->pid || strcmp(call, "pthread_mutex_lock") == 0 ||
           strcmp(call, "mtx_lock") == 0 || strcmp(call, "pthread_join") == 0 ||
           strcmp(call, "thrd_join") == 0;
}

static void add_threads_of(struct mpiq_analysis *analysis, struct mpiq_finding *finding, uint32_t process)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    for (uint32_t i = 0; rank && rank->thread_count > 1 && i < rank->thread_count; i++) {
        uint32_t thread = rank->first_thread + i;
        if (thread == analysis->diagnosis->ranks[process].thread ||
            !waits_beside(job, rank, &job->threads[thread]))
            continue;
        size_t before = finding->evidence_count;
        mpiq_add_evidence(analysis, finding, process, thread, MPIQ_NONE);
        if (finding->evidence_count == before)
            continue;
        finding->evidence[before].remark = MPIQ_REMARK_THREAD;
        finding->evidence[before].owner = mpiq_lock_owner(job, rank, &job->threads[thread]);
    }
}

void mpiq_add_other_threads(struct mpiq_analysis *analysis)
{
    for (size_t i = 0; i < analysis->diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &analysis->diagnosis->findings[i];
        if (finding->consequence_of != MPIQ_NONE || !mpiq_is_of_waits(finding))
            continue;
        const struct mpiq_rank_set *sets[] = {&finding->ranks, &finding->missing};
        for (size_t j = 0; j < sizeof sets / sizeof *sets; j++) {
            for (uint32_t k = 0; k < sets[j]->count; k++) {
                const struct mpiq_rank_range *range = &sets[j]->ranges[k];
                for (uint32_t r = range->first; r <= range->last && !analysis->failed; r++)
                    add_threads_of(analysis, finding, mpiq_job_process(analysis->job, range->world, r));
            }
        }
    }
}
