/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that lie, on the whole way from their lines to the job's state: made-up collectors behind a launcher
   of the test's own, read by the real reader. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/collector.h"
#include "hosts/launcher.h"
#include "session/remote.h"
#include "merge/merge.h"
#include "suite.h"

enum { HOSTS = 2, RANKS = 2, JOB = 7, WAIT = 60 };

/* What one host says: the ranks that it announces, and what its snapshot says. */
struct story {
    const char *nspace;       /* announced */
    int announced;            /* first of RANKS */
    const char *state_nspace; /* in its states */
    uint32_t job;
    int first;           /* rank in its states */
    const char *garbage; /* in place of a snapshot; NULL: it sends one */
    int others;          /* worlds that it announces before that one */
};

static struct story stories[HOSTS];
static bool mapped; /* the launcher says which ranks it has started on which host */

/* Ends a made-up host that has no memory. */
static void must(struct mpiq_error *error)
{
    if (error)
        exit(1);
}

static void say_hello(struct mpiq_collector *collector, const struct story *story)
{
    struct mpiq_hello hello = {.version = strdup(MPIQ_VERSION), .host = strdup("h")};
    struct mpiq_group_senders groups = {0};
    for (int i = 0; i < story->others; i++) {
        char name[32];
        snprintf(name, sizeof name, "made up %d", i);
        if (!mpiq_hello_add_world(&hello, name))
            exit(1);
    }
    struct mpiq_hello_world *world = mpiq_hello_add_world(&hello, story->nspace);
    uint32_t first = (uint32_t)story->announced;
    if (!world || !mpiq_rank_set_add_range(&world->ranks, 0, first, first + RANKS - 1))
        exit(1);
    must(mpiq_collector_hello(collector, &hello));
    must(mpiq_collector_looked_once(collector, &groups));
    mpiq_hello_deinit(&hello);
}

static char *snapshot_of(const struct story *story, size_t *size)
{
    struct mpiq_snapshot_writer *writer = NULL;
    char *bytes = NULL;
    if (story->garbage) {
        bytes = strdup(story->garbage);
        *size = strlen(bytes);
        return bytes;
    }
    must(mpiq_snapshot_create_memory(&writer));
    for (int look = 1; look <= 2; look++) {
        struct mpiq_rank_state *states[RANKS];
        for (int i = 0; i < RANKS; i++) {
            struct mpiq_rank_state *state = states[i] = mpiq_rank_state_create();
            state->name = (struct mpiq_name){.job = story->job, .rank = story->first + i};
            state->world_size = HOSTS * RANKS;
            state->pid = 100 + i;
            snprintf(state->host, sizeof state->host, "the host it claims");
            snprintf(state->nspace, sizeof state->nspace, "%s", story->state_nspace);
        }
        must(mpiq_snapshot_add_folded(writer, look, (const struct mpiq_rank_state *const *)states, RANKS));
        for (int i = 0; i < RANKS; i++)
            mpiq_rank_state_destroy(states[i]);
    }
    must(mpiq_snapshot_finish_memory(writer, &bytes, size));
    return bytes;
}

static int collect(const struct mpiq_launch *launch, const struct mpiq_launch_command *command)
{
    const struct story *story = &stories[command->first_host];
    struct mpiq_collector collector = {.token = command->first_host + 1};
    char word[8];
    size_t size = 0;
    (void)launch;
    say_hello(&collector, story);
    if (read(STDIN_FILENO, word, sizeof word) <= 0)
        return 1;
    char *bytes _cleanup_free_ = snapshot_of(story, &size);
    must(mpiq_collector_looked_twice(&collector));
    must(mpiq_collector_send(&collector, bytes, size));
    return 0;
}

static bool detect(const struct mpiq_launch_query *query)
{
    (void)query;
    return true;
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    struct mpiq_error *error = NULL;
    (void)query;
    ret->job = strdup("the job");
    for (int i = 0; i < HOSTS && !error; i++)
        error = mpiq_launch_add_host(ret, i == 0 ? "n1" : "n2", 2);
    for (uint32_t i = 0; i < HOSTS && mapped && !error; i++) {
        if (!mpiq_rank_set_add_range(&ret->hosts[i].ranks, 0, i * RANKS, i * RANKS + RANKS - 1))
            exit(1);
    }
    return error;
}

static struct mpiq_error *commands(const struct mpiq_launch *launch, char *const *collector,
                                   struct mpiq_launch_command **ret, size_t *count)
{
    struct mpiq_error *error = NULL;
    (void)collector;
    for (size_t i = 0; i < launch->host_count && !error; i++) {
        struct mpiq_launch_command *command = NULL;
        error = mpiq_launch_add_command(ret, count, &command);
        if (!error)
            *command = (struct mpiq_launch_command){.first_host = i, .host_count = 1, .run = collect};
    }
    return error;
}

static const struct mpiq_launcher made_up = {
    .name = "made-up", .title = "made-up", .detect = detect, .find = find, .commands = commands};

static struct mpiq_error *add(void *context, int look, struct mpiq_rank_state **state)
{
    return mpiq_job_state_add(context, look, *state);
}

/* The job that the two stories come to. */
static struct mpiq_job_state *job_of(struct story one, struct story other)
{
    const struct mpiq_launch_query query = {.launcher = &made_up};
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    struct mpiq_remote *remote = NULL;
    struct mpiq_job_state *job = mpiq_job_state_create();
    options.wait = WAIT;
    stories[0] = one;
    stories[1] = other;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_remote_create(&query, &options, &remote));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_remote_start(remote));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_remote_wait(remote, 1));
    mpiq_remote_go(remote);
    CU_ASSERT_PTR_NULL_FATAL(mpiq_remote_wait(remote, 2));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_remote_finish(remote));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_remote_each(remote, add, job));
    CU_ASSERT_PTR_NULL_FATAL(mpiq_job_state_finish(job));
    mpiq_remote_destroy(remote);
    return job;
}

static struct story honest(int first)
{
    return (struct story){
        .nspace = "job", .announced = first, .state_nspace = "job", .job = JOB, .first = first};
}

static const char *problem_of(const struct mpiq_job_state *job, uint32_t index)
{
    return mpiq_job_string(job, job->problems[job->ranks[index].first_problem].text);
}

/* How many rows are no rank, the first of which has that text. */
static int disowned(const struct mpiq_job_state *job, const char *text)
{
    int count = 0;
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].process != MPIQ_NONE)
            continue;
        count++;
        CU_ASSERT_PTR_NOT_NULL(strstr(problem_of(job, i), text));
    }
    return count;
}

static void test_honest_hosts(void)
{
    struct mpiq_job_state *job = job_of(honest(0), honest(RANKS));
    CU_ASSERT_EQUAL(job->process_count, HOSTS * RANKS);
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), HOSTS * RANKS);
    CU_ASSERT_EQUAL(job->host_count, HOSTS);
    CU_ASSERT_STRING_EQUAL(mpiq_job_string(job, job->hosts[0]), "n1");
    mpiq_job_state_destroy(job);
}

/* The other host's is read all the same: before it, or while the broken one is found to be. */
static void test_a_broken_snapshot(void)
{
    static const char *const garbage[] = {"mpiq snapshot 1\nand then nothing that makes sense", ""};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct story broken = honest(RANKS);
        broken.garbage = garbage[i];
        struct mpiq_job_state *job = job_of(honest(0), broken);
        CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), RANKS);
        CU_ASSERT_EQUAL(disowned(job, "host n2 (ranks 2-3): "), 1);
        CU_ASSERT(mpiq_job_is_lost_host(job, &job->ranks[job->rank_count - 1]));
        mpiq_job_state_destroy(job);
        broken.announced = 0;
        job = job_of(broken, honest(RANKS));
        CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), RANKS);
        CU_ASSERT_EQUAL(disowned(job, "host n1 (ranks 0-1): "), 1);
        mpiq_job_state_destroy(job);
    }
}

static void test_ranks_that_were_not_announced(void)
{
    struct story liar = honest(RANKS);
    liar.first = 0;
    struct mpiq_job_state *job = job_of(liar, honest(0));
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), RANKS);
    CU_ASSERT_EQUAL(disowned(job, "its host did not say that it runs there"), RANKS);
    CU_ASSERT_STRING_EQUAL(mpiq_job_string(job, mpiq_job_rank_of(job, 0)->host), "n2");
    mpiq_job_state_destroy(job);
}

static void test_ranks_that_two_hosts_claim(void)
{
    struct mpiq_job_state *job = job_of(honest(0), honest(0));
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), 0);
    CU_ASSERT_EQUAL(disowned(job, "two hosts say that it runs there"), 2 * RANKS);
    mpiq_job_state_destroy(job);
}

/* Where the launcher says who is where, a liar costs nobody else a rank. */
static void test_ranks_of_another_host(void)
{
    mapped = true;
    struct mpiq_job_state *job = job_of(honest(0), honest(0));
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), RANKS);
    CU_ASSERT_EQUAL(disowned(job, "the launcher started it on another host"), RANKS);
    CU_ASSERT_STRING_EQUAL(mpiq_job_string(job, mpiq_job_rank_of(job, 0)->host), "n1");
    mpiq_job_state_destroy(job);
    job = job_of(honest(0), honest(RANKS));
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), HOSTS * RANKS);
    mpiq_job_state_destroy(job);
    mapped = false;
}

/* It announces ranks of a namespace of its own, and speaks for the job's by their number. */
static void test_another_jobs_number(void)
{
    struct story liar = {.nspace = "mine", .announced = 0, .state_nspace = "mine", .job = JOB, .first = 0};
    struct mpiq_job_state *job = job_of(honest(0), liar);
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), RANKS);
    CU_ASSERT_EQUAL(disowned(job, "have another job's number"), RANKS);
    mpiq_job_state_destroy(job);
}

/* As many worlds as a host may have, all of them made up: the others' are heard all the same. */
static void test_a_host_of_many_worlds(void)
{
    struct story liar = honest(RANKS);
    liar.nspace = "mine";
    liar.others = MPIQ_HELLO_WORLDS_MOST - 1;
    struct mpiq_job_state *job = job_of(liar, honest(0));
    CU_ASSERT_EQUAL(mpiq_job_ranks_read(job), RANKS);
    CU_ASSERT_STRING_EQUAL(mpiq_job_string(job, mpiq_job_rank_of(job, 0)->host), "n2");
    mpiq_job_state_destroy(job);
}

int main(void)
{
    CU_TestInfo tests[] = {{"honest hosts", test_honest_hosts},
                           {"a host of many worlds", test_a_host_of_many_worlds},
                           {"a damaged snapshot costs only its host", test_a_broken_snapshot},
                           {"ranks that were not announced are refused", test_ranks_that_were_not_announced},
                           {"ranks claimed by two hosts are not believed", test_ranks_that_two_hosts_claim},
                           {"a host cannot report another host's ranks", test_ranks_of_another_host},
                           {"another job's number", test_another_jobs_number},
                           CU_TEST_INFO_NULL};
    return suite_run("remote", tests);
}
