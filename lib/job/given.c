/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/given.h"

#include <string.h>
#include <strings.h>

#include "job/collective.h"

static const struct mpiq_job_given *find(const struct mpiq_job_state *job, uint32_t thread, uint32_t request,
                                         enum mpiq_given_kind kind)
{
    const struct mpiq_job_thread *row = &job->threads[thread];
    for (uint32_t i = 0; i < row->given_count; i++) {
        const struct mpiq_job_given *given = &job->given[row->first_given + i];
        if (given->kind == kind && given->request == request)
            return given;
    }
    return NULL;
}

static const struct mpiq_job_given *first_of(const struct mpiq_job_state *job, uint32_t thread,
                                             uint32_t request, enum mpiq_given_kind kind,
                                             enum mpiq_given_kind other)
{
    const struct mpiq_job_given *given = find(job, thread, request, kind);
    return given ? given : find(job, thread, request, other);
}

/* The process of a rank in the communicator that the call was given; MPIQ_NONE: its members are not known. */
static uint32_t process_of(const struct mpiq_analysis *analysis, uint32_t thread,
                           const struct mpiq_job_given *comm, int64_t rank)
{
    const struct mpiq_job_state *job = analysis->job;
    const char *name = comm ? mpiq_job_string(job, comm->name) : NULL;
    uint32_t own = mpiq_thread_process(analysis->graph, thread);
    if (!comm || rank < 0 || rank > INT32_MAX)
        return MPIQ_NONE;
    if (comm->member != MPIQ_NONE) {
        const struct mpiq_job_member *member = &job->members[comm->member];
        bool remote = job->communicators[member->comm].flags & MPIQ_COMM_INTER;
        return mpiq_job_local_process(job, member, remote, (int32_t)rank);
    }
    if (name && strcmp(name, "MPI_COMM_SELF") == 0)
        return rank == 0 ? own : MPIQ_NONE;
    struct mpiq_world_rank world = mpiq_job_world_rank(job, own);
    if (!name || strcmp(name, "MPI_COMM_WORLD") != 0 || rank >= job->worlds[world.world].size)
        return MPIQ_NONE;
    return mpiq_job_process(job, world.world, (uint32_t)rank);
}

/* The communicator, where the library's list has it and it has no name of the standard's; MPIQ_NONE. */
static uint32_t listed(const struct mpiq_job_state *job, uint32_t thread, uint32_t request)
{
    const struct mpiq_job_given *comm = find(job, thread, request, MPIQ_GIVEN_COMM);
    return comm && comm->name == 0 && comm->member != MPIQ_NONE ? job->members[comm->member].comm : MPIQ_NONE;
}

/* A message that the call sends or receives; false: the call has none such. */
static bool message(struct mpiq_analysis *analysis, uint32_t thread, uint32_t request, const char *call,
                    bool send, struct mpiq_wait_part *part, struct mpiq_given_wait *more)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_given *peer =
        find(job, thread, request, send ? MPIQ_GIVEN_DEST : MPIQ_GIVEN_SOURCE);
    const struct mpiq_job_given *tag =
        first_of(job, thread, request, send ? MPIQ_GIVEN_SENDTAG : MPIQ_GIVEN_RECVTAG, MPIQ_GIVEN_TAG);
    const unsigned does = mpiq_call_messages(call), receiving = MPIQ_CALL_RECEIVES | MPIQ_CALL_PROBES;
    const bool probe = (does & MPIQ_CALL_PROBES) && !mpiq_is_poll(call);
    if ((peer && peer->null) || !(does & (send ? MPIQ_CALL_SENDS : receiving)))
        return false;
    part->kind = send ? MPIQ_PART_SEND : probe ? MPIQ_PART_PROBE : MPIQ_PART_RECEIVE;
    part->any = peer && peer->any;
    part->tag_any = tag && tag->any;
    part->tag = tag && !tag->any ? (int32_t)tag->value : 0;
    more->tag_unknown = !tag;
    more->peer_unknown = !peer;
    if (peer && !peer->any)
        part->peer = process_of(analysis, thread, find(job, thread, request, MPIQ_GIVEN_COMM), peer->value);
    if (part->peer != MPIQ_NONE)
        part->ranks = mpiq_one_rank(analysis, part->peer);
    if (peer && !peer->any && part->peer == MPIQ_NONE)
        more->local = (int32_t)peer->value;
    return true;
}

static struct mpiq_given_wait *make_more(struct mpiq_analysis *analysis, uint32_t thread, uint32_t request)
{
    const struct mpiq_job_state *job = analysis->job;
    struct mpiq_given_wait *more = mpiq_arena_alloc(analysis->arena, sizeof *more);
    if (!more) {
        analysis->failed = true;
        return NULL;
    }
    const struct mpiq_job_given *comm = find(job, thread, request, MPIQ_GIVEN_COMM);
    const struct mpiq_job_given *op = find(job, thread, request, MPIQ_GIVEN_OP);
    const struct mpiq_job_given *count =
        first_of(job, thread, request, MPIQ_GIVEN_COUNT, MPIQ_GIVEN_SENDCOUNT);
    const struct mpiq_job_given *type =
        first_of(job, thread, request, MPIQ_GIVEN_DATATYPE, MPIQ_GIVEN_SENDTYPE);
    *more = (struct mpiq_given_wait){
        .other_comm = comm && comm->name == 0 && comm->member == MPIQ_NONE,
        .local = -1,
        .count = count ? count->value : -1,
        .type = type ? mpiq_job_string(job, type->name) : NULL,
        .op = op ? mpiq_job_string(job, op->name) : NULL,
        .comm = comm ? mpiq_job_string(job, comm->name) : NULL,
    };
    return more;
}

/* A part to be filled in; NULL: there is no room, or no memory. */
static struct mpiq_wait_part *new_part(struct mpiq_analysis *analysis, uint32_t thread, uint32_t request,
                                       struct mpiq_given_parts *to, struct mpiq_given_wait **ret_more)
{
    if (to->count == MPIQ_GIVEN_PARTS || !(*ret_more = make_more(analysis, thread, request)))
        return NULL;
    struct mpiq_wait_part *part = &to->parts[to->count];
    *part = (struct mpiq_wait_part){.peer = MPIQ_NONE,
                                    .bytes = -1,
                                    .comm = listed(analysis->job, thread, request),
                                    .window = MPIQ_NONE,
                                    .operation = MPIQ_NONE,
                                    .started = MPIQ_NONE,
                                    .given = *ret_more};
    return part;
}

/* Adds what a call waits for, or the request that it has made. */
static void add_call(struct mpiq_analysis *analysis, uint32_t thread, uint32_t request, const char *call,
                     struct mpiq_given_parts *to)
{
    const struct mpiq_job_state *job = analysis->job;
    const uint32_t before = to->count;
    struct mpiq_given_wait *more;
    struct mpiq_wait_part *part;
    for (int send = 1; send >= 0; send--) {
        part = new_part(analysis, thread, request, to, &more);
        if (part && message(analysis, thread, request, call, send, part, more))
            to->count++;
    }
    const struct mpiq_job_given *target =
        request == 0 && mpiq_call_waits_in_window(call) ? find(job, thread, 0, MPIQ_GIVEN_RANK) : NULL;
    if (target && (part = new_part(analysis, thread, 0, to, &more))) {
        part->kind = MPIQ_PART_WINDOW;
        more->local = (int32_t)target->value;
        more->tag_unknown = true;
        to->count++;
    }
    int collective = mpiq_collective_class(call);
    if (to->count > before || collective < 0 || (request == 0 && mpiq_collective_kind(collective) != 'B'))
        return;
    part = new_part(analysis, thread, request, to, &more);
    if (!part)
        return;
    const struct mpiq_job_given *root = find(job, thread, request, MPIQ_GIVEN_ROOT);
    part->kind = MPIQ_PART_COLLECTIVE;
    part->collective = mpiq_collective_name(collective);
    more->local = root ? (int32_t)root->value : -1;
    const struct mpiq_job_given *tag = find(job, thread, request, MPIQ_GIVEN_TAG);
    part->tag = tag ? (int32_t)tag->value : 0;
    more->tag_unknown = !tag;
    to->count++;
}

/* Adds a call that may have made some of a thread's requests; NULL: something else may have. */
static void add_maker(struct mpiq_analysis *analysis, uint32_t thread, uint32_t requests, const char *name,
                      uint32_t site, struct mpiq_given_parts *to)
{
    struct mpiq_given_wait *more;
    struct mpiq_wait_part *part = new_part(analysis, thread, 0, to, &more);
    if (!part)
        return;
    part->kind = MPIQ_PART_REQUEST;
    part->started = site;
    more->requests = requests;
    more->made_by = name;
    to->count++;
}

/* Whether it is a message to or from MPI_PROC_NULL, which is complete. */
static bool is_to_nobody(const struct mpiq_job_state *job, uint32_t thread, uint32_t request)
{
    const struct mpiq_job_given *peer = first_of(job, thread, request, MPIQ_GIVEN_SOURCE, MPIQ_GIVEN_DEST);
    return peer && peer->null;
}

/* Adds what is known of requests if it is not known what all of them are for: how many there are, and the
   calls that may have made them. */
static void add_unknown_requests(struct mpiq_analysis *analysis, uint32_t thread, uint32_t requests,
                                 struct mpiq_given_parts *to)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_thread *row = &job->threads[thread];
    for (uint32_t i = 0; i < row->given_count; i++) {
        const struct mpiq_job_given *maker = &job->given[row->first_given + i];
        const char *name = mpiq_job_string(job, maker->name);
        bool listed = maker->kind != MPIQ_GIVEN_MADE_BY;
        for (uint32_t j = 0; !listed && name && j < to->count; j++)
            listed = to->parts[j].started == maker->site && to->parts[j].given->made_by &&
                     strcmp(to->parts[j].given->made_by, name) == 0;
        if (!listed)
            add_maker(analysis, thread, requests, name, maker->site, to);
    }
    if (to->count == 0 && requests > 1)
        add_maker(analysis, thread, requests, NULL, MPIQ_NONE, to);
}

void mpiq_given_parts(struct mpiq_analysis *analysis, uint32_t thread, struct mpiq_given_parts *ret)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_thread *row = &job->threads[thread];
    const char *call = mpiq_job_string(job, row->call);
    const struct mpiq_job_given *request;
    uint32_t requests = 0;
    *ret = (struct mpiq_given_parts){.count = 0};
    if (!call || row->given_count == 0 || !row->as_given)
        return;
    add_call(analysis, thread, 0, call, ret);
    while ((request = find(job, thread, requests + 1, MPIQ_GIVEN_REQUEST))) {
        const char *made_by = mpiq_job_string(job, request->name);
        uint32_t before = ret->count;
        requests++;
        if (made_by)
            add_call(analysis, thread, requests, made_by, ret);
        ret->more += ret->count == before && !is_to_nobody(job, thread, requests);
    }
    const struct mpiq_job_given *all = find(job, thread, 0, MPIQ_GIVEN_REQUESTS);
    if (all && all->value > (int64_t)requests && all->value <= UINT32_MAX) {
        ret->more += (uint32_t)all->value - requests;
        requests = (uint32_t)all->value;
    }
    ret->any = strcmp(call, "MPI_Waitany") == 0 || strcmp(call, "MPI_Waitsome") == 0;
    ret->some = !ret->any && requests > 1;
    /* Those that are known may be complete, and it waits for the others. */
    if (ret->more > 0) {
        ret->count = ret->more = 0;
        add_unknown_requests(analysis, thread, requests, ret);
    }
}

uint32_t mpiq_given_root(const struct mpiq_analysis *analysis, uint32_t thread)
{
    const struct mpiq_job_state *job = analysis->job;
    const struct mpiq_job_given *root = find(job, thread, 0, MPIQ_GIVEN_ROOT);
    return root ? process_of(analysis, thread, find(job, thread, 0, MPIQ_GIVEN_COMM), root->value)
                : MPIQ_NONE;
}

int64_t mpiq_given_tag(const struct mpiq_job_state *job, uint32_t thread)
{
    const struct mpiq_job_given *tag = find(job, thread, 0, MPIQ_GIVEN_TAG);
    return tag && !tag->any ? tag->value : -1;
}

/* Whether two threads were given the same; but_peer: but for who the peer is. */
static bool is_alike(const struct mpiq_job_state *job, uint32_t left, uint32_t right, uint32_t request,
                     bool but_peer)
{
    static const uint8_t kinds[] = {
        MPIQ_GIVEN_TAG,     MPIQ_GIVEN_SENDTAG,  MPIQ_GIVEN_RECVTAG,   MPIQ_GIVEN_ROOT, MPIQ_GIVEN_OP,
        MPIQ_GIVEN_COMM,    MPIQ_GIVEN_COUNT,    MPIQ_GIVEN_SENDCOUNT, MPIQ_GIVEN_DEST, MPIQ_GIVEN_SOURCE,
        MPIQ_GIVEN_REQUEST, MPIQ_GIVEN_REQUESTS, MPIQ_GIVEN_MADE_BY,   MPIQ_GIVEN_RANK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct mpiq_job_given *a = find(job, left, request, kinds[i]);
        const struct mpiq_job_given *b = find(job, right, request, kinds[i]);
        bool peer = but_peer && (kinds[i] == MPIQ_GIVEN_DEST || kinds[i] == MPIQ_GIVEN_SOURCE);
        if (!a != !b)
            return false;
        if (!a)
            continue;
        /* Another communicator's handle is a number of that rank's own. */
        bool unnamed = kinds[i] == MPIQ_GIVEN_COMM && a->name == 0 && b->name == 0;
        if (unnamed && listed(job, left, request) != listed(job, right, request))
            return false;
        /* One with a name may be an address, which is another one in each process. */
        bool by_value = !peer && !unnamed && a->name == 0;
        if (a->any != b->any || a->null != b->null || a->name != b->name || a->site != b->site ||
            (by_value && a->value != b->value))
            return false;
    }
    return true;
}

/* How many requests a thread waits for, if it is not known what all of them are for; 0. */
static uint32_t unknown_requests(const struct mpiq_job_state *job, uint32_t thread)
{
    const struct mpiq_job_given *request, *all = find(job, thread, 0, MPIQ_GIVEN_REQUESTS);
    uint32_t count = 0;
    bool unknown = false;
    while ((request = find(job, thread, count + 1, MPIQ_GIVEN_REQUEST))) {
        unknown = unknown || request->name == 0;
        count++;
    }
    if (all)
        return (uint32_t)all->value;
    return unknown || count > MPIQ_GIVEN_PARTS ? count : 0;
}

bool mpiq_given_alike(const struct mpiq_job_state *job, uint32_t left, uint32_t right)
{
    if (left == MPIQ_NONE || right == MPIQ_NONE)
        return left == right;
    if (!job->threads[left].as_given && !job->threads[right].as_given)
        return true;
    uint32_t unknown = unknown_requests(job, left);
    if (unknown != unknown_requests(job, right))
        return false;
    if (unknown > 0)
        return is_alike(job, left, right, 0, false);
    /* Of several requests, each has its own peer. */
    bool several = find(job, left, 2, MPIQ_GIVEN_REQUEST);
    uint32_t request = 0;
    do {
        if (!is_alike(job, left, right, request, !several))
            return false;
        request++;
    } while (find(job, left, request, MPIQ_GIVEN_REQUEST) || find(job, right, request, MPIQ_GIVEN_REQUEST));
    return true;
}

/* What a member of a collective adds to it or takes from it, as the arguments say: those that the standard
   ignores, beside MPI_IN_PLACE, are left out. */
static void share_of(const struct mpiq_job_state *job, uint32_t thread, int collective, int32_t local_rank,
                     const struct mpiq_job_given **count, const struct mpiq_job_given **type)
{
    const char *name = mpiq_collective_name(collective);
    bool gathers = strcmp(name, "MPI_Gather") == 0;
    bool rooted = gathers || strcmp(name, "MPI_Scatter") == 0;
    const struct mpiq_job_given *root = rooted ? find(job, thread, 0, MPIQ_GIVEN_ROOT) : NULL;
    *count = find(job, thread, 0, MPIQ_GIVEN_COUNT);
    *type = find(job, thread, 0, MPIQ_GIVEN_DATATYPE);
    if (*count || *type || (rooted && !root))
        return;
    bool sent = root && gathers != (root->value == local_rank);
    *count = find(job, thread, 0, sent ? MPIQ_GIVEN_SENDCOUNT : MPIQ_GIVEN_RECVCOUNT);
    *type = find(job, thread, 0, sent ? MPIQ_GIVEN_SENDTYPE : MPIQ_GIVEN_RECVTYPE);
}

bool mpiq_given_argument(const struct mpiq_job_state *job, uint32_t thread, int collective,
                         int32_t local_rank, enum mpiq_given_kind kind, struct mpiq_given_value *ret)
{
    const struct mpiq_job_given *given, *type;
    *ret = (struct mpiq_given_value){0};
    switch (kind) {
    case MPIQ_GIVEN_ROOT:
        given = find(job, thread, 0, kind);
        ret->value = given ? given->value : 0;
        return given && mpiq_collective_has_root(collective);
    case MPIQ_GIVEN_OP:
        given = find(job, thread, 0, kind);
        ret->name = given ? given->name : 0;
        return given && mpiq_collective_has_op(collective);
    case MPIQ_GIVEN_COUNT:
        if (!mpiq_collective_has_bytes(collective))
            return false;
        share_of(job, thread, collective, local_rank, &given, &type);
        ret->value = given ? given->value : 0;
        ret->name = type ? type->name : 0;
        return given && type && type->name;
    default:
        return false;
    }
}
