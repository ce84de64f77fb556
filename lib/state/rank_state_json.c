/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "state/group_json.h"
#include "state/rank_state.h"
#include "state/rank_state_private.h"
#include "state/schema.h"
#include "base/json_text.h"

/* ---- words ------------------------------------------------------------------------------------------ */

#define WORD(id, word) word,
static const char *const operation_kinds[] = {MPIQ_OPERATION_KINDS(WORD)};
static const char *const operation_statuses[] = {MPIQ_OPERATION_STATUSES(WORD)};
static const char *const queues[] = {"sends", "receives", "unexpected", "wait"};
static const char *const wait_kinds[] = {MPIQ_WAIT_KINDS(WORD)};
static const char *const phases[] = {MPIQ_PHASES(WORD)};
static const char *const ends[] = {MPIQ_ENDS(WORD)};
static const char *const exposures[] = {MPIQ_WINDOW_EXPOSURES(WORD)};
static const char *const accesses[] = {MPIQ_WINDOW_ACCESSES(WORD)};
static const char *const lock_types[] = {MPIQ_LOCK_TYPES(WORD)};
static const char *const sleeps[] = {MPIQ_SLEEPS(WORD)};
static const char *const given_kinds[] = {MPIQ_GIVEN_KINDS(WORD)};
static const char *const owners[] = {MPIQ_OWNERS(WORD)};
static const char *const sources[] = {MPIQ_SOURCES(WORD)};
static const char *const fact_kinds[] = {MPIQ_FACT_KINDS(WORD)};
static const char *const errors[] = {MPIQ_ERRORS(WORD)};
#undef WORD

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- tables ----------------------------------------------------------------------------------------- */

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
#define LIST(structure, key_, member, count_, schema_)                         \
    {                                                                          \
        .key = key_, .type = MPIQ_FIELD_LIST, MEMBER(structure, member),       \
        .count_offset = offsetof(struct structure, count_), .schema = &schema_ \
    }
#define INSIDE(structure, member_, schema_)                                                           \
    {                                                                                                 \
        .key = #member_, .type = MPIQ_FIELD_STRUCTURE, MEMBER(structure, member_), .schema = &schema_ \
    }
#define CUSTOM(structure, member, how)                                                              \
    {                                                                                               \
        .key = #member, .type = MPIQ_FIELD_CUSTOM, MEMBER(structure, member), .write = write_##how, \
        .read = read_##how, .numbers = numbers_##how                                                \
    }
/* Names and groups have a file of their own, as have the others (rank_state_values.c). */
#define write_collective mpiq_collective_write
#define read_collective mpiq_collective_read
#define write_context mpiq_context_write
#define read_context mpiq_context_read
#define numbers_context mpiq_context_numbers
#define write_flags mpiq_flags_write
#define read_flags mpiq_flags_read
#define write_name mpiq_name_write
#define read_name mpiq_name_read
#define write_group mpiq_group_write
#define read_group mpiq_group_read
#define numbers_name mpiq_name_numbers
#define numbers_group mpiq_group_numbers
#define numbers_collective NULL
#define numbers_flags NULL
#define SCHEMA(structure, fields_, unknown_, check_)                                        \
    {                                                                                       \
        .size = sizeof(struct structure), .fields = fields_, .field_count = COUNT(fields_), \
        .unknown = &unknown_, .check = check_                                               \
    }

static const struct mpiq_field place_fields[] = {
    FIELD(mpiq_place, function, STRING), FIELD(mpiq_place, file, STRING), FIELD(mpiq_place, line, SIGNED)};
static const struct mpiq_schema place_schema = SCHEMA(mpiq_place, place_fields, mpiq_place_unknown, NULL);

static const struct mpiq_field end_fields[] = {WORDS(mpiq_end, kind, ends), FIELD(mpiq_end, code, SIGNED),
                                               FIELD(mpiq_end, at_ns, SIGNED),
                                               FIELD(mpiq_end, order, UNSIGNED)};
static const struct mpiq_schema end_schema = SCHEMA(mpiq_end, end_fields, mpiq_end_unknown, NULL);

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
        FIELD(mpiq_operation, unnamed, BOOL), FIELD(mpiq_operation, datatype, STRING),                \
        FIELD(mpiq_operation, caller, HEX), INSIDE(mpiq_operation, started, place_schema),            \
        FIELD(mpiq_operation, partitions, SIGNED), FIELD(mpiq_operation, missing, SIGNED),            \
        FIELD(mpiq_operation, which, STRING), FIELD(mpiq_operation, inner, HEX),                      \
        FIELD(mpiq_operation, moves, BOOL)

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
                                                FIELD(mpiq_call, request, HEX),
                                                INSIDE(mpiq_call, started, place_schema)};

static const struct mpiq_field count_fields[] = {CUSTOM(mpiq_coll_count, collective, collective),
                                                 FIELD(mpiq_coll_count, count, UNSIGNED),
                                                 FIELD(mpiq_coll_count, active, BOOL)};

static const struct mpiq_field frame_fields[] = {
    FIELD(mpiq_frame, pc, HEX),      FIELD(mpiq_frame, function, STRING), FIELD(mpiq_frame, file, STRING),
    FIELD(mpiq_frame, line, SIGNED), FIELD(mpiq_frame, object, STRING),   FIELD(mpiq_frame, inlined, BOOL),
    WORDS(mpiq_frame, owner, owners)};

static const struct mpiq_field problem_fields[] = {
    WORDS(mpiq_problem, code, errors), FIELD(mpiq_problem, what, STRING), FIELD(mpiq_problem, text, STRING)};

/* ---- the schemas, inner ones first ------------------------------------------------------------------ */

static const struct mpiq_schema operation_schema =
    SCHEMA(mpiq_operation, operation_fields, mpiq_operation_unknown, mpiq_valid_operation);
static const struct mpiq_schema wait_operation_schema =
    SCHEMA(mpiq_operation, wait_operation_fields, mpiq_wait_operation_unknown, mpiq_valid_operation);
static const struct mpiq_schema call_schema = SCHEMA(mpiq_call, call_fields, mpiq_call_unknown, NULL);
static const struct mpiq_field call_source_fields[] = {FIELD(mpiq_call_source, number, SIGNED),
                                                       FIELD(mpiq_call_source, local, SIGNED)};
static const struct mpiq_schema call_source_schema =
    SCHEMA(mpiq_call_source, call_source_fields, mpiq_call_source_unknown, NULL);
static const struct mpiq_field persistent_fields[] = {
    FIELD(mpiq_persistent, number, SIGNED), FIELD(mpiq_persistent, starts, SIGNED),
    FIELD(mpiq_persistent, request, HEX), FIELD(mpiq_persistent, caller, HEX),
    INSIDE(mpiq_persistent, made, place_schema)};
static const struct mpiq_schema persistent_schema =
    SCHEMA(mpiq_persistent, persistent_fields, mpiq_persistent_unknown, NULL);
static const struct mpiq_schema count_schema =
    SCHEMA(mpiq_coll_count, count_fields, mpiq_coll_count_unknown, NULL);
static const struct mpiq_field tag_count_fields[] = {
    FIELD(mpiq_tag_count, messages, HEX), FIELD(mpiq_tag_count, bytes, HEX),
    FIELD(mpiq_tag_count, tags, HEX),     FIELD(mpiq_tag_count, hashes, HEX),
    FIELD(mpiq_tag_count, cell, SIGNED),  FIELD(mpiq_tag_count, received, BOOL)};
static const struct mpiq_schema tag_count_schema =
    SCHEMA(mpiq_tag_count, tag_count_fields, mpiq_tag_count_unknown, mpiq_valid_tag_count);
static const struct mpiq_field channel_fields[] = {
    FIELD(mpiq_channel, peer_local, SIGNED),
    FIELD(mpiq_channel, sent, UNSIGNED),
    FIELD(mpiq_channel, expected, UNSIGNED),
    FIELD(mpiq_channel, counted, BOOL),
    FIELD(mpiq_channel, unclear, BOOL),
    FIELD(mpiq_channel, bytes_known, BOOL),
    LIST(mpiq_channel, "tags", tags, tag_count, tag_count_schema)};
static const struct mpiq_schema channel_schema =
    SCHEMA(mpiq_channel, channel_fields, mpiq_channel_unknown, NULL);
static const struct mpiq_schema frame_schema = SCHEMA(mpiq_frame, frame_fields, mpiq_frame_unknown, NULL);
static const struct mpiq_schema problem_schema =
    SCHEMA(mpiq_problem, problem_fields, mpiq_problem_unknown, NULL);

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
    LIST(mpiq_communicator, "counts", counts, count_count, count_schema),
    LIST(mpiq_communicator, "calls", calls, call_count, call_schema),
    LIST(mpiq_communicator, "outstanding", outstanding, outstanding_count, call_schema),
    LIST(mpiq_communicator, "sources", sources, source_count, call_source_schema),
    LIST(mpiq_communicator, "persistent", persistent, persistent_count, persistent_schema),
    LIST(mpiq_communicator, "channels", channels, channel_count, channel_schema),
    FIELD(mpiq_communicator, made_by, ARRAY),
    FIELD(mpiq_communicator, made_caller, HEX),
    INSIDE(mpiq_communicator, made, place_schema)};
static const struct mpiq_schema communicator_schema =
    SCHEMA(mpiq_communicator, communicator_fields, mpiq_communicator_unknown, mpiq_valid_communicator);

static const struct mpiq_field window_lock_fields[] = {FIELD(mpiq_window_lock, target_local, SIGNED),
                                                       WORDS(mpiq_window_lock, type, lock_types),
                                                       FIELD(mpiq_window_lock, held, BOOL)};
static const struct mpiq_schema window_lock_schema =
    SCHEMA(mpiq_window_lock, window_lock_fields, mpiq_window_lock_unknown, NULL);
static const struct mpiq_field local_rank_fields[] = {FIELD(mpiq_local_rank, local, SIGNED)};
static const struct mpiq_schema local_rank_schema =
    SCHEMA(mpiq_local_rank, local_rank_fields, mpiq_local_rank_unknown, NULL);
static const struct mpiq_field window_fields[] = {
    FIELD(mpiq_window, handle, HEX),
    CUSTOM(mpiq_window, id, context),
    FIELD(mpiq_window, name, ARRAY),
    FIELD(mpiq_window, comm, UNSIGNED),
    FIELD(mpiq_window, local_rank, SIGNED),
    WORDS(mpiq_window, exposure, exposures),
    WORDS(mpiq_window, access, accesses),
    LIST(mpiq_window, "locks", locks, lock_count, window_lock_schema),
    LIST(mpiq_window, "access_group", access_group, access_count, local_rank_schema),
    LIST(mpiq_window, "exposure_group", exposure_group, exposure_count, local_rank_schema),
    FIELD(mpiq_window, fences, SIGNED),
    FIELD(mpiq_window, freeing, BOOL),
    FIELD(mpiq_window, synchronises, BOOL),
    FIELD(mpiq_window, made_by, ARRAY),
    FIELD(mpiq_window, made_caller, HEX),
    INSIDE(mpiq_window, made, place_schema)};
static const struct mpiq_schema window_schema =
    SCHEMA(mpiq_window, window_fields, mpiq_window_unknown, mpiq_valid_window);

static const struct mpiq_field past_call_fields[] = {
    FIELD(mpiq_past_call, call, STRING),       FIELD(mpiq_past_call, begin_ns, SIGNED),
    FIELD(mpiq_past_call, end_ns, SIGNED),     FIELD(mpiq_past_call, comm, SIGNED),
    FIELD(mpiq_past_call, peer_local, SIGNED), FIELD(mpiq_past_call, tag, SIGNED),
    FIELD(mpiq_past_call, bytes, SIGNED),      FIELD(mpiq_past_call, tid, SIGNED),
    FIELD(mpiq_past_call, root, SIGNED),       FIELD(mpiq_past_call, any_source, BOOL),
    FIELD(mpiq_past_call, any_tag, BOOL),      FIELD(mpiq_past_call, proc_null, BOOL),
    FIELD(mpiq_past_call, error, SIGNED),      FIELD(mpiq_past_call, tag_group, UNSIGNED),
    FIELD(mpiq_past_call, caller, HEX),        INSIDE(mpiq_past_call, place, place_schema)};
static const struct mpiq_schema past_call_schema =
    SCHEMA(mpiq_past_call, past_call_fields, mpiq_past_call_unknown, mpiq_valid_past_call);

static const struct mpiq_field fact_fields[] = {WORDS(mpiq_fact, kind, fact_kinds),
                                                CUSTOM(mpiq_fact, collective, collective),
                                                FIELD(mpiq_fact, peer, SIGNED),
                                                FIELD(mpiq_fact, tag, SIGNED),
                                                FIELD(mpiq_fact, comm_size, SIGNED),
                                                CUSTOM(mpiq_fact, comm_flags, flags),
                                                FIELD(mpiq_fact, base, UNSIGNED),
                                                FIELD(mpiq_fact, bytes, SIGNED),
                                                FIELD(mpiq_fact, comm, HEX),
                                                FIELD(mpiq_fact, count, HEX),
                                                FIELD(mpiq_fact, sum, HEX),
                                                FIELD(mpiq_fact, first, HEX),
                                                FIELD(mpiq_fact, signature, HEX),
                                                FIELD(mpiq_fact, caller, HEX),
                                                FIELD(mpiq_fact, call, STRING),
                                                FIELD(mpiq_fact, comm_name, STRING),
                                                FIELD(mpiq_fact, base_name, STRING),
                                                FIELD(mpiq_fact, op, STRING),
                                                INSIDE(mpiq_fact, place, place_schema)};
static const struct mpiq_schema fact_schema =
    SCHEMA(mpiq_fact, fact_fields, mpiq_fact_unknown, mpiq_valid_fact);

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
    FIELD(mpiq_wait, window, SIGNED),
    FIELD(mpiq_wait, window_target, SIGNED),
    WORDS(mpiq_wait, lock_type, lock_types),
    LIST(mpiq_wait, "operations", operations, operation_count, wait_operation_schema)};
static const struct mpiq_schema wait_schema =
    SCHEMA(mpiq_wait, wait_fields, mpiq_wait_unknown, mpiq_valid_wait);

static const struct mpiq_field given_fields[] = {
    WORDS(mpiq_given, kind, given_kinds), FIELD(mpiq_given, any, BOOL),
    FIELD(mpiq_given, null, BOOL),        FIELD(mpiq_given, of_request, UNSIGNED),
    FIELD(mpiq_given, value, SIGNED),     FIELD(mpiq_given, name, STRING),
    FIELD(mpiq_given, caller, HEX),       INSIDE(mpiq_given, place, place_schema)};
static const struct mpiq_schema given_schema = SCHEMA(mpiq_given, given_fields, mpiq_given_unknown, NULL);

static const struct mpiq_field thread_fields[] = {
    FIELD(mpiq_thread, tid, SIGNED),
    FIELD(mpiq_thread, state, LETTER),
    WORDS(mpiq_thread, sleep, sleeps),
    FIELD(mpiq_thread, system_call, SIGNED),
    FIELD(mpiq_thread, file, STRING),
    FIELD(mpiq_thread, lock_holder, SIGNED),
    FIELD(mpiq_thread, partner, SIGNED),
    FIELD(mpiq_thread, partner_name, STRING),
    FIELD(mpiq_thread, partner_state, LETTER),
    FIELD(mpiq_thread, owner, SIGNED),
    FIELD(mpiq_thread, interpreter, BOOL),
    FIELD(mpiq_thread, stepped, ARRAY),
    FIELD(mpiq_thread, stepped_number, UNSIGNED),
    NAMED(mpiq_thread, "record", has_wait_record, BOOL),
    FIELD(mpiq_thread, cpu_ns, UNSIGNED),
    FIELD(mpiq_thread, polled_ns, SIGNED),
    LIST(mpiq_thread, "waits", waits, wait_count, wait_schema),
    LIST(mpiq_thread, "frames", frames, frame_count, frame_schema),
    FIELD(mpiq_thread, truncated, BOOL),
    FIELD(mpiq_thread, mpi_frame, SIGNED),
    FIELD(mpiq_thread, user_frame, SIGNED),
    FIELD(mpiq_thread, mpi_call, ARRAY),
    LIST(mpiq_thread, "given", given, given_count, given_schema)};
static const struct mpiq_schema thread_schema =
    SCHEMA(mpiq_thread, thread_fields, mpiq_thread_unknown, mpiq_valid_thread);

static const struct mpiq_field rank_state_fields[] = {
    CUSTOM(mpiq_rank_state, name, name),
    FIELD(mpiq_rank_state, world_size, SIGNED),
    FIELD(mpiq_rank_state, pid, SIGNED),
    FIELD(mpiq_rank_state, host, ARRAY),
    FIELD(mpiq_rank_state, architecture, ARRAY),
    FIELD(mpiq_rank_state, executable, ARRAY),
    FIELD(mpiq_rank_state, command, ARRAY),
    FIELD(mpiq_rank_state, library, ARRAY),
    FIELD(mpiq_rank_state, library_file, ARRAY),
    FIELD(mpiq_rank_state, pml, ARRAY),
    NAMED(mpiq_rank_state, "namespace", nspace, ARRAY),
    WORDS(mpiq_rank_state, phase, phases),
    WORDS(mpiq_rank_state, source, sources),
    FIELD(mpiq_rank_state, thread_level, SIGNED),
    FIELD(mpiq_rank_state, recording, SIGNED),
    NAMED(mpiq_rank_state, "queues_read", queues, SIGNED),
    NAMED(mpiq_rank_state, "core", final, BOOL),
    FIELD(mpiq_rank_state, gone, BOOL),
    INSIDE(mpiq_rank_state, end, end_schema),
    FIELD(mpiq_rank_state, traced, BOOL),
    FIELD(mpiq_rank_state, tracer, SIGNED),
    FIELD(mpiq_rank_state, tracer_name, ARRAY),
    FIELD(mpiq_rank_state, frozen, BOOL),
    FIELD(mpiq_rank_state, freezer, ARRAY),
    NAMED(mpiq_rank_state, "state", process_state, LETTER),
    FIELD(mpiq_rank_state, cpu_ns, UNSIGNED),
    FIELD(mpiq_rank_state, children_cpu_ns, UNSIGNED),
    FIELD(mpiq_rank_state, io_bytes, SIGNED),
    FIELD(mpiq_rank_state, taken_ns, SIGNED),
    FIELD(mpiq_rank_state, last_mpi_call, ARRAY),
    FIELD(mpiq_rank_state, last_mpi_end_ns, SIGNED),
    FIELD(mpiq_rank_state, last_mpi_collective, BOOL),
    LIST(mpiq_rank_state, "communicators", communicators, communicator_count, communicator_schema),
    LIST(mpiq_rank_state, "operations", operations, operation_count, operation_schema),
    LIST(mpiq_rank_state, "threads", threads, thread_count, thread_schema),
    LIST(mpiq_rank_state, "windows", windows, window_count, window_schema),
    LIST(mpiq_rank_state, "history", history, history_count, past_call_schema),
    LIST(mpiq_rank_state, "facts", facts, fact_count, fact_schema),
    FIELD(mpiq_rank_state, lost_facts, SIGNED),
    FIELD(mpiq_rank_state, strict, BOOL),
    FIELD(mpiq_rank_state, library_queues, BOOL),
    NAMED(mpiq_rank_state, "held", paused_at_end, BOOL),
    FIELD(mpiq_rank_state, history_dropped, UNSIGNED),
    LIST(mpiq_rank_state, "process_calls", process_calls, process_call_count, call_schema),
    LIST(mpiq_rank_state, "problems", problems, problem_count, problem_schema)};
const struct mpiq_schema mpiq_rank_state_schema =
    SCHEMA(mpiq_rank_state, rank_state_fields, mpiq_rank_state_unknown, mpiq_valid_rank_state);

/* ---- both ways -------------------------------------------------------------------------------------- */

struct mpiq_error *mpiq_rank_state_to_json(const struct mpiq_rank_state *state, char **ret)
{
    struct mpiq_text text = {0};
    mpiq_schema_write(&text, &mpiq_rank_state_schema, state);
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
    struct mpiq_schema_parser parser = {
        .state = state, .intern = intern, .budget = MPIQ_GROUPS_MAX, .memory = MPIQ_STATE_BYTES_MOST};
    struct mpiq_error *error = mpiq_schema_parse(&parser, &mpiq_rank_state_schema, text, length, state);
    state->weight = sizeof *state + (MPIQ_STATE_BYTES_MOST - parser.memory);
    if (error)
        mpiq_rank_state_destroy(state);
    else
        *ret = state;
    return error;
}
