/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives and sends that somebody is blocked on and nobody will ever answer. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/find.h"

/* Alike operations of several ranks are one finding. */
struct alike {
    uint32_t operation;
    uint32_t thread;
    uint32_t site;
    bool peers_differ;
};

static bool is_alike(const struct mpiq_job_state *job, const struct alike *a, const struct alike *b)
{
    const struct mpiq_job_operation *op_a = &job->operations[a->operation];
    const struct mpiq_job_operation *op_b = &job->operations[b->operation];
    return a->site == b->site && mpiq_is_send(op_a) == mpiq_is_send(op_b) && op_a->comm == op_b->comm &&
           op_a->any == op_b->any && op_a->tag_any == op_b->tag_any &&
           (op_a->tag_any || op_a->tag == op_b->tag);
}

static void near_miss(struct mpiq_finder *finder, struct mpiq_finding *finding, uint32_t differs,
                      uint32_t process, uint32_t holder, uint32_t operation)
{
    if (finding->near_miss_count >= MPIQ_MOST_NEAR_MISSES)
        return;
    struct mpiq_near_miss *miss = mpiq_finding_add_near_miss(finding);
    if (miss)
        *miss = (struct mpiq_near_miss){
            .differs = differs, .process = process, .holder = holder, .operation = operation};
    finder->failed = finder->failed || !miss;
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

static void receive_misses(struct mpiq_finder *finder, struct mpiq_finding *finding, uint32_t process,
                           const struct mpiq_job_operation *receive)
{
    const struct mpiq_job_state *job = finder->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    const struct mpiq_matching *matching = &finder->graph->matching;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        uint32_t differs = op->queue == MPIQ_QUEUE_UNEXPECTED && !op->internal && op->peer != MPIQ_NONE
                               ? miss(receive, op->comm, op->peer, op->tag)
                               : 0;
        if (differs)
            near_miss(finder, finding, differs, op->peer, process, rank->first_operation + i);
    }
    for (uint32_t i = matching->first_incoming[process]; i < matching->first_incoming[process + 1]; i++) {
        const struct mpiq_incoming *in = &matching->incoming[i];
        const struct mpiq_job_operation *op = &job->operations[in->operation];
        uint32_t differs = op->internal || matching->fates[in->operation] != MPIQ_FATE_UNDERWAY
                               ? 0
                               : miss(receive, op->comm, in->sender, op->tag);
        if (differs)
            near_miss(finder, finding, differs, in->sender, in->sender, in->operation);
    }
}

static void send_misses(struct mpiq_finder *finder, struct mpiq_finding *finding, uint32_t process,
                        const struct mpiq_job_operation *send)
{
    const struct mpiq_job_state *job = finder->job;
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, send->peer);
    for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &job->operations[index];
        if (op->queue != MPIQ_QUEUE_RECEIVES || op->internal || op->inactive ||
            finder->graph->matching.fates[index] != MPIQ_FATE_OPEN)
            continue;
        uint32_t differs = miss(op, send->comm, process, send->tag);
        if (differs)
            near_miss(finder, finding, differs, send->peer, send->peer, index);
    }
}

/* What the near misses come to, in a clause. */
static const char *nearly(struct mpiq_finder *finder, const struct mpiq_finding *finding, bool receive)
{
    if (finding->near_miss_count == 0)
        return "";
    const struct mpiq_near_miss *miss_ = &finding->near_misses[0];
    const struct mpiq_job_operation *op = &finder->job->operations[miss_->operation];
    if (!receive && op->blocked) /* what the receiver waits for is said of it already */
        return "";
    struct mpiq_arena *arena = finder->arena;
    const char *what =
        receive ? WORDS(arena, "a message from %s", mpiq_words_rank(arena, finder->job, miss_->process))
                : WORDS(arena, "%s waits for one", mpiq_words_rank(arena, finder->job, miss_->process));
    const char *tag = op->tag_any ? "any tag" : WORDS(arena, "tag %d", op->tag);
    const char *how;
    const char *place = "there";
    switch (miss_->differs) {
    case MPIQ_MISS_DESTINATION:
        how = WORDS(arena, " with %s", tag);
        place = WORDS(arena, "at %s", mpiq_words_rank(arena, finder->job, miss_->holder));
        break;
    case MPIQ_MISS_TAG:
        how = WORDS(arena, " with %s", tag);
        break;
    case MPIQ_MISS_COMMUNICATOR:
        how = WORDS(arena, " with %s on %s", tag, mpiq_job_communicator_name(finder->job, op->comm));
        break;
    default:
        how = receive ? WORDS(arena, " with %s", tag)
                      : WORDS(arena, " with %s from %s", tag, mpiq_words_rank(arena, finder->job, op->peer));
    }
    return receive ? WORDS(arena, "; %s%s lies %s unreceived", what, how, place)
                   : WORDS(arena, "; %s%s", what, how);
}

/* Why nobody answers: what the rank it waits for does. */
static const char *because(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                           const struct mpiq_job_operation *op, bool peers_differ)
{
    struct mpiq_arena *arena = finder->arena;
    if (op->any)
        return finding->ranks.size == 1 ? ", and no rank that could send it ever will"
                                        : ", and no rank that could send them ever will";
    if (op->peer == MPIQ_NONE || peers_differ)
        return "";
    if (mpiq_rank_set_contains(&finding->ranks, mpiq_job_world_rank(finder->job, op->peer).world,
                               mpiq_job_world_rank(finder->job, op->peer).rank))
        return ", which is itself";
    return WORDS(arena, "; %s %s", mpiq_words_rank(arena, finder->job, op->peer),
                 mpiq_words_does(arena, finder->graph, op->peer, false));
}

static void describe(struct mpiq_finder *finder, struct mpiq_finding *finding, const struct alike *alike)
{
    const struct mpiq_job_state *job = finder->job;
    const struct mpiq_job_operation *op = &job->operations[alike->operation];
    struct mpiq_arena *arena = finder->arena;
    bool receive = !mpiq_is_send(op);
    const char *place = mpiq_words_place(arena, job, job->threads[alike->thread].site);
    const char *duration = mpiq_words_duration(arena, finding->since);
    bool plural = finding->ranks.size > 1;
    const char *call = mpiq_job_string(job, job->threads[alike->thread].call);
    if (!call)
        call = receive ? "a receive" : "a send";
    const char *what;
    if (alike->peers_differ)
        what = op->tag_any ? WORDS(arena, receive ? "a message" : "a receive")
                           : WORDS(arena, receive ? "tag %d" : "a receive of tag %d", op->tag);
    else
        what = mpiq_words_operation(arena, job, NULL, alike->operation);
    const char *verb = duration[0] ? WORDS(arena, "%s waited %s", plural ? "have" : "has", duration)
                                   : WORDS(arena, "%s waiting", plural ? "are" : "is");
    finding->text =
        WORDS(arena, "%s %s in %s%s%s for %s%s%s", mpiq_words_ranks(arena, &finding->ranks), verb, call,
              place[0] ? " at " : "", place, what, because(finder, finding, op, alike->peers_differ),
              nearly(finder, finding, receive));
}

struct collection {
    struct mpiq_finder *finder;
    struct alike first[MPIQ_MOST_FINDINGS]; /* of each finding */
    uint32_t findings[MPIQ_MOST_FINDINGS];
    uint32_t count;
};

static void add(struct collection *collection, const struct alike *alike)
{
    struct mpiq_finder *finder = collection->finder;
    const struct mpiq_job_state *job = finder->job;
    uint32_t at = 0;
    while (at < collection->count && !is_alike(job, &collection->first[at], alike))
        at++;
    if (at == MPIQ_MOST_FINDINGS)
        return;
    const struct mpiq_job_operation *op = &job->operations[alike->operation];
    if (at == collection->count) {
        struct mpiq_finding *made =
            mpiq_diagnosis_add_finding(finder->diagnosis, mpiq_is_send(op) ? MPIQ_FINDING_SEND_UNMATCHED
                                                                           : MPIQ_FINDING_RECEIVE_UNMATCHED);
        if (!made) {
            finder->failed = true;
            return;
        }
        made->comm = op->comm == MPIQ_NONE ? MPIQ_NONE : job->communicators[op->comm].user;
        made->operation = alike->operation;
        made->proven = true;
        collection->first[at] = *alike;
        collection->findings[at] = (uint32_t)finder->diagnosis->finding_count - 1;
        collection->count++;
    }
    struct mpiq_finding *finding = &finder->diagnosis->findings[collection->findings[at]];
    if (job->operations[collection->first[at].operation].peer != op->peer)
        collection->first[at].peers_differ = true;
    uint32_t process = mpiq_thread_process(finder->graph, alike->thread);
    mpiq_finder_add(finder, &finding->ranks, process);
    mpiq_finder_site(finder, finding, process, alike->thread);
    mpiq_finder_since(finder, finding, process, alike->thread);
    if (finding->near_miss_count >= MPIQ_MOST_NEAR_MISSES)
        return;
    if (mpiq_is_send(op))
        send_misses(finder, finding, process, op);
    else
        receive_misses(finder, finding, process, op);
}

/* Messages that would have done, had they not gone to another rank: of receives from one rank that nothing
   else comes near to.  All ranks' messages are gone through once. */
static void find_astray(struct collection *collection)
{
    struct mpiq_finder *finder = collection->finder;
    const struct mpiq_job_state *job = finder->job;
    bool wanted[MPIQ_MOST_FINDINGS] = {0};
    bool any = false;
    for (uint32_t i = 0; i < collection->count; i++) {
        const struct mpiq_job_operation *receive = &job->operations[collection->first[i].operation];
        wanted[i] = mpiq_is_receive(receive) && !receive->any && !collection->first[i].peers_differ &&
                    finder->diagnosis->findings[collection->findings[i]].near_miss_count == 0;
        any = any || wanted[i];
    }
    for (uint32_t process = 0; any && process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->operation_count; i++) {
            const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
            uint32_t partner = finder->diagnosis->partner[rank->first_operation + i];
            bool taken = partner != MPIQ_NONE && !mpiq_is_send(&job->operations[partner]);
            if (op->queue != MPIQ_QUEUE_UNEXPECTED || op->internal || taken)
                continue;
            for (uint32_t j = 0; j < collection->count; j++) {
                const struct alike *alike = &collection->first[j];
                if (wanted[j] && mpiq_thread_process(finder->graph, alike->thread) != process &&
                    mpiq_fits(&job->operations[alike->operation], op->comm, op->peer, op->tag))
                    near_miss(finder, &finder->diagnosis->findings[collection->findings[j]],
                              MPIQ_MISS_DESTINATION, op->peer, process, rank->first_operation + i);
            }
        }
    }
}

/* Whether a thread's wait is part of the explanation: in a closed set, or for somebody who is dead. */
static bool explains(const struct mpiq_finder *finder, uint32_t thread)
{
    if (finder->explanation->closed_set_of[thread] != MPIQ_NONE)
        return true;
    uint32_t process;
    return mpiq_next_thread(finder->graph, finder->explanation, thread, &process) == MPIQ_NONE;
}

void mpiq_find_messages(struct mpiq_finder *finder)
{
    const struct mpiq_wait_graph *graph = finder->graph;
    struct collection collection = {.finder = finder};
    for (uint32_t process = 0; process < finder->job->process_count && !finder->failed; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(finder->job, process);
        for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
            uint32_t thread = rank->first_thread + i;
            if (!mpiq_is_stuck(graph, thread) || !explains(finder, thread))
                continue;
            const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
            for (uint32_t j = 0; j < node->edge_count; j++) {
                const struct mpiq_edge *edge = &graph->edges[node->first_edge + j];
                if (edge->operation == MPIQ_NONE || graph->nodes[edge->child].may)
                    continue;
                const struct mpiq_job_operation *op = &finder->job->operations[edge->operation];
                if (op->internal || op->status != MPIQ_STATUS_PENDING ||
                    (!mpiq_is_send(op) && !mpiq_is_receive(op)))
                    continue;
                struct alike alike = {.operation = edge->operation,
                                      .thread = thread,
                                      .site = finder->job->threads[thread].site};
                add(&collection, &alike);
            }
        }
    }
    find_astray(&collection);
    for (uint32_t i = 0; i < collection.count && !finder->failed; i++)
        describe(finder, &finder->diagnosis->findings[collection.findings[i]], &collection.first[i]);
}

void mpiq_find_truncations(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    uint32_t found = 0;
    for (uint32_t process = 0; process < job->process_count && found < MPIQ_MOST_FINDINGS; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->operation_count && found < MPIQ_MOST_FINDINGS; i++) {
            uint32_t index = rank->first_operation + i;
            const struct mpiq_job_operation *op = &job->operations[index];
            if (op->queue != MPIQ_QUEUE_RECEIVES || op->kind != MPIQ_OPERATION_RECEIVE || op->internal ||
                op->bytes < 0 || op->status == MPIQ_STATUS_COMPLETE)
                continue;
            uint32_t other = finder->diagnosis->partner[index];
            int64_t bytes = op->status == MPIQ_STATUS_MATCHED ? op->actual_bytes
                            : other != MPIQ_NONE              ? job->operations[other].bytes
                                                              : -1;
            if (bytes <= op->bytes)
                continue;
            struct mpiq_finding *finding =
                mpiq_diagnosis_add_finding(finder->diagnosis, MPIQ_FINDING_TRUNCATION);
            if (!finding) {
                finder->failed = true;
                return;
            }
            found++;
            finding->comm = op->comm;
            finding->operation = index;
            finding->other = other;
            mpiq_finder_add(finder, &finding->ranks, process);
            mpiq_finder_site(finder, finding, process, MPIQ_NONE);
            finding->text = WORDS(finder->arena,
                                  "%s has room for %lld bytes in its receive of %s, but the message has %lld",
                                  mpiq_words_rank(finder->arena, job, process), (long long)op->bytes,
                                  mpiq_words_operation(finder->arena, job, rank, index), (long long)bytes);
        }
    }
}
