/* SPDX-License-Identifier: BSD-3-Clause */
/* call_begin - what is recorded of a call before the library is told of it. */
#include "recorder.h"

static struct mpiq_record_collective note_of(struct call *call)
{
    struct mpiq_record_collective note;
    collective_begin(call, false, &note);
    return note;
}

static void before_window(struct call *call)
{
    uint64_t handle =
        HAS(call, 'v') ? handle_at((const void *)ARGUMENT(call, 'v'), 0) : handle_of(ARGUMENT(call, 'w'));
    struct mpiq_record_window *window = window_find(handle);
    call->handle = handle;
    call->window = window;
    call->thread->window = handle;
    if (window) {
        call->comm = arena_at(window->comm);
        call->entry->comm = window->comm;
    }
    if (HAS(call, 'p'))
        call->entry->peer = peer_of((int32_t)ARGUMENT(call, 'p'));
}

/* A collective on a file counts on the communicator that the file was opened on. */
static void before_file(struct call *call, word file)
{
    call->comm = file_comm(file);
    call->entry->comm = arena_offset(call->comm);
    note_of(call);
}

static void before_freed_comm(struct call *call)
{
    call->handle = handle_at((const void *)ARGUMENT(call, 'd'), 0);
    call->comm = comm_find(call->self, call->handle);
    call->entry->comm = arena_offset(call->comm);
}

static void before_tagged_creation(struct call *call)
{
    note_of(call);
    call->entry->tag = tag_of((int32_t)ARGUMENT(call, 'g'));
    call->entry->tag_group = comm_tag_group(call);
}

void call_begins(struct call *call)
{
    if (call_is_of_epoch(call->function->action)) {
        before_window(call);
        window_before(call);
        return;
    }
    switch ((enum action)call->function->action) {
    case ACTION_SEND:
    case ACTION_BSEND:
    case ACTION_SSEND:
    case ACTION_RSEND:
    case ACTION_ISEND:
    case ACTION_IBSEND:
    case ACTION_ISSEND:
    case ACTION_IRSEND:
        before_send(call);
        break;
    case ACTION_SEND_INIT:
    case ACTION_BSEND_INIT:
    case ACTION_SSEND_INIT:
    case ACTION_RSEND_INIT:
    case ACTION_RECV_INIT:
    case ACTION_PSEND_INIT:
    case ACTION_PRECV_INIT:
    case ACTION_IRECV:
        before_envelope(call);
        break;
    case ACTION_RECV:
        before_receive(call);
        break;
    case ACTION_SENDRECV:
    case ACTION_SENDRECV_REPLACE:
    case ACTION_ISENDRECV:
    case ACTION_ISENDRECV_REPLACE:
        before_sendrecv(call);
        break;
    case ACTION_PROBE:
    case ACTION_IPROBE:
    case ACTION_MPROBE:
    case ACTION_IMPROBE:
        before_probe(call);
        break;
    case ACTION_MRECV:
    case ACTION_IMRECV:
        before_mreceive(call);
        break;
    case ACTION_START:
        before_start(call);
        break;
    case ACTION_STARTALL:
        before_startall(call);
        break;
    case ACTION_WAIT:
    case ACTION_TEST:
    case ACTION_REQUEST_FREE:
    case ACTION_CANCEL:
        before_wait(call);
        break;
    case ACTION_WAITALL:
    case ACTION_WAITANY:
    case ACTION_WAITSOME:
    case ACTION_TESTALL:
    case ACTION_TESTANY:
    case ACTION_TESTSOME:
        before_waits(call);
        break;
    case ACTION_COMM_FREE:
        before_freed_comm(call);
        note_of(call);
        break;
    case ACTION_CREATE_GROUP:
    case ACTION_INTERCOMM_CREATE:
        before_tagged_creation(call);
        break;
    case ACTION_WIN_FENCE:
        before_window(call);
        window_fence_begins(call);
        note_of(call);
        break;
    case ACTION_WIN_FREE:
    case ACTION_WIN_INFO:
        before_window(call);
        window_before(call);
        note_of(call);
        break;
    case ACTION_WIN_ATTRIBUTE:
        before_window(call);
        window_before(call);
        break;
    case ACTION_FILE:
    case ACTION_IFILE:
        before_file(call, ARGUMENT(call, 'F'));
        break;
    case ACTION_FILE_CLOSE:
        before_file(call, *(const word *)ARGUMENT(call, 'F'));
        file_closing(*(const word *)ARGUMENT(call, 'F'));
        break;
    case ACTION_WIN_SYNC:
        before_window(call);
        break;
    case ACTION_RMA:
        before_window(call);
        before_envelope(call);
        if (!HAS(call, 'n')) /* MPI_Fetch_and_op, MPI_Compare_and_swap: one element */
            call->entry->bytes = bytes_of(1, call->thread->datatype);
        break;
    case ACTION_WIN_NAME:
        before_window(call);
        window_name(call->window, (const char *)ARGUMENT(call, '*'));
        break;
    case ACTION_COMM_NAME:
        comm_name(call->comm, (const char *)ARGUMENT(call, '*'));
        break;
    case ACTION_TYPE_FREE:
        type_forget(HAS(call, 't') ? handle_of(ARGUMENT(call, 't'))
                                   : handle_at((const void *)ARGUMENT(call, '*'), 0));
        if (recorder_check && HAS(call, '*'))
            signature_forget(handle_at((const void *)ARGUMENT(call, '*'), 0));
        break;
    case ACTION_PREADY:
    case ACTION_PREADY_RANGE:
    case ACTION_PREADY_LIST:
        partition_ready(call->function, call->arguments);
        break;
    case ACTION_ABORT:
        remains_abort((int)call->arguments[1]);
        break;
    case ACTION_FINALIZE:
        lifetime_finalizing();
        note_of(call);
        if (recorder_check)
            recorder_ending = true;
        if (recorder_sees_end)
            call->self->finalize = call;
        break;
    default:
        if (call->function->collective >= 0)
            note_of(call);
        break;
    }
}
