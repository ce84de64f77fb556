/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extensions - the extension table: arguments are checked here, the work is done elsewhere.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "communicator_details.h"
#include "entry_points.h"
#include "error.h"
#include "handle.h"
#include "identity.h"
#include "operation.h"
#include "process.h"

static int set_option(mqs_process *process, int option, int value)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || option != mqs_option_internal) {
        return ERROR_ARGUMENT;
    }
    info->operations.show_internal = value != 0;
    return mqs_ok;
}

static int get_identity(mqs_process *process, mqs_process_identity *ret)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    return code != mqs_ok ? code : ret == NULL ? ERROR_ARGUMENT : identity_get(&info->library, ret);
}

static int get_members(mqs_process *process, int remote, mqs_process_name *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    if (remote) {
        return comm->inter ? group_members(&info->library.groups, comm->remote_group, comm->remote_size, ret)
                           : mqs_no_information;
    }
    return group_members(&info->library.groups, comm->local_group, comm->size, ret);
}

static int get_communicator_details(mqs_process *process, mqs_communicator_details *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    return comm == NULL ? ERROR_NO_COMMUNICATOR : communicator_details(&info->library, comm, ret);
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
    operation_complete_details(&info->library, &info->details);
    *ret = info->details;
    return mqs_ok;
}

static int get_partitions(mqs_process *process, mqs_partitions *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    return info->details_valid ? operation_partitions(&info->library, &info->details, ret) : ERROR_ORDER;
}

static int setup_call_iterator(mqs_process *process, int list)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;

    if (info == NULL || (list != mqs_calls_recent && list != mqs_calls_outstanding)) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    return calls_set_up(&info->library, &info->calls, comm->address, comm->collectives,
                        list == mqs_calls_outstanding);
}

static int next_call(mqs_process *process, mqs_collective_call *ret)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL || ret == NULL ? ERROR_ARGUMENT : calls_next(&info->library, &info->calls, ret);
}

static int setup_channel_iterator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;
    int code;

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    code = library_queues(&info->library);
    return code == mqs_ok ? channels_read(&info->library.memory, comm, &info->channels) : code;
}

static int next_channel(mqs_process *process, mqs_channel *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (!info->channels.set_up) {
        return ERROR_ORDER;
    }
    if (info->channels.next >= info->channels.list.count) {
        return mqs_end_of_list;
    }
    *ret = ((const mqs_channel *)info->channels.list.items)[info->channels.next++];
    return mqs_ok;
}

static int setup_wait_iterator(mqs_process *process)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    return code == mqs_ok ? waits_set_up(&info->library, &info->waits) : code;
}

static int next_wait(mqs_process *process, mqs_wait *ret)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL || ret == NULL ? ERROR_ARGUMENT : waits_next(&info->library, &info->waits, ret);
}

static int next_wait_operation(mqs_process *process, mqs_pending_operation *ret)
{
    mqs_process_info *info = entry_process(process);

    int code;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    code = waits_next_operation(&info->library, &info->waits, ret, &info->details);
    if (code != ERROR_ORDER) {
        info->details_valid = code == mqs_ok;
    }
    return code;
}

static int setup_process_call_iterator(mqs_process *process)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    if (code != mqs_ok) {
        return code;
    }
    if (!info->library.root.present) {
        return mqs_no_information;
    }
    return calls_set_up(&info->library, &info->process_calls, 0,
                        (mqs_taddr_t)info->library.root.record.process, false);
}

static int next_process_call(mqs_process *process, mqs_collective_call *ret)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL || ret == NULL ? ERROR_ARGUMENT
                                       : calls_next(&info->library, &info->process_calls, ret);
}

static int get_layout(mqs_process *process, mqs_layout_details *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct built_in *built_in;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    built_in = &info->library.built_in;
    memset(ret, 0, sizeof *ret);
    ret->source = info->library.memory.layout.source;
    ret->failed = built_in->failed > INT_MAX ? INT_MAX : (int)built_in->failed;
    memcpy(ret->release, built_in->release, sizeof ret->release);
    if (built_in->variant != NULL) {
        snprintf(ret->variant, sizeof ret->variant, "%s", built_in->variant);
    }
    memcpy(ret->failures, built_in->failures, sizeof ret->failures);
    return mqs_ok;
}

static int setup_window_iterator(mqs_process *process)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    return code == mqs_ok ? windows_set_up(&info->library, &info->windows) : code;
}

static int next_window(mqs_process *process, mqs_window *ret)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL || ret == NULL ? ERROR_ARGUMENT : windows_next(&info->library, &info->windows, ret);
}

static int get_window_locks(mqs_process *process, int room, mqs_window_lock *ret, int *count)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || count == NULL || room < 0 || (room > 0 && ret == NULL)) {
        return ERROR_ARGUMENT;
    }
    return windows_locks(&info->library, &info->windows, room, ret, count);
}

static int get_window_group(mqs_process *process, int exposure, int room, int *ret, int *count)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || count == NULL || room < 0 || (room > 0 && ret == NULL)) {
        return ERROR_ARGUMENT;
    }
    return windows_group(&info->library, &info->windows, exposure != 0, room, ret, count);
}

static int later_end(struct library *library, mqs_taddr_t address, int64_t *ret)
{
    struct collectives state;
    uint64_t cycles;
    int64_t end;
    int code = collective_read(&library->memory, &library->root, address, &state);

    if (code == mqs_ok) {
        code = collective_end_cycles(&library->memory, &state, &cycles);
    }
    if (code != mqs_ok) {
        return code;
    }
    end = root_time(&library->root, cycles);
    *ret = end > *ret ? end : *ret;
    return mqs_ok;
}

static int get_last_end(mqs_process *process, int64_t *ret)
{
    mqs_process_info *info = entry_process(process);
    int64_t end = 0;
    int code;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    code = process_ensure(info);
    if (code == mqs_ok) {
        code = later_end(&info->library, (mqs_taddr_t)info->library.root.record.process, &end);
    }
    for (size_t i = 0; code == mqs_ok && i < info->library.communicators.list.count; i++) {
        const struct communicator *comm = communicator_at(&info->library.communicators, i);

        if (comm->collectives != 0) {
            code = later_end(&info->library, comm->collectives, &end);
        }
    }
    if (code == mqs_ok) {
        *ret = end;
    }
    return code;
}

EXPORT const mqs_extensions *mqs_get_extensions(void)
{
    static const mqs_extensions table = {
        MQS_EXTENSIONS_VERSION,
        (int)sizeof(mqs_extensions),
        collective_name,
        set_option,
        get_identity,
        get_communicator_details,
        get_members,
        get_operation_details,
        setup_call_iterator,
        next_call,
        setup_channel_iterator,
        next_channel,
        setup_wait_iterator,
        next_wait,
        next_wait_operation,
        setup_process_call_iterator,
        next_process_call,
        handle_name,
        handle_request,
        handle_group,
        handle_status,
        handle_setup_datatype_iterator,
        handle_next_datatype_block,
        get_layout,
        .setup_window_iterator = setup_window_iterator,
        .next_window = next_window,
        .get_window_locks = get_window_locks,
        .get_window_group = get_window_group,
        .get_last_end = get_last_end,
        .get_partitions = get_partitions,
    };

    return &table;
}
