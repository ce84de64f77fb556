/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/rank_state.h"
#include "suite.h"

/* ---- helpers ---------------------------------------------------------------------------------------- */

static struct mpiq_rank_state *parse(const char *text)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(text, strlen(text), &state);
    CU_ASSERT_PTR_NULL(error);
    if (error)
        printf("\n%s\n", error->message);
    mpiq_error_destroy(error);
    return state;
}

static char *print(const struct mpiq_rank_state *state)
{
    char *text = NULL;
    struct mpiq_error *error = mpiq_rank_state_to_json(state, &text);
    CU_ASSERT_PTR_NULL_FATAL(error);
    return text;
}

static void stays_the_same(const char *text)
{
    struct mpiq_rank_state *state = parse(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    char *again = print(state);
    CU_ASSERT_STRING_EQUAL(again, text);
    if (strcmp(again, text) != 0)
        printf("\nwas: %s\nis:  %s\n", text, again);
    free(again);
    mpiq_rank_state_destroy(state);
}

/* ---- one of everything ------------------------------------------------------------------------------ */

static const char everything[] =
    "{\"name\":[7,1],\"world_size\":4,\"pid\":4711,\"host\":\"n1\",\"executable\":\"/tmp/a \\\"b\\\"\","
    "\"library\":\"Open MPI 4.1.4\",\"pml\":\"ob1\",\"namespace\":\"7\",\"phase\":\"running\","
    "\"source\":\"patched\",\"thread_level\":3,\"recording\":1,\"queues_read\":1,\"core\":true,\"gone\":true,"
    "\"traced\":true,\"frozen\":true,\"freezer\":\"/sys/fs/cgroup/a/"
    "cgroup.freeze\",\"state\":\"R\",\"cpu_ns\":12,\"children_cpu_ns\":13,\"io_bytes\":14,"
    "\"taken_ns\":1795263125907622157,\"last_mpi_call\":\"MPI_Barrier\",\"last_mpi_end_ns\":15,"
    "\"last_mpi_collective\":true,"
    "\"communicators\":[{\"handle\":\"0xffffffffffffffff\",\"context\":[\"0x0\",\"0x3\"],"
    "\"name\":\"MPI_COMM_WORLD\",\"flags\":[\"inter\",\"internal\",\"freed\",\"self\",\"world\",\"topology\"]"
    ","
    "\"parent\":\"0x10\",\"local_rank\":2,"
    "\"local\":{\"hash\":\"0xb9d82e8fbb6e6d7d\",\"count\":10,\"members\":[[7,0,3],[8,0,1],[0,-1,2],[7,1,3,4],"
    "[7,20,1]]},"
    "\"remote\":{\"hash\":\"0x1\",\"count\":3},\"ordered\":6,\"nonblocking\":0,"
    "\"counts\":[{\"collective\":\"MPI_Bcast\",\"count\":4294967295,\"active\":true}],"
    "\"calls\":[{\"collective\":\"MPI_Bcast\",\"number\":6,\"done\":true,\"count\":-3,\"bytes\":40,"
    "\"datatype\":\"MPI_INT\",\"op\":\"MPI_SUM\",\"root\":-4,\"tid\":4712,\"begin_ns\":5,\"caller\":"
    "\"0x401000\","
    "\"request\":\"0x20\",\"started\":{\"function\":\"step\",\"file\":\"x.c\",\"line\":57}}],"
    "\"outstanding\":[{\"collective\":\"MPI_Ibarrier\",\"request\":\"0x20\"}],"
    "\"channels\":[{\"peer_local\":2,\"sent\":65536,\"expected\":3}],"
    "\"made_by\":\"MPI_Comm_dup\",\"made_caller\":\"0x2\",\"made\":{\"file\":\"x.c\",\"line\":8}}],"
    "\"operations\":[{\"queue\":\"unexpected\",\"kind\":\"message\",\"status\":\"matched\",\"peer_local\":1,"
    "\"peer\":[7,3],\"tag\":-17,\"tag_any\":true,\"bytes\":0,\"actual_local\":2,\"actual\":[7,2],"
    "\"actual_tag\":9,\"actual_bytes\":8,\"sequence\":4,\"request\":\"0x30\",\"buffer\":\"0x40\","
    "\"collective\":\"MPI_Barrier\",\"persistent\":true,\"inactive\":true,\"internal\":true,\"eager\":true,"
    "\"system_buffer\":true,\"freed\":true,\"out_of_order\":true,\"cancelled\":true,\"datatype\":\"MPI_INT\","
    "\"caller\":\"0x3\",\"started\":{\"function\":\"step\",\"file\":\"x.c\",\"line\":57},"
    "\"partitions\":4,\"missing\":2,\"which\":\"0,3\",\"inner\":\"0x31\",\"moves\":true}],"
    "\"threads\":[{\"tid\":4711,\"state\":\"S\",\"sleep\":\"private-futex\",\"system_call\":202,\"record\":"
    "true,\"cpu_ns\":3,\"polled_ns\":7,"
    "\"waits\":[{\"level\":1,\"kind\":\"all\",\"call\":\"MPI_Waitall\",\"collective\":\"MPI_Allreduce\","
    "\"need\":2,\"episode\":18446744073709551615,\"begin_ns\":9,\"comm\":0,\"collective_comm\":0,"
    "\"window\":0,\"window_target\":2,\"lock_type\":\"exclusive\","
    "\"operations\":[{\"kind\":\"ssend\",\"peer_local\":0}]}],"
    "\"frames\":[{\"pc\":\"0x401020\",\"function\":\"MPI_Waitall\",\"file\":\"x.c\",\"line\":3,"
    "\"object\":\"/lib/libmpi.so\",\"inlined\":true},{}],"
    "\"mpi_frame\":0,\"user_frame\":1,\"mpi_call\":\"MPI_Waitall\"}],"
    "\"windows\":[{\"handle\":\"0x50\",\"id\":[\"0x1\",\"0x2\"],\"name\":\"field\",\"local_rank\":2,"
    "\"exposure\":\"post\",\"access\":\"lock_all\",\"locks\":[{\"type\":\"shared\"},"
    "{\"target_local\":3,\"type\":\"exclusive\",\"held\":true}],\"access_group\":[{\"local\":0}],"
    "\"exposure_group\":[{\"local\":1},{\"local\":2}],\"fences\":3,\"freeing\":true,"
    "\"synchronises\":true,\"made_by\":\"MPI_Win_create\","
    "\"made_caller\":\"0x4\",\"made\":{\"line\":9}}],"
    "\"history\":[{\"call\":\"MPI_Send\",\"begin_ns\":1,\"end_ns\":2,\"comm\":0,\"peer_local\":1,\"tag\":3,"
    "\"bytes\":4,\"tid\":5,\"root\":2,\"any_source\":true,\"any_tag\":true,\"proc_null\":true,"
    "\"caller\":\"0x6\",\"place\":{\"line\":7}}],\"history_dropped\":8,"
    "\"process_calls\":[{\"collective\":\"MPI_Init\",\"done\":true}],"
    "\"problems\":[{\"code\":\"permission\",\"what\":\"stack\",\"text\":\"no \\u0001 ä\"}]}";

static void everything_survives(void)
{
    stays_the_same(everything);
    stays_the_same("{}");
}

static void values_are_what_was_said(void)
{
    struct mpiq_rank_state *state = parse(everything);
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    const struct mpiq_communicator *comm = &state->communicators[0];
    CU_ASSERT_EQUAL(comm->handle, UINT64_MAX);
    CU_ASSERT_EQUAL(comm->context[1], 3);
    CU_ASSERT_EQUAL(comm->local.members[2].rank, 2);
    CU_ASSERT_EQUAL(comm->local.members[3].job, 8);
    CU_ASSERT_EQUAL(comm->local.members[5].rank, -1);
    CU_ASSERT_EQUAL(comm->local.members[6].rank, 1);
    CU_ASSERT_EQUAL(comm->local.members[8].rank, 9);
    CU_ASSERT_PTR_NULL(comm->remote.members);
    CU_ASSERT_EQUAL(comm->counts[0].count, UINT32_MAX);
    CU_ASSERT_EQUAL(comm->calls[0].root, -4);
    CU_ASSERT_EQUAL(state->operations[0].queue, MPIQ_QUEUE_UNEXPECTED);
    CU_ASSERT_EQUAL(state->threads[0].waits[0].episode, UINT64_MAX);
    CU_ASSERT_EQUAL(state->threads[0].waits[0].operations[0].queue, MPIQ_QUEUE_WAIT);
    CU_ASSERT_EQUAL(state->threads[0].waits[0].operations[0].bytes, -1);
    CU_ASSERT_PTR_NULL(state->threads[0].frames[1].function);
    CU_ASSERT_PTR_EQUAL(comm->calls[0].datatype, state->operations[0].datatype);
    mpiq_rank_state_destroy(state);
}

static void nothing_known_is_not_zero(void)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    CU_ASSERT_EQUAL(state->name.rank, -1);
    CU_ASSERT_EQUAL(state->queues, MPIQ_UNKNOWN);
    CU_ASSERT_EQUAL(state->process_state, '?');
    CU_ASSERT_EQUAL(mpiq_rank_state_add_communicator(state)->ordered, -1);
    CU_ASSERT_EQUAL(mpiq_rank_state_add_operation(state)->peer.rank, -1);
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    CU_ASSERT_EQUAL(thread->mpi_frame, -1);
    CU_ASSERT_EQUAL(mpiq_thread_add_wait(thread)->comm, -1);
    mpiq_rank_state_problem(state, "stack", NULL);
    CU_ASSERT_EQUAL(state->problem_count, 0);
    mpiq_rank_state_destroy(state);
    mpiq_rank_state_destroy(NULL);
}

/* ---- texts that are none ---------------------------------------------------------------------------- */

static void complaints_name_the_place(void)
{
    static const struct {
        const char *text;
        const char *complaint;
    } rows[] = {
        {"", "JSON: it ends in the middle of a value, at byte 0"},
        {"[]", "JSON: the value is not an object"},
        {"null", NULL},
        {"{\"pid\":\"1\"}", "JSON: pid is not a whole number"},
        {"{\"pid\":1.5}", "JSON: pid is not a whole number"},
        {"{\"pid\":2147483648}", "JSON: pid is a number out of range"},
        {"{\"cpu_ns\":-1}", "JSON: cpu_ns is a number out of range"},
        {"{\"thread_level\":4}", "JSON: thread_level is not -1 to 3"},
        {"{\"queues_read\":2}", "JSON: queues_read is not -1, 0 or 1"},
        {"{\"core\":1}", "JSON: core is neither true nor false"},
        {"{\"phase\":\"asleep\"}", "JSON: phase is an unknown word"},
        {"{\"state\":\"RR\"}", "JSON: state is not a single letter"},
        {"{\"name\":[1]}", "JSON: name has too few numbers"},
        {"{\"name\":[1,-2]}", "JSON: name is a number out of range"},
        {"{\"host\":\"a\\u0000b\"}", "JSON: host holds a zero byte"},
        {"{\"name\":[1,2,3]}", "JSON: name has too many numbers"},
        {"{\"name\":{}}", "JSON: name is not an array"},
        {"{\"pid\":1,\"host\":\"a\",\"pid\":2}", "JSON: pid is there twice"},
        {"{\"pid\":01}", "JSON: an invalid number, at byte 9"},
        {"{\"pid\":-}", "JSON: an invalid number, at byte 8"},
        {"{\"pid\":99999999999999999999}", "JSON: pid is a number out of range"},
        {"{\"taken_ns\":-9223372036854775809}", "JSON: taken_ns is a number out of range"},
        {"{\"pid\" 1}", "JSON: no colon after a key, at byte 7"},
        {"{\"pid\":1 \"host\":\"a\"}", "JSON: neither a comma nor an end, at byte 9"},
        {"{\"pid\":1,}", "JSON: no key, at byte 9"},
        {"{\"pid\":1}}", "JSON: more text after the value, at byte 9"},
        {"{\"pid\":tru}", "JSON: pid is not a whole number"},
        {"{\"core\":tru}", "JSON: no value, at byte 8"},
        {"{\"host\":\"a", "JSON: it ends in the middle of a value, at byte 10"},
        {"{\"host\":\"a\nb\"}", "JSON: an invalid byte, at byte 10"},
        {"{\"host\":\"\xff\"}", "JSON: an invalid byte, at byte 9"},
        {"{\"host\":\"\\x\"}", "JSON: an invalid escape, at byte 10"},
        {"{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "JSON: it nests too deep, at byte 36"},
        {"{\"communicators\":{}}", "JSON: communicators is not an array"},
        {"{\"communicators\":[{},7]}", "JSON: communicators[1] is not an object"},
        {"{\"communicators\":[{\"handle\":\"17\"}]}",
         "JSON: communicators[0].handle is not a number in the form \"0x...\""},
        {"{\"communicators\":[{\"handle\":\"0x11112222333344445\"}]}",
         "JSON: communicators[0].handle is not a number in the form \"0x...\""},
        {"{\"communicators\":[{\"flags\":[\"odd\"]}]}", "JSON: communicators[0].flags holds an unknown word"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":2,\"members\":[[1,0,3]]}}]}",
         "JSON: communicators[0].local has more members than its count"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":2,\"members\":[[1,0,1]]}}]}",
         "JSON: communicators[0].local has fewer members than its count"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":2,\"members\":[[1,2147483646,2,2]]}}]}",
         "JSON: communicators[0].local has too many members"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":2,\"members\":[[1,0,2,0]]}}]}",
         "JSON: communicators[0].local is a number out of range"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":2,\"members\":[[1,0,2,1,1]]}}]}",
         "JSON: communicators[0].local has too many numbers"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":99999999}}]}",
         "JSON: communicators[0].local is a number out of range"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":1048577}}]}",
         "JSON: communicators[0].local is a number out of range"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":1048576,\"members\":[[1,0,1048576]]},"
         "\"remote\":{\"hash\":2,\"count\":1048576,\"members\":[[1,0,1048576]]}},"
         "{\"local\":{\"hash\":3,\"count\":1048576,\"members\":[[1,0,1048576]]},"
         "\"remote\":{\"hash\":4,\"count\":1048576,\"members\":[[1,0,1048576]]}},"
         "{\"local\":{\"hash\":5,\"count\":1,\"members\":[[1,0,1]]}}]}",
         "JSON: communicators[2].local has too many members"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":1,\"members\":[],\"members\":[]}}]}",
         "JSON: communicators[0].local lists its members twice"},
        {"{\"communicators\":[{\"local_rank\":2,\"local\":{\"hash\":1,\"count\":2}}]}",
         "JSON: communicators[0].local_rank is not a rank of the communicator"},
        {"{\"communicators\":[{\"calls\":[{},{\"collective\":\"MPI_Send\"}]}]}",
         "JSON: communicators[0].calls[1].collective is not the name of a collective call"},
        {"{\"communicators\":[{\"channels\":[{}]}]}",
         "JSON: communicators[0].channels name a rank that the communicator does not have"},
        {"{\"operations\":[{}]}", "JSON: operations[0].queue is missing"},
        {"{\"operations\":[{\"queue\":\"wait\"}]}", "JSON: operations[0].queue is an unknown word"},
        {"{\"operations\":[{\"queue\":\"sends\"}]}",
         "JSON: operations[0].comm is not the index of a communicator"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":2}}],"
         "\"operations\":[{\"queue\":\"sends\",\"peer_local\":2}]}",
         "JSON: operations[0].peer_local is not a rank of the communicator"},
        {"{\"communicators\":[{\"local\":{\"hash\":1,\"count\":9},\"flags\":[\"inter\"],"
         "\"remote\":{\"hash\":2,\"count\":1}}],\"operations\":[{\"queue\":\"sends\",\"actual_local\":1}]}",
         "JSON: operations[0].actual_local is not a rank of the communicator"},
        {"{\"threads\":[{\"waits\":[{\"window\":0}]}]}",
         "JSON: threads wait for a window that does not exist"},
        {"{\"windows\":[{\"comm\":0}]}", "JSON: windows[0].comm is not the index of a communicator"},
        {"{\"communicators\":[{\"local\":{\"hash\":\"0x1\",\"count\":3}}],"
         "\"windows\":[{\"locks\":[{\"target_local\":3}]}]}",
         "JSON: windows[0].locks name a rank that the window does not have"},
        {"{\"communicators\":[{\"local\":{\"hash\":\"0x1\",\"count\":3}}],"
         "\"windows\":[{\"access_group\":[{}]}]}",
         "JSON: windows[0].access_group names a rank that the window does not have"},
        {"{\"history\":[{\"comm\":0}]}", "JSON: history[0].comm is not the index of a communicator"},
        {"{\"threads\":[{\"mpi_frame\":0}]}", "JSON: threads[0].mpi_frame is not the index of a frame"},
        {"{\"threads\":[{\"waits\":[{\"comm\":0}]}]}",
         "JSON: threads[0].waits[0].comm is not the index of a communicator"},
        {"{\"threads\":[{\"waits\":[{\"operations\":[{}]}]}]}",
         "JSON: threads[0].waits[0].operations[0].comm is not the index of a communicator"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_rank_state *state = NULL;
        struct mpiq_error *error = mpiq_rank_state_from_json(rows[i].text, strlen(rows[i].text), &state);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error);
        CU_ASSERT_PTR_NULL(state);
        CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_CORRUPT);
        if (rows[i].complaint) {
            CU_ASSERT_STRING_EQUAL(error->message, rows[i].complaint);
            if (strcmp(error->message, rows[i].complaint) != 0)
                printf("\n%s\nis:  %s\nnot: %s\n", rows[i].text, error->message, rows[i].complaint);
        }
        mpiq_error_destroy(error);
    }
}

static void what_a_newer_one_says_is_passed_over(void)
{
    struct mpiq_rank_state *state =
        parse("{\"pid\":3,\"weather\":{\"rain\":[1,2,{}]},\"communicators\":[{\"x\":1}]}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    char *text = print(state);
    CU_ASSERT_STRING_EQUAL(text, "{\"pid\":3,\"communicators\":[{}]}");
    free(text);
    mpiq_rank_state_destroy(state);
}

static void the_order_is_the_writers(void)
{
    struct mpiq_rank_state *state =
        parse(" {\"operations\" : [ { \"queue\":\"sends\" , \"comm\":1 } ],\n\t\"host\":"
              "\"\\u00e4\\ud834\\udd1e\\/\\n\",\"communicators\":[{},{}]}\r\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    CU_ASSERT_STRING_EQUAL(state->host, "\xc3\xa4\xf0\x9d\x84\x9e/\n");
    char *text = print(state);
    CU_ASSERT_STRING_EQUAL(text, "{\"host\":\"\xc3\xa4\xf0\x9d\x84\x9e/\\u000a\",\"communicators\":[{},{}],"
                                 "\"operations\":[{\"queue\":\"sends\",\"comm\":1}]}");
    free(text);
    mpiq_rank_state_destroy(state);
}

static void bytes_that_are_no_text_do_no_harm(void)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    memcpy(state->host, "a\xff\xc3(\xed\xa0\x80\"\\\n", 11);
    memset(state->pml, 'x', sizeof state->pml); /* not terminated */
    char *text = print(state);
    CU_ASSERT_STRING_EQUAL(text, "{\"host\":\"a\\ufffd\\ufffd(\\ufffd\\ufffd\\ufffd\\\"\\\\\\u000a\","
                                 "\"pml\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}");
    free(text);
    mpiq_rank_state_destroy(state);
}

/* Each such byte takes three in JSON: what then has no room is left out, by whole characters. */
static void a_text_that_has_no_room_is_cut(void)
{
    for (size_t before = 0; before < 3; before++) {
        struct mpiq_rank_state *state = mpiq_rank_state_create();
        struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
        struct mpiq_window *window = mpiq_rank_state_add_window(state);
        memset(comm->name, 'x', before);
        for (size_t i = before; i < sizeof comm->name - 1; i++)
            comm->name[i] = (i - before) % 2 ? '\xa9' : '\xc3';
        memset(window->name, '\xe9', sizeof window->name - 1);
        char *text = print(state);
        struct mpiq_rank_state *again = parse(text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(again);
        /* 63 bytes: whole characters, but for the last byte where an even number is before them. */
        CU_ASSERT_EQUAL(strlen(again->communicators[0].name), before % 2 ? 63 : 62);
        CU_ASSERT_NSTRING_EQUAL(again->communicators[0].name, comm->name, 62);
        CU_ASSERT_EQUAL(strlen(again->windows[0].name), 63);
        CU_ASSERT_NSTRING_EQUAL(again->windows[0].name + 60, "\xef\xbf\xbd", 3);
        char *cut = print(again);
        stays_the_same(cut);
        free(cut);
        free(text);
        mpiq_rank_state_destroy(again);
        mpiq_rank_state_destroy(state);
    }
    struct mpiq_rank_state *state = parse("{\"pml\":\"01234567890123456789012345678901234567890123456789\"}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    CU_ASSERT_STRING_EQUAL(state->pml, "01234567890123456789012345678901234567890123456");
    mpiq_rank_state_destroy(state);
}

/* ---- by the thousand -------------------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static unsigned below(unsigned limit)
{
    return (unsigned)(any() % limit);
}

static const char *any_string(struct mpiq_rank_state *state)
{
    char string[12];
    unsigned length = below(sizeof string);
    for (unsigned i = 0; i < length; i++)
        string[i] = (char)(1 + below(126));
    string[length] = '\0';
    return below(4) ? mpiq_rank_state_intern(state, string) : NULL;
}

static void fill_call(struct mpiq_rank_state *state, struct mpiq_call *call)
{
    call->collective = (int16_t)(below(132) - 1);
    call->number = (int64_t)any();
    call->count = (int64_t)any();
    call->bytes = (int64_t)any();
    call->caller = any();
    call->root = (int32_t)any();
    call->done = below(2);
    call->datatype = any_string(state);
    call->op = any_string(state);
}

static void fill_operation(struct mpiq_rank_state *state, struct mpiq_operation *operation)
{
    operation->comm = below((unsigned)state->communicator_count);
    uint32_t peers = mpiq_communicator_peers(&state->communicators[operation->comm]);
    operation->peer_local = (int32_t)below(peers + 1) - 1;
    operation->actual_local = (int32_t)below(peers + 1) - 1;
    operation->peer = (struct mpiq_name){.job = (uint32_t)any(), .rank = (int32_t)(any() >> 33)};
    operation->tag = (int32_t)any();
    operation->tag_any = below(2);
    operation->bytes = (int64_t)any();
    operation->request = any();
    operation->sequence = any();
    operation->kind = (uint8_t)below(9);
    operation->status = (uint8_t)below(3);
    operation->eager = below(2);
    operation->datatype = any_string(state);
}

static void fill_group(struct mpiq_group *group)
{
    group->hash = any();
    group->count = 1 + below(9);
    if (below(2))
        return;
    group->members = calloc(group->count, sizeof *group->members);
    for (uint32_t i = 0; i < group->count; i++)
        group->members[i] =
            (struct mpiq_name){.job = below(2), .rank = (int32_t)(below(2) ? below(4) : 3 * i) - 1};
}

static void fill_communicator(struct mpiq_rank_state *state)
{
    struct mpiq_communicator *comm = mpiq_rank_state_add_communicator(state);
    comm->handle = any();
    comm->flags = below(64);
    fill_group(&comm->local);
    if (comm->flags & MPIQ_COMM_INTER)
        fill_group(&comm->remote);
    comm->local_rank = (int32_t)below(comm->local.count);
    for (unsigned i = below(4); i > 0; i--)
        fill_call(state, mpiq_communicator_add_call(comm));
    for (unsigned i = below(4); i > 0; i--)
        mpiq_communicator_add_count(comm)->collective = (int16_t)below(132);
    for (unsigned i = below(4); i > 0; i--)
        mpiq_communicator_add_channel(comm)->peer_local = (int32_t)below(mpiq_communicator_peers(comm));
}

static struct mpiq_rank_state *any_state(void)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->pid = (int32_t)(any() >> 33);
    state->phase = (uint8_t)below(6);
    for (unsigned i = 1 + below(4); i > 0; i--)
        fill_communicator(state);
    for (unsigned i = below(9); i > 0; i--) {
        struct mpiq_operation *operation = mpiq_rank_state_add_operation(state);
        fill_operation(state, operation);
        operation->queue = (uint8_t)below(3);
    }
    for (unsigned i = below(4); i > 0; i--) {
        struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
        thread->tid = (int32_t)i;
        for (unsigned j = below(4); j > 0; j--) {
            struct mpiq_wait *wait = mpiq_thread_add_wait(thread);
            wait->kind = (uint8_t)below(16);
            for (unsigned k = below(4); k > 0; k--)
                fill_operation(state, mpiq_wait_add_operation(wait));
        }
        for (unsigned j = below(9); j > 0; j--)
            mpiq_thread_add_frame(thread)->function = any_string(state);
        thread->user_frame = (int32_t)below((unsigned)thread->frame_count + 1) - 1;
    }
    if (below(2))
        mpiq_rank_state_problem(state, "x", mpiq_error_create(MPIQ_ERROR_GONE, "y"));
    return state;
}

static void any_state_survives(void)
{
    for (int i = 0; i < 500; i++) {
        struct mpiq_rank_state *state = any_state();
        char *text = print(state);
        stays_the_same(text);
        free(text);
        mpiq_rank_state_destroy(state);
    }
}

/* Whatever comes of a damaged text: a complaint, or a state that can be written and read. */
static void try_damaged(const char *text, size_t length)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(text, length, &state);
    CU_ASSERT_EQUAL(error == NULL, state != NULL);
    if (state) {
        char *again = print(state);
        stays_the_same(again);
        free(again);
    }
    mpiq_error_destroy(error);
    mpiq_rank_state_destroy(state);
}

static void damage_is_seen_or_does_no_harm(void)
{
    static const char marks[] = "{}[]\",:0123456789-eE\\tfn \n\xff";
    for (int i = 0; i < 20000; i++) {
        char text[sizeof everything];
        memcpy(text, everything, sizeof everything);
        size_t length = sizeof everything - 1;
        for (unsigned j = 1 + below(3); j > 0; j--)
            text[below((unsigned)length)] = below(2) ? marks[below(sizeof marks - 1)] : (char)any();
        if (below(8) == 0)
            length = below((unsigned)length);
        try_damaged(text, length);
    }
}

static void strings_are_kept_once(void)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    const char *first[1000];
    char string[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(string, sizeof string, "s%d", i);
        first[i] = mpiq_rank_state_intern(state, string);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(string, sizeof string, "s%d", i);
        CU_ASSERT_STRING_EQUAL(first[i], string);
        CU_ASSERT_PTR_EQUAL(mpiq_rank_state_intern(state, string), first[i]);
    }
    CU_ASSERT_PTR_NULL(mpiq_rank_state_intern(state, NULL));
    mpiq_rank_state_destroy(state);
}

static void classes_have_names_and_kinds(void)
{
    int count = 0;
    while (mpiq_collective_name(count)) {
        CU_ASSERT_EQUAL(mpiq_collective_class(mpiq_collective_name(count)), count);
        CU_ASSERT_PTR_NOT_NULL(strchr("BNP", mpiq_collective_kind(count)));
        count++;
    }
    CU_ASSERT(count >= 132);
    CU_ASSERT_STRING_EQUAL(mpiq_collective_name(1), "MPI_Bcast");
    CU_ASSERT_EQUAL(mpiq_collective_kind(mpiq_collective_class("MPI_Ibarrier")), 'N');
    CU_ASSERT_EQUAL(mpiq_collective_kind(mpiq_collective_class("MPI_Barrier_init")), 'P');
    CU_ASSERT_TRUE(mpiq_collective_ordered(mpiq_collective_class("MPI_Comm_split")));
    CU_ASSERT_FALSE(mpiq_collective_ordered(mpiq_collective_class("MPI_Comm_create_group")));
    CU_ASSERT_PTR_NULL(mpiq_collective_name(-1));
    CU_ASSERT_EQUAL(mpiq_collective_class("MPI_Send"), -1);
    CU_ASSERT_EQUAL(mpiq_collective_kind(-1), '\0');
}

/* The newest calls of all threads stay, in their order, and the others are counted. */
static void the_past_is_trimmed(void)
{
    static const int begins[] = {10, 40, 70, 20, 50, 80}; /* of two threads */
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    for (size_t i = 0; i < 6; i++)
        mpiq_rank_state_add_past_call(state)->begin_ns = begins[i];
    mpiq_rank_state_trim_history(state, 6);
    CU_ASSERT_EQUAL(state->history_count, 6);
    CU_ASSERT_EQUAL(state->history_dropped, 0);
    mpiq_rank_state_trim_history(state, 3);
    CU_ASSERT_EQUAL_FATAL(state->history_count, 3);
    CU_ASSERT_EQUAL(state->history[0].begin_ns, 70);
    CU_ASSERT_EQUAL(state->history[1].begin_ns, 50);
    CU_ASSERT_EQUAL(state->history[2].begin_ns, 80);
    CU_ASSERT_EQUAL(state->history_dropped, 3);
    mpiq_rank_state_add_past_call(state)->begin_ns = 90;
    CU_ASSERT_EQUAL(state->history[3].begin_ns, 90);
    mpiq_rank_state_trim_history(state, 0);
    CU_ASSERT_EQUAL(state->history_count, 0);
    CU_ASSERT_PTR_NOT_NULL(mpiq_rank_state_add_past_call(state));
    mpiq_rank_state_destroy(state);
    CU_ASSERT_EQUAL(mpiq_history_share(0), MPIQ_HISTORY_OF_RANK);
    CU_ASSERT_EQUAL(mpiq_history_share(4096), 256);
    CU_ASSERT_EQUAL(mpiq_history_share(100000000), 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"every member survives JSON", everything_survives},
        {"values are what was said", values_are_what_was_said},
        {"unknown values are not zero", nothing_known_is_not_zero},
        {"complaints name the place", complaints_name_the_place},
        {"unknown members of a newer writer are skipped", what_a_newer_one_says_is_passed_over},
        {"members are accepted in any order", the_order_is_the_writers},
        {"invalid bytes do no harm", bytes_that_are_no_text_do_no_harm},
        {"a text that has no room is cut between characters", a_text_that_has_no_room_is_cut},
        {"random states survive JSON", any_state_survives},
        {"damage is detected or does no harm", damage_is_seen_or_does_no_harm},
        {"equal strings are stored once", strings_are_kept_once},
        {"long histories are trimmed", the_past_is_trimmed},
        {"classes have names and kinds", classes_have_names_and_kinds},
        CU_TEST_INFO_NULL,
    };
    return suite_run("rank state", tests);
}
