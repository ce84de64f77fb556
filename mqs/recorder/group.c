/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include <limits.h>

#include "../error.h"

static int member_of(const struct mpiq_record_run *run, uint32_t index)
{
    int64_t rank = (int64_t)run->first + (int64_t)run->stride * index;

    return run->first == MPIQ_RECORD_FOREIGN || rank < 0 || rank > INT_MAX ? MQS_INVALID_PROCESS : (int)rank;
}

int group_ranks(const struct copy *copy, uint32_t offset, int *ret)
{
    const struct mpiq_record_group *group = copy_group(copy, offset);

    if (group == NULL) {
        return ERROR_GROUP;
    }
    for (uint32_t i = 0; i < group->run_count; i++) {
        for (uint32_t j = 0; j < group->runs[i].count; j++) {
            *ret++ = member_of(&group->runs[i], j);
        }
    }
    return mqs_ok;
}

int group_names(const struct copy *copy, uint32_t offset, mqs_process_name *ret)
{
    const struct mpiq_record_group *group = copy_group(copy, offset);

    if (group == NULL) {
        return ERROR_GROUP;
    }
    for (uint32_t i = 0; i < group->run_count; i++) {
        for (uint32_t j = 0; j < group->runs[i].count; j++) {
            int rank = member_of(&group->runs[i], j);

            ret->jobid = rank < 0 ? UINT32_MAX : copy->root.jobid;
            ret->vpid = rank < 0 ? UINT32_MAX : (uint32_t)rank;
            ret++;
        }
    }
    return mqs_ok;
}

int64_t group_size(const struct copy *copy, uint32_t offset)
{
    const struct mpiq_record_group *group = copy_group(copy, offset);

    return group == NULL ? -1 : (int64_t)group->count;
}
