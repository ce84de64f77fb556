/* SPDX-License-Identifier: BSD-3-Clause */
#include "client_dll.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct client_dll dll;

void client_dll_load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const mqs_extensions *(*extensions)(void);

    if (handle == NULL) {
        fprintf(stderr, "mqs_client: %s\n", dlerror());
        exit(2);
    }
#define LOOK_UP(name)                                              \
    *(void **)&dll.name = dlsym(handle, #name);                    \
    if (dll.name == NULL) {                                        \
        fprintf(stderr, "mqs_client: %s lacks %s\n", path, #name); \
        exit(2);                                                   \
    }
    CLIENT_DLL_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    *(void **)&dll.mqs_get_comm_coll_state = dlsym(handle, "mqs_get_comm_coll_state");
    *(void **)&extensions = dlsym(handle, "mqs_get_extensions");
    dll.more = extensions == NULL ? NULL : extensions();
}

const char *client_dll_force_layout(const char *path, size_t index)
{
    const char *(*force)(size_t) = NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle != NULL) {
        *(void **)&force = dlsym(handle, "test_force_layout");
    }
    if (force == NULL) {
        fprintf(stderr, "mqs_client: %s cannot be made to use a layout\n", path);
        exit(2);
    }
    return force(index);
}
