/* SPDX-License-Identifier: BSD-3-Clause */
/* step_data - the data that a call sends, by the type of its elements. */
#ifndef MPIQ_REPORT_STEP_DATA_H
#define MPIQ_REPORT_STEP_DATA_H

#include "base/buffer.h"
#include "report/step_row.h"

/* "3 MPI_INT: 1 2 3", "100 MPI_DOUBLE: 0.5 0.25 ..."; of a type that is not predefined "2 of a derived type
   (48 bytes)"; nothing of a call without data. */
void mpiq_step_put_data(struct mpiq_buffer *text, const struct mpiq_step_row *row);

#endif
