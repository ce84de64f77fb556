/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/wait_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/dot.h"
#include "base/array.h"

/* Ranks that are nodes of their own: more are hard to look at. */
#define MOST_SINGLE_RANKS 12
#define MOST_NODES 24
#define MOST_EDGES 80

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

/* Whether two sets have a rank in common. */
static bool meet(const struct mpiq_rank_set *a, const struct mpiq_rank_set *b)
{
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct mpiq_rank_range *x = &a->ranges[i];
        const struct mpiq_rank_range *y = &b->ranges[k];
        if (x->world == y->world && x->first <= y->last && y->first <= x->last)
            return true;
        if (x->world < y->world || (x->world == y->world && x->last < y->last))
            i++;
        else
            k++;
    }
    return false;
}

/* A new node without ranks; NULL without memory. */
static struct mpiq_picture_node *add_node(struct mpiq_wait_picture *picture,
                                          const struct mpiq_rank_diagnosis *example, bool suspect)
{
    struct mpiq_picture_node *nodes = mpiq_array_grown(picture->nodes, picture->node_count, sizeof *nodes);
    if (!nodes)
        return NULL;
    picture->nodes = nodes;
    nodes[picture->node_count] = (struct mpiq_picture_node){.example = example, .suspect = suspect};
    return &nodes[picture->node_count++];
}

static bool add_single(const struct mpiq_page *page, struct mpiq_wait_picture *picture,
                       const struct mpiq_rank_set *ranks)
{
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    if (!mpiq_page_suspects(page, &suspects))
        return false;
    for (uint32_t i = 0; i < ranks->count; i++) {
        for (uint32_t rank = ranks->ranges[i].first; rank <= ranks->ranges[i].last; rank++) {
            struct mpiq_world_rank name = {.world = ranks->ranges[i].world, .rank = rank};
            uint32_t process = mpiq_job_process(page->job, name.world, name.rank);
            if (process == MPIQ_NONE)
                continue;
            struct mpiq_picture_node *node =
                add_node(picture, &page->diagnosis->ranks[process],
                         mpiq_rank_set_contains(&suspects, name.world, name.rank));
            if (!node || !mpiq_rank_set_add(&node->ranks, name.world, name.rank))
                return false;
        }
    }
    return true;
}

static bool matters(const struct mpiq_behaviour *line)
{
    return line->cause || line->suspect;
}

static bool add_nodes(const struct mpiq_page *page, struct mpiq_wait_picture *picture)
{
    struct mpiq_behaviours lines _cleanup_(mpiq_behaviours_deinit) = {0};
    uint64_t ranks = 0;
    if (!mpiq_behaviours_collect(page, NULL, &lines))
        return false;
    for (size_t i = 0; i < lines.count; i++)
        ranks += matters(&lines.items[i]) ? lines.items[i].ranks.size : 0;
    picture->single = ranks <= MOST_SINGLE_RANKS;
    for (size_t i = 0; i < lines.count && picture->node_count < MOST_NODES; i++) {
        const struct mpiq_behaviour *line = &lines.items[i];
        if (!matters(line))
            continue;
        if (picture->single) {
            if (!add_single(page, picture, &line->ranks))
                return false;
            continue;
        }
        struct mpiq_picture_node *node = add_node(picture, line->example, line->suspect);
        if (!node || !mpiq_rank_set_add_set(&node->ranks, &line->ranks))
            return false;
    }
    return true;
}

static bool add_edge(struct mpiq_wait_picture *picture, uint32_t from, uint32_t to, const char *label)
{
    for (size_t i = 0; i < picture->edge_count; i++) {
        struct mpiq_picture_edge *edge = &picture->edges[i];
        if (edge->from != from || edge->to != to)
            continue;
        edge->more |= strcmp(edge->label, label) != 0;
        return true;
    }
    if (picture->edge_count == MOST_EDGES)
        return true;
    struct mpiq_picture_edge *edges = mpiq_array_grown(picture->edges, picture->edge_count, sizeof *edges);
    if (!edges)
        return false;
    picture->edges = edges;
    char *copy = strdup(label);
    if (!copy)
        return false;
    edges[picture->edge_count++] = (struct mpiq_picture_edge){.from = from, .to = to, .label = copy};
    return true;
}

/* An edge from each node with one of these ranks to each with one of those; a rank waits for itself only
   where it is said of it alone. */
static bool connect(struct mpiq_wait_picture *picture, const struct mpiq_rank_set *from,
                    const struct mpiq_rank_set *to, const char *label)
{
    for (uint32_t i = 0; i < picture->node_count; i++) {
        if (!meet(&picture->nodes[i].ranks, from))
            continue;
        for (uint32_t k = 0; k < picture->node_count; k++) {
            bool itself = i == k && picture->nodes[i].ranks.size == 1 && to->size > 1;
            if (!itself && meet(&picture->nodes[k].ranks, to) && !add_edge(picture, i, k, label))
                return false;
        }
    }
    return true;
}

static bool connect_operation(const struct mpiq_page *page, struct mpiq_wait_picture *picture,
                              const struct mpiq_finding *finding)
{
    struct mpiq_rank_set peer _cleanup_(mpiq_rank_set_deinit) = {0};
    if (finding->operation >= page->job->operation_count)
        return true;
    const struct mpiq_job_operation *operation = &page->job->operations[finding->operation];
    if (operation->peer == MPIQ_NONE)
        return true;
    struct mpiq_world_rank name = mpiq_job_world_rank(page->job, operation->peer);
    char label[32];
    if (operation->tag_any)
        snprintf(label, sizeof label, "any tag");
    else
        snprintf(label, sizeof label, "tag %" PRId32, operation->tag);
    return mpiq_rank_set_add(&peer, name.world, name.rank) && connect(picture, &finding->ranks, &peer, label);
}

static bool connect_steps(const struct mpiq_page *page, struct mpiq_wait_picture *picture,
                          const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->step_count; i++) {
        const struct mpiq_step *step = &finding->steps[i];
        struct mpiq_world_rank name = mpiq_job_world_rank(page->job, step->process);
        struct mpiq_rank_set from _cleanup_(mpiq_rank_set_deinit) = {0};
        struct mpiq_buffer label _cleanup_(mpiq_buffer_deinit) = {0};
        mpiq_buffer_string(&label, step->why);
        if (!mpiq_rank_set_add(&from, name.world, name.rank) ||
            !connect(picture, &from, &step->waits_for, mpiq_buffer_text(&label)) || label.failed)
            return false;
    }
    return true;
}

/* Those of different calls wait for each other. */
static bool connect_calls(struct mpiq_wait_picture *picture, const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->call_count; i++) {
        for (size_t k = 0; k < finding->call_count; k++) {
            if (i != k && !connect(picture, &finding->calls[i].ranks, &finding->calls[k].ranks,
                                   finding->calls[i].collective))
                return false;
        }
    }
    return true;
}

static bool connect_collective(struct mpiq_wait_picture *picture, const struct mpiq_finding *finding)
{
    char label[96];
    const char *name = finding->collective ? finding->collective : "collective call";
    if (finding->number > 0)
        snprintf(label, sizeof label, "%s #%" PRId64, name, finding->number);
    else
        snprintf(label, sizeof label, "%s", name);
    return connect(picture, &finding->ranks, &finding->missing, label);
}

bool mpiq_wait_picture_collect(const struct mpiq_page *page, struct mpiq_wait_picture *ret)
{
    *ret = (struct mpiq_wait_picture){0};
    if (!add_nodes(page, ret))
        return false;
    for (size_t i = 0; i < page->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &page->diagnosis->findings[i];
        if (!connect_collective(ret, finding) || !connect_operation(page, ret, finding) ||
            !connect_steps(page, ret, finding) || !connect_calls(ret, finding))
            return false;
    }
    return true;
}

static void put_node(const struct mpiq_page *page, struct mpiq_buffer *buffer, size_t index,
                     const struct mpiq_picture_node *node)
{
    struct mpiq_buffer label _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(buffer);
    const struct mpiq_rank_diagnosis *rank = node->example;
    mpiq_put_who(&label, &node->ranks, MPIQ_MOST_RANGES);
    mpiq_buffer_char(&label, '\n');
    mpiq_put_plain(&label, rank->call ? rank->call : mpiq_rank_doing_word(rank->doing));
    mpiq_buffer_char(&label, '\n');
    mpiq_put_site(page, &label, rank->site);
    mpiq_buffer_printf(buffer, "n%zu [%slabel=", index, node->suspect ? "color=\"#b00020\" penwidth=2 " : "");
    mpiq_put_dot_string(buffer, mpiq_buffer_text(&label));
    mpiq_buffer_string(buffer, "];\n");
}

void mpiq_put_picture_source(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                             const struct mpiq_wait_picture *picture)
{
    mpiq_buffer_string(buffer, "digraph waits {\nbgcolor=transparent;\n"
                               "node [shape=box style=rounded fontname=\"sans-serif\" fontsize=11];\n"
                               "edge [fontname=\"sans-serif\" fontsize=10];\n");
    for (size_t i = 0; i < picture->node_count; i++)
        put_node(page, buffer, i, &picture->nodes[i]);
    for (size_t i = 0; i < picture->edge_count; i++) {
        const struct mpiq_picture_edge *edge = &picture->edges[i];
        struct mpiq_buffer label _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(buffer);
        mpiq_put_plain(&label, edge->label);
        mpiq_buffer_string(&label, edge->more ? " ..." : "");
        mpiq_buffer_printf(buffer, "n%" PRIu32 " -> n%" PRIu32 " [label=", edge->from, edge->to);
        mpiq_put_dot_string(buffer, mpiq_buffer_text(&label));
        mpiq_buffer_string(buffer, "];\n");
    }
    mpiq_buffer_string(buffer, "}\n");
}
