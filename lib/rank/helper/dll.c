/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

/* A slot lies within the table that the DLL has. */
#define HAS_SLOT(table, slot) \
    (offsetof(mqs_extensions, slot) + sizeof((table)->slot) <= (size_t)(table)->size)

static void copy_extensions(struct mpiq_dll *dll, const mqs_extensions *theirs)
{
    if (!theirs || theirs->version != MQS_EXTENSIONS_VERSION || theirs->size < 0 ||
        !HAS_SLOT(theirs, coll_name))
        return;
    size_t size = (size_t)theirs->size;
    memcpy(&dll->extensions, theirs, size < sizeof dll->extensions ? size : sizeof dll->extensions);
    dll->has_extensions = true;
}

static struct mpiq_error *refuse(const char *path, const char *why)
{
    return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "the message-queue library %s %s", path, why);
}

/* Version and width come before anything else of the DLL is touched: a wrong one makes the rest meaningless.
 */
static struct mpiq_error *check_version(struct mpiq_dll *dll, const char *path)
{
    dll->mqs_version_compatibility = dlsym(dll->handle, "mqs_version_compatibility");
    dll->mqs_dll_taddr_width = dlsym(dll->handle, "mqs_dll_taddr_width");
    if (!dll->mqs_version_compatibility || !dll->mqs_dll_taddr_width)
        return refuse(path, "is not one: it does not say which version of the interface it has");
    if (dll->mqs_version_compatibility() != MQS_INTERFACE_COMPATIBILITY)
        return refuse(path, "does not have version 2 of the interface");
    if (dll->mqs_dll_taddr_width() != (int)sizeof(mqs_taddr_t))
        return refuse(path, "was built for another address width");
    return NULL;
}

static struct mpiq_error *find_entry_points(struct mpiq_dll *dll, const char *path)
{
#define REQUIRED(type, name, arguments)    \
    dll->name = dlsym(dll->handle, #name); \
    if (!dll->name)                        \
        return refuse(path, "lacks " #name "()");
    MPIQ_DLL_REQUIRED(REQUIRED)
#undef REQUIRED
#define OPTIONAL(type, name, arguments) dll->name = dlsym(dll->handle, #name);
    MPIQ_DLL_OPTIONAL(OPTIONAL)
#undef OPTIONAL
    return NULL;
}

/* What the loader says, without the name that we gave it: that of a descriptor. */
static struct mpiq_error *loader_error(const char *file, const char *name)
{
    const char *text = dlerror();
    if (text && strncmp(text, file, strlen(file)) == 0 && text[strlen(file)] == ':')
        text += strlen(file) + 1 + strspn(text + strlen(file) + 1, " ");
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "cannot load the message-queue library: %s: %s", name,
                             text ? text : "the loader gives no reason");
}

struct mpiq_error *mpiq_dll_open(int descriptor, const char *name, struct mpiq_dll *dll)
{
    struct mpiq_dll opened = {0};
    char file[64];

    mpiq_reading_phase = "being loaded";
    snprintf(file, sizeof file, "/proc/self/fd/%d", descriptor);
    opened.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!opened.handle)
        return loader_error(file, name);
    mpiq_reading_phase = "telling its version";
    struct mpiq_error *error = check_version(&opened, name);
    if (!error)
        error = find_entry_points(&opened, name);
    if (error) {
        dlclose(opened.handle);
        return error;
    }
    opened.mqs_setup_basic_callbacks(&mpiq_basic_callbacks);
    opened.version = opened.mqs_version_string();
    if (opened.mqs_get_extensions)
        copy_extensions(&opened, opened.mqs_get_extensions());
    opened.path = strdup(name);
    if (!opened.path)
        return mpiq_error_no_memory();
    *dll = opened;
    return NULL;
}

int16_t mpiq_dll_class(const struct mpiq_dll *dll, int collective)
{
    if (collective < 0 || collective >= MPIQ_COUNTS_MAX)
        return -1;
    if (!dll->extensions.coll_name) /* the proposal's */
        return collective <= mqs_comm_scatterv ? (int16_t)collective : -1;
    const char *name = dll->extensions.coll_name(collective);
    if (!name)
        return -1;
    /* Mostly the numbers agree. */
    const char *ours = mpiq_collective_name(collective);
    return (int16_t)(ours && strcmp(ours, name) == 0 ? collective : mpiq_collective_class(name));
}

void mpiq_dll_copy_class(const struct mpiq_dll *dll, int collective, char *ret, size_t size)
{
    const char *name =
        collective >= 0 && dll->extensions.coll_name ? dll->extensions.coll_name(collective) : NULL;
    if (name)
        mpiq_copy_text(ret, size, name, strlen(name) + 1);
}
