/* SPDX-License-Identifier: BSD-3-Clause */
/* dot - Graphviz' program, where this machine has it: a graph in its language becomes a picture. */
#ifndef MPIQ_REPORT_DOT_H
#define MPIQ_REPORT_DOT_H

#include "report/buffer.h"

/* Adds the picture as an <svg> element.  False, and nothing added, where there is no such program, it fails,
   or takes longer than some seconds; it has ended then. */
bool mpiq_dot_svg(const char *source, struct mpiq_buffer *ret);

/* Adds a string of dot's language, with its quotes; a line break becomes one of the label's. */
void mpiq_put_dot_string(struct mpiq_buffer *buffer, const char *string);

#endif
