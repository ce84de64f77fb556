/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/wait_picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/wait_circle.h"
#include "words/nouns.h"
#include "words/wait_text.h"

enum {
    MOST_GROUPS = 16,
    MOST_ALONE = 8,      /* suspects and ends of messages that stand on their own */
    MOST_UNNAMED = 256,  /* processes whose waits name no rank: others do as they do */
    MOST_CAUSES = 8,     /* whose circles are looked for */
    ENOUGH_FOR_FRAME = 3 /* edges to more ranks of a circle than that, and to all of them, are one */
};

struct builder {
    const struct mpiq_page *page;
    struct mpiq_wait_picture *picture;
    uint32_t *node_of; /* of each process; MPIQ_NONE */
    struct mpiq_rank_set alone;
    /* The waits that make up the circles: node next[i] follows node i. */
    uint32_t next[MPIQ_PICTURE_MOST_NODES];
    /* While the waits of one process are added. */
    uint32_t process;
    uint32_t unnamed; /* processes so far whose waits name no rank: each takes as long as the job is large */
};

void mpiq_wait_picture_deinit(struct mpiq_wait_picture *picture)
{
    for (size_t i = 0; i < picture->node_count; i++)
        mpiq_rank_set_deinit(&picture->nodes[i].ranks);
    for (size_t i = 0; i < picture->edge_count; i++)
        free(picture->edges[i].label);
    free(picture->nodes);
    free(picture->edges);
    *picture = (struct mpiq_wait_picture){0};
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

static bool meet(const struct mpiq_rank_set *a, const struct mpiq_ranks *b)
{
    return mpiq_rank_ranges_overlap(a->ranges, a->count, b->ranges, b->count);
}

/* A new node without ranks; NULL on allocation failure. */
static struct mpiq_picture_node *add_node(struct mpiq_wait_picture *picture,
                                          const struct mpiq_rank_diagnosis *example)
{
    struct mpiq_picture_node *nodes = mpiq_array_grown(picture->nodes, picture->node_count, sizeof *nodes);
    if (!nodes)
        return NULL;
    picture->nodes = nodes;
    nodes[picture->node_count] = (struct mpiq_picture_node){.example = example};
    return &nodes[picture->node_count++];
}

/* A process on its own; nothing if it has a node. */
static bool add_alone(struct builder *b, uint32_t process, bool circle)
{
    if (process >= b->page->diagnosis->rank_count || b->node_of[process] != MPIQ_NONE)
        return true;
    struct mpiq_world_rank name = mpiq_job_world_rank(b->page->job, process);
    struct mpiq_picture_node *node = add_node(b->picture, &b->page->diagnosis->ranks[process]);
    if (!node)
        return false;
    node->circle = circle;
    b->node_of[process] = (uint32_t)b->picture->node_count - 1;
    return mpiq_rank_set_add(&node->ranks, name.world, name.rank) &&
           mpiq_rank_set_add(&b->alone, name.world, name.rank);
}

static bool waits_for(const struct builder *b, uint32_t from, uint32_t to)
{
    const struct mpiq_waits_for *wait = b->page->diagnosis->ranks[from].waits_for;
    struct mpiq_world_rank name = mpiq_job_world_rank(b->page->job, to);
    const struct mpiq_rank_range range = {.world = name.world, .first = name.rank, .last = name.rank};
    return wait && (wait->ranks.count == 0 ||
                    mpiq_rank_ranges_overlap(wait->ranks.ranges, wait->ranks.count, &range, 1));
}

static bool add_circle(struct builder *b, const struct mpiq_wait_circle *circle)
{
    size_t room = MPIQ_PICTURE_MOST_CIRCLE - b->picture->circle_count;
    size_t shown = circle->count < room ? circle->count : room;
    for (size_t i = 0; i < shown; i++) {
        if (!add_alone(b, circle->processes[i], true))
            return false;
    }
    b->picture->circle_count = b->picture->node_count;
    b->picture->left_out += circle->count - shown;
    for (size_t i = 0; i < shown; i++) {
        uint32_t next = circle->processes[i + 1 < circle->count ? i + 1 : 0];
        uint32_t from = b->node_of[circle->processes[i]];
        if (b->node_of[next] != MPIQ_NONE && b->next[from] == MPIQ_NONE &&
            waits_for(b, circle->processes[i], next))
            b->next[from] = b->node_of[next];
    }
    return true;
}

/* Of a finding about a rank that waits for itself: the others that do. */
static bool add_circles_of_one(struct builder *b, const struct mpiq_rank_set *ranks)
{
    for (uint32_t i = 0; i < ranks->count; i++) {
        for (uint64_t rank = ranks->ranges[i].first; rank <= ranks->ranges[i].last; rank++) {
            uint32_t process = mpiq_job_process(b->page->job, ranks->ranges[i].world, (uint32_t)rank);
            if (b->picture->circle_count == MPIQ_PICTURE_MOST_CIRCLE)
                return true;
            const struct mpiq_waits_for *wait =
                process == MPIQ_NONE ? NULL : b->page->diagnosis->ranks[process].waits_for;
            if (wait && wait->ranks.size == 1 && waits_for(b, process, process) &&
                !add_circle(b, &(struct mpiq_wait_circle){&process, 1}))
                return false;
        }
    }
    return true;
}

static bool add_circles(struct builder *b)
{
    const struct mpiq_diagnosis *diagnosis = b->page->diagnosis;
    size_t causes = 0;
    bool good = true;
    for (size_t i = 0; i < diagnosis->finding_count && causes < MOST_CAUSES && good; i++) {
        struct mpiq_wait_circle circle = {0};
        if (diagnosis->findings[i].consequence_of < diagnosis->finding_count)
            continue;
        causes++;
        good = mpiq_wait_circle_collect(b->page, &diagnosis->findings[i], &circle) &&
               add_circle(b, &circle) &&
               (circle.count != 1 || add_circles_of_one(b, &diagnosis->findings[i].ranks));
        mpiq_wait_circle_deinit(&circle);
    }
    return good;
}

/* From whom to whom a message went that lies where nobody takes it; false: the near miss is none. */
static bool stray_of(const struct builder *b, const struct mpiq_near_miss *miss, uint32_t *from, uint32_t *to)
{
    if (miss->operation >= b->page->job->operation_count)
        return false;
    const struct mpiq_job_operation *operation = &b->page->job->operations[miss->operation];
    bool arrived = operation->queue == MPIQ_QUEUE_UNEXPECTED;
    bool sends = operation->kind == MPIQ_OPERATION_SEND || operation->kind == MPIQ_OPERATION_BSEND ||
                 operation->kind == MPIQ_OPERATION_SSEND || operation->kind == MPIQ_OPERATION_RSEND;
    *from = arrived ? operation->peer : miss->process;
    *to = arrived ? miss->holder : operation->peer;
    return (arrived || sends) && *from < b->page->diagnosis->rank_count &&
           *to < b->page->diagnosis->rank_count;
}

/* Suspects where they are few, and the ends of messages that went astray. */
static bool add_important(struct builder *b)
{
    const struct mpiq_diagnosis *diagnosis = b->page->diagnosis;
    size_t most = b->picture->node_count + MOST_ALONE;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        for (size_t k = 0; k < finding->near_miss_count && b->picture->node_count + 2 <= most; k++) {
            uint32_t from, to;
            if (stray_of(b, &finding->near_misses[k], &from, &to) &&
                (!add_alone(b, from, false) || !add_alone(b, to, false)))
                return false;
        }
        for (uint32_t k = 0; k < finding->suspects.count && finding->suspects.size <= MOST_ALONE; k++) {
            const struct mpiq_rank_range *range = &finding->suspects.ranges[k];
            for (uint32_t rank = range->first; rank <= range->last; rank++) {
                if (b->picture->node_count < most &&
                    !add_alone(b, mpiq_job_process(b->page->job, range->world, rank), false))
                    return false;
            }
        }
    }
    return true;
}

static void note_ranks(struct builder *b, const struct mpiq_rank_set *ranks, uint32_t node)
{
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct mpiq_rank_range *range = &ranks->ranges[i];
        for (uint64_t rank = range->first; rank <= range->last; rank++) {
            uint32_t process = mpiq_job_process(b->page->job, range->world, (uint32_t)rank);
            if (process != MPIQ_NONE)
                b->node_of[process] = node;
        }
    }
}

/* All others, by place; beyond a number of places they are one. */
static bool add_groups(struct builder *b)
{
    struct mpiq_behaviours classes _cleanup_(mpiq_behaviours_deinit) = {0};
    if (!mpiq_behaviours_collect(b->page, &b->alone, &classes))
        return false;
    size_t first = b->picture->node_count;
    for (size_t i = 0; i < classes.count; i++) {
        bool rest = i >= MOST_GROUPS && b->picture->node_count > first;
        struct mpiq_picture_node *node = rest && i > MOST_GROUPS
                                             ? &b->picture->nodes[b->picture->node_count - 1]
                                             : add_node(b->picture, rest ? NULL : classes.items[i].example);
        if (!node || !mpiq_rank_set_add_set(&node->ranks, &classes.items[i].ranks))
            return false;
        note_ranks(b, &classes.items[i].ranks, (uint32_t)(node - b->picture->nodes));
    }
    return true;
}

static bool mark_suspects(struct builder *b)
{
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    if (!mpiq_page_suspects(b->page, &suspects))
        return false;
    for (size_t i = 0; i < b->picture->node_count; i++)
        b->picture->nodes[i].suspect = mpiq_rank_set_overlaps(&b->picture->nodes[i].ranks, &suspects);
    return true;
}

/* ---- edges -------------------------------------------------------------------------------------------- */

static bool add_edge(struct builder *b, uint32_t from, uint32_t to, enum mpiq_picture_line line,
                     const char *label, uint32_t comm)
{
    struct mpiq_wait_picture *picture = b->picture;
    for (size_t i = 0; i < picture->edge_count; i++) {
        struct mpiq_picture_edge *edge = &picture->edges[i];
        if (edge->from != from || edge->to != to ||
            (edge->line == MPIQ_LINE_STRAY) != (line == MPIQ_LINE_STRAY))
            continue;
        edge->more |= strcmp(edge->label, label) != 0;
        edge->comm = edge->comm == comm ? comm : MPIQ_NONE;
        return true;
    }
    struct mpiq_picture_edge *edges = mpiq_array_grown(picture->edges, picture->edge_count, sizeof *edges);
    if (!edges)
        return false;
    picture->edges = edges;
    char *copy = strdup(label);
    if (!copy)
        return false;
    edges[picture->edge_count++] =
        (struct mpiq_picture_edge){.from = from, .to = to, .line = line, .label = copy, .comm = comm};
    return true;
}

static bool connect_part(void *context, const struct mpiq_wait_part *part, const struct mpiq_ranks *ranks)
{
    struct builder *b = context;
    struct mpiq_buffer label _cleanup_(mpiq_buffer_deinit) = {0};
    const struct mpiq_rank_diagnosis *rank = &b->page->diagnosis->ranks[b->process];
    uint32_t from = b->node_of[b->process];
    mpiq_put_part_label(&label, part, rank->call);
    uint32_t comm = part->internal && rank->comm != MPIQ_NONE ? rank->comm : part->comm;
    if (ranks->size == 1) {
        uint32_t other = mpiq_job_process(b->page->job, ranks->ranges[0].world, ranks->ranges[0].first);
        return other == MPIQ_NONE || b->node_of[other] == MPIQ_NONE ||
               add_edge(b, from, b->node_of[other], MPIQ_LINE_WAIT, mpiq_buffer_text(&label), comm);
    }
    for (uint32_t to = 0; to < b->picture->node_count; to++) {
        const struct mpiq_picture_node *node = &b->picture->nodes[to];
        /* A rank alone waits for itself only where nobody else could help. */
        if ((to != from || node->ranks.size > 1) && meet(&node->ranks, ranks) &&
            !add_edge(b, from, to, MPIQ_LINE_WAIT, mpiq_buffer_text(&label), comm))
            return false;
    }
    return !label.failed;
}

static bool add_waits(struct builder *b)
{
    const struct mpiq_waits_for *last = NULL;
    uint32_t last_node = MPIQ_NONE;
    for (uint32_t process = 0; process < b->page->diagnosis->rank_count; process++) {
        const struct mpiq_waits_for *wait = b->page->diagnosis->ranks[process].waits_for;
        if (!wait || b->node_of[process] == MPIQ_NONE || (wait == last && b->node_of[process] == last_node))
            continue;
        if (wait->ranks.size == 0 && b->unnamed++ >= MOST_UNNAMED)
            continue;
        last = wait;
        last_node = b->node_of[process];
        b->process = process;
        if (!mpiq_each_awaited(b->page, process, connect_part, b))
            return false;
    }
    return true;
}

static bool add_strays(struct builder *b)
{
    const struct mpiq_diagnosis *diagnosis = b->page->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        for (size_t k = 0; k < diagnosis->findings[i].near_miss_count; k++) {
            const struct mpiq_near_miss *miss = &diagnosis->findings[i].near_misses[k];
            uint32_t from, to;
            char tag[MPIQ_TAG_WORDS];
            if (!stray_of(b, miss, &from, &to) || b->node_of[from] == MPIQ_NONE ||
                b->node_of[to] == MPIQ_NONE)
                continue;
            const struct mpiq_job_operation *operation = &b->page->job->operations[miss->operation];
            mpiq_tag_words(tag, operation->tag_any, operation->tag);
            if (!add_edge(b, b->node_of[from], b->node_of[to], MPIQ_LINE_STRAY, tag, operation->comm))
                return false;
        }
    }
    return true;
}

/* The circles' own waits are marked; one that no rank's wait tells is added. */
static bool mark_circles(struct builder *b)
{
    struct mpiq_wait_picture *picture = b->picture;
    for (uint32_t from = 0; from < picture->circle_count; from++) {
        bool found = b->next[from] == MPIQ_NONE;
        for (size_t i = 0; i < picture->edge_count && !found; i++) {
            struct mpiq_picture_edge *edge = &picture->edges[i];
            found = edge->from == from && edge->to == b->next[from] && edge->line == MPIQ_LINE_WAIT;
            if (found)
                edge->line = MPIQ_LINE_CIRCLE;
        }
        const struct mpiq_rank_diagnosis *rank = picture->nodes[from].example;
        if (!found &&
            !add_edge(b, from, b->next[from], MPIQ_LINE_CIRCLE, rank->call ? rank->call : "", rank->comm))
            return false;
    }
    return true;
}

/* Whoever waits for all ranks of a circle has one edge to it. */
static void frame_edges(struct mpiq_wait_picture *picture)
{
    for (uint32_t from = 0; from < picture->node_count; from++) {
        size_t count = 0, kept = 0;
        for (size_t i = 0; i < picture->edge_count; i++)
            count += picture->edges[i].from == from && picture->edges[i].to < picture->circle_count &&
                     picture->edges[i].line == MPIQ_LINE_WAIT;
        if (from < picture->circle_count || count < picture->circle_count || count <= ENOUGH_FOR_FRAME)
            continue;
        bool first = true;
        for (size_t i = 0; i < picture->edge_count; i++) {
            struct mpiq_picture_edge *edge = &picture->edges[i];
            bool into =
                edge->from == from && edge->to < picture->circle_count && edge->line == MPIQ_LINE_WAIT;
            if (into && !first) {
                free(edge->label);
                continue;
            }
            if (into) {
                edge->to = MPIQ_PICTURE_ALL_OF_CIRCLE;
                first = false;
            }
            picture->edges[kept++] = *edge;
        }
        picture->edge_count = kept;
    }
}

/* Leaves out nodes without an edge: they say nothing of who waits for whom. */
static void drop_lone_nodes(struct mpiq_wait_picture *picture)
{
    uint32_t place[MPIQ_PICTURE_MOST_NODES] = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < picture->node_count; i++) {
        bool used = i < picture->circle_count;
        for (size_t e = 0; e < picture->edge_count && !used; e++)
            used = picture->edges[e].from == i || picture->edges[e].to == i;
        place[i] = kept;
        if (!used) {
            mpiq_rank_set_deinit(&picture->nodes[i].ranks);
            continue;
        }
        picture->nodes[kept++] = picture->nodes[i];
    }
    picture->node_count = kept;
    for (size_t e = 0; e < picture->edge_count; e++) {
        struct mpiq_picture_edge *edge = &picture->edges[e];
        edge->from = place[edge->from];
        edge->to = edge->to == MPIQ_PICTURE_ALL_OF_CIRCLE ? edge->to : place[edge->to];
    }
}

bool mpiq_wait_picture_collect(const struct mpiq_page *page, struct mpiq_wait_picture *ret)
{
    *ret = (struct mpiq_wait_picture){0};
    size_t count = page->diagnosis->rank_count;
    if (count == 0)
        return true;
    uint32_t *node_of _cleanup_free_ = malloc(count * sizeof *node_of);
    struct builder b = {.page = page, .picture = ret, .node_of = node_of};
    if (!node_of)
        return false;
    memset(node_of, 0xff, count * sizeof *node_of);
    memset(b.next, 0xff, sizeof b.next);
    bool good = add_circles(&b) && add_important(&b) && add_groups(&b) && mark_suspects(&b) &&
                add_waits(&b) && add_strays(&b) && mark_circles(&b);
    mpiq_rank_set_deinit(&b.alone);
    if (!good)
        return false;
    frame_edges(ret);
    drop_lone_nodes(ret);
    return true;
}
