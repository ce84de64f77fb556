/* SPDX-License-Identifier: BSD-3-Clause */
/* render - what mpiq.h's views need beside the diagnosis: the ranks asked for, a chain, stacks, source lines.
 */
#include <stdlib.h>
#include <string.h>

#include "job/diagnose.h"
#include "job/past_messages.h"
#include "mpiq.h"
#include "report/report.h"
#include "session/excerpt.h"
#include "session/job.h"
#include "session/stacks.h"
#include "words/sentences.h"

/* "its ranks are 0-3,w1:0": what somebody may ask for who asked for what is not there. */
static struct mpiq_error *no_such_rank(const struct mpiq_job *job, const char *text)
{
    struct mpiq_rank_set all = {0};
    for (uint32_t i = 0; i < job->state->world_count; i++) {
        if (job->state->worlds[i].size > 0)
            mpiq_rank_set_add_range(&all, i, 0, job->state->worlds[i].size - 1);
    }
    char *ranks = mpiq_rank_set_text(&all, 0);
    struct mpiq_error *error =
        mpiq_error_create(MPIQ_ERROR_USAGE, "the job has no rank %s: %s %s", text,
                          all.size == 1 ? "its only one is" : "its ranks are", ranks ? ranks : "others");
    free(ranks);
    mpiq_rank_set_deinit(&all);
    return error;
}

/* The ranks that text names, of which there is one at least. */
static struct mpiq_error *parse_ranks(const struct mpiq_job *job, const char *text, struct mpiq_rank_set *ret)
{
    struct mpiq_error *error = mpiq_rank_set_parse(text, ret);
    if (!error && ret->size == 0)
        error = mpiq_error_create(MPIQ_ERROR_USAGE,
                                  "an empty list of ranks shows nothing: write one like 0-15,18");
    for (uint32_t i = 0; !error && i < ret->count; i++) {
        if (mpiq_job_process(job->state, ret->ranges[i].world, ret->ranges[i].first) != MPIQ_NONE)
            return NULL;
    }
    return error ? error : no_such_rank(job, text);
}

/* The one rank that text names, for that command. */
static struct mpiq_error *find_rank(const struct mpiq_job *job, const char *command, const char *text,
                                    uint32_t *ret)
{
    struct mpiq_rank_set set = {0};
    struct mpiq_error *error = mpiq_rank_set_parse(text ? text : "", &set);
    if (!error && set.size != 1)
        error =
            mpiq_error_create(MPIQ_ERROR_USAGE, "'%s' is not a single rank: %s takes one, as in mpiq %s 3",
                              text ? text : "", command, command);
    if (!error) {
        *ret = mpiq_job_process(job->state, set.ranges[0].world, set.ranges[0].first);
        if (*ret == MPIQ_NONE)
            error = no_such_rank(job, text);
    }
    mpiq_rank_set_deinit(&set);
    return error;
}

struct mpiq_error *mpiq_job_render(const struct mpiq_job *job, enum mpiq_view view,
                                   const struct mpiq_render_options *given, char **ret)
{
    struct mpiq_render_options options = MPIQ_RENDER_OPTIONS_DEFAULT;
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    struct mpiq_rank_set only = {0}, past = {0};
    struct mpiq_chain *chain = NULL;
    struct mpiq_error *error = options.ranks ? parse_ranks(job, options.ranks, &only) : NULL;
    uint32_t process = MPIQ_NONE;
    if (!error && view == MPIQ_VIEW_WHY)
        error = find_rank(job, "why", options.rank, &process);
    if (!error && view == MPIQ_VIEW_HISTORY)
        error = parse_ranks(job, options.rank ? options.rank : "", &past);
    if (!error && view == MPIQ_VIEW_WHY)
        error = mpiq_why(job->state, job->diagnosis, process, &chain);
    if (!error && chain)
        error = mpiq_write_chain(job->state, job->diagnosis, chain);
    struct mpiq_stack_tree *stacks = NULL;
    uint32_t *messages = NULL;
    bool calls = view == MPIQ_VIEW_HISTORY || options.format == MPIQ_FORMAT_HTML;
    if (!error && calls && !mpiq_past_messages(job->state, &messages))
        error = mpiq_error_no_memory();
    if (!error && view == MPIQ_VIEW_STACKS)
        error = mpiq_job_stacks(job, options.ranks ? &only : NULL, options.all_threads, &stacks);
    if (!error) {
        char user[MPIQ_USER_ROOM];
        struct mpiq_report_options report = {.user = mpiq_user_of(job, user),
                                             .excerpt = mpiq_read_excerpt,
                                             .excerpt_context = (void *)job,
                                             .format = options.format,
                                             .color = options.color,
                                             .utf8 = options.utf8,
                                             .all = options.all,
                                             .width = options.width,
                                             .ranks = options.ranks ? &only : NULL,
                                             .history = &past,
                                             .comm = options.comm,
                                             .height = options.height,
                                             .before = options.before ? options.before->state : NULL,
                                             .stacks = stacks,
                                             .past_messages = messages};
        error = mpiq_report_render(job->state, job->diagnosis, view, chain, &report, ret);
    }
    free(messages);
    mpiq_stack_tree_destroy(stacks);
    mpiq_chain_destroy(chain);
    mpiq_rank_set_deinit(&only);
    mpiq_rank_set_deinit(&past);
    return error;
}
