/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/nouns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

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

/* What else the line that made a communicator made: in a loop, or by several colours of MPI_Comm_split. */
struct siblings {
    bool same;  /* with the same members */
    bool other; /* with other members */
};

static struct siblings siblings_of(const struct mpiq_job_state *job, uint32_t comm)
{
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    struct siblings siblings = {0};
    for (uint32_t i = 0; i < job->communicator_count && !(siblings.same && siblings.other); i++) {
        const struct mpiq_job_communicator *other = &job->communicators[i];
        if (i == comm || other->flags & MPIQ_COMM_INTERNAL || other->made_by != row->made_by ||
            other->made != row->made || other->named_by == MPIQ_NAMED_BY_USER)
            continue;
        bool same = other->group == row->group && other->remote == row->remote;
        siblings.same = siblings.same || same;
        siblings.other = siblings.other || !same;
    }
    return siblings;
}

/* " of ranks 0-3"; the caller frees, NULL without memory. */
static char *members_words(const struct mpiq_job_state *job, uint32_t comm)
{
    enum { MOST_ITEMS = 4 };
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    char *text = NULL;
    if (!mpiq_job_communicator_members(job, comm, &members))
        return NULL;
    if (job->world_count == 1 && members.size == job->process_count)
        return strdup(" of all ranks");
    char *list _cleanup_free_ = mpiq_rank_set_text(&members, MOST_ITEMS);
    int length = list ? asprintf(&text, " of rank%s %s", members.size == 1 ? "" : "s", list) : -1;
    return length < 0 ? NULL : text;
}

char *mpiq_job_communicator_words(const struct mpiq_job_state *job, uint32_t comm)
{
    if (comm == MPIQ_NONE)
        return strdup("");
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    const char *name = mpiq_job_communicator_name(job, comm);
    char *text = NULL;
    if (row->named_by == MPIQ_NAMED_BY_USER)
        return strncmp(name, "MPI_", 4) == 0         ? strdup(name)
               : asprintf(&text, "\"%s\"", name) < 0 ? NULL
                                                     : text;
    const char *made_by = mpiq_job_string(job, row->made_by);
    struct siblings siblings = siblings_of(job, comm);
    bool made = made_by && *made_by;
    bool whose = siblings.other || (!made && row->named_by == MPIQ_NAMED_BY_LIBRARY);
    char *members _cleanup_free_ = whose ? members_words(job, comm) : strdup("");
    if (!members)
        return NULL;
    if (!made && row->named_by == MPIQ_NAMED_BY_CONTEXT)
        return asprintf(&text, "%s%s", name, members) < 0 ? NULL : text;
    if (!made)
        return asprintf(&text, "the communicator%s (%s)", members, name) < 0 ? NULL : text;
    char context[MPIQ_CONTEXT_ROOM];
    const char *told = row->named_by == MPIQ_NAMED_BY_LIBRARY ? name : mpiq_context_text(row, context);
    char *place _cleanup_free_ = mpiq_job_place_words(job, row->made);
    if (!place)
        return NULL;
    int length =
        asprintf(&text, "the communicator%s made by %s%s%s%s%s%s", members, made_by, *place ? " at " : "",
                 place, siblings.same ? " (" : "", siblings.same ? told : "", siblings.same ? ")" : "");
    return length < 0 ? NULL : text;
}

char *mpiq_job_communicators_words(const struct mpiq_job_state *job, uint32_t comm)
{
    if (comm == MPIQ_NONE)
        return strdup("");
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    const char *made_by = mpiq_job_string(job, row->made_by);
    char *text = NULL;
    int length;
    if (row->named_by == MPIQ_NAMED_BY_USER)
        return mpiq_job_communicator_words(job, comm);
    char *place _cleanup_free_ = mpiq_job_place_words(job, row->made);
    if (!place)
        return NULL;
    if (made_by && *made_by)
        length = asprintf(&text, "their communicators made by %s%s%s", made_by, *place ? " at " : "", place);
    else
        length = asprintf(&text, "their communicators (%s)", mpiq_job_communicator_name(job, comm));
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
