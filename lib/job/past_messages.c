/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/past_messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/in_transit.h"

/* By so much the times of two processes of one host may differ: each begins its own clock. */
enum { CLOCKS_NS = 50 * 1000 * 1000 };

/* One end of a message. */
struct end {
    uint32_t comm, sender, receiver; /* the latter two are processes */
    int32_t tag;
    bool receives;
    uint32_t call; /* in past_calls; of one rank they are in their order */
};

struct work {
    const struct mpiq_job_state *job;
    uint32_t *partner;
    struct end *ends;
    size_t count;
};

/* ---- which ends there are ------------------------------------------------------------------------------ */

static bool is_one_of(const char *call, const char *const *names)
{
    size_t length = strlen(call);
    if (length > 2 && strcmp(call + length - 2, "_c") == 0)
        length -= 2;
    for (; *names; names++) {
        if (strlen(*names) == length && strncmp(call, *names, length) == 0)
            return true;
    }
    return false;
}

bool mpiq_past_call_sends(const char *call)
{
    unsigned does = mpiq_call_messages(call);
    return (does & MPIQ_CALL_SENDS) && !(does & MPIQ_CALL_PREPARES);
}

/* A message that was matched by MPI_Mprobe is taken then; MPI_Mrecv only fetches it. */
static const char *const receives[] = {"MPI_Recv", "MPI_Irecv", "MPI_Mprobe", NULL};
/* Receives that have taken their message once they have returned, and none before. */
static const char *const takes[] = {"MPI_Recv", "MPI_Mprobe", NULL};
/* Behind which sends and receives stand that are not in the history. */
static const char *const hide_both[] = {"MPI_Start", "MPI_Startall", "MPI_Cancel", NULL};
static const char *const hide_receives[] = {"MPI_Sendrecv",          "MPI_Sendrecv_replace", "MPI_Isendrecv",
                                            "MPI_Isendrecv_replace", "MPI_Improbe",          NULL};

static const char *name_of(const struct work *work, const struct mpiq_job_past_call *call)
{
    const char *name = mpiq_job_string(work->job, call->call);
    return name ? name : "";
}

/* What a rank's ends are good for. */
struct countable {
    bool sends, receives;
};

static struct countable judge(const struct work *work, const struct mpiq_job_rank *rank)
{
    struct countable good = {true, true};
    int32_t tid = 0;
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &work->job->past_calls[rank->first_past + i];
        const char *name = name_of(work, call);
        bool receiving = is_one_of(name, receives);
        if (is_one_of(name, hide_both))
            return (struct countable){false, false};
        good.receives = good.receives && !is_one_of(name, hide_receives);
        if (!receiving && !mpiq_past_call_sends(name))
            continue;
        if (call->begin_ns <= 0 || (tid && call->tid != tid))
            return (struct countable){false, false};
        tid = call->tid;
        /* Who waits in MPI_Recv has taken nothing; whom MPI_Irecv has taken from is not noted. */
        bool waits = call->end_ns == 0 && is_one_of(name, takes);
        if (receiving && !waits && (call->any_source || call->any_tag))
            good.receives = false;
    }
    return good;
}

static void add_ends(struct work *work, const struct mpiq_job_rank *rank)
{
    const struct countable good = judge(work, rank);
    for (uint32_t i = 0; i < rank->past_count; i++) {
        const struct mpiq_job_past_call *call = &work->job->past_calls[rank->first_past + i];
        const char *name = name_of(work, call);
        bool receiving = is_one_of(name, receives);
        if (call->comm == MPIQ_NONE || call->peer == MPIQ_NONE || call->proc_null || call->tag < 0 ||
            !(receiving ? good.receives : good.sends && mpiq_past_call_sends(name)))
            continue;
        bool blocking = is_one_of(name, takes);
        if (receiving && blocking && call->end_ns == 0)
            continue;
        work->ends[work->count++] = (struct end){
            .comm = call->comm,
            .sender = receiving ? call->peer : rank->process,
            .receiver = receiving ? rank->process : call->peer,
            .tag = call->tag,
            .receives = receiving,
            .call = rank->first_past + i,
        };
    }
}

static int compare_channels(const struct end *a, const struct end *b)
{
    return a->comm != b->comm           ? (a->comm < b->comm ? -1 : 1)
           : a->sender != b->sender     ? (a->sender < b->sender ? -1 : 1)
           : a->receiver != b->receiver ? (a->receiver < b->receiver ? -1 : 1)
           : a->tag != b->tag           ? (a->tag < b->tag ? -1 : 1)
                                        : 0;
}

static int compare_ends(const void *left, const void *right)
{
    const struct end *a = left;
    const struct end *b = right;
    int order = compare_channels(a, b);
    if (!order && a->receives != b->receives)
        order = a->receives ? 1 : -1;
    return order ? order : a->call < b->call ? -1 : a->call > b->call;
}

/* ---- how many of the newest have no other end ---------------------------------------------------------- */

struct open {
    bool known;
    bool unclear;  /* a call failed or was cancelled: nothing can be counted */
    size_t sent;   /* messages that nobody has received */
    size_t posted; /* receives of MPI_Irecv that have taken nothing */
};

static const struct mpiq_job_channel *channel_to(const struct mpiq_job_state *job,
                                                 const struct mpiq_job_member *member, uint32_t peer)
{
    for (uint32_t i = 0; member && i < member->channel_count; i++) {
        if (job->channels[member->first_channel + i].peer == peer)
            return &job->channels[member->first_channel + i];
    }
    return NULL;
}

/* By the receiver's queues, where nothing is under way to them. */
static struct open find_open(const struct mpiq_job_state *job, const struct end *one)
{
    struct open open = {0};
    const struct mpiq_job_rank *receiver = mpiq_job_rank_of(job, one->receiver);
    const struct mpiq_job_channel *out =
        channel_to(job, mpiq_job_member_of_process(job, one->sender, one->comm), one->receiver);
    const struct mpiq_job_member *member = mpiq_job_member_of_process(job, one->receiver, one->comm);
    const struct mpiq_job_channel *in = channel_to(job, member, one->sender);
    open.unclear = (out && out->unclear) || (in && in->unclear);
    if (!receiver || !member || !mpiq_queues_known(receiver) ||
        mpiq_channel_in_transit(job, member, one->sender))
        return open;
    open.known = true;
    for (uint32_t i = 0; i < receiver->operation_count; i++) {
        const struct mpiq_job_operation *operation = &job->operations[receiver->first_operation + i];
        bool posted = operation->queue == MPIQ_QUEUE_RECEIVES && operation->status == MPIQ_STATUS_PENDING;
        if (operation->comm != one->comm || operation->internal)
            continue;
        /* One from any rank may have been posted before others. */
        if (posted && (operation->any || operation->tag_any))
            open.known = false;
        if (operation->peer != one->sender || operation->tag != one->tag)
            continue;
        open.sent += operation->queue == MPIQ_QUEUE_UNEXPECTED;
        open.posted += posted;
    }
    /* A thread that waits in a receive has posted one of them, which is none of the ends. */
    const struct mpiq_job_past_call *last =
        receiver->past_count > 0 ? &job->past_calls[receiver->first_past + receiver->past_count - 1] : NULL;
    const char *name = last ? mpiq_job_string(job, last->call) : NULL;
    if (open.posted > 0 && name && last->end_ns == 0 && is_one_of(name, takes) && last->peer == one->sender &&
        last->tag == one->tag && last->comm == one->comm)
        open.posted--;
    return open;
}

/* ---- pairs --------------------------------------------------------------------------------------------- */

static bool on_one_host(const struct mpiq_job_state *job, const struct end *one)
{
    const struct mpiq_job_rank *a = mpiq_job_rank_of(job, one->sender);
    const struct mpiq_job_rank *b = mpiq_job_rank_of(job, one->receiver);
    return a && b && a->host == b->host;
}

/* Nothing is received before it is sent, and nothing larger than what it is received into. */
static bool may_be(const struct work *work, const struct end *send, const struct end *receive)
{
    const struct mpiq_job_past_call *from = &work->job->past_calls[send->call];
    const struct mpiq_job_past_call *to = &work->job->past_calls[receive->call];
    bool blocking = is_one_of(name_of(work, to), takes);
    if (blocking && on_one_host(work->job, send) && to->end_ns + CLOCKS_NS < from->begin_ns)
        return false;
    if (from->bytes < 0 || to->bytes < 0)
        return true;
    return blocking ? to->bytes == from->bytes : to->bytes >= from->bytes;
}

/* Whether the calls of a rank reach back to MPI_Init: a ring that is full has no more than the newest. */
static bool is_whole(const struct mpiq_job_state *job, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
    if (!rank || rank->past_count == 0 || rank->past_dropped > 0)
        return false;
    const struct mpiq_job_past_call *calls = &job->past_calls[rank->first_past];
    const char *first = mpiq_job_string(job, calls[0].call);
    for (uint32_t i = 1; i < rank->past_count; i++) {
        if (calls[i].tid != calls[0].tid)
            return false;
    }
    return first && strncmp(first, "MPI_Init", strlen("MPI_Init")) == 0;
}

/* The ends of one channel: first those that send, then those that receive. */
static void pair(struct work *work, const struct end *ends, size_t count)
{
    size_t send_count = 0;
    while (send_count < count && !ends[send_count].receives)
        send_count++;
    size_t receive_count = count - send_count;
    const struct open open = find_open(work->job, &ends[0]);
    bool whole = is_whole(work->job, ends[0].sender) && is_whole(work->job, ends[0].receiver);
    if (open.unclear || send_count == 0)
        return;
    if (!whole && (!open.known || open.sent > send_count || open.posted > receive_count))
        return;
    size_t sent = whole ? send_count : send_count - open.sent;
    size_t taken = whole ? receive_count : receive_count - open.posted;
    size_t pairs = sent < taken ? sent : taken;
    const struct end *first_send = &ends[whole ? 0 : sent - pairs];
    const struct end *first_receive = &ends[send_count + (whole ? 0 : taken - pairs)];
    for (size_t i = 0; i < pairs; i++) {
        if (!may_be(work, &first_send[i], &first_receive[i]))
            return;
    }
    for (size_t i = 0; i < pairs; i++) {
        work->partner[first_send[i].call] = first_receive[i].call;
        work->partner[first_receive[i].call] = first_send[i].call;
    }
    for (size_t i = send_count - open.sent; open.known && open.sent <= send_count && i < send_count; i++) {
        if (work->partner[ends[i].call] == MPIQ_NONE)
            work->partner[ends[i].call] = MPIQ_PAST_UNRECEIVED;
    }
}

bool mpiq_past_messages(const struct mpiq_job_state *job, uint32_t **ret)
{
    *ret = NULL;
    if (job->past_call_count == 0)
        return true;
    uint32_t *partner = malloc(job->past_call_count * sizeof *partner);
    struct end *ends _cleanup_free_ = calloc(job->past_call_count, sizeof *ends);
    if (!partner || !ends) {
        free(partner);
        return false;
    }
    struct work work = {.job = job, .partner = partner, .ends = ends};
    for (uint32_t i = 0; i < job->past_call_count; i++)
        partner[i] = MPIQ_NONE;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (rank)
            add_ends(&work, rank);
    }
    if (work.count > 0)
        qsort(ends, work.count, sizeof *ends, compare_ends);
    for (size_t first = 0, next; first < work.count; first = next) {
        for (next = first + 1; next < work.count && compare_channels(&ends[first], &ends[next]) == 0;)
            next++;
        pair(&work, &ends[first], next - first);
    }
    *ret = partner;
    return true;
}
