/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/missing.h"

#include <string.h>

#include "base/hash_table.h"
#include "names/parameters.h"

const struct mpiq_look_source *mpiq_find_rank(const struct mpiq_look_sources *now,
                                              const struct mpiq_look_source *rank)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct mpiq_look_source *other = &now->items[i];
        if ((rank->pid > 0 && other->pid == rank->pid) ||
            (rank->rank >= 0 && other->rank == rank->rank && mpiq_same_string(other->nspace, rank->nspace)))
            return other;
    }
    return NULL;
}

/* Whether a rank of which nothing but stacks is read is behind MPI_Init: it has a communicator, a request or
   a window. */
static bool is_behind_init(const struct mpiq_rank_state *state)
{
    for (size_t i = 0; i < state->thread_count; i++) {
        const char *parameters = mpiq_names_parameters(state->threads[i].mpi_call);
        if (parameters && strpbrk(parameters, "mqw"))
            return true;
    }
    return false;
}

/* Whether MPI is up in any rank: then all of them had been started. */
static bool has_begun(const struct mpiq_look_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        for (int look = 0; look < 2; look++) {
            const struct mpiq_rank_state *state = sources->items[i].looks[look];
            if (state && (state->phase >= MPIQ_PHASE_RUNNING || is_behind_init(state)))
                return true;
        }
    }
    return false;
}

/* The ranks as they are now, if one was missing when they were found; else none.  False: they cannot be found
   any more. */
static bool find_missing(const struct mpiq_look_sources *sources, struct mpiq_look_sources *now)
{
    bool missing = false;
    pid_t pid = 0;
    for (size_t i = 0; i < sources->count; i++) {
        missing = missing || (sources->items[i].gone && sources->items[i].pid == 0);
        pid = pid || sources->items[i].gone ? pid : sources->items[i].pid;
    }
    struct mpiq_error *error = missing && pid > 0 ? mpiq_sources_init_around(pid, now) : NULL;
    bool found = !error;
    mpiq_error_destroy(error);
    return found;
}

static struct mpiq_error *why_missing(const struct mpiq_look_source *there, pid_t stranger, bool begun)
{
    if (begun && there && there->pid > 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "its process was started while the job was looked at");
    if (begun && stranger)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                                 "it may be process %d, whose environment does not say which rank it is",
                                 (int)stranger);
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND,
                             "it has no process: it has not been started yet, or has ended");
}

void mpiq_doubt_missing(struct mpiq_look_sources *sources)
{
    bool begun = has_begun(sources);
    struct mpiq_look_sources now = {0};
    bool found = !begun || find_missing(sources, &now);
    for (size_t i = 0; i < sources->count; i++) {
        const struct mpiq_look_source *source = &sources->items[i];
        const struct mpiq_look_source *there = mpiq_find_rank(&now, source);
        pid_t stranger = there && there->stranger ? there->stranger : source->stranger;
        if (begun && found && !stranger && !(there && there->pid > 0))
            continue;
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = source->looks[look];
            if (!state || !state->gone || state->pid != 0)
                continue;
            state->gone = false;
            state->process_state = '?';
            mpiq_rank_state_problem(state, "process", why_missing(there, stranger, begun));
        }
    }
    mpiq_sources_deinit(&now);
}
