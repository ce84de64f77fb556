/* SPDX-License-Identifier: BSD-3-Clause */
/* `mpiq stacks`: the stacks of all ranks as one tree, the rarest branch first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_table.h"
#include "report/print.h"
#include "report/views.h"

/* Without --all. */
#define MOST_BRANCHES 12
/* Columns that bars may take. */
#define MOST_BARS 60

/* The tree, and what stands before each of its next lines. */
struct drawing {
    struct mpiq_page *page;
    const struct mpiq_stack_node *nodes;
    char bars[MOST_BARS + 8];
};

static void put_line(struct drawing *drawing, const char *lead, enum mpiq_style style, const char *text)
{
    char full[sizeof drawing->bars + 4];
    snprintf(full, sizeof full, "%s%s", drawing->bars, lead);
    mpiq_print_line(drawing->page,
                    (struct mpiq_paragraph){.hang = strlen(full) + 2, .lead = full, .style = style}, text);
}

static bool is_same(const struct mpiq_stack_node *a, const struct mpiq_stack_node *b)
{
    return a->line == b->line && mpiq_same_string(a->function, b->function) &&
           mpiq_same_string(a->file, b->file) && mpiq_same_string(a->object, b->object);
}

/* "step at solver.c:88", "MPI_Recv in libmpi.so.40"; times: one below the other. */
static void put_frame(struct drawing *drawing, const struct mpiq_stack_node *node, unsigned times)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&drawing->page->out);
    bool missing = !node->function && !node->file && !node->object;
    const char *function = node->function ? node->function : missing ? "(frames missing)" : "(no name)";
    mpiq_put_place(&text, NULL, 0, function, node->file ? NULL : node->object);
    if (node->file) {
        mpiq_buffer_string(&text, " at ");
        mpiq_put_place(&text, node->file, node->line, NULL, NULL);
    }
    if (times > 1)
        mpiq_buffer_printf(&text, " (%u times)", times);
    put_line(drawing, "", MPIQ_STYLE_NONE, mpiq_buffer_text(&text));
}

static void put_branches(struct drawing *drawing, uint32_t parent);

/* What all of these threads are in, and then what only some of them are. */
static void put_branch(struct drawing *drawing, uint32_t at)
{
    const struct mpiq_stack_node *nodes = drawing->nodes;
    unsigned times = 0;
    bool shared = true;
    while (shared) {
        const struct mpiq_stack_node *node = &nodes[at];
        shared = node->first_child && nodes[node->first_child].threads == node->threads;
        times++;
        if (!shared || !is_same(node, &nodes[node->first_child])) {
            put_frame(drawing, node, times);
            times = 0;
        }
        at = shared ? node->first_child : at;
    }
    put_branches(drawing, at);
}

/* "ranks 0-3", "rank 2, 3 threads". */
static void put_who(struct drawing *drawing, const char *lead, const struct mpiq_rank_set *ranks,
                    uint32_t threads, const char *more)
{
    struct mpiq_page *page = drawing->page;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    mpiq_put_who(&text, ranks, page->options->all ? 0 : MPIQ_MOST_RANGES);
    if (threads != ranks->size) {
        mpiq_buffer_string(&text, ", ");
        mpiq_put_count(&text, threads, "thread");
    }
    mpiq_buffer_string(&text, more);
    put_line(drawing, lead, MPIQ_STYLE_BOLD, mpiq_buffer_text(&text));
}

/* Where a stack may go on from one frame: what is drawn, and what is only counted. */
struct fork {
    uint32_t drawn; /* branches */
    uint32_t
        polling; /* branches of the library's own code, in which ranks that wait poll now here, now there */
    uint32_t others; /* branches too many */
    bool here;       /* some end here */
};

enum kind { DRAWN, POLLING, OTHER };

/* As part of the fork, which then counts it. */
static enum kind classify(const struct drawing *drawing, const struct mpiq_stack_node *node,
                          struct fork *fork)
{
    if (drawing->page->options->all || (!(node->inside && !node->leads_out) && fork->drawn < MOST_BRANCHES)) {
        fork->drawn++;
        return DRAWN;
    }
    bool polling = node->inside && !node->leads_out;
    fork->polling += polling;
    fork->others += !polling;
    return polling ? POLLING : OTHER;
}

static struct fork look_ahead(const struct drawing *drawing, uint32_t parent)
{
    const struct mpiq_stack_node *nodes = drawing->nodes, *node = &nodes[parent];
    struct fork fork = {0};
    for (uint32_t at = node->first_child; at; at = nodes[at].next)
        classify(drawing, &nodes[at], &fork);
    fork.here = parent && node->here.size > 0 && fork.drawn + fork.polling + fork.others > 0;
    if (fork.here && fork.polling > 0 && node->inside) { /* one more of its places */
        fork.here = false;
        fork.polling++;
    }
    return fork;
}

static void put_branches(struct drawing *drawing, uint32_t parent)
{
    const struct mpiq_stack_node *nodes = drawing->nodes;
    const struct fork ahead = look_ahead(drawing, parent);
    size_t length = strlen(drawing->bars);
    uint32_t left = ahead.drawn + ahead.here + (ahead.polling > 0) + (ahead.others > 0);
    struct fork sofar = {0};
    char more[64];
    if (ahead.here)
        put_who(drawing, --left ? "|- " : "`- ", &nodes[parent].here, (uint32_t)nodes[parent].here.size,
                ": here");
    for (uint32_t at = nodes[parent].first_child; at; at = nodes[at].next) {
        if (classify(drawing, &nodes[at], &sofar) != DRAWN)
            continue;
        left--;
        put_who(drawing, !parent ? "" : left ? "|- " : "`- ", &nodes[at].ranks, nodes[at].threads, "");
        if (length + 3 < MOST_BARS)
            strcat(drawing->bars, !parent ? "  " : left ? "|  " : "   ");
        put_branch(drawing, at);
        drawing->bars[length] = '\0';
    }
    snprintf(more, sizeof more, "in %" PRIu32 " places inside of the MPI library: see --all", ahead.polling);
    if (ahead.polling > 0)
        put_line(drawing, ahead.others > 0 ? "|- " : "`- ", MPIQ_STYLE_NONE, more);
    snprintf(more, sizeof more, "%" PRIu32 " more branches: see --all, or --ranks LIST", ahead.others);
    if (ahead.others > 0)
        put_line(drawing, parent ? "`- " : "", MPIQ_STYLE_NONE, more);
}

/* The ranks of which there is no stack. */
static void put_missing(struct mpiq_page *page)
{
    struct mpiq_rank_set gone _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set others _cleanup_(mpiq_rank_set_deinit) = {0};
    const struct mpiq_stack_tree *tree = page->options->stacks;
    for (uint32_t process = 0; process < page->job->process_count; process++) {
        struct mpiq_world_rank name = mpiq_job_world_rank(page->job, process);
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(page->job, process);
        if (mpiq_page_wants(page, process) &&
            !mpiq_rank_set_contains(&tree->nodes[0].ranks, name.world, name.rank))
            page->out.failed |=
                !mpiq_rank_set_add(rank && rank->gone ? &gone : &others, name.world, name.rank);
    }
    const struct {
        const struct mpiq_rank_set *set;
        const char *one, *many;
    } rows[] = {{&gone, " has ended", " have ended"},
                {&others, ": its stack could not be read", ": their stacks could not be read"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        if (rows[i].set->size == 0)
            continue;
        mpiq_put_who(&text, rows[i].set, MPIQ_MOST_RANGES);
        mpiq_buffer_string(&text, rows[i].set->size == 1 ? rows[i].one : rows[i].many);
        mpiq_print_gap(page);
        mpiq_print_line(page, (struct mpiq_paragraph){.hang = 2}, mpiq_buffer_text(&text));
    }
}

void mpiq_show_stacks(struct mpiq_page *page)
{
    struct drawing drawing = {.page = page, .nodes = page->options->stacks->nodes};
    mpiq_print_gap(page);
    put_branches(&drawing, 0);
    put_missing(page);
}
