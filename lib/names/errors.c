/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/errors.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#define E(name) "MPI_ERR_" #name

/* As in mpi.h of Open MPI 4 and 5. */
static const char *const of_open_mpi[] = {
    NULL,
    E(BUFFER),
    E(COUNT),
    E(TYPE),
    E(TAG),
    E(COMM),
    E(RANK),
    E(REQUEST),
    E(ROOT),
    E(GROUP),
    E(OP),
    E(TOPOLOGY),
    E(DIMS),
    E(ARG),
    E(UNKNOWN),
    E(TRUNCATE),
    E(OTHER),
    E(INTERN),
    E(IN_STATUS),
    E(PENDING),
    E(ACCESS),
    E(AMODE),
    E(ASSERT),
    E(BAD_FILE),
    E(BASE),
    E(CONVERSION),
    E(DISP),
    E(DUP_DATAREP),
    E(FILE_EXISTS),
    E(FILE_IN_USE),
    E(FILE),
    E(INFO_KEY),
    E(INFO_NOKEY),
    E(INFO_VALUE),
    E(INFO),
    E(IO),
    E(KEYVAL),
    E(LOCKTYPE),
    E(NAME),
    E(NO_MEM),
    E(NOT_SAME),
    E(NO_SPACE),
    E(NO_SUCH_FILE),
    E(PORT),
    E(QUOTA),
    E(READ_ONLY),
    E(RMA_CONFLICT),
    E(RMA_SYNC),
    E(SERVICE),
    E(SIZE),
    E(SPAWN),
    E(UNSUPPORTED_DATAREP),
    E(UNSUPPORTED_OPERATION),
    E(WIN),
};

/* As in mpi.h of MPICH 3 to 5; a code has its class in the lower seven bits. */
enum { MPICH_CLASS = 0x7f };
static const char *const of_mpich[] = {
    NULL,
    E(BUFFER),
    E(COUNT),
    E(TYPE),
    E(TAG),
    E(COMM),
    E(RANK),
    E(ROOT),
    E(GROUP),
    E(OP),
    E(TOPOLOGY),
    E(DIMS),
    E(ARG),
    E(UNKNOWN),
    E(TRUNCATE),
    E(OTHER),
    E(INTERN),
    E(IN_STATUS),
    E(PENDING),
    E(REQUEST),
    E(ACCESS),
    E(AMODE),
    E(BAD_FILE),
    E(CONVERSION),
    E(DUP_DATAREP),
    E(FILE_EXISTS),
    E(FILE_IN_USE),
    E(FILE),
    E(INFO),
    E(INFO_KEY),
    E(INFO_VALUE),
    E(INFO_NOKEY),
    E(IO),
    E(NAME),
    E(NO_MEM),
    E(NOT_SAME),
    E(NO_SPACE),
    E(NO_SUCH_FILE),
    E(PORT),
    E(QUOTA),
    E(READ_ONLY),
    E(SERVICE),
    E(SPAWN),
    E(UNSUPPORTED_DATAREP),
    E(UNSUPPORTED_OPERATION),
    E(WIN),
    E(BASE),
    E(LOCKTYPE),
    E(KEYVAL),
    E(RMA_CONFLICT),
    E(RMA_SYNC),
    E(SIZE),
    E(DISP),
    E(ASSERT),
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define NAME(name) [name] = #name

static const char *const signals[] = {
    NAME(SIGHUP),  NAME(SIGINT),  NAME(SIGQUIT), NAME(SIGILL),  NAME(SIGTRAP), NAME(SIGABRT),
    NAME(SIGBUS),  NAME(SIGFPE),  NAME(SIGKILL), NAME(SIGUSR1), NAME(SIGSEGV), NAME(SIGUSR2),
    NAME(SIGPIPE), NAME(SIGALRM), NAME(SIGTERM), NAME(SIGXCPU), NAME(SIGXFSZ), NAME(SIGSYS),
};

const char *mpiq_error_class(const char *library, int code)
{
    if (strncmp(library, "Open MPI", strlen("Open MPI")) == 0)
        return code > 0 && code < COUNT(of_open_mpi) ? of_open_mpi[code] : NULL;
    code &= MPICH_CLASS;
    return strncmp(library, "MPICH", strlen("MPICH")) == 0 && code < COUNT(of_mpich) ? of_mpich[code] : NULL;
}

const char *mpiq_signal_name(int number)
{
    return number > 0 && number < COUNT(signals) ? signals[number] : NULL;
}
