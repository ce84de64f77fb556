/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/plausibility.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "rank/rank.h"
#include "merge/merge.h"

static void take_name(const struct mpiq_look_source *source, struct mpiq_rank_state *state)
{
    state->name = (struct mpiq_name){.job = mpiq_rank_job_of(source->nspace), .rank = source->rank};
    snprintf(state->nspace, sizeof state->nspace, "%s", source->nspace);
}

struct mpiq_error *mpiq_start_state_over(const struct mpiq_look_source *source, struct mpiq_error *reason,
                                         struct mpiq_rank_state **state)
{
    const struct mpiq_rank_state *old = *state;
    struct mpiq_rank_state *bare = mpiq_rank_state_create();
    if (!bare) {
        mpiq_error_destroy(reason);
        return mpiq_error_no_memory();
    }
    bare->pid = old->pid;
    bare->taken_ns = old->taken_ns;
    bare->process_state = old->process_state;
    bare->final = old->final;
    bare->traced = old->traced;
    bare->frozen = old->frozen;
    memcpy(bare->freezer, old->freezer, sizeof bare->freezer);
    bare->cpu_ns = old->cpu_ns;
    memcpy(bare->host, old->host, sizeof bare->host);
    memcpy(bare->executable, old->executable, sizeof bare->executable);
    if (source->rank >= 0 && source->nspace)
        take_name(source, bare);
    mpiq_rank_state_problem(bare, "identity", reason);
    mpiq_rank_state_destroy(*state);
    *state = bare;
    return NULL;
}

struct mpiq_error *mpiq_disown_state(struct mpiq_error *reason, struct mpiq_rank_state **state)
{
    return mpiq_start_state_over(&(struct mpiq_look_source){.rank = -1}, reason, state);
}

struct mpiq_error *mpiq_check_plausibility(const struct mpiq_look_source *source, int world_size,
                                           struct mpiq_rank_state **state)
{
    struct mpiq_rank_state *read = *state;
    bool launched = source->rank >= 0 && source->nspace;
    if (launched && read->name.rank >= 0 && read->name.rank != source->rank)
        return mpiq_start_state_over(
            source,
            mpiq_error_create(MPIQ_ERROR_CORRUPT,
                              "its memory says that it is rank %d, but it was started as rank %d: "
                              "nothing that it says is believed",
                              read->name.rank, source->rank),
            state);
    /* By elimination, where its environment does not say so. */
    if (launched && read->name.rank < 0 && source->stranger == source->pid) {
        take_name(source, read);
        read->world_size = world_size;
    }
    bool first_world = launched && world_size > 0 && source->world == 0;
    if (first_world && read->world_size > 0 && read->world_size != world_size) {
        mpiq_rank_state_problem(
            read, "identity",
            mpiq_error_create(MPIQ_ERROR_CORRUPT,
                              "it says that its job has %d ranks, but the launcher says %d", read->world_size,
                              world_size));
        read->world_size = world_size;
    }
    struct mpiq_error *error = mpiq_job_check_state(read);
    return error ? mpiq_start_state_over(source, error, state) : NULL;
}

/* Up to and with that look, what was read so far of a rank of the launched world that says which job it is
   of; NULL.  at: below look times the number of sources. */
static struct mpiq_rank_state **state_of_world(const struct mpiq_look_sources *sources, size_t at)
{
    struct mpiq_look_source *source = &sources->items[at % sources->count];
    struct mpiq_rank_state **state = &source->looks[at / sources->count];
    bool launched = source->rank >= 0 && source->nspace && source->world == 0;
    return launched && *state && (*state)->name.rank >= 0 ? state : NULL;
}

/* Whether its own memory says so; of what cannot be read, the launcher does, in other words. */
static bool speaks(const struct mpiq_rank_state *state)
{
    return !mpiq_source_is_outside(state->source);
}

/* Where no rank's memory names the job, nor its environment, ranks that are gone or could not be read are of
   the same job as those that were: job 0, whatever the launcher is called here. */
static void forget_name(const struct mpiq_look_sources *sources, size_t states)
{
    bool unnamed = false;
    for (size_t i = 0; i < states; i++) {
        struct mpiq_rank_state **state = state_of_world(sources, i);
        unnamed = unnamed || (state && (*state)->nspace[0] == '\0');
    }
    for (size_t i = 0; i < states && unnamed; i++) {
        struct mpiq_rank_state **state = state_of_world(sources, i);
        if (state) {
            (*state)->nspace[0] = '\0';
            (*state)->name.job = 0;
        }
    }
}

struct mpiq_error *mpiq_check_jobs(const struct mpiq_look_sources *sources, int look)
{
    /* Those of both looks: what a rank said in the second tells where it was in the first, and where those
       are that were read only then. */
    size_t states = sources->count * (size_t)look;
    uint32_t job = 0;
    size_t lead = 0;
    size_t votes = 0;
    size_t voters = 0;
    for (size_t i = 0; i < states; i++) { /* whoever has more than half of them is left over */
        struct mpiq_rank_state **state = state_of_world(sources, i);
        if (!state || !speaks(*state))
            continue;
        if (lead == 0)
            job = (*state)->name.job;
        lead += (*state)->name.job == job ? 1 : (size_t)-1;
    }
    for (size_t i = 0; i < states; i++) {
        struct mpiq_rank_state **state = state_of_world(sources, i);
        voters += state && speaks(*state);
        votes += state && speaks(*state) && (*state)->name.job == job;
    }
    if (voters == 0)
        forget_name(sources, states);
    struct mpiq_error *error = NULL;
    for (size_t i = 0; i < states && !error && 2 * votes > voters; i++) {
        struct mpiq_rank_state **state = state_of_world(sources, i);
        if (!state || (*state)->name.job == job)
            continue;
        if (!speaks(*state)) {
            (*state)->name.job = job;
            continue;
        }
        error = mpiq_start_state_over(
            &sources->items[i % sources->count],
            mpiq_error_create(MPIQ_ERROR_CORRUPT,
                              "its memory says that it is of job %u, but the others are of job %u: "
                              "nothing that it says is believed",
                              (*state)->name.job, job),
            state);
        if (!error)
            (*state)->name.job = job;
    }
    return error;
}
