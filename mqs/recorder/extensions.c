/* SPDX-License-Identifier: BSD-3-Clause */
/* extensions - the extension table: collectives, channels, identity. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../callbacks.h"
#include "../error.h"
#include "call.h"
#include "fact.h"
#include "group.h"
#include "process.h"
#include "source.h"
#include "wait.h"
#include "window.h"

static const char *coll_name(int collective)
{
    static const char *const names[] = {
#define NAME_OF(value, id, name, kind, order) [value] = (name),
        OMPI_MQS_COLLECTIVES(NAME_OF)
#undef NAME_OF
    };

    return collective < 0 || collective >= OMPI_MQS_COLLECTIVE_COUNT ? NULL : names[collective];
}

static int set_option(mqs_process *process, int option, int value)
{
    (void)value; /* the recorder sees no internal traffic */
    return entry_process(process) == NULL || option != mqs_option_internal ? ERROR_ARGUMENT : mqs_ok;
}

static int get_identity(mqs_process *process, mqs_process_identity *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_root *root;
    int code;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    code = process_ensure(info);
    if (code != mqs_ok) {
        return code;
    }
    root = &info->copy.root;
    memset(ret, 0, sizeof *ret);
    ret->name.jobid = root->jobid;
    ret->name.vpid = (uint32_t)root->world_rank;
    ret->world_size = root->world_size;
    ret->phase = root->phase <= OMPI_MQS_PHASE_FINALIZED ? (int)root->phase + mqs_phase_loaded
                                                         : (int)mqs_phase_unknown;
    ret->thread_level = root->thread_level;
    ret->recording = 1;
    ret->layout_source = mqs_layout_recorder;
    ret->queues = 1;
    text_copy(ret->nspace, sizeof ret->nspace, (const unsigned char *)root->nspace, sizeof root->nspace);
    text_copy(ret->library, sizeof ret->library, (const unsigned char *)root->library, sizeof root->library);
    return mqs_ok;
}

static int get_communicator_details(mqs_process *process, mqs_communicator_details *ret)
{
    static const struct {
        uint32_t theirs;
        int ours;
    } flags[] = {
        {MPIQ_RECORD_COMM_INTER, mqs_comm_flag_inter},       {MPIQ_RECORD_COMM_SELF, mqs_comm_flag_self},
        {MPIQ_RECORD_COMM_WORLD, mqs_comm_flag_world},       {MPIQ_RECORD_COMM_FREED, mqs_comm_flag_freed},
        {MPIQ_RECORD_COMM_TOPOLOGY, mqs_comm_flag_topology},
    };
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_comm *comm = info == NULL ? NULL : info->comm;
    int64_t remote;
    bool counted;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    remote = comm->remote_group == 0 ? 0 : group_size(&info->copy, comm->remote_group);
    if (remote < 0 || remote > INT_MAX) {
        return ERROR_GROUP;
    }
    memset(ret, 0, sizeof *ret);
    ret->handle = (mqs_taddr_t)comm->handle;
    ret->context[0] = comm->id[0];
    ret->context[1] = comm->id[1];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        ret->flags |= (comm->flags & flags[i].theirs) != 0 ? flags[i].ours : 0;
    }
    ret->remote_size = (int)remote;
    counted = (comm->flags & MPIQ_RECORD_COMM_UNCOUNTED) == 0;
    ret->ordered = !counted || comm->ordered > INT64_MAX ? -1 : (int64_t)comm->ordered;
    ret->nonblocking = !counted || comm->nonblocking > INT64_MAX ? -1 : (int64_t)comm->nonblocking;
    return mqs_ok;
}

static int get_communicator_origin(mqs_process *process, mqs_communicator_origin *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_comm *comm = info == NULL ? NULL : info->comm;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    if (comm->caller == 0) {
        return mqs_no_information;
    }
    ret->made_by = comm->made_by;
    ret->caller = (mqs_taddr_t)comm->caller;
    return mqs_ok;
}

static int get_members(mqs_process *process, int remote, mqs_process_name *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    if (remote && info->comm->remote_group == 0) {
        return mqs_ok; /* an intracommunicator has no remote group */
    }
    return group_names(&info->copy, remote ? info->comm->remote_group : info->comm->group, ret);
}

static int get_operation_details(mqs_process *process, mqs_operation_details *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (!info->details_valid) {
        return ERROR_ORDER;
    }
    *ret = info->details;
    return mqs_ok;
}

static int get_partitions(mqs_process *process, mqs_partitions *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (!info->details_valid) {
        return ERROR_ORDER;
    }
    *ret = info->parts;
    return info->parts.partitions > 0 ? mqs_ok : mqs_no_information;
}

/* ---- channels ---------------------------------------------------------------------------------------- */

static int compare_peers(const void *left, const void *right)
{
    const struct mpiq_record_channel *a = *(const struct mpiq_record_channel *const *)left;
    const struct mpiq_record_channel *b = *(const struct mpiq_record_channel *const *)right;

    return a->peer < b->peer ? -1 : a->peer > b->peer;
}

static int setup_channel_iterator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);
    uint32_t at;

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    heap_free(info->channels);
    info->channel_count = info->next_channel = 0;
    if (info->comm->channel_count > info->copy.size / sizeof(struct mpiq_record_channel)) {
        return ERROR_COMMUNICATOR;
    }
    info->channels = heap_allocate((size_t)info->comm->channel_count + 1, sizeof *info->channels);
    if (info->channels == NULL) {
        return ERROR_NO_STORE;
    }
    for (at = info->comm->channels; at != 0;) {
        const struct mpiq_record_channel *channel = copy_at(&info->copy, at, sizeof *channel);

        if (channel == NULL || info->channel_count >= info->comm->channel_count) {
            return ERROR_COMMUNICATOR;
        }
        info->channels[info->channel_count++] = channel;
        at = channel->next;
    }
    if (info->channel_count > 1) {
        qsort(info->channels, info->channel_count, sizeof *info->channels, compare_peers);
    }
    return mqs_ok;
}

static int next_channel(mqs_process *process, mqs_channel *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_channel *channel;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL || info->channels == NULL) {
        return ERROR_ORDER;
    }
    if (info->next_channel >= info->channel_count) {
        return mqs_end_of_list;
    }
    channel = info->channels[info->next_channel++];
    ret->peer_local = channel->peer;
    /* Numbers of the next messages, from 1. */
    ret->sent = (uint32_t)channel->sent + 1;
    ret->expected = (uint32_t)channel->received + 1;
    return mqs_ok;
}

static int get_channel_counts(mqs_process *process, int received, mqs_channel_counts *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_channel *channel;
    uint32_t sketch;
    const struct mpiq_record_cell *cells;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL || info->next_channel == 0) {
        return ERROR_ORDER;
    }
    channel = info->channels[info->next_channel - 1];
    memset(ret, 0, sizeof *ret);
    ret->unclear = channel->unclear > 0 || info->comm->unclear > 0 || info->comm->lost > 0;
    ret->bytes_known = channel->bytes_unclear == 0;
    for (unsigned i = 0; i < MPIQ_RECORD_TAGS; i++) {
        const struct mpiq_record_tag *tag = &channel->tags[i];
        mqs_tag_count *count = &ret->tags[ret->tag_count];

        count->messages = received ? tag->received : tag->sent;
        count->bytes = received ? tag->received_bytes : tag->sent_bytes;
        count->tags = (uint32_t)tag->tag;
        ret->tag_count += tag->used && count->messages > 0;
    }
    sketch = received ? channel->received_sketch : channel->sent_sketch;
    if (sketch == 0) {
        return mqs_ok;
    }
    cells = copy_at(&info->copy, sketch, MPIQ_RECORD_CELLS * sizeof *cells);
    if (cells == NULL) {
        return ERROR_COMMUNICATOR;
    }
    ret->cell_count = MPIQ_RECORD_CELLS;
    for (unsigned i = 0; i < MPIQ_RECORD_CELLS; i++) {
        ret->cells[i].messages = cells[i].count;
        ret->cells[i].bytes = cells[i].bytes;
        ret->cells[i].tags = cells[i].tags;
        ret->cells[i].hashes = cells[i].hashes;
    }
    return mqs_ok;
}

static const mqs_extensions extensions = {
    .version = MQS_EXTENSIONS_VERSION,
    .size = sizeof extensions,
    .coll_name = coll_name,
    .set_option = set_option,
    .get_identity = get_identity,
    .get_communicator_details = get_communicator_details,
    .get_members = get_members,
    .get_operation_details = get_operation_details,
    .setup_call_iterator = call_setup_iterator,
    .next_call = call_next,
    .setup_channel_iterator = setup_channel_iterator,
    .next_channel = next_channel,
    .setup_wait_iterator = wait_setup_iterator,
    .next_wait = wait_next,
    .next_wait_operation = wait_next_operation,
    .setup_process_call_iterator = call_setup_process_iterator,
    .next_process_call = call_next_of_process,
    .get_channel_counts = get_channel_counts,
    .setup_history_iterator = call_setup_history,
    .next_past_call = call_next_past,
    .setup_window_iterator = window_setup_iterator,
    .next_window = window_next,
    .get_window_locks = window_get_locks,
    .get_window_group = window_get_group,
    .get_checking = fact_get_checking,
    .setup_fact_iterator = fact_setup_iterator,
    .next_fact = fact_next,
    .get_window_progress = window_get_progress,
    .get_communicator_origin = get_communicator_origin,
    .get_sources = source_get,
    .get_persistent = source_get_persistent,
    .get_partitions = get_partitions,
};

EXPORT const mqs_extensions *mqs_get_extensions(void)
{
    return &extensions;
}
