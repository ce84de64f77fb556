/* SPDX-License-Identifier: BSD-3-Clause */
#include "looker.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void *work(void *argument)
{
    struct looker *looker = argument;
    char byte;
    while (read(looker->order[0], &byte, 1) == 1) {
        looker->error = looks_take(looker->looks, &looker->job);
        if (write(looker->told[1], &byte, 1) != 1)
            break;
    }
    return NULL;
}

bool looker_start(struct looker *looker, struct looks *looks)
{
    *looker = (struct looker){.looks = looks};
    if (pipe2(looker->told, O_CLOEXEC) != 0 || pipe2(looker->order, O_CLOEXEC) != 0)
        return false;
    errno = pthread_create(&looker->thread, NULL, work, looker);
    return errno == 0;
}

void looker_go(struct looker *looker)
{
    looker->busy = write(looker->order[1], "", 1) == 1;
}

bool looker_ended(struct looker *looker)
{
    char byte;
    int flags = looker->busy ? fcntl(looker->told[0], F_SETFL, O_NONBLOCK) : -1;
    if (flags < 0 || read(looker->told[0], &byte, 1) != 1)
        return false;
    looker->busy = false;
    return true;
}

void looker_stop(struct looker *looker)
{
    close(looker->order[1]);
    pthread_join(looker->thread, NULL);
    close(looker->order[0]);
    close(looker->told[0]);
    close(looker->told[1]);
    mpiq_error_destroy(looker->error);
    mpiq_job_destroy(looker->job);
}
