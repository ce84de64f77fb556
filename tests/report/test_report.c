/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_report EXPECTED [--write] - made-up jobs as text and JSON, compared whole with the files in the folder
 * EXPECTED; --write makes those files anew, to be read before they are committed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "made_job.h"
#include "made_screens.h"
#include "made_stacks.h"
#include "report/report.h"
#include "suite.h"

static const char *expected_folder;
static bool write_expected;

static char *rendered(const struct made_job *made, enum mpiq_view view,
                      const struct mpiq_report_options *options)
{
    char *text = NULL;
    struct mpiq_error *error =
        mpiq_report_render(made->job, made->diagnosis, view, made->chain, options, &text);
    CU_ASSERT_PTR_NULL_FATAL(error);
    return text;
}

static char *file_text(const char *path)
{
    FILE *file _cleanup_fclose_ = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        return strdup("");
    }
    return text;
}

/* Compares with EXPECTED/NAME, or writes it. */
static void compare(const char *name, const char *text)
{
    char *path _cleanup_free_ = NULL;
    CU_ASSERT_FATAL(asprintf(&path, "%s/%s", expected_folder, name) > 0);
    if (write_expected) {
        FILE *file _cleanup_fclose_ = fopen(path, "w");
        CU_ASSERT_FATAL(file && fputs(text, file) >= 0);
        return;
    }
    char *wanted _cleanup_free_ = file_text(path);
    bool same = wanted && strcmp(wanted, text) == 0;
    if (!same)
        printf("\n%s should be\n%s\nbut is\n%s\n", path, wanted ? wanted : strerror(errno), text);
    CU_ASSERT_TRUE(same);
}

static const struct {
    enum mpiq_view view;
    const char *name;
} views[] = {
    {MPIQ_VIEW_REPORT, "report"}, {MPIQ_VIEW_WHY, "why"},     {MPIQ_VIEW_COLLECTIVES, "collectives"},
    {MPIQ_VIEW_QUEUES, "queues"}, {MPIQ_VIEW_COMMS, "comms"}, {MPIQ_VIEW_RANKS, "ranks"},
};

/* All views of a job, as text and as JSON, each twice: the same state gives the same bytes. */
static void compare_views(const char *job, const struct made_job *made)
{
    for (size_t i = 0; i < 2 * sizeof views / sizeof *views; i++) {
        size_t v = i / 2;
        struct mpiq_report_options options = {.format = i % 2 ? MPIQ_FORMAT_JSON : MPIQ_FORMAT_TEXT};
        if (views[v].view == MPIQ_VIEW_WHY && !made->chain)
            continue;
        char *name _cleanup_free_ = NULL;
        char *text _cleanup_free_ = rendered(made, views[v].view, &options);
        char *again _cleanup_free_ = rendered(made, views[v].view, &options);
        CU_ASSERT_STRING_EQUAL(text, again);
        CU_ASSERT_FATAL(asprintf(&name, "%s-%s.%s", job, views[v].name, i % 2 ? "json" : "txt") > 0);
        compare(name, text);
    }
}

static void wrong_turn_of_four(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_wrong_turn(4);
    compare_views("wrong-turn", &made);
}

static void ring_of_six(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_ring(6);
    compare_views("ring", &made);
}

static void mixture(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_mixture();
    compare_views("mixture", &made);
}

static void backlog(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_backlog();
    compare_views("backlog", &made);
}

static void running(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_running();
    compare_views("running", &made);
}

static void nothing(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_nothing();
    compare_views("nothing", &made);
}

/* The report of each kind of hang, as text and JSON. */
static void each_kind_of_hang(void)
{
    for (size_t i = 0; i < made_screen_count; i++) {
        struct made_job made _cleanup_(made_job_deinit) = made_screens[i].make();
        for (int json = 0; json < 2; json++) {
            struct mpiq_report_options options = {.format = json ? MPIQ_FORMAT_JSON : MPIQ_FORMAT_TEXT};
            char *name _cleanup_free_ = NULL;
            char *text _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
            CU_ASSERT_FATAL(asprintf(&name, "screen-%s.%s", made_screens[i].name, json ? "json" : "txt") > 0);
            compare(name, text);
        }
    }
}

/* The tree of all stacks: folded, whole, of all threads; on a narrow terminal; as JSON. */
static void stacks_of_all_ranks(void)
{
    static const struct {
        const char *name;
        struct mpiq_report_options options;
        bool all_threads;
    } rows[] = {{"mixed-stacks.txt", {0}, false},
                {"mixed-stacks-all.txt", {.all = true}, false},
                {"mixed-stacks-threads.txt", {0}, true},
                {"mixed-stacks-40.txt", {.width = 40}, true},
                {"mixed-stacks.json", {.format = MPIQ_FORMAT_JSON}, false},
                {"mixed-stacks-threads.json", {.format = MPIQ_FORMAT_JSON}, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_stack_tree *tree = NULL;
        struct made_job made _cleanup_(made_job_deinit) = made_stacks(rows[i].all_threads, &tree);
        struct mpiq_report_options options = rows[i].options;
        options.stacks = tree;
        char *text _cleanup_free_ = rendered(&made, MPIQ_VIEW_STACKS, &options);
        compare(rows[i].name, text);
        for (const char *c = text; *c; c++)
            CU_ASSERT_TRUE((*c >= ' ' && *c < '\177') || *c == '\n');
        mpiq_stack_tree_destroy(tree);
    }
}

static void internal_traffic_only_on_request(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_wrong_turn(4);
    struct mpiq_report_options options = {.all = true};
    char *text _cleanup_free_ = rendered(&made, MPIQ_VIEW_QUEUES, &options);
    compare("wrong-turn-queues-all.txt", text);
    options.format = MPIQ_FORMAT_JSON;
    char *json _cleanup_free_ = rendered(&made, MPIQ_VIEW_QUEUES, &options);
    compare("wrong-turn-queues-all.json", json);
}

static void only_some_ranks(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_wrong_turn(4);
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    CU_ASSERT_TRUE_FATAL(mpiq_rank_set_add(&ranks, 0, 1));
    struct mpiq_report_options options = {.ranks = &ranks};
    char *report _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
    compare("wrong-turn-report-rank-1.txt", report);
    char *collectives _cleanup_free_ = rendered(&made, MPIQ_VIEW_COLLECTIVES, &options);
    compare("wrong-turn-collectives-rank-1.txt", collectives);
    options.format = MPIQ_FORMAT_JSON;
    char *json _cleanup_free_ = rendered(&made, MPIQ_VIEW_RANKS, &options);
    compare("wrong-turn-ranks-rank-1.json", json);
}

static void colours(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_wrong_turn(4);
    struct mpiq_report_options options = {.color = true, .width = 80};
    char *text _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
    compare("wrong-turn-report-color-80.txt", text);
    options.color = false;
    char *plain _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
    CU_ASSERT_PTR_NULL(strchr(plain, '\033'));
}

/* No line is wider than the terminal, and no word is broken that fits a line. */
static void a_narrow_terminal(void)
{
    struct made_job jobs[] = {made_wrong_turn(64), made_mixture(), made_ring(6), made_backlog()};
    static const char *const names[] = {"wrong-turn", "mixture", "ring", "backlog"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
            for (int width = 36; width <= 116; width += 20) {
                struct mpiq_report_options options = {.width = width};
                if (views[v].view == MPIQ_VIEW_WHY && !jobs[i].chain)
                    continue;
                char *text _cleanup_free_ = rendered(&jobs[i], views[v].view, &options);
                for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
                    if (strcspn(line, "\n") > (size_t)width)
                        printf("\n%s-%s, %d columns:\n%s\n", names[i], views[v].name, width, line);
                    CU_ASSERT_TRUE_FATAL(strcspn(line, "\n") <= (size_t)width);
                }
                char *name _cleanup_free_ = NULL;
                CU_ASSERT_FATAL(asprintf(&name, "%s-%s-%d.txt", names[i], views[v].name, width) > 0);
                if (width == 56 && i == 1)
                    compare(name, text);
            }
        }
        made_job_deinit(&jobs[i]);
    }
}

/* Cuts out what is between two marks: style and script are files of their own. */
static void cut(char *page, const char *begin, const char *end)
{
    char *from = strstr(page, begin);
    char *to = from ? strstr(from, end) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    from += strlen(begin);
    memmove(from, to, strlen(to) + 1);
}

static void a_page_of_html(void)
{
    struct made_job jobs[] = {made_wrong_turn(4), made_ring(64),  made_ring(6),
                              made_mixture(),     made_nothing(), made_back_and_forth()};
    static const char *const names[] = {"wrong-turn.html", "ring-64.html", "ring.html",
                                        "mixture.html",    "nothing.html", "back-and-forth.html"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct mpiq_report_options options = {.format = MPIQ_FORMAT_HTML, .color = true, .width = 80};
        char *page _cleanup_free_ = rendered(&jobs[i], MPIQ_VIEW_REPORT, &options);
        cut(page, "<style>\n", "</style>");
        cut(page, "<script>\n", "</script>");
        compare(names[i], page);
        CU_ASSERT_PTR_NULL(strchr(page, '\033'));
        made_job_deinit(&jobs[i]);
    }
}

static unsigned count_of(const char *page, const char *text)
{
    unsigned count = 0;
    for (const char *at = page; (at = strstr(at, text)); at++)
        count++;
    return count;
}

/* Every wait is an edge: 0 waits for 3 as well as 1 to 3 for 0; ranks 0 and 3 alone are a circle. */
static void a_page_draws_every_wait(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_back_and_forth();
    struct mpiq_report_options options = {.format = MPIQ_FORMAT_HTML};
    char *page _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(page, ">ranks 1-2</span> wait for <span class=\"nb\">rank 0</span>: MPI_Barrier"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(page, ">rank 3</span> waits for <span class=\"nb\">rank 0</span>: MPI_Barrier"));
    CU_ASSERT_PTR_NOT_NULL(strstr(page, ">rank 0</span> waits for <span class=\"nb\">rank 3</span>: "
                                        "<span class=\"nb\">tag 5</span>"));
    CU_ASSERT_EQUAL(count_of(page, "marker-end="), 3);
    CU_ASSERT_EQUAL(count_of(page, "<path class=\"edge circle\""), 2);
    CU_ASSERT_EQUAL(count_of(page, "<g class=\"node circle"), 2);
    CU_ASSERT_EQUAL(count_of(page, "<g class=\"node"), 3);
}

/* A long circle: the ranks that are drawn stand on their own, the others are a group, and all are joined. */
static void a_page_draws_a_long_circle(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_ring(64);
    struct mpiq_report_options options = {.format = MPIQ_FORMAT_HTML};
    char *page _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
    unsigned drawn = count_of(page, "<g class=\"node circle");
    CU_ASSERT_TRUE(drawn >= 3 && drawn <= 48);
    CU_ASSERT_TRUE(count_of(page, "marker-end=") >= drawn);
    CU_ASSERT_TRUE(count_of(page, "<path class=\"edge circle\"") + 1 >= drawn);
}

static void nothing_from_the_job_reaches_the_terminal_raw(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_mixture();
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct mpiq_report_options options = {0};
        if (views[i].view == MPIQ_VIEW_WHY)
            continue;
        char *text _cleanup_free_ = rendered(&made, views[i].view, &options);
        for (const char *c = text; *c; c++)
            CU_ASSERT_TRUE((*c >= ' ' && *c < '\177') || *c == '\n');
    }
}

static void a_chain_needs_a_rank(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_running();
    struct mpiq_report_options options = {0};
    char *text = NULL;
    struct mpiq_error *error =
        mpiq_report_render(made.job, made.diagnosis, MPIQ_VIEW_WHY, NULL, &options, &text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_USAGE);
    CU_ASSERT_PTR_NULL(text);
    mpiq_error_destroy(error);
}

static void written_is_what_is_rendered(void)
{
    struct made_job made _cleanup_(made_job_deinit) = made_ring(3000);
    struct mpiq_report_options options = {.format = MPIQ_FORMAT_JSON};
    char *text _cleanup_free_ = rendered(&made, MPIQ_VIEW_REPORT, &options);
    char *written _cleanup_free_ = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&written, &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_PTR_NULL(mpiq_report_write(made.job, made.diagnosis, MPIQ_VIEW_REPORT, NULL, &options, out));
    fclose(out);
    CU_ASSERT_EQUAL(length, strlen(text));
    CU_ASSERT_STRING_EQUAL(written, text);
    FILE *full _cleanup_fclose_ = fopen("/dev/full", "w");
    struct mpiq_error *error =
        mpiq_report_write(made.job, made.diagnosis, MPIQ_VIEW_REPORT, NULL, &options, full);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_IO);
    mpiq_error_destroy(error);
}

static unsigned lines_of(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* The report of a hang of any size is a screen, and begins with the verdict. */
static void fits(const struct made_job *made, const char *name, const char *verdict)
{
    for (int width = 0; width <= 100; width += 100) {
        struct mpiq_report_options options = {.width = width};
        char *text _cleanup_free_ = rendered(made, MPIQ_VIEW_REPORT, &options);
        CU_ASSERT_TRUE(lines_of(text) <= MPIQ_REPORT_LINES);
        CU_ASSERT_EQUAL(strncmp(text, verdict, strlen(verdict)), 0);
        if (lines_of(text) > MPIQ_REPORT_LINES)
            printf("\n%s has %u lines:\n%s", name, lines_of(text), text);
        if (width == 0)
            compare(name, text);
    }
}

static void five_hundred_ranks_fit_a_screen(void)
{
    struct made_job wrong_turn _cleanup_(made_job_deinit) = made_wrong_turn(512);
    struct made_job ring _cleanup_(made_job_deinit) = made_ring(512);
    fits(&wrong_turn, "wrong-turn-512-report.txt", "deadlock: none of the 512 ranks can continue");
    fits(&ring, "ring-512-report.txt", "deadlock: none of the 512 ranks can continue");
}

static void however_different_the_ranks_are(void)
{
    struct made_job chaos _cleanup_(made_job_deinit) = made_chaos(512);
    fits(&chaos, "chaos-512-report.txt", "deadlock: none of the 512 ranks can continue");
}

static void the_other_views_of_many_ranks_are_short(void)
{
    struct made_job jobs[] = {made_wrong_turn(512), made_ring(512), made_chaos(512)};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct mpiq_report_options options = {0};
        char *queues _cleanup_free_ = rendered(&jobs[i], MPIQ_VIEW_QUEUES, &options);
        CU_ASSERT_TRUE(lines_of(queues) <= 20);
        char *comms _cleanup_free_ = rendered(&jobs[i], MPIQ_VIEW_COMMS, &options);
        CU_ASSERT_TRUE(lines_of(comms) <= 10);
        char *collectives _cleanup_free_ = rendered(&jobs[i], MPIQ_VIEW_COLLECTIVES, &options);
        CU_ASSERT_TRUE(lines_of(collectives) <= 20);
        made_job_deinit(&jobs[i]);
    }
}

/* Whatever 10^5 ranks do, their page stays below two megabytes. */
static void a_page_of_many_ranks_is_small(void)
{
    struct made_job jobs[] = {made_ring(100000), made_chaos(100000)};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct mpiq_report_options options = {.format = MPIQ_FORMAT_HTML};
        char *page _cleanup_free_ = rendered(&jobs[i], MPIQ_VIEW_REPORT, &options);
        if (strlen(page) > 2000000)
            printf("\npage %zu of 10^5 ranks has %zu bytes\n", i, strlen(page));
        CU_ASSERT_TRUE(strlen(page) <= 2000000);
        CU_ASSERT_TRUE(count_of(page, "<g class=\"node") <= 80);
        made_job_deinit(&jobs[i]);
    }
}

/* The live screen: a cell a rank, or several to a cell, and within the terminal; one look as one line. */
static void compare_screen(const struct made_job *made, int width, int height, const char *job)
{
    struct mpiq_report_options options = {.width = width, .height = height};
    char *name _cleanup_free_ = NULL, *line_name _cleanup_free_ = NULL;
    char *text _cleanup_free_ = rendered(made, MPIQ_VIEW_SCREEN, &options);
    CU_ASSERT_FATAL(setenv("TZ", "UTC", 1) == 0); /* a line begins with the time of day */
    char *line _cleanup_free_ = rendered(made, MPIQ_VIEW_LINE, &options);
    CU_ASSERT_FATAL(asprintf(&name, "%s-screen.txt", job) > 0);
    CU_ASSERT_FATAL(asprintf(&line_name, "%s-line.txt", job) > 0);
    compare(name, text);
    compare(line_name, line);
    CU_ASSERT_EQUAL(lines_of(line), 1);
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        CU_ASSERT_TRUE_FATAL(strcspn(at, "\n") <= (size_t)width);
    if (height >= 24) /* on less, what has no room is scrolled to */
        CU_ASSERT_TRUE(lines_of(text) <= (unsigned)height);
}

static void the_live_screen(void)
{
    struct made_job four _cleanup_(made_job_deinit) = made_wrong_turn(4);
    struct made_job many _cleanup_(made_job_deinit) = made_wrong_turn(64);
    struct made_job ring _cleanup_(made_job_deinit) = made_ring(512);
    compare_screen(&four, 60, 15, "wrong-turn-4");
    compare_screen(&many, 80, 24, "wrong-turn-64");
    compare_screen(&ring, 100, 30, "ring-512");
}

/* Whoever is unlike all others is seen, however many share the cell. */
static void a_folded_cell_hides_nobody(const struct made_job *made)
{
    struct mpiq_report_options options = {.width = 100, .height = 30, .color = true};
    char *text _cleanup_free_ = rendered(made, MPIQ_VIEW_SCREEN, &options);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\033[1;7mr\033[0m"));
}

/* Each job is made once for all that is asked of it: that takes seconds. */
static void a_million_ranks_fit_a_screen(void)
{
    const char *verdict = "deadlock: none of the 1000000 ranks can continue";
    struct made_job made = made_wrong_turn(1000000);
    fits(&made, "wrong-turn-1000000-report.txt", verdict);
    compare_screen(&made, 100, 30, "wrong-turn-1000000");
    a_folded_cell_hides_nobody(&made);
    made_job_deinit(&made);
    made = made_ring(1000000);
    fits(&made, "ring-1000000-report.txt", verdict);
    made_job_deinit(&made);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        {"a rank that takes a wrong turn is the suspect", wrong_turn_of_four},
        {"a ring waits for itself", ring_of_six},
        {"a job with all kinds of findings", mixture},
        {"two threads, and a backlog", backlog},
        {"a job that runs", running},
        {"the live screen", the_live_screen},
        {"nothing could be read", nothing},
        {"each kind of hang", each_kind_of_hang},
        {"the stacks of all ranks", stacks_of_all_ranks},
        {"internal traffic only on request", internal_traffic_only_on_request},
        {"only some ranks", only_some_ranks},
        {"colours", colours},
        {"a narrow terminal", a_narrow_terminal},
        {"a page of HTML", a_page_of_html},
        {"a page draws every wait", a_page_draws_every_wait},
        {"a page draws a long circle", a_page_draws_a_long_circle},
        {"nothing from the job reaches the terminal raw", nothing_from_the_job_reaches_the_terminal_raw},
        {"a chain needs a rank", a_chain_needs_a_rank},
        {"the written file equals the rendered text", written_is_what_is_rendered},
        {"512 ranks fit a screen", five_hundred_ranks_fit_a_screen},
        {"10^6 ranks fit a screen", a_million_ranks_fit_a_screen},
        {"512 different ranks fit a screen", however_different_the_ranks_are},
        {"a page of many ranks is small", a_page_of_many_ranks_is_small},
        {"the other views of many ranks are short", the_other_views_of_many_ranks_are_short},
        CU_TEST_INFO_NULL,
    };
    if (argc < 2)
        return 2;
    expected_folder = argv[1];
    write_expected = argc > 2 && strcmp(argv[2], "--write") == 0;
    return suite_run("report", tests);
}
