/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/matching.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/array.h"
#include "base/debug.h"

/* A message that a receive may take. */
struct message {
    uint32_t comm;
    uint32_t sender;
    int32_t tag;
    uint32_t order;     /* of arrival, then those under way */
    uint32_t operation; /* the pending send if it is known, else the unexpected message */
};

/* Messages of one key: those from head on are not taken. */
struct run {
    uint32_t head;
    uint32_t end;
};

/* Comparisons of receives with messages, for one rank.  A rank that means well stays far below; one that does
   not would keep us busy for days. */
#define STEPS_MOST (UINT64_C(1) << 27)

/* What one receiver's matching needs; reused from rank to rank. */
struct work {
    uint64_t steps;
    struct message *messages;
    uint32_t message_count;
    uint32_t message_capacity;
    struct message *sends; /* pending, not eager: to be joined with unexpected ones */
    uint32_t send_count;
    uint32_t send_capacity;
    struct run *runs;
    uint32_t run_count;
    uint32_t run_capacity;
};

static bool is_pending(const struct mpiq_job_operation *op)
{
    return op->status == MPIQ_STATUS_PENDING && !op->inactive && op->comm != MPIQ_NONE;
}

/* A pending send. */
struct send {
    uint32_t operation;
    uint32_t sender;   /* process */
    uint32_t receiver; /* process */
};

struct sends {
    struct send *list;
    uint32_t count;
    uint32_t capacity;
};

static bool collect_sends(const struct mpiq_job_state *job, struct sends *sends)
{
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank || rank->gone)
            continue;
        for (uint32_t i = 0; i < rank->operation_count; i++) {
            uint32_t index = rank->first_operation + i;
            const struct mpiq_job_operation *op = &job->operations[index];
            if (op->queue != MPIQ_QUEUE_SENDS || !mpiq_is_send(op) || !is_pending(op) ||
                op->peer == MPIQ_NONE)
                continue;
            if (!mpiq_array_reserve(&sends->list, &sends->capacity, (size_t)sends->count + 1))
                return false;
            sends->list[sends->count++] =
                (struct send){.operation = index, .sender = process, .receiver = op->peer};
        }
    }
    return true;
}

/* Pending sends by the process they go to, in the order of sender and posting. */
static bool sort_sends(struct mpiq_matching *matching, const struct sends *sends)
{
    uint32_t count = matching->job->process_count;
    uint32_t *first = matching->first_incoming = calloc((size_t)count + 2, sizeof *first);
    matching->incoming = calloc((size_t)sends->count + 1, sizeof *matching->incoming);
    if (!first || !matching->incoming)
        return false;
    for (uint32_t i = 0; i < sends->count; i++)
        first[sends->list[i].receiver + 2]++;
    for (uint32_t i = 2; i < count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < sends->count; i++) {
        const struct send *send = &sends->list[i];
        matching->incoming[first[send->receiver + 1]++] =
            (struct mpiq_incoming){.operation = send->operation, .sender = send->sender};
    }
    return true;
}

static bool collect_incoming(struct mpiq_matching *matching)
{
    struct sends sends = {0};
    bool good = collect_sends(matching->job, &sends) && sort_sends(matching, &sends);
    free(sends.list);
    return good;
}

bool mpiq_fits(const struct mpiq_job_operation *receive, uint32_t comm, uint32_t sender, int32_t tag)
{
    return receive->comm == comm && (receive->any || receive->peer == sender) &&
           (receive->tag_any ? tag >= 0 : receive->tag == tag);
}

static int compare_keys(const struct message *a, const struct message *b)
{
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->sender != b->sender)
        return a->sender < b->sender ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int compare_messages(const void *left, const void *right)
{
    const struct message *a = left;
    const struct message *b = right;
    int order = compare_keys(a, b);
    return order ? order : a->order < b->order ? -1 : a->order > b->order;
}

static void sort(struct message *messages, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (compare_messages(&messages[i - 1], &messages[i]) > 0) {
            qsort(messages, count, sizeof *messages, compare_messages);
            return;
        }
    }
}

static bool add_message(struct message **array, uint32_t *count, uint32_t *capacity,
                        const struct mpiq_job_operation *op, uint32_t operation, uint32_t sender)
{
    if (!mpiq_array_reserve(array, capacity, *count + 1))
        return false;
    (*array)[*count] = (struct message){
        .comm = op->comm,
        .sender = sender,
        .tag = op->tag,
        .order = *count,
        .operation = operation,
    };
    (*count)++;
    return true;
}

/* What has arrived at a rank, and what others are sending to it. */
static bool collect(struct mpiq_matching *matching, const struct mpiq_job_rank *rank, struct work *work)
{
    const struct mpiq_job_state *job = matching->job;
    work->message_count = work->send_count = 0;
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        const struct mpiq_job_operation *op = &job->operations[rank->first_operation + i];
        if (op->queue == MPIQ_QUEUE_UNEXPECTED && op->comm != MPIQ_NONE && op->peer != MPIQ_NONE &&
            !add_message(&work->messages, &work->message_count, &work->message_capacity, op,
                         rank->first_operation + i, op->peer))
            return false;
    }
    if (rank->process == MPIQ_NONE)
        return true;
    for (uint32_t i = matching->first_incoming[rank->process];
         i < matching->first_incoming[rank->process + 1]; i++) {
        const struct mpiq_incoming *in = &matching->incoming[i];
        if (!add_message(&work->sends, &work->send_count, &work->send_capacity,
                         &job->operations[in->operation], in->operation, in->sender))
            return false;
    }
    return true;
}

/* One key: `sends` pending ones and the messages that may announce them.  Those that are not announced were
   taken in already if nothing is under way (then they are the first ones), else they are still to come. */
static bool join_run(struct mpiq_matching *matching, struct work *work,
                     const struct mpiq_job_member *receiver, const struct message *sends, uint32_t send_count,
                     uint32_t first_message, uint32_t message_count)
{
    const struct mpiq_job_state *job = matching->job;
    bool in_transit = !receiver || mpiq_channel_in_transit(job, receiver, sends[0].sender);
    uint32_t announced = 0;
    uint32_t announcing = 0;
    for (uint32_t i = 0; i < message_count; i++)
        announced += !job->operations[work->messages[first_message + i].operation].eager;
    for (uint32_t i = 0; i < send_count; i++)
        announcing += !job->operations[sends[i].operation].eager;
    if (announced > announcing)
        announced = announcing;
    uint32_t skip = in_transit ? 0 : announcing - announced;
    uint32_t at = first_message;
    for (uint32_t i = 0; i < send_count; i++) {
        uint32_t send = sends[i].operation;
        bool eager = job->operations[send].eager;
        if (!eager && skip > 0) {
            skip--;
            matching->fates[send] = MPIQ_FATE_MEETS;
            continue;
        }
        if (!eager && announced > 0) {
            while (job->operations[work->messages[at].operation].eager)
                at++;
            uint32_t message = work->messages[at].operation;
            matching->fates[send] = MPIQ_FATE_UNEXPECTED;
            matching->partner[send] = message;
            matching->partner[message] = send;
            work->messages[at++].operation = send;
            announced--;
            continue;
        }
        matching->fates[send] = in_transit ? MPIQ_FATE_IN_TRANSIT : MPIQ_FATE_MEETS;
        if (in_transit && !add_message(&work->messages, &work->message_count, &work->message_capacity,
                                       &job->operations[send], send, sends[i].sender))
            return false;
    }
    return true;
}

static bool join_sends(struct mpiq_matching *matching, const struct mpiq_job_rank *rank, struct work *work)
{
    const struct mpiq_job_state *job = matching->job;
    sort(work->messages, work->message_count);
    sort(work->sends, work->send_count);
    uint32_t arrived = work->message_count;
    uint32_t message = 0;
    for (uint32_t send = 0; send < work->send_count;) {
        uint32_t end = send;
        while (end < work->send_count && compare_keys(&work->sends[send], &work->sends[end]) == 0)
            end++;
        while (message < arrived && compare_keys(&work->messages[message], &work->sends[send]) < 0)
            message++;
        uint32_t last = message;
        while (last < arrived && compare_keys(&work->messages[last], &work->sends[send]) == 0)
            last++;
        const struct mpiq_job_member *receiver =
            mpiq_job_member_of(job, (uint32_t)(rank - job->ranks), work->sends[send].comm);
        if (!join_run(matching, work, receiver, &work->sends[send], end - send, message, last - message))
            return false;
        send = end;
        message = last;
    }
    return true;
}

static bool make_runs(struct work *work)
{
    sort(work->messages, work->message_count);
    work->run_count = 0;
    for (uint32_t i = 0; i < work->message_count; i++) {
        if (i > 0 && compare_keys(&work->messages[i - 1], &work->messages[i]) == 0) {
            work->runs[work->run_count - 1].end++;
            continue;
        }
        if (!mpiq_array_reserve(&work->runs, &work->run_capacity, work->run_count + 1))
            return false;
        work->runs[work->run_count++] = (struct run){.head = i, .end = i + 1};
    }
    return true;
}

/* The run of a receive without wildcards; NULL if there is none.  An empty run's key is its last message's.
 */
static struct run *find_run(struct work *work, const struct mpiq_job_operation *receive)
{
    struct message key = {.comm = receive->comm, .sender = receive->peer, .tag = receive->tag};
    uint32_t low = 0;
    uint32_t high = work->run_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_keys(&work->messages[work->runs[middle].end - 1], &key);
        if (order == 0)
            return &work->runs[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The first message that fits, in the order of arrival. */
static struct run *find(struct work *work, const struct mpiq_job_operation *receive)
{
    if (!receive->any && !receive->tag_any) {
        struct run *run = find_run(work, receive);
        return run && run->head < run->end ? run : NULL;
    }
    struct run *best = NULL;
    work->steps += work->run_count;
    for (uint32_t i = 0; i < work->run_count; i++) {
        struct run *run = &work->runs[i];
        if (run->head == run->end)
            continue;
        const struct message *message = &work->messages[run->head];
        if (mpiq_fits(receive, message->comm, message->sender, message->tag) &&
            (!best || message->order < work->messages[best->head].order))
            best = run;
    }
    return best;
}

/* Whether a wildcard receive of the rank has messages of several keys to choose from. */
static bool has_choice(struct work *work, const struct mpiq_job_operation *receive)
{
    uint32_t keys = 0;
    if (!receive->any && !receive->tag_any)
        return false;
    work->steps += work->run_count;
    for (uint32_t i = 0; i < work->run_count; i++) {
        const struct message *last = &work->messages[work->runs[i].end - 1];
        keys += mpiq_fits(receive, last->comm, last->sender, last->tag);
    }
    return keys > 1;
}

static bool takes_messages(const struct mpiq_job_operation *op)
{
    return op->queue == MPIQ_QUEUE_RECEIVES && op->kind == MPIQ_OPERATION_RECEIVE && is_pending(op);
}

/* Whether messages of a key include some whose sends have returned, beside pending sends: which of them came
   first is not known. */
static bool is_mixed(const struct mpiq_matching *matching, struct work *work, const struct message *of)
{
    work->steps += work->message_count;
    for (uint32_t i = 0; i < work->message_count; i++) {
        const struct message *message = &work->messages[i];
        if (compare_keys(message, of) == 0 &&
            matching->job->operations[message->operation].queue == MPIQ_QUEUE_UNEXPECTED)
            return true;
    }
    return false;
}

/* Messages known only from counts have no order of arrival.  If the order decides which receive takes which
   message, none of the ranks concerned counts as stuck. */
static void allow_for_order(struct mpiq_matching *matching, const struct mpiq_job_rank *rank,
                            struct work *work)
{
    const struct mpiq_job_operation *ops = &matching->job->operations[rank->first_operation];
    bool choice = false;
    for (uint32_t i = 0; i < rank->operation_count && !choice && work->steps < STEPS_MOST; i++)
        choice = takes_messages(&ops[i]) && has_choice(work, &ops[i]);
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        if (!takes_messages(&ops[i]))
            continue;
        work->steps += work->message_count;
        for (uint32_t j = 0; j < work->message_count && work->steps < STEPS_MOST; j++) {
            const struct message *message = &work->messages[j];
            uint32_t receive = rank->first_operation + i;
            if (!mpiq_fits(&ops[i], message->comm, message->sender, message->tag))
                continue;
            if (choice && matching->fates[receive] == MPIQ_FATE_OPEN)
                matching->fates[receive] = MPIQ_FATE_MEETS;
            if (matching->fates[message->operation] == MPIQ_FATE_UNEXPECTED &&
                (choice || is_mixed(matching, work, message)))
                matching->fates[message->operation] = MPIQ_FATE_MEETS;
        }
    }
}

static void meet(struct mpiq_matching *matching, uint32_t receive, uint32_t message)
{
    matching->partner[receive] = message;
    matching->partner[message] = receive;
    if (mpiq_is_send(&matching->job->operations[message]))
        matching->fates[message] = MPIQ_FATE_MEETS;
}

/* Which receive takes which message would take too long to find out: none of them is taken for stuck. */
static void leave_open(struct mpiq_matching *matching, const struct mpiq_job_rank *rank,
                       const struct work *work)
{
    mpiq_debug("job", "rank at row %d: too many receives and messages to match",
               (int)(rank - matching->job->ranks));
    for (uint32_t i = 0; i < rank->operation_count; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &matching->job->operations[index];
        if (op->queue == MPIQ_QUEUE_RECEIVES && mpiq_is_receive(op) && is_pending(op))
            matching->fates[index] = MPIQ_FATE_MEETS;
    }
    for (uint32_t i = 0; i < work->message_count; i++) {
        uint32_t message = work->messages[i].operation;
        if (matching->fates[message] == MPIQ_FATE_UNEXPECTED)
            matching->fates[message] = MPIQ_FATE_MEETS;
    }
}

static bool match_receives(struct mpiq_matching *matching, const struct mpiq_job_rank *rank,
                           struct work *work)
{
    const struct mpiq_job_state *job = matching->job;
    if (!make_runs(work))
        return false;
    work->steps = 0;
    for (uint32_t i = 0; i < rank->operation_count && work->steps < STEPS_MOST; i++) {
        uint32_t index = rank->first_operation + i;
        const struct mpiq_job_operation *op = &job->operations[index];
        if (op->queue != MPIQ_QUEUE_RECEIVES || !mpiq_is_receive(op) || !is_pending(op))
            continue;
        struct run *run = find(work, op);
        matching->fates[index] = run ? MPIQ_FATE_MEETS : MPIQ_FATE_OPEN;
        if (!run)
            continue;
        if (op->kind == MPIQ_OPERATION_PROBE) {
            matching->partner[index] = work->messages[run->head].operation;
            continue;
        }
        meet(matching, index, work->messages[run->head++].operation);
    }
    if (mpiq_job_is_counted(rank))
        allow_for_order(matching, rank, work);
    if (work->steps >= STEPS_MOST)
        leave_open(matching, rank, work);
    return true;
}

bool mpiq_matching_init(struct mpiq_matching *matching, const struct mpiq_job_state *job, uint32_t *partner)
{
    *matching = (struct mpiq_matching){.job = job, .partner = partner, .in_transit = {.job = job}};
    matching->fates = calloc((size_t)job->operation_count + 1, 1);
    if (!matching->fates || !collect_incoming(matching))
        return false;
    struct work work = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        good = collect(matching, rank, &work) && join_sends(matching, rank, &work) &&
               match_receives(matching, rank, &work);
    }
    free(work.messages);
    free(work.sends);
    free(work.runs);
    return good;
}

void mpiq_matching_deinit(struct mpiq_matching *matching)
{
    free(matching->fates);
    free(matching->incoming);
    free(matching->first_incoming);
    mpiq_in_transit_deinit(&matching->in_transit);
}
