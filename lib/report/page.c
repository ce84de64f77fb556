/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool mpiq_page_wants(const struct mpiq_page *page, uint32_t process)
{
    if (!page->options->ranks)
        return true;
    struct mpiq_world_rank name = mpiq_job_world_rank(page->job, process);
    return mpiq_rank_set_contains(page->options->ranks, name.world, name.rank);
}

bool mpiq_page_suspects(const struct mpiq_page *page, struct mpiq_rank_set *set)
{
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        bool cause = diagnosis->findings[i].consequence_of >= diagnosis->finding_count;
        if (cause && !mpiq_rank_set_add_set(set, &diagnosis->findings[i].suspects))
            return false;
    }
    return true;
}

static bool is_called(const struct mpiq_job_state *job, uint32_t comm, const char *wanted)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, comm);
    return strcmp(wanted, mpiq_job_communicator_name(job, comm)) == 0 || strcmp(wanted, number) == 0;
}

bool mpiq_page_wants_communicator(const struct mpiq_page *page, uint32_t comm)
{
    if (page->options->comm)
        return is_called(page->job, comm, page->options->comm);
    return page->options->all || !(page->job->communicators[comm].flags & MPIQ_COMM_INTERNAL);
}

void mpiq_put_no_queues(const struct mpiq_page *page, struct mpiq_buffer *buffer,
                        const struct mpiq_job_rank *rank)
{
    const char *pml = mpiq_job_string(page->job, rank->pml);
    mpiq_buffer_printf(buffer, "no information: PML %s", pml ? pml : "not known");
}

struct mpiq_library mpiq_page_library(const struct mpiq_page *page)
{
    const struct mpiq_job_state *job = page->job;
    struct mpiq_library library = {.source = MPIQ_SOURCE_NONE};
    mpiq_string_id name = 0;
    uint32_t votes = 0;
    uint32_t sources[MPIQ_SOURCE_STACKS + 1] = {0};

    /* The majority by Boyer and Moore: one pass, and any library will do where none has one. */
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank || rank->gone)
            continue;
        if (rank->source <= MPIQ_SOURCE_STACKS)
            sources[rank->source]++;
        if (!rank->library)
            continue;
        if (votes == 0)
            name = rank->library;
        votes = name == rank->library ? votes + 1 : votes - 1;
    }
    library.name = mpiq_job_string(job, name);
    for (uint32_t process = 0; process < job->process_count && !library.file; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank && rank->library == name)
            library.file = mpiq_job_string(job, rank->library_file);
    }
    for (enum mpiq_source source = MPIQ_SOURCE_NONE; source <= MPIQ_SOURCE_STACKS; source++) {
        if (sources[source] > sources[library.source])
            library.source = source;
    }
    return library;
}
