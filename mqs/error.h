/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error - the codes that the DLL's functions return beside mqs_ok, mqs_no_information and mqs_end_of_list,
 * and the sentence for each.
 *
 * Both are made from one list.  The Forum's own err_ codes stay in mpi_interface.h; we return only codes
 * from the list below, so that each code has a sentence that says what failed and what helps.
 */
#ifndef MQS_ERROR_H
#define MQS_ERROR_H

#include "mpi_interface.h"

#define ERROR_LIST(X)                                                                                      \
    X(NO_STORE, "the debugger could not allocate memory for the message-queue DLL")                        \
    X(ARGUMENT, "the debugger called the message-queue DLL with a missing or unknown argument")            \
    X(ORDER, "the debugger called the message-queue DLL out of order: set up an iterator before its next") \
    X(NO_COMMUNICATOR, "no current communicator: the iterator is not set up, or past its end")             \
    X(READ, "the process's memory could not be read at an address found in its MPI library's data")        \
    X(SYMBOL, "a variable of the MPI library was not found: is it stripped, or not loaded yet?")           \
    X(LAYOUT, "a structure of the MPI library could not be looked up: it needs layout tables, debug "      \
              "information, or a release whose layout is built in")                                        \
    X(SIZES, "the target's basic types have sizes that the message-queue DLL cannot handle")               \
    X(ROOT_VERSION,                                                                                        \
      "the MPI library's records have a format version that this message-queue DLL cannot read")           \
    X(ROOT_CORRUPT, "the MPI library's records are corrupt")                                               \
    X(COMMUNICATOR_LIST, "the list of communicators is corrupt, or changed while it was read")             \
    X(COMMUNICATOR, "a communicator is corrupt, or changed while it was read")                             \
    X(GROUP, "a communicator's group is corrupt, or changed while it was read")                            \
    X(REQUESTS, "the list of requests is corrupt, or changed while it was read")                           \
    X(POSTED, "a list of posted receives is corrupt, or changed while it was read")                        \
    X(UNEXPECTED, "a list of unexpected messages is corrupt, or changed while it was read")                \
    X(COLLECTIVES, "a communicator's collective state is corrupt, or changed while it was read")           \
    X(DATATYPE, "a datatype is corrupt, or changed while it was read")                                     \
    X(HANDLE, "the handle does not refer to an object of that kind")                                       \
    X(WINDOWS, "the list of windows is corrupt, or changed while it was read")                             \
    X(WAITS, "the list of waiting threads is corrupt, or changed while it was read")                       \
    X(TOO_MANY, "there are more entries than the message-queue DLL reads: the memory may be corrupt")      \
    X(LOST_CALLS, "the recorder has not seen all calls of all threads")                                    \
    X(LOST_REQUESTS, "the recorder had no room for all requests")

/* Above the Forum's err_ codes, which other DLLs use. */
enum error_code {
    ERROR_FIRST = 200,
#define ERROR_ENUM(id, text) ERROR_##id,
    ERROR_LIST(ERROR_ENUM)
#undef ERROR_ENUM
        ERROR_END
};

/* The sentence for any code, ours, the Forum's or unknown; static, never NULL. */
const char *error_text(int code);

#endif
