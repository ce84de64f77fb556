/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_picture - who waits for whom, as a graph small enough to look at.
 *
 * A node is a class of ranks that do the same; a class is split if others wait only for some of its ranks,
 * as long as there are few nodes.  Every wait of the ranks shown is an edge.
 */
#ifndef MPIQ_REPORT_WAIT_PICTURE_H
#define MPIQ_REPORT_WAIT_PICTURE_H

#include "report/page.h"

#define MPIQ_PICTURE_MOST_NODES 24

struct mpiq_picture_node {
    struct mpiq_rank_set ranks;
    const struct mpiq_rank_diagnosis *example;
    bool suspect;
};

struct mpiq_picture_edge {
    uint32_t from;
    uint32_t to;
    char *label;
    bool more;   /* there are other reasons besides the label's */
    bool circle; /* it is part of a circle of waits */
};

struct mpiq_wait_picture {
    struct mpiq_picture_node *nodes;
    size_t node_count;
    struct mpiq_picture_edge *edges;
    size_t edge_count;
};

/* False on allocation failure; deinit in any case. */
bool mpiq_wait_picture_collect(const struct mpiq_page *page, struct mpiq_wait_picture *ret);
void mpiq_wait_picture_deinit(struct mpiq_wait_picture *picture);

#endif
