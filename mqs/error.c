/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

const char *error_text(int code)
{
    switch (code) {
    case mqs_ok:
        return "no error";
    case mqs_no_information:
        return "no information: this MPI library does not keep it, or keeps it where it cannot be read "
               "(message queues are read with PML ob1 only)";
    case mqs_end_of_list:
        return "end of list";
#define ERROR_CASE(id, text) \
    case ERROR_##id:         \
        return text;
        ERROR_LIST(ERROR_CASE)
#undef ERROR_CASE
    default:
        return "unknown code: this message-queue DLL does not return it";
    }
}
