/* SPDX-License-Identifier: BSD-3-Clause */
/* sentence_words - how sentences name a place in the source, a communicator, a tag, and partitions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "state/job_state.h"

/* What we call one by its context, and Open MPI by how it was made (ompi/communicator/comm.c). */
static const char ours[] = "communicator ";
static const char open_mpis[] = "MPI COMMUNICATOR";

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Whether it has a name of its own: the user's, or MPI's. */
static bool is_named(const char *name)
{
    return !begins(name, ours) && !begins(name, open_mpis);
}

const char *mpiq_job_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

char *mpiq_job_place_words(const struct mpiq_job_state *job, uint32_t site)
{
    if (site == MPIQ_NONE)
        return strdup("");
    const struct mpiq_site *row = &job->sites[site];
    const char *file = mpiq_job_string(job, row->file);
    const char *function = mpiq_job_string(job, row->function);
    char *text = NULL;
    int length = 0;
    if (file && row->line > 0)
        length = asprintf(&text, "%s:%" PRId32, mpiq_job_base_name(file), row->line);
    else if (function)
        length = asprintf(&text, "%s()", function);
    else
        return strdup("");
    if (length < 0 || !row->called_at)
        return length < 0 ? NULL : text;
    char *whole = NULL, *caller = mpiq_job_place_words(job, row->called_at - 1);
    length = caller ? asprintf(&whole, "%s, called at %s", text, caller) : -1;
    free(caller);
    free(text);
    return length < 0 ? NULL : whole;
}

static bool share_a_member(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    const struct mpiq_job_communicator *row = &job->communicators[a];
    for (uint32_t i = 0; i < row->member_count; i++) {
        if (mpiq_job_member_of(job, job->members[row->first_member + i].rank, b))
            return true;
    }
    return false;
}

/* Whether some rank is in another one that the same line made: in a loop, or where the line is not known. */
static bool has_a_double(const struct mpiq_job_state *job, uint32_t comm)
{
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        const struct mpiq_job_communicator *other = &job->communicators[i];
        if (i != comm && !(other->flags & MPIQ_COMM_INTERNAL) && other->made_by == row->made_by &&
            other->made == row->made && !is_named(mpiq_job_communicator_name(job, i)) &&
            share_a_member(job, comm, i))
            return true;
    }
    return false;
}

char *mpiq_job_communicator_words(const struct mpiq_job_state *job, uint32_t comm)
{
    const char *name = mpiq_job_communicator_name(job, comm);
    const char *made_by = comm == MPIQ_NONE ? NULL : mpiq_job_string(job, job->communicators[comm].made_by);
    char *text = NULL;
    int length;
    bool plain = begins(name, "MPI_") || !*name;
    if (!plain && is_named(name)) {
        length = asprintf(&text, "\"%s\"", name);
    } else if (plain || !made_by || !*made_by) {
        length = asprintf(&text, "%s", name);
    } else {
        const char *told = begins(name, ours) ? name + strlen(ours) : name;
        bool doubled = has_a_double(job, comm);
        char *place _cleanup_free_ = mpiq_job_place_words(job, job->communicators[comm].made);
        if (!place)
            return NULL;
        length = asprintf(&text, "the communicator made by %s%s%s%s%s%s", made_by, *place ? " at " : "",
                          place, doubled ? " (" : "", doubled ? told : "", doubled ? ")" : "");
    }
    return length < 0 ? NULL : text;
}

/* The send that a process's recorded receive waits for: its missing partitions are the ones to name.  Returns
   the receive itself if several sends match, or none. */
static const struct mpiq_job_operation *sending(const struct mpiq_job_state *job, uint32_t receiver,
                                                const struct mpiq_job_operation *receive)
{
    const struct mpiq_job_rank *sender = mpiq_job_rank_of(job, receive->peer);
    const struct mpiq_job_operation *found = receive;
    if (receive->kind != MPIQ_OPERATION_PRECV || mpiq_job_more(job, receive)->missing >= 0 || !sender)
        return receive;
    for (uint32_t i = 0; i < sender->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[sender->first_operation + i];
        if (op->kind != MPIQ_OPERATION_PSEND || op->queue != MPIQ_QUEUE_SENDS || op->inactive ||
            op->peer != receiver || op->status == MPIQ_STATUS_COMPLETE || op->comm != receive->comm ||
            op->tag != receive->tag)
            continue;
        if (found != receive)
            return receive;
        found = op;
    }
    return found;
}

char *mpiq_job_partitions_words(const struct mpiq_job_state *job, uint32_t process,
                                const struct mpiq_job_operation *operation)
{
    const struct mpiq_job_operation_more *more = mpiq_job_more(job, sending(job, process, operation));
    const char *which = mpiq_job_string(job, more->which);
    const char *s = more->missing == 1 ? "" : "s";
    char *text = NULL;
    int length =
        more->missing > 0 && which ? asprintf(&text, "partition%s %s of %" PRId32, s, which, more->partitions)
        : more->missing > 0
            ? asprintf(&text, "%" PRId32 " of %" PRId32 " partitions", more->missing, more->partitions)
            : asprintf(&text, "%" PRId32 " partitions", more->partitions);
    return length < 0 ? NULL : text;
}

const char *mpiq_tag_words(char text[static MPIQ_TAG_WORDS], bool any, int32_t tag)
{
    if (any)
        snprintf(text, MPIQ_TAG_WORDS, "any tag");
    else
        snprintf(text, MPIQ_TAG_WORDS, "tag %" PRId32, tag);
    return text;
}
