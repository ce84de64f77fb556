/* SPDX-License-Identifier: BSD-3-Clause */
/* next - the next definition of a function: the MPI library's, or that of a tool in between. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "recorder.h"

struct search {
    const char *name;
    void *found;
    const void *own_base;
};

static int look_in(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    Dl_info where;
    (void)size;
    if (!info->dlpi_name || !info->dlpi_name[0] || strstr(info->dlpi_name, "linux-vdso"))
        return 0;
    void *object = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!object)
        return 0;
    void *found = dlsym(object, search->name);
    dlclose(object);
    if (!found || !dladdr(found, &where) || where.dli_fbase == search->own_base)
        return 0;
    search->found = found;
    return 1;
}

mpi_function *next_definition(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        /* A library loaded with dlopen, as by mpi4py and Julia, is not in the global scope. */
        Dl_info own;
        struct search search = {.name = name};
        if (dladdr(&mpiq_record_root, &own))
            search.own_base = own.dli_fbase;
        dl_iterate_phdr(look_in, &search);
        found = search.found;
    }
    mpi_function *function;
    memcpy(&function, &found, sizeof function);
    return function;
}

bool is_of_library(word caller, mpi_function *next)
{
    static const char *const names[] = {"libmpi", "libpmpi", "libopen-", "libmca_", "mca_"};
    Dl_info where, library;
    const void *definition;
    memcpy(&definition, &next, sizeof definition);
    if (!dladdr((const void *)caller, &where) || !where.dli_fname)
        return false;
    if (dladdr(definition, &library) && library.dli_fbase == where.dli_fbase)
        return true;
    const char *slash = strrchr(where.dli_fname, '/');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(slash ? slash + 1 : where.dli_fname, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

enum { ASKED = 128, NO_SUCH_FUNCTION = 16 };

int ask_library(const char *name, const word *a)
{
    static struct {
        const char *name; /* address of the literal: one per call site */
        mpi_function *function;
    } asked[ASKED];
    mpi_function *function = NULL;
    unsigned slot = 0;
    const char *kept;
    for (; slot < ASKED && (kept = __atomic_load_n(&asked[slot].name, __ATOMIC_ACQUIRE)); slot++) {
        if (kept == name) {
            function = asked[slot].function;
            break;
        }
    }
    if (!function) {
        struct call *call = recorder_self.call;
        self_set_call(&recorder_self, NULL); /* a jump must not leave the lock */
        function = next_definition(name);
        arena_lock();
        if (slot < ASKED && !asked[slot].name && function) {
            asked[slot].function = function;
            __atomic_store_n(&asked[slot].name, name, __ATOMIC_RELEASE);
        }
        arena_unlock();
        self_set_call(&recorder_self, call);
    }
    if (!function)
        return NO_SUCH_FUNCTION;
    return (int)function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
}
