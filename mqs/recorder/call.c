/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"

#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "process.h"

static void convert(const struct copy *copy, const struct mpiq_record_collective *from,
                    mqs_collective_call *to)
{
    memset(to, 0, sizeof *to);
    to->collective = from->collective;
    to->done = from->done != 0;
    to->number = (int64_t)from->number;
    to->count = from->count;
    to->datatype = (mqs_taddr_t)from->datatype;
    to->op = (mqs_taddr_t)from->op;
    to->bytes = from->bytes;
    to->root = from->root == MPIQ_RECORD_NO_PEER ? -1 : from->root;
    to->tid = (int)from->tid;
    to->caller = (mqs_taddr_t)from->caller;
    to->begin_ns = copy_time(copy, from->begin);
    copy_type_name(copy, from->datatype, to->datatype_name, sizeof to->datatype_name);
    copy_op_name(copy, from->op, to->op_name, sizeof to->op_name);
}

/* Handle of the call's outstanding request; 0: none. */
static uint64_t outstanding_handle(const struct copy *copy, const struct mpiq_record_comm *comm,
                                   const struct mpiq_record_collective *call)
{
    struct copy_requests walk;
    const struct mpiq_record_request *request;

    copy_requests_of(copy, comm, &walk);
    while ((request = copy_next_request(copy, &walk)) != NULL) {
        if (request->kind == MPIQ_RECORD_REQUEST_COLLECTIVE && request->state == MPIQ_RECORD_REQUEST_ACTIVE &&
            request->call.number == call->number && request->call.collective == call->collective) {
            return request->handle;
        }
    }
    return 0;
}

static bool makes_request(const struct copy *copy, const struct mpiq_record_collective *call)
{
    const struct mpiq_record_function *function = copy_function(copy, call->function);

    return function != NULL && function->family != MPIQ_RECORD_COLLECTIVE &&
           function->family != MPIQ_RECORD_INIT && function->family != MPIQ_RECORD_FINALIZE &&
           function->family != MPIQ_RECORD_WINDOW;
}

int call_setup_iterator(mqs_process *process, int list)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || (list != mqs_calls_recent && list != mqs_calls_outstanding)) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    info->calls = list;
    info->next_call = info->comm->ordered;
    copy_requests_of(&info->copy, info->comm, &info->outstanding);
    return mqs_ok;
}

/* Whether the running numbers of its calls are the same as on other members. */
static bool is_counted(const struct mpiq_record_comm *comm)
{
    return (comm->flags & MPIQ_RECORD_COMM_UNCOUNTED) == 0;
}

/* Whether the ring still has the call with that number. */
static bool in_ring(const struct mpiq_record_comm *comm, uint64_t number)
{
    return number > 0 && comm->ordered - number < MPIQ_RECORD_RING;
}

/* Whether a thread is held in the call with that number, which --strict has not passed on. */
static bool is_refused(const struct copy *copy, const struct mpiq_record_comm *comm, uint64_t number)
{
    const struct mpiq_record_thread *thread;
    uint32_t at = 0;
    unsigned seen = 0;

    while ((thread = copy_next_thread(copy, &at, &seen)) != NULL) {
        const struct mpiq_record_call *call = copy_current_call(thread);

        if (call != NULL && call->refused != 0 && thread->number == number &&
            copy_comm(copy, call->comm) == comm) {
            return true;
        }
    }
    return false;
}

/* If the process ran while it was copied, a slot may not hold the call of its number yet, or a later one
   already: such calls are left out. */
static int next_recent(mqs_process_info *info, mqs_collective_call *ret)
{
    const struct mpiq_record_comm *comm = info->comm;

    while (in_ring(comm, info->next_call)) {
        uint64_t number = info->next_call--;
        const struct mpiq_record_collective *call = &comm->ring[(number - 1) % MPIQ_RECORD_RING];

        if (call->number != number) {
            continue;
        }
        convert(&info->copy, call, ret);
        ret->number = is_counted(comm) ? (int64_t)number : 0;
        if (makes_request(&info->copy, call)) {
            ret->request = (mqs_taddr_t)outstanding_handle(&info->copy, comm, call);
            ret->done = ret->request == 0 && !is_refused(&info->copy, comm, number);
        }
        return mqs_ok;
    }
    return mqs_end_of_list;
}

static int next_outstanding(mqs_process_info *info, mqs_collective_call *ret)
{
    const struct mpiq_record_request *request;

    while ((request = copy_next_request(&info->copy, &info->outstanding)) != NULL) {
        if (request->kind != MPIQ_RECORD_REQUEST_COLLECTIVE || request->state != MPIQ_RECORD_REQUEST_ACTIVE) {
            continue;
        }
        convert(&info->copy, &request->call, ret);
        ret->number = is_counted(info->comm) ? ret->number : 0;
        ret->request = (mqs_taddr_t)request->handle;
        ret->done = 0;
        return mqs_ok;
    }
    return mqs_end_of_list;
}

int call_next(mqs_process *process, mqs_collective_call *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL || info->calls < 0) {
        return ERROR_ORDER;
    }
    return info->calls == mqs_calls_recent ? next_recent(info, ret) : next_outstanding(info, ret);
}

int call_setup_process_iterator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_comm *comm;

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = copy_comm(&info->copy, info->copy.root.process);
    if (!info->read || comm == NULL) {
        return mqs_no_information;
    }
    info->iterating_process_calls = true;
    info->next_process_call = comm->ordered;
    return mqs_ok;
}

int call_next_of_process(mqs_process *process, mqs_collective_call *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_comm *comm;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = copy_comm(&info->copy, info->copy.root.process);
    if (!info->iterating_process_calls || comm == NULL) {
        return ERROR_ORDER;
    }
    if (!in_ring(comm, info->next_process_call)) {
        return mqs_end_of_list;
    }
    convert(&info->copy, &comm->ring[(info->next_process_call-- - 1) % MPIQ_RECORD_RING], ret);
    ret->number = 0;
    return mqs_ok;
}

/* ---- history ----------------------------------------------------------------------------------------- */

int call_setup_history(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    info->history_threads_seen = 0;
    info->history_thread = 0;
    info->history_next = info->history_end = 0;
    return info->read ? mqs_ok : mqs_no_information;
}

static int past_peer(int32_t peer)
{
    if (peer >= 0) {
        return peer;
    }
    return peer == MPIQ_RECORD_ANY         ? mqs_past_any
           : peer == MPIQ_RECORD_PROC_NULL ? mqs_past_proc_null
                                           : mqs_past_none;
}

static void convert_past(const struct copy *copy, const struct mpiq_record_thread *thread,
                         const struct mpiq_record_call *from, mqs_past_call *to)
{
    const struct mpiq_record_function *function = copy_function(copy, from->function);
    const struct mpiq_record_comm *comm = copy_comm(copy, from->comm);

    memset(to, 0, sizeof *to);
    snprintf(to->call, sizeof to->call, "%s", function == NULL ? "?" : function->name);
    to->comm = comm != NULL && comm->id[1] == from->comm_id ? (mqs_taddr_t)comm->handle : 0;
    to->caller = (mqs_taddr_t)from->caller;
    to->begin_ns = copy_time(copy, from->begin);
    to->end_ns = copy_time(copy, from->end);
    to->bytes = from->bytes;
    to->peer_local = to->root = mqs_past_none;
    if (function != NULL && function->collective >= 0) {
        to->root = from->peer >= 0 ? from->peer : mqs_past_none;
    } else {
        to->peer_local = past_peer(from->peer);
    }
    to->tag = from->tag >= 0 ? from->tag : from->tag == MPIQ_RECORD_ANY ? mqs_past_any : mqs_past_none;
    to->tid = (int)thread->tid;
    to->error = from->error;
    to->tag_group = from->tag_group;
}

/* If the process ran while it was copied, a slot may hold a later call.  It shows: only the newest call can
   be open, and none began after it. */
static bool is_written_over(const struct mpiq_record_call *call, const struct mpiq_record_call *newest)
{
    return call != newest && (call->end == 0 || call->begin > newest->begin);
}

int call_next_past(mqs_process *process, mqs_past_call *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_thread *thread;
    const struct mpiq_record_call *call;
    const struct mpiq_record_call *newest;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    do {
        while (info->history_next >= info->history_end) {
            thread = copy_next_thread(&info->copy, &info->history_thread, &info->history_threads_seen);
            if (thread == NULL) {
                return mqs_end_of_list;
            }
            info->history_end = thread->calls;
            info->history_next =
                thread->calls > MPIQ_RECORD_HISTORY - 1 ? thread->calls - (MPIQ_RECORD_HISTORY - 1) : 0;
        }
        thread = copy_at(&info->copy, info->history_thread, sizeof *thread);
        if (thread == NULL) {
            return ERROR_WAITS;
        }
        call = &thread->history[info->history_next++ % MPIQ_RECORD_HISTORY];
        newest = &thread->history[(info->history_end - 1) % MPIQ_RECORD_HISTORY];
    } while (is_written_over(call, newest));
    convert_past(&info->copy, thread, call, ret);
    return mqs_ok;
}
