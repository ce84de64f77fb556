/* SPDX-License-Identifier: BSD-3-Clause */
/* A DLL whose built-in layout does not fit, which it found out by reading where nothing is. */
#include <stdio.h>
#include <string.h>

#include "mqs_extensions.h"
#include "plain_dll.h"

static void read_nothing(mqs_process *process)
{
    char byte;
    plain_process->mqs_fetch_data_fp(process, 0x10, 1, &byte);
}

static int get_layout(mqs_process *process, mqs_layout_details *ret)
{
    read_nothing(process);
    memset(ret, 0, sizeof *ret);
    ret->source = mqs_layout_built_in;
    ret->failed = 1;
    snprintf(ret->release, sizeof ret->release, "4.1.4");
    snprintf(ret->failures[0].structure, sizeof ret->failures[0].structure, "ompi_op_t");
    snprintf(ret->failures[0].check, sizeof ret->failures[0].check, "ompi_mpi_op_sum is not named MPI_SUM");
    return mqs_ok;
}

__attribute__((visibility("default"))) const mqs_extensions *mqs_get_extensions(void)
{
    static const mqs_extensions table = {
        .version = MQS_EXTENSIONS_VERSION, .size = sizeof table, .get_layout = get_layout};
    return &table;
}

/* At PLACE_QUEUES: nothing fits. */
int misbehave(enum place place, int how, mqs_process *process, void *result)
{
    (void)place;
    (void)how;
    read_nothing(process);
    *(char **)result = (char *)"The MPI library of %s is Open MPI 4.1.4, but its structures do not match the "
                               "built-in layout.";
    return 100;
}
