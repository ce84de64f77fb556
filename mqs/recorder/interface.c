/* SPDX-License-Identifier: BSD-3-Clause */
/* interface - the functions of the Forum's interface and of the collective extension that concern a process.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../callbacks.h"
#include "../error.h"
#include "group.h"
#include "process.h"

EXPORT char *mqs_version_string(void)
{
    return (char *)"mpiq message-queue DLL for processes under mpiq's recorder";
}

EXPORT int mqs_image_has_queues(mqs_image *image, char **message)
{
    static const char none[] = "%s does not run under mpiq's recorder: it has no variable mpiq_record_root.";
    static const char *const variables[] = {"mpiq_record_root", NULL};

    return entry_image_has(image, variables, none, message);
}

EXPORT int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    struct entry_setup setup;
    mqs_process_info *info;
    int code = entry_setup_process(process, callbacks, &setup);

    if (code != mqs_ok) {
        return code;
    }
    info = heap_allocate(1, sizeof *info);
    if (info == NULL) {
        return ERROR_NO_STORE;
    }
    info->fetch.process = process;
    info->fetch.callbacks = callbacks;
    info->fetch.pointer_size = setup.sizes.pointer_size;
    info->image = setup.image;
    info->image_callbacks = setup.image_callbacks;
    info->calls = -1;
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

EXPORT int mqs_process_has_queues(mqs_process *process, char **message)
{
    mqs_process_info *info = entry_process(process);
    int code;

    if (info == NULL || message == NULL) {
        return ERROR_ARGUMENT;
    }
    *message = NULL;
    code = process_ensure(info);
    if (code == mqs_no_information) {
        snprintf(info->message, sizeof info->message,
                 "mpiq's recorder is loaded in %%s, but no MPI call was seen (is MPI linked statically?).");
        *message = info->message;
    } else if (code != mqs_ok) {
        snprintf(info->message, sizeof info->message, "No MPI records of %%s: %s.", error_text(code));
        *message = info->message;
    }
    return code;
}

EXPORT int mqs_update_communicator_list(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    return info == NULL ? ERROR_ARGUMENT : process_refresh(info);
}

static void enter_communicator(mqs_process_info *info, uint32_t offset)
{
    info->comm_at = offset;
    info->comm = copy_listed_comm(&info->copy, offset, &info->comms_seen);
    info->details_valid = false;
    info->calls = -1;
    heap_free(info->channels);
    info->channels = NULL;
    info->channel_count = info->next_channel = 0;
    operations_clear(&info->operations);
    info->next_operation = 0;
}

EXPORT int mqs_setup_communicator_iterator(mqs_process *process)
{
    mqs_process_info *info;
    int code = entry_begin(process, &info);

    if (code != mqs_ok) {
        return code;
    }
    info->iterating = true;
    info->comms_seen = 0;
    enter_communicator(info, info->copy.root.comms);
    return info->comm == NULL ? mqs_end_of_list : mqs_ok;
}

EXPORT int mqs_next_communicator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return info->iterating ? mqs_end_of_list : ERROR_NO_COMMUNICATOR;
    }
    enter_communicator(info, info->comm->next);
    if (info->comm == NULL && info->comm_at != 0) {
        return ERROR_COMMUNICATOR_LIST;
    }
    return info->comm == NULL ? mqs_end_of_list : mqs_ok;
}

EXPORT int mqs_get_communicator(mqs_process *process, mqs_communicator *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct mpiq_record_group *group;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    group = copy_group(&info->copy, info->comm->group);
    if (group == NULL || group->count > INT_MAX) {
        return ERROR_GROUP;
    }
    memset(ret, 0, sizeof *ret);
    ret->unique_id = (mqs_taddr_t)info->comm->id[1];
    ret->local_rank = info->comm->local_rank;
    ret->size = (mqs_tword_t)group->count;
    text_copy(ret->name, sizeof ret->name, (const unsigned char *)info->comm->name, sizeof info->comm->name);
    return mqs_ok;
}

EXPORT int mqs_get_comm_group(mqs_process *process, int *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    return group_ranks(&info->copy, info->comm->group, ret);
}

EXPORT int mqs_setup_operation_iterator(mqs_process *process, int class_)
{
    mqs_process_info *info = entry_process(process);
    int code;

    if (info == NULL || class_ < mqs_pending_sends || class_ > mqs_unexpected_messages) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    info->next_operation = 0;
    info->details_valid = false;
    code = operations_of_queue(&info->copy, info->comm, class_, &info->operations);
    if (code != mqs_ok) {
        return code;
    }
    return info->operations.count == 0 ? mqs_end_of_list : mqs_ok;
}

EXPORT int mqs_next_operation(mqs_process *process, mqs_pending_operation *ret)
{
    mqs_process_info *info = entry_process(process);
    const struct operation *operation;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->next_operation >= info->operations.count) {
        return mqs_end_of_list;
    }
    operation = &info->operations.operations[info->next_operation++];
    *ret = operation->plain;
    info->details = operation->details;
    info->parts = operation->parts;
    info->details_valid = true;
    return mqs_ok;
}

EXPORT int mqs_get_comm_coll_state(mqs_process *process, int class_, int *count, int *active)
{
    mqs_process_info *info = entry_process(process);
    struct ompi_mqs_count counts;

    if (info == NULL || count == NULL || active == NULL) {
        return ERROR_ARGUMENT;
    }
    if (info->comm == NULL) {
        return ERROR_NO_COMMUNICATOR;
    }
    if (class_ < 0 || class_ >= OMPI_MQS_COLLECTIVE_COUNT) {
        return mqs_no_information;
    }
    counts = info->comm->counts[class_];
    *count = counts.calls > INT_MAX ? INT_MAX : (int)counts.calls;
    *active = ompi_mqs_active(counts) > 0;
    return mqs_ok;
}
