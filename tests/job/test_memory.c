/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job is put together, diagnosed and reported in a process in which one allocation after another fails: the
 * answer is an error, or what it is with memory; never a shorter one.  test_memory FILE…: the states of a
 * job, as tests/fuzz/state keeps them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "job/diagnose.h"
#include "report/report.h"
#include "merge/merge.h"
#include "suite.h"
#include "words/sentences.h"

static char **files;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || fread(text, 1, (1 << 20) - 1, file) < 2)
        abort();
    fclose(file);
    return text;
}

static struct mpiq_error *add_line(struct mpiq_job_state *job, int look, const char *line, size_t length)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(line, length, &state);
    if (!error)
        error = mpiq_job_state_add(job, look, state);
    mpiq_rank_state_destroy(state);
    return error;
}

/* The states of text, one a line, those of look 2 after an empty one. */
static struct mpiq_error *add_lines(struct mpiq_job_state *job, const char *text)
{
    struct mpiq_error *error = NULL;
    int look = 1;
    while (!error && *text) {
        size_t length = strcspn(text, "\n");
        if (length == 0)
            look = 2;
        else
            error = add_line(job, look, text, length);
        text += length + (text[length] == '\n');
    }
    return error;
}

/* The report as JSON; NULL with an error. */
static char *answer(const char *text)
{
    static const struct mpiq_report_options options = {.format = MPIQ_FORMAT_JSON, .all = true};
    struct mpiq_diagnosis *diagnosis = NULL;
    char *json = NULL;
    struct mpiq_job_state *job = mpiq_job_state_create();
    struct mpiq_error *error = job ? add_lines(job, text) : NULL;
    if (job && !error)
        error = mpiq_job_state_finish(job);
    if (job && !error)
        error = mpiq_diagnose(job, NULL, &diagnosis);
    if (job && !error)
        error = mpiq_write_sentences(job, diagnosis);
    if (job && !error)
        error = mpiq_report_render(job, diagnosis, MPIQ_VIEW_REPORT, NULL, &options, &json);
    if (error && error->code != MPIQ_ERROR_NO_MEMORY) {
        printf("\nnot an error of memory: %s\n", error->message);
        CU_FAIL("another error");
    }
    mpiq_error_destroy(error);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
    return json;
}

static void try_file(const char *path, bool once)
{
    char *file = read_file(path);
    char *whole = answer(file + 1); /* behind what says to the fuzzer what it is */
    unsigned long count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
    for (bool failed = true; failed; count++) {
        fail_once = once;
        fail_at = count + 1;
        char *json = answer(file + 1);
        failed = fail_at == 0 || fail_at == 1;
        fail_at = 0;
        bool good = !json || strcmp(json, whole) == 0;
        CU_ASSERT(good);
        if (!good)
            printf("\n%s: nobody misses allocation %lu:\n%s\n%s\n", path, count + 1, whole, json);
        free(json);
    }
    CU_ASSERT(count > 100);
    free(whole);
    free(file);
}

static void one_allocation_that_fails_is_missed(void)
{
    for (char **path = files; *path; path++)
        try_file(*path, true);
}

static void all_from_one_on_are_missed(void)
{
    for (char **path = files; *path; path++)
        try_file(*path, false);
}

int main(int count, char **words)
{
    (void)count;
    files = words + 1;
    if (MPIQ_SANITIZED)
        return 77; /* whose allocations are its own */
    CU_TestInfo tests[] = {
        {"one failed allocation is an error", one_allocation_that_fails_is_missed},
        {"all allocations failing from one on is an error", all_from_one_on_are_missed},
        CU_TEST_INFO_NULL,
    };
    return suite_run("job memory", tests);
}
