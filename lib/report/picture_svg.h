/* SPDX-License-Identifier: BSD-3-Clause */
/* picture_svg - draws who waits for whom: nodes around an ellipse in the order of the waits, so that a circle
   of waits looks like one. */
#ifndef MPIQ_REPORT_PICTURE_SVG_H
#define MPIQ_REPORT_PICTURE_SVG_H

#include "report/wait_picture.h"

/* Adds the picture as an <svg> element; nothing for one without edges.  Its classes are styled by the page:
   node, suspect, edge, circle, label. */
void mpiq_put_picture_svg(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                          const struct mpiq_wait_picture *picture);

#endif
