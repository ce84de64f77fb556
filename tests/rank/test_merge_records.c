/* SPDX-License-Identifier: BSD-3-Clause */
/* One state of what the recorder and the MPI library itself say of a process. */
#include "rank/merge_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define PROCESS "{\"name\":[77,1],\"world_size\":3,\"phase\":\"running\",\"queues_read\":1,"
#define MEMBERS "\"local_rank\":1,\"local\":{\"hash\":\"0x1\",\"count\":3}"

/* A rank in an MPI_Waitall for a receive and a send, whose handles the recorder knows, and a collective. */
static const char recorded[] = PROCESS
    "\"source\":\"recorder\",\"communicators\":[{\"handle\":\"0x900\",\"flags\":[\"freed\"]," MEMBERS
    "},{\"handle\":\"0x100\",\"context\":[\"0x0\",\"0x1\"],\"name\":\"MPI_COMM_WORLD\","
    "\"flags\":[\"world\"]," MEMBERS ",\"ordered\":4,\"channels\":[{\"peer_local\":0,\"sent\":9,"
    "\"expected\":9,\"counted\":true,\"tags\":[{\"messages\":8,\"tag\":1}]}]}],"
    "\"operations\":[{\"queue\":\"receives\",\"kind\":\"receive\",\"comm\":1,\"peer_local\":0,\"tag\":5,"
    "\"request\":\"0x51\",\"caller\":\"0xca11\"}],"
    "\"threads\":[{\"tid\":7,\"waits\":[{\"kind\":\"all\",\"call\":\"MPI_Waitall\",\"need\":3,"
    "\"episode\":2,\"operations\":[{\"kind\":\"receive\",\"comm\":1,\"peer_local\":0,\"tag\":5,"
    "\"request\":\"0x51\"},{\"comm\":1,\"peer_local\":2,\"tag\":6,\"request\":\"0x52\"},"
    "{\"kind\":\"collective\",\"comm\":1,\"request\":\"0x53\"}]}]}]}";

/* The library has the receive still, has sent the message, and is inside of a collective. */
static const char own[] = PROCESS
    "\"source\":\"layouts\",\"pml\":\"ob1\",\"communicators\":[{\"handle\":\"0x100\"," MEMBERS
    ",\"flags\":[\"world\"],\"channels\":[{\"peer_local\":0,\"sent\":3,\"expected\":2}]},"
    "{\"handle\":\"0x200\",\"context\":[\"0x0\",\"0x7\"],\"flags\":[\"internal\"]," MEMBERS
    ",\"parent\":\"0x100\"}],"
    "\"operations\":[{\"queue\":\"receives\",\"kind\":\"receive\",\"peer_local\":0,\"tag\":5,"
    "\"request\":\"0x51\",\"datatype\":\"MPI_INT\"},{\"queue\":\"sends\",\"comm\":1,\"peer_local\":2,"
    "\"tag\":-9,\"request\":\"0x60\",\"internal\":true},{\"queue\":\"unexpected\",\"kind\":\"message\","
    "\"peer_local\":2,\"tag\":8}]}";

static struct mpiq_rank_state *state_of(const char *json)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(json, strlen(json), &state);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    CU_ASSERT_PTR_NULL_FATAL(error);
    return state;
}

/* What the two give together; the caller destroys it. */
static struct mpiq_rank_state *join(const char *left, const char *right, bool fit)
{
    struct mpiq_rank_state *state = state_of(left);
    struct mpiq_rank_state *library = state_of(right);
    CU_ASSERT_EQUAL(mpiq_rank_merge_records(state, library), fit);
    CU_ASSERT_EQUAL(state->library_queues, fit);
    mpiq_rank_state_destroy(library);
    return state;
}

/* A copy of text with one part replaced. */
static char *altered(const char *text, const char *part, const char *by)
{
    const char *at = strstr(text, part);
    char *copy = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CU_ASSERT_TRUE_FATAL(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, by, at + strlen(part)) > 0);
    return copy;
}

static void test_queues(void)
{
    struct mpiq_rank_state *state = join(recorded, own, true);
    CU_ASSERT_EQUAL(state->source, MPIQ_SOURCE_RECORDER);
    CU_ASSERT_STRING_EQUAL(state->pml, "ob1");
    CU_ASSERT_EQUAL_FATAL(state->communicator_count, 3);
    CU_ASSERT_EQUAL(state->communicators[1].ordered, 4);
    CU_ASSERT_EQUAL(state->communicators[1].context[1], 1);
    CU_ASSERT_EQUAL_FATAL(state->communicators[1].channel_count, 1);
    CU_ASSERT_EQUAL(state->communicators[1].channels[0].sent, 3);
    CU_ASSERT_FALSE(state->communicators[1].channels[0].counted);
    CU_ASSERT_EQUAL(state->communicators[2].handle, 0x200);
    CU_ASSERT_EQUAL_FATAL(state->operation_count, 3);
    CU_ASSERT_EQUAL(state->operations[0].comm, 1);
    CU_ASSERT_EQUAL(state->operations[0].caller, 0xca11);
    CU_ASSERT_STRING_EQUAL(state->operations[0].datatype, "MPI_INT");
    CU_ASSERT_EQUAL(state->operations[1].comm, 2);
    CU_ASSERT_EQUAL(state->operations[2].comm, 1);
    mpiq_rank_state_destroy(state);
}

/* The recorder knows a communicator that MPI_Comm_idup is making; one that is in use the library has too. */
static void test_unfinished(void)
{
    char *made = altered(recorded, "{\"handle\":\"0x900\",\"flags\":[\"freed\"]", "{\"handle\":\"0x900\"");
    struct mpiq_rank_state *state = join(made, own, true);
    CU_ASSERT_EQUAL(state->communicators[0].handle, 0x900);
    mpiq_rank_state_destroy(state);
    free(made);
    made = altered(recorded, "{\"handle\":\"0x900\",\"flags\":[\"freed\"]",
                   "{\"handle\":\"0x900\",\"channels\":[{\"peer_local\":0,\"sent\":2,\"expected\":1}]");
    mpiq_rank_state_destroy(join(made, own, false));
    free(made);
}

/* Of what a thread waits for, the message that the library has no more is complete; of a collective's request
   the queues do not tell. */
static void test_waits(void)
{
    struct mpiq_rank_state *state = join(recorded, own, true);
    const struct mpiq_wait *wait = &state->threads[0].waits[0];
    CU_ASSERT_EQUAL_FATAL(wait->operation_count, 3);
    CU_ASSERT_EQUAL(wait->operations[0].status, MPIQ_STATUS_PENDING);
    CU_ASSERT_EQUAL(wait->operations[1].status, MPIQ_STATUS_COMPLETE);
    CU_ASSERT_EQUAL(wait->operations[2].status, MPIQ_STATUS_PENDING);
    mpiq_rank_state_destroy(state);
}

/* The request of a blocking call is the last one with its envelope: the recorder has no handle of it. */
static void test_blocking(void)
{
#define SEND_6 "\"peer_local\":2,\"tag\":6,\"request\":\"0xa0\",\"unnamed\":true}"
#define RECEIVE_5 "\"kind\":\"receive\",\"peer_local\":0,\"tag\":5,\"request\":\"0xa8\",\"unnamed\":true}"
    static const char blocking[] =
        PROCESS "\"source\":\"recorder\",\"communicators\":[{\"handle\":\"0x100\"," MEMBERS "}],"
                "\"operations\":[{\"queue\":\"sends\"," SEND_6 ",{\"queue\":\"receives\"," RECEIVE_5 "],"
                "\"threads\":[{\"tid\":7,\"waits\":[{\"kind\":\"all\",\"call\":\"MPI_Sendrecv\",\"need\":2,"
                "\"episode\":2,\"operations\":[{" SEND_6 ",{" RECEIVE_5 "]}]}]}";
    static const char queues[] = PROCESS
        "\"source\":\"layouts\",\"communicators\":[{\"handle\":\"0x100\"," MEMBERS "}],"
        "\"operations\":[{\"queue\":\"receives\",\"kind\":\"receive\",\"peer_local\":0,\"tag\":5,"
        "\"request\":\"0x51\"},{\"queue\":\"receives\",\"kind\":\"receive\",\"peer_local\":0,\"tag\":5,"
        "\"request\":\"0x54\"},{\"queue\":\"receives\",\"kind\":\"receive\",\"peer_local\":2,\"tag\":6,"
        "\"request\":\"0x55\"}]}";
    struct mpiq_rank_state *state = join(blocking, queues, true);
    const struct mpiq_wait *wait = &state->threads[0].waits[0];
    CU_ASSERT_EQUAL(wait->operations[0].status, MPIQ_STATUS_COMPLETE);
    CU_ASSERT_EQUAL(wait->operations[1].status, MPIQ_STATUS_PENDING);
    CU_ASSERT_EQUAL(wait->operations[1].request, 0x54);
    mpiq_rank_state_destroy(state);
}

/* Two exchanges with one envelope each way, the waits for them, and a receive that is known by its handle. */
#define EXCHANGED(queue, kind, tag, request)                                                        \
    "{" queue "\"kind\":\"" kind "\",\"peer_local\":0,\"tag\":" tag ",\"request\":\"" request "\"," \
    "\"unnamed\":true}"
#define SENT(request) EXCHANGED("\"queue\":\"sends\",", "send", "6", request)
#define RECEIVED(request) EXCHANGED("\"queue\":\"receives\",", "receive", "5", request)
static const char exchanges[] = PROCESS
    "\"source\":\"recorder\",\"communicators\":[{\"handle\":\"0x100\"," MEMBERS
    "}],\"operations\":[" SENT("0xa0") "," SENT("0xa1") "," RECEIVED("0x71") "," RECEIVED(
        "0x72") ",{\"queue\":\"receives\",\"kind\":\"receive\",\"peer_local\":0,\"tag\":5,\"request\":"
                "\"0x57\"}],"
                "\"threads\":[{\"tid\":7,\"waits\":[{\"kind\":\"all\",\"call\":\"MPI_Waitall\",\"need\":4,"
                "\"operations\":[" EXCHANGED("", "receive", "5", "0x71") "," EXCHANGED(
                    "", "send", "6", "0xa0") "," EXCHANGED("", "receive", "5",
                                                           "0x72") "," EXCHANGED("", "send", "6",
                                                                                 "0xa1") "]}]}]}";

#define QUEUED(queue, kind, tag, request)                                                                    \
    "{\"queue\":\"" queue "\",\"kind\":\"" kind "\",\"peer_local\":0,\"tag\":" tag ",\"request\":\"" request \
    "\"}"
#define LIBRARY \
    PROCESS "\"source\":\"layouts\",\"communicators\":[{\"handle\":\"0x100\"," MEMBERS "}],\"operations\":["

/* What is waited for, by the library's requests; 0: it is complete. */
static void check_exchanges(const char *queues, const uint64_t expected[4])
{
    struct mpiq_rank_state *state = join(exchanges, queues, true);
    const struct mpiq_wait *wait = &state->threads[0].waits[0];
    CU_ASSERT_EQUAL_FATAL(wait->operation_count, 4);
    for (size_t i = 0; i < 4; i++) {
        bool complete = wait->operations[i].status == MPIQ_STATUS_COMPLETE;
        CU_ASSERT_EQUAL(complete, expected[i] == 0);
        CU_ASSERT_TRUE(complete || wait->operations[i].request == expected[i]);
    }
    mpiq_rank_state_destroy(state);
}

static void test_exchanges(void)
{
    static const char none[] = LIBRARY QUEUED("receives", "receive", "5", "0x57") "]}";
    static const char one[] = LIBRARY QUEUED("sends", "send", "6", "0x61") "," QUEUED(
        "receives", "receive", "5", "0x55") "," QUEUED("receives", "receive", "5", "0x57") "]}";
    static const char both[] = LIBRARY QUEUED("sends", "send", "6", "0x61") "," QUEUED("sends", "send", "6",
                                                                                       "0x62") ","    //
        QUEUED("receives", "receive", "5", "0x55") "," QUEUED("receives", "receive", "5", "0x56") "," //
        QUEUED("receives", "receive", "5", "0x57") "]}";
    check_exchanges(none, (const uint64_t[]){0, 0, 0, 0});
    /* One of two is complete: which one is not known. */
    check_exchanges(one, (const uint64_t[]){0, 0, 0, 0});
    check_exchanges(both, (const uint64_t[]){0x55, 0x61, 0x56, 0x62});
}

/* Members of another world: the library names them, and what the communicator is called on both sides. */
static void test_other_world(void)
{
#define LOCAL "\"local_rank\":1,\"local\":{\"hash\":\"0x1\",\"count\":3,\"members\":[[77,0,3]]}"
    static const char recorder[] = PROCESS
        "\"source\":\"recorder\",\"communicators\":[{\"handle\":\"0x100\",\"context\":[\"0x0\",\"0x1\"]"
        "," LOCAL "},{\"handle\":\"0x300\",\"context\":[\"0xa\",\"0xb\"],\"flags\":[\"inter\"]," LOCAL
        ",\"remote\":{\"hash\":\"0x2\",\"count\":1}}],\"threads\":[{\"tid\":7,\"waits\":[{\"kind\":"
        "\"receive\",\"call\":\"MPI_Recv\",\"need\":1,\"episode\":2,\"operations\":[{\"kind\":\"receive\","
        "\"comm\":1,\"peer_local\":0,\"tag\":5,\"request\":\"0x51\"}]}]}]}";
    static const char library[] = PROCESS
        "\"source\":\"layouts\",\"communicators\":[{\"handle\":\"0x100\",\"context\":[\"0x0\",\"0x0\"]," LOCAL
        "},{\"handle\":\"0x300\",\"context\":[\"0x0\",\"0x6\"],\"flags\":[\"inter\"]," LOCAL
        ",\"remote\":{\"hash\":\"0x3\",\"count\":1,\"members\":[[78,0,1]]}}],\"operations\":[{\"queue\":"
        "\"receives\",\"kind\":\"receive\",\"comm\":1,\"peer_local\":0,\"peer\":[78,0],\"tag\":5,"
        "\"request\":\"0x51\"}]}";
    struct mpiq_rank_state *state = join(recorder, library, true);
    CU_ASSERT_EQUAL(state->communicators[0].context[1], 1);
    CU_ASSERT_EQUAL(state->communicators[1].context[0], 0);
    CU_ASSERT_EQUAL(state->communicators[1].context[1], 6);
    CU_ASSERT_EQUAL(state->communicators[1].remote.hash, 3);
    CU_ASSERT_EQUAL(state->communicators[1].remote.members[0].job, 78);
    CU_ASSERT_EQUAL(state->threads[0].waits[0].operations[0].peer.job, 78);
    mpiq_rank_state_destroy(state);
    char *unread = altered(library, ",\"members\":[[78,0,1]]", "");
    state = join(recorder, unread, true);
    CU_ASSERT_EQUAL(state->communicators[1].context[1], 0xb);
    CU_ASSERT_EQUAL(state->communicators[1].remote.hash, 2);
    mpiq_rank_state_destroy(state);
    free(unread);
}

/* To the library MPI_Finalize has begun, to the recorder not while it calls the program's own functions. */
static void test_finalize(void)
{
    char *changed = altered(own, "\"running\"", "\"finalizing\"");
    struct mpiq_rank_state *state = join(recorded, changed, true);
    CU_ASSERT_EQUAL(state->phase, MPIQ_PHASE_RUNNING);
    mpiq_rank_state_destroy(state);
    free(changed);
    changed = altered(recorded, "\"running\"", "\"finalizing\"");
    mpiq_rank_state_destroy(join(changed, own, false));
    free(changed);
}

/* What does not show the same process, or not all of it, changes nothing. */
static void test_misfits(void)
{
    static const struct {
        const char *part;
        const char *by;
    } changes[] = {
        {"[77,1]", "[77,2]"},
        {"[77,1]", "[78,1]"},
        {"\"running\"", "\"finalized\""},
        {"\"queues_read\":1", "\"queues_read\":0"},
        {"\"layouts\"", "\"stacks\""},
        {"\"0x100\"", "\"0x101\""},
        {"\"local_rank\":1", "\"local_rank\":2"},
        {"\"pml\"", "\"problems\":[{\"code\":\"corrupt\",\"what\":\"waits\",\"text\":\"torn\"}],\"pml\""},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *changed = altered(own, changes[i].part, changes[i].by);
        struct mpiq_rank_state *state = join(recorded, changed, false);
        CU_ASSERT_EQUAL(state->communicators[1].channels[0].sent, 9);
        CU_ASSERT_EQUAL(state->operation_count, 1);
        CU_ASSERT_EQUAL(state->threads[0].waits[0].operations[1].status, MPIQ_STATUS_PENDING);
        mpiq_rank_state_destroy(state);
        free(changed);
    }
}

/* Only another PML's queues are never read. */
static void test_never(void)
{
    static const struct {
        const char *pml;
        const char *queues;
        bool never;
    } cases[] = {
        {"ucx", "0", true}, {"cm", "0", true}, {"ob1", "0", false}, {"", "0", false}, {"ucx", "1", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        CU_ASSERT_TRUE_FATAL(
            asprintf(&text, "{\"name\":[77,1],\"source\":\"layouts\",\"queues_read\":%s,\"pml\":\"%s\"}",
                     cases[i].queues, cases[i].pml) > 0);
        struct mpiq_rank_state *state = state_of(text);
        CU_ASSERT_EQUAL(mpiq_rank_never_merges(state), cases[i].never);
        mpiq_rank_state_destroy(state);
        free(text);
    }
}

/* A program for the standard ABI has handles of its own. */
static void test_other_handles(void)
{
    static const char abi[] = PROCESS
        "\"source\":\"recorder\",\"communicators\":[{\"handle\":\"0x101\",\"flags\":[\"world\"]," MEMBERS
        "}],\"operations\":[{\"queue\":\"receives\",\"kind\":\"receive\",\"peer_local\":0,\"tag\":5,"
        "\"request\":\"0x51\"}]}";
    struct mpiq_rank_state *state = join(abi, own, false);
    CU_ASSERT_EQUAL(state->communicator_count, 1);
    mpiq_rank_state_destroy(state);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"queues and channels are the library's", test_queues},
        {"a communicator in the making", test_unfinished},
        {"what is in no queue is complete", test_waits},
        {"a blocking call is known by its envelope", test_blocking},
        {"halves of an exchange are known by their envelopes", test_exchanges},
        {"processes of another world are the library's to name", test_other_world},
        {"a call inside MPI_Finalize is read with the library's queues", test_finalize},
        {"two that do not fit stay apart", test_misfits},
        {"handles of another kind do not fit", test_other_handles},
        {"queues that are never read", test_never},
        CU_TEST_INFO_NULL,
    };
    return suite_run("merge records", tests);
}
