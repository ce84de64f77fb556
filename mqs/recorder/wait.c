/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "process.h"

int wait_setup_iterator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    info->threads_seen = 0;
    info->thread = 0;
    operations_clear(&info->wait_operations);
    info->next_wait_operation = 0;
    return info->read ? mqs_ok : mqs_no_information;
}

/* Kinds are numbered as enum ompi_mqs_wait_kind. */
static int kind_of(const struct mpiq_record_function *function)
{
    static const uint8_t kinds[MPIQ_RECORD_FAMILY_COUNT] = {
        [MPIQ_RECORD_SEND] = OMPI_MQS_WAIT_SEND,
        [MPIQ_RECORD_BSEND] = OMPI_MQS_WAIT_SEND,
        [MPIQ_RECORD_SSEND] = OMPI_MQS_WAIT_SEND,
        [MPIQ_RECORD_RSEND] = OMPI_MQS_WAIT_SEND,
        [MPIQ_RECORD_RECV] = OMPI_MQS_WAIT_RECEIVE,
        [MPIQ_RECORD_SENDRECV] = OMPI_MQS_WAIT_ALL,
        [MPIQ_RECORD_PROBE] = OMPI_MQS_WAIT_PROBE,
        [MPIQ_RECORD_MPROBE] = OMPI_MQS_WAIT_MPROBE,
        [MPIQ_RECORD_MRECV] = OMPI_MQS_WAIT_MRECV,
        [MPIQ_RECORD_WAIT] = OMPI_MQS_WAIT_REQUEST,
        [MPIQ_RECORD_WAITALL] = OMPI_MQS_WAIT_ALL,
        [MPIQ_RECORD_WAITANY] = OMPI_MQS_WAIT_ANY,
        [MPIQ_RECORD_WAITSOME] = OMPI_MQS_WAIT_SOME,
        [MPIQ_RECORD_COLLECTIVE] = OMPI_MQS_WAIT_SHARED,
        [MPIQ_RECORD_WINDOW] = OMPI_MQS_WAIT_RMA,
        [MPIQ_RECORD_DETACH] = OMPI_MQS_WAIT_BSEND_DETACH,
        [MPIQ_RECORD_INIT] = OMPI_MQS_WAIT_INIT,
        [MPIQ_RECORD_FINALIZE] = OMPI_MQS_WAIT_FINALIZE,
        [MPIQ_RECORD_WIN_START] = OMPI_MQS_WAIT_WIN_START,
        [MPIQ_RECORD_WIN_COMPLETE] = OMPI_MQS_WAIT_WIN_COMPLETE,
        [MPIQ_RECORD_WIN_WAIT] = OMPI_MQS_WAIT_WIN_WAIT,
        [MPIQ_RECORD_WIN_LOCK] = OMPI_MQS_WAIT_WIN_LOCK,
        [MPIQ_RECORD_WIN_UNLOCK] = OMPI_MQS_WAIT_WIN_UNLOCK,
        [MPIQ_RECORD_WIN_FLUSH] = OMPI_MQS_WAIT_WIN_FLUSH,
        [MPIQ_RECORD_WIN_FENCE] = OMPI_MQS_WAIT_WIN_FENCE,
        [MPIQ_RECORD_WIN_FREE] = OMPI_MQS_WAIT_WIN_FREE,
    };

    switch (function->collective) {
    case OMPI_MQS_comm_spawn:
    case OMPI_MQS_comm_spawn_multiple:
    case OMPI_MQS_comm_accept:
    case OMPI_MQS_comm_connect:
    case OMPI_MQS_comm_join:
        return OMPI_MQS_WAIT_CONNECT;
    default:
        return function->family < MPIQ_RECORD_FAMILY_COUNT ? kinds[function->family] : OMPI_MQS_WAIT_NONE;
    }
}

/* One-sided calls: their window, target and lock. */
static void describe_window(const struct mpiq_record_thread *thread, const struct mpiq_record_call *call,
                            mqs_wait *ret)
{
    if (ret->kind < OMPI_MQS_WAIT_WIN_FENCE || ret->kind > OMPI_MQS_WAIT_WIN_FREE) {
        return;
    }
    if ((thread->window_wait & MPIQ_RECORD_WINDOW_KNOWN) == 0) {
        ret->kind = OMPI_MQS_WAIT_RMA;
        return;
    }
    /* It waits for the lock that it requested earlier and does not have yet. */
    if ((thread->window_wait & MPIQ_RECORD_WINDOW_LOCK) != 0) {
        ret->kind = OMPI_MQS_WAIT_WIN_LOCK;
    }
    ret->window = (mqs_taddr_t)thread->window;
    ret->window_target = call->peer >= 0 ? call->peer : -1;
    ret->lock_exclusive = (thread->window_wait & MPIQ_RECORD_WINDOW_EXCLUSIVE) != 0;
}

static int describe(mqs_process_info *info, const struct mpiq_record_thread *thread,
                    const struct mpiq_record_call *call, mqs_wait *ret)
{
    const struct mpiq_record_function *function = copy_function(&info->copy, call->function);
    const struct mpiq_record_comm *comm = copy_comm(&info->copy, call->comm);
    int code;

    if (function == NULL) {
        return ERROR_WAITS;
    }
    ret->kind = kind_of(function);
    /* Before the phase changes, MPI_Finalize runs the program's callbacks, which may do anything. */
    if (ret->kind == OMPI_MQS_WAIT_FINALIZE && info->copy.root.phase < OMPI_MQS_PHASE_FINALIZING) {
        ret->kind = OMPI_MQS_WAIT_NONE;
    }
    if (call->refused != 0) {
        ret->kind = MQS_WAIT_REFUSED;
    }
    if (ret->kind == OMPI_MQS_WAIT_NONE) {
        return mqs_ok;
    }
    ret->need = 1;
    ret->episode = thread->calls;
    ret->begin_ns = copy_time(&info->copy, call->begin);
    ret->comm = comm == NULL ? 0 : (mqs_taddr_t)comm->handle;
    snprintf(ret->call, sizeof ret->call, "%s", function->name);
    describe_window(thread, call, ret);
    if (function->collective >= 0) {
        ret->collective = function->collective;
        ret->collective_comm = ret->comm;
    }
    code = operations_of_wait(&info->copy, &info->fetch, thread, call, &info->wait_operations);
    if (code != mqs_ok) {
        return code;
    }
    ret->operations = info->wait_operations.count > INT_MAX ? INT_MAX : (int)info->wait_operations.count;
    /* One request may stand for two operations: it is complete when both are. */
    if (ret->kind == OMPI_MQS_WAIT_REQUEST && ret->operations > 1) {
        ret->kind = OMPI_MQS_WAIT_ALL;
    }
    if (ret->kind == OMPI_MQS_WAIT_ALL) {
        ret->need = ret->operations;
    }
    return mqs_ok;
}

/* What the thread is held before by mpiq run --step; NULL: it is not. */
static const struct mpiq_record_hold *find_hold(const struct copy *copy, uint32_t tid)
{
    const struct mpiq_record_step *step = copy_at(copy, copy->root.step, sizeof *step);
    const struct mpiq_record_hold *hold = step == NULL ? NULL : copy_at(copy, step->holds, sizeof *hold);

    for (unsigned i = 0; hold != NULL && i <= MPIQ_RECORD_MAX_THREADS; i++) {
        if (hold->tid == tid) {
            return hold->state == MPIQ_RECORD_HOLD_HELD || hold->state == MPIQ_RECORD_HOLD_ASKS ? hold : NULL;
        }
        hold = copy_at(copy, hold->next, sizeof *hold);
    }
    return NULL;
}

static int describe_hold(const struct copy *copy, const struct mpiq_record_hold *hold, mqs_wait *ret)
{
    const struct mpiq_record_function *function = copy_function(copy, hold->function);

    if (function == NULL) {
        return ERROR_WAITS;
    }
    ret->kind = MQS_WAIT_STEPPED;
    ret->episode = hold->number;
    snprintf(ret->call, sizeof ret->call, "%s", function->name);
    return mqs_ok;
}

int wait_next(mqs_process *process, mqs_wait *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_thread *thread;
    const struct mpiq_record_call *call;
    const struct mpiq_record_hold *hold;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    do {
        thread = copy_next_thread(&info->copy, &info->thread, &info->threads_seen);
        if (thread == NULL) {
            if (info->thread == 0 && info->copy.root.lost_threads > 0) {
                return ERROR_LOST_CALLS; /* a thread without a record may be waiting */
            }
            return info->thread == 0 ? mqs_end_of_list : ERROR_WAITS;
        }
    } while (thread->tid == 0);
    operations_clear(&info->wait_operations);
    info->next_wait_operation = 0;
    info->details_valid = false;
    memset(ret, 0, sizeof *ret);
    ret->tid = thread->tid > INT_MAX ? 0 : (int)thread->tid;
    ret->collective = -1;
    hold = find_hold(&info->copy, thread->tid);
    if (hold != NULL) {
        return describe_hold(&info->copy, hold, ret);
    }
    call = copy_current_call(thread);
    /* A thread that is in no call, or in one that never waits, is reported as OMPI_MQS_WAIT_NONE. */
    return call == NULL ? mqs_ok : describe(info, thread, call, ret);
}

int wait_next_operation(mqs_process *process, mqs_pending_operation *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct operation *operation;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->next_wait_operation >= info->wait_operations.count) {
        return mqs_end_of_list;
    }
    operation = &info->wait_operations.operations[info->next_wait_operation++];
    *ret = operation->plain;
    info->details = operation->details;
    info->parts = operation->parts;
    info->details_valid = true;
    return mqs_ok;
}
