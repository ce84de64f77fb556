/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/wait_text_private.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "words/quantities.h"
#include "words/nouns.h"

/* Parts of a wait that are spelled out. */
#define MOST_PARTS 3

/* How far the peer is from the rank that waits, around the end of the world where that is nearer. */
static bool distance_to(const struct mpiq_teller *t, uint32_t peer, int64_t *ret)
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

void mpiq_tell_offset(struct mpiq_buffer *out, int64_t offset)
{
    if (offset == 0)
        mpiq_buffer_string(out, "rank r itself");
    else
        mpiq_buffer_printf(out, "rank r%+" PRId64, offset);
}

void mpiq_tell_peer(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    int64_t distance;
    if (part->any) {
        mpiq_buffer_string(t->out, "any rank");
    } else if (part->relative) {
        mpiq_tell_offset(t->out, part->offset);
    } else if (part->peer != MPIQ_NONE && t->form == MPIQ_WAIT_RELATIVE &&
               distance_to(t, part->peer, &distance)) {
        mpiq_tell_offset(t->out, distance);
    } else if (part->peer != MPIQ_NONE) {
        mpiq_buffer_string(t->out, "rank ");
        mpiq_put_process(t->job, t->out, part->peer);
    } else if (part->ranks.size > 0) {
        mpiq_put_ranks_named(t->out, &part->ranks);
    } else {
        mpiq_buffer_string(t->out, "another rank");
    }
}

void mpiq_tell_tag(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    mpiq_buffer_string(t->out, mpiq_tag_words((char[MPIQ_TAG_WORDS]){0}, part->tag_any, part->tag));
}

static const char *call_name(const struct mpiq_teller *t)
{
    return t->call ? t->call : "the call";
}

/* The partitioned operation that a part is about; NULL. */
static const struct mpiq_job_operation *partitioned(const struct mpiq_teller *t,
                                                    const struct mpiq_wait_part *part)
{
    const struct mpiq_job_state *job = t->job;
    const struct mpiq_job_operation *op =
        part->operation < job->operation_count ? &job->operations[part->operation] : NULL;
    return op && mpiq_job_more(job, op)->partitions > 0 ? op : NULL;
}

/* "partition 3 of 4, ", "4 partitions, ". */
static void put_partitions(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
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

void mpiq_tell_receive(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    if (part->internal) {
        mpiq_tell_peer(t, part);
        mpiq_buffer_printf(t->out, ", inside %s", call_name(t));
        return;
    }
    put_partitions(t, part);
    if (part->any && part->tag_any) {
        mpiq_buffer_string(t->out, "any message");
    } else {
        mpiq_tell_tag(t, part);
        mpiq_buffer_string(t->out, " from ");
        mpiq_tell_peer(t, part);
    }
    mpiq_put_on(t->job, t->out, part->comm);
}

static void put_send(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    if (part->internal) {
        mpiq_tell_peer(t, part);
        mpiq_buffer_printf(t->out, ", inside %s", call_name(t));
        return;
    }
    const struct mpiq_job_operation *op = partitioned(t, part);
    if (op && mpiq_job_more(t->job, op)->missing > 0) {
        mpiq_buffer_string(t->out, "its own MPI_Pready of ");
        put_partitions(t, part);
        mpiq_tell_tag(t, part);
        mpiq_buffer_string(t->out, " to ");
        mpiq_tell_peer(t, part);
        mpiq_put_on(t->job, t->out, part->comm);
        return;
    }
    mpiq_tell_peer(t, part);
    mpiq_buffer_string(t->out, " to receive ");
    put_partitions(t, part);
    mpiq_tell_tag(t, part);
    if (part->bytes >= 0) {
        mpiq_buffer_string(t->out, " (");
        mpiq_put_size(t->out, part->bytes);
        mpiq_buffer_char(t->out, ')');
    }
    mpiq_put_on(t->job, t->out, part->comm);
}

/* "100 MPI_DOUBLE, MPI_SUM": what else the caller's code says. */
static void put_given_data(const struct mpiq_teller *t, const struct mpiq_given_wait *given,
                           const char *before)
{
    if (given->count < 0 || !given->type)
        return;
    mpiq_buffer_printf(t->out, "%s%" PRId64 " %s", before, given->count, given->type);
}

/* By the caller's code alone: "tag 41 from rank 1", "a message from local rank 2 of a communicator". */
static void put_given_message(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    const struct mpiq_given_wait *given = part->given;
    bool send = part->kind == MPIQ_PART_SEND;
    if (!send && part->any && part->tag_any) {
        mpiq_buffer_string(t->out, "any message");
    } else {
        if (given->tag_unknown)
            mpiq_buffer_string(t->out, "a message");
        else
            mpiq_tell_tag(t, part);
        mpiq_buffer_string(t->out, send ? " to " : " from ");
        if (part->any || part->relative || part->peer != MPIQ_NONE)
            mpiq_tell_peer(t, part);
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

bool mpiq_tells_of(const struct mpiq_teller *t, const char *name)
{
    return t->call && name && strcmp(t->call, name) == 0;
}

void mpiq_tell_given_collective(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    const struct mpiq_given_wait *given = part->given;
    if (!mpiq_tells_of(t, part->collective))
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

static void put_collective(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
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
                           mpiq_tells_of(t, part->collective) || !part->collective ? "it" : part->collective);
    }
}

/* What the other side of a window has to call. */
static void put_window(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
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
        needed = mpiq_tells_of(t, needs[i].call) ? needs[i].needs : needed;
    bool lock = mpiq_tells_of(t, "MPI_Win_lock") || mpiq_tells_of(t, "MPI_Win_lock_all");
    if (part->ranks.size > 0) {
        mpiq_put_ranks_named(t->out, &part->ranks);
        mpiq_buffer_string(t->out, lock && part->answers ? " to grant a lock" : needed);
    } else if (lock) { /* who holds it is not known: the peer is whose window it is */
        mpiq_buffer_string(t->out, "a lock at ");
        mpiq_tell_peer(t, part);
    } else {
        mpiq_tell_peer(t, part);
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
static void put_lock(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    mpiq_buffer_string(t->out, "the lock");
    if (part->file && *part->file)
        mpiq_buffer_printf(t->out, " on %s", part->file);
    mpiq_buffer_string(t->out, " that rank ");
    mpiq_put_process(t->job, t->out, part->peer);
    mpiq_buffer_string(t->out, " holds");
}

static void put_part(const struct mpiq_teller *t, const struct mpiq_wait_part *part)
{
    if (part->given && part->kind == MPIQ_PART_WINDOW) {
        mpiq_buffer_printf(t->out, "rank %" PRId32 " of a window", part->given->local);
        return;
    }
    if (part->given && part->kind == MPIQ_PART_COLLECTIVE) {
        mpiq_buffer_string(t->out, "other members ");
        mpiq_tell_given_collective(t, part);
        return;
    }
    if (part->given) {
        put_given_message(t, part);
        return;
    }
    switch (part->kind) {
    case MPIQ_PART_RECEIVE:
    case MPIQ_PART_PROBE:
        mpiq_tell_receive(t, part);
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
static void put_given_requests(const struct mpiq_teller *t, const struct mpiq_waits_for *wait)
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

static void put_parts(const struct mpiq_teller *t, const struct mpiq_waits_for *wait)
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

void mpiq_tell_done(struct mpiq_buffer *out, const struct mpiq_waits_for *wait)
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
    struct mpiq_teller t = {.job = job, .out = buffer, .call = call, .process = process, .form = form};
    if (!wait || wait->part_count == 0)
        return;
    if (is_inside(wait) && wait->part_count > 1 && wait->ranks.size > 0) {
        mpiq_put_ranks_named(buffer, &wait->ranks);
        mpiq_buffer_printf(buffer, ", inside %s", call_name(&t));
        return;
    }
    put_parts(&t, wait);
    if (!is_inside(wait))
        mpiq_tell_done(buffer, wait);
}

void mpiq_put_part_label(struct mpiq_buffer *buffer, const struct mpiq_wait_part *part, const char *call)
{
    struct mpiq_teller t = {.out = buffer};
    if (part->internal) {
        mpiq_buffer_string(buffer, call);
        return;
    }
    switch (part->kind) {
    case MPIQ_PART_RECEIVE:
    case MPIQ_PART_PROBE:
        mpiq_tell_tag(&t, part);
        break;
    case MPIQ_PART_SEND:
        mpiq_buffer_string(buffer, "send, ");
        mpiq_tell_tag(&t, part);
        break;
    case MPIQ_PART_COLLECTIVE:
        mpiq_buffer_string(buffer, part->collective ? part->collective : call);
        break;
    default:
        mpiq_buffer_string(buffer, call);
        break;
    }
}
