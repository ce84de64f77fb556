/* SPDX-License-Identifier: BSD-3-Clause */
/* The growable array and the hash table that all folders use. */
#include <stdlib.h>

#include "base/array.h"
#include "base/name_table.h"
#include "suite.h"

static void an_array_grows_and_keeps_its_elements(void)
{
    uint32_t *items = NULL, count = 0, capacity = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        CU_ASSERT_TRUE_FATAL(mpiq_array_reserve(&items, &capacity, count + 1));
        items[count++] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(items[i], i);
    CU_ASSERT(capacity >= count && capacity < 2 * count);
    free(items);
}

static void an_array_ends_where_its_indexes_do(void)
{
    uint8_t *items = NULL, capacity = 0;
    CU_ASSERT_TRUE(mpiq_array_reserve(&items, &capacity, 254));
    uint8_t *before = items;
    CU_ASSERT_FALSE(mpiq_array_reserve(&items, &capacity, 255));
    CU_ASSERT(items == before && capacity == 254);
    free(items);
}

static void a_size_that_overflows_is_refused(void)
{
    struct big {
        char bytes[1 << 20];
    } *items = NULL;
    size_t capacity = 0;
    CU_ASSERT_FALSE(mpiq_array_reserve(&items, &capacity, SIZE_MAX >> 4));
    CU_ASSERT(items == NULL && capacity == 0);
}

static void appending_doubles(void)
{
    void *items = NULL;
    size_t count = 0;
    for (int i = 0; i < 1000; i++) {
        int *item = mpiq_array_append(&items, &count, sizeof *item);
        CU_ASSERT_PTR_NOT_NULL_FATAL(item);
        *item = i;
    }
    CU_ASSERT_EQUAL(count, 1000);
    for (int i = 0; i < 1000; i++)
        CU_ASSERT_EQUAL(((int *)items)[i], i);
    free(items);
}

static void equal_hashes_are_all_found(void)
{
    struct mpiq_hash_table table = {0};
    uint64_t cursor = 7;
    CU_ASSERT_EQUAL(mpiq_hash_table_next(&table, 7, &cursor), UINT32_MAX);
    for (uint32_t i = 0; i < 300; i++)
        CU_ASSERT_TRUE(mpiq_hash_table_add(&table, i % 3 ? i : 7, i));
    unsigned found = 0;
    cursor = 7;
    for (uint32_t i; (i = mpiq_hash_table_next(&table, 7, &cursor)) != UINT32_MAX; found++)
        CU_ASSERT(i % 3 == 0 || i == 7);
    CU_ASSERT_EQUAL(found, 101);
    mpiq_hash_table_clear(&table);
    cursor = 7;
    CU_ASSERT_EQUAL(mpiq_hash_table_next(&table, 7, &cursor), UINT32_MAX);
    mpiq_hash_table_deinit(&table);
}

static void a_name_keeps_its_first_value_until_it_is_set(void)
{
    struct mpiq_name_table table = {0};
    static char names[3000][8];
    uint64_t value = 0;
    CU_ASSERT_FALSE(mpiq_name_table_get(&table, "0", &value));
    for (size_t i = 0; i < 3000; i++) {
        snprintf(names[i], sizeof names[i], "%zu", i);
        CU_ASSERT_TRUE(mpiq_name_table_add(&table, names[i], i));
        CU_ASSERT_TRUE(mpiq_name_table_add(&table, names[i], 77777));
    }
    CU_ASSERT_EQUAL(table.count, 3000);
    for (size_t i = 0; i < 3000; i++)
        CU_ASSERT(mpiq_name_table_get(&table, names[i], &value) && value == i);
    CU_ASSERT_TRUE(mpiq_name_table_set(&table, "17", 4));
    CU_ASSERT(mpiq_name_table_get(&table, "17", &value) && value == 4);
    CU_ASSERT_FALSE(mpiq_name_table_get(&table, "3000", NULL));
    mpiq_name_table_deinit(&table);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"an array grows and keeps its elements", an_array_grows_and_keeps_its_elements},
        {"an array ends where its indexes do", an_array_ends_where_its_indexes_do},
        {"a size that overflows is refused", a_size_that_overflows_is_refused},
        {"appending doubles", appending_doubles},
        {"equal hashes are all found", equal_hashes_are_all_found},
        {"a name keeps its first value until it is set again", a_name_keeps_its_first_value_until_it_is_set},
        CU_TEST_INFO_NULL,
    };
    return suite_run("containers", tests);
}
