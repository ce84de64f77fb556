/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/snapshot.h"
#include "suite.h"
#include "merge/merge.h"

static char directory[] = "/tmp/mpiq-snapshot-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static struct mpiq_rank_state *rank_state(int rank)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->name = (struct mpiq_name){.job = 7, .rank = rank};
    state->world_size = 4;
    state->pid = 100 + rank;
    return state;
}

static void good(struct mpiq_error *error)
{
    CU_ASSERT_PTR_NULL(error);
    if (error)
        printf("%s\n", error->message);
    mpiq_error_destroy(error);
}

static void refused(struct mpiq_error *error, enum mpiq_error_code code, const char *part)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, code);
    bool said = strstr(error->message, part);
    CU_ASSERT(said);
    if (!said)
        printf("%s\n", error->message);
    mpiq_error_destroy(error);
}

/* Both looks of the ranks first to last. */
static void write_snapshot(const char *path, int first, int last)
{
    struct mpiq_snapshot_writer *writer = NULL;
    good(mpiq_snapshot_create(path, &writer));
    for (int look = 1; look <= 2; look++) {
        for (int rank = first; rank <= last; rank++) {
            struct mpiq_rank_state *state = rank_state(rank);
            good(mpiq_snapshot_add(writer, look, state));
            mpiq_rank_state_destroy(state);
        }
    }
    good(mpiq_snapshot_finish(writer));
}

static void write_bytes(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    fwrite(bytes, 1, count, file);
    fclose(file);
}

static size_t read_bytes(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "r");
    size_t count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

/* What two hosts wrote is one job. */
static void test_merge(void)
{
    write_snapshot(path_of("a"), 0, 1);
    write_snapshot(path_of("b"), 2, 3);
    CU_ASSERT(mpiq_is_snapshot(path_of("a")));
    struct stat status;
    CU_ASSERT_EQUAL(stat(path_of("a"), &status), 0);
    CU_ASSERT_EQUAL(status.st_mode & 0777, 0600);
    struct mpiq_job_state *job = mpiq_job_state_create();
    good(mpiq_merge_snapshot(job, path_of("a")));
    good(mpiq_merge_snapshot(job, path_of("b")));
    refused(mpiq_merge_snapshot(job, path_of("b")), MPIQ_ERROR_CORRUPT, "rank 2 (process ");
    good(mpiq_job_state_finish(job));
    CU_ASSERT_EQUAL(job->rank_count, 4);
    CU_ASSERT_EQUAL(job->ranks[3].looks, 3);
    mpiq_job_state_destroy(job);
}

/* Nothing of the name is there until it is whole, and nothing is left of what was given up. */
static void test_whole_or_not(void)
{
    struct mpiq_snapshot_writer *writer = NULL;
    good(mpiq_snapshot_create(path_of("half"), &writer));
    CU_ASSERT_NOT_EQUAL(access(path_of("half"), F_OK), 0);
    mpiq_snapshot_abandon(writer);
    CU_ASSERT_NOT_EQUAL(access(path_of("half"), F_OK), 0);
    char command[160];
    snprintf(command, sizeof command, "test -z \"$(ls %s/half* 2>/dev/null)\"", directory);
    CU_ASSERT_EQUAL(system(command), 0);
    refused(mpiq_snapshot_create("/nonexistent/directory/file", &writer), MPIQ_ERROR_NOT_FOUND,
            "cannot be written");
    refused(mpiq_snapshot_create(directory, &writer), MPIQ_ERROR_USAGE, "a directory");
    CU_ASSERT_EQUAL(mkfifo(path_of("pipe"), 0600), 0);
    refused(mpiq_snapshot_create(path_of("pipe"), &writer), MPIQ_ERROR_USAGE, "no regular file");
}

static void test_refused(void)
{
    struct mpiq_job_state *job = mpiq_job_state_create();
    refused(mpiq_merge_snapshot(job, path_of("nothing")), MPIQ_ERROR_NOT_FOUND, "cannot be read");
    write_bytes(path_of("garbage"),
                "\x7f"
                "ELF garbage",
                12);
    refused(mpiq_merge_snapshot(job, path_of("garbage")), MPIQ_ERROR_CORRUPT, "is not an mpiq snapshot");
    CU_ASSERT_FALSE(mpiq_is_snapshot(path_of("garbage")));
    write_bytes(path_of("empty"), "", 0);
    refused(mpiq_merge_snapshot(job, path_of("empty")), MPIQ_ERROR_CORRUPT, "is not an mpiq snapshot");
    write_bytes(path_of("later"), "mpiq snapshot 3\nxyz", 19);
    refused(mpiq_merge_snapshot(job, path_of("later")), MPIQ_ERROR_UNSUPPORTED, "made by a later mpiq");
    write_bytes(path_of("plain"), "mpiq snapshot 1\n1 {}\n", 21);
    refused(mpiq_merge_snapshot(job, path_of("plain")), MPIQ_ERROR_CORRUPT, "is damaged after 0 ranks");
    mpiq_job_state_destroy(job);
}

/* Cut short anywhere, or with any byte changed: refused, unless the byte is none of the contents (the frame's
   window size). */
static void test_damaged(void)
{
    write_snapshot(path_of("whole"), 0, 3);
    static char bytes[65536];
    size_t count = read_bytes(path_of("whole"), bytes, sizeof bytes);
    CU_ASSERT(count > 100 && count < sizeof bytes);
    for (size_t cut = 0; cut < count; cut++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        write_bytes(path_of("cut"), bytes, cut);
        struct mpiq_error *error = mpiq_merge_snapshot(job, path_of("cut"));
        CU_ASSERT_PTR_NOT_NULL(error);
        mpiq_error_destroy(error);
        mpiq_job_state_destroy(job);
    }
    for (size_t at = 16; at < count; at++) {
        struct mpiq_job_state *job = mpiq_job_state_create();
        bytes[at] ^= 0x55;
        write_bytes(path_of("changed"), bytes, count);
        bytes[at] ^= 0x55;
        struct mpiq_error *error = mpiq_merge_snapshot(job, path_of("changed"));
        CU_ASSERT(error || (job->rank_count == 4 && job->ranks[0].looks == 3 && job->ranks[3].looks == 3));
        mpiq_error_destroy(error);
        mpiq_job_state_destroy(job);
    }
    bytes[count] = 'x';
    struct mpiq_job_state *job = mpiq_job_state_create();
    write_bytes(path_of("more"), bytes, count + 1);
    refused(mpiq_merge_snapshot(job, path_of("more")), MPIQ_ERROR_CORRUPT, "something follows its end");
    mpiq_job_state_destroy(job);
}

/* A byte of the frame's header says how much memory decompressing takes: 128 MiB are refused. */
static void test_greedy(void)
{
    enum { FRAME = 16, FRAME_HEADER = FRAME + 4, WINDOW = FRAME + 5, SINGLE_SEGMENT = 0x20 };
    write_snapshot(path_of("greedy"), 0, 3);
    static char bytes[65536];
    size_t count = read_bytes(path_of("greedy"), bytes, sizeof bytes);
    CU_ASSERT_EQUAL_FATAL(bytes[FRAME_HEADER] & SINGLE_SEGMENT, 0);
    bytes[WINDOW] = (char)((27 - 10) << 3);
    write_bytes(path_of("greedy"), bytes, count);
    struct mpiq_job_state *job = mpiq_job_state_create();
    refused(mpiq_merge_snapshot(job, path_of("greedy")), MPIQ_ERROR_CORRUPT, "too much memory");
    mpiq_job_state_destroy(job);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    CU_TestInfo tests[] = {
        {"snapshots of several hosts merge", test_merge},
        {"a snapshot is written whole or not at all", test_whole_or_not},
        {"other files are refused", test_refused},
        {"damaged snapshots are detected", test_damaged},
        {"snapshots that expand too far are refused", test_greedy},
        CU_TEST_INFO_NULL,
    };
    int status = suite_run("snapshots", tests);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) != 0 ? 1 : status;
}
