/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators - each with its groups, its record of collectives, its channels and its queues. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/cleanup.h"
#include "reading.h"
#include "state/group_hash.h"

/* ---- groups ----------------------------------------------------------------------------------------- */

/* By the extension's names. */
static struct mpiq_name *fetch_names(struct mpiq_reading *reading, bool remote, uint32_t count)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    _cleanup_free_ mqs_process_name *names = mpiq_memory_checked(calloc((size_t)count + 1, sizeof *names));
    struct mpiq_name *members = mpiq_memory_checked(calloc((size_t)count + 1, sizeof *members));
    int code = names && members ? extensions->get_members(&reading->process, remote, names) : err_no_store;
    if (code != mqs_ok) {
        mpiq_reading_problem(reading, "groups", code, "a communicator's members cannot be read");
        free(members);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        members[i].job = names[i].jobid;
        members[i].rank = names[i].vpid <= INT32_MAX ? (int32_t)names[i].vpid : -1;
    }
    return members;
}

/* By ranks in our MPI_COMM_WORLD, which is all that the plain interface has. */
static struct mpiq_name *fetch_ranks(struct mpiq_reading *reading, uint32_t count)
{
    /* The DLL writes as many as it has: some room is left for one that has miscounted. */
    _cleanup_free_ int *ranks = mpiq_memory_checked(calloc((size_t)count + 1024, sizeof *ranks));
    struct mpiq_name *members = mpiq_memory_checked(calloc((size_t)count + 1, sizeof *members));
    int code = err_no_store;
    if (ranks && members)
        code = reading->dll->mqs_get_comm_group(&reading->process, ranks);
    if (code != mqs_ok) {
        mpiq_reading_problem(reading, "groups", code, "a communicator's members cannot be read");
        free(members);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        members[i] =
            (struct mpiq_name){.job = reading->state->name.job, .rank = ranks[i] >= 0 ? ranks[i] : -1};
    return members;
}

/* The hash is always computed here from the members as read: one stored by the process might be that of
   another rank's group.  If the members cannot be read, seed replaces them. */
static void read_group(struct mpiq_reading *reading, bool remote, uint64_t seed, struct mpiq_group *group)
{
    mpiq_reading_phase = "reading a communicator's members";
    struct mpiq_name *members = NULL;
    if (reading->dll->extensions.get_members)
        members = fetch_names(reading, remote, group->count);
    else if (reading->dll->mqs_get_comm_group && !remote)
        members = fetch_ranks(reading, group->count);
    if (!members) {
        const struct mpiq_name stand_in[] = {
            {.job = (uint32_t)seed, .rank = -2},
            {.job = (uint32_t)(seed >> 32), .rank = reading->state->name.rank},
            {.job = reading->state->name.job, .rank = -2}};
        group->hash = mpiq_group_hash(stand_in, sizeof stand_in / sizeof *stand_in);
        return;
    }
    group->hash = mpiq_group_hash(members, group->count);
    if (mpiq_group_table_find(reading->groups, group->hash, group->count)) {
        free(members);
        return;
    }
    group->members = members;
    mpiq_group_table_add(reading->groups, group);
}

/* ---- what it remembers of collectives --------------------------------------------------------------- */

static bool has_class(const struct mpiq_dll *dll, int collective)
{
    return dll->extensions.coll_name ? dll->extensions.coll_name(collective) != NULL
                                     : collective <= mqs_comm_scatterv;
}

static void read_counts(struct mpiq_reading *reading, struct mpiq_communicator *comm)
{
    struct mpiq_dll *dll = reading->dll;
    mpiq_reading_phase = "reading a communicator's counts of collectives";
    if (!dll->mqs_get_comm_coll_state)
        return;
    for (int collective = 0; collective < MPIQ_COUNTS_MAX && has_class(dll, collective); collective++) {
        int count = 0;
        int active = 0;
        int code = dll->mqs_get_comm_coll_state(&reading->process, collective, &count, &active);
        if (code == mqs_no_information) {
            if (collective == 0) /* it keeps none at all: ask no further */
                return;
            continue;
        }
        if (code != mqs_ok) {
            mpiq_reading_problem(reading, "collectives", code, "the counts of collectives cannot be read");
            return;
        }
        int16_t ours = mpiq_dll_class(dll, collective);
        if (ours < 0 || (count == 0 && !active))
            continue;
        struct mpiq_coll_count *entry = mpiq_communicator_add_count(comm);
        if (!entry)
            return;
        entry->collective = ours;
        entry->count = (uint32_t)count;
        entry->active = active != 0;
    }
}

static void convert_call(struct mpiq_reading *reading, const mqs_collective_call *from, struct mpiq_call *to)
{
    to->number = from->number > 0 ? from->number : 0;
    to->count = from->count;
    to->bytes = from->bytes >= 0 ? from->bytes : -1;
    to->begin_ns = from->begin_ns > 0 ? from->begin_ns : 0;
    to->caller = from->caller;
    to->request = from->request;
    to->root = from->root;
    to->tid = from->tid > 0 ? from->tid : 0;
    to->collective = mpiq_dll_class(reading->dll, from->collective);
    to->done = from->done != 0;
    to->datatype = mpiq_reading_intern(reading, from->datatype_name, sizeof from->datatype_name);
    to->op = mpiq_reading_intern(reading, from->op_name, sizeof from->op_name);
}

typedef int next_call_function(mqs_process *process, mqs_collective_call *call);
typedef struct mpiq_call *add_call_function(void *owner);

static struct mpiq_call *add_recent(void *comm)
{
    return mpiq_communicator_add_call(comm);
}

static struct mpiq_call *add_outstanding(void *comm)
{
    return mpiq_communicator_add_outstanding(comm);
}

static struct mpiq_call *add_of_process(void *state)
{
    return mpiq_rank_state_add_process_call(state);
}

static void read_calls(struct mpiq_reading *reading, next_call_function *next, add_call_function *add,
                       void *owner)
{
    mqs_collective_call call;
    int code = mqs_ok;

    for (int i = 0; i < MPIQ_CALLS_MAX; i++) {
        memset(&call, 0, sizeof call);
        code = next(&reading->process, &call);
        if (code != mqs_ok)
            break;
        struct mpiq_call *entry = add(owner);
        if (!entry)
            return;
        convert_call(reading, &call, entry);
    }
    if (code == mqs_ok)
        mpiq_reading_problem(reading, "collectives", code,
                             "a list of collective calls does not come to an end");
    else if (code != mqs_end_of_list && code != mqs_no_information)
        mpiq_reading_problem(reading, "collectives", code, "a list of collective calls cannot be read");
}

static void read_communicator_calls(struct mpiq_reading *reading, int list, add_call_function *add,
                                    struct mpiq_communicator *comm)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mpiq_reading_phase = "reading a communicator's collective calls";
    if (!extensions->setup_call_iterator || !extensions->next_call)
        return;
    int code = extensions->setup_call_iterator(&reading->process, list);
    if (code == mqs_ok)
        read_calls(reading, extensions->next_call, add, comm);
    else if (code != mqs_no_information && code != mqs_end_of_list)
        mpiq_reading_problem(reading, "collectives", code,
                             "a communicator's collective calls cannot be read");
}

void mpiq_read_process_calls(struct mpiq_reading *reading)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mpiq_reading_phase = "reading the process's collective calls";
    if (!extensions->setup_process_call_iterator || !extensions->next_process_call)
        return;
    int code = extensions->setup_process_call_iterator(&reading->process);
    if (code == mqs_ok)
        read_calls(reading, extensions->next_process_call, add_of_process, reading->state);
    else if (code != mqs_no_information && code != mqs_end_of_list)
        mpiq_reading_problem(reading, "collectives", code, "the process's collective calls cannot be read");
}

/* Whose data its neighbourhood collectives need. */
static void read_sources(struct mpiq_reading *reading, struct mpiq_communicator *comm)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    int count = 0;

    mpiq_reading_phase = "reading whom a communicator's collectives need";
    if (!extensions->get_sources || extensions->get_sources(&reading->process, 0, NULL, &count) != mqs_ok ||
        count <= 0)
        return;
    if (count > MPIQ_MEMBERS_MAX)
        count = MPIQ_MEMBERS_MAX;
    mqs_source *sources _cleanup_free_ = mpiq_memory_checked(calloc((size_t)count, sizeof *sources));
    int found = 0;
    if (!sources || extensions->get_sources(&reading->process, count, sources, &found) != mqs_ok) {
        mpiq_reading_problem(reading, "collectives", mqs_no_information,
                             "whom a communicator's collectives need cannot be read");
        return;
    }
    for (int i = 0; i < found && i < count; i++) {
        if (sources[i].number <= 0 || sources[i].local < 0 || (uint32_t)sources[i].local >= comm->local.count)
            continue;
        struct mpiq_call_source *source = mpiq_communicator_add_source(comm);
        if (!source)
            return;
        *source = (struct mpiq_call_source){.number = sources[i].number, .local = sources[i].local};
    }
}

/* Its requests of persistent collectives. */
static void read_persistent(struct mpiq_reading *reading, struct mpiq_communicator *comm)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    int count = 0;

    mpiq_reading_phase = "reading a communicator's persistent collectives";
    if (!extensions->get_persistent ||
        extensions->get_persistent(&reading->process, 0, NULL, &count) != mqs_ok || count <= 0)
        return;
    if (count > MPIQ_CALLS_MAX)
        count = MPIQ_CALLS_MAX;
    mqs_persistent *requests _cleanup_free_ = mpiq_memory_checked(calloc((size_t)count, sizeof *requests));
    int found = 0;
    if (!requests || extensions->get_persistent(&reading->process, count, requests, &found) != mqs_ok) {
        mpiq_reading_problem(reading, "collectives", mqs_no_information,
                             "a communicator's persistent collectives cannot be read");
        return;
    }
    for (int i = 0; i < found && i < count; i++) {
        struct mpiq_persistent *request = mpiq_communicator_add_persistent(comm);
        if (!request)
            return;
        request->number = requests[i].number > 0 ? requests[i].number : 0;
        request->starts = requests[i].starts > 0 ? requests[i].starts : 0;
        request->request = requests[i].request;
        request->caller = requests[i].caller;
    }
}

/* ---- channels --------------------------------------------------------------------------------------- */

/* Counts of one direction, where the DLL has them. */
static bool add_tags(struct mpiq_channel *channel, const mqs_tag_count *from, int count, bool cells,
                     bool received)
{
    for (int i = 0; i < count; i++) {
        if (from[i].messages == 0 && from[i].tags == 0 && from[i].hashes == 0)
            continue;
        struct mpiq_tag_count *to = mpiq_channel_add_tag(channel);
        if (!to)
            return false;
        *to = (struct mpiq_tag_count){from[i].messages, from[i].bytes,  from[i].tags,
                                      from[i].hashes,   cells ? i : -1, received};
    }
    return true;
}

static bool read_counts_of_channel(struct mpiq_reading *reading, struct mpiq_channel *channel)
{
    mqs_channel_counts counts;
    if (!reading->dll->extensions.get_channel_counts)
        return true;
    channel->bytes_known = true;
    for (int received = 0; received < 2; received++) {
        memset(&counts, 0, sizeof counts);
        int code = reading->dll->extensions.get_channel_counts(&reading->process, received, &counts);
        if (code != mqs_ok) {
            channel->unclear = true;
            mpiq_reading_problem(reading, "channels", code,
                                 "how many messages were sent by tag cannot be read");
            return false;
        }
        int tags = counts.tag_count >= 0 && counts.tag_count <= MQS_CHANNEL_TAGS ? counts.tag_count : 0;
        int cells = counts.cell_count == MQS_CHANNEL_CELLS ? MQS_CHANNEL_CELLS : 0;
        channel->counted = true;
        channel->unclear |= counts.unclear != 0;
        channel->bytes_known &= counts.bytes_known != 0;
        if (!add_tags(channel, counts.tags, tags, false, received) ||
            !add_tags(channel, counts.cells, cells, true, received))
            return false;
    }
    return true;
}

static void read_channels(struct mpiq_reading *reading, struct mpiq_communicator *comm)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    uint32_t peers = mpiq_communicator_peers(comm);

    mpiq_reading_phase = "reading a communicator's channels";
    if (!extensions->setup_channel_iterator || !extensions->next_channel)
        return;
    int code = extensions->setup_channel_iterator(&reading->process);
    for (int i = 0; code == mqs_ok && i < MPIQ_CHANNELS_MAX; i++) {
        mqs_channel channel = {.peer_local = -1};
        code = extensions->next_channel(&reading->process, &channel);
        if (code != mqs_ok || channel.peer_local < 0 || (uint32_t)channel.peer_local >= peers)
            continue;
        struct mpiq_channel *entry = mpiq_communicator_add_channel(comm);
        if (!entry)
            return;
        *entry = (struct mpiq_channel){
            .peer_local = channel.peer_local, .sent = channel.sent, .expected = channel.expected};
        if (!read_counts_of_channel(reading, entry))
            return;
    }
    if (code != mqs_end_of_list && code != mqs_no_information)
        mpiq_reading_problem(reading, "channels", code,
                             "the sequence numbers of a communicator cannot be read");
}

/* ---- one communicator, and all of them -------------------------------------------------------------- */

/* Our own names for the DLL's bits, so that our values never depend on theirs. */
static uint32_t flags_of(int theirs)
{
    static const struct {
        int theirs;
        uint32_t ours;
    } flags[] = {
        {mqs_comm_flag_inter, MPIQ_COMM_INTER}, {mqs_comm_flag_internal, MPIQ_COMM_INTERNAL},
        {mqs_comm_flag_freed, MPIQ_COMM_FREED}, {mqs_comm_flag_self, MPIQ_COMM_SELF},
        {mqs_comm_flag_world, MPIQ_COMM_WORLD}, {mqs_comm_flag_topology, MPIQ_COMM_TOPOLOGY},
    };
    uint32_t ours = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        ours |= theirs & flags[i].theirs ? flags[i].ours : 0;
    return ours;
}

/* What the plain interface says with the name alone. */
static void guess_details(struct mpiq_communicator *comm, const mqs_communicator *plain)
{
    comm->context[1] = plain->unique_id;
    if (strcmp(comm->name, "MPI_COMM_WORLD") == 0)
        comm->flags |= MPIQ_COMM_WORLD;
    else if (strcmp(comm->name, "MPI_COMM_SELF") == 0)
        comm->flags |= MPIQ_COMM_SELF;
}

static void read_origin(struct mpiq_reading *reading, struct mpiq_communicator *comm)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mqs_communicator_origin origin = {.made_by = -1};
    mpiq_reading_phase = "reading how a communicator was made";
    if (!extensions->get_communicator_origin ||
        extensions->get_communicator_origin(&reading->process, &origin) != mqs_ok)
        return;
    mpiq_dll_copy_class(reading->dll, origin.made_by, comm->made_by, sizeof comm->made_by);
    comm->made_caller = origin.caller;
}

static void read_details(struct mpiq_reading *reading, const mqs_communicator *plain,
                         struct mpiq_communicator *comm)
{
    mqs_communicator_details details;
    memset(&details, 0, sizeof details);
    details.ordered = details.nonblocking = -1;
    int code = mqs_no_information;
    mpiq_reading_phase = "reading a communicator's details";
    if (reading->dll->extensions.get_communicator_details)
        code = reading->dll->extensions.get_communicator_details(&reading->process, &details);
    if (code != mqs_ok) {
        if (reading->dll->extensions.get_communicator_details)
            mpiq_reading_problem(reading, "communicators", code, "a communicator's details cannot be read");
        guess_details(comm, plain);
        read_group(reading, false, plain->unique_id, &comm->local);
        return;
    }
    comm->handle = details.handle;
    comm->context[0] = details.context[0];
    comm->context[1] = details.context[1];
    comm->flags = flags_of(details.flags);
    comm->parent = details.parent;
    comm->ordered = details.ordered >= 0 ? details.ordered : -1;
    comm->nonblocking = details.nonblocking >= 0 ? details.nonblocking : -1;
    read_origin(reading, comm);
    read_group(reading, false, details.handle, &comm->local);
    if (details.remote_size > 0 && details.remote_size <= MPIQ_MEMBERS_MAX) {
        comm->remote.count = (uint32_t)details.remote_size;
        read_group(reading, true, details.handle + 1, &comm->remote);
    }
}

static void read_communicator(struct mpiq_reading *reading)
{
    struct mpiq_rank_state *state = reading->state;
    mqs_communicator plain;

    memset(&plain, 0, sizeof plain);
    mpiq_reading_phase = "reading a communicator";
    int code = reading->dll->mqs_get_communicator(&reading->process, &plain);
    if (code != mqs_ok) {
        mpiq_reading_problem(reading, "communicators", code, "a communicator cannot be read");
        return;
    }
    if (plain.size < 0 || plain.size > MPIQ_MEMBERS_MAX) {
        mpiq_reading_problem(reading, "communicators", mqs_ok, "a communicator has an impossible size");
        return;
    }
    struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
    if (!comm)
        return;
    MPIQ_COPY(comm->name, plain.name);
    comm->local.count = (uint32_t)plain.size;
    if (plain.local_rank >= 0 && plain.local_rank < plain.size)
        comm->local_rank = (int32_t)plain.local_rank;
    read_details(reading, &plain, comm);
    if (comm->flags & MPIQ_COMM_WORLD && state->name.rank < 0)
        state->name.rank = comm->local_rank;
    if (comm->flags & MPIQ_COMM_WORLD && state->world_size <= 0)
        state->world_size = (int32_t)comm->local.count;
    read_counts(reading, comm);
    read_communicator_calls(reading, mqs_calls_recent, add_recent, comm);
    read_communicator_calls(reading, mqs_calls_outstanding, add_outstanding, comm);
    read_sources(reading, comm);
    read_persistent(reading, comm);
    read_channels(reading, comm);
    mpiq_read_queues(reading);
}

void mpiq_read_communicators(struct mpiq_reading *reading)
{
    struct mpiq_dll *dll = reading->dll;

    mpiq_reading_phase = "reading the list of communicators";
    int code = dll->mqs_update_communicator_list(&reading->process);
    if (code == mqs_ok)
        code = dll->mqs_setup_communicator_iterator(&reading->process);
    if (code != mqs_ok) {
        if (code != mqs_end_of_list && reading->state->queues != MPIQ_NO)
            mpiq_reading_problem(reading, "communicators", code, "the list of communicators cannot be read");
        return;
    }
    bool wanted = reading->state->queues != MPIQ_NO;
    size_t problems = reading->state->problem_count;
    int count = 0;
    do {
        read_communicator(reading);
        mpiq_reading_phase = "going to the next communicator";
        code = dll->mqs_next_communicator(&reading->process);
    } while (code == mqs_ok && ++count < MPIQ_COMMUNICATORS_MAX);
    if (code == mqs_ok)
        mpiq_reading_problem(reading, "communicators", code,
                             "the list of communicators does not come to an end");
    else if (code != mqs_end_of_list)
        mpiq_reading_problem(reading, "communicators", code, "the list of communicators breaks off");
    /* The queues count as read if none of their lists failed; "no information" is reported, but is not a
       failure. */
    bool failed = false;
    for (size_t i = problems; i < reading->state->problem_count; i++)
        failed |= reading->state->problems[i].what && strcmp(reading->state->problems[i].what, "queues") == 0;
    if (wanted)
        reading->state->queues = failed ? MPIQ_UNKNOWN : MPIQ_YES;
}
