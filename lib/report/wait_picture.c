/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/wait_picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/wait_text.h"

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

static bool meet(const struct mpiq_rank_set *a, const struct mpiq_ranks *b)
{
    return mpiq_rank_ranges_overlap(a->ranges, a->count, b->ranges, b->count);
}

static bool contains(const struct mpiq_ranks *ranks, uint32_t world, uint32_t rank)
{
    const struct mpiq_rank_set set = {
        .ranges = (struct mpiq_rank_range *)ranks->ranges, .count = ranks->count, .size = ranks->size};
    return mpiq_rank_set_contains(&set, world, rank);
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

static bool add_classes(const struct mpiq_page *page, struct mpiq_wait_picture *picture)
{
    struct mpiq_behaviours classes _cleanup_(mpiq_behaviours_deinit) = {0};
    if (!mpiq_behaviours_collect(page, NULL, &classes))
        return false;
    for (size_t i = 0; i < classes.count && i < MPIQ_PICTURE_MOST_NODES; i++) {
        struct mpiq_picture_node *node = add_node(picture, classes.items[i].example);
        if (!node || !mpiq_rank_set_add_set(&node->ranks, &classes.items[i].ranks))
            return false;
    }
    return true;
}

/* Splits a node into its ranks that are in `part` and the others; nothing if that is all or none of them. */
static bool split_node(const struct mpiq_page *page, struct mpiq_wait_picture *picture, size_t index,
                       const struct mpiq_ranks *part)
{
    struct mpiq_rank_set in = {0};
    struct mpiq_rank_set out = {0};
    const struct mpiq_rank_set *ranks = &picture->nodes[index].ranks;
    bool good = true;
    if (ranks->size < 2 || !meet(ranks, part))
        return true;
    for (uint32_t i = 0; i < ranks->count && good; i++) {
        const struct mpiq_rank_range *range = &ranks->ranges[i];
        for (uint32_t rank = range->first; rank <= range->last && good; rank++)
            good = mpiq_rank_set_add(contains(part, range->world, rank) ? &in : &out, range->world, rank);
    }
    struct mpiq_picture_node *node = NULL;
    if (good && out.size > 0)
        node = add_node(picture, NULL);
    if (!node) {
        mpiq_rank_set_deinit(&in);
        mpiq_rank_set_deinit(&out);
        return good && out.size == 0;
    }
    mpiq_rank_set_deinit(&picture->nodes[index].ranks);
    picture->nodes[index].ranks = in;
    node->ranks = out;
    assert(in.ranges && out.ranges); /* both have ranks, or there would be no node */
    const struct mpiq_rank_range *first = &in.ranges[0];
    const struct mpiq_rank_range *second = &out.ranges[0];
    picture->nodes[index].example =
        &page->diagnosis->ranks[mpiq_job_process(page->job, first->world, first->first)];
    node->example = &page->diagnosis->ranks[mpiq_job_process(page->job, second->world, second->first)];
    return true;
}

/* Splits classes of which others wait for some ranks only; *fits: the nodes have not become too many. */
static bool split_classes(const struct mpiq_page *page, struct mpiq_wait_picture *picture, bool *fits)
{
    const struct mpiq_waits_for *last = NULL;
    for (uint32_t process = 0; process < page->diagnosis->rank_count; process++) {
        const struct mpiq_waits_for *wait = page->diagnosis->ranks[process].waits_for;
        if (!wait || wait == last || !mpiq_page_wants(page, process))
            continue;
        last = wait;
        size_t count = picture->node_count;
        for (size_t i = 0; i < count && *fits; i++) {
            if (!split_node(page, picture, i, &wait->ranks))
                return false;
            *fits = picture->node_count <= MPIQ_PICTURE_MOST_NODES;
        }
        if (!*fits)
            return true;
    }
    return true;
}

static bool add_nodes(const struct mpiq_page *page, struct mpiq_wait_picture *picture)
{
    struct mpiq_rank_set suspects _cleanup_(mpiq_rank_set_deinit) = {0};
    bool fits = true;
    if (!add_classes(page, picture) || !split_classes(page, picture, &fits) ||
        !mpiq_page_suspects(page, &suspects))
        return false;
    if (!fits) {
        mpiq_wait_picture_deinit(picture);
        if (!add_classes(page, picture))
            return false;
    }
    const struct mpiq_ranks all = {.ranges = suspects.ranges, .count = suspects.count, .size = suspects.size};
    for (size_t i = 0; i < picture->node_count; i++)
        picture->nodes[i].suspect = meet(&picture->nodes[i].ranks, &all);
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

static uint32_t node_of(const struct mpiq_wait_picture *picture, struct mpiq_world_rank name)
{
    for (size_t i = 0; i < picture->node_count; i++) {
        if (mpiq_rank_set_contains(&picture->nodes[i].ranks, name.world, name.rank))
            return (uint32_t)i;
    }
    return MPIQ_NONE;
}

/* The edges from one rank to all whom it waits for. */
static bool connect_rank(const struct mpiq_page *page, struct mpiq_wait_picture *picture, uint32_t process,
                         struct mpiq_buffer *label)
{
    const struct mpiq_rank_diagnosis *rank = &page->diagnosis->ranks[process];
    uint32_t from = node_of(picture, mpiq_job_world_rank(page->job, process));
    if (from == MPIQ_NONE)
        return true;
    label->length = 0;
    mpiq_put_wait_label(label, rank->waits_for, rank->call);
    for (uint32_t to = 0; to < picture->node_count; to++) {
        /* A rank alone waits for itself only where nobody else could help. */
        bool itself = to == from && picture->nodes[to].ranks.size == 1 && rank->waits_for->ranks.size > 1;
        if (!itself && meet(&picture->nodes[to].ranks, &rank->waits_for->ranks) &&
            !add_edge(picture, from, to, mpiq_buffer_text(label)))
            return false;
    }
    return true;
}

static bool add_edges(const struct mpiq_page *page, struct mpiq_wait_picture *picture)
{
    struct mpiq_buffer label _cleanup_(mpiq_buffer_deinit) = {0};
    const struct mpiq_waits_for *last = NULL;
    uint32_t last_node = MPIQ_NONE;
    for (uint32_t process = 0; process < page->diagnosis->rank_count; process++) {
        const struct mpiq_waits_for *wait = page->diagnosis->ranks[process].waits_for;
        if (!wait || !mpiq_page_wants(page, process))
            continue;
        uint32_t node = node_of(picture, mpiq_job_world_rank(page->job, process));
        if (wait == last && node == last_node)
            continue;
        last = wait;
        last_node = node;
        if (!connect_rank(page, picture, process, &label))
            return false;
    }
    return !label.failed;
}

/* Leaves out nodes without an edge: they say nothing of who waits for whom. */
static void drop_lone_nodes(struct mpiq_wait_picture *picture)
{
    uint32_t place[MPIQ_PICTURE_MOST_NODES] = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < picture->node_count; i++) {
        bool used = false;
        for (size_t e = 0; e < picture->edge_count; e++)
            used |= picture->edges[e].from == i || picture->edges[e].to == i;
        place[i] = kept;
        if (!used) {
            mpiq_rank_set_deinit(&picture->nodes[i].ranks);
            continue;
        }
        picture->nodes[kept++] = picture->nodes[i];
    }
    picture->node_count = kept;
    for (size_t e = 0; e < picture->edge_count; e++) {
        picture->edges[e].from = place[picture->edges[e].from];
        picture->edges[e].to = place[picture->edges[e].to];
    }
}

/* Marks the edges from whose end a way leads back to their beginning. */
static void mark_circles(struct mpiq_wait_picture *picture)
{
    bool reach[MPIQ_PICTURE_MOST_NODES][MPIQ_PICTURE_MOST_NODES] = {0};
    size_t count = picture->node_count;
    for (size_t e = 0; e < picture->edge_count; e++)
        reach[picture->edges[e].from][picture->edges[e].to] = true;
    for (size_t via = 0; via < count; via++) {
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; reach[i][via] && k < count; k++)
                reach[i][k] |= reach[via][k];
        }
    }
    for (size_t e = 0; e < picture->edge_count; e++)
        picture->edges[e].circle = reach[picture->edges[e].to][picture->edges[e].from];
}

bool mpiq_wait_picture_collect(const struct mpiq_page *page, struct mpiq_wait_picture *ret)
{
    *ret = (struct mpiq_wait_picture){0};
    if (!add_nodes(page, ret) || !add_edges(page, ret))
        return false;
    drop_lone_nodes(ret);
    mark_circles(ret);
    return true;
}
