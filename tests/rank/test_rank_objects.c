/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose the objects are is told once for all ranks that have the same ones, and for no other rank. */
#include "rank/objects.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { MOST = 4, LIBMPI = 1, OTHER = 2 };

/* A program, its MPI library, and one more that is MPI's part if the MPI library needs it.  What the library
   needs is changed behind the list's back: only who is told anew sees that. */
static const char *needs[] = {"libother.so"};
static char paths[MOST][64];
static struct mpiq_target_object list[MOST];
static size_t list_count;

static struct mpiq_error *objects_of(struct mpiq_target *target, const char *const *symbols,
                                     struct mpiq_target_object **ret, size_t *count)
{
    (void)target;
    (void)symbols;
    *ret = calloc(MOST, sizeof **ret);
    memcpy(*ret, list, sizeof list);
    *count = list_count;
    return NULL;
}

/* Like that of no test before it: its ids are new. */
static void begin(void)
{
    static uint64_t last_id;
    memset(list, 0, sizeof list);
    list_count = 3;
    needs[0] = "libother.so";
    static const char *const names[MOST] = {"/home/me/a.out", "/opt/lib/libmpi.so", "/opt/lib/libother.so",
                                            "/opt/lib/libmore.so"};
    static const char *const sonames[MOST] = {NULL, "libmpi.so", "libother.so", "libmore.so"};
    for (size_t i = 0; i < MOST; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", names[i]);
        list[i] = (struct mpiq_target_object){
            .id = ++last_id, .path = paths[i], .soname = sonames[i], .program = i == 0};
    }
    list[LIBMPI].needs = needs;
    list[LIBMPI].need_count = 1;
    list[LIBMPI].defines = 3; /* MPI_Init and PMPI_Init */
}

/* Whose that object is in a rank that has the list as it is now. */
static enum mpiq_object_owner owner_of(size_t index)
{
    static const struct mpiq_target_ops ops = {.objects = objects_of};
    struct mpiq_target target = {.ops = &ops};
    struct mpiq_rank_objects objects;
    mpiq_rank_objects_init(&objects, &target);
    enum mpiq_object_owner owner = mpiq_rank_objects_owner(&objects, list[index].path);
    mpiq_rank_objects_deinit(&objects);
    return owner;
}

static void test_same_list(void)
{
    begin();
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    needs[0] = "libnone.so";
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART); /* shared */
    char copy[sizeof paths[OTHER]];
    memcpy(copy, paths[OTHER], sizeof copy);
    list[OTHER].path = copy; /* each target has its own */
    memset(paths[OTHER], 0, sizeof paths[OTHER]);
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    CU_ASSERT_EQUAL(owner_of(LIBMPI), MPIQ_OWNER_MPI);
    CU_ASSERT_EQUAL(owner_of(0), MPIQ_OWNER_PROGRAM);
}

/* Each of what an owner depends on makes it another list. */
static void expect_other(void)
{
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_USER);
}

static void begin_other(void)
{
    begin();
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    needs[0] = "libnone.so";
}

static void test_other_lists(void)
{
    static const char *const none[] = {"libnone.so"};
    begin_other();
    list[LIBMPI].id += 1000000; /* another file at the same path */
    expect_other();
    begin_other();
    list[LIBMPI].needs = none;
    expect_other();
    begin_other();
    list[LIBMPI].need_count = 0;
    expect_other();
    begin_other();
    list[OTHER].soname = "libanother.so";
    expect_other();
    begin_other();
    list[OTHER].defines = 1;
    expect_other();
    begin_other();
    list[LIBMPI].unread = true;
    expect_other();
    begin_other();
    snprintf(paths[OTHER], sizeof paths[OTHER], "/opt/other/libother.so");
    expect_other();
    begin_other();
    list_count = 4;
    expect_other();
    begin_other();
    list[0].program = false;
    expect_other();
    CU_ASSERT_EQUAL(owner_of(0), MPIQ_OWNER_USER);
}

/* A rank with another list does not drive out the first; very many do. */
static void test_several_lists(void)
{
    begin();
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    struct mpiq_target_object first[MOST];
    memcpy(first, list, sizeof first);
    begin();
    needs[0] = "libnone.so";
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_USER);
    memcpy(list, first, sizeof first);
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    for (int i = 0; i < 20; i++) {
        begin();
        CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    }
    memcpy(list, first, sizeof first);
    needs[0] = "libnone.so";
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_USER); /* told anew */
}

/* Of objects without an id nobody knows whether they are the same. */
static void test_without_id(void)
{
    begin();
    list[LIBMPI].id = 0;
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_PART);
    needs[0] = "libnone.so";
    CU_ASSERT_EQUAL(owner_of(OTHER), MPIQ_OWNER_USER);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"ranks with the same objects are told once", test_same_list},
        {"ranks with others are told anew", test_other_lists},
        {"several lists are kept", test_several_lists},
        {"objects without an id are told anew", test_without_id},
        CU_TEST_INFO_NULL,
    };
    return suite_run("rank objects", tests);
}
