/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interface - the functions of the Forum's interface and of the collective extension that concern a process:
 * arguments are checked here, the work is done elsewhere.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "callbacks.h"
#include "entry_points.h"
#include "error.h"
#include "process.h"

EXPORT char *mqs_version_string(void)
{
    return (char *)"mpiq message-queue DLL for Open MPI 4.1 and 5.0";
}

EXPORT int mqs_image_has_queues(mqs_image *image, char **message)
{
    static const char none[] =
        "%s is not an Open MPI program, or has not loaded the library yet: it has no variable "
        "ompi_mpi_communicators.";
    static const char *const variables[] = {"ompi_mqs_root", "ompi_mpi_communicators", NULL};

    return entry_image_has(image, variables, none, message);
}

EXPORT int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    struct entry_setup setup;
    mqs_process_info *info;
    struct memory *memory;
    int code = entry_setup_process(process, callbacks, &setup);

    if (code != mqs_ok) {
        return code;
    }
    info = heap_allocate(1, sizeof *info);
    if (info == NULL) {
        return ERROR_NO_STORE;
    }
    memory = &info->library.memory;
    memory->fetch.process = process;
    memory->fetch.callbacks = callbacks;
    memory->fetch.pointer_size = setup.sizes.pointer_size;
    memory->symbols.image = setup.image;
    memory->symbols.callbacks = setup.image_callbacks;
    layout_init(&memory->layout, &setup.sizes);
    library_init(&info->library);
    callbacks_basic()->mqs_put_process_info_fp(process, info);
    return mqs_ok;
}

EXPORT void mqs_destroy_process_info(mqs_process_info *info)
{
    if (info != NULL) {
        process_clear(info);
        heap_free(info);
    }
}

/* Why a group of rows is not there.  The debugger puts the process's name in place of %s. */
static char *missing_layout(mqs_process_info *info, enum layout_group group)
{
    const struct built_in *built_in = &info->library.built_in;

    if (built_in->failed == 0 && (built_in->release[0] == '\0' || built_in->variant != NULL)) {
        return (char *)layout_missing(&info->library.memory.layout, group);
    }
    if (built_in->failed == 0) {
        snprintf(info->message, sizeof info->message,
                 "The MPI library of %%s is Open MPI %.20s, for which mpiq has no built-in layout. It needs "
                 "mpiq's "
                 "patch, or debug information (-g).",
                 built_in->release);
    } else {
        snprintf(info->message, sizeof info->message,
                 "The MPI library of %%s is Open MPI %.20s, but its structures do not match the built-in "
                 "layout: %.47s: "
                 "%.143s.",
                 built_in->release, built_in->failures[0].structure, built_in->failures[0].check);
    }
    return info->message;
}

EXPORT int mqs_process_has_queues(mqs_process *process, char **message)
{
    mqs_process_info *info = entry_process(process);
    int code;

    if (info == NULL || message == NULL) {
        return ERROR_ARGUMENT;
    }
    *message = NULL;
    code = process_begin(info);
    if (code == ERROR_LAYOUT) {
        *message = missing_layout(info, GROUP_COMMUNICATORS);
        return code;
    }
    if (code != mqs_ok) {
        snprintf(info->message, sizeof info->message, "No MPI state of %%s: %s.", error_text(code));
        *message = info->message;
        return code;
    }
    if (info->library.pml[0] != '\0' && library_queues(&info->library) != mqs_ok) {
        /* Communicators and collective state can be told, so this is a success that needs a word. */
        if (library_queues(&info->library) == mqs_no_information) {
            snprintf(info->message, sizeof info->message,
                     "No message queues of %%s: no information: PML %s. Run with --mca pml ob1 to see them.",
                     info->library.pml);
            *message = info->message;
        } else {
            *message = missing_layout(info, GROUP_REQUESTS);
        }
    }
    return mqs_ok;
}

EXPORT int mqs_update_communicator_list(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL ? ERROR_ARGUMENT : process_refresh(info);
}

EXPORT int mqs_setup_communicator_iterator(mqs_process *process)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    if (code != mqs_ok) {
        return code;
    }
    info->current = 0;
    info->iterating = true;
    process_leave_communicator(info);
    return info->library.communicators.list.count == 0 ? mqs_end_of_list : mqs_ok;
}

EXPORT int mqs_get_communicator(mqs_process *process, mqs_communicator *ret)
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
    memset(ret, 0, sizeof *ret);
    ret->unique_id = comm->unique_id;
    ret->local_rank = comm->my_rank;
    ret->size = comm->size;
    memcpy(ret->name, comm->name, sizeof ret->name);
    return mqs_ok;
}

EXPORT int mqs_get_comm_group(mqs_process *process, int *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;
    mqs_process_name *names;
    int code;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    if (comm->size == 0) {
        return mqs_ok;
    }
    code = group_check(&info->library.groups, comm->local_group, comm->size);
    if (code != mqs_ok) {
        return code;
    }
    names = heap_allocate((size_t)comm->size, sizeof *names);
    if (names == NULL) {
        return ERROR_NO_STORE;
    }
    code = group_members(&info->library.groups, comm->local_group, comm->size, names);
    for (int i = 0; code == mqs_ok && i < comm->size; i++) {
        ret[i] = group_world_rank(&info->library.groups, names[i]);
    }
    heap_free(names);
    return code;
}

EXPORT int mqs_next_communicator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    if (process_current(info) == NULL) {
        return info->iterating ? mqs_end_of_list : ERROR_NO_COMMUNICATOR;
    }
    info->current++;
    process_leave_communicator(info);
    return process_current(info) == NULL ? mqs_end_of_list : mqs_ok;
}

EXPORT int mqs_setup_operation_iterator(mqs_process *process, int class_)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    return comm == NULL ? ERROR_NO_COMMUNICATOR
                        : operations_set_up(&info->library, &info->operations, comm, class_);
}

EXPORT int mqs_next_operation(mqs_process *process, mqs_pending_operation *ret)
{
    mqs_process_info *info = entry_process(process);
    int code;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    code = operations_next(&info->library, &info->operations, ret, &info->details);
    info->details_valid = code == mqs_ok;
    return code;
}

EXPORT int mqs_get_comm_coll_state(mqs_process *process, int class_, int *count, int *active)
{
    mqs_process_info *info = entry_process(process);
    const struct communicator *comm;
    struct collectives state;
    uint32_t calls;
    uint32_t pending;
    int code;

    if (info == NULL || count == NULL || active == NULL) {
        return ERROR_ARGUMENT;
    }
    comm = process_current(info);
    if (comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    code = collective_read(&info->library.memory, &info->library.root, comm->collectives, &state);
    if (code == mqs_ok) {
        code = collective_count(&info->library.memory, &state, class_, &calls, &pending);
    }
    if (code == mqs_ok) {
        *count = calls > INT_MAX ? INT_MAX : (int)calls;
        *active = pending > 0;
    }
    return code;
}
