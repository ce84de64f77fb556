/* SPDX-License-Identifier: BSD-3-Clause */
/* late - where the time was lost waiting in a trace: read by a reader of traces, rendered here. */
#include <stdlib.h>
#include <string.h>

#include "session/job.h"
#include "session/read_trace.h"
#include "report/late.h"

static struct mpiq_error *take_line(void *context, const char *line)
{
    return mpiq_late_report_take(context, line);
}

struct mpiq_error *mpiq_late(const struct mpiq_options *given, const struct mpiq_render_options *how,
                             char **ret)
{
    struct mpiq_options options = mpiq_options_known(given);
    struct mpiq_render_options render = MPIQ_RENDER_OPTIONS_DEFAULT;
    memcpy(&render, how, how->size < sizeof render ? how->size : sizeof render);
    if (options.target_count != 1 || !mpiq_is_trace(options.targets[0]))
        return mpiq_error_create(MPIQ_ERROR_USAGE, "late is about one OTF2 trace: mpiq late traces.otf2");
    struct mpiq_late_report report = {0};
    if (options.progress)
        options.progress(options.argument, "reading the trace");
    struct mpiq_error *error = mpiq_read_trace_late(options.targets[0], take_line, &report);
    if (!error) {
        const struct mpiq_report_options report_options = {
            .format = render.format, .color = render.color, .all = render.all, .width = render.width};
        error = mpiq_late_render(&report, &report_options, ret);
    }
    mpiq_late_report_deinit(&report);
    return error;
}
