/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locations.c - where the library says its message-queue DLL is: one whole path, and no DLL for handles.
 *
 * Run as: locations PATH, or locations without a path where there is no DLL.
 */
#include "records.h"

int main(int argc, char **argv)
{
    char ***queues = dlsym(RTLD_DEFAULT, "mpimsgq_dll_locations");
    char ***handles = dlsym(RTLD_DEFAULT, "mpidbg_dll_locations");

    MPI_Init(&argc, &argv);
    if (NULL == queues || NULL == handles) {
        fprintf(stderr, "locations: the library lacks the lists\n");
        return 2;
    }
    CHECK(NULL == *handles, "a DLL for handles: %s", *handles[0]);
    if (argc > 1) {
        CHECK(NULL != *queues, "no DLL");
        CHECK(NULL != *queues && NULL != (*queues)[0] && 0 == strcmp(argv[1], (*queues)[0]), "%s",
              NULL != *queues ? (*queues)[0] : "");
        CHECK(NULL != *queues && NULL != (*queues)[0] && NULL == (*queues)[1], "more than one");
    } else {
        CHECK(NULL == *queues, "%s", (*queues)[0]);
    }
    return finish("locations");
}
