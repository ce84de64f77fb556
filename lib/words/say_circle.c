/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about ranks that wait for each other. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "words/say_private.h"

/* The lines of evidence about the circle: those of other threads of its ranks come last. */
static size_t lines_of(const struct mpiq_finding *finding)
{
    size_t count = 0;
    while (count < finding->evidence_count && finding->evidence[count].remark != MPIQ_REMARK_THREAD)
        count++;
    return count;
}

/* Whether all evidence is of sends (1), of receives (-1), of both or other things (0). */
static int messages_of(const struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    int all = 0;
    for (size_t i = 0; i < lines_of(finding); i++) {
        uint32_t operation = finding->evidence[i].operation;
        const struct mpiq_job_operation *op = operation == MPIQ_NONE ? NULL : &s->job->operations[operation];
        int one = !op || op->internal ? 0 : mpiq_is_send(op) ? 1 : mpiq_is_receive(op) ? -1 : 0;
        if (one == 0 || (all != 0 && one != all))
            return 0;
        all = one;
    }
    return all;
}

/* "rank 2 is in MPI_Finalize, but ranks 0-1,3 wait in MPI_Allreduce": some have left.  NULL: nobody has. */
static const char *left_early(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    struct mpiq_rank_set left _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set stay _cleanup_(mpiq_rank_set_deinit) = {0};
    const char *call = NULL;
    uint32_t comm = MPIQ_NONE;
    for (size_t i = 0; i < lines_of(finding); i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        if (!evidence->finalizes && call && evidence->call && strcmp(call, evidence->call) != 0)
            return NULL; /* those who are left are in more than one call */
        call = evidence->finalizes ? call : evidence->call;
        comm = evidence->finalizes ? comm : s->diagnosis->ranks[evidence->process].comm;
        if (!mpiq_rank_set_add_set(evidence->finalizes ? &left : &stay, &evidence->ranks))
            s->failed = true;
    }
    if (left.size == 0 || stay.size == 0 || !call)
        return NULL;
    return WORDS(arena, "%s %s in MPI_Finalize, but %s %s in %s%s", mpiq_words_ranks(arena, &left),
                 mpiq_is_plural(&left) ? "are" : "is", mpiq_words_ranks(arena, &stay),
                 mpiq_is_plural(&stay) ? "wait" : "waits", call, mpiq_words_on(arena, s->job, comm));
}

static const char *opposite_order(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const char *left = left_early(s, finding);
    if (left)
        return left;
    const char *text = NULL;
    uint32_t comms[2] = {MPIQ_NONE, MPIQ_NONE};
    bool two = lines_of(finding) == 2;
    for (size_t i = 0; i < lines_of(finding); i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        uint32_t comm = s->diagnosis->ranks[evidence->process].comm;
        const char *where =
            comm == MPIQ_NONE
                ? ""
                : WORDS(arena, " on %s",
                        mpiq_words_communicator(arena, s->job, s->job->communicators[comm].user));
        comms[i > 0] = comm;
        two = two && comm != MPIQ_NONE;
        const char *one = WORDS(arena, "%s %s in %s%s", mpiq_words_ranks(arena, &evidence->ranks),
                                mpiq_is_plural(&evidence->ranks) ? "are" : "is",
                                evidence->call ? evidence->call : "MPI", where);
        text = text ? WORDS(arena, "%s, %s", text, one) : one;
    }
    return WORDS(arena, "%s: %s",
                 two && comms[0] != comms[1]
                     ? "two communicators are entered in opposite order, or a call was skipped"
                     : "collectives wait for each other",
                 text ? text : "");
}

/* ": rank 1 waits for partition 3 of 4, tag 1 from rank 0": the first of them that waits for a partition; "".
 */
static const char *partition(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_state *job = s->job;
    for (size_t i = 0; i < lines_of(finding); i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        const struct mpiq_job_operation *op =
            evidence->operation == MPIQ_NONE ? NULL : &job->operations[evidence->operation];
        if (!op || mpiq_job_more(job, op)->partitions == 0)
            continue;
        if (mpiq_is_plural(&evidence->ranks)) /* each has another peer */
            return ", for partitions";
        return WORDS(
            s->arena, ": %s waits for %s", mpiq_words_ranks(s->arena, &evidence->ranks),
            mpiq_say_wait_for(s, evidence->wait, evidence->call, evidence->process, evidence->operation));
    }
    return "";
}

const char *mpiq_say_circle(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const char *who = mpiq_words_ranks(arena, &finding->ranks);
    int messages = messages_of(s, finding);
    if (finding->through == 2)
        return opposite_order(s, finding);
    if (finding->step_count == 1) {
        const char *why = finding->evidence_count > 0 && finding->evidence[0].call
                              ? WORDS(arena, " in %s", finding->evidence[0].call)
                              : "";
        return WORDS(arena, "%s%s waits for itself%s%s", mpiq_is_plural(&finding->ranks) ? "each of " : "",
                     who, why, partition(s, finding));
    }
    const char *how =
        finding->circles > 1 ? WORDS(arena, "in %" PRIu64 " circles", finding->circles) : "in a circle";
    if (finding->ranks.size == 2)
        how = "";
    const char *space = how[0] ? " " : "";
    if (messages > 0)
        return WORDS(arena, "%s send to each other%s%s, and none has posted the receive", who, space, how);
    if (messages < 0)
        return WORDS(arena, "%s receive from each other%s%s, and none has sent%s", who, space, how,
                     finding->received_before == MPIQ_NONE ? "" : " another message");
    bool opens = finding->collective && mpiq_call_opens_file(finding->collective);
    if (opens && finding->suspects.size > 0)
        return WORDS(arena,
                     "%s%s failed on %s alone: %s wait for each other inside it (check the file's name, its "
                     "directory, permissions)",
                     finding->collective, mpiq_words_on(arena, s->job, finding->comm),
                     mpiq_words_ranks(arena, &finding->suspects), who);
    if (finding->collective)
        return WORDS(arena, "%s wait for each other inside %s%s: %s", who, finding->collective,
                     mpiq_words_on(arena, s->job, finding->comm),
                     opens
                         ? "it may have failed on some of them (the file's name, its directory, permissions)"
                         : "their arguments may not match");
    return WORDS(arena, "%s wait for each other%s%s%s", who, space, how, partition(s, finding));
}
