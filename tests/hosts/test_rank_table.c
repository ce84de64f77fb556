/* SPDX-License-Identifier: BSD-3-Clause */
/* A launcher's hosts and ranks as JSON: what a launcher says, and what only a liar would. */
#include "hosts/rank_table.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* "size; host=ranks …; match …", or the word of the error. */
static void expect(const char *text, const char *wanted)
{
    struct mpiq_launch launch = {0};
    char *got = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&got, &size);
    struct mpiq_error *error = mpiq_rank_table_read(text, &launch);
    if (error)
        fputs(mpiq_error_word(error->code), out);
    else
        fprintf(out, "%d;", launch.world_size);
    for (size_t i = 0; i < launch.host_count && !error; i++) {
        char *ranks = mpiq_rank_set_text(&launch.hosts[i].ranks, 0);
        fprintf(out, " %s=%s", launch.hosts[i].name, ranks);
        free(ranks);
    }
    for (size_t i = 0; i < launch.match_count && !error; i++)
        fprintf(out, "; %s", launch.match[i]);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(got, wanted);
    free(got);
    mpiq_error_destroy(error);
    mpiq_launch_deinit(&launch);
}

static void what_launchers_say(void)
{
    expect("{\"size\":8,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"0-1,6\"},{\"host\":\"n2.site\",\"ranks\":\"2-"
           "5,7\"}]}",
           "8; n1=0-1,6 n2.site=2-5,7");
    expect("{\"size\":1,\"nspace\":\"prterun-n1-7@1\",\"hosts\":[{\"ranks\":\"0\",\"host\":\"n1\"}]}",
           "1; n1=0; PMIX_NAMESPACE=prterun-n1-7@1");
}

static void no_host(void)
{
    expect("{\"size\":0,\"hosts\":[]}", "starting");
    expect("{}", "starting");
}

static void names_that_would_be_options_or_commands(void)
{
    expect("{\"size\":1,\"hosts\":[{\"host\":\"-oProxyCommand=id\",\"ranks\":\"0\"}]}", "usage");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1;id\",\"ranks\":\"0\"}]}", "usage");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1 id\",\"ranks\":\"0\"}]}", "usage");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"\",\"ranks\":\"0\"}]}", "usage");
}

static void text_that_makes_no_sense(void)
{
    expect("", "corrupt");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"0\"}]", "corrupt");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"0\"}]} and more", "corrupt");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1\",\"ranks\":0}]}", "corrupt");
    expect("{\"size\":1,\"hosts\":[{\"ranks\":\"0\"}]}", "corrupt");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1\",\"host\":\"n2\",\"ranks\":\"0\"}]}", "corrupt");
    expect("{\"size\":99999999999,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"0\"}]}", "corrupt");
    expect("{\"size\":1,\"hosts\":{\"host\":\"n1\"}}", "corrupt");
    expect("{\"size\":1,\"hosts\":[{\"host\":\"n1\",\"ranks\":\"7-3\"}]}", "usage");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"tables of real launchers are read", what_launchers_say},
        {"a table without hosts is an error", no_host},
        {"host names that look like options or commands are refused",
         names_that_would_be_options_or_commands},
        {"malformed tables are refused", text_that_makes_no_sense},
        CU_TEST_INFO_NULL,
    };
    return suite_run("rank table", tests);
}
