/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A knot is closed: nobody in it waits for somebody outside.  But who waits for all of several has been led
 * along one of them, and another one may close a smaller circle.  So ranks are dropped from it, one after
 * another, as long as something closed is left.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/explain.h"

/* Larger knots stay as they are: trying each rank would take too long, and nobody reads them whole. */
enum { MOST_NODES = 512, MOST_EDGES = 8192 };

struct part {
    const struct mpiq_wait_graph *graph;
    uint32_t nodes[MOST_NODES];
    uint32_t count;
    bool *inside; /* of each node of the graph */
};

static bool is_dead(const struct part *part, uint32_t node)
{
    return part->inside[node] || node == MPIQ_NODE_DEAD;
}

/* All nodes of a knot: along what was chosen, where one child proves it, else along all that never happen.
   False: more than are looked at. */
static bool gather(struct part *part, const uint32_t *chosen, uint32_t start)
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
            bool along = node->need < node->edge_count || child == chosen[part->nodes[i]];
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
        return graph->job->ranks[graph->thread_ranks[node->subject]].process;
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
                dead += is_dead(part, part->graph->edges[node->first_edge + j].child);
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
static void choose_again(const struct part *part, uint32_t *chosen)
{
    for (uint32_t i = 0; i < part->count; i++) {
        const struct mpiq_node *node = &part->graph->nodes[part->nodes[i]];
        if (!part->inside[part->nodes[i]] || is_dead(part, chosen[part->nodes[i]]))
            continue;
        for (uint32_t j = 0; j < node->edge_count; j++) {
            uint32_t child = part->graph->edges[node->first_edge + j].child;
            if (is_dead(part, child)) {
                chosen[part->nodes[i]] = child;
                break;
            }
        }
    }
}

static void shrink(struct part *part, struct mpiq_explanation *explanation, struct mpiq_knot *knot)
{
    const struct mpiq_wait_graph *graph = part->graph;
    uint32_t *threads = &explanation->threads[knot->first_thread];
    close_again(part);
    if (!holds_thread(part))
        return;
    /* From the last rank on, so that the first ones stay where it makes no difference. */
    for (uint32_t i = part->count; i-- > 0;) {
        uint32_t process = process_of(graph, part->nodes[i]);
        if (part->inside[part->nodes[i]] && process != MPIQ_NONE)
            try_to_drop(part, process);
    }
    choose_again(part, explanation->chosen);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < knot->thread_count; i++) {
        if (part->inside[graph->thread_nodes[threads[i]]])
            threads[kept++] = threads[i];
        else
            explanation->knot_of[threads[i]] = MPIQ_NONE;
    }
    knot->thread_count = kept;
}

bool mpiq_explanation_shrink(const struct mpiq_wait_graph *graph, struct mpiq_explanation *explanation)
{
    struct part *part _cleanup_free_ = malloc(sizeof *part);
    bool *inside _cleanup_free_ = calloc((size_t)graph->node_count + 1, sizeof *inside);
    if (!part || !inside)
        return false;
    for (uint32_t i = 0; i < explanation->knot_count; i++) {
        struct mpiq_knot *knot = &explanation->knots[i];
        *part = (struct part){.graph = graph, .inside = inside};
        if (knot->thread_count > 1 &&
            gather(part, explanation->chosen, graph->thread_nodes[explanation->threads[knot->first_thread]]))
            shrink(part, explanation, knot);
        for (uint32_t j = 0; j < part->count; j++)
            inside[part->nodes[j]] = false;
    }
    return true;
}
