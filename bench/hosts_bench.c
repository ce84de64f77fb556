/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts_bench HOSTS RANKS - made-up collectors of so many hosts, so many ranks each, through the real way
 * from their lines to the report: one line of the table that bench/hosts prints.
 *
 * One process speaks for all of them, as srun does, and is not measured: the hang of made_hang.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/collector.h"
#include "hosts/launcher.h"
#include "job/diagnose.h"
#include "session/remote.h"
#include "made_hang.h"
#include "report/report.h"
#include "merge/merge.h"
#include "words/sentences.h"

enum { WAIT = 600 };

static int host_count, ranks_a_host;

static void check(struct mpiq_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "hosts_bench: %s\n", error->message);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Seconds of the processor. */
static double processor(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* ---- the collectors ------------------------------------------------------------------------------------ */

static void say_hello(struct mpiq_collector *host, const char *name, int index,
                      const struct mpiq_group_senders *groups)
{
    struct mpiq_hello hello = {.version = (char[]){MPIQ_VERSION}, .host = strdup(name)};
    struct mpiq_hello_world *world = mpiq_hello_add_world(&hello, "1");
    uint32_t first = (uint32_t)(index * ranks_a_host);
    if (!world || !mpiq_rank_set_add_range(&world->ranks, 0, first, first + (uint32_t)ranks_a_host - 1))
        exit(1);
    check(mpiq_collector_hello(host, &hello));
    check(mpiq_collector_looked_once(host, groups));
    hello.version = NULL;
    mpiq_hello_deinit(&hello);
}

/* One look of all ranks of a host into the writer; the first rank of a host that tells names the members of
   the world, once. */
static void add_look(struct mpiq_snapshot_writer *writer, struct mpiq_rank_state **states, int index,
                     int look, bool tells)
{
    struct mpiq_group *world = &states[0]->communicators[0].local;
    struct mpiq_name *members = world->members;
    for (int i = 0; i < ranks_a_host; i++)
        made_hang_fill(states[i], index * ranks_a_host + i, host_count * ranks_a_host, look);
    if (!tells || look > 1)
        world->members = NULL;
    check(mpiq_snapshot_add_folded(writer, look, (const struct mpiq_rank_state *const *)states,
                                   (size_t)ranks_a_host));
    world->members = members;
}

static void say_snapshot(struct mpiq_collector *host, struct mpiq_rank_state **states, int index, bool tells)
{
    struct mpiq_snapshot_writer *writer = NULL;
    char *bytes _cleanup_free_ = NULL;
    size_t size = 0;
    check(mpiq_snapshot_create_memory(&writer));
    for (int look = 1; look <= 2; look++)
        add_look(writer, states, index, look, tells);
    check(mpiq_snapshot_finish_memory(writer, &bytes, &size));
    check(mpiq_collector_looked_twice(host));
    check(mpiq_collector_send(host, bytes, size));
}

static int collect(const struct mpiq_launch *launch, const struct mpiq_launch_command *command)
{
    struct mpiq_collector *hosts = calloc(command->host_count, sizeof *hosts);
    struct mpiq_rank_state **states = calloc((size_t)ranks_a_host, sizeof *states);
    struct mpiq_group_senders groups = {0};
    char word[MPIQ_GO_LENGTH_MOST + 1] = "";
    if (!hosts || !states)
        return 1;
    for (int i = 0; i < ranks_a_host; i++) {
        states[i] = made_hang_state(host_count * ranks_a_host);
        if (i > 0)
            free(mpiq_steal(states[i]->communicators[0].local.members));
    }
    uint64_t world = states[0]->communicators[0].local.hash;
    if (host_count * ranks_a_host >= MPIQ_LARGE_GROUP)
        mpiq_group_senders_add(&groups, world);
    for (int i = 0; i < host_count; i++) {
        hosts[i].token = (uint64_t)i + 1;
        say_hello(&hosts[i], launch->hosts[i].name, i, &groups);
    }
    if (read(STDIN_FILENO, word, sizeof word - 1) <= 0)
        return 1;
    for (int i = 0; i < host_count; i++)
        say_snapshot(&hosts[i], states, i, !mpiq_others_tell_group(word, world, hosts[i].token));
    return 0;
}

/* ---- a launcher that starts them ----------------------------------------------------------------------- */

static bool detect(const struct mpiq_launch_query *query)
{
    (void)query;
    return true;
}

static struct mpiq_error *find(const struct mpiq_launch_query *query, struct mpiq_launch *ret)
{
    struct mpiq_error *error = NULL;
    (void)query;
    ret->job = strdup("the made-up job");
    for (int i = 0; i < host_count && !error; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        error = mpiq_launch_add_host(ret, name, strlen(name));
    }
    return error;
}

static struct mpiq_error *commands(const struct mpiq_launch *launch, char *const *collector,
                                   struct mpiq_launch_command **ret, size_t *count)
{
    struct mpiq_launch_command *command = NULL;
    struct mpiq_error *error = mpiq_launch_add_command(ret, count, &command);
    (void)collector;
    if (error)
        return error;
    command->host_count = launch->host_count;
    command->run = collect;
    return NULL;
}

static const struct mpiq_launcher made_up = {
    .name = "made-up", .title = "made-up", .detect = detect, .find = find, .commands = commands};

/* ---- the root ------------------------------------------------------------------------------------------ */

static struct mpiq_error *add(void *context, int look, struct mpiq_rank_state **state)
{
    return mpiq_job_state_add(context, look, *state);
}

int main(int argc, char **argv)
{
    host_count = argc > 2 ? atoi(argv[1]) : 0;
    ranks_a_host = argc > 2 ? atoi(argv[2]) : 0;
    if (host_count < 1 || ranks_a_host < 1 || host_count * ranks_a_host < 8) {
        fprintf(stderr, "usage: hosts_bench HOSTS RANKS_A_HOST (8 ranks or more)\n");
        return 2;
    }
    const struct mpiq_launch_query query = {.launcher = &made_up};
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    struct mpiq_remote *remote = NULL;
    struct mpiq_diagnosis *diagnosis = NULL;
    struct mpiq_job_state *job = mpiq_job_state_create();
    const struct mpiq_report_options report_options = {0};
    char *report _cleanup_free_ = NULL;
    struct rusage own, made, readers;
    options.wait = WAIT;
    double start = now();
    check(mpiq_remote_create(&query, &options, &remote));
    check(mpiq_remote_start(remote));
    check(mpiq_remote_wait(remote, 1));
    mpiq_remote_go(remote);
    check(mpiq_remote_wait(remote, 2));
    check(mpiq_remote_finish(remote));
    double gathered = now();
    getrusage(RUSAGE_CHILDREN, &made); /* the made-up collectors have ended */
    check(mpiq_remote_each(remote, add, job));
    check(mpiq_job_state_finish(job));
    double merged = now();
    getrusage(RUSAGE_CHILDREN, &readers);
    check(mpiq_diagnose(job, NULL, &diagnosis));
    check(mpiq_write_sentences(job, diagnosis));
    check(mpiq_report_render(job, diagnosis, MPIQ_VIEW_REPORT, NULL, &report_options, &report));
    double told = now();
    getrusage(RUSAGE_SELF, &own);
    mpiq_remote_destroy(remote);
    printf("%6d %9d | %8.2f %8.2f %8.2f %8.2f | %8.2f %8.2f | %6ld | %s\n", host_count,
           host_count * ranks_a_host, gathered - start, merged - gathered, told - merged, told - start,
           processor(&own), processor(&readers) - processor(&made), own.ru_maxrss / 1024,
           mpiq_verdict_word(diagnosis->verdict));
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    return 0;
}
