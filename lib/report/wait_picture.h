/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_picture - who waits for whom, as far as the findings say it, small enough to be looked at.
 *
 * A node is a rank where those that matter are few, and otherwise ranks that do the same.
 */
#ifndef MPIQ_REPORT_WAIT_PICTURE_H
#define MPIQ_REPORT_WAIT_PICTURE_H

#include "report/page.h"

struct mpiq_picture_node {
    struct mpiq_rank_set ranks;
    const struct mpiq_rank_diagnosis *example;
    bool suspect;
};

struct mpiq_picture_edge {
    uint32_t from;
    uint32_t to;
    char *label;
    bool more; /* there are other reasons besides the label's */
};

struct mpiq_wait_picture {
    struct mpiq_picture_node *nodes;
    size_t node_count;
    struct mpiq_picture_edge *edges;
    size_t edge_count;
    bool single; /* each node is one rank */
};

/* False without memory; deinit in any case. */
bool mpiq_wait_picture_collect(const struct mpiq_page *page, struct mpiq_wait_picture *ret);
void mpiq_wait_picture_deinit(struct mpiq_wait_picture *picture);

/* The picture in dot's language. */
void mpiq_put_picture_source(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                             const struct mpiq_wait_picture *picture);

#endif
