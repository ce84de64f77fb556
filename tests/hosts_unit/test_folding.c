/* SPDX-License-Identifier: BSD-3-Clause */
/* What collectors fold says the same as what they would have sent in full; and hosts cannot lie with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "hosts/group_senders.h"
#include "job/diagnose.h"
#include "made_hang.h"
#include "report/report.h"
#include "state/snapshot.h"
#include "state/state_lines.h"
#include "suite.h"
#include "merge/merge.h"
#include "words/sentences.h"

enum { RANKS = 64, STATES_MOST = 2 * RANKS };

struct look_state {
    int look;
    struct mpiq_rank_state *state;
};

struct states {
    struct look_state items[STATES_MOST];
    size_t count;
};

static void good(struct mpiq_error *error)
{
    CU_ASSERT_PTR_NULL(error);
    if (error)
        printf("%s\n", error->message);
    mpiq_error_destroy(error);
}

static void clear(struct states *states)
{
    for (size_t i = 0; i < states->count; i++)
        mpiq_rank_state_destroy(states->items[i].state);
    states->count = 0;
}

/* A copy of its own. */
static void keep_copy(struct states *states, int look, const struct mpiq_rank_state *state)
{
    char *json _cleanup_free_ = NULL;
    struct look_state *item = &states->items[states->count++];
    *item = (struct look_state){.look = look};
    good(mpiq_rank_state_to_json(state, &json));
    good(mpiq_rank_state_from_json(json, strlen(json), &item->state));
}

/* Both looks at a made-up hang; the first rank names the members of the world. */
static void make_hang(struct states *states)
{
    struct mpiq_rank_state *state = made_hang_state(RANKS);
    struct mpiq_name *members = state->communicators[0].local.members;
    for (int i = 0; i < 2 * RANKS; i++) {
        made_hang_fill(state, i % RANKS, RANKS, 1 + i / RANKS);
        state->communicators[0].local.members = i == 0 ? members : NULL;
        keep_copy(states, 1 + i / RANKS, state);
    }
    state->communicators[0].local.members = members;
    mpiq_rank_state_destroy(state);
}

/* A job as the fuzzer's corpus holds it: a byte, states in lines, an empty line, those of the second look. */
static void load_job(const char *name, struct states *states)
{
    char path[512];
    char *line = NULL;
    size_t room = 0;
    int look = 1;
    snprintf(path, sizeof path, "%s/%s", CORPUS, name);
    FILE *file _cleanup_fclose_ = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    (void)fgetc(file);
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        length -= line[length - 1] == '\n';
        if (length == 0) {
            look = 2;
            continue;
        }
        struct look_state *item = &states->items[states->count++];
        item->look = look;
        good(mpiq_rank_state_from_json(line, (size_t)length, &item->state));
    }
    free(line);
}

/* The states through a collector's snapshot and back. */
static size_t fold(const struct states *states, char **bytes)
{
    struct mpiq_snapshot_writer *writer = NULL;
    size_t size = 0;
    good(mpiq_snapshot_create_memory(&writer));
    for (int look = 1; look <= 2; look++) {
        const struct mpiq_rank_state *of_look[STATES_MOST];
        size_t count = 0;
        for (size_t i = 0; i < states->count; i++) {
            if (states->items[i].look == look)
                of_look[count++] = states->items[i].state;
        }
        good(mpiq_snapshot_add_folded(writer, look, of_look, count));
    }
    good(mpiq_snapshot_finish_memory(writer, bytes, &size));
    return size;
}

static void write_folded(const struct states *states, char *path)
{
    char *bytes _cleanup_free_ = NULL;
    size_t size = fold(states, &bytes);
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* ---- the same reports ---------------------------------------------------------------------------------- */

static char *report(struct mpiq_job_state *job, enum mpiq_view view, enum mpiq_format format)
{
    struct mpiq_diagnosis *diagnosis = NULL;
    const struct mpiq_report_options options = {.format = format, .all = true};
    char *text = NULL;
    good(mpiq_diagnose(job, NULL, &diagnosis));
    good(mpiq_write_sentences(job, diagnosis));
    good(mpiq_report_render(job, diagnosis, view, NULL, &options, &text));
    mpiq_diagnosis_destroy(diagnosis);
    return text;
}

static void compare_reports(const struct states *states, const char *verdict)
{
    char path[] = "/tmp/mpiq-folding-XXXXXX";
    struct mpiq_job_state *whole = mpiq_job_state_create(), *folded = mpiq_job_state_create();
    for (size_t i = 0; i < states->count; i++)
        good(mpiq_job_state_add(whole, states->items[i].look, states->items[i].state));
    good(mpiq_job_state_finish(whole));
    write_folded(states, path);
    good(mpiq_merge_snapshot(folded, path));
    unlink(path);
    good(mpiq_job_state_finish(folded));
    static const enum mpiq_view views[] = {MPIQ_VIEW_REPORT, MPIQ_VIEW_QUEUES, MPIQ_VIEW_COLLECTIVES,
                                           MPIQ_VIEW_COMMS, MPIQ_VIEW_RANKS};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        for (int format = MPIQ_FORMAT_TEXT; format <= MPIQ_FORMAT_JSON; format++) {
            char *wanted _cleanup_free_ = report(whole, views[i], (enum mpiq_format)format);
            char *text _cleanup_free_ = report(folded, views[i], (enum mpiq_format)format);
            CU_ASSERT_STRING_EQUAL(text, wanted);
            if (i == 0)
                CU_ASSERT_PTR_NOT_NULL(strstr(text, verdict));
        }
    }
    mpiq_job_state_destroy(whole);
    mpiq_job_state_destroy(folded);
}

static void test_reports_are_the_same(void)
{
    struct states states = {.count = 0};
    make_hang(&states);
    compare_reports(&states, "deadlock");
    clear(&states);
    static const char *const jobs[] = {"job_patched", "job_debug_info", "a_collective_nobody_came_to"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        load_job(jobs[i], &states);
        compare_reports(&states, "");
        clear(&states);
    }
}

/* ---- the same states ----------------------------------------------------------------------------------- */

struct comparing {
    const struct states *states;
    bool seen[STATES_MOST];
    size_t count;
    bool keep;    /* the callback keeps what it is given */
    bool replace; /* or puts another one in its place */
    struct states kept;
};

static struct mpiq_error *compare_state(void *context, int look, struct mpiq_rank_state **state)
{
    struct comparing *comparing = context;
    char *text _cleanup_free_ = NULL;
    good(mpiq_rank_state_to_json(*state, &text));
    for (size_t i = 0; i < comparing->states->count; i++) {
        const struct look_state *item = &comparing->states->items[i];
        char *wanted _cleanup_free_ = NULL;
        if (item->look != look || item->state->name.rank != (*state)->name.rank)
            continue;
        good(mpiq_rank_state_to_json(item->state, &wanted));
        CU_ASSERT_STRING_EQUAL(text, wanted);
        CU_ASSERT_FALSE(comparing->seen[i]);
        comparing->seen[i] = true;
        comparing->count++;
    }
    if (comparing->keep) {
        comparing->kept.items[comparing->kept.count++].state = mpiq_steal(*state);
    } else if (comparing->replace) {
        struct mpiq_rank_state *other = mpiq_rank_state_create();
        mpiq_rank_state_destroy(*state);
        *state = other;
    }
    return NULL;
}

static void test_states_are_the_same(void)
{
    char path[] = "/tmp/mpiq-folding-XXXXXX";
    struct states states = {.count = 0};
    make_hang(&states);
    write_folded(&states, path);
    for (int way = 0; way < 3; way++) {
        struct comparing comparing = {.states = &states, .keep = way == 1, .replace = way == 2};
        good(mpiq_snapshot_each(path, compare_state, &comparing));
        CU_ASSERT_EQUAL(comparing.count, states.count);
        clear(&comparing.kept);
    }
    unlink(path);
    clear(&states);
}

/* Of 64 ranks that hang alike but for one, a few lines are whole states. */
static struct mpiq_error *count_lines(void *context, const char *line, size_t length)
{
    size_t *counts = context;
    counts[length > 0 && line[0] == '+']++;
    return NULL;
}

static void test_alike_ranks_are_one_class(void)
{
    char path[] = "/tmp/mpiq-folding-XXXXXX";
    struct states states = {.count = 0};
    size_t counts[2] = {0};
    make_hang(&states);
    write_folded(&states, path);
    good(mpiq_snapshot_each_line(path, count_lines, counts));
    CU_ASSERT_EQUAL(counts[0],
                    5); /* who names the members, all others but one, and that one; those two again */
    CU_ASSERT_EQUAL(counts[1], 2 * RANKS - 5);
    unlink(path);
    clear(&states);
}

/* ---- lines that lie ------------------------------------------------------------------------------------ */

#define COMM "\"communicators\":[{\"handle\":\"0x1\",\"local\":{\"hash\":\"0x5\",\"count\":4}}]"
#define MEMBERS "\"communicators\":[{\"local\":{\"hash\":\"0x5\",\"count\":1,\"members\":[[7,0,1]]}}]"

/* Takes lines one after another: how the last one fails; NULL: not. */
static struct mpiq_error *take_lines(const char *const *lines)
{
    struct mpiq_state_lines reader = {0};
    struct mpiq_error *error = NULL;
    for (size_t i = 0; lines[i] && !error; i++) {
        error = mpiq_state_lines_take(&reader, lines[i], strlen(lines[i]), NULL, NULL);
        if (lines[i + 1])
            CU_ASSERT_PTR_NULL(error);
    }
    mpiq_state_lines_deinit(&reader);
    return error;
}

static void test_lines_that_lie(void)
{
    static const struct {
        const char *lines[4];
        const char *part; /* of the sentence; NULL: they are taken */
    } stories[] = {
        {{"1=0,1 {\"name\":[7,0]}", "+0 1", "+0 -1"}, NULL},
        {{"+1"}, "belongs to no class"},
        {{"1 {\"name\":[7,0]}", "+1"}, "belongs to no class"},
        {{"1=1 {\"name\":[7,0]}", "1 {}", "+1"}, "belongs to no class"},
        {{"1= {\"name\":[7,0]}"}, "which numbers differ"},
        {{"1=1"}, "which numbers differ"},
        {{"1=1,1 {\"name\":[7,0]}"}, "which numbers differ"},
        {{"1=2,1 {\"name\":[7,0]}"}, "which numbers differ"},
        {{"1=-1 {\"name\":[7,0]}"}, "which numbers differ"},
        {{"3=1 {\"name\":[7,0]}"}, "does not begin with a look"},
        {{"1=4000000000 {\"name\":[7,0]}"}, "do not have"},
        {{"1=4294967295 {\"name\":[7,0]}"}, "which numbers differ"},
        {{"1=99999999999999999999999 {\"name\":[7,0]}"}, "which numbers differ"},
        {{"1=1 {\"name\":[7,0]}", "+"}, "too few numbers"},
        {{"1=1 {\"name\":[7,0]}", "+-"}, "too few numbers"},
        {{"1=0,1 {\"name\":[7,0]}", "+1"}, "too few numbers"},
        {{"1=0,1 {\"name\":[7,0]}", "+1 "}, "too few numbers"},
        {{"1=1 {\"name\":[7,0]}", "+1 2"}, "too many numbers"},
        {{"1=1 {\"name\":[7,0]}", "+-1", "+-1"}, "impossible number"}, /* no rank is below -1 */
        {{"1=1 {\"name\":[7,0]}", "+2147483648"}, "impossible number"},
        {{"1=0 {\"name\":[7,0]}", "+-8"}, "impossible number"},
        {{"1=2 {\"name\":[7,0],\"world_size\":2}", "+9223372036854775808"}, "impossible number"},
        {{"1=1 {\"name\":[7,0]," MEMBERS "}"}, "names the members"},
        {{"1=1 {\"name\":[7,0]," COMM "}", "+1"}, NULL},
    };
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        struct mpiq_error *error = take_lines(stories[i].lines);
        bool right = stories[i].part ? error && strstr(error->message, stories[i].part) : !error;
        CU_ASSERT(right);
        if (!right)
            printf("story %zu: %s\n", i, error ? error->message : "taken");
        mpiq_error_destroy(error);
    }
}

/* A number of a class is checked as in full: indexes, sizes of groups, ranks in them. */
static void test_numbers_are_checked(void)
{
    static const char json[] =
        "{\"name\":[7,0],\"communicators\":[{\"local_rank\":0,\"local\":{\"hash\":\"0x5\","
        "\"count\":4}}],\"operations\":[{\"queue\":\"sends\",\"comm\":0,"
        "\"peer_local\":1,\"tag\":3}]}";
    struct mpiq_rank_state *state = NULL;
    size_t refused = 0, taken = 0;
    good(mpiq_rank_state_from_json(json, strlen(json), &state));
    mpiq_rank_state_destroy(state);
    for (size_t column = 0; column < 200; column++) {
        char first[512];
        snprintf(first, sizeof first, "1=%zu %s", column, json);
        const char *const lines[] = {first, "+77", NULL};
        struct mpiq_state_lines reader = {0};
        struct mpiq_error *error = mpiq_state_lines_take(&reader, first, strlen(first), NULL, NULL);
        bool there = !error;
        mpiq_error_destroy(error);
        error = there ? mpiq_state_lines_take(&reader, lines[1], strlen(lines[1]), NULL, NULL) : NULL;
        refused += there && error;
        taken += there && !error;
        mpiq_error_destroy(error);
        mpiq_state_lines_deinit(&reader);
    }
    /* local_rank, the operation's comm, peer_local and actual_local, thread_level, recording, queues_read */
    CU_ASSERT_EQUAL(refused, 7);
    CU_ASSERT(taken > 20);
}

/* ---- who names a group's members ------------------------------------------------------------------------
 */

static void test_two_hosts_tell_a_group(void)
{
    struct mpiq_group_choice choice = {0};
    size_t tellers = 0;
    for (uint64_t token = 1; token <= 5; token++) {
        struct mpiq_group_senders groups = {0}, read = {0};
        char text[MPIQ_LOOKED_ROOM];
        mpiq_group_senders_add(&groups, 0xabc);
        mpiq_group_senders_add(&groups, 0xabc);
        if (token <= 2)
            mpiq_group_senders_add(&groups, 0xdef); /* too few have it */
        mpiq_group_senders_write(&groups, text);
        CU_ASSERT_EQUAL(text[0], '1');
        CU_ASSERT_TRUE(mpiq_group_senders_read(text + 1, strlen(text) - 1, &read));
        CU_ASSERT_EQUAL(read.count, groups.count);
        CU_ASSERT_TRUE(mpiq_group_choice_add(&choice, token, &read));
    }
    char *word _cleanup_free_ = mpiq_group_choice_word(&choice);
    CU_ASSERT_EQUAL(strncmp(word, "go ", 3), 0);
    CU_ASSERT_EQUAL(word[strlen(word) - 1], '\n');
    for (uint64_t token = 1; token <= 5; token++) {
        tellers += !mpiq_others_tell_group(word, 0xabc, token);
        CU_ASSERT_FALSE(mpiq_others_tell_group(word, 0xdef, token));
        CU_ASSERT_FALSE(mpiq_others_tell_group(word, 0x123, token));
    }
    CU_ASSERT_EQUAL(tellers, 2);
    CU_ASSERT_FALSE(mpiq_others_tell_group("go", 0xabc, 9));
    CU_ASSERT_FALSE(mpiq_others_tell_group("go 0000000000000abc", 0xabc, 9));
    mpiq_group_choice_deinit(&choice);
}

/* However many groups there are, the word stays within its bound. */
static void test_many_groups(void)
{
    struct mpiq_group_choice choice = {0};
    for (uint64_t token = 1; token <= 300; token++) {
        struct mpiq_group_senders groups = {0};
        for (uint64_t i = 0; i < 2 * MPIQ_GROUP_SENDERS_MOST; i++)
            mpiq_group_senders_add(&groups, token / 10 * 1000 + i);
        CU_ASSERT_EQUAL(groups.count, MPIQ_GROUP_SENDERS_MOST);
        CU_ASSERT_TRUE(mpiq_group_choice_add(&choice, token, &groups));
    }
    char *word _cleanup_free_ = mpiq_group_choice_word(&choice);
    CU_ASSERT(strlen(word) <= MPIQ_GO_LENGTH_MOST && strlen(word) > MPIQ_GO_LENGTH_MOST / 2);
    mpiq_group_choice_deinit(&choice);
    struct mpiq_group_senders read;
    CU_ASSERT_FALSE(mpiq_group_senders_read(" 00000000000000zz", 17, &read));
    CU_ASSERT_FALSE(mpiq_group_senders_read(" 0000000000000abc ", 18, &read));
    CU_ASSERT_FALSE(mpiq_group_senders_read("_0000000000000abc", 17, &read));
}

int main(void)
{
    CU_TestInfo tests[] = {{"folding does not change the report", test_reports_are_the_same},
                           {"folding does not change the states", test_states_are_the_same},
                           {"ranks that do the same are one class", test_alike_ranks_are_one_class},
                           {"folded lines that lie are refused", test_lines_that_lie},
                           {"numbers are checked", test_numbers_are_checked},
                           {"two hosts tell a group", test_two_hosts_tell_a_group},
                           {"many groups", test_many_groups},
                           CU_TEST_INFO_NULL};
    return suite_run("folding", tests);
}
