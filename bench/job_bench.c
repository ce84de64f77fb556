/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_bench RANKS [report|page] | waitall REQUESTS - one made-up hang of that many ranks, ten operations
 * each: time and memory of making the job state, of matching and diagnosis, and of the report.  One line of
 * the table that bench/job prints; and, if asked for, the report or the page.  Inventing the rank states is
 * not part of the time: it is done once without adding them, and what that took is taken off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "job/diagnose.h"
#include "made_hang.h"
#include "report/report.h"
#include "merge/merge.h"
#include "words/sentences.h"

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

static void check(struct mpiq_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "job_bench: %s\n", error->message);
    exit(1);
}

/* Two ranks, each in one MPI_Waitall for that many receives that the other never sends. */
static int waitall(int requests)
{
    struct mpiq_rank_state *state = made_hang_state(2);
    struct mpiq_job_state *job = mpiq_job_state_create();
    struct mpiq_name *members = state->communicators[0].local.members;
    struct mpiq_thread *thread = &state->threads[0];
    struct mpiq_wait *wait = &thread->waits[0];
    state->communicators[0].channel_count = 0;
    state->communicators[0].count_count = state->communicators[0].call_count = 0;
    while (state->operation_count < (size_t)requests)
        mpiq_rank_state_add_operation(state);
    while (wait->operation_count < (size_t)requests)
        mpiq_wait_add_operation(wait);
    double spent = 0;
    for (int look = 1; look <= 2; look++) {
        for (int rank = 0; rank < 2; rank++) {
            state->name = (struct mpiq_name){.job = 1, .rank = rank};
            state->pid = thread->tid = 1000 + rank;
            state->communicators[0].local_rank = rank;
            for (int i = 0; i < requests; i++) {
                made_hang_operation(state, (size_t)i, MPIQ_OPERATION_RECEIVE, 1 - rank, i);
                wait->operations[i] = state->operations[i];
                wait->operations[i].queue = MPIQ_QUEUE_WAIT;
            }
            wait->kind = MPIQ_WAIT_ALL;
            wait->need = requests;
            wait->episode = 7;
            wait->comm = wait->collective_comm = -1;
            wait->collective = -1;
            snprintf(wait->call, sizeof wait->call, "MPI_Waitall");
            snprintf(thread->mpi_call, sizeof thread->mpi_call, "MPI_Waitall");
            double start = now();
            check(mpiq_job_state_add(job, look, state));
            spent += now() - start;
            state->communicators[0].local.members = NULL;
        }
    }
    double start = now();
    check(mpiq_job_state_finish(job));
    spent += now() - start;
    struct mpiq_diagnosis *diagnosis = NULL;
    start = now();
    check(mpiq_diagnose(job, NULL, &diagnosis));
    check(mpiq_write_sentences(job, diagnosis));
    double diagnosed = now() - start;
    printf("%9d requests in one MPI_Waitall on each of 2 ranks: state %.2f s, diagnosis %.2f s, %zu "
           "findings, %s\n",
           requests, spent, diagnosed, diagnosis->finding_count, mpiq_verdict_word(diagnosis->verdict));
    free(members);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    mpiq_rank_state_destroy(state);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "waitall") == 0)
        return waitall(atoi(argv[2]));
    int ranks = argc > 1 ? atoi(argv[1]) : 1000;
    if (ranks < 8) {
        fprintf(stderr, "usage: job_bench RANKS (8 or more) [report|page] | waitall REQUESTS\n");
        return 2;
    }
    struct mpiq_rank_state *state = made_hang_state(ranks);
    struct mpiq_job_state *job = mpiq_job_state_create();
    double begin = now();
    double begin_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int look = 1; look <= 2; look++) {
        for (int rank = 0; rank < ranks; rank++)
            made_hang_fill(state, rank, ranks, look);
    }
    double start = now();
    double start_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double filling = start - begin;
    double filling_cpu = start_cpu - begin_cpu;
    struct mpiq_name *members = state->communicators[0].local.members;
    for (int look = 1; look <= 2; look++) {
        for (int rank = 0; rank < ranks; rank++) {
            made_hang_fill(state, rank, ranks, look);
            check(mpiq_job_state_add(job, look, state));
            state->communicators[0].local.members = NULL; /* sent once */
        }
    }
    check(mpiq_job_state_finish(job));
    double made = now();
    double made_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    start += filling;
    start_cpu += filling_cpu;
    struct mpiq_diagnosis *diagnosis = NULL;
    check(mpiq_diagnose(job, NULL, &diagnosis));
    check(mpiq_write_sentences(job, diagnosis));
    double diagnosed = now();
    bool page = argc > 2 && strcmp(argv[2], "page") == 0;
    struct mpiq_report_options options = {.format = page ? MPIQ_FORMAT_HTML : MPIQ_FORMAT_TEXT};
    char *report _cleanup_free_ = NULL;
    check(mpiq_report_render(job, diagnosis, MPIQ_VIEW_REPORT, NULL, &options, &report));
    double rendered = now();
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - made_cpu;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    unsigned lines = 0;
    for (const char *at = report; *at; at++)
        lines += *at == '\n';
    printf("%9d | %8.2f %8.2f | %8.2f %8.2f %8.2f %8.2f | %8.2f %8.2f | %6ld %6u  %s\n", ranks, made - start,
           made_cpu - start_cpu, diagnosed - made, rendered - diagnosed, rendered - made, cpu,
           rendered - start, cpu + made_cpu - start_cpu, usage.ru_maxrss / 1024, lines,
           mpiq_verdict_word(diagnosis->verdict));
    if (argc > 2)
        fputs(report, stdout);
    free(members);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    mpiq_rank_state_destroy(state);
    return 0;
}
