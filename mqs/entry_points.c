/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry_points - the functions of the Forum's interface and of the collective extension: arguments are
 * checked here, the work is done elsewhere.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "callbacks.h"
#include "entry_points.h"
#include "error.h"
#include "group.h"
#include "identity.h"
#include "process.h"

mqs_process_info *entry_process(mqs_process *process)
{
    const mqs_basic_callbacks *basic = callbacks_basic();

    return basic == NULL || process == NULL ? NULL : basic->mqs_get_process_info_fp(process);
}

EXPORT void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks)
{
    callbacks_set(callbacks);
}

EXPORT char *mqs_version_string(void)
{
    return (char *)"mpiq message-queue DLL for Open MPI 4.1 and 5.0";
}

EXPORT int mqs_version_compatibility(void)
{
    return MQS_INTERFACE_COMPATIBILITY;
}

EXPORT int mqs_dll_taddr_width(void)
{
    return (int)sizeof(mqs_taddr_t);
}

EXPORT char *mqs_dll_error_string(int code)
{
    return (char *)error_text(code);
}

EXPORT int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    mqs_image_info *info;

    if (callbacks_basic() == NULL || image == NULL || callbacks == NULL) {
        return ERROR_ARGUMENT;
    }
    info = memory_allocate(1, sizeof *info);
    if (info == NULL) {
        return ERROR_NO_STORE;
    }
    info->callbacks = callbacks;
    callbacks_basic()->mqs_put_image_info_fp(image, info);
    return mqs_ok;
}

EXPORT int mqs_image_has_queues(mqs_image *image, char **message)
{
    static const char none[] =
        "%s is not an Open MPI program, or has not loaded the library yet: it has no variable "
        "ompi_mpi_communicators.";
    const mqs_image_info *info;
    mqs_taddr_t address = 0;

    if (callbacks_basic() == NULL || image == NULL || message == NULL) {
        return ERROR_ARGUMENT;
    }
    *message = NULL;
    info = callbacks_basic()->mqs_get_image_info_fp(image);
    if (info == NULL) {
        return ERROR_ORDER;
    }
    if (info->callbacks->mqs_find_symbol_fp(image, (char *)"ompi_mqs_root", &address) == mqs_ok ||
        info->callbacks->mqs_find_symbol_fp(image, (char *)"ompi_mpi_communicators", &address) == mqs_ok) {
        return mqs_ok;
    }
    *message = (char *)none;
    return mqs_no_information;
}

EXPORT void mqs_destroy_image_info(mqs_image_info *info)
{
    memory_free(info);
}

static bool sizes_are_sane(const mqs_target_type_sizes *sizes)
{
    return sizes->int_size == 4 && (sizes->pointer_size == 4 || sizes->pointer_size == 8) &&
           sizes->pointer_size <= (int)sizeof(mqs_taddr_t) && sizes->long_long_size == 8 &&
           (sizes->long_size == 4 || sizes->long_size == 8);
}

EXPORT int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    mqs_target_type_sizes sizes;
    const mqs_image_info *image_info;
    mqs_process_info *info;
    mqs_image *image;

    if (callbacks_basic() == NULL || process == NULL || callbacks == NULL) {
        return ERROR_ARGUMENT;
    }
    image = callbacks->mqs_get_image_fp(process);
    image_info = image == NULL ? NULL : callbacks_basic()->mqs_get_image_info_fp(image);
    if (image_info == NULL) {
        return ERROR_ORDER;
    }
    memset(&sizes, 0, sizeof sizes);
    image_info->callbacks->mqs_get_type_sizes_fp(process, &sizes);
    if (!sizes_are_sane(&sizes)) {
        return ERROR_SIZES;
    }
    /* Debuggers older than these two members leave them alone. */
    sizes.bool_size = 1;
    sizes.size_t_size = sizes.pointer_size;

    info = memory_allocate(1, sizeof *info);
    if (info == NULL) {
        return ERROR_NO_STORE;
    }
    info->process = process;
    info->image = image;
    info->image_callbacks = image_info->callbacks;
    info->callbacks = callbacks;
    layout_init(&info->layout, &sizes);
    callbacks_basic()->mqs_put_process_info_fp(process, info);
    return mqs_ok;
}

EXPORT void mqs_destroy_process_info(mqs_process_info *info)
{
    if (info != NULL) {
        process_clear(info);
        memory_free(info);
    }
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
        *message = (char *)layout_missing(&info->layout, GROUP_COMMUNICATORS);
        return code;
    }
    if (code != mqs_ok) {
        snprintf(info->message, sizeof info->message, "No MPI state of %%s: %s.", error_text(code));
        *message = info->message;
        return code;
    }
    if (info->pml[0] != '\0' && process_queues(info) != mqs_ok) {
        /* Communicators and collective state can be told, so this is a success that needs a word. */
        if (process_queues(info) == mqs_no_information) {
            snprintf(info->message, sizeof info->message,
                     "No message queues of %%s: no information: PML %s. Run with --mca pml ob1 to see them.",
                     info->pml);
            *message = info->message;
        } else {
            *message = (char *)layout_missing(&info->layout, GROUP_REQUESTS);
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
    mqs_process_info *info = entry_process(process);
    int code;

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    code = process_ensure(info);
    if (code != mqs_ok) {
        return code;
    }
    info->current = 0;
    info->iterating = true;
    entry_leave_communicator(info);
    return info->communicators.list.count == 0 ? mqs_end_of_list : mqs_ok;
}

void entry_leave_communicator(mqs_process_info *info)
{
    memset(&info->operations, 0, sizeof info->operations);
    memset(&info->calls, 0, sizeof info->calls);
    messages_clear(&info->messages);
    channels_clear(&info->channels);
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
    code = group_check(info, comm->local_group, comm->size);
    if (code != mqs_ok) {
        return code;
    }
    names = memory_allocate((size_t)comm->size, sizeof *names);
    if (names == NULL) {
        return ERROR_NO_STORE;
    }
    code = group_members(info, comm->local_group, comm->size, names);
    for (int i = 0; code == mqs_ok && i < comm->size; i++) {
        ret[i] = group_world_rank(info, names[i]);
    }
    memory_free(names);
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
    entry_leave_communicator(info);
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
    return comm == NULL ? ERROR_NO_COMMUNICATOR : operations_set_up(info, comm, class_);
}

EXPORT int mqs_next_operation(mqs_process *process, mqs_pending_operation *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    info->details_valid = false;
    return operations_next(info, ret);
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
    code = collective_read(info, comm->collectives, &state);
    if (code == mqs_ok) {
        code = collective_count(info, &state, class_, &calls, &pending);
    }
    if (code == mqs_ok) {
        *count = calls > INT_MAX ? INT_MAX : (int)calls;
        *active = pending > 0;
    }
    return code;
}
