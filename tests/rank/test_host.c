/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper with DLLs good and bad: MPIQ_TEST_DLLS is the folder that they were built in. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "made_up.h"
#include "plain_dll.h"
#include "rank/confine.h"
#include "rank/rank.h"
#include "suite.h"

/* ---- helpers ---------------------------------------------------------------------------------------- */

static char *dll_path(const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s_dll.so", getenv("MPIQ_TEST_DLLS"), name) < 0)
        abort();
    return path;
}

static struct mpiq_dll_host *patient_host_of(const char *name, double seconds, double wall_seconds,
                                             bool all_members)
{
    _cleanup_free_ char *path = dll_path(name);
    struct mpiq_dll_host *host = NULL;
    const struct mpiq_dll_host_options options = {.dll = path,
                                                  .seconds = seconds,
                                                  .wall_seconds = wall_seconds,
                                                  .memory = (uint64_t)256 << 20,
                                                  .all_members = all_members};
    mpiq_error_destroy(mpiq_dll_host_create(&options, &host));
    CU_ASSERT_PTR_NOT_NULL_FATAL(host);
    return host;
}

static struct mpiq_dll_host *host_of(const char *name, double seconds, bool all_members)
{
    return patient_host_of(name, seconds, 0, all_members);
}

static struct mpiq_error *look(struct mpiq_dll_host *host, int where, struct mpiq_rank_state **ret)
{
    struct made_up made_up;
    made_up_init(&made_up);
    made_up.where = where;
    return mpiq_dll_host_read(host, &made_up.target, ret);
}

/* The state's text without the time of day, which no two looks share. */
static char *text_of(struct mpiq_rank_state *state)
{
    char *text = NULL;
    state->taken_ns = 0;
    mpiq_error_destroy(mpiq_rank_state_to_json(state, &text));
    mpiq_rank_state_destroy(state);
    return text;
}

#define WORLD(members)                                                                                      \
    "\"communicators\":[{\"context\":[\"0x0\",\"0x11\"],\"name\":\"MPI_COMM_WORLD\",\"flags\":[\"world\"]," \
    "\"local_rank\":3,\"local\":{\"hash\":\"0xd79fdea282f2d2d0\",\"count\":8" members "}}]"
#define PROCESS                                                                                         \
    "{\"name\":[77,3],\"world_size\":8,\"pid\":4711,\"host\":\"n1\",\"executable\":\"/home/me/a.out\"," \
    "\"namespace\":\"77\",\"source\":\"debug info\",\"queues_read\":1,\"traced\":true,\"state\":\"S\"," \
    "\"cpu_ns\":5,"
#define SEND                                                                                         \
    ",\"operations\":[{\"queue\":\"sends\",\"peer_local\":5,\"peer\":[77,5],\"tag\":9,\"bytes\":40," \
    "\"buffer\":\"0x10000\"}],"
#define PROBLEM                                                        \
    "\"problems\":[{\"code\":\"unsupported\",\"what\":\"operations\"," \
    "\"text\":\"the unexpected messages cannot be read: no information\"}]}"

static const char good_first[] = PROCESS WORLD(",\"members\":[[77,0,8]]") SEND PROBLEM;
static const char good_later[] = PROCESS WORLD("") SEND PROBLEM;

static void is(char *text, const char *expected)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        printf("\nis:  %s\nnot: %s\n", text, expected);
    free(text);
}

static char *read_well(struct mpiq_dll_host *host, int where)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = look(host, where, &state);
    CU_ASSERT_PTR_NULL(error);
    if (error)
        printf("\n%s\n", error->message);
    mpiq_error_destroy(error);
    return state ? text_of(state) : NULL;
}

/* A look ends in that sentence (after the DLL's path). */
static void fails_with(struct mpiq_dll_host *host, int where, enum mpiq_error_code code, const char *sentence)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = look(host, where, &state);
    CU_ASSERT_PTR_NULL(state);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, sentence));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "_dll.so"));
    if (!strstr(error->message, sentence))
        printf("\nis:  %s\nnot: %s\n", error->message, sentence);
    mpiq_error_destroy(error);
}

/* The same, and the next look is as if nothing had been. */
static void ends_in(struct mpiq_dll_host *host, int where, enum mpiq_error_code code, const char *sentence)
{
    struct mpiq_rank_state *state = NULL;
    fails_with(host, where, code, sentence);
    CU_ASSERT_PTR_NULL_FATAL(look(host, 0, &state));
    /* Members are known by now, or not: both are right after a crash. */
    CU_ASSERT_EQUAL(state->operations[0].tag, 9);
    mpiq_rank_state_destroy(state);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG | __WALL) >= 0;
}

/* ---- a good one ------------------------------------------------------------------------------------- */

static void a_plain_dll_is_read_whole(void)
{
    struct mpiq_dll_host *host = host_of("good", 0, false);
    is(read_well(host, 0), good_first);
    is(read_well(host, 0), good_later);
    mpiq_dll_host_begin_look(host);
    is(read_well(host, 0), good_first);
    is(read_well(host, 0), good_later);
    mpiq_dll_host_destroy(host);

    host = host_of("good", 0, true);
    is(read_well(host, 0), good_first);
    is(read_well(host, 0), good_first);
    mpiq_dll_host_destroy(host);
}

static void a_host_leaves_nothing_behind(void)
{
    int before = open_descriptors();
    struct mpiq_dll_host *host = host_of("good", 0, false);
    free(read_well(host, 0));
    CU_ASSERT_TRUE(has_children());
    mpiq_dll_host_destroy(host);
    CU_ASSERT_FALSE(has_children());
    CU_ASSERT_EQUAL(open_descriptors(), before);
    mpiq_dll_host_destroy(NULL);
}

static void stacks_and_bare_identity_join(void)
{
    struct made_up made_up;
    struct mpiq_rank_state *state = NULL;
    struct mpiq_dll_host *host = host_of("good", 0, false);
    made_up_init(&made_up);
    mpiq_error_destroy(mpiq_rank_read(host, &made_up.target, &(struct mpiq_stack_options){0}, &state));
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    CU_ASSERT_EQUAL_FATAL(state->thread_count, 2);
    CU_ASSERT_EQUAL(state->threads[0].mpi_frame, 2);
    CU_ASSERT_EQUAL(state->threads[0].user_frame, 3);
    CU_ASSERT_STRING_EQUAL(state->threads[0].mpi_call, "MPI_Recv");
    CU_ASSERT_EQUAL(state->threads[1].mpi_frame, -1);
    CU_ASSERT_EQUAL(state->threads[1].state, 'R');
    mpiq_rank_state_destroy(state);
    mpiq_dll_host_destroy(host);

    /* No DLL at all: who it is, and why there is no more. */
    host = host_of("no_such", 0, false);
    mpiq_error_destroy(mpiq_rank_read(host, &made_up.target, &(struct mpiq_stack_options){0}, &state));
    CU_ASSERT_EQUAL(state->name.rank, 3);
    CU_ASSERT_EQUAL(state->name.job, 77);
    CU_ASSERT_EQUAL(state->source, MPIQ_SOURCE_STACKS);
    CU_ASSERT_STRING_EQUAL(state->threads[0].mpi_call, "MPI_Recv");
    CU_ASSERT_EQUAL_FATAL(state->problem_count, 1);
    CU_ASSERT_STRING_EQUAL(state->problems[0].what, "library");
    CU_ASSERT_PTR_NOT_NULL(strstr(state->problems[0].text, "no_such_dll.so"));
    mpiq_rank_state_destroy(state);
    mpiq_dll_host_destroy(host);
}

/* ---- crashing --------------------------------------------------------------------------------------- */

static void a_crash_is_a_sentence(void)
{
    struct mpiq_dll_host *host = host_of("crashing", 0, false);
    ends_in(host, 11, MPIQ_ERROR_INTERNAL,
            "crashed (signal 11, Segmentation fault) while preparing for the program");
    ends_in(host, 22, MPIQ_ERROR_INTERNAL, "crashed (signal 6, Aborted) while preparing for the process");
    ends_in(host, 33, MPIQ_ERROR_INTERNAL,
            "crashed (signal 11, Segmentation fault) while reading the list of communicators");
    ends_in(host, 45, MPIQ_ERROR_INTERNAL,
            "crashed (signal 4, Illegal instruction) while reading a communicator");
    ends_in(host, 51, MPIQ_ERROR_INTERNAL, "while reading a communicator's members");
    ends_in(host, 61, MPIQ_ERROR_INTERNAL, "while going to the next communicator");
    ends_in(host, 71, MPIQ_ERROR_INTERNAL, "while reading pending sends");
    ends_in(host, 76, MPIQ_ERROR_INTERNAL, "crashed (signal 6, Aborted) while reading pending sends");
    ends_in(host, 74, MPIQ_ERROR_INTERNAL, "ended (exit 3) without an answer");
    ends_in(host, 77, MPIQ_ERROR_INTERNAL, "was ended (signal 9, Killed)");
    mpiq_dll_host_destroy(host);
    CU_ASSERT_FALSE(has_children());
}

static void an_answer_of_the_dlls_own_is_none(void)
{
    struct mpiq_dll_host *host = host_of("crashing", 0, false);
    ends_in(host, 78, MPIQ_ERROR_CORRUPT, "sent a malformed reply: JSON: pid is not a whole number");
    is(read_well(host, 19), good_later);
    is(read_well(host, 0), good_later);
    mpiq_dll_host_destroy(host);
    CU_ASSERT_FALSE(has_children());
}

static void a_crash_at_load_is_one_too(void)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_dll_host *host = host_of("crashing", 0, false);
    setenv("MPIQ_TEST_CRASH_AT_LOAD", "1", 1);
    struct mpiq_error *error = look(host, 0, &state);
    unsetenv("MPIQ_TEST_CRASH_AT_LOAD");
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "crashed (signal 6, Aborted) while being loaded"));
    mpiq_error_destroy(error);
    is(read_well(host, 0), good_first);
    mpiq_dll_host_destroy(host);
}

/* Pid of the one helper. */
static int helper(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    int pid = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(children);
    CU_ASSERT_EQUAL_FATAL(fscanf(children, "%d", &pid), 1);
    fclose(children);
    return pid;
}

static void a_helper_that_died_at_rest_is_replaced(void)
{
    struct mpiq_dll_host *host = host_of("good", 0, false);
    is(read_well(host, 0), good_first);
    int pid = helper();
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    is(read_well(host, 0), good_later);
    mpiq_dll_host_destroy(host);
}

/* ---- looping ---------------------------------------------------------------------------------------- */

static void *give_it_the_processor(void *argument)
{
    usleep(2500000);
    kill(*(int *)argument, SIGCONT);
    return NULL;
}

/* Longer than the DLL may take: that time is not the DLL's. */
static void a_helper_without_a_processor_is_waited_for(void)
{
    pthread_t thread;
    struct mpiq_dll_host *host = patient_host_of("good", 2, 90, false);
    is(read_well(host, 0), good_first);
    int pid = helper();
    kill(pid, SIGSTOP);
    if (pthread_create(&thread, NULL, give_it_the_processor, &pid) != 0)
        abort();
    is(read_well(host, 0), good_later);
    CU_ASSERT_EQUAL(helper(), pid);
    pthread_join(thread, NULL);
    mpiq_dll_host_destroy(host);
    CU_ASSERT_FALSE(has_children());
}

#ifndef __SANITIZE_THREAD__
static void a_loop_ends_in_time(void)
{
    struct mpiq_dll_host *host = patient_host_of("looping", 0.3, 90, false);
    ends_in(host, 21, MPIQ_ERROR_TIMEOUT, "timed out after 0.3 s, while preparing for the process");
    ends_in(host, 73, MPIQ_ERROR_TIMEOUT, "timed out after 0.3 s, while reading pending sends");
    /* One rank after another: patience wears out. */
    fails_with(host, 21, MPIQ_ERROR_TIMEOUT, "after 0.3 s");
    fails_with(host, 21, MPIQ_ERROR_TIMEOUT, "after 0.06 s");
    fails_with(host, 21, MPIQ_ERROR_TIMEOUT, "after 0.033 s");
    mpiq_dll_host_destroy(host);
    host = patient_host_of("looping", 90, 0.3, false);
    fails_with(host, 42, MPIQ_ERROR_TIMEOUT, "timed out after 0.3 s, while reading a communicator");
    mpiq_dll_host_destroy(host);
    CU_ASSERT_FALSE(has_children());
}
#endif

static void memory_has_a_limit(void)
{
#if !MPIQ_SANITIZED
    struct mpiq_dll_host *host = host_of("looping", 20, false);
    ends_in(host, 34, MPIQ_ERROR_INTERNAL, "while reading the list of communicators");
    mpiq_dll_host_destroy(host);
#endif
}

static void a_list_without_end_is_cut(void)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_dll_host *host = host_of("looping", 60, false);
    CU_ASSERT_PTR_NULL(look(host, 68, &state));
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    CU_ASSERT_EQUAL(state->communicator_count, 1 << 16);
    CU_ASSERT_STRING_EQUAL(state->problems[state->problem_count - 1].text,
                           "the list of communicators does not come to an end");
    mpiq_rank_state_destroy(state);
    CU_ASSERT_PTR_NULL(look(host, 79, &state));
    CU_ASSERT_EQUAL(state->operation_count, 1 << 18);
    CU_ASSERT_EQUAL(state->queues, MPIQ_UNKNOWN);
    CU_ASSERT_STRING_EQUAL(state->problems[0].text,
                           "there are too many operations, or their list has no end");
    mpiq_rank_state_destroy(state);
    mpiq_dll_host_destroy(host);
}

/* ---- lying ------------------------------------------------------------------------------------------ */

static void what_cannot_be_is_not_believed(void)
{
    struct mpiq_dll_host *host = host_of("lying", 0, false);
    struct mpiq_rank_state *state = NULL;

    CU_ASSERT_PTR_NULL_FATAL(look(host, 41, &state));
    CU_ASSERT_EQUAL(state->communicators[0].local_rank, -1);
    CU_ASSERT_EQUAL(strlen(state->communicators[0].name), 63);
    mpiq_rank_state_destroy(state);
    for (int how = 2; how <= 4; how++) {
        CU_ASSERT_PTR_NULL_FATAL(look(host, 40 + how, &state));
        CU_ASSERT_EQUAL(state->communicator_count, 0);
        CU_ASSERT_STRING_EQUAL(state->problems[0].what, "communicators");
        CU_ASSERT_STRING_EQUAL(state->problems[0].text,
                               how == 4 ? "a communicator cannot be read: an error without a name"
                                        : "a communicator has an impossible size");
        mpiq_rank_state_destroy(state);
    }
    CU_ASSERT_PTR_NULL_FATAL(look(host, 51, &state));
    CU_ASSERT_EQUAL(state->communicators[0].local.members[7].rank, -1);
    mpiq_rank_state_destroy(state);
    CU_ASSERT_PTR_NULL_FATAL(look(host, 61, &state));
    CU_ASSERT_EQUAL(state->communicator_count, 1);
    mpiq_rank_state_destroy(state);
    CU_ASSERT_PTR_NULL_FATAL(look(host, 71, &state));
    CU_ASSERT_EQUAL_FATAL(state->operation_count, 3);
    CU_ASSERT_EQUAL(state->operations[0].peer_local, -1);
    CU_ASSERT_EQUAL(state->operations[0].actual_local, -1);
    CU_ASSERT_EQUAL(state->operations[0].bytes, -1);
    mpiq_rank_state_destroy(state);
    CU_ASSERT_PTR_NULL_FATAL(look(host, 11, &state));
    CU_ASSERT_EQUAL(state->queues, MPIQ_UNKNOWN);
    CU_ASSERT_STRING_EQUAL(state->problems[0].text, "the program cannot be prepared for reading: error 4242");
    mpiq_rank_state_destroy(state);
    mpiq_dll_host_destroy(host);
}

/* What a check of a layout finds is no failure to read: the report says what it found, and nothing else. */
static void a_layout_that_does_not_fit_is_said_as_it_is(void)
{
    struct mpiq_dll_host *host = host_of("misfitting", 0, false);
    for (int i = 0; i < 2; i++) {
        struct mpiq_rank_state *state = NULL;
        CU_ASSERT_PTR_NULL_FATAL(look(host, i * (10 * PLACE_QUEUES + 1), &state));
        bool layout = false, queues = false;
        for (size_t j = 0; j < state->problem_count; j++) {
            const char *text = state->problems[j].text;
            layout |= strcmp(text, "not read, because Open MPI 4.1.4 is built differently here: ompi_op_t: "
                                   "ompi_mpi_op_sum is not named MPI_SUM") == 0;
            queues |=
                strcmp(text,
                       "the process has no message queues to read: The MPI library of the process is Open "
                       "MPI 4.1.4, but its structures do not match the built-in layout.: error 100") == 0;
            CU_ASSERT_PTR_NULL(strstr(text, "memory"));
            if (strstr(text, "memory"))
                printf("\n%s\n", text);
        }
        CU_ASSERT_TRUE(i == 0 ? layout : queues);
        mpiq_rank_state_destroy(state);
    }
    mpiq_dll_host_destroy(host);
}

static void a_dll_of_another_kind_is_refused(void)
{
    static const struct {
        const char *name;
        const char *sentence;
    } rows[] = {{"old", "does not have version 2 of the interface"},
                {"narrow", "was built for another address width"},
                {"empty", "is not one: it does not say which version of the interface it has"},
                {"partial", "lacks mqs_setup_basic_callbacks()"},
                {"no_such", "there is no message-queue library"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_rank_state *state = NULL;
        struct mpiq_dll_host *host = host_of(rows[i].name, 0, false);
        struct mpiq_error *error = look(host, 0, &state);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error);
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, rows[i].sentence));
        if (!strstr(error->message, rows[i].sentence))
            printf("\n%s\n", error->message);
        mpiq_error_destroy(error);
        mpiq_dll_host_destroy(host);
    }
}

/* ---- confined --------------------------------------------------------------------------------------- */

static void a_dll_cannot_reach_beyond_its_process(void)
{
#if !MPIQ_SANITIZED
    struct mpiq_dll_host *host = host_of("escaping", 20, false);
    struct mpiq_rank_state *state = NULL;
    CU_ASSERT_PTR_NULL_FATAL(look(host, 41, &state));
    CU_ASSERT_STRING_EQUAL(state->communicators[0].name, "escaped:");
    mpiq_rank_state_destroy(state);
    setenv("MPIQ_SECRET", "not for others", 1);
    mpiq_dll_host_destroy(host);
    host = host_of("escaping", 20, false);
    CU_ASSERT_PTR_NULL_FATAL(look(host, 42, &state));
    /* Directory, variables, a group of its own, MiB of memory, core files, descriptors. */
    CU_ASSERT_STRING_EQUAL(state->communicators[0].name, "/ 0 1 256 0 64");
    mpiq_rank_state_destroy(state);
    mpiq_dll_host_destroy(host);
#endif
}

/* ---- side by side ----------------------------------------------------------------------------------- */

static void *read_many(void *argument)
{
    struct mpiq_dll_host *host = argument;
    intptr_t wrong = 0;
    for (int i = 0; i < 50; i++) {
        struct mpiq_rank_state *state = NULL;
        struct mpiq_error *error = look(host, 0, &state);
        wrong += error != NULL;
        mpiq_error_destroy(error);
        mpiq_rank_state_destroy(state);
    }
    return (void *)wrong;
}

static void hosts_work_side_by_side(void)
{
    pthread_t threads[4];
    struct mpiq_dll_host *hosts[4];
    for (int i = 0; i < 4; i++) {
        hosts[i] = host_of("good", 0, false);
        if (pthread_create(&threads[i], NULL, read_many, hosts[i]) != 0)
            abort();
    }
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CU_ASSERT_PTR_NULL(wrong);
        mpiq_dll_host_destroy(hosts[i]);
    }
    CU_ASSERT_FALSE(has_children());
}

int main(void)
{
    if (!getenv("MPIQ_TEST_DLLS")) {
        fprintf(stderr, "test_host: MPIQ_TEST_DLLS is not set: run it with meson test\n");
        return 77;
    }
    CU_TestInfo tests[] = {
        {"a plain DLL is read whole", a_plain_dll_is_read_whole},
        {"a host leaves nothing behind", a_host_leaves_nothing_behind},
        {"stacks are read with and without a library", stacks_and_bare_identity_join},
        {"a crash of the DLL becomes a sentence", a_crash_is_a_sentence},
        {"an answer forged by the DLL is refused", an_answer_of_the_dlls_own_is_none},
        {"a crash while loading becomes a sentence", a_crash_at_load_is_one_too},
        {"a helper that died while idle is replaced", a_helper_that_died_at_rest_is_replaced},
        {"a helper without a processor is waited for", a_helper_without_a_processor_is_waited_for},
#ifndef __SANITIZE_THREAD__ /* under which a signal waits for a call of its runtime: a loop makes none */
        {"a loop ends in time", a_loop_ends_in_time},
#endif
        {"a DLL cannot reach beyond its process", a_dll_cannot_reach_beyond_its_process},
        {"memory has a limit", memory_has_a_limit},
        {"a list without end is cut", a_list_without_end_is_cut},
        {"impossible values are not believed", what_cannot_be_is_not_believed},
        {"a layout that does not fit is reported", a_layout_that_does_not_fit_is_said_as_it_is},
        {"a DLL with another interface is refused", a_dll_of_another_kind_is_refused},
        {"hosts work in parallel", hosts_work_side_by_side},
        CU_TEST_INFO_NULL,
    };
    return suite_run("host", tests);
}
