/* SPDX-License-Identifier: BSD-3-Clause */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"
#include "made_state.h"
#include "merge/merge.h"
#include "words/sentences.h"

/* Jobs of more are about size alone. */
enum { MOST_MADE_RANKS = 32 };

static void fail(struct mpiq_error *error)
{
    if (error)
        CU_FAIL(error->message);
    mpiq_error_destroy(error);
}

void job_check_texts(const struct mpiq_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        if (!finding->text || !*finding->text) {
            printf("\n%s has no sentence\n", mpiq_finding_word(finding->kind));
            CU_FAIL("a finding without a sentence");
        }
    }
}

/* The second look at what has not moved, but for the time and what waiting costs. */
static void see_again(struct mpiq_rank_state *state)
{
    state->taken_ns++;
    if (state->process_state != 'R')
        return;
    state->cpu_ns += 100000000;
    for (size_t i = 0; i < state->thread_count; i++)
        state->threads[i].cpu_ns += 100000000;
}

struct mpiq_diagnosis *job_diagnose(struct job_builder *job, struct mpiq_job_state **ret)
{
    *ret = mpiq_job_state_create();
    FILE *made = job->ranks <= MOST_MADE_RANKS ? made_state_begin() : NULL;
    for (int look = 0; look < (job->one_look ? 1 : 2); look++) {
        for (int rank = 0; rank < job->ranks; rank++) {
            if (job->alike && look == 1)
                see_again(job->states[1][rank]);
            if (job->unread[rank])
                continue;
            made_state_add(made, look + 1, job->states[look][rank]);
            fail(mpiq_job_state_add(*ret, look + 1, job->states[look][rank]));
        }
    }
    made_state_end(made);
    fail(mpiq_job_state_finish(*ret));
    struct mpiq_diagnosis *diagnosis = NULL;
    fail(mpiq_diagnose(*ret, &job->options, &diagnosis));
    fail(mpiq_write_sentences(*ret, diagnosis));
    job_check_texts(diagnosis);
    return diagnosis;
}

static void print_set(FILE *out, const char *word, const struct mpiq_rank_set *set)
{
    char *text = mpiq_rank_set_text(set, 0);
    if (set->size > 0)
        fprintf(out, " %s %s", word, text);
    free(text);
}

char *job_answer(struct job_builder *job)
{
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(job, &state);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%s: %s\n", mpiq_verdict_word(diagnosis->verdict), diagnosis->text);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        if (finding->consequence_of != MPIQ_NONE)
            fprintf(out, "  follows from %u: ", finding->consequence_of + 1);
        fprintf(out, "%s%s", mpiq_finding_word(finding->kind), finding->proven ? "" : "?");
        print_set(out, "ranks", &finding->ranks);
        print_set(out, "missing", &finding->missing);
        print_set(out, "suspects", &finding->suspects);
        fprintf(out, ": %s\n", finding->text);
    }
    fclose(out);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    return text;
}

void job_expect(struct job_builder *job, const char *wanted)
{
    char *answer = job_answer(job);
    bool same = strcmp(answer, wanted) == 0;
    CU_ASSERT(same);
    if (!same)
        printf("\n--- wanted\n%s--- got\n%s---\n", wanted, answer);
    free(answer);
    job_deinit(job);
}

void job_check_size(struct job_builder *job, size_t causes, size_t most_findings)
{
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(job, &state);
    size_t found = 0;
    CU_ASSERT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT(diagnosis->finding_count <= most_findings);
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        found += diagnosis->findings[i].consequence_of == MPIQ_NONE;
        CU_ASSERT(diagnosis->findings[i].evidence_count <= 8);
        CU_ASSERT(strlen(diagnosis->findings[i].text) < 300);
    }
    CU_ASSERT_EQUAL(found, causes);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(job);
}

bool job_is_deadlock(struct job_builder *job)
{
    char *answer = job_answer(job);
    bool deadlock = strncmp(answer, "deadlock", 8) == 0;
    free(answer);
    job_deinit(job);
    return deadlock;
}
