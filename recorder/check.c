/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check - the end of a program under `mpiq run --check`: its objects, and the wait to be read.
 *
 * mpiq run listens on a socket in a directory of its own (MPIQ_CHECK names it).  A process connects in
 * MPI_Finalize, says which rank of how many it is, and waits until mpiq run has read it and closes the
 * connection, or has ended.  Meanwhile it drives MPI's progress, because other ranks may need it to get
 * here.
 *
 * It waits while the attributes of MPI_COMM_SELF are deleted, in the last delete function to run, so that
 * whatever the program's own delete functions free counts as freed.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder.h"

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static bool waited;
bool recorder_ending;

bool check_wanted(void)
{
    const char *path = getenv("MPIQ_CHECK");
    size_t length = path ? strlen(path) : 0;
    if (length == 0 || length >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path, path, length + 1);
    return true;
}

/* ---- the wait ---------------------------------------------------------------------------------------- */

static void progress(void)
{
    int flag = 0;
    unsigned char status[64];
    ASK(Iprobe, (word)recorder_abi.any_source, (word)recorder_abi.any_tag, recorder_abi.comm_self,
        (word)&flag, (word)status);
}

void check_wait(void)
{
    enum { SHORT_WAITS = 100, LONG_MS = 10 };
    const struct mpiq_record_root *root = &mpiq_record_root;
    if (waited)
        return;
    waited = true;
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return;
    fact_requests();
    __atomic_or_fetch(&mpiq_record_root.flags, MPIQ_RECORD_PAUSED_AT_END, __ATOMIC_RELEASE);
    uint32_t hello[3] = {root->jobid, (uint32_t)root->world_rank, (uint32_t)root->world_size};
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0 &&
        send(connection, hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello) {
        struct pollfd wait = {.fd = connection, .events = POLLIN};
        for (int i = 0; poll(&wait, 1, i < SHORT_WAITS ? 1 : LONG_MS) <= 0; i++)
            progress();
    }
    __atomic_and_fetch(&mpiq_record_root.flags, ~MPIQ_RECORD_PAUSED_AT_END, __ATOMIC_RELEASE);
    close(connection);
}

void check_begin(void)
{
    signature_begin();
}

void check_end(void)
{
    recorder_ending = true;
    if (!recorder_sees_end)
        check_wait();
}

/* ---- objects ------------------------------------------------------------------------------------------- */

/* The kind of object a call frees; -1: none that is tracked. */
static int object_freed_by(const struct function *function)
{
    switch ((enum action)function->action) {
    case ACTION_COMM_FREE:
        return MPIQ_RECORD_OBJECT_COMMUNICATOR;
    case ACTION_TYPE_FREE:
        return function->roles[0] == '*' ? MPIQ_RECORD_OBJECT_DATATYPE : -1;
    case ACTION_WIN_FREE:
        return MPIQ_RECORD_OBJECT_WINDOW;
    case ACTION_GROUP_FREE:
        return MPIQ_RECORD_OBJECT_GROUP;
    case ACTION_FILE_CLOSE:
        return MPIQ_RECORD_OBJECT_FILE;
    case ACTION_OP_FREE:
        return MPIQ_RECORD_OBJECT_OP;
    default:
        return -1;
    }
}

void check_freeing(const struct function *function, const word *arguments, struct freeing *ret)
{
    ret->object = object_freed_by(function);
    if (ret->object >= 0)
        ret->handle = handle_at((const void *)arguments[0], 0);
}

void check_freed(const struct freeing *freeing, int result)
{
    if (freeing->object >= 0 && result == 0)
        fact_object_freed((enum mpiq_record_object)freeing->object, freeing->handle);
}

static void check_made(const struct call *call, enum mpiq_record_object object, char role, uint64_t none)
{
    uint64_t handle = handle_at((const void *)ARGUMENT(call, role), 0);
    if (recorder_check && handle != none && handle != 0)
        fact_object(object, handle, call->entry->function, call->caller, call->comm);
}

/* Notes the object a call made, which has to be freed. */
void check_object(const struct call *call)
{
    switch ((enum action)call->function->action) {
    case ACTION_CREATE:
    case ACTION_IDUP:
    case ACTION_CREATE_GROUP:
    case ACTION_CREATE_ALONE:
    case ACTION_CREATE_WORLD:
    case ACTION_INTERCOMM_CREATE:
        check_made(call, MPIQ_RECORD_OBJECT_COMMUNICATOR, 'C', recorder_abi.comm_null);
        break;
    case ACTION_WIN_CREATE:
        check_made(call, MPIQ_RECORD_OBJECT_WINDOW, 'W', recorder_abi.win_null);
        break;
    case ACTION_FILE_OPEN:
        check_made(call, MPIQ_RECORD_OBJECT_FILE, 'G', 0);
        break;
    case ACTION_TYPE_NEW:
        check_made(call, MPIQ_RECORD_OBJECT_DATATYPE, 'Y', 0);
        break;
    case ACTION_GROUP_NEW:
        check_made(call, MPIQ_RECORD_OBJECT_GROUP, 'Y', recorder_abi.group_empty);
        break;
    case ACTION_OP_NEW:
        check_made(call, MPIQ_RECORD_OBJECT_OP, 'Y', 0);
        break;
    default:
        break;
    }
}
