/* SPDX-License-Identifier: BSD-3-Clause */
/* picture_layout - where the boxes of a picture of waits stand. */
#ifndef MPIQ_REPORT_PICTURE_LAYOUT_H
#define MPIQ_REPORT_PICTURE_LAYOUT_H

#include "report/wait_picture.h"

struct mpiq_point {
    double x, y;
};

/* Pixels.  The caller gives the half sizes; the layout finds the middles. */
struct mpiq_box {
    struct mpiq_point middle;
    double half_width, half_height;
};

struct mpiq_layout {
    struct mpiq_box boxes[MPIQ_PICTURE_MOST_NODES];
    struct mpiq_box frame; /* around the circle */
    double gap;            /* between boxes side by side: room for an edge's words */
    double width, height;
    bool around; /* the last rank of the circle waits for the first one by a way around the left side */
};

void mpiq_layout_place(struct mpiq_layout *layout, const struct mpiq_wait_picture *picture);

#endif
