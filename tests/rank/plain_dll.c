/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain_dll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const mqs_basic_callbacks *plain_basic;
const mqs_image_callbacks *plain_image;
const mqs_process_callbacks *plain_process;

static int where;
static int operations_left;
static mqs_taddr_t memory;

#ifndef PLAIN_VERSION
#define PLAIN_VERSION MQS_INTERFACE_COMPATIBILITY
#endif
#ifndef PLAIN_WIDTH
#define PLAIN_WIDTH ((int)sizeof(mqs_taddr_t))
#endif

static int at(enum place place, mqs_process *process, void *result)
{
    return where / 10 == (int)place ? misbehave(place, where % 10, process, result) : mqs_ok;
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks)
{
    plain_basic = callbacks;
}

char *mqs_version_string(void)
{
    return (char *)"plain";
}

int mqs_version_compatibility(void)
{
    return PLAIN_VERSION;
}

int mqs_dll_taddr_width(void)
{
    return PLAIN_WIDTH;
}

char *mqs_dll_error_string(int code)
{
    static char text[64];
    snprintf(text, sizeof text, "error %d", code);
    return code == 666 ? NULL : text;
}

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    mqs_taddr_t address = 0;
    plain_image = callbacks;
    where = callbacks->mqs_find_symbol_fp(image, (char *)"where", &address) == mqs_ok ? (int)address : 0;
    const char *told = getenv("MPIQ_TEST_WHERE"); /* where the process is a real one */
    if (told)
        where = atoi(told);
    else if (callbacks->mqs_find_symbol_fp(image, (char *)"memory", &memory) != mqs_ok)
        return mqs_no_information;
    plain_basic->mqs_put_image_info_fp(image, plain_basic->mqs_malloc_fp(16));
    return at(PLACE_IMAGE, NULL, NULL);
}

int mqs_image_has_queues(mqs_image *image, char **message)
{
    (void)image;
    *message = NULL;
    return mqs_ok;
}

void mqs_destroy_image_info(mqs_image_info *info)
{
    plain_basic->mqs_free_fp(info);
}

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    plain_process = callbacks;
    plain_basic->mqs_put_process_info_fp(process, plain_basic->mqs_malloc_fp(16));
    return at(PLACE_PROCESS, process, NULL);
}

void mqs_destroy_process_info(mqs_process_info *info)
{
    plain_basic->mqs_free_fp(info);
}

int mqs_process_has_queues(mqs_process *process, char **message)
{
    *message = NULL;
    return at(PLACE_QUEUES, process, message);
}

int mqs_update_communicator_list(mqs_process *process)
{
    return at(PLACE_LIST, process, NULL);
}

int mqs_setup_communicator_iterator(mqs_process *process)
{
    (void)process;
    return mqs_ok;
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *communicator)
{
    communicator->unique_id = 17;
    communicator->local_rank = 3;
    communicator->size = 8;
    strcpy(communicator->name, "MPI_COMM_WORLD");
    if (getenv("MPIQ_TEST_SAY_USER"))
        snprintf(communicator->name, sizeof communicator->name, "user %d", (int)geteuid());
    return at(PLACE_COMMUNICATOR, process, communicator);
}

int mqs_get_comm_group(mqs_process *process, int *ranks)
{
    for (int i = 0; i < 8; i++)
        ranks[i] = i;
    return at(PLACE_GROUP, process, ranks);
}

int mqs_next_communicator(mqs_process *process)
{
    int code = at(PLACE_NEXT, process, NULL);
    return where / 10 == PLACE_NEXT ? code : mqs_end_of_list;
}

int mqs_setup_operation_iterator(mqs_process *process, int class_)
{
    (void)process;
    operations_left = class_ == mqs_pending_sends;
    return class_ == mqs_unexpected_messages ? mqs_no_information : mqs_ok;
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *operation)
{
    if (operations_left-- <= 0 && where / 10 != PLACE_OPERATION)
        return mqs_end_of_list;
    *operation = (mqs_pending_operation){.status = mqs_st_pending,
                                         .desired_local_rank = 5,
                                         .desired_global_rank = 5,
                                         .desired_tag = 9,
                                         .desired_length = 40,
                                         .buffer = memory,
                                         .extra_text = {"Send"}};
    int code = at(PLACE_OPERATION, process, operation);
    return operations_left < -1 && code == mqs_ok && where % 10 != 9 ? mqs_end_of_list : code;
}
