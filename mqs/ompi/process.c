/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "entry_points.h"
#include "process.h"

void process_leave_communicator(mqs_process_info *info)
{
    operations_clear(&info->operations);
    memset(&info->calls, 0, sizeof info->calls);
    channels_clear(&info->channels);
}

void process_clear(mqs_process_info *info)
{
    info->fresh = false;
    info->iterating = false;
    info->details_valid = false;
    process_leave_communicator(info);
    memset(&info->process_calls, 0, sizeof info->process_calls);
    waits_clear(&info->waits);
    datatype_map_clear(&info->datatype_map);
    library_clear(&info->library);
}

int process_begin(mqs_process_info *info)
{
    process_clear(info);
    return library_begin(&info->library);
}

int process_refresh(mqs_process_info *info)
{
    int code;

    process_clear(info);
    code = library_read(&info->library);
    info->fresh = code == mqs_ok;
    return code;
}

int process_ensure(mqs_process_info *info)
{
    return info->fresh ? mqs_ok : process_refresh(info);
}

const struct communicator *process_current(const mqs_process_info *info)
{
    return info->iterating ? communicator_at(&info->library.communicators, info->current) : NULL;
}
