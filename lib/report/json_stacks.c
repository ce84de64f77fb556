/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks of all ranks as JSON: frames that the same threads are in stand in one list, outermost first. */
#include "report/json.h"

static void put_frame(struct mpiq_json *json, const struct mpiq_stack_node *node)
{
    mpiq_json_open(json, '{');
    if (!node->function && !node->file && !node->object)
        mpiq_json_put_bool(json, "missing", true);
    mpiq_json_put_string(json, "function", node->function);
    mpiq_json_put_string(json, "file", node->file);
    if (node->line > 0)
        mpiq_json_put_number(json, "line", node->line);
    mpiq_json_put_string(json, "object", node->object);
    mpiq_json_close(json, '}');
}

static void put_branches(struct mpiq_json *json, uint32_t parent);

static void put_branch(struct mpiq_json *json, uint32_t at)
{
    const struct mpiq_stack_node *nodes = json->page->options->stacks->nodes;
    mpiq_json_open(json, '{');
    mpiq_json_put_ranks(json, "ranks", &nodes[at].ranks, true);
    mpiq_json_put_number(json, "threads", nodes[at].threads);
    mpiq_json_key(json, "frames");
    mpiq_json_open(json, '[');
    put_frame(json, &nodes[at]);
    while (nodes[at].first_child && nodes[nodes[at].first_child].threads == nodes[at].threads) {
        at = nodes[at].first_child;
        put_frame(json, &nodes[at]);
    }
    mpiq_json_close(json, ']');
    if (nodes[at].first_child)
        put_branches(json, at);
    mpiq_json_close(json, '}');
}

/* No deeper than MPIQ_STACK_FRAMES_MOST, and one. */
static void put_branches(struct mpiq_json *json, uint32_t parent)
{
    const struct mpiq_stack_node *nodes = json->page->options->stacks->nodes;
    mpiq_json_key(json, parent ? "branches" : "stacks");
    mpiq_json_open(json, '[');
    for (uint32_t at = nodes[parent].first_child; at; at = nodes[at].next) {
        mpiq_json_break(json);
        put_branch(json, at);
    }
    mpiq_json_close(json, ']');
}

void mpiq_json_stacks(struct mpiq_json *json)
{
    put_branches(json, 0);
}
