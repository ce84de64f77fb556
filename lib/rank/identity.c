/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "names/variables.h"
#include "ompi_mqs.h"
#include "rank/rank.h"

int64_t mpiq_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static char *variable(struct mpiq_target *target, const char *name)
{
    char *value = NULL;
    mpiq_error_destroy(mpiq_target_environment(target, name, &value));
    return value;
}

/* The value of the first of these variables (ended by NULL), else of `last` if not NULL, that is set; NULL.
   The caller frees it. */
static char *first_variable(struct mpiq_target *target, const char *const *names, const char *last)
{
    char *value = NULL;
    for (; *names && !value; names++)
        value = variable(target, *names);
    return value || !last ? value : variable(target, last);
}

static int64_t number_of(const char *text, int64_t low, int64_t high, int64_t otherwise)
{
    char *end = NULL;
    if (!text || *text < '0' || *text > '9')
        return otherwise;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && number >= low && number <= high ? number : otherwise;
}

/*
 * A process known by its environment alone is to be of one job with those that were asked themselves.  Open
 * MPI takes one that is a number as it is; of another, "NAME@N", it folds Jenkins's one-at-a-time hash of
 * NAME into the upper half, N being the lower one (5.0 opal/mca/pmix/base/pmix_base_fns.c).
 */
uint32_t mpiq_rank_job_of(const char *nspace)
{
    int64_t number = number_of(nspace, 0, UINT32_MAX, -1);
    if (number >= 0)
        return (uint32_t)number;
    const char *at = strrchr(nspace, '@');
    size_t length = at ? (size_t)(at - nspace) : strlen(nspace);
    uint32_t hash = 0;
    for (size_t i = 0; i < length; i++) {
        hash += (uint32_t)nspace[i];
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    uint32_t local = at ? (uint32_t)strtoul(at + 1, NULL, 10) : 0;
    return (hash >> 16 ^ (hash & 0xffff)) << 16 | (local & 0xffff);
}

void mpiq_rank_identify(struct mpiq_target *target, struct mpiq_rank_state *state)
{
    const char *const namespaces[] = {mpiq_namespace_variable, NULL};

    if (state->nspace[0] == '\0') {
        _cleanup_free_ char *nspace = first_variable(target, namespaces, NULL);
        if (nspace)
            snprintf(state->nspace, sizeof state->nspace, "%s", nspace);
    }
    if (state->name.rank < 0) {
        if (state->nspace[0])
            state->name.job = mpiq_rank_job_of(state->nspace);
        _cleanup_free_ char *rank = first_variable(target, mpiq_rank_variables, mpiq_slurm_rank_variable);
        state->name.rank = (int32_t)number_of(rank, 0, INT32_MAX, -1);
    }
    if (state->world_size <= 0) {
        _cleanup_free_ char *size = first_variable(target, mpiq_size_variables, "SLURM_NTASKS");
        state->world_size = (int32_t)number_of(size, 1, INT32_MAX, 0);
    }
}

/* The end of a path that fits, from a whole character on: the base name matters most. */
static void copy_end(char *to, size_t size, const char *path)
{
    size_t length = strlen(path);
    if (length >= size) {
        path += length - size + 1;
        while (((unsigned char)*path & 0xc0) == 0x80)
            path++;
    }
    memcpy(to, path, strlen(path) + 1);
}

/* As the launcher called it, where the system does not say. */
static void add_host(struct mpiq_target *target, struct mpiq_rank_state *state)
{
    _cleanup_free_ char *host = first_variable(target, mpiq_host_variables, NULL);
    if (host)
        snprintf(state->host, sizeof state->host, "%s", host);
}

void mpiq_rank_add_status(struct mpiq_target *target, const struct mpiq_target_status *status,
                          struct mpiq_rank_state *state)
{
    state->pid = status->pid;
    state->process_state = status->state;
    state->final = status->core;
    if (status->core) /* it is of some earlier time, which nobody tells, but of an end */
        state->taken_ns = status->end.at_ns;
    _Static_assert((int)MPIQ_CORE_END_COUNT == (int)MPIQ_END_SIGNAL + 1, "one list of ends");
    state->end = (struct mpiq_end){.kind = (uint8_t)status->end.kind,
                                   .code = status->end.code,
                                   .at_ns = status->end.at_ns,
                                   .order = status->end.order};
    state->traced = status->traced;
    state->tracer = status->tracer;
    snprintf(state->tracer_name, sizeof state->tracer_name, "%s", status->tracer_name);
    state->frozen = status->frozen;
    snprintf(state->freezer, sizeof state->freezer, "%s", status->freezer);
    state->gone = !status->core && (status->state == 'Z' || status->state == 'X');
    state->cpu_ns = status->cpu_ns;
    state->children_cpu_ns = status->children_cpu_ns;
    state->io_bytes = status->io_bytes;
    snprintf(state->host, sizeof state->host, "%s", status->host);
    if (!state->host[0])
        add_host(target, state);
    copy_end(state->executable, sizeof state->executable, status->executable);
    snprintf(state->command, sizeof state->command, "%s", status->command);
}

/* The library says in an exported string which release it is: "4.0.2". */
static void add_library(struct mpiq_target *target, struct mpiq_rank_state *state)
{
    static const struct {
        const char *symbol, *name;
    } known[] = {{"MPII_Version_string", "MPICH"},
                 {"MPIR_Version_string", "MPICH"},
                 {"ompi_version_string", "Open MPI"}};
    for (size_t i = 0; i < sizeof known / sizeof *known && !state->library[0]; i++) {
        char text[32] = "";
        uint64_t address = 0;
        struct mpiq_error *error = mpiq_target_find_symbol(target, known[i].symbol, &address);
        for (size_t k = 0; !error && k < sizeof text - 1; k++) {
            error = mpiq_target_read(target, address + k, 1, &text[k]);
            if (error || !text[k])
                break;
        }
        text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz.-+~")] = '\0';
        if (!error && text[0])
            snprintf(state->library, sizeof state->library, "%s %s", known[i].name, text);
        mpiq_error_destroy(error);
    }
}

/* The object that has a function which no tool wraps, the recorder included. */
static void add_library_file(struct mpiq_target *target, struct mpiq_rank_state *state)
{
    _cleanup_free_ char *path = NULL;
    uint64_t address = 0;
    struct mpiq_error *error = mpiq_target_find_symbol(target, "MPI_Wtime", &address);
    if (!error)
        error = mpiq_target_file_at(target, address, &path);
    if (!error)
        copy_end(state->library_file, sizeof state->library_file, path);
    mpiq_error_destroy(error);
}

/* A library whose releases no longer export their version is known by its file's name. */
static void add_library_by_file(struct mpiq_rank_state *state)
{
    const char *name = strrchr(state->library_file, '/');
    name = name ? name + 1 : state->library_file;
    if (!state->library[0] && strncmp(name, "libmpich.so", strlen("libmpich.so")) == 0)
        snprintf(state->library, sizeof state->library, "MPICH");
}

void mpiq_rank_add_library(struct mpiq_target *target, struct mpiq_rank_state *state)
{
    add_library(target, state);
    add_library_file(target, state);
    add_library_by_file(state);
}

struct mpiq_error *mpiq_rank_read_bare(struct mpiq_target *target, struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a rank's state");
    state->taken_ns = mpiq_now_ns();
    struct mpiq_target_status status;
    struct mpiq_error *error = mpiq_target_status(target, &status);
    if (!error) {
        mpiq_rank_add_status(target, &status, state);
    } else {
        state->gone = error->code == MPIQ_ERROR_GONE;
        mpiq_rank_state_problem(state, "status", error);
    }
    mpiq_rank_identify(target, state);
    mpiq_rank_add_library(target, state);
    *ret = state;
    return NULL;
}
