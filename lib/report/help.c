/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a report: what would let it say more. */
#include "base/cleanup.h"
#include "report/layout.h"
#include "report/views.h"

/* Ranks that were read in one of the ways that see less, by what would have seen more. */
struct losses {
    struct mpiq_rank_set unread;
    struct mpiq_rank_set unpatched;
    struct mpiq_rank_set stacks_only;
    struct mpiq_rank_set not_recording;
    bool lines;    /* at least one blocked rank's place in the source is known */
    bool no_lines; /* at least one's is not */
};

static void losses_deinit(struct losses *losses)
{
    mpiq_rank_set_deinit(&losses->unread);
    mpiq_rank_set_deinit(&losses->unpatched);
    mpiq_rank_set_deinit(&losses->stacks_only);
    mpiq_rank_set_deinit(&losses->not_recording);
}

static void count_losses(struct mpiq_page *page, struct losses *ret)
{
    const struct mpiq_job_state *job = page->job;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        struct mpiq_rank_set *set = NULL;
        if (rank && rank->gone)
            continue;
        if (!rank)
            set = &ret->unread;
        else if (rank->source == MPIQ_SOURCE_DEBUG_INFO)
            set = &ret->unpatched;
        else if (rank->source == MPIQ_SOURCE_STACKS)
            set = &ret->stacks_only;
        else if (rank->source == MPIQ_SOURCE_PATCHED && rank->recording == MPIQ_NO)
            set = &ret->not_recording;
        struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
        if (set && !mpiq_rank_set_add(set, name.world, name.rank))
            page->out.failed = true;
        if (!rank)
            continue;
        uint32_t site = page->diagnosis->ranks[process].site;
        if (page->diagnosis->ranks[process].call && site < job->site_count) {
            ret->lines |= job->sites[site].file != 0;
            ret->no_lines |= job->sites[site].file == 0;
        }
    }
}

/* Of `ranks`, unless that is all who were read. */
static void put_help(struct mpiq_page *page, bool *headed, const struct mpiq_rank_set *ranks,
                     const char *text)
{
    struct mpiq_buffer line _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (!*headed)
        mpiq_layout_heading(page, "What would help");
    *headed = true;
    if (ranks && ranks->size < mpiq_job_ranks_read(page->job)) {
        mpiq_put_who(&line, ranks, MPIQ_MOST_RANGES);
        mpiq_buffer_string(&line, ": ");
    }
    mpiq_buffer_string(&line, text);
    mpiq_layout_say(page, 2, "%s", mpiq_buffer_text(&line));
}

void mpiq_show_help(struct mpiq_page *page)
{
    struct losses losses _cleanup_(losses_deinit) = {0};
    bool headed = false;

    count_losses(page, &losses);
    if (losses.unread.size > 0) {
        struct mpiq_buffer who _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_buffer_string(&who, "to read ");
        mpiq_put_who(&who, &losses.unread, MPIQ_MOST_RANGES);
        mpiq_buffer_string(
            &who, ", too, name their core files; or, where they run on other hosts, mpiq snapshot -o FILE "
                  "there and mpiq report on all the files here");
        put_help(page, &headed, NULL, mpiq_buffer_text(&who));
    }
    if (losses.unpatched.size > 0)
        put_help(page, &headed, &losses.unpatched,
                 "this MPI library is not patched: how often each collective was called, the names of "
                 "non-blocking ones and how long a rank has waited are not known");
    if (losses.stacks_only.size > 0)
        put_help(page, &headed, &losses.stacks_only,
                 "of MPI's own state nothing could be read, only stacks: queues, communicators and "
                 "collectives are "
                 "not known, and so nothing can be proven; mpiq doctor says what is missing");
    if (losses.not_recording.size > 0)
        put_help(
            page, &headed, &losses.not_recording,
            "recording of collectives is switched off in this job: how often each was called is not known");
    if (losses.no_lines && !losses.lines)
        put_help(page, &headed, NULL, "compile the program with -g: then its files and lines are named here");
}
