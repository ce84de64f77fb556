/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_needs - which structures of a layout are useless without which others. */
#ifndef MQS_OMPI_LAYOUT_NEEDS_H
#define MQS_OMPI_LAYOUT_NEEDS_H

#include "layout.h"

/* Leaves out what depends on a structure that was left out. */
void layout_drop_dependents(struct layout *layout);

#endif
