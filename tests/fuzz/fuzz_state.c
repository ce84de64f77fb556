/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_state - rank states and snapshots, as a helper that its DLL has taken over, or somebody's mail, would
 * bring them.
 *
 * The first byte says what the rest is: 0 a rank state, 1 a snapshot, 2 rank states in lines, those of the
 * first look and then, after an empty line, those of the second, out of which a job is made and diagnosed.  A
 * state that is taken is to be the same after it was written and read again.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "job/diagnose.h"
#include "limit.h"
#include "merge/merge.h"
#include "state/rank_state.h"
#include "state/snapshot.h"
#include "words/sentences.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct mpiq_rank_state *state)
{
    char *first = NULL, *second = NULL;
    struct mpiq_rank_state *again = NULL;
    if (mpiq_rank_state_to_json(state, &first) || mpiq_rank_state_from_json(first, strlen(first), &again) ||
        mpiq_rank_state_to_json(again, &second) || strcmp(first, second) != 0) {
        fprintf(stderr, "a state changes on its way:\n%s\n%s\n", first ? first : "", second ? second : "");
        abort();
    }
    mpiq_rank_state_destroy(again);
    free(first);
    free(second);
}

static void try_state(const char *text, size_t size)
{
    struct mpiq_rank_state *state = NULL;
    struct mpiq_error *error = mpiq_rank_state_from_json(text, size, &state);
    if (!error)
        check_same(state);
    mpiq_error_destroy(error);
    mpiq_rank_state_destroy(state);
}

static struct mpiq_error *take(void *context, int look, struct mpiq_rank_state **state)
{
    (void)look;
    (*(int *)context)++;
    check_same(*state);
    return NULL;
}

static void try_snapshot(const char *text, size_t size)
{
    char path[64];
    int taken = 0;
    int fd = memfd_create("snapshot", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size) {
        perror("memfd");
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (mpiq_is_snapshot(path))
        mpiq_error_destroy(mpiq_snapshot_each(path, take, &taken));
    close(fd);
}

static void try_job(const char *text, size_t size)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    struct mpiq_diagnosis *diagnosis = NULL;
    struct mpiq_error *error = NULL;
    int look = 1;
    const char *end = text + size;
    while (job && text < end && !error) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);
        struct mpiq_rank_state *state = NULL;
        if (length == 0)
            look = 2;
        else
            error = mpiq_rank_state_from_json(text, length, &state);
        if (!error && state)
            error = mpiq_job_state_add(job, look, state);
        mpiq_rank_state_destroy(state);
        text += length + 1;
    }
    if (job && !error)
        error = mpiq_job_state_finish(job);
    if (job && !error)
        error = mpiq_diagnose(job, NULL, &diagnosis);
    if (job && !error)
        error = mpiq_write_sentences(job, diagnosis);
    mpiq_error_destroy(error);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const char *text, size_t size) = {try_state, try_snapshot, try_job};
    char *text = malloc(size + 1); /* as they come: with a terminator behind them */
    if (!text || !size) {
        free(text);
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    limit_begin();
    kinds[data[0] % 3](text, size - 1);
    limit_end();
    free(text);
    return 0;
}
