/* SPDX-License-Identifier: BSD-3-Clause */
/* A DLL that says what cannot be. */
#include <limits.h>
#include <string.h>

#include "plain_dll.h"

static void lie_of_communicator(int how, mqs_communicator *communicator)
{
    memset(communicator->name, 'x', sizeof communicator->name); /* not terminated */
    communicator->local_rank = how == 1 ? 8 : -17;
    communicator->size = how == 1 ? 8 : how == 2 ? -1 : LONG_MAX;
}

static void lie_of_operation(mqs_pending_operation *operation)
{
    memset(operation, 0xee, sizeof *operation);
    operation->status = mqs_st_matched;
    operation->desired_local_rank = 8;
    operation->actual_local_rank = LONG_MIN;
}

int misbehave(enum place place, int how, mqs_process *process, void *result)
{
    (void)process;
    switch (place) {
    case PLACE_COMMUNICATOR:
        if (how == 4)
            return 666; /* a code without a text */
        lie_of_communicator(how, result);
        break;
    case PLACE_GROUP:
        for (int i = 0; i < 8; i++)
            ((int *)result)[i] = INT_MIN + i;
        break;
    case PLACE_OPERATION:
        lie_of_operation(result);
        break;
    case PLACE_NEXT:
        return -1;
    default:
        return 4242;
    }
    return mqs_ok;
}
