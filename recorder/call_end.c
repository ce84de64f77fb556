/* SPDX-License-Identifier: BSD-3-Clause */
/* call_end - what is recorded of a call once it has returned, or was left by an exception or a jump. */
#include "recorder.h"

int error_class(int32_t error)
{
    int class = 0;
    bool known = error != 0 && error != (int32_t)RECORDER_FAILED;
    return known && ASK(Error_class, (word)error, (word) & class) == 0 ? class : 0;
}

bool call_refused(int result)
{
    enum { FIRST = 1, LAST = 6 }; /* MPI_ERR_BUFFER to MPI_ERR_RANK, the same in all ABIs */
    int class = error_class(result);
    return class >= FIRST && class <= LAST;
}

/* A blocking collective has returned. */
static void end_blocking(struct call *call, int result)
{
    if (!call->collective)
        return;
    if (result != 0)
        collective_failed(call, result);
    call->collective->done = 1; /* in the process's ring, another thread's call may own this entry now */
    collective_end(call->comm, call->function->collective);
}

static uint64_t created(const struct call *call)
{
    return handle_at((const void *)ARGUMENT(call, 'C'), 0);
}

static void after_creation(struct call *call, int result)
{
    if (result != 0)
        return;
    switch ((enum action)call->function->action) {
    case ACTION_CREATE:
        comm_created(call, created(call), false);
        break;
    case ACTION_IDUP:
        comm_created(call, created(call), true);
        break;
    case ACTION_CREATE_GROUP:
    case ACTION_INTERCOMM_CREATE:
        comm_created_apart(call, created(call),
                           (uint64_t)call->function->action << 32 ^ (uint32_t)ARGUMENT(call, 'g'), false);
        break;
    case ACTION_CREATE_ALONE:
    case ACTION_CREATE_WORLD:
    case ACTION_GET_PARENT:
        comm_created_apart(call, created(call), call->function->action, true);
        break;
    default:
        break;
    }
}

void call_ended(struct call *call, int result)
{
    if (call_is_of_epoch(call->function->action)) {
        window_after(call, result);
        return;
    }
    switch ((enum action)call->function->action) {
    case ACTION_SEND:
    case ACTION_BSEND:
    case ACTION_SSEND:
    case ACTION_RSEND:
        after_send(call, result);
        break;
    case ACTION_START:
    case ACTION_STARTALL:
        after_start(call, result);
        break;
    case ACTION_RECV:
        after_receive(call, result);
        break;
    case ACTION_SENDRECV:
    case ACTION_SENDRECV_REPLACE:
        after_sendrecv(call, result);
        break;
    case ACTION_ISEND:
    case ACTION_IBSEND:
    case ACTION_ISSEND:
    case ACTION_IRSEND:
        after_isend(call, result);
        break;
    case ACTION_IRECV:
        after_ireceive(call, result);
        break;
    case ACTION_ISENDRECV:
    case ACTION_ISENDRECV_REPLACE:
        after_isendrecv(call, result);
        break;
    case ACTION_SEND_INIT:
    case ACTION_BSEND_INIT:
    case ACTION_SSEND_INIT:
    case ACTION_RSEND_INIT:
    case ACTION_RECV_INIT:
    case ACTION_PSEND_INIT:
    case ACTION_PRECV_INIT:
    case ACTION_PCOLLECTIVE:
        if (call->collective && result != 0)
            collective_failed(call, result);
        after_init_request(call, result);
        break;
    case ACTION_MPROBE:
    case ACTION_IMPROBE:
        after_mprobe(call, result);
        break;
    case ACTION_IMRECV:
        after_imreceive(call, result);
        break;
    case ACTION_WAIT:
    case ACTION_TEST:
        after_wait(call, result);
        break;
    case ACTION_WAITALL:
    case ACTION_TESTALL:
        after_waitall(call, result);
        break;
    case ACTION_WAITANY:
    case ACTION_TESTANY:
        after_waitany(call, result);
        break;
    case ACTION_WAITSOME:
    case ACTION_TESTSOME:
        after_waitsome(call, result);
        break;
    case ACTION_REQUEST_FREE:
        after_request_free(call, result);
        break;
    case ACTION_CANCEL:
        after_cancel(call, result);
        break;
    case ACTION_RMA:
        window_after(call, result);
        after_other_request(call, result);
        break;
    case ACTION_ICOLLECTIVE:
    case ACTION_IFILE:
        if (result != 0)
            collective_failed(call, result);
        after_other_request(call, result);
        break;
    case ACTION_REQUEST_OTHER:
    case ACTION_GREQUEST:
        after_other_request(call, result);
        break;
    case ACTION_IDUP:
        if (result != 0)
            collective_failed(call, result);
        after_other_request(call, result);
        after_creation(call, result);
        break;
    case ACTION_CREATE:
    case ACTION_CREATE_GROUP:
    case ACTION_CREATE_ALONE:
    case ACTION_CREATE_WORLD:
    case ACTION_INTERCOMM_CREATE:
        end_blocking(call, result);
        after_creation(call, result);
        break;
    case ACTION_GET_PARENT:
        if (!comm_find(call->self, created(call)))
            after_creation(call, result);
        break;
    case ACTION_COMM_FREE:
        end_blocking(call, result);
        if (result == 0 && call->comm && call->comm->handle == call->handle)
            comm_removed(call->comm);
        break;
    case ACTION_WIN_CREATE:
        end_blocking(call, result);
        if (result == 0)
            window_created(call, handle_at((const void *)ARGUMENT(call, 'W'), 0));
        break;
    case ACTION_FILE_OPEN:
        end_blocking(call, result);
        if (result == 0)
            file_opened(*(const word *)ARGUMENT(call, 'G'), call->comm);
        break;
    case ACTION_WIN_FENCE:
        window_fence_ended(call, result);
        end_blocking(call, result);
        break;
    case ACTION_WIN_FREE:
        window_after(call, result);
        end_blocking(call, result);
        if (result == 0)
            window_removed(call->window);
        break;
    case ACTION_FINALIZE:
        call->self->finalize = NULL;
        end_blocking(call, result);
        mpiq_record_root.phase = OMPI_MQS_PHASE_FINALIZED;
        recorder_active = false;
        break;
    default:
        end_blocking(call, result);
        break;
    }
}

/* An exception or a jump has left the call: nothing is known of its outcome. */
void call_left(struct call *call)
{
    switch ((enum action)call->function->action) {
    case ACTION_WAIT:
    case ACTION_WAITALL:
    case ACTION_WAITANY:
    case ACTION_WAITSOME:
    case ACTION_TEST:
    case ACTION_TESTALL:
    case ACTION_TESTANY:
    case ACTION_TESTSOME:
        after_left_wait(call);
        break;
    case ACTION_INIT:
        recorder_active = false;
        break;
    case ACTION_FINALIZE:
        call->self->finalize = NULL;
        if (mpiq_record_root.phase == OMPI_MQS_PHASE_FINALIZING)
            mpiq_record_root.phase = OMPI_MQS_PHASE_RUNNING;
        end_blocking(call, RECORDER_FAILED);
        break;
    default:
        call_ended(call, RECORDER_FAILED);
        break;
    }
}
