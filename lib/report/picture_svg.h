/* SPDX-License-Identifier: BSD-3-Clause */
/* picture_svg - draws who waits for whom: a circle of waits as a ring of boxes, the others in rows below it,
   by how far they are from it. */
#ifndef MPIQ_REPORT_PICTURE_SVG_H
#define MPIQ_REPORT_PICTURE_SVG_H

#include "report/wait_picture.h"

/* Adds the picture as an <svg> element; nothing for one without edges.  Its classes are styled by the page:
   node, suspect, circle, edge, stray, frame, label. */
void mpiq_put_picture_svg(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                          const struct mpiq_wait_picture *picture);

/* Adds what an edge says: "tag 7 on rows". */
void mpiq_put_edge_words(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                         const struct mpiq_picture_edge *edge);

#endif
