/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdio.h>
#include <string.h>

uint64_t model_random(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15;
    uint64_t value = *seed;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

static int below(uint64_t *seed, int limit)
{
    return (int)(model_random(seed) % (uint64_t)limit);
}

static bool once_in(uint64_t *seed, int times)
{
    return below(seed, times) == 0;
}

static void make_message(struct model *model, uint64_t *seed, int from, struct model_operation *send)
{
    int to = below(seed, model->ranks);
    if (to == from || model->message_count == MOST_MESSAGES) {
        send->complete = true;
        send->peer = (from + 1) % model->ranks;
        send->message = -1;
        return;
    }
    send->peer = to;
    send->message = model->message_count;
    model->messages[model->message_count++] =
        (struct model_message){.from = from,
                               .to = to,
                               .comm = send->comm,
                               .tag = send->tag,
                               .arrived = send->kind == SEND && !once_in(seed, 4),
                               .eager = send->kind == EAGER_SEND};
}

static void make_operation(struct model *model, uint64_t *seed, int rank, bool waited)
{
    struct model_rank *row = &model->rank[rank];
    struct model_operation *op = &row->operations[row->operation_count++];
    *op = (struct model_operation){
        .kind = once_in(seed, 3) ? once_in(seed, 4) ? EAGER_SEND : SEND : RECEIVE,
        .comm = once_in(seed, 4),
        .tag = below(seed, TAGS),
        .waited = waited,
        .complete = once_in(seed, 20),
        .message = -1,
    };
    if (op->kind == RECEIVE) {
        op->peer = once_in(seed, 5) ? ANY : below(seed, model->ranks);
        if (once_in(seed, 6))
            op->tag = ANY;
    } else if (op->complete) {
        op->peer = (rank + 1) % model->ranks;
    } else {
        make_message(model, seed, rank, op);
    }
}

/* What a rank has open in the window, and whether it waits there. */
static void make_window(struct model *model, uint64_t *seed, int rank)
{
    struct model_rank *row = &model->rank[rank];
    unsigned others = ((1u << model->ranks) - 1) & ~(1u << rank);
    if (row->state == BLOCKED && once_in(seed, 2))
        row->window = (enum model_window_wait)below(seed, WINDOW_FENCE);
    if (once_in(seed, 3))
        row->holds[below(seed, model->ranks)] = once_in(seed, 2) ? MPIQ_LOCK_SHARED : MPIQ_LOCK_EXCLUSIVE;
    if (once_in(seed, 2) || row->window == WINDOW_WAIT)
        row->posted = others & (unsigned)model_random(seed);
    if (once_in(seed, 2) || row->window == WINDOW_START)
        row->started = others & (unsigned)model_random(seed);
    row->lock_target = below(seed, model->ranks);
    row->exclusive = once_in(seed, 2);
    if ((row->window == WINDOW_WAIT && !row->posted) || (row->window == WINDOW_START && !row->started))
        row->window = WINDOW_LOCK;
}

static void make_rank(struct model *model, uint64_t *seed, int rank)
{
    struct model_rank *row = &model->rank[rank];
    row->state = once_in(seed, 5) ? (enum model_state)below(seed, STATES) : BLOCKED;
    row->all = once_in(seed, 2);
    row->entered = below(seed, 3);
    if (row->state == BLOCKED && once_in(seed, 3))
        row->helper = (enum model_helper)below(seed, HELPERS);
    if (model->windows)
        make_window(model, seed, rank);
    if (row->window != WINDOW_NO_WAIT)
        return;
    if (row->state == BLOCKED && once_in(seed, 4)) {
        row->barrier = ++row->entered;
        row->fence = model->windows && once_in(seed, 2);
        row->from = once_in(seed, 3) ? ANY : below(seed, model->ranks);
        return;
    }
    int count = row->state == BLOCKED ? 1 + below(seed, 2) : 0;
    for (int i = 0; i < count; i++)
        make_operation(model, seed, rank, true);
    if (row->state != GONE && once_in(seed, 4)) /* of one who has ended nothing can be read */
        make_operation(model, seed, rank, false);
}

/* A message of which nothing is left at its sender: it lies at its receiver, or is on its way. */
static void make_eager(struct model *model, uint64_t *seed)
{
    int from = below(seed, model->ranks);
    int to = below(seed, model->ranks);
    if (model->message_count == MOST_MESSAGES)
        return;
    model->messages[model->message_count++] = (struct model_message){.from = from,
                                                                     .to = to,
                                                                     .comm = once_in(seed, 4),
                                                                     .tag = below(seed, TAGS),
                                                                     .arrived = !once_in(seed, 4),
                                                                     .eager = true};
}

void model_make(struct model *model, uint64_t seed)
{
    memset(model, 0, sizeof *model);
    model->ranks = 2 + below(&seed, MOST_RANKS - 1);
    model->windows = once_in(&seed, 2);
    int eager = below(&seed, 3);
    for (int i = 0; i < eager; i++)
        make_eager(model, &seed);
    for (int rank = 0; rank < model->ranks; rank++)
        make_rank(model, &seed, rank);
    for (int i = 0; i < model->message_count; i++) {
        if (model->rank[model->messages[i].from].state == GONE) /* what it sent has come in long since */
            model->messages[i].arrived = true;
    }
    /* What is sent later on a channel does not arrive before what was sent earlier. */
    for (int i = 0; i < model->message_count; i++) {
        for (int j = i + 1; j < model->message_count; j++) {
            const struct model_message *a = &model->messages[i];
            struct model_message *b = &model->messages[j];
            if (a->from == b->from && a->to == b->to && a->comm == b->comm && !a->arrived)
                b->arrived = false;
        }
    }
}

static bool fits(const struct model_operation *receive, const struct model_message *message, int rank)
{
    return message->to == rank && message->comm == receive->comm &&
           (receive->peer == ANY || receive->peer == message->from) &&
           (receive->tag == ANY || receive->tag == message->tag);
}

/* For each message whether a posted receive takes it, and for each receive whether it gets one.  First come
   those that have arrived, by sender, then those under way, by sender. */
static void match(const struct model *model, bool taken[MOST_MESSAGES],
                  bool gets[MOST_RANKS][MOST_OPERATIONS])
{
    memset(taken, 0, MOST_MESSAGES * sizeof *taken);
    memset(gets, 0, MOST_RANKS * sizeof *gets);
    for (int rank = 0; rank < model->ranks; rank++) {
        for (int i = 0; i < model->rank[rank].operation_count; i++) {
            const struct model_operation *receive = &model->rank[rank].operations[i];
            if (receive->kind != RECEIVE || receive->complete || model->rank[rank].state == UNREAD)
                continue;
            for (int pass = 0; pass < 2 && !gets[rank][i]; pass++) {
                for (int from = 0; from < model->ranks && !gets[rank][i]; from++) {
                    for (int j = 0; j < model->message_count && !gets[rank][i]; j++) {
                        const struct model_message *message = &model->messages[j];
                        if (message->from != from || message->arrived != (pass == 0) || taken[j] ||
                            !fits(receive, message, rank))
                            continue;
                        taken[j] = gets[rank][i] = true;
                    }
                }
            }
        }
    }
}

/* A message from a rank is on its way to another one on that communicator. */
static bool in_transit(const struct model *model, int from, int to, int comm)
{
    for (int i = 0; i < model->message_count; i++) {
        const struct model_message *message = &model->messages[i];
        if (message->from == from && message->to == to && message->comm == comm && !message->arrived)
            return true;
    }
    return false;
}

static bool may_come(const struct model *model, const bool *may, int rank,
                     const struct model_operation *receive)
{
    for (int from = 0; from < model->ranks; from++) {
        if (receive->peer != ANY && receive->peer != from)
            continue;
        if (may[from] || in_transit(model, from, rank, receive->comm))
            return true;
    }
    return false;
}

static bool may_complete(const struct model *model, const bool *may, const bool *taken,
                         bool gets[MOST_RANKS][MOST_OPERATIONS], int rank, int index)
{
    const struct model_operation *op = &model->rank[rank].operations[index];
    if (op->kind == RECEIVE)
        return gets[rank][index] || may_come(model, may, rank, op);
    const struct model_message *message = &model->messages[op->message];
    enum model_state peer = model->rank[op->peer].state;
    if (peer == GONE)
        return false;
    if (op->kind == EAGER_SEND || !message->arrived || taken[op->message])
        return true; /* taken in, or to be taken in by one who is in MPI or may come there */
    return may[op->peer];
}

static bool may_leave(const struct model *model, const bool *may, int rank);

static bool may_end_fence(const struct model *model, const bool *may, int rank)
{
    int from = model->rank[rank].from;
    return from == ANY || may[from] || in_transit(model, from, rank, 0);
}

/* Who is in an earlier barrier has to come out of it before it enters another one, whatever other threads it
   has.  Of a fence the standard does not say how long it lasts. */
static bool may_enter(const struct model *model, const bool *may, int rank)
{
    const struct model_rank *row = &model->rank[rank];
    bool inside = row->state == BLOCKED && row->barrier && !row->fence;
    return inside ? may_leave(model, may, rank) : may[rank];
}

static bool may_leave(const struct model *model, const bool *may, int rank)
{
    for (int other = 0; other < model->ranks; other++) {
        const struct model_rank *row = &model->rank[other];
        if (row->fence &&
            row->barrier == model->rank[rank].barrier) /* its call of that number is another one */
            return false;
        if (row->state == UNREAD || row->entered >= model->rank[rank].barrier)
            continue;
        if (!may_enter(model, may, other))
            return false;
    }
    return true;
}

static bool excludes(int held, bool exclusive)
{
    return held == MPIQ_LOCK_EXCLUSIVE || (held == MPIQ_LOCK_SHARED && exclusive);
}

/* Whoever holds a lock that excludes the one that is asked for has to release it.  Of the one on a rank's own
   memory it need be but one of them: others may have asked for it and gone on.  What comes of one who asks
   for what it has nobody knows. */
static bool may_lock(const struct model *model, const bool *may, int rank)
{
    const struct model_rank *row = &model->rank[rank];
    if (excludes(row->holds[row->lock_target], row->exclusive))
        return true;
    int holders = 0;
    int stuck = 0;
    for (int other = 0; other < model->ranks; other++) {
        bool known = model->rank[other].state != UNREAD;
        if (!known || !excludes(model->rank[other].holds[row->lock_target], row->exclusive))
            continue;
        holders++;
        stuck += !may[other];
    }
    return row->lock_target == rank ? holders == 0 || stuck < holders : stuck == 0;
}

/* All of the group have to post the window. */
static bool may_start(const struct model *model, const bool *may, int rank)
{
    for (int target = 0; target < model->ranks; target++) {
        const struct model_rank *other = &model->rank[target];
        bool awaited = model->rank[rank].started >> target & 1 && other->state != UNREAD;
        if (awaited && !(other->posted >> rank & 1) && !may[target])
            return false;
    }
    return true;
}

/* Somebody of the group has to complete; an access that is open may be the next one. */
static bool may_end_exposure(const struct model *model, const bool *may, int rank)
{
    bool any = false;
    for (int origin = 0; origin < model->ranks; origin++) {
        if (model->rank[rank].posted >> origin & 1)
            any = any || model->rank[origin].state == UNREAD || may[origin];
    }
    return any;
}

static bool may_go_on(const struct model *model, const bool *may, const bool *taken,
                      bool gets[MOST_RANKS][MOST_OPERATIONS], int rank)
{
    const struct model_rank *row = &model->rank[rank];
    if (row->state != BLOCKED)
        return row->state != GONE;
    if (row->window == WINDOW_LOCK)
        return may_lock(model, may, rank);
    if (row->window == WINDOW_START)
        return may_start(model, may, rank);
    if (row->window == WINDOW_WAIT)
        return may_end_exposure(model, may, rank);
    if (row->fence)
        return may_end_fence(model, may, rank);
    if (row->barrier)
        return may_leave(model, may, rank);
    int waited = 0;
    int complete = 0;
    int possible = 0;
    for (int i = 0; i < row->operation_count; i++) {
        if (!row->operations[i].waited)
            continue;
        waited++;
        complete += row->operations[i].complete;
        possible += row->operations[i].complete || may_complete(model, may, taken, gets, rank, i);
    }
    return row->all || waited == complete ? possible == waited : possible > 0;
}

void model_reference(const struct model *model, bool stuck[MOST_RANKS])
{
    bool may[MOST_RANKS] = {0};
    bool taken[MOST_MESSAGES];
    bool gets[MOST_RANKS][MOST_OPERATIONS];
    match(model, taken, gets);
    for (bool changed = true; changed;) {
        changed = false;
        for (int rank = 0; rank < model->ranks; rank++) {
            bool acts = model->rank[rank].helper >= HELPER_TIMED;
            if (!may[rank] && (acts || may_go_on(model, may, taken, gets, rank)))
                changed = may[rank] = true;
        }
    }
    for (int rank = 0; rank < model->ranks; rank++)
        stuck[rank] = model->rank[rank].state == BLOCKED && !may_go_on(model, may, taken, gets, rank);
}

static void build_operation(struct job_builder *job, const struct model *model, int rank, int comm,
                            const struct model_operation *op)
{
    uint64_t request = 0;
    enum mpiq_operation_kind kind = op->kind == RECEIVE ? MPIQ_OPERATION_RECEIVE : MPIQ_OPERATION_SEND;
    if (op->waited)
        request = op->kind == RECEIVE ? job_wait_receive(job, rank, comm, op->peer, op->tag)
                                      : job_wait_send(job, rank, comm, op->peer, op->tag, 100000);
    else
        job_operation(job, rank, comm, kind, op->peer, op->tag, 100);
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_operation *rows[2] = {&state->operations[state->operation_count - 1], NULL};
        if (op->waited) {
            struct mpiq_wait *wait = &state->threads[0].waits[0];
            rows[1] = &wait->operations[wait->operation_count - 1];
        }
        for (int i = 0; i < 2 && rows[i]; i++) {
            rows[i]->eager = op->kind == EAGER_SEND;
            rows[i]->status = op->complete ? MPIQ_STATUS_COMPLETE : MPIQ_STATUS_PENDING;
        }
    }
    (void)request;
    (void)model;
}

static void build_helper(struct job_builder *job, int rank, enum model_helper helper)
{
    static const struct {
        enum mpiq_sleep sleep;
        const char *function;
    } sleeps[HELPERS] = {
        [HELPER_FUTEX] = {MPIQ_SLEEP_PRIVATE_FUTEX, "pool_wait"},
        [HELPER_JOIN] = {MPIQ_SLEEP_OTHER, "pthread_join"},
        [HELPER_ASSUMED] = {MPIQ_SLEEP_UNKNOWN, "pthread_cond_wait"},
        [HELPER_LIBRARY] = {MPIQ_SLEEP_OTHER, NULL},
        [HELPER_TIMED] = {MPIQ_SLEEP_TIMED_FUTEX, "pthread_cond_wait"},
        [HELPER_TIMED_JOIN] = {MPIQ_SLEEP_TIMED_FUTEX, "pthread_join"},
        [HELPER_TIMER] = {MPIQ_SLEEP_OTHER, NULL},
        [HELPER_UNKNOWN] = {MPIQ_SLEEP_UNKNOWN, "pool_wait"},
    };
    if (helper == HELPER_NONE)
        return;
    job_thread(job, rank, 3);
    if (helper != HELPER_COMPUTES)
        job_sleeps(job, rank, sleeps[helper].sleep, sleeps[helper].function);
    bool alone = helper == HELPER_LIBRARY || helper == HELPER_TIMER;
    for (int look = 0; alone && look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_thread *thread = &state->threads[state->thread_count - 1];
        thread->user_frame = -1;
        thread->frames[0] = (struct mpiq_frame){
            .pc = 78,
            .function = mpiq_rank_state_intern(state, "wait"),
            .object = mpiq_rank_state_intern(state, helper == HELPER_LIBRARY ? "/usr/lib/libopen-pal.so.40"
                                                                             : "/usr/lib/libc.so.6"),
        };
    }
}

static void build_window(struct job_builder *job, const struct model *model, int rank, int window)
{
    const struct model_rank *row = &model->rank[rank];
    for (int other = 0; other < model->ranks; other++) {
        if (row->holds[other] != MPIQ_LOCK_NONE)
            job_lock(job, rank, window, other, (enum mpiq_lock_type)row->holds[other], true);
        if (row->posted >> other & 1)
            job_post(job, rank, window, other);
        if (row->started >> other & 1)
            job_start(job, rank, window, other);
    }
    enum mpiq_lock_type type = row->exclusive ? MPIQ_LOCK_EXCLUSIVE : MPIQ_LOCK_SHARED;
    if (row->window == WINDOW_LOCK)
        job_lock(job, rank, window, row->lock_target, type, false);
    if (row->window == WINDOW_LOCK)
        job_wait_window(job, rank, "MPI_Win_lock", MPIQ_WAIT_LOCK, window, row->lock_target, type);
    else if (row->window == WINDOW_START)
        job_wait_window(job, rank, "MPI_Win_start", MPIQ_WAIT_START, window, ANY, MPIQ_LOCK_NONE);
    else if (row->window == WINDOW_WAIT)
        job_wait_window(job, rank, "MPI_Win_wait", MPIQ_WAIT_WAIT, window, ANY, MPIQ_LOCK_NONE);
}

/* The barrier as a fence: a wait of its own kind, in a collective of all. */
static void build_fence(struct job_builder *job, int rank, int number, int from, int window)
{
    job_collective(job, rank, WORLD, "MPI_Win_fence", number, from);
    for (int look = 0; look < 2; look++) {
        struct mpiq_wait *wait = &job->states[look][rank]->threads[0].waits[0];
        wait->kind = MPIQ_WAIT_FENCE;
        wait->window = window;
    }
}

static void build_rank(struct job_builder *job, const struct model *model, int rank, int copy, int window)
{
    const struct model_rank *row = &model->rank[rank];
    switch (row->state) {
    case ASLEEP:
        job_state(job, rank, 'S');
        break;
    case STOPPED:
        job_state(job, rank, 'T');
        break;
    case GONE:
        job_state(job, rank, 'Z');
        break;
    case POLLING:
        job_polls(job, rank);
        break;
    case UNREAD:
        job->unread[rank] = true;
        break;
    case BLOCKED:
    case COMPUTING:
    case STATES:
        break;
    }
    for (int i = 1; i <= row->entered - (row->barrier > 0); i++)
        job_called(job, rank, WORLD, "MPI_Barrier", i);
    if (window >= 0)
        build_window(job, model, rank, window);
    if (row->barrier && row->fence)
        build_fence(job, rank, row->barrier, row->from, window);
    else if (row->barrier)
        job_collective(job, rank, WORLD, "MPI_Barrier", row->barrier, ANY);
    if (row->barrier || row->window != WINDOW_NO_WAIT)
        return;
    bool waits = row->state == BLOCKED;
    if (waits)
        job_wait(job, rank, row->all ? "MPI_Waitall" : "MPI_Waitany",
                 row->all ? MPIQ_WAIT_ALL : MPIQ_WAIT_ANY);
    for (int i = 0; i < row->operation_count; i++)
        build_operation(job, model, rank, row->operations[i].comm ? copy : WORLD, &row->operations[i]);
}

void model_build(const struct model *model, struct job_builder *job)
{
    int members[MOST_RANKS];
    for (int rank = 0; rank < model->ranks; rank++)
        members[rank] = rank;
    job_init(job, model->ranks);
    int copy = job_comm(job, "copy", 3, members, model->ranks);
    int window = model->windows ? job_window(job, "field", WORLD) : -1;
    for (int rank = 0; rank < model->ranks; rank++) {
        build_rank(job, model, rank, copy, window);
        build_helper(job, rank, model->rank[rank].helper);
    }
    for (int from = 0; from < model->ranks; from++) {
        for (int i = 0; i < model->message_count; i++) {
            const struct model_message *message = &model->messages[i];
            if (message->from != from || !message->arrived)
                continue;
            job_unexpected(job, message->to, message->comm ? copy : WORLD, from, message->tag, 100);
            for (int look = 0; look < 2; look++) {
                struct mpiq_rank_state *state = job->states[look][message->to];
                state->operations[state->operation_count - 1].eager = message->eager;
            }
        }
        for (int to = 0; to < model->ranks; to++) {
            for (int comm = 0; comm < COMMS; comm++) {
                int sent = 0;
                int arrived = 0;
                for (int i = 0; i < model->message_count; i++) {
                    const struct model_message *message = &model->messages[i];
                    bool here = message->from == from && message->to == to && message->comm == comm;
                    sent += here;
                    arrived += here && message->arrived;
                }
                if (sent > 0)
                    job_channel(job, from, to, comm ? copy : WORLD, sent, arrived);
            }
        }
    }
}

void model_print(const struct model *model)
{
    static const char *const states[] = {"blocked", "computing", "asleep", "stopped",
                                         "polling", "gone",      "unread"};
    static const char *const kinds[] = {"receive", "send", "eager"};
    for (int rank = 0; rank < model->ranks; rank++) {
        const struct model_rank *row = &model->rank[rank];
        printf("rank %d %s %s barrier %d%s entered %d helper %d window %d lock %d%s posted %x started %x\n",
               rank, states[row->state], row->all ? "all" : "any", row->barrier,
               row->fence ? row->from == ANY ? " (fence)" : " (fence, waits)" : "", row->entered,
               (int)row->helper, (int)row->window, row->lock_target, row->exclusive ? " exclusive" : "",
               row->posted, row->started);
        if (row->fence)
            printf("    from %d\n", row->from);
        for (int i = 0; i < model->ranks; i++)
            if (row->holds[i])
                printf("    holds %d at %d\n", row->holds[i], i);
        for (int i = 0; i < row->operation_count; i++) {
            const struct model_operation *op = &row->operations[i];
            printf("    %s comm %d peer %d tag %d%s%s message %d\n", kinds[op->kind], op->comm, op->peer,
                   op->tag, op->waited ? " waited" : "", op->complete ? " complete" : "", op->message);
        }
    }
    for (int i = 0; i < model->message_count; i++) {
        const struct model_message *m = &model->messages[i];
        printf("message %d: %d to %d comm %d tag %d%s%s\n", i, m->from, m->to, m->comm, m->tag,
               m->arrived ? " arrived" : "", m->eager ? " eager" : "");
    }
}
