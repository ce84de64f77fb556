/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - which message-queue DLL a process gets. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rank/choose.h"
#include "rank/locate.h"
#include "rank/rank.h"

/* MPIR_dll_name is a character array of the library's; more than a path it cannot be. */
#define NAME_MAX_BYTES 1024

static bool has_symbol(struct mpiq_target *target, const char *name, struct mpiq_error **trouble)
{
    uint64_t address = 0;
    struct mpiq_error *error = mpiq_target_find_symbol(target, name, &address);
    if (!error)
        return true;
    if (error->code == MPIQ_ERROR_NOT_FOUND || *trouble)
        mpiq_error_destroy(error);
    else
        *trouble = error;
    return false;
}

/* Piece by piece: what stands after the array need not be mapped. */
static struct mpiq_error *read_string(struct mpiq_target *target, uint64_t address, char *string, size_t size)
{
    for (size_t length = 0; length < size;) {
        size_t piece = 64 - (address + length) % 64;
        if (piece > size - length)
            piece = size - length;
        struct mpiq_error *error = mpiq_target_read(target, address + length, piece, string + length);
        if (error)
            return error;
        if (memchr(string + length, '\0', piece))
            return NULL;
        length += piece;
    }
    return mpiq_error_create_address(MPIQ_ERROR_CORRUPT, address, "the announced name has no end");
}

static struct mpiq_error *choose_announced(struct mpiq_target *target, char **ret)
{
    char path[NAME_MAX_BYTES];
    struct stat file;
    uint64_t address = 0;

    struct mpiq_error *error = mpiq_target_find_symbol(target, "MPIR_dll_name", &address);
    if (error) {
        if (error->code != MPIQ_ERROR_NOT_FOUND)
            return error;
        mpiq_error_destroy(error);
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "there is no MPI library in this process that names a "
                                                       "message-queue library; if it is static or stripped, "
                                                       "name one with --dll");
    }
    error = read_string(target, address, path, sizeof path);
    if (error)
        return mpiq_error_prefix(error, "MPIR_dll_name");
    if (path[0] != '/' || stat(path, &file) < 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "the process announces the message-queue library \"%s\", "
                                 "which is not there; name one with --dll",
                                 path);
    if (!S_ISREG(file.st_mode) || (file.st_uid != 0 && file.st_uid != geteuid())) {
        return mpiq_error_create(
            MPIQ_ERROR_PERMISSION,
            "the process announces the message-queue library %s, whose owner is neither root nor "
            "you; if you trust it, name it with --dll",
            path);
    }
    *ret = strdup(path);
    return *ret ? NULL : mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a path");
}

/* Our own, or without it what the process announces: the library's own will have to do. */
static struct mpiq_error *choose_ours(struct mpiq_target *target, char **ours, char **ret,
                                      enum mpiq_dll_origin *origin)
{
    struct mpiq_error *error = NULL;
    if (!*ours)
        error = mpiq_locate("MPIQ_MQS_DLL", "libompi_dbg_msgq.so", MPIQ_LIB, "mqs", ours);
    if (!error) {
        *origin = MPIQ_DLL_OURS;
        *ret = strdup(*ours);
        return *ret ? NULL : mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a path");
    }
    *origin = MPIQ_DLL_ANNOUNCED;
    struct mpiq_error *second = choose_announced(target, ret);
    mpiq_error_destroy(second ? second : error);
    return second ? error : NULL;
}

static struct mpiq_error *choose_explicit(const char *path, char **ret)
{
    *ret = realpath(path, NULL);
    return *ret ? NULL
                : mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "there is no message-queue library %s", path);
}

struct mpiq_error *mpiq_rank_choose_kept(struct mpiq_target *target, const char *explicit_path, char **ours,
                                         char **ret, enum mpiq_dll_origin *origin)
{
    struct mpiq_error *trouble = NULL;

    *origin = MPIQ_DLL_EXPLICIT;
    if (explicit_path)
        return choose_explicit(explicit_path, ret);
    /* One that is not patched has no root, one that is stripped still has its communicators. */
    bool open_mpi = has_symbol(target, "ompi_mqs_root", &trouble) ||
                    (!trouble && has_symbol(target, "ompi_mpi_communicators", &trouble)) ||
                    (!trouble && has_symbol(target, "ompi_mpi_comm_world", &trouble));
    if (trouble)
        return trouble;
    if (open_mpi)
        return choose_ours(target, ours, ret, origin);
    *origin = MPIQ_DLL_ANNOUNCED;
    return choose_announced(target, ret);
}

struct mpiq_error *mpiq_rank_choose_dll(struct mpiq_target *target, const char *explicit_path, char **ret,
                                        enum mpiq_dll_origin *origin)
{
    char *ours = NULL;
    struct mpiq_error *error = mpiq_rank_choose_kept(target, explicit_path, &ours, ret, origin);
    free(ours);
    return error;
}
