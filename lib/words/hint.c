/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/hint.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "state/calls.h"

/* "Ranks 0-4 wait for each other in a circle": by the steps; false without memory, or if there is none. */
static bool put_circle(const struct mpiq_job_state *job, struct mpiq_buffer *text,
                       const struct mpiq_finding *finding)
{
    struct mpiq_rank_set set _cleanup_(mpiq_rank_set_deinit) = {0};
    for (size_t i = 0; i < finding->step_count; i++) {
        struct mpiq_world_rank rank = mpiq_job_world_rank(job, finding->steps[i].process);
        if (!mpiq_rank_set_add(&set, rank.world, rank.rank))
            return false;
    }
    if (finding->step_count == 0)
        return false;
    mpiq_buffer_string(text, set.size == 1 ? "Rank " : "Ranks ");
    mpiq_put_ranks(text, &set, MPIQ_MOST_RANGES);
    mpiq_buffer_string(text, set.size == 1 ? " waits for itself" : " wait for each other in a circle");
    mpiq_buffer_string(text, ", by the arguments of their calls. ");
    return true;
}

/* Whether all ranks have to come to a call. */
static bool is_for_all(const char *call)
{
    return mpiq_collective_class(call) >= 0;
}

/* "Rank 2, the root, is not in that MPI_Bcast.", "Rank 1 is outside MPI: the others may wait for it." */
static void put_absent(struct mpiq_buffer *text, const struct mpiq_finding *finding)
{
    const struct mpiq_rank_set *missing = &finding->missing;
    const bool one = missing->size == 1, root = finding->others.size > 0;
    const bool same = root && mpiq_rank_set_equal(&finding->others, missing);
    if (root && !same) {
        mpiq_buffer_string(text, "Rank ");
        mpiq_put_ranks(text, &finding->others, MPIQ_MOST_RANGES);
        mpiq_buffer_printf(text, ", the root, is not in that %s. ", finding->collective);
    }
    if (missing->size == 0)
        return;
    mpiq_buffer_string(text, one ? "Rank " : "Ranks ");
    mpiq_put_ranks(text, missing, MPIQ_MOST_RANGES);
    if (same)
        mpiq_buffer_printf(text, ", the root of that %s,", finding->collective);
    mpiq_buffer_string(text, one ? " is " : " are ");
    if (finding->call_count == 1 && is_for_all(finding->calls[0].collective) && !same)
        mpiq_buffer_printf(text, "not in %s", finding->calls[0].collective);
    else
        mpiq_buffer_string(text, "outside MPI");
    mpiq_buffer_printf(text, ": the others may wait for %s. ", one ? "it" : "them");
}

static void put_named(struct mpiq_buffer *text, const char *one, const char *many,
                      const struct mpiq_rank_set *ranks)
{
    mpiq_buffer_string(text, ranks->size == 1 ? one : many);
    mpiq_put_ranks(text, ranks, MPIQ_MOST_RANGES);
}

/* "Rank 1 is not in MPI_Allreduce: the other 3 ranks may wait for it, and it waits for rank 0 there.": where
   most are in a call to which all have to come, if they are members.  The largest group is the last one.
   Whoever waits at a window may need one of those who have come.  False: not so. */
static bool put_few(struct mpiq_buffer *text, const struct mpiq_finding *finding)
{
    const size_t last = finding->call_count - 1;
    const struct mpiq_finding_call *most = &finding->calls[last];
    struct mpiq_rank_set few _cleanup_(mpiq_rank_set_deinit) = {0};
    bool added = true, in_window = true;
    for (size_t i = 0; i < last; i++) {
        in_window = in_window && mpiq_call_waits_in_window(finding->calls[i].collective);
        added = added && mpiq_rank_set_add_set(&few, &finding->calls[i].ranks);
    }
    if (!added || most->ranks.size <= few.size || !is_for_all(most->collective))
        return false;
    bool one = few.size == 1;
    put_named(text, "Rank ", "Ranks ", &few);
    if (in_window) {
        mpiq_buffer_printf(text, " may wait for a rank that is in %s, and the ranks there for %s. ",
                           most->collective, one ? "it" : "them");
        return true;
    }
    mpiq_buffer_printf(text, " %s not in %s: the other %" PRIu64 " ranks may wait for %s", one ? "is" : "are",
                       most->collective, most->ranks.size, one ? "it" : "them");
    if (last == 1 && finding->calls[0].awaited_in == last) {
        mpiq_buffer_string(text, one ? ", and it waits for " : ", and they wait for ");
        put_named(text, "rank ", "ranks ", &finding->calls[0].awaited);
        mpiq_buffer_string(text, " there");
    }
    mpiq_buffer_string(text, ". ");
    return true;
}

/* "Ranks 1-3 wait for rank 0, which is in MPI_Finalize.": by what their calls were given. */
static void put_awaited(struct mpiq_buffer *text, const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->call_count; i++) {
        const struct mpiq_finding_call *call = &finding->calls[i];
        if (call->awaited_in == MPIQ_NONE || !is_for_all(finding->calls[call->awaited_in].collective))
            continue;
        put_named(text, "Rank ", "Ranks ", &call->ranks);
        mpiq_buffer_string(text, call->ranks.size == 1 ? " waits for " : " wait for ");
        put_named(text, "rank ", "ranks ", &call->awaited);
        mpiq_buffer_printf(text, ", which %s in %s. ", call->awaited.size == 1 ? "is" : "are",
                           finding->calls[call->awaited_in].collective);
    }
}

void mpiq_put_hint(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                   const struct mpiq_finding *finding)
{
    const size_t before = buffer->length;
    put_absent(buffer, finding);
    bool collective = false;
    for (size_t i = 0; i < finding->call_count; i++)
        collective = collective || mpiq_collective_class(finding->calls[i].collective) >= 0;
    if (!put_circle(job, buffer, finding) && finding->call_count > 1 && collective &&
        buffer->length == before) {
        if (!put_few(buffer, finding))
            put_awaited(buffer, finding);
        mpiq_buffer_string(buffer, "Ranks in different calls often mean that one took another path. ");
    }
    mpiq_buffer_string(buffer, "Start the job with `mpiq run` to know.");
}
