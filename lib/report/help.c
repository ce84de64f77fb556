/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a report: what would let it say more. */
#include <string.h>

#include "base/cleanup.h"
#include "report/print.h"
#include "report/views.h"

/* Ranks that were read in one of the ways that show less, grouped by what would have shown more. */
struct losses {
    struct mpiq_rank_set unread;
    struct mpiq_rank_set unpatched;
    struct mpiq_rank_set stacks_only;
    struct mpiq_rank_set not_recording;
    struct mpiq_rank_set no_queues;
    mpiq_string_id pml; /* of one of these */
    bool lines;         /* at least one blocked rank's place in the source is known */
    bool no_lines;      /* at least one's is not */
};

static void losses_deinit(struct losses *losses)
{
    mpiq_rank_set_deinit(&losses->unread);
    mpiq_rank_set_deinit(&losses->unpatched);
    mpiq_rank_set_deinit(&losses->stacks_only);
    mpiq_rank_set_deinit(&losses->not_recording);
    mpiq_rank_set_deinit(&losses->no_queues);
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
        else if (rank->source == MPIQ_SOURCE_DEBUG_INFO || rank->source == MPIQ_SOURCE_LAYOUTS)
            set = &ret->unpatched;
        else if (mpiq_source_is_outside(rank->source) && rank->source != MPIQ_SOURCE_NONE)
            set = &ret->stacks_only;
        else if (rank->source == MPIQ_SOURCE_PATCHED && rank->recording == MPIQ_NO)
            set = &ret->not_recording;
        struct mpiq_world_rank name = mpiq_job_world_rank(job, process);
        if (set && !mpiq_rank_set_add(set, name.world, name.rank))
            page->out.failed = true;
        if (!rank)
            continue;
        /* ob1's queues are there to be read; what kept us from it stands among the problems. */
        if (rank->queues == MPIQ_NO && rank->pml && strcmp(mpiq_job_string(job, rank->pml), "ob1") != 0) {
            ret->pml = rank->pml;
            if (!mpiq_rank_set_add(&ret->no_queues, name.world, name.rank))
                page->out.failed = true;
        }
        uint32_t site = page->diagnosis->ranks[process].site;
        if (page->diagnosis->ranks[process].call && site < job->site_count) {
            bool line = job->sites[site].file != 0 || job->sites[site].called_at != 0;
            ret->lines |= line;
            ret->no_lines |= !line && job->sites[site].function != 0;
        }
    }
}

/* Of `ranks`, unless that is all who were read. */
static void put_help(struct mpiq_page *page, bool *headed, const struct mpiq_rank_set *ranks,
                     const char *text)
{
    struct mpiq_buffer line _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (!*headed)
        mpiq_print_heading(page, "To know more");
    *headed = true;
    if (ranks && ranks->size < mpiq_job_ranks_read(page->job)) {
        mpiq_put_who(&line, ranks, MPIQ_MOST_RANGES);
        mpiq_buffer_string(&line, ": ");
    }
    mpiq_buffer_string(&line, text);
    mpiq_print(page, 2, "%s", mpiq_buffer_text(&line));
}

/* Whether the findings say already what stacks alone can tell. */
static bool has_hint(const struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        if (diagnosis->findings[i].kind == MPIQ_FINDING_STACKS_DIFFER)
            return true;
    }
    return false;
}

void mpiq_show_help(struct mpiq_page *page)
{
    struct losses losses _cleanup_(losses_deinit) = {0};
    bool headed = false;

    count_losses(page, &losses);
    if (losses.unread.size > 0) {
        struct mpiq_buffer who _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_buffer_string(&who, "To read ");
        mpiq_put_who(&who, &losses.unread, MPIQ_MOST_RANGES);
        mpiq_buffer_string(&who,
                           " too, name their hosts (mpiq --hosts n1,n2), or give mpiq their core files.");
        put_help(page, &headed, NULL, mpiq_buffer_text(&who));
    }
    if (losses.no_queues.size > 0) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_buffer_string(&text, "Message queues are not known: PML ");
        mpiq_put_plain(&text, mpiq_job_string(page->job, losses.pml));
        mpiq_buffer_string(&text, " keeps its own. Start the job with `mpiq run`, or with `--mca pml ob1`.");
        put_help(page, &headed, &losses.no_queues, mpiq_buffer_text(&text));
    }
    if (losses.unpatched.size > 0)
        put_help(
            page, &headed, &losses.unpatched,
            "Call counts, the names of non-blocking collectives and waiting times are not known: this MPI "
            "library is not patched. Start the job with `mpiq run` to get them.");
    if (losses.stacks_only.size > 0 && !has_hint(page->diagnosis))
        put_help(page, &headed, &losses.stacks_only,
                 "Only stacks could be read: queues, communicators and call counts are not known. Start the "
                 "job with `mpiq run` to know, or see `mpiq doctor`.");
    if (losses.not_recording.size > 0)
        put_help(page, &headed, &losses.not_recording,
                 "Call counts are not known: this job switched the recording of collectives off "
                 "(mpi_mqs_record).");
    if (losses.no_lines && !losses.lines)
        put_help(page, &headed, NULL, "Compile the program with -g to see its files and lines here.");
}
