/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In a closed set, no rank waits for a rank outside it.  But for a rank that waits for all of several, only
 * one of them was followed, and another might close a smaller circle.  So ranks are dropped one after
 * another, as long as a closed set remains.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/explain.h"

/* In larger sets trying each rank would take too long: a circle without a short cut is looked for instead,
   in as many as get a finding. */
enum { MOST_NODES = 512, MOST_EDGES = 8192, MOST_CIRCLES = 16 };

struct part {
    const struct mpiq_wait_graph *graph;
    uint32_t *chosen; /* the explanation's */
    uint32_t nodes[MOST_NODES];
    uint32_t count;
    bool *inside; /* of each node of the graph */
};

/* Whether a node's child never happens even if the rest of the part alone does not.  Calls that do not fit
   each other are nobody's end as long as the way goes over a member that has yet to come to them. */
static bool is_dead(const struct part *part, uint32_t node, uint32_t child)
{
    bool passed = part->chosen[node] != MPIQ_NODE_DEAD && mpiq_ends_last(part->graph, node);
    return part->inside[child] || (child == MPIQ_NODE_DEAD && !passed);
}

/* All nodes of a closed set: along what was chosen, where one child proves it, else along all that never
   happen. False: more than are looked at. */
static bool gather(struct part *part, uint32_t start)
{
    uint32_t edges = 0;
    part->nodes[part->count++] = start;
    part->inside[start] = true;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mpiq_node *node = &part->graph->nodes[part->nodes[i]];
        edges += node->edge_count;
        if (edges > MOST_EDGES)
            return false;
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t child = part->graph->edges[node->first_edge + j].child;
            bool along = node->need < node->edge_count || child == part->chosen[part->nodes[i]];
            if (!along || part->graph->nodes[child].may || part->inside[child] || child < MPIQ_NODE_CONSTANTS)
                continue;
            if (part->count == MOST_NODES)
                return false;
            part->inside[child] = true;
            part->nodes[part->count++] = child;
        }
    }
    return true;
}

static uint32_t process_of(const struct mpiq_wait_graph *graph, uint32_t index)
{
    const struct mpiq_node *node = &graph->nodes[index];
    switch ((enum mpiq_node_kind)node->kind) {
    case MPIQ_KIND_RANK:
    case MPIQ_KIND_INTERNAL:
    case MPIQ_KIND_BACKGROUND:
        return node->subject;
    case MPIQ_KIND_THREAD:
        return mpiq_thread_process(graph, node->subject);
    default:
        return MPIQ_NONE;
    }
}

/* Takes out what may happen once the rest of the part alone does not. */
static void close_again(struct part *part)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < part->count; i++) {
            const struct mpiq_node *node = &part->graph->nodes[part->nodes[i]];
            if (!part->inside[part->nodes[i]])
                continue;
            uint32_t dead = 0;
            for (uint32_t j = 0; j < node->edge_count; j++)
                dead += is_dead(part, part->nodes[i], part->graph->edges[node->first_edge + j].child);
            if (node->edge_count - dead >= node->need) {
                part->inside[part->nodes[i]] = false;
                changed = true;
            }
        }
    }
}

static bool holds_thread(const struct part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        if (part->inside[part->nodes[i]] && part->graph->nodes[part->nodes[i]].kind == MPIQ_KIND_THREAD)
            return true;
    }
    return false;
}

/* Drops a rank if something closed is left without it. */
static void try_to_drop(struct part *part, uint32_t process)
{
    bool before[MOST_NODES];
    for (uint32_t i = 0; i < part->count; i++) {
        before[i] = part->inside[part->nodes[i]];
        if (process_of(part->graph, part->nodes[i]) == process)
            part->inside[part->nodes[i]] = false;
    }
    close_again(part);
    if (holds_thread(part))
        return;
    for (uint32_t i = 0; i < part->count; i++)
        part->inside[part->nodes[i]] = before[i];
}

/* Leads those that are left along each other. */
static void choose_again(const struct part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mpiq_node *node = &part->graph->nodes[part->nodes[i]];
        if (!part->inside[part->nodes[i]] || is_dead(part, part->nodes[i], part->chosen[part->nodes[i]]))
            continue;
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t child = part->graph->edges[node->first_edge + j].child;
            if (is_dead(part, part->nodes[i], child)) {
                part->chosen[part->nodes[i]] = child;
                break;
            }
        }
    }
}

static void shrink(struct part *part, struct mpiq_explanation *explanation, struct mpiq_closed_set *set)
{
    const struct mpiq_wait_graph *graph = part->graph;
    uint32_t *threads = &explanation->threads[set->first_thread];
    close_again(part);
    if (!holds_thread(part))
        return;
    /* From the last rank on, so that the first ones stay where it makes no difference. */
    for (uint32_t i = part->count; i-- > 0;) {
        uint32_t process = process_of(graph, part->nodes[i]);
        if (part->inside[part->nodes[i]] && process != MPIQ_NONE)
            try_to_drop(part, process);
    }
    choose_again(part);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->thread_count; i++) {
        if (part->inside[graph->thread_nodes[threads[i]]])
            threads[kept++] = threads[i];
        else
            explanation->closed_set_of[threads[i]] = MPIQ_NONE;
    }
    set->thread_count = kept;
}

/* A circle among nodes of which one child is enough to prove them: `path` in order, each leading to the next.
 */
struct circle {
    const struct mpiq_wait_graph *graph;
    const struct mpiq_explanation *explanation;
    uint32_t set;
    uint32_t *path; /* room for all nodes; the queue of the search before */
    uint32_t count;
    uint32_t *from;     /* of each node the one before; MPIQ_NONE */
    uint32_t *position; /* of each node in the path, plus one */
};

/* Whether the search goes on at a child. */
static bool leads_on(const struct circle *circle, uint32_t child)
{
    const struct mpiq_node *node = &circle->graph->nodes[child];
    return child >= MPIQ_NODE_CONSTANTS && !node->may && node->need == node->edge_count &&
           (node->kind != MPIQ_KIND_THREAD ||
            circle->explanation->closed_set_of[node->subject] == circle->set);
}

/* The shortest way from a node back to itself, breadth first; MPIQ_NONE: there is none, else its last node.
 */
static uint32_t way_back(struct circle *circle, uint32_t start)
{
    const struct mpiq_wait_graph *graph = circle->graph;
    uint32_t last = MPIQ_NONE;
    uint32_t count = 0;
    circle->path[count++] = start;
    for (uint32_t i = 0; last == MPIQ_NONE && i < count; i++) {
        const struct mpiq_node *node = &graph->nodes[circle->path[i]];
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t child = graph->edges[node->first_edge + j].child;
            if (child == start) {
                last = circle->path[i];
                break;
            }
            if (circle->from[child] != MPIQ_NONE || !leads_on(circle, child))
                continue;
            circle->from[child] = circle->path[i];
            circle->path[count++] = child;
        }
    }
    circle->count = count; /* to be forgotten again */
    return last;
}

/* Cuts the circle at its shortest way back: what is left has no other one. */
static void cut(struct circle *circle)
{
    const struct mpiq_wait_graph *graph = circle->graph;
    uint32_t first = 0;
    uint32_t last = circle->count - 1;
    for (uint32_t i = 0; i < circle->count; i++)
        circle->position[circle->path[i]] = i + 1;
    for (uint32_t i = 0; i < circle->count; i++) {
        const struct mpiq_node *node = &graph->nodes[circle->path[i]];
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t at = circle->position[graph->edges[node->first_edge + j].child];
            if (at > 0 && at - 1 <= i && i - (at - 1) < last - first) {
                first = at - 1;
                last = i;
            }
        }
    }
    for (uint32_t i = 0; i < circle->count; i++)
        circle->position[circle->path[i]] = 0;
    circle->count = last - first + 1;
    memmove(circle->path, &circle->path[first], circle->count * sizeof *circle->path);
}

/* Leaves of a closed set the threads of one circle, if there is one that leads through no choice. */
static void keep_circle(struct circle *circle, struct mpiq_explanation *explanation,
                        struct mpiq_closed_set *set)
{
    const struct mpiq_wait_graph *graph = circle->graph;
    uint32_t *threads = &explanation->threads[set->first_thread];
    uint32_t start = graph->thread_nodes[threads[0]];
    uint32_t last = leads_on(circle, start) ? way_back(circle, start) : MPIQ_NONE;
    uint32_t seen = circle->count;
    uint32_t length = 0;
    for (uint32_t node = last; node != MPIQ_NONE && node != start; node = circle->from[node])
        length++;
    /* The way is written behind the queue's end, then the queue is forgotten. */
    uint32_t *way = &circle->path[seen];
    for (uint32_t node = last, i = length; last != MPIQ_NONE && i > 0; node = circle->from[node])
        way[i--] = node;
    way[0] = start;
    for (uint32_t i = 0; i < seen; i++)
        circle->from[circle->path[i]] = MPIQ_NONE;
    circle->count = 0;
    if (last == MPIQ_NONE)
        return;
    memmove(circle->path, way, ((size_t)length + 1) * sizeof *way);
    circle->count = length + 1;
    cut(circle);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < circle->count; i++) {
        explanation->chosen[circle->path[i]] = circle->path[(i + 1) % circle->count];
        circle->position[circle->path[i]] = 1;
    }
    for (uint32_t i = 0; i < set->thread_count; i++) {
        if (circle->position[graph->thread_nodes[threads[i]]])
            threads[kept++] = threads[i];
        else
            explanation->closed_set_of[threads[i]] = MPIQ_NONE;
    }
    set->thread_count = kept;
    for (uint32_t i = 0; i < circle->count; i++)
        circle->position[circle->path[i]] = 0;
}

static bool shrink_large(const struct mpiq_wait_graph *graph, struct mpiq_explanation *explanation,
                         const uint32_t *sets, uint32_t count)
{
    size_t size = (size_t)graph->node_count + 1;
    uint32_t *path _cleanup_free_ = malloc(2 * size * sizeof *path);
    uint32_t *from _cleanup_free_ = malloc(size * sizeof *from);
    uint32_t *position _cleanup_free_ = calloc(size, sizeof *position);
    if (!path || !from || !position)
        return false;
    memset(from, 0xff, size * sizeof *from);
    for (uint32_t i = 0; i < count; i++) {
        struct circle circle = {.graph = graph,
                                .explanation = explanation,
                                .set = sets[i],
                                .path = path,
                                .from = from,
                                .position = position};
        keep_circle(&circle, explanation, &explanation->closed_sets[sets[i]]);
    }
    return true;
}

bool mpiq_explanation_shrink(const struct mpiq_wait_graph *graph, struct mpiq_explanation *explanation)
{
    struct part *part _cleanup_free_ = malloc(sizeof *part);
    bool *inside _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *inside);
    if (!part || !inside)
        return false;
    uint32_t large[MOST_CIRCLES];
    uint32_t large_count = 0;
    for (uint32_t i = 0; i < explanation->closed_set_count; i++) {
        struct mpiq_closed_set *set = &explanation->closed_sets[i];
        *part = (struct part){.graph = graph, .chosen = explanation->chosen, .inside = inside};
        if (set->thread_count > 1) {
            if (gather(part, graph->thread_nodes[explanation->threads[set->first_thread]]))
                shrink(part, explanation, set);
            else if (large_count < MOST_CIRCLES)
                large[large_count++] = i;
        }
        for (uint32_t j = 0; j < part->count; j++)
            inside[part->nodes[j]] = false;
    }
    return large_count == 0 || shrink_large(graph, explanation, large, large_count);
}
