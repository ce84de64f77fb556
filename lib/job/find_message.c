/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives and sends that a rank is blocked on and that no rank will ever answer. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/collective.h"
#include "job/evidence.h"
#include "job/unmatched.h"

static bool is_alike(const struct mpiq_job_state *job, const struct mpiq_alike *a, const struct mpiq_alike *b)
{
    const struct mpiq_job_operation *op_a = &job->operations[a->operation];
    const struct mpiq_job_operation *op_b = &job->operations[b->operation];
    return mpiq_is_send(op_a) == mpiq_is_send(op_b) && mpiq_same_communicator(job, op_a->comm, op_b->comm) &&
           op_a->any == op_b->any && op_a->tag_any == op_b->tag_any &&
           (op_a->tag_any || op_a->tag == op_b->tag);
}

/* What would have answered one operation but for one thing. */
struct misses {
    struct mpiq_near_miss list[MPIQ_MOST_NEAR_MISSES];
    uint32_t count;
};

static void near_miss(struct misses *misses, uint32_t differs, uint32_t process, uint32_t holder,
                      uint32_t operation)
{
    if (misses->count < MPIQ_MOST_NEAR_MISSES)
        misses->list[misses->count++] = (struct mpiq_near_miss){
            .differs = differs, .process = process, .holder = holder, .operation = operation};
}

/* In what one thing a message misses a receive; 0: in none or in more than one. */
static uint32_t miss(const struct mpiq_job_operation *receive, uint32_t comm, uint32_t sender, int32_t tag)
{
    uint32_t differs = 0;
    unsigned count = 0;
    if (receive->comm != comm) {
        differs = MPIQ_MISS_COMMUNICATOR;
        count++;
    }
    if (!receive->any && receive->peer != sender) {
        differs = MPIQ_MISS_SOURCE;
        count++;
    }
    if (!receive->tag_any && receive->tag != tag) {
        differs = MPIQ_MISS_TAG;
        count++;
    }
    return count == 1 ? differs : 0;
}

static void receive_misses(const struct mpiq_analysis *analysis, struct misses *misses, uint32_t process,
                           const struct mpiq_job_operation *receive)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_matching *matching = &analysis->graph->matching;
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &job->operations[index];
        uint32_t differs = op->queue == MPIQ_QUEUE_UNEXPECTED && !op->internal && op->peer != MPIQ_NONE
                               ? miss(receive, op->comm, op->peer, op->tag)
                               : 0;
        if (differs && !mpiq_is_taken(analysis, index))
            near_miss(misses, differs, op->peer, process, index);
    }
    for (uint32_t i = matching->first_incoming[process]; i < matching->first_incoming[process + 1]; i++) {
        const struct mpiq_incoming *in = &matching->incoming[i];
        const struct mpiq_job_operation *op = &job->operations[in->operation];
        uint32_t differs = op->internal || matching->fates[in->operation] != MPIQ_FATE_IN_TRANSIT
                               ? 0
                               : miss(receive, op->comm, in->sender, op->tag);
        if (differs && !mpiq_is_taken(analysis, in->operation))
            near_miss(misses, differs, in->sender, in->sender, in->operation);
    }
}

static void send_misses(const struct mpiq_analysis *analysis, struct misses *misses, uint32_t process,
                        const struct mpiq_job_operation *send)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, send->peer);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &job->operations[index];
        if (op->queue != MPIQ_QUEUE_RECEIVES || op->internal || op->inactive ||
            analysis->graph->matching.fates[index] != MPIQ_FATE_OPEN)
            continue;
        uint32_t differs = miss(op, send->comm, process, send->tag);
        if (differs)
            near_miss(misses, differs, send->peer, send->peer, index);
    }
}

/* The inactive persistent request of the peer that would answer, had it been started; MPIQ_NONE. */
static uint32_t never_started(const struct mpiq_analysis *analysis, uint32_t process,
                              const struct mpiq_job_operation *op)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, op->peer);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        const struct mpiq_job_operation *other = &job->operations[rank->first_operation + i];
        if (!other->inactive || other->comm != op->comm || other->internal)
            continue;
        bool answers =
            mpiq_is_send(op)
                ? other->kind == MPIQ_OPERATION_RECEIVE && mpiq_fits(other, op->comm, process, op->tag)
                : mpiq_is_send(other) && other->peer == process && (op->tag_any || op->tag == other->tag);
        if (answers)
            return rank->first_operation + i;
    }
    return MPIQ_NONE;
}

/* Where the one that a message is awaited from has left, it is no question who should have sent it: what
   others have sent is for later. */
static void drop_sources(const struct mpiq_analysis *analysis, const struct mpiq_job_operation *op,
                         struct misses *misses)
{
    uint32_t kept = 0;
    if (op->any || op->peer == MPIQ_NONE || !mpiq_has_left(analysis, op->peer))
        return;
    for (uint32_t i = 0; i < misses->count; i++) {
        if (misses->list[i].differs != MPIQ_MISS_SOURCE)
            misses->list[kept++] = misses->list[i];
    }
    misses->count = kept;
}

/* What comes from the rank that is waited for is nearer than what another one has sent. */
static void put_sources_last(struct misses *misses)
{
    struct misses sorted = {.count = 0};
    for (int last = 0; last < 2; last++) {
        for (uint32_t i = 0; i < misses->count; i++) {
            if ((misses->list[i].differs == MPIQ_MISS_SOURCE) == (last == 1))
                sorted.list[sorted.count++] = misses->list[i];
        }
    }
    *misses = sorted;
}

/* Whether several other ranks have sent what is awaited from one: they are collected in turn, and it is that
   one that did not send. */
static bool all_but_one_sent(const struct misses *misses)
{
    bool several = false;
    for (uint32_t i = 0; i < misses->count; i++) {
        if (misses->list[i].differs != MPIQ_MISS_SOURCE)
            return false;
        several = several || misses->list[i].process != misses->list[0].process;
    }
    return several;
}

/* Whom the blame goes to: the peer that went elsewhere, unless it waits for the same. */
static void suspect(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                    const struct mpiq_job_operation *op, const struct misses *misses)
{
    if (misses->count > 0 && !all_but_one_sent(misses))
        return; /* two tags, two communicators: which of them is wrong cannot be told */
    if (!op->any && op->peer != MPIQ_NONE)
        mpiq_analysis_add(analysis, &finding->suspects, op->peer);
}

/* Whether the first near miss of a finding is of that kind, with the same tag on the same communicator. */
static bool has_same_miss(const struct mpiq_job_state *job, const struct mpiq_finding *finding,
                          const struct misses *misses)
{
    if (finding->near_miss_count == 0 || misses->count == 0)
        return false;
    const struct mpiq_job_operation *a = &job->operations[finding->near_misses[0].operation];
    const struct mpiq_job_operation *b = &job->operations[misses->list[0].operation];
    return finding->near_misses[0].differs == misses->list[0].differs && a->tag == b->tag &&
           a->tag_any == b->tag_any && mpiq_same_communicator(job, a->comm, b->comm);
}

static void take_misses(struct mpiq_analysis *analysis, struct mpiq_finding *finding,
                        const struct misses *misses)
{
    for (uint32_t i = 0; i < misses->count && finding->near_miss_count < MPIQ_MOST_NEAR_MISSES; i++) {
        struct mpiq_near_miss *miss_ = mpiq_finding_add_near_miss(finding);
        if (!miss_) {
            analysis->failed = true;
            return;
        }
        *miss_ = misses->list[i];
    }
    finding->alike_misses += has_same_miss(analysis->job, finding, misses);
}

/* The place in the collection of the finding that an operation belongs to; the count if there is none. */
static uint32_t place_of(const struct mpiq_unmatched *collection, const struct mpiq_alike *alike,
                         const struct misses *misses)
{
    const struct mpiq_diagnosis *diagnosis = collection->analysis->diagnosis;
    const struct mpiq_job_state *job = collection->analysis->job;
    for (uint32_t at = 0; at < collection->count; at++) {
        const struct mpiq_finding *finding = &diagnosis->findings[collection->findings[at]];
        bool wrong = misses->count > 0 && misses->list[0].differs != MPIQ_MISS_SOURCE;
        if (is_alike(job, &collection->first[at], alike) &&
            (collection->first[at].site == alike->site || (wrong && has_same_miss(job, finding, misses))))
            return at;
    }
    return collection->count;
}

static void add(struct mpiq_unmatched *collection, const struct mpiq_alike *alike,
                const struct misses *misses)
{
    struct mpiq_analysis *analysis = collection->analysis;
    const struct mpiq_job_state *job = analysis->job;
    uint32_t at = place_of(collection, alike, misses);
    if (at == MPIQ_MOST_FINDINGS)
        return;
    const struct mpiq_job_operation *op = &job->operations[alike->operation];
    bool first = at == collection->count;
    if (first) {
        struct mpiq_finding *made = mpiq_diagnosis_add_finding(
            analysis->diagnosis,
            mpiq_is_send(op) ? MPIQ_FINDING_SEND_UNMATCHED : MPIQ_FINDING_RECEIVE_UNMATCHED);
        if (!made) {
            analysis->failed = true;
            return;
        }
        made->comm = op->comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[op->comm].user;
        made->operation = alike->operation;
        made->proven = true;
        collection->first[at] = *alike;
        collection->first[at].process = MPIQ_NONE;
        collection->findings[at] = (uint32_t)analysis->diagnosis->finding_count - 1;
        collection->count++;
    }
    struct mpiq_finding *finding = &analysis->diagnosis->findings[collection->findings[at]];
    if (collection->first[at].process == alike->process)
        return; /* of one rank the first of alike operations stands for all */
    collection->first[at].process = alike->process;
    mpiq_analysis_add(analysis, &finding->ranks, alike->process);
    mpiq_analysis_site(analysis, finding, alike->process, alike->thread);
    mpiq_add_evidence(analysis, finding, alike->process, alike->thread, alike->operation);
    mpiq_analysis_since(analysis, finding, alike->process, alike->thread);
    mpiq_relation_add(job, &finding->relation, alike->process, op->comm, op->peer, op->peer_local);
    if (finding->never_started == MPIQ_NONE && !op->any)
        finding->never_started = never_started(analysis, alike->process, op);
    suspect(analysis, finding, op, misses);
    if (!op->any && op->peer != MPIQ_NONE)
        mpiq_analysis_add(analysis, &finding->others, op->peer);
    for (uint32_t i = 0; i < misses->count; i++)
        mpiq_analysis_add(analysis, &finding->others, misses->list[i].process);
    take_misses(analysis, finding, misses);
}

/* Whether a process is in a collective, so that a message which it sent or holds is not merely early. */
static bool has_moved_on(const struct mpiq_analysis *analysis, uint32_t process)
{
    enum mpiq_blocking blocking = analysis->diagnosis->ranks[process].blocking;
    return blocking == MPIQ_BLOCKING_COLLECTIVE || blocking == MPIQ_BLOCKING_FINALIZE;
}

/* Messages that would have done, had they not gone to another rank: of receives from one rank that nothing
   else comes near to.  All ranks' messages are gone through once. */
static void find_astray(struct mpiq_unmatched *collection)
{
    struct mpiq_analysis *analysis = collection->analysis;
    const struct mpiq_job_state *job = analysis->job;
    bool wanted[MPIQ_MOST_FINDINGS] = {0};
    bool any = false;
    for (uint32_t i = 0; i < collection->count; i++) {
        const struct mpiq_job_operation *receive = &job->operations[collection->first[i].operation];
        const struct mpiq_finding *finding = &analysis->diagnosis->findings[collection->findings[i]];
        wanted[i] = mpiq_is_receive(receive) && !receive->any && finding->relation.same_peer &&
                    finding->near_miss_count == 0;
        any = any || wanted[i];
    }
    for (uint32_t process = 0; any && process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
            const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
            if (op->queue != MPIQ_QUEUE_UNEXPECTED || op->internal ||
                mpiq_is_taken(analysis, rank->first_operation + i))
                continue;
            for (uint32_t j = 0; j < collection->count; j++) {
                const struct mpiq_alike *alike = &collection->first[j];
                struct mpiq_finding *finding = &analysis->diagnosis->findings[collection->findings[j]];
                if (!wanted[j] || mpiq_thread_process(analysis->graph, alike->thread) == process ||
                    finding->near_miss_count >= MPIQ_MOST_NEAR_MISSES ||
                    !mpiq_fits(&job->operations[alike->operation], op->comm, op->peer, op->tag))
                    continue;
                struct mpiq_near_miss *made = mpiq_finding_add_near_miss(finding);
                analysis->failed = analysis->failed || !made;
                finding->astray =
                    finding->astray || (has_moved_on(analysis, process) && has_moved_on(analysis, op->peer));
                if (made)
                    *made = (struct mpiq_near_miss){.differs = MPIQ_MISS_DESTINATION,
                                                    .process = op->peer,
                                                    .holder = process,
                                                    .operation = rank->first_operation + i};
            }
        }
    }
}

/* Whether a thread's wait is part of the explanation: in a closed set, or for a dead rank. */
static bool explains(const struct mpiq_analysis *analysis, uint32_t thread)
{
    if (analysis->explanation->closed_set_of[thread] != MPIQ_NONE)
        return true;
    uint32_t process;
    return mpiq_next_thread(analysis->graph, analysis->explanation, thread, &process) == MPIQ_NONE;
}

/* Operations of one thread that are looked at; the rest says the same. */
enum { MOST_OF_A_THREAD = 64 };

/* Whether an operation has the near miss of a finding that is there, or none as it has, and waits for the
   same rank, or as that does for one that has gone on to a collective.  Of those that merely wait for the
   rest, a message with another tag may well be for later. */
static bool is_like_known(const struct mpiq_unmatched *collection, const struct mpiq_alike *alike,
                          const struct misses *misses)
{
    const struct mpiq_job_state *job = collection->analysis->job;
    uint32_t at = place_of(collection, alike, misses);
    if (at == collection->count)
        return false;
    const struct mpiq_finding *known = &collection->analysis->diagnosis->findings[collection->findings[at]];
    const struct mpiq_job_operation *op = &job->operations[alike->operation];
    uint32_t peer = job->operations[collection->first[at].operation].peer;
    if (misses->count == 0)
        return known->near_miss_count == 0 && !op->any && op->peer != MPIQ_NONE &&
               ((known->relation.same_peer && op->peer == peer) ||
                (has_moved_on(collection->analysis, op->peer) && has_moved_on(collection->analysis, peer)));
    return has_same_miss(job, known, misses);
}

/* Whether an operation and a finding that is there have each other's tag: what is sent with one is received
   with the other. */
static bool is_swapped_with_known(const struct mpiq_unmatched *collection, const struct mpiq_alike *alike,
                                  const struct misses *misses)
{
    const struct mpiq_job_state *job = collection->analysis->job;
    const struct mpiq_job_operation *op = &job->operations[alike->operation];
    if (misses->count == 0 || misses->list[0].differs != MPIQ_MISS_TAG)
        return false;
    for (uint32_t at = 0; at < collection->count; at++) {
        const struct mpiq_finding *finding =
            &collection->analysis->diagnosis->findings[collection->findings[at]];
        const struct mpiq_job_operation *known = &job->operations[collection->first[at].operation];
        if (mpiq_is_send(op) == mpiq_is_send(known) && mpiq_same_communicator(job, op->comm, known->comm) &&
            finding->near_miss_count > 0 && finding->near_misses[0].differs == MPIQ_MISS_TAG &&
            job->operations[finding->near_misses[0].operation].tag == op->tag &&
            job->operations[misses->list[0].operation].tag == known->tag)
            return true;
    }
    return false;
}

/* Who is gone through when. */
enum pass {
    PASS_HEADS,  /* those who explain the rest, and wait for a rank that has gone on */
    PASS_OTHERS, /* who explain the rest, too */
    PASS_ALIKE   /* those who have the same bug */
};

/* Whether an operation is one in a line of ranks that each wait for the next, of which a finding names the
   head already: the head waits for a rank that has gone on, and the others for what the head gets.  All are
   of one closed set of waits. */
static bool is_behind_known(const struct mpiq_unmatched *collection, const struct mpiq_alike *alike,
                            const struct misses *misses)
{
    const struct mpiq_analysis *analysis = collection->analysis;
    const struct mpiq_job_operation *op = &analysis->job->operations[alike->operation];
    const uint32_t *set_of = analysis->explanation->closed_set_of;
    uint32_t at = misses->count > 0 ? collection->count : place_of(collection, alike, misses);
    if (at == collection->count || op->any || op->peer == MPIQ_NONE)
        return false;
    const struct mpiq_alike *known = &collection->first[at];
    const struct mpiq_job_operation *first = &analysis->job->operations[known->operation];
    uint32_t peer = analysis->diagnosis->ranks[op->peer].thread;
    return !first->any && first->peer != MPIQ_NONE && has_moved_on(analysis, first->peer) &&
           peer != MPIQ_NONE && analysis->job->threads[peer].site == alike->site &&
           set_of[alike->thread] != MPIQ_NONE && set_of[alike->thread] == set_of[known->thread] &&
           set_of[alike->thread] == set_of[peer];
}

static void add_thread(struct mpiq_unmatched *collection, uint32_t process, uint32_t thread, enum pass pass)
{
    struct mpiq_analysis *analysis = collection->analysis;
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_wait_graph *graph = analysis->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    if ((pass != PASS_ALIKE) != explains(analysis, thread))
        return;
    for (uint32_t j = 0, looked = 0; j < node->edge_count && looked < MOST_OF_A_THREAD; j++) {
        const struct mpiq_edge *edge = &graph->edges[node->first_edge + j];
        if (edge->operation == MPIQ_NONE || graph->nodes[edge->child].may)
            continue;
        const struct mpiq_job_operation *op = &job->operations[edge->operation];
        bool message = mpiq_is_send(op) || mpiq_is_receive(op);
        if (op->internal || op->status != MPIQ_STATUS_PENDING || !message)
            continue;
        looked++;
        struct mpiq_alike alike = {.operation = edge->operation,
                                   .thread = thread,
                                   .site = job->threads[thread].site,
                                   .process = process};
        struct misses misses = {.count = 0};
        if (mpiq_is_send(op))
            send_misses(analysis, &misses, process, op);
        else
            receive_misses(analysis, &misses, process, op);
        drop_sources(analysis, op, &misses);
        put_sources_last(&misses);
        bool head = !op->any && op->peer != MPIQ_NONE && has_moved_on(analysis, op->peer);
        bool wanted = pass == PASS_HEADS    ? head
                      : pass == PASS_OTHERS ? !head && !is_behind_known(collection, &alike, &misses)
                                            : is_like_known(collection, &alike, &misses) ||
                                                  is_swapped_with_known(collection, &alike, &misses);
        if (wanted)
            add(collection, &alike, &misses);
    }
}

void mpiq_find_messages(struct mpiq_analysis *analysis)
{
    struct mpiq_unmatched collection = {.analysis = analysis};
    for (enum pass pass = PASS_HEADS; pass <= PASS_ALIKE; pass++) {
        for (uint32_t process = 0; process < analysis->job->process_count && !analysis->failed; process++) {
            const struct mpiq_job_rank *rank = mpiq_job_rank_of(analysis->job, process);
            for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
                if (mpiq_is_stuck(analysis->graph, rank->first_thread + i))
                    add_thread(&collection, process, rank->first_thread + i, pass);
            }
        }
    }
    find_astray(&collection);
    mpiq_suspect_partners(&collection);
    for (uint32_t i = 0; i < collection.count; i++)
        mpiq_add_evidence_of(analysis, &analysis->diagnosis->findings[collection.findings[i]],
                             &analysis->diagnosis->findings[collection.findings[i]].others);
}
