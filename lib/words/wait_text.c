/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/wait_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "words/quantities.h"
#include "words/nouns.h"

/* Parts of a wait that are spelled out. */
#define MOST_PARTS 3

/* Whose wait is told, and how. */
struct teller {
    const struct mpiq_job_state *job;
    struct mpiq_buffer *out;
    const char *call;
    uint32_t process;
    enum mpiq_wait_form form;
};

/* How far the peer is from the rank that waits, around the end of the world where that is nearer. */
static bool distance_to(const struct teller *t, uint32_t peer, int64_t *ret)
{
    const struct mpiq_job_state *job = t->job;
    struct mpiq_world_rank own = mpiq_job_world_rank(job, t->process);
    struct mpiq_world_rank other = mpiq_job_world_rank(job, peer);
    if (own.world != other.world)
        return false;
    int64_t size = job->worlds[own.world].size;
    *ret = (int64_t)other.rank - (int64_t)own.rank;
    if (2 * *ret > size)
        *ret -= size;
    else if (2 * *ret < -size)
        *ret += size;
    return true;
}

static void put_offset(struct mpiq_buffer *out, int64_t offset)
{
    if (offset == 0)
        mpiq_buffer_string(out, "rank r itself");
    else
        mpiq_buffer_printf(out, "rank r%+" PRId64, offset);
}

static void put_peer(const struct teller *t, const struct mpiq_wait_part *part)
{
    int64_t distance;
    if (part->any) {
        mpiq_buffer_string(t->out, "any rank");
    } else if (part->relative) {
        put_offset(t->out, part->offset);
    } else if (part->peer != MPIQ_NONE && t->form == MPIQ_WAIT_RELATIVE &&
               distance_to(t, part->peer, &distance)) {
        put_offset(t->out, distance);
    } else if (part->peer != MPIQ_NONE) {
        mpiq_buffer_string(t->out, "rank ");
        mpiq_put_process(t->job, t->out, part->peer);
    } else if (part->ranks.size > 0) {
        mpiq_put_ranks_named(t->out, &part->ranks);
    } else {
        mpiq_buffer_string(t->out, "another rank");
    }
}

static void put_tag(const struct teller *t, const struct mpiq_wait_part *part)
{
    mpiq_buffer_string(t->out, mpiq_tag_words((char[MPIQ_TAG_WORDS]){0}, part->tag_any, part->tag));
}

static const char *call_name(const struct teller *t)
{
    return t->call ? t->call : "the call";
}

/* The partitioned operation that a part is about; NULL. */
static const struct mpiq_job_operation *partitioned(const struct teller *t, const struct mpiq_wait_part *part)
{
    const struct mpiq_job_state *job = t->job;
    const struct mpiq_job_operation *op =
        part->operation < job->operation_count ? &job->operations[part->operation] : NULL;
    return op && mpiq_job_more(job, op)->partitions > 0 ? op : NULL;
}

/* "partition 3 of 4, ", "4 partitions, ". */
static void put_partitions(const struct teller *t, const struct mpiq_wait_part *part)
{
    const struct mpiq_job_operation *op = partitioned(t, part);
    if (!op)
        return;
    char *words _cleanup_free_ = mpiq_job_partitions_words(t->job, t->process, op);
    if (words)
        mpiq_buffer_printf(t->out, "%s, ", words);
    else
        mpiq_buffer_fail(t->out);
}

static void put_receive(const struct teller *t, const struct mpiq_wait_part *part)
{
    if (part->internal) {
        put_peer(t, part);
        mpiq_buffer_printf(t->out, ", inside %s", call_name(t));
        return;
    }
    put_partitions(t, part);
    if (part->any && part->tag_any) {
        mpiq_buffer_string(t->out, "any message");
    } else {
        put_tag(t, part);
        mpiq_buffer_string(t->out, " from ");
        put_peer(t, part);
    }
    mpiq_put_on(t->job, t->out, part->comm);
}

static void put_send(const struct teller *t, const struct mpiq_wait_part *part)
{
    if (part->internal) {
        put_peer(t, part);
        mpiq_buffer_printf(t->out, ", inside %s", call_name(t));
        return;
    }
    const struct mpiq_job_operation *op = partitioned(t, part);
    if (op && mpiq_job_more(t->job, op)->missing > 0) {
        mpiq_buffer_string(t->out, "its own MPI_Pready of ");
        put_partitions(t, part);
        put_tag(t, part);
        mpiq_buffer_string(t->out, " to ");
        put_peer(t, part);
        mpiq_put_on(t->job, t->out, part->comm);
        return;
    }
    put_peer(t, part);
    mpiq_buffer_string(t->out, " to receive ");
    put_partitions(t, part);
    put_tag(t, part);
    if (part->bytes >= 0) {
        mpiq_buffer_string(t->out, " (");
        mpiq_put_size(t->out, part->bytes);
        mpiq_buffer_char(t->out, ')');
    }
    mpiq_put_on(t->job, t->out, part->comm);
}

/* "100 MPI_DOUBLE, MPI_SUM": what else the caller's code says. */
static void put_given_data(const struct teller *t, const struct mpiq_given_wait *given, const char *before)
{
    if (given->count < 0 || !given->type)
        return;
    mpiq_buffer_printf(t->out, "%s%" PRId64 " %s", before, given->count, given->type);
}

/* By the caller's code alone: "tag 41 from rank 1", "a message from local rank 2 of a communicator". */
static void put_given_message(const struct teller *t, const struct mpiq_wait_part *part)
{
    const struct mpiq_given_wait *given = part->given;
    bool send = part->kind == MPIQ_PART_SEND;
    if (!send && part->any && part->tag_any) {
        mpiq_buffer_string(t->out, "any message");
    } else {
        if (given->tag_unknown)
            mpiq_buffer_string(t->out, "a message");
        else
            put_tag(t, part);
        mpiq_buffer_string(t->out, send ? " to " : " from ");
        if (part->any || part->relative || part->peer != MPIQ_NONE)
            put_peer(t, part);
        else if (given->local >= 0)
            mpiq_buffer_printf(t->out, "local rank %" PRId32, given->local);
        else
            mpiq_buffer_string(t->out,
                               given->peer_unknown ? "a rank that is not known" : "another rank each");
    }
    if (part->comm != MPIQ_NONE)
        mpiq_put_on(t->job, t->out, part->comm);
    else if (given->comm && strcmp(given->comm, "MPI_COMM_WORLD") != 0)
        mpiq_buffer_printf(t->out, " on %s", given->comm);
    else if (given->other_comm)
        mpiq_buffer_string(t->out, given->local >= 0 ? " of a communicator" : " on a communicator");
    if (send)
        put_given_data(t, given, ", ");
}

static bool is_call(const struct teller *t, const char *name)
{
    return t->call && name && strcmp(t->call, name) == 0;
}

static void put_given_collective(const struct teller *t, const struct mpiq_wait_part *part)
{
    const struct mpiq_given_wait *given = part->given;
    if (!is_call(t, part->collective))
        mpiq_buffer_printf(t->out, "%s ", part->collective);
    mpiq_buffer_string(t->out, "on ");
    if (part->comm != MPIQ_NONE)
        mpiq_put_communicator(t->job, t->out, part->comm);
    else
        mpiq_buffer_string(t->out, given->comm ? given->comm : "a communicator");
    if (given->local >= 0)
        mpiq_buffer_printf(t->out, ", root %" PRId32, given->local);
    if (!given->tag_unknown)
        mpiq_buffer_printf(t->out, ", tag %" PRId32, part->tag);
    if (given->op)
        mpiq_buffer_printf(t->out, ", %s", given->op);
    put_given_data(t, given, ", ");
}

static void put_collective(const struct teller *t, const struct mpiq_wait_part *part)
{
    bool request = part->operation != MPIQ_NONE && part->collective;
    if (part->ranks.size > 0)
        mpiq_put_ranks_named(t->out, &part->ranks);
    else if (!request)
        mpiq_buffer_string(t->out, "the other members");
    if (request) {
        mpiq_buffer_string(t->out, part->ranks.size > 0 ? " to start " : "");
        mpiq_put_numbered(t->job, t->out, part->collective, t->form == MPIQ_WAIT_NUMBERED ? part->number : 0,
                          part->comm);
        mpiq_buffer_string(t->out, part->ranks.size > 0 ? "" : " to complete");
    } else if (part->ranks.size > 0) {
        mpiq_buffer_printf(t->out, " to enter %s",
                           is_call(t, part->collective) || !part->collective ? "it" : part->collective);
    }
}

/* What the other side of a window has to call. */
static void put_window(const struct teller *t, const struct mpiq_wait_part *part)
{
    static const struct {
        const char *call;
        const char *needs;
    } needs[] = {
        {"MPI_Win_fence", " to enter it"},
        {"MPI_Win_free", " to enter it"},
        {"MPI_Win_start", " to call MPI_Win_post"},
        {"MPI_Win_complete", " to call MPI_Win_post"},
        {"MPI_Win_wait", " to call MPI_Win_complete"},
        {"MPI_Win_lock", " to release its lock"},
        {"MPI_Win_lock_all", " to release its lock"},
        {"MPI_Win_unlock", " to answer, or to release its lock"},
        {"MPI_Win_flush", " to answer, or to release its lock"},
        {"MPI_Win_flush_local", " to answer, or to release its lock"},
    };
    const char *needed = " to take part";
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        needed = is_call(t, needs[i].call) ? needs[i].needs : needed;
    bool lock = is_call(t, "MPI_Win_lock") || is_call(t, "MPI_Win_lock_all");
    if (part->ranks.size > 0) {
        mpiq_put_ranks_named(t->out, &part->ranks);
        mpiq_buffer_string(t->out, lock && part->answers ? " to grant a lock" : needed);
    } else if (lock) { /* who holds it is not known: the peer is whose window it is */
        mpiq_buffer_string(t->out, "a lock at ");
        put_peer(t, part);
    } else {
        put_peer(t, part);
        mpiq_buffer_string(t->out, needed);
    }
    if (part->window < t->job->window_count) {
        const struct mpiq_job_state *job = t->job;
        const struct mpiq_job_window *window = &job->windows[part->window];
        const char *name = mpiq_job_string(job, window->name);
        const struct mpiq_site *made = window->made < job->site_count ? &job->sites[window->made] : NULL;
        const char *file = made ? mpiq_job_string(job, made->file) : NULL;
        if (!window->named && file) {
            mpiq_buffer_string(t->out, " (window made at ");
            mpiq_put_place(t->out, file, made->line, NULL, NULL);
            mpiq_buffer_char(t->out, ')');
        } else {
            mpiq_buffer_printf(t->out, " (%s)", name ? name : "window");
        }
    }
}

/* "the lock on shared.log that rank 0 holds". */
static void put_lock(const struct teller *t, const struct mpiq_wait_part *part)
{
    mpiq_buffer_string(t->out, "the lock");
    if (part->file && *part->file)
        mpiq_buffer_printf(t->out, " on %s", part->file);
    mpiq_buffer_string(t->out, " that rank ");
    mpiq_put_process(t->job, t->out, part->peer);
    mpiq_buffer_string(t->out, " holds");
}

static void put_part(const struct teller *t, const struct mpiq_wait_part *part)
{
    if (part->given && part->kind == MPIQ_PART_WINDOW) {
        mpiq_buffer_printf(t->out, "rank %" PRId32 " of a window", part->given->local);
        return;
    }
    if (part->given && part->kind == MPIQ_PART_COLLECTIVE) {
        mpiq_buffer_string(t->out, "other members ");
        put_given_collective(t, part);
        return;
    }
    if (part->given) {
        put_given_message(t, part);
        return;
    }
    switch (part->kind) {
    case MPIQ_PART_RECEIVE:
    case MPIQ_PART_PROBE:
        put_receive(t, part);
        break;
    case MPIQ_PART_SEND:
        put_send(t, part);
        break;
    case MPIQ_PART_COLLECTIVE:
        put_collective(t, part);
        break;
    case MPIQ_PART_WINDOW:
        put_window(t, part);
        break;
    case MPIQ_PART_LAUNCHER:
        mpiq_buffer_string(t->out, "the launcher");
        break;
    case MPIQ_PART_LOCK:
        put_lock(t, part);
        break;
    case MPIQ_PART_REQUEST:
        mpiq_buffer_string(t->out, "a request of unknown kind");
        break;
    }
}

/* Whether every part is the traffic of the call itself. */
static bool is_inside(const struct mpiq_waits_for *wait)
{
    for (uint32_t i = 0; i < wait->part_count; i++) {
        assert(wait->parts);
        if (!wait->parts[i].internal)
            return false;
    }
    return wait->part_count > 0;
}

/* By the caller's code alone: "one or more of 7 requests, made by MPI_Irecv (halo.c:20) or elsewhere". */
static void put_given_requests(const struct teller *t, const struct mpiq_waits_for *wait)
{
    const uint32_t requests = wait->parts[0].given->requests;
    if (requests == 1)
        mpiq_buffer_string(t->out, "a request");
    else
        mpiq_buffer_printf(t->out, "%s of %" PRIu32 " requests", wait->all ? "one or more" : "any", requests);
    bool named = false, elsewhere = false;
    for (uint32_t i = 0; i < wait->part_count; i++) {
        const struct mpiq_wait_part *part = &wait->parts[i];
        const struct mpiq_site *site =
            part->started < t->job->site_count ? &t->job->sites[part->started] : NULL;
        const char *file = site ? mpiq_job_string(t->job, site->file) : NULL;
        if (!part->given->made_by) {
            elsewhere = true;
            continue;
        }
        mpiq_buffer_printf(t->out, "%s %s", named ? " or" : ", made by", part->given->made_by);
        named = true;
        if (file) {
            mpiq_buffer_string(t->out, " (");
            mpiq_put_place(t->out, file, site->line, NULL, NULL);
            mpiq_buffer_char(t->out, ')');
        }
    }
    mpiq_buffer_string(t->out, named && elsewhere ? " or elsewhere" : "");
}

static void put_parts(const struct teller *t, const struct mpiq_waits_for *wait)
{
    if (wait->part_count > 0 && wait->parts[0].kind == MPIQ_PART_REQUEST && wait->parts[0].given) {
        put_given_requests(t, wait);
        return;
    }
    uint32_t shown = wait->part_count <= MOST_PARTS ? wait->part_count : MOST_PARTS - 1;
    uint64_t rest = (uint64_t)wait->part_count - shown + wait->more;
    if (wait->guessed && wait->part_count + wait->more > 1)
        mpiq_buffer_string(t->out, wait->parts[0].given ? "one or more of these: " : "one of these: ");
    for (uint32_t i = 0; i < shown; i++) {
        bool last = i + 1 == shown && rest == 0;
        if (i > 0)
            mpiq_buffer_string(t->out, !last ? ", " : wait->all ? " and " : " or ");
        put_part(t, &wait->parts[i]);
    }
    if (rest > 0)
        mpiq_buffer_printf(t->out, " %s %" PRIu64 " more", wait->all ? "and" : "or", rest);
}

static void put_done(struct mpiq_buffer *out, const struct mpiq_waits_for *wait)
{
    if (wait->done == 1)
        mpiq_buffer_string(out, " (the other request is done)");
    else if (wait->done > 1)
        mpiq_buffer_printf(out, " (the other %" PRIu32 " requests are done)", wait->done);
}

void mpiq_put_wait(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                   const struct mpiq_waits_for *wait, const char *call, uint32_t process,
                   enum mpiq_wait_form form)
{
    struct teller t = {.job = job, .out = buffer, .call = call, .process = process, .form = form};
    if (!wait || wait->part_count == 0)
        return;
    if (is_inside(wait) && wait->part_count > 1 && wait->ranks.size > 0) {
        mpiq_put_ranks_named(buffer, &wait->ranks);
        mpiq_buffer_printf(buffer, ", inside %s", call_name(&t));
        return;
    }
    put_parts(&t, wait);
    if (!is_inside(wait))
        put_done(buffer, wait);
}

void mpiq_put_part_label(struct mpiq_buffer *buffer, const struct mpiq_wait_part *part, const char *call)
{
    struct teller t = {.out = buffer};
    if (part->internal) {
        mpiq_buffer_string(buffer, call);
        return;
    }
    switch (part->kind) {
    case MPIQ_PART_RECEIVE:
    case MPIQ_PART_PROBE:
        put_tag(&t, part);
        break;
    case MPIQ_PART_SEND:
        mpiq_buffer_string(buffer, "send, ");
        put_tag(&t, part);
        break;
    case MPIQ_PART_COLLECTIVE:
        mpiq_buffer_string(buffer, part->collective ? part->collective : call);
        break;
    default:
        mpiq_buffer_string(buffer, call);
        break;
    }
}

/* Of ranks that are in several communicators which the user tells apart no more: of all of them. */
static void put_communicators(const struct teller *t, const struct mpiq_rank_set *ranks, uint32_t comm)
{
    struct mpiq_rank_set members _cleanup_(mpiq_rank_set_deinit) = {0};
    if (!mpiq_job_communicator_members(t->job, comm, &members)) {
        mpiq_buffer_fail(t->out);
        return;
    }
    if (mpiq_rank_set_includes(&members, ranks)) {
        mpiq_put_communicator(t->job, t->out, comm);
        return;
    }
    char *words _cleanup_free_ = mpiq_job_communicators_words(t->job, comm);
    if (words)
        mpiq_buffer_string(t->out, words);
    else
        mpiq_buffer_fail(t->out);
}

/* "collective 6 on MPI_COMM_WORLD"; nothing where neither is known. */
static void put_running_number(const struct teller *t, const struct mpiq_evidence *evidence,
                               const struct mpiq_wait_part *part)
{
    const char *name = mpiq_job_communicator_name(t->job, part->comm);
    if (part->number > 0)
        mpiq_buffer_printf(t->out, "collective %" PRId64, part->number);
    if (!*name)
        return;
    mpiq_buffer_string(t->out, part->number > 0 ? " on " : "on ");
    put_communicators(t, &evidence->ranks, part->comm);
}

/* A frame's place names its object, one that a return address stands for does not. */
static bool same_line(const struct mpiq_job_state *job, uint32_t a, uint32_t b)
{
    if (a >= job->site_count || b >= job->site_count)
        return false;
    const struct mpiq_site *left = &job->sites[a];
    const struct mpiq_site *right = &job->sites[b];
    return left->file == right->file && left->line == right->line && left->function == right->function;
}

static bool put_started(const struct teller *t, const struct mpiq_evidence *evidence, const char *before)
{
    uint32_t started = evidence->started;
    if (started == MPIQ_NONE && evidence->wait && evidence->wait->part_count > 0)
        started = evidence->wait->parts[0].started;
    if (started >= t->job->site_count || same_line(t->job, started, evidence->site))
        return false;
    const struct mpiq_site *place = &t->job->sites[started];
    mpiq_buffer_string(t->out, before);
    mpiq_put_place(t->out, mpiq_job_string(t->job, place->file), place->line,
                   place->file ? NULL : mpiq_job_string(t->job, place->function), NULL);
    return true;
}

static void put_collective_detail(const struct teller *t, const struct mpiq_evidence *evidence,
                                  const struct mpiq_wait_part *part)
{
    if (is_call(t, part->collective) || !part->collective) {
        put_running_number(t, evidence, part);
        return;
    }
    mpiq_buffer_printf(t->out, "for %s", part->collective);
    put_started(t, evidence, " started at ");
    if (part->number > 0 || part->comm != MPIQ_NONE) {
        mpiq_buffer_string(t->out, ", ");
        put_running_number(t, evidence, part);
    }
}

/* Whether they are two ranks that wait for each other. */
static bool is_pair(const struct mpiq_evidence *evidence)
{
    const struct mpiq_rank_set awaited = mpiq_borrowed_set(&evidence->wait->ranks);
    return evidence->ranks.size == 2 && mpiq_rank_set_equal(&evidence->ranks, &awaited);
}

/* "each to the next rank (4 to 0), tag 3, 1 MiB": of ranks that do the same relative to themselves. */
static void put_relative_detail(const struct teller *t, const struct mpiq_evidence *evidence,
                                const struct mpiq_wait_part *part)
{
    const struct mpiq_rank_set *ranks = &evidence->ranks;
    const char *towards = part->kind == MPIQ_PART_SEND ? "to" : "from";
    mpiq_buffer_printf(t->out, "each %s ", towards);
    if (is_pair(evidence))
        mpiq_buffer_string(t->out, "the other");
    else if (part->offset == 1 || part->offset == -1)
        mpiq_buffer_string(t->out, part->offset == 1 ? "the next rank" : "the previous rank");
    else
        put_offset(t->out, part->offset);
    bool all = ranks->count == 1 && ranks->size == (uint64_t)evidence->relation.size;
    if (part->wraps && !is_pair(evidence) && all && (part->offset == 1 || part->offset == -1)) {
        uint32_t edge = part->offset == 1 ? ranks->ranges[0].last : ranks->ranges[0].first;
        uint32_t other = part->offset == 1 ? ranks->ranges[0].first : ranks->ranges[0].last;
        mpiq_buffer_printf(t->out, " (%" PRIu32 " %s %" PRIu32 ")", edge, towards, other);
    }
    mpiq_buffer_string(t->out, ", ");
    put_tag(t, part);
    if (part->kind == MPIQ_PART_SEND && part->bytes >= 0) {
        mpiq_buffer_string(t->out, ", ");
        mpiq_put_size(t->out, part->bytes);
    }
    mpiq_put_on(t->job, t->out, part->comm);
    put_started(t, evidence, ", started at ");
}

/* "receive posted at exchange.c:7: tag 42 from rank 3"; false where that place is not known. */
static bool put_posted_detail(const struct teller *t, const struct mpiq_evidence *evidence,
                              const struct mpiq_wait_part *part)
{
    bool sends = part->kind == MPIQ_PART_SEND;
    if (!put_started(t, evidence, sends ? "send started at " : "receive posted at "))
        return false;
    mpiq_buffer_string(t->out, ": ");
    if (!sends) {
        put_receive(t, part);
        return true;
    }
    put_tag(t, part);
    if (part->bytes >= 0) {
        mpiq_buffer_string(t->out, ", ");
        mpiq_put_size(t->out, part->bytes);
    }
    mpiq_buffer_string(t->out, " to ");
    put_peer(t, part);
    mpiq_put_on(t->job, t->out, part->comm);
    return true;
}

static void put_wait_detail(const struct teller *t, const struct mpiq_evidence *evidence)
{
    const struct mpiq_waits_for *wait = evidence->wait;
    const struct mpiq_wait_part *part = wait->part_count == 1 && wait->more == 0 ? wait->parts : NULL;
    bool message =
        part && !part->internal && (part->kind == MPIQ_PART_RECEIVE || part->kind == MPIQ_PART_SEND);
    if (part && part->kind == MPIQ_PART_COLLECTIVE && part->given) {
        put_given_collective(t, part);
        return;
    }
    if (part && part->kind == MPIQ_PART_COLLECTIVE) {
        put_collective_detail(t, evidence, part);
        return;
    }
    if (message && !part->given &&
        (part->relative || (part->peer == MPIQ_NONE && !part->any && is_pair(evidence))))
        put_relative_detail(t, evidence, part);
    else if (!message || !put_posted_detail(t, evidence, part)) {
        mpiq_buffer_string(t->out, evidence->activity == MPIQ_ACTIVITY_POLLING ? "polls for " : "waits for ");
        mpiq_put_wait(t->job, t->out, wait, t->call, t->process, t->form);
        return;
    }
    put_done(t->out, wait);
}

void mpiq_put_evidence_detail(const struct mpiq_job_state *job, struct mpiq_buffer *buffer,
                              const struct mpiq_evidence *evidence)
{
    uint32_t process = MPIQ_NONE;
    if (evidence->ranks.count > 0)
        process = mpiq_job_process(job, evidence->ranks.ranges[0].world, evidence->ranks.ranges[0].first);
    struct teller t = {.job = job, .out = buffer, .call = evidence->call, .process = process};
    size_t before = buffer->length;
    if (evidence->wait && process != MPIQ_NONE)
        put_wait_detail(&t, evidence);
    if (buffer->length == before)
        mpiq_put_last_call(buffer, &evidence->last);
    if (!evidence->note || !*evidence->note)
        return;
    if (buffer->length > before)
        mpiq_buffer_string(buffer, "; ");
    mpiq_buffer_string(buffer, evidence->note);
}
