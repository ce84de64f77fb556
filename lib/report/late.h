/* SPDX-License-Identifier: BSD-3-Clause */
/* late - the time lost waiting in a trace, as text, JSON or a page. */
#ifndef MPIQ_REPORT_LATE_H
#define MPIQ_REPORT_LATE_H

#include "report/report.h"
#include "state/late.h"

/* Of the options format, color, all and width count.  The report is sorted by what matters most.
 *ret ends in a line break; the caller frees it. */
struct mpiq_error *mpiq_late_render(struct mpiq_late_report *report,
                                    const struct mpiq_report_options *options, char **ret);

#endif
