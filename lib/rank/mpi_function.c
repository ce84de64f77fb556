/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_function - which frames are the MPI library's, whatever the language of the binding. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/mangled.h"
#include "rank/rank.h"

/* All functions of the standard without "MPI_", and those of fault tolerance with their "MPIX_", by letters
   of either case; the list is mpi_functions.txt. */
static const char *const functions[] = {
#include "rank/mpi_functions.inc"
};

/* What compilers and bindings append: Fortran's underscores, mpi_f08's and Open MPI's names for the
   implementation behind one. */
static const char *const endings[] = {"_f08ts", "_f08", "_f", "__", "_"};

static bool drop(char *name, const char *ending)
{
    size_t length = strlen(name), part = strlen(ending);
    if (length <= part || strcmp(name + length - part, ending) != 0)
        return false;
    name[length - part] = '\0';
    return true;
}

static int compare(const void *key, const void *item)
{
    return strcasecmp(key, *(const char *const *)item);
}

/* What follows "MPI_" in a name, the whole of one with "MPIX_"; NULL: begins with neither. */
static const char *after_prefix(const char *name)
{
    if (strncasecmp(name, "MPIX_", 5) == 0)
        return name;
    bool plain = strncasecmp(name, "MPI_", 4) == 0 && strncasecmp(name + 4, "MPIX_", 5) != 0;
    return plain ? name + 4 : NULL;
}

/* The name as the list spells it, in letters of either case; NULL. */
static const char *find(const char *name)
{
    const char *const *found = bsearch(name, functions, sizeof functions / sizeof *functions,
                                       sizeof *functions, compare); /* NOLINT */
    return found ? *found : NULL;
}

/* C: MPI_Recv, PMPI_Recv, MPIX_Comm_agree. */
static const char *c_function(const char *symbol)
{
    const char *name = symbol[0] == 'P' ? symbol + 1 : symbol;
    const char *rest = strncmp(name, "MPI", 3) == 0 ? after_prefix(name) : NULL;
    const char *found = rest ? find(rest) : NULL;
    return found && strcmp(found, rest) == 0 ? found : NULL;
}

/* Fortran: mpi_recv, mpi_recv_, MPI_RECV, pmpi_recv_, mpi_recv_f08_, ompi_recv_f. */
static const char *fortran_function(const char *symbol)
{
    char name[80];
    bool behind = false; /* Open MPI's implementation behind a binding */
    if (strlen(symbol) >= sizeof name)
        return NULL;
    memcpy(name, symbol, strlen(symbol) + 1);
    for (;;) {
        bool before = strncasecmp(name, "pmpi", 4) == 0 || (behind && strncmp(name, "ompi", 4) == 0);
        const char *rest = after_prefix(before ? name + 1 : name), *found;
        if (rest && (found = find(rest)))
            return found;
        size_t i = 0;
        while (i < sizeof endings / sizeof *endings && !drop(name, endings[i]))
            i++;
        if (i == sizeof endings / sizeof *endings)
            return NULL;
        behind |= strcmp(endings[i], "_f") == 0;
    }
}

bool mpiq_mpi_function(const char *symbol, char *ret, size_t size)
{
    const char *found = symbol ? c_function(symbol) : NULL;
    if (symbol && !found)
        found = fortran_function(symbol);
    char whole[64];
    const char *prefix = found && after_prefix(found) ? "" : "MPI_";
    if (!found || (size_t)snprintf(whole, sizeof whole, "%s%s", prefix, found) >= size)
        return false;
    memcpy(ret, whole, strlen(whole) + 1);
    return true;
}

/* A function that ends in a tail call leaves no frame, and these do, as distributions build them: Open MPI's
   bodies tell them. */
static bool is_body(const char *function, char *ret, size_t size)
{
    static const char *const bodies[][2] = {{"ompi_mpi_init", "MPI_Init"},
                                            {"ompi_mpi_finalize", "MPI_Finalize"},
                                            {"mca_pml_base_bsend_detach", "MPI_Buffer_detach"}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (strcmp(function, bodies[i][0]) == 0)
            return (size_t)snprintf(ret, size, "%s", bodies[i][1]) < size;
    }
    return false;
}

bool mpiq_is_c_call(const char *function)
{
    bool named = strncmp(function, "MPI", 3) == 0 || strncmp(function, "PMPI", 4) == 0;
    return named && strpbrk(function, "abcdefghijklmnopqrstuvwxyz") != NULL;
}

/* A static library's functions are the program's own.  Its Fortran layer calls the C function; so a name in
   Fortran's spelling is MPI's there only if that one lies further in: a user may have an mpi_wait(), too. */
static bool in_static_library(const struct mpiq_frame *frames, size_t index)
{
    if (c_function(frames[index].function))
        return true;
    const char *called = fortran_function(frames[index].function);
    for (size_t i = 0; called && i < index; i++) {
        const struct mpiq_frame *inner = &frames[i];
        if (inner->function && inner->object && strcmp(inner->object, frames[index].object) == 0 &&
            c_function(inner->function) == called)
            return true;
    }
    return false;
}

bool mpiq_mpi_frame(const struct mpiq_rank_state *state, const struct mpiq_frame *frames, size_t index,
                    char *ret, size_t size)
{
    const struct mpiq_frame *frame = &frames[index];
    if (!frame->function || !frame->object)
        return false;
    enum mpiq_object_owner owner = mpiq_frame_owner(state, frame);
    bool library = owner == MPIQ_OWNER_MPI || owner == MPIQ_OWNER_RECORDER;
    /* Open MPI 6.0 has them in a part of its own, libopen_mpi, with which it links programs, too. */
    bool inside =
        library || owner == MPIQ_OWNER_PART || owner == MPIQ_OWNER_SHARED || owner == MPIQ_OWNER_PROGRAM;
    if (inside && is_body(frame->function, ret, size))
        return true;
    return mpiq_mpi_function(frame->function, ret, size) && (library || in_static_library(frames, index));
}

const char *mpiq_user_name(const char *function, char *buffer, size_t size)
{
    if (!function)
        return NULL;
    if (strcmp(function, "MAIN__") == 0)
        return "main program";
    char call[48]; /* a function in C++ is none of MPI's, whatever its name */
    if (mpiq_unmangle(function, buffer, size))
        return mpiq_mpi_function(buffer, call, sizeof call) ? function : buffer;
    /* gfortran: __MODULE_MOD_PROCEDURE */
    const char *module = strncmp(function, "__", 2) == 0 ? strstr(function + 2, "_MOD_") : NULL;
    if (!module || module == function + 2 || !module[5])
        return function;
    int length = snprintf(buffer, size, "%.*s::%s", (int)(module - function - 2), function + 2, module + 5);
    return length > 0 && (size_t)length < size ? buffer : function;
}
