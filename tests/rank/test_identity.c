/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of a job: the recorder's and ours, which are to be one for the same name.  The part of a
 * long path that is kept. */
#include <stdlib.h>
#include <string.h>

#include "../../recorder/recorder.h"
#include "rank/identity.h"
#include "rank/rank.h"
#include "suite.h"

static const char *const names[] = {
    "",
    "0",
    "1234",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "007",
    "12a",
    "-1",
    "+1",
    " 1",
    "1 ",
    "prterun-n1-4711@1",
    "prterun-n1-4711@2",
    "prterun-n1-4712@1",
    "prterun-n1-4711@65537",
    "prterun-n1-4711@",
    "prterun-n1-4711@x",
    "@1",
    "a@b@3",
    "kvs_4711_0",
    "slurm.pmix.4711.0",
    "name\xff\xc3\xa4",
};

static void one_name_is_one_job_for_both(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_EQUAL(job_of(names[i]), mpiq_rank_job_of(names[i]));
    srand(1);
    for (int round = 0; round < 10000; round++) {
        static const char letters[] = "0123456789@az-. \xff";
        char name[16] = "";
        size_t length = (size_t)rand() % (sizeof name - 1);
        for (size_t i = 0; i < length; i++)
            name[i] = letters[(size_t)rand() % (sizeof letters - 1)];
        CU_ASSERT_EQUAL(job_of(name), mpiq_rank_job_of(name));
    }
}

static void a_number_is_itself_and_names_differ(void)
{
    CU_ASSERT_EQUAL(job_of("1234"), 1234);
    CU_ASSERT_EQUAL(job_of("4294967295"), UINT32_MAX);
    CU_ASSERT_EQUAL(job_of("prterun-n1-4711@2") - job_of("prterun-n1-4711@1"), 1);
    CU_ASSERT_NOT_EQUAL(job_of("prterun-n1-4711@1"), job_of("prterun-n1-4712@1"));
}

static void the_end_of_a_long_path_is_kept(void)
{
    /* 255 bytes have room for 83 of the characters and a name of six bytes, or a shorter one. */
    enum { CHARACTERS = 200, ROOM = 83 };
    static const char *const files[] = {"/a.out", "/a.ou", "/a.o"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct mpiq_rank_state *state = mpiq_rank_state_create();
        struct mpiq_target_status status = {.pid = 1, .host = "n1"};
        for (size_t j = 0; j < CHARACTERS; j++)
            memcpy(status.executable + 3 * j, "\xe3\x81\x82", 3);
        strcpy(status.executable + 3 * CHARACTERS, files[i]);
        mpiq_rank_add_status(NULL, &status, state);
        CU_ASSERT_STRING_EQUAL(state->executable, status.executable + 3 * (CHARACTERS - ROOM));
        mpiq_rank_state_destroy(state);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"recorder and reader give one name the same job number", one_name_is_one_job_for_both},
        {"numeric names are kept, other names get different numbers", a_number_is_itself_and_names_differ},
        {"the end of a long path is kept, from a whole character on", the_end_of_a_long_path_is_kept},
        CU_TEST_INFO_NULL,
    };
    return suite_run("identity", tests);
}
