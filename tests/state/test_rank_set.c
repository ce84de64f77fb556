/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "state/rank_set.h"
#include "suite.h"

static void expect(const struct mpiq_rank_set *set, const char *wanted, uint64_t size)
{
    char *text = mpiq_rank_set_text(set, 0);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    CU_ASSERT_EQUAL(set->size, size);
    free(text);
}

static void test_ranges(void)
{
    struct mpiq_rank_set set = {0};
    expect(&set, "", 0);
    static const uint32_t ranks[] = {18, 3, 1, 2, 0, 18, 5, 4};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        CU_ASSERT(mpiq_rank_set_add(&set, 0, ranks[i]));
    expect(&set, "0-5,18", 7);
    CU_ASSERT(mpiq_rank_set_add_range(&set, 0, 4, 20));
    expect(&set, "0-20", 21);
    CU_ASSERT(mpiq_rank_set_add(&set, 2, 0));
    CU_ASSERT(mpiq_rank_set_add_range(&set, 1, 0, 3));
    expect(&set, "0-20,w1:0-3,w2:0", 26);
    CU_ASSERT(mpiq_rank_set_add_range(&set, 0, 22, 22));
    expect(&set, "0-20,22,w1:0-3,w2:0", 27);
    CU_ASSERT(mpiq_rank_set_contains(&set, 1, 3));
    CU_ASSERT_FALSE(mpiq_rank_set_contains(&set, 1, 4));
    CU_ASSERT_FALSE(mpiq_rank_set_contains(&set, 0, 21));
    CU_ASSERT_FALSE(mpiq_rank_set_contains(&set, 3, 0));
    mpiq_rank_set_deinit(&set);
}

/* Any order of adding gives the set that adding one by one to a list of flags gives. */
static void test_against_flags(void)
{
    enum { RANKS = 40 };
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        struct mpiq_rank_set set = {0};
        bool flags[2][RANKS] = {0};
        for (int i = 0; i < 12; i++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t first = (seed >> 8) % RANKS;
            uint32_t last = first + (seed >> 20) % 4;
            uint32_t world = seed >> 31;
            last = last < RANKS ? last : RANKS - 1;
            mpiq_rank_set_add_range(&set, world, first, last);
            for (uint32_t rank = first; rank <= last; rank++)
                flags[world][rank] = true;
        }
        uint64_t size = 0;
        bool same = true;
        for (uint32_t world = 0; world < 2; world++) {
            for (uint32_t rank = 0; rank < RANKS; rank++) {
                same = same && mpiq_rank_set_contains(&set, world, rank) == flags[world][rank];
                size += flags[world][rank];
            }
        }
        CU_ASSERT(same);
        CU_ASSERT_EQUAL(set.size, size);
        char *text = mpiq_rank_set_text(&set, 0);
        struct mpiq_rank_set read = {0};
        CU_ASSERT_PTR_NULL(mpiq_rank_set_parse(text, &read));
        CU_ASSERT(mpiq_rank_set_equal(&set, &read));
        free(text);
        mpiq_rank_set_deinit(&read);
        mpiq_rank_set_deinit(&set);
    }
}

static void test_short_text(void)
{
    struct mpiq_rank_set set = {0};
    for (uint32_t rank = 0; rank < 20; rank += 2)
        mpiq_rank_set_add(&set, 0, rank * rank);
    char *text = mpiq_rank_set_text(&set, 3);
    CU_ASSERT_STRING_EQUAL(text, "0,4,16,… (10 in all)");
    free(text);
    mpiq_rank_set_deinit(&set);
}

static void test_strides(void)
{
    static const struct {
        const char *read;
        const char *written;
        uint64_t size;
    } rows[] = {
        {"0-46:2", "0-46:2", 24},
        {"0-47:2", "0-46:2", 24},
        {"0,2,4", "0,2,4", 3},
        {"0,2,4,6", "0-6:2", 4},
        {"0,5,7,9,11,13", "0,5-13:2", 6},
        {"0-2,4,6,8,10", "0-2,4-10:2", 7},
        {"1-9:2,0-8:2", "0-9", 10},
        {"3-30:9,w1:3-30:9", "3-30:9,w1:3-30:9", 8},
        {"0-9:3,w1:12,w1:15", "0-9:3,w1:12,w1:15", 6},
        {"5-5:7", "5", 1},
        {"0-8:1", "0-8", 9},
        {"0,4,8,12,20,28,36", "0-12:4,20,28,36", 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_rank_set set = {0};
        CU_ASSERT_PTR_NULL(mpiq_rank_set_parse(rows[i].read, &set));
        expect(&set, rows[i].written, rows[i].size);
        mpiq_rank_set_deinit(&set);
    }
}

/* Few words may not ask for all the memory there is, nor for hours. */
static void test_strides_are_bounded(void)
{
    struct mpiq_rank_set set = {0};
    struct mpiq_error *error = mpiq_rank_set_parse("0-2147483646:2", &set);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_USAGE);
    mpiq_error_destroy(error);
    CU_ASSERT_EQUAL(set.size, 0);
    CU_ASSERT_PTR_NULL(mpiq_rank_set_parse("0-4000000:4,2-4000000:4", &set));
    expect(&set, "0-4000000:2", 2000001);
    mpiq_rank_set_deinit(&set);
}

static void test_parse(void)
{
    static const char *const bad[] = {"a",    "1-",    "-1",     "3-1",     "1,",          ",1",    "1,,2",
                                      "w1",   "w1:",   "w:1",    "1 2",     "99999999999", "1-2-3", "1:2",
                                      "0-4:", "0-4:0", "0-4:-1", "0-4:2:2", "w0-4:2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mpiq_rank_set set = {0};
        mpiq_rank_set_add(&set, 0, 7);
        struct mpiq_error *error = mpiq_rank_set_parse(bad[i], &set);
        CU_ASSERT_PTR_NOT_NULL_FATAL(error);
        CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error->message, bad[i]));
        expect(&set, "7", 1);
        mpiq_error_destroy(error);
        mpiq_rank_set_deinit(&set);
    }
    struct mpiq_rank_set set = {0};
    CU_ASSERT_PTR_NULL(mpiq_rank_set_parse("w1:2,5,0-3,w1:0-1", &set));
    expect(&set, "0-3,5,w1:0-2", 8);
    mpiq_rank_set_deinit(&set);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"ranges merge", test_ranges},
        {"in any order", test_against_flags},
        {"a short text", test_short_text},
        {"strides", test_strides},
        {"strides are bounded", test_strides_are_bounded},
        {"read from a text", test_parse},
        CU_TEST_INFO_NULL,
    };
    return suite_run("rank sets", tests);
}
