/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that a launcher keeps for debuggers: whole, empty, and such as no launcher would write. */
#include <stdlib.h>
#include <string.h>

#include "madeup.h"
#include "rank/proctable.h"
#include "suite.h"

enum { RANKS = 5, PAGE = 4096, TABLE = 0x2000, POINTER = 0x1000, SIZE = 0x1100, LINKER = 0x1200 };

/* The strings end with the last mapped byte. */
static const char strings[] = "n1\0n2\0odd \"name\"";
enum { LAST_PAGE = 0x5000, STRINGS = LAST_PAGE + PAGE - sizeof strings };
static char last_page[PAGE];

struct entry {
    uint64_t host;
    uint64_t executable;
    int32_t pid;
    int32_t padding;
};

static struct entry table[RANKS];
static uint64_t pointer;
static int32_t size;
static struct {
    int32_t version;
    uint64_t map, entry;
    int32_t state;
} linker;
static const struct mpiq_madeup_segment segments[] = {
    {POINTER, sizeof pointer, &pointer}, {SIZE, sizeof size, &size},   {LINKER, sizeof linker, &linker},
    {TABLE, sizeof table, table},        {LAST_PAGE, PAGE, last_page}, {0}};
static const struct mpiq_madeup_symbol symbols[] = {
    {"MPIR_proctable", POINTER}, {"MPIR_proctable_size", SIZE}, {0}};

static void set_up(void)
{
    static const uint64_t hosts[RANKS] = {STRINGS, STRINGS + 3, STRINGS, STRINGS, STRINGS + 6};
    for (int rank = 0; rank < RANKS; rank++)
        table[rank] = (struct entry){.host = hosts[rank], .executable = 1, .pid = 100 + rank};
    memcpy(last_page + PAGE - sizeof strings, strings, sizeof strings);
    pointer = TABLE;
    size = RANKS;
}

/* The answer, or the word of the error. */
static char *answer(const struct mpiq_madeup_symbol *known)
{
    const struct mpiq_madeup what = {.segments = segments, .symbols = known};
    struct mpiq_target *target = NULL;
    char *text = NULL;
    struct mpiq_error *error = mpiq_target_madeup_create(&what, &target);
    if (!error)
        error = mpiq_proctable_read(target, &text);
    if (error)
        text = strdup(mpiq_error_word(error->code));
    mpiq_error_destroy(error);
    mpiq_target_destroy(target);
    return text;
}

static void expect(const char *wanted)
{
    char *text = answer(symbols);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    free(text);
}

static void hosts_in_the_order_of_their_ranks(void)
{
    set_up();
    expect("{\"size\":5,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"0,2-3\"},{\"host\":\"n2\",\"ranks\":\"1\"},"
           "{\"host\":\"odd \\\"name\\\"\",\"ranks\":\"4\"}]}");
}

static void an_entry_without_a_name_is_left_out(void)
{
    set_up();
    table[1].host = 0;
    size = 2;
    expect("{\"size\":2,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"0\"}]}");
}

static void nothing_has_been_started(void)
{
    set_up();
    pointer = 0;
    expect("starting");
    set_up();
    size = 0;
    expect("starting");
    char *text = answer(NULL);
    CU_ASSERT_STRING_EQUAL(text, "not-found");
    free(text);
}

/* Its symbols come with a library that it has not loaded yet. */
static void a_launcher_is_being_loaded(void)
{
    static const struct mpiq_madeup_symbol early[] = {{"_r_debug", LINKER}, {0}};
    static const struct {
        int32_t version, state;
        const char *answer;
    } rows[] = {{0, 0, "starting"}, {1, 1, "starting"}, {1, 0, "not-found"}};
    set_up();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        linker.version = rows[i].version;
        linker.state = rows[i].state;
        char *text = answer(early);
        CU_ASSERT_STRING_EQUAL(text, rows[i].answer);
        free(text);
    }
}

static void sizes_that_no_job_has(void)
{
    set_up();
    size = -1;
    expect("corrupt");
    size = INT32_MAX;
    expect("corrupt");
    size = RANKS + 1;
    expect("short");
}

static void names_that_are_nowhere(void)
{
    set_up();
    table[2].host = 0x7000;
    expect("unmapped");
    table[2].host = UINT64_MAX;
    expect("unmapped");
}

static void only_its_own_question(void)
{
    CU_ASSERT_TRUE(mpiq_proctable_is_asked("{\"ask\":\"proctable\"}"));
    CU_ASSERT_FALSE(mpiq_proctable_is_asked("{\"ask\":\"queue\",\"queue\":\"proctable\"}"));
    CU_ASSERT_FALSE(mpiq_proctable_is_asked("nonsense"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"hosts are in the order of their ranks", hosts_in_the_order_of_their_ranks},
        {"an entry without a name is left out", an_entry_without_a_name_is_left_out},
        {"an empty table says that no rank has started", nothing_has_been_started},
        {"a launcher that is being loaded has started no rank", a_launcher_is_being_loaded},
        {"impossible sizes are refused", sizes_that_no_job_has},
        {"unreadable host names are an error", names_that_are_nowhere},
        {"no other question is answered", only_its_own_question},
        CU_TEST_INFO_NULL,
    };
    return suite_run("proctable", tests);
}
