/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include "../error.h"
#include "process.h"

struct found {
    mqs_source *list;
    int room;
    int count;
};

/* The sources of a communicator; NULL: not known, or corrupt. */
static const struct mpiq_record_sources *sources_of(const struct copy *copy,
                                                    const struct mpiq_record_comm *comm)
{
    const struct mpiq_record_sources *sources = copy_at(copy, comm->sources, sizeof *sources);

    return sources == NULL || sources->count > copy->size / sizeof *sources->ranks ||
                   copy_at(copy, comm->sources, sizeof *sources + sources->count * sizeof *sources->ranks) ==
                       NULL
               ? NULL
               : sources;
}

static void add(const struct mpiq_record_sources *sources, const struct mpiq_record_collective *call,
                struct found *found)
{
    for (uint32_t i = 0; i < sources->count && call->number > 0; i++) {
        unsigned bit = i < MPIQ_RECORD_SOURCES_REST ? i : MPIQ_RECORD_SOURCES_REST;

        if ((call->sources >> bit & 1) == 0 || sources->ranks[i] < 0 || found->count == INT32_MAX) {
            continue;
        }
        if (found->count < found->room) {
            found->list[found->count].number = (int64_t)call->number;
            found->list[found->count].local = sources->ranks[i];
        }
        found->count++;
    }
}

/* Whether a call in the ring is blocking and has not returned; others are among the requests. */
static bool is_blocking(const struct copy *copy, const struct mpiq_record_collective *call)
{
    const struct mpiq_record_function *function = copy_function(copy, call->function);

    return function != NULL && function->family == MPIQ_RECORD_COLLECTIVE && !call->done;
}

int source_get(mqs_process *process, int room, mqs_source *ret, int *count)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_sources *sources;
    const struct mpiq_record_request *request;
    struct found found = {.list = ret, .room = room};
    struct copy_requests walk;

    if (info == NULL || count == NULL || (ret == NULL && room > 0)) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    *count = 0;
    sources = sources_of(&info->copy, info->comm);
    if (sources == NULL) {
        return mqs_ok;
    }
    for (unsigned i = 0; i < MPIQ_RECORD_RING; i++) {
        if (is_blocking(&info->copy, &info->comm->ring[i])) {
            add(sources, &info->comm->ring[i], &found);
        }
    }
    copy_requests_of(&info->copy, info->comm, &walk);
    while ((request = copy_next_request(&info->copy, &walk)) != NULL) {
        if (request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE && request->state == MPIQ_RECORD_REQUEST_ACTIVE) {
            add(sources, &request->call, &found);
        }
    }
    *count = found.count;
    return mqs_ok;
}

int source_get_persistent(mqs_process *process, int room, mqs_persistent *ret, int *count)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_request *request;
    struct copy_requests walk;
    int found = 0;

    if (info == NULL || count == NULL || (ret == NULL && room > 0)) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    if ((info->comm->flags & MPIQ_RECORD_COMM_UNCOUNTED) != 0) { /* their numbers say nothing */
        *count = 0;
        return mqs_ok;
    }
    copy_requests_of(&info->copy, info->comm, &walk);
    while ((request = copy_next_request(&info->copy, &walk)) != NULL) {
        bool persistent = (request->flags & MPIQ_RECORD_REQUEST_PERSISTENT) != 0;

        if (!persistent || request->kind != MPIQ_RECORD_REQUEST_COLLECTIVE || request->call.number == 0) {
            continue;
        }
        if (found < room) {
            ret[found].number = (int64_t)request->call.number;
            ret[found].starts = (int64_t)request->starts;
            ret[found].request = (mqs_taddr_t)request->handle;
            ret[found].caller = (mqs_taddr_t)request->made;
        }
        found++;
    }
    *count = found;
    return mqs_ok;
}
