/* SPDX-License-Identifier: BSD-3-Clause */
/* client_dll - the functions of any message-queue DLL. */
#ifndef CLIENT_DLL_H
#define CLIENT_DLL_H

#include <stddef.h>

#include "mqs_extensions.h"

#define CLIENT_DLL_FUNCTIONS(X)        \
    X(mqs_setup_basic_callbacks)       \
    X(mqs_version_string)              \
    X(mqs_version_compatibility)       \
    X(mqs_dll_taddr_width)             \
    X(mqs_dll_error_string)            \
    X(mqs_setup_image)                 \
    X(mqs_image_has_queues)            \
    X(mqs_destroy_image_info)          \
    X(mqs_setup_process)               \
    X(mqs_destroy_process_info)        \
    X(mqs_process_has_queues)          \
    X(mqs_update_communicator_list)    \
    X(mqs_setup_communicator_iterator) \
    X(mqs_get_communicator)            \
    X(mqs_get_comm_group)              \
    X(mqs_next_communicator)           \
    X(mqs_setup_operation_iterator)    \
    X(mqs_next_operation)

/* Optional ones may be NULL. */
struct client_dll {
#define MEMBER(name) __typeof__(name) *name;
    CLIENT_DLL_FUNCTIONS(MEMBER)
    MEMBER(mqs_get_comm_coll_state)
#undef MEMBER
    const mqs_extensions *more;
};

extern struct client_dll dll;

/* Fills `dll`; exits with a sentence on failure. */
void client_dll_load(const char *path);

/* Of the DLL for tests (force_layout.h), which is loaded: the name of that layout, which it uses from now on;
   NULL if there are no more.  Exits with a sentence if the DLL is another one. */
const char *client_dll_force_layout(const char *path, size_t index);

#endif
