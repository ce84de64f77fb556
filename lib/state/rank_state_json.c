/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "state/rank_state.h"
#include "state/rank_state_private.h"
#include "state/record.h"
#include "state/text.h"

/* Members of one group, and of all groups of a state: a run of them is a few bytes of text, which without a
   bound could ask for any memory. */
#define GROUP_MAX (UINT32_C(1) << 24)

/* ---- words -----------------------------------------------------------------------------------------------
 */

#define WORD(id, word) word,
static const char *const operation_kinds[] = {MPIQ_OPERATION_KINDS(WORD)};
static const char *const operation_statuses[] = {MPIQ_OPERATION_STATUSES(WORD)};
static const char *const queues[] = {"sends", "receives", "unexpected", "wait"};
static const char *const wait_kinds[] = {MPIQ_WAIT_KINDS(WORD)};
static const char *const phases[] = {MPIQ_PHASES(WORD)};
static const char *const sources[] = {MPIQ_SOURCES(WORD)};
static const char *const errors[] = {MPIQ_ERRORS(WORD)};
static const char *const comm_flags[] = {"inter", "internal", "freed", "self", "world", "topology"};
#undef WORD

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- values that are neither a number nor a word ---------------------------------------------------------
 */

static void write_name(struct mpiq_text *text, const void *member)
{
    const struct mpiq_name *name = member;
    mpiq_text_open(text, '[');
    mpiq_text_unsigned(text, name->job);
    mpiq_text_signed(text, name->rank);
    mpiq_text_close(text, ']');
}

/* An array's next number, which has to be there. */
static const char *read_next(struct mpiq_parser *parser, int64_t low, int64_t high, int64_t *ret)
{
    if (!mpiq_parser_more(parser, ']'))
        return parser->fault ? NULL : "has too few numbers";
    return mpiq_parser_signed(parser, low, high, ret);
}

/* [job, rank], or [job, rank, length] where length is not NULL. */
static const char *read_numbers(struct mpiq_parser *parser, struct mpiq_name *name, int64_t *length)
{
    int64_t job = 0;
    int64_t rank = 0;
    const char *complaint = mpiq_parser_open(parser, '[');
    if (!complaint)
        complaint = read_next(parser, 0, UINT32_MAX, &job);
    if (!complaint)
        complaint = read_next(parser, -1, INT32_MAX, &rank);
    if (!complaint && length)
        complaint = read_next(parser, 0, GROUP_MAX, length);
    if (!complaint && mpiq_parser_more(parser, ']'))
        complaint = "has too many numbers";
    name->job = (uint32_t)job;
    name->rank = (int32_t)rank;
    return complaint;
}

static const char *read_name(struct mpiq_parser *parser, void *member)
{
    return read_numbers(parser, member, NULL);
}

static void write_collective(struct mpiq_text *text, const void *member)
{
    const char *name = mpiq_collective_name(*(const int16_t *)member);
    mpiq_text_string(text, name ? name : "", SIZE_MAX);
}

static const char *read_collective(struct mpiq_parser *parser, void *member)
{
    const char *complaint = mpiq_parser_string(parser);
    if (complaint || parser->fault)
        return complaint;
    *(int16_t *)member = (int16_t)mpiq_collective_class(parser->string);
    return *(int16_t *)member < 0 ? "is not the name of a collective call" : NULL;
}

static void write_context(struct mpiq_text *text, const void *member)
{
    const uint64_t *context = member;
    mpiq_text_open(text, '[');
    mpiq_text_hex(text, context[0]);
    mpiq_text_hex(text, context[1]);
    mpiq_text_close(text, ']');
}

static const char *read_context(struct mpiq_parser *parser, void *member)
{
    uint64_t *context = member;
    size_t count = 0;
    const char *complaint = mpiq_parser_open(parser, '[');
    while (!complaint && mpiq_parser_more(parser, ']'))
        complaint = count < 2 ? mpiq_parser_hex(parser, &context[count++]) : "is not an array of two";
    return complaint || parser->fault || count == 2 ? complaint : "is not an array of two";
}

static void write_flags(struct mpiq_text *text, const void *member)
{
    mpiq_text_open(text, '[');
    for (unsigned i = 0; i < COUNT(comm_flags); i++) {
        if (*(const uint32_t *)member & (1u << i))
            mpiq_text_string(text, comm_flags[i], SIZE_MAX);
    }
    mpiq_text_close(text, ']');
}

static const char *read_flags(struct mpiq_parser *parser, void *member)
{
    const char *complaint = mpiq_parser_open(parser, '[');
    while (!complaint && mpiq_parser_more(parser, ']')) {
        complaint = mpiq_parser_string(parser);
        if (complaint || parser->fault)
            break;
        unsigned flag = 0;
        while (flag < COUNT(comm_flags) && strcmp(comm_flags[flag], parser->string) != 0)
            flag++;
        if (flag == COUNT(comm_flags))
            complaint = "holds a word that is not known here";
        else
            *(uint32_t *)member |= 1u << flag;
    }
    return complaint;
}

/* Members as runs [job, first rank, length] of consecutive ranks; of ranks not known, rank stays -1. */
static bool continues(const struct mpiq_name *first, const struct mpiq_name *next, uint32_t distance)
{
    int64_t rank = first->rank < 0 ? -1 : (int64_t)first->rank + distance;
    return next->job == first->job && next->rank == rank;
}

static void write_group(struct mpiq_text *text, const void *member)
{
    const struct mpiq_group *group = member;
    mpiq_text_open(text, '{');
    mpiq_text_key(text, "hash");
    mpiq_text_hex(text, group->hash);
    mpiq_text_key(text, "count");
    mpiq_text_unsigned(text, group->count);
    if (group->members) {
        mpiq_text_key(text, "members");
        mpiq_text_open(text, '[');
        for (uint32_t first = 0, next; first < group->count; first = next) {
            for (next = first + 1; next < group->count; next++) {
                if (!continues(&group->members[first], &group->members[next], next - first))
                    break;
            }
            mpiq_text_open(text, '[');
            mpiq_text_unsigned(text, group->members[first].job);
            mpiq_text_signed(text, group->members[first].rank);
            mpiq_text_unsigned(text, next - first);
            mpiq_text_close(text, ']');
        }
        mpiq_text_close(text, ']');
    }
    mpiq_text_close(text, '}');
}

/* Adds a run to the members; there is room for *room of them. */
static const char *add_run(struct mpiq_parser *parser, struct mpiq_group *group, size_t *count, size_t *room,
                           struct mpiq_name first, int64_t length)
{
    if ((uint64_t)length > parser->budget || (first.rank >= 0 && length > INT32_MAX - (int64_t)first.rank))
        return "has too many members";
    parser->budget -= (uint64_t)length;
    while (*count + (size_t)length >= *room) {
        *room = *room ? *room * 2 : 16;
        struct mpiq_name *grown = reallocarray(group->members, *room, sizeof *grown);
        if (!grown)
            return "finds no memory for its members";
        group->members = grown;
    }
    for (int64_t distance = 0; distance < length; distance++) {
        int32_t rank = first.rank < 0 ? -1 : first.rank + (int32_t)distance;
        group->members[(*count)++] = (struct mpiq_name){.job = first.job, .rank = rank};
    }
    return NULL;
}

static const char *read_members(struct mpiq_parser *parser, struct mpiq_group *group, size_t *count)
{
    size_t room = 0;
    struct mpiq_name first = {.rank = -1};
    if (group->members)
        return "has its members twice";
    /* A group of nobody has members, too. */
    const char *complaint = add_run(parser, group, count, &room, first, 0);
    if (!complaint)
        complaint = mpiq_parser_open(parser, '[');
    while (!complaint && mpiq_parser_more(parser, ']')) {
        int64_t length = 0;
        complaint = read_numbers(parser, &first, &length);
        if (!complaint && !parser->fault)
            complaint = add_run(parser, group, count, &room, first, length);
    }
    return complaint;
}

static const char *read_group(struct mpiq_parser *parser, void *member)
{
    struct mpiq_group *group = member;
    uint64_t count = UINT64_MAX;
    size_t members = 0;

    const char *complaint = mpiq_parser_open(parser, '{');
    while (!complaint && mpiq_parser_more(parser, '}')) {
        mpiq_parser_key(parser);
        if (parser->fault)
            break;
        if (strcmp(parser->string, "hash") == 0)
            complaint = mpiq_parser_hex(parser, &group->hash);
        else if (strcmp(parser->string, "count") == 0)
            complaint = mpiq_parser_unsigned(parser, GROUP_MAX, &count);
        else if (strcmp(parser->string, "members") == 0)
            complaint = read_members(parser, group, &members);
        else
            mpiq_parser_skip(parser);
    }
    if (complaint || parser->fault)
        return complaint;
    if (count == UINT64_MAX)
        return "has no count";
    if (group->members && members != count)
        return members < count ? "has fewer members than its count" : "has more members than its count";
    group->count = (uint32_t)count;
    return NULL;
}

/* ---- tables ----------------------------------------------------------------------------------------------
 */

#define MEMBER(structure, member) \
    .offset = offsetof(struct structure, member), .size = sizeof(((struct structure *)0)->member)
#define FIELD(structure, member, kind)                                       \
    {                                                                        \
        .key = #member, .type = MPIQ_FIELD_##kind, MEMBER(structure, member) \
    }
#define NAMED(structure, key_, member, kind)                              \
    {                                                                     \
        .key = key_, .type = MPIQ_FIELD_##kind, MEMBER(structure, member) \
    }
#define WORDS(structure, member, words_)                                                     \
    {                                                                                        \
        .key = #member, .type = MPIQ_FIELD_ENUM, MEMBER(structure, member), .words = words_, \
        .word_count = COUNT(words_)                                                          \
    }
#define LIST(structure, key_, member, count_, record_)                         \
    {                                                                          \
        .key = key_, .type = MPIQ_FIELD_LIST, MEMBER(structure, member),       \
        .count_offset = offsetof(struct structure, count_), .record = &record_ \
    }
#define CUSTOM(structure, member, how)                                                              \
    {                                                                                               \
        .key = #member, .type = MPIQ_FIELD_CUSTOM, MEMBER(structure, member), .write = write_##how, \
        .read = read_##how                                                                          \
    }
#define RECORD(structure, fields_, unknown_, check_)                                        \
    {                                                                                       \
        .size = sizeof(struct structure), .fields = fields_, .field_count = COUNT(fields_), \
        .unknown = &unknown_, .check = check_                                               \
    }

#define OPERATION_FIELDS                                                                              \
    FIELD(mpiq_operation, comm, UNSIGNED), WORDS(mpiq_operation, kind, operation_kinds),              \
        WORDS(mpiq_operation, status, operation_statuses), FIELD(mpiq_operation, peer_local, SIGNED), \
        CUSTOM(mpiq_operation, peer, name), FIELD(mpiq_operation, tag, SIGNED),                       \
        FIELD(mpiq_operation, tag_any, BOOL), FIELD(mpiq_operation, bytes, SIGNED),                   \
        FIELD(mpiq_operation, actual_local, SIGNED), CUSTOM(mpiq_operation, actual, name),            \
        FIELD(mpiq_operation, actual_tag, SIGNED), FIELD(mpiq_operation, actual_bytes, SIGNED),       \
        FIELD(mpiq_operation, sequence, UNSIGNED), FIELD(mpiq_operation, request, HEX),               \
        FIELD(mpiq_operation, buffer, HEX), CUSTOM(mpiq_operation, collective, collective),           \
        FIELD(mpiq_operation, persistent, BOOL), FIELD(mpiq_operation, inactive, BOOL),               \
        FIELD(mpiq_operation, internal, BOOL), FIELD(mpiq_operation, eager, BOOL),                    \
        FIELD(mpiq_operation, system_buffer, BOOL), FIELD(mpiq_operation, freed, BOOL),               \
        FIELD(mpiq_operation, out_of_order, BOOL), FIELD(mpiq_operation, cancelled, BOOL),            \
        FIELD(mpiq_operation, datatype, STRING)

static const struct mpiq_field operation_fields[] = {{.key = "queue",
                                                      .type = MPIQ_FIELD_ENUM,
                                                      .required = true,
                                                      MEMBER(mpiq_operation, queue),
                                                      .words = queues,
                                                      .word_count = MPIQ_QUEUE_WAIT},
                                                     OPERATION_FIELDS};
static const struct mpiq_field wait_operation_fields[] = {OPERATION_FIELDS};

static const struct mpiq_field call_fields[] = {CUSTOM(mpiq_call, collective, collective),
                                                FIELD(mpiq_call, number, SIGNED),
                                                FIELD(mpiq_call, done, BOOL),
                                                FIELD(mpiq_call, count, SIGNED),
                                                FIELD(mpiq_call, bytes, SIGNED),
                                                FIELD(mpiq_call, datatype, STRING),
                                                FIELD(mpiq_call, op, STRING),
                                                FIELD(mpiq_call, root, SIGNED),
                                                FIELD(mpiq_call, tid, SIGNED),
                                                FIELD(mpiq_call, begin_ns, SIGNED),
                                                FIELD(mpiq_call, caller, HEX),
                                                FIELD(mpiq_call, request, HEX)};

static const struct mpiq_field count_fields[] = {CUSTOM(mpiq_coll_count, collective, collective),
                                                 FIELD(mpiq_coll_count, count, UNSIGNED),
                                                 FIELD(mpiq_coll_count, active, BOOL)};

static const struct mpiq_field channel_fields[] = {FIELD(mpiq_channel, peer_local, SIGNED),
                                                   FIELD(mpiq_channel, sent, UNSIGNED),
                                                   FIELD(mpiq_channel, expected, UNSIGNED)};

static const struct mpiq_field frame_fields[] = {
    FIELD(mpiq_frame, pc, HEX),      FIELD(mpiq_frame, function, STRING), FIELD(mpiq_frame, file, STRING),
    FIELD(mpiq_frame, line, SIGNED), FIELD(mpiq_frame, object, STRING),   FIELD(mpiq_frame, inlined, BOOL)};

static const struct mpiq_field problem_fields[] = {
    WORDS(mpiq_problem, code, errors), FIELD(mpiq_problem, what, STRING), FIELD(mpiq_problem, text, STRING)};

/* ---- what must hold between values -----------------------------------------------------------------------
 */

static bool in_group(int32_t local_rank, uint32_t count)
{
    return local_rank >= -1 && (count == 0 || local_rank < (int64_t)count);
}

static const char *check_operation(struct mpiq_reader *reader, const void *element, const char **key)
{
    const struct mpiq_rank_state *state = reader->state;
    const struct mpiq_operation *operation = element;
    *key = "comm";
    if (operation->comm >= state->communicator_count)
        return "is not the index of a communicator";
    uint32_t peers = mpiq_communicator_peers(&state->communicators[operation->comm]);
    *key = "peer_local";
    if (!in_group(operation->peer_local, peers))
        return "is not a rank of the communicator";
    *key = "actual_local";
    return in_group(operation->actual_local, peers) ? NULL : "is not a rank of the communicator";
}

static const char *check_communicator(struct mpiq_reader *reader, const void *element, const char **key)
{
    (void)reader;
    const struct mpiq_communicator *comm = element;
    *key = "local_rank";
    if (!in_group(comm->local_rank, comm->local.count))
        return "is not a rank of the communicator";
    *key = "channels";
    for (size_t i = 0; i < comm->channel_count; i++) {
        if (comm->channels[i].peer_local < 0 ||
            !in_group(comm->channels[i].peer_local, mpiq_communicator_peers(comm)))
            return "name a rank that the communicator does not have";
    }
    return NULL;
}

static bool is_index(int32_t index, size_t count)
{
    return index >= -1 && (index < 0 || (size_t)index < count);
}

static const char *check_wait(struct mpiq_reader *reader, const void *element, const char **key)
{
    const struct mpiq_rank_state *state = reader->state;
    const struct mpiq_wait *wait = element;
    *key = "comm";
    if (!is_index(wait->comm, state->communicator_count))
        return "is not the index of a communicator";
    *key = "collective_comm";
    return is_index(wait->collective_comm, state->communicator_count) ? NULL
                                                                      : "is not the index of a communicator";
}

static const char *check_thread(struct mpiq_reader *reader, const void *element, const char **key)
{
    (void)reader;
    const struct mpiq_thread *thread = element;
    *key = "mpi_frame";
    if (!is_index(thread->mpi_frame, thread->frame_count))
        return "is not the index of a frame";
    *key = "user_frame";
    return is_index(thread->user_frame, thread->frame_count) ? NULL : "is not the index of a frame";
}

static const char *check_rank_state(struct mpiq_reader *reader, const void *element, const char **key)
{
    (void)reader;
    const struct mpiq_rank_state *state = element;
    *key = "thread_level";
    if (state->thread_level < -1 || state->thread_level > 3)
        return "is not -1 to 3";
    *key = "recording";
    if (state->recording < MPIQ_UNKNOWN || state->recording > MPIQ_YES)
        return "is not -1, 0 or 1";
    *key = "queues_read";
    return state->queues < MPIQ_UNKNOWN || state->queues > MPIQ_YES ? "is not -1, 0 or 1" : NULL;
}

/* ---- the records, inner ones first -----------------------------------------------------------------------
 */

static const struct mpiq_record operation_record =
    RECORD(mpiq_operation, operation_fields, mpiq_operation_unknown, check_operation);
static const struct mpiq_record wait_operation_record =
    RECORD(mpiq_operation, wait_operation_fields, mpiq_wait_operation_unknown, check_operation);
static const struct mpiq_record call_record = RECORD(mpiq_call, call_fields, mpiq_call_unknown, NULL);
static const struct mpiq_record count_record =
    RECORD(mpiq_coll_count, count_fields, mpiq_coll_count_unknown, NULL);
static const struct mpiq_record channel_record =
    RECORD(mpiq_channel, channel_fields, mpiq_channel_unknown, NULL);
static const struct mpiq_record frame_record = RECORD(mpiq_frame, frame_fields, mpiq_frame_unknown, NULL);
static const struct mpiq_record problem_record =
    RECORD(mpiq_problem, problem_fields, mpiq_problem_unknown, NULL);

static const struct mpiq_field communicator_fields[] = {
    FIELD(mpiq_communicator, handle, HEX),
    CUSTOM(mpiq_communicator, context, context),
    FIELD(mpiq_communicator, name, ARRAY),
    CUSTOM(mpiq_communicator, flags, flags),
    FIELD(mpiq_communicator, parent, HEX),
    FIELD(mpiq_communicator, local_rank, SIGNED),
    CUSTOM(mpiq_communicator, local, group),
    CUSTOM(mpiq_communicator, remote, group),
    FIELD(mpiq_communicator, ordered, SIGNED),
    FIELD(mpiq_communicator, nonblocking, SIGNED),
    LIST(mpiq_communicator, "counts", counts, count_count, count_record),
    LIST(mpiq_communicator, "calls", calls, call_count, call_record),
    LIST(mpiq_communicator, "outstanding", outstanding, outstanding_count, call_record),
    LIST(mpiq_communicator, "channels", channels, channel_count, channel_record)};
static const struct mpiq_record communicator_record =
    RECORD(mpiq_communicator, communicator_fields, mpiq_communicator_unknown, check_communicator);

static const struct mpiq_field wait_fields[] = {
    FIELD(mpiq_wait, level, SIGNED),
    WORDS(mpiq_wait, kind, wait_kinds),
    FIELD(mpiq_wait, call, ARRAY),
    CUSTOM(mpiq_wait, collective, collective),
    FIELD(mpiq_wait, need, SIGNED),
    FIELD(mpiq_wait, episode, UNSIGNED),
    FIELD(mpiq_wait, begin_ns, SIGNED),
    FIELD(mpiq_wait, comm, SIGNED),
    FIELD(mpiq_wait, collective_comm, SIGNED),
    LIST(mpiq_wait, "operations", operations, operation_count, wait_operation_record)};
static const struct mpiq_record wait_record = RECORD(mpiq_wait, wait_fields, mpiq_wait_unknown, check_wait);

static const struct mpiq_field thread_fields[] = {
    FIELD(mpiq_thread, tid, SIGNED),
    FIELD(mpiq_thread, state, LETTER),
    FIELD(mpiq_thread, record, BOOL),
    FIELD(mpiq_thread, cpu_ns, UNSIGNED),
    LIST(mpiq_thread, "waits", waits, wait_count, wait_record),
    LIST(mpiq_thread, "frames", frames, frame_count, frame_record),
    FIELD(mpiq_thread, mpi_frame, SIGNED),
    FIELD(mpiq_thread, user_frame, SIGNED),
    FIELD(mpiq_thread, mpi_call, ARRAY)};
static const struct mpiq_record thread_record =
    RECORD(mpiq_thread, thread_fields, mpiq_thread_unknown, check_thread);

static const struct mpiq_field rank_state_fields[] = {
    CUSTOM(mpiq_rank_state, name, name),
    FIELD(mpiq_rank_state, world_size, SIGNED),
    FIELD(mpiq_rank_state, pid, SIGNED),
    FIELD(mpiq_rank_state, host, ARRAY),
    FIELD(mpiq_rank_state, executable, ARRAY),
    FIELD(mpiq_rank_state, library, ARRAY),
    FIELD(mpiq_rank_state, pml, ARRAY),
    NAMED(mpiq_rank_state, "namespace", nspace, ARRAY),
    WORDS(mpiq_rank_state, phase, phases),
    WORDS(mpiq_rank_state, source, sources),
    FIELD(mpiq_rank_state, thread_level, SIGNED),
    FIELD(mpiq_rank_state, recording, SIGNED),
    NAMED(mpiq_rank_state, "queues_read", queues, SIGNED),
    FIELD(mpiq_rank_state, core, BOOL),
    FIELD(mpiq_rank_state, gone, BOOL),
    FIELD(mpiq_rank_state, traced, BOOL),
    NAMED(mpiq_rank_state, "state", process_state, LETTER),
    FIELD(mpiq_rank_state, cpu_ns, UNSIGNED),
    FIELD(mpiq_rank_state, taken_ns, SIGNED),
    LIST(mpiq_rank_state, "communicators", communicators, communicator_count, communicator_record),
    LIST(mpiq_rank_state, "operations", operations, operation_count, operation_record),
    LIST(mpiq_rank_state, "threads", threads, thread_count, thread_record),
    LIST(mpiq_rank_state, "process_calls", process_calls, process_call_count, call_record),
    LIST(mpiq_rank_state, "problems", problems, problem_count, problem_record)};
static const struct mpiq_record rank_state_record =
    RECORD(mpiq_rank_state, rank_state_fields, mpiq_rank_state_unknown, check_rank_state);

/* ---- both ways -------------------------------------------------------------------------------------------
 */

struct mpiq_error *mpiq_rank_state_to_json(const struct mpiq_rank_state *state, char **ret)
{
    struct mpiq_text text = {0};
    mpiq_record_write(&text, &rank_state_record, state);
    return mpiq_text_end(&text, ret);
}

static const char *intern(void *state, const char *string)
{
    return mpiq_rank_state_intern(state, string);
}

struct mpiq_error *mpiq_rank_state_from_json(const char *text, size_t length, struct mpiq_rank_state **ret)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    if (!state)
        return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "no memory for a rank's state");
    struct mpiq_reader reader = {.state = state, .intern = intern, .budget = GROUP_MAX};
    struct mpiq_error *error = mpiq_record_parse(&reader, &rank_state_record, text, length, state);
    if (error)
        mpiq_rank_state_destroy(state);
    else
        *ret = state;
    return error;
}
