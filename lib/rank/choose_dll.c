/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - which message-queue DLL a process gets. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpiq_record.h"
#include "rank/choose_dll.h"
#include "rank/program_path.h"
#include "rank/rank.h"
#include "rank/trust.h"

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
    return mpiq_error_create_address(MPIQ_ERROR_CORRUPT, address, "the announced name is not terminated");
}

/* Opens the file; what a process announces only if nobody but root and we could have written it. */
static struct mpiq_error *take(const char *path, enum mpiq_dll_origin origin, struct mpiq_chosen_dll *ret)
{
    struct mpiq_chosen_dll dll = {.path = strdup(path), .descriptor = -1, .origin = origin};
    if (!dll.path)
        return mpiq_error_no_memory();
    struct mpiq_error *error = mpiq_trust_open(path, origin == MPIQ_DLL_ANNOUNCED, &dll.descriptor);
    if (error)
        mpiq_chosen_dll_deinit(&dll);
    else
        *ret = dll;
    return error;
}

static struct mpiq_error *choose_announced(struct mpiq_target *target, struct mpiq_chosen_dll *ret)
{
    char path[NAME_MAX_BYTES];
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
    if (path[0] != '/' || access(path, F_OK) < 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "the process announces the message-queue library \"%s\", "
                                 "which is not there; name one with --dll",
                                 path);
    error = mpiq_trust_process(target);
    return error ? error : take(path, MPIQ_DLL_ANNOUNCED, ret);
}

static struct mpiq_error *take_opened(const struct mpiq_opened_dll *opened, struct mpiq_chosen_dll *ret)
{
    struct mpiq_chosen_dll dll = {.path = strdup(opened->path),
                                  .descriptor = fcntl(opened->descriptor, F_DUPFD_CLOEXEC, 0),
                                  .origin = opened->asked ? MPIQ_DLL_EXPLICIT : MPIQ_DLL_OURS};
    if (!dll.path || dll.descriptor < 0) {
        mpiq_chosen_dll_deinit(&dll);
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory or descriptors");
    }
    *ret = dll;
    return NULL;
}

static struct mpiq_error *find_ours(const struct mpiq_dll_host_options *options, char **ours)
{
    if (options->no_search)
        return mpiq_error_create(
            MPIQ_ERROR_NOT_FOUND,
            "libompi_dbg_msgq.so is not installed with mpiq; set MPIQ_MQS_DLL to its path");
    return *ours ? NULL : mpiq_program_path("MPIQ_MQS_DLL", "libompi_dbg_msgq.so", MPIQ_LIB, "mqs", ours);
}

/* Our own, or without it what the process announces: the library's own will have to do. */
static struct mpiq_error *choose_ours(struct mpiq_target *target, const struct mpiq_dll_host_options *options,
                                      char **ours, struct mpiq_chosen_dll *ret)
{
    if (options->opened.path)
        return take_opened(&options->opened, ret);
    struct mpiq_error *error = find_ours(options, ours);
    if (!error)
        return take(*ours, MPIQ_DLL_OURS, ret);
    struct mpiq_error *second = choose_announced(target, ret);
    mpiq_error_destroy(second ? second : error);
    return second ? error : NULL;
}

/* Whether the preloaded recorder has seen MPI begin; beside a patched library, whether it was asked for more
   than that one keeps, or holds threads before their calls. */
static bool is_recorded(struct mpiq_target *target, bool patched, struct mpiq_error **trouble)
{
    struct mpiq_record_root root;
    uint64_t address = 0;
    struct mpiq_error *error = mpiq_target_find_symbol(target, "mpiq_record_root", &address);
    if (!error)
        error = mpiq_target_read(target, address, sizeof root, &root);
    if (!error)
        return memcmp(root.magic, MPIQ_RECORD_MAGIC, sizeof root.magic) == 0 &&
               (!patched || root.step || root.flags & (MPIQ_RECORD_STRICT | MPIQ_RECORD_CHECK));
    if (error->code == MPIQ_ERROR_NOT_FOUND)
        mpiq_error_destroy(error);
    else
        *trouble = error;
    return false;
}

static struct mpiq_error *choose_recorder(const struct mpiq_dll_host_options *options,
                                          struct mpiq_chosen_dll *ret)
{
    char *path = NULL;
    if (options->recorder.path)
        return take_opened(&options->recorder, ret);
    if (options->no_search) /* not "not found", which for an MPICH is no trouble */
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "the recorder's queue library libmpiq_record_msgq.so cannot be opened: "
                                 "install it with mpiq, or set MPIQ_RECORD_DLL to its path");
    struct mpiq_error *error =
        mpiq_program_path("MPIQ_RECORD_DLL", "libmpiq_record_msgq.so", MPIQ_LIB, "mqs", &path);
    if (!error)
        error = take(path, MPIQ_DLL_OURS, ret);
    free(path);
    return error;
}

/* One that is not patched has no root, one that is stripped still has its communicators. */
static bool is_open_mpi(struct mpiq_target *target, bool *patched, struct mpiq_error **trouble)
{
    *patched = has_symbol(target, "ompi_mqs_root", trouble);
    return *patched || (!*trouble && has_symbol(target, "ompi_mpi_communicators", trouble)) ||
           (!*trouble && has_symbol(target, "ompi_mpi_comm_world", trouble));
}

/* Of a process that has ended, the recorder's records alone are left. */
static bool is_remains(struct mpiq_target *target)
{
    struct mpiq_target_status status;
    struct mpiq_error *error = mpiq_target_status(target, &status);
    bool remains = !error && status.end.kind != MPIQ_CORE_END_NONE;
    mpiq_error_destroy(error);
    return remains;
}

struct mpiq_error *mpiq_rank_choose_dll(struct mpiq_target *target,
                                        const struct mpiq_dll_host_options *options, char **ours,
                                        struct mpiq_chosen_dll *ret)
{
    struct mpiq_error *trouble = NULL;
    bool patched = false;

    if (options->opened.path && options->opened.asked)
        return take_opened(&options->opened, ret);
    if (options->dll) {
        char path[PATH_MAX];
        if (!realpath(options->dll, path))
            return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "there is no message-queue library %s",
                                     options->dll);
        return take(path, MPIQ_DLL_EXPLICIT, ret);
    }
    bool open_mpi = is_open_mpi(target, &patched, &trouble);
    bool recorded = !trouble && !options->no_recorder && is_recorded(target, patched, &trouble);
    if (trouble)
        return trouble;
    if (!recorded)
        return open_mpi ? choose_ours(target, options, ours, ret) : choose_announced(target, ret);
    struct mpiq_error *error = choose_recorder(options, ret);
    if (!error)
        ret->has_own = open_mpi && !is_remains(target);
    return error;
}

void mpiq_chosen_dll_deinit(struct mpiq_chosen_dll *dll)
{
    free(dll->path);
    if (dll->descriptor >= 0)
        close(dll->descriptor);
    *dll = (struct mpiq_chosen_dll){.descriptor = -1};
}
