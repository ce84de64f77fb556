/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Tarjan's algorithm with a stack of its own: a chain may be a million ranks long. */
struct search {
    const struct mpiq_wait_graph *graph;
    uint32_t *order; /* of discovery, from 1; 0: not yet */
    uint32_t *low;
    uint32_t *component; /* MPIQ_NONE: open */
    uint32_t *next_edge;
    uint32_t *path;
    uint32_t path_count;
    uint32_t *open;
    uint32_t open_count;
    uint32_t discovered;
    uint32_t component_count;
};

static bool is_dead(const struct mpiq_wait_graph *graph, uint32_t index)
{
    const struct mpiq_node *node = &graph->nodes[index];
    return index == MPIQ_NODE_DEAD || (node->kind == MPIQ_KIND_RANK && node->edge_count == 1 &&
                                       graph->edges[node->first_edge].child == MPIQ_NODE_DEAD);
}

/* One child is enough to prove that all of its children do not happen; otherwise all that do not are taken.
 */
static bool needs_all(const struct mpiq_node *node)
{
    return node->need == node->edge_count;
}

/* A dead end comes first.  But what keeps members from coming to calls that do not fit each other is a bug of
   its own, and the one that hangs. */
static uint32_t choose(const struct mpiq_wait_graph *graph, uint32_t index)
{
    const struct mpiq_node *node = &graph->nodes[index];
    uint32_t best = MPIQ_NONE;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t child = graph->edges[node->first_edge + i].child;
        if (graph->nodes[child].may)
            continue;
        if (is_dead(graph, child) && (child != MPIQ_NODE_DEAD || !mpiq_ends_last(graph, index)))
            return child;
        if (best == MPIQ_NONE || best == MPIQ_NODE_DEAD)
            best = child;
    }
    return best;
}

/* The next chosen child of a node, *at edges of it being passed; MPIQ_NONE: no more. */
static uint32_t next_child(const struct mpiq_wait_graph *graph, const uint32_t *chosen, uint32_t index,
                           uint32_t *at)
{
    const struct mpiq_node *node = &graph->nodes[index];
    if (needs_all(node)) {
        if (*at >= node->edge_count)
            return MPIQ_NONE;
        *at = node->edge_count;
        return chosen[index];
    }
    while (*at < node->edge_count) {
        uint32_t child = graph->edges[node->first_edge + (*at)++].child;
        if (!graph->nodes[child].may)
            return child;
    }
    return MPIQ_NONE;
}

static void enter(struct search *search, uint32_t index)
{
    search->order[index] = search->low[index] = ++search->discovered;
    search->path[search->path_count++] = index;
    search->open[search->open_count++] = index;
}

static void leave(struct search *search, uint32_t index)
{
    search->path_count--;
    if (search->path_count > 0) {
        uint32_t parent = search->path[search->path_count - 1];
        if (search->low[index] < search->low[parent])
            search->low[parent] = search->low[index];
    }
    if (search->low[index] != search->order[index])
        return;
    uint32_t member;
    do {
        member = search->open[--search->open_count];
        search->component[member] = search->component_count;
    } while (member != index);
    search->component_count++;
}

static void search_from(struct search *search, const uint32_t *chosen, uint32_t root)
{
    enter(search, root);
    while (search->path_count > 0) {
        uint32_t index = search->path[search->path_count - 1];
        uint32_t child = next_child(search->graph, chosen, index, &search->next_edge[index]);
        if (child == MPIQ_NONE)
            leave(search, index);
        else if (!search->order[child])
            enter(search, child);
        else if (search->component[child] == MPIQ_NONE && search->order[child] < search->low[index])
            search->low[index] = search->order[child];
    }
}

static int compare_threads(const void *left, const void *right, void *context)
{
    const struct mpiq_wait_graph *graph = context;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    uint32_t process_a = mpiq_thread_process(graph, a);
    uint32_t process_b = mpiq_thread_process(graph, b);
    if (process_a != process_b)
        return process_a < process_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

struct naming {
    const struct mpiq_wait_graph *graph;
    const struct mpiq_explanation *explanation;
};

static int compare_closed_sets(const void *left, const void *right, void *context)
{
    const struct naming *naming = context;
    uint32_t a = naming->explanation->threads[((const struct mpiq_closed_set *)left)->first_thread];
    uint32_t b = naming->explanation->threads[((const struct mpiq_closed_set *)right)->first_thread];
    return compare_threads(&a, &b, (void *)naming->graph);
}

/* Threads of the components that no chosen edge leaves. */
static bool find_closed_sets(const struct search *search, struct mpiq_explanation *ret)
{
    const struct mpiq_wait_graph *graph = search->graph;
    bool *left _cleanup_free_ = calloc((size_t)search->component_count + 1, sizeof *left);
    uint32_t *count _cleanup_free_ = calloc((size_t)search->component_count + 2, sizeof *count);
    if (!left || !count)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t at = 0;
        uint32_t child;
        while (search->order[i] && (child = next_child(graph, ret->chosen, i, &at)) != MPIQ_NONE) {
            if (search->component[child] != search->component[i])
                left[search->component[i]] = true;
        }
    }
    for (uint32_t i = 0; i < graph->job->thread_count; i++) {
        uint32_t node = graph->thread_nodes[i];
        if (mpiq_is_stuck(graph, i) && !left[search->component[node]])
            count[search->component[node] + 1]++;
    }
    for (uint32_t i = 1; i <= search->component_count; i++) {
        ret->closed_set_count += count[i] > 0;
        count[i] += count[i - 1];
    }
    ret->thread_count = count[search->component_count];
    ret->threads = calloc((size_t)ret->thread_count + 1, sizeof *ret->threads);
    ret->closed_sets = calloc((size_t)ret->closed_set_count + 1, sizeof *ret->closed_sets);
    if (!ret->threads || !ret->closed_sets)
        return false;
    uint32_t set = 0;
    for (uint32_t i = 0; i < search->component_count; i++) {
        if (count[i + 1] > count[i])
            ret->closed_sets[set++] =
                (struct mpiq_closed_set){.first_thread = count[i], .thread_count = count[i + 1] - count[i]};
    }
    for (uint32_t i = 0; i < graph->job->thread_count; i++) {
        uint32_t node = graph->thread_nodes[i];
        if (mpiq_is_stuck(graph, i) && !left[search->component[node]])
            ret->threads[count[search->component[node]]++] = i;
    }
    struct naming naming = {.graph = graph, .explanation = ret};
    for (uint32_t i = 0; i < ret->closed_set_count; i++)
        qsort_r(&ret->threads[ret->closed_sets[i].first_thread], ret->closed_sets[i].thread_count,
                sizeof *ret->threads, compare_threads, (void *)graph);
    qsort_r(ret->closed_sets, ret->closed_set_count, sizeof *ret->closed_sets, compare_closed_sets, &naming);
    for (uint32_t i = 0; i < ret->closed_set_count; i++) {
        for (uint32_t j = 0; j < ret->closed_sets[i].thread_count; j++)
            ret->closed_set_of[ret->threads[ret->closed_sets[i].first_thread + j]] = i;
    }
    return true;
}

/* Where each node is led to in the end.  Components are numbered with those that they lead to first. */
static bool find_roots(const struct search *search, struct mpiq_explanation *ret)
{
    const struct mpiq_wait_graph *graph = search->graph;
    uint32_t *root _cleanup_free_ = malloc(((size_t)search->component_count + 1) * sizeof *root);
    ret->root_of = malloc(((size_t)graph->node_count + 1) * sizeof *ret->root_of);
    ret->root_count = search->component_count;
    if (!root || !ret->root_of)
        return false;
    for (uint32_t i = 0; i < search->component_count; i++)
        root[i] = i;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t at = 0;
        uint32_t child;
        while (search->order[i] && (child = next_child(graph, ret->chosen, i, &at)) != MPIQ_NONE) {
            if (child != MPIQ_NODE_DEAD && search->component[child] != search->component[i])
                root[search->component[i]] = search->component[child];
        }
    }
    for (uint32_t i = 0; i < search->component_count; i++)
        root[i] = root[root[i]];
    for (uint32_t i = 0; i < graph->node_count; i++)
        ret->root_of[i] = search->order[i] ? root[search->component[i]] : MPIQ_NONE;
    return true;
}

static bool search_init(struct search *search, const struct mpiq_wait_graph *graph)
{
    size_t count = (size_t)graph->node_count + 1;
    *search = (struct search){
        .graph = graph,
        .order = calloc(count, sizeof *search->order),
        .low = calloc(count, sizeof *search->low),
        .component = malloc(count * sizeof *search->component),
        .next_edge = calloc(count, sizeof *search->next_edge),
        .path = calloc(count, sizeof *search->path),
        .open = calloc(count, sizeof *search->open),
    };
    if (search->component)
        memset(search->component, 0xff, count * sizeof *search->component);
    return search->order && search->low && search->component && search->next_edge && search->path &&
           search->open;
}

static void search_deinit(struct search *search)
{
    free(search->order);
    free(search->low);
    free(search->component);
    free(search->next_edge);
    free(search->path);
    free(search->open);
}

bool mpiq_explain(const struct mpiq_wait_graph *graph, struct mpiq_explanation *ret)
{
    *ret = (struct mpiq_explanation){0};
    ret->chosen = malloc(((size_t)graph->node_count + 1) * sizeof *ret->chosen);
    ret->closed_set_of = malloc(((size_t)graph->job->thread_count + 1) * sizeof *ret->closed_set_of);
    if (!ret->chosen || !ret->closed_set_of)
        return false;
    memset(ret->closed_set_of, 0xff, ((size_t)graph->job->thread_count + 1) * sizeof *ret->closed_set_of);
    for (uint32_t i = 0; i < graph->node_count; i++)
        ret->chosen[i] =
            graph->nodes[i].may || graph->nodes[i].kind == MPIQ_KIND_CONSTANT ? MPIQ_NONE : choose(graph, i);
    struct search search;
    bool good = search_init(&search, graph);
    for (uint32_t i = 0; good && i < graph->job->thread_count; i++) {
        if (mpiq_is_stuck(graph, i) && !search.order[graph->thread_nodes[i]])
            search_from(&search, ret->chosen, graph->thread_nodes[i]);
    }
    good = good && find_closed_sets(&search, ret) && find_roots(&search, ret) &&
           mpiq_explanation_shrink(graph, ret);
    search_deinit(&search);
    return good;
}

void mpiq_explanation_deinit(struct mpiq_explanation *explanation)
{
    free(explanation->threads);
    free(explanation->closed_sets);
    free(explanation->closed_set_of);
    free(explanation->root_of);
    free(explanation->chosen);
}

uint32_t mpiq_chosen_child(const struct mpiq_wait_graph *graph, const struct mpiq_explanation *explanation,
                           uint32_t index, uint32_t process)
{
    const struct mpiq_node *node = &graph->nodes[index];
    uint32_t chosen = explanation->chosen[index];
    if (node->kind != MPIQ_KIND_GROUP && node->kind != MPIQ_KIND_INTERNAL_GROUP)
        return chosen;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t child = graph->edges[node->first_edge + i].child;
        bool own = child == mpiq_rank_node(process) ||
                   (graph->nodes[child].kind == MPIQ_KIND_INTERNAL && graph->nodes[child].subject == process);
        if (child == chosen && !own)
            return chosen;
        if (child != chosen && !own && !graph->nodes[child].may)
            return child;
    }
    return chosen;
}

uint32_t mpiq_next_thread(const struct mpiq_wait_graph *graph, const struct mpiq_explanation *explanation,
                          uint32_t thread, uint32_t *process)
{
    *process = MPIQ_NONE;
    uint32_t node = graph->thread_nodes[thread];
    uint32_t own = mpiq_thread_process(graph, thread);
    /* From the thread over groups and collectives to a rank, and from it to its thread. */
    for (uint32_t steps = 0; node != MPIQ_NONE && steps < graph->node_count; steps++) {
        node = mpiq_chosen_child(graph, explanation, node, own);
        if (node == MPIQ_NONE || node == MPIQ_NODE_DEAD)
            return MPIQ_NONE;
        const struct mpiq_node *row = &graph->nodes[node];
        if (row->kind == MPIQ_KIND_RANK || row->kind == MPIQ_KIND_INTERNAL)
            *process = row->subject;
        if (row->kind == MPIQ_KIND_THREAD)
            return row->subject;
    }
    return MPIQ_NONE;
}
