/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: the causes, what the other ranks do, what could not be read, what would help. */
#include <string.h>

#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/columns.h"
#include "report/finding_text.h"
#include "report/views.h"

/* How much of everything is shown; the first set that keeps to a screen is taken. */
static const struct mpiq_limits limit_sets[] = {
    {.findings = 8, .lines_first = 8, .lines_other = 4, .consequences = 4, .behaviours = 14, .notes = 6},
    {.findings = 5, .lines_first = 8, .lines_other = 2, .consequences = 3, .behaviours = 10, .notes = 4},
    {.findings = 4, .lines_first = 5, .lines_other = 2, .consequences = 2, .behaviours = 8, .notes = 3},
    {.findings = 3, .lines_first = 4, .lines_other = 1, .consequences = 1, .behaviours = 6, .notes = 2},
    {.findings = 2, .lines_first = 2, .lines_other = 0, .consequences = 1, .behaviours = 4, .notes = 1},
};

/* A page of HTML may be longer than a screen. */
static const struct mpiq_limits html_limits = {
    .findings = 40, .lines_first = 40, .lines_other = 10, .consequences = 20, .behaviours = 60, .notes = 40};

/* What they wait for; where that is not the same for all, of the first of them. */
static void put_what(const struct mpiq_page *page, struct mpiq_buffer *cell,
                     const struct mpiq_behaviour *line)
{
    mpiq_buffer_string(cell, line->what);
    if (!line->varies)
        return;
    mpiq_buffer_string(cell, line->what ? " (rank " : "differs (not known for rank ");
    mpiq_put_process(page->job, cell, (uint32_t)(line->example - page->diagnosis->ranks));
    mpiq_buffer_string(cell, line->what ? ", for example)" : ")");
}

static enum mpiq_style line_style(const struct mpiq_behaviour *line)
{
    return line->suspect ? MPIQ_STYLE_BAD : MPIQ_STYLE_NONE;
}

void mpiq_put_behaviours(struct mpiq_page *page, const struct mpiq_behaviours *all, const char *heading,
                         size_t most)
{
    static const struct mpiq_column headings[] = {
        {.heading = "RANKS"}, {.heading = "STATE"}, {.heading = "CALL"},
        {.heading = "FOR"},   {.heading = "AT"},    {.heading = "WAITING FOR"},
    };
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    /* "and one more" would take the line that it saves. */
    size_t shown = all->count <= most + 1 ? all->count : most;

    if (all->count == 0)
        return;
    mpiq_print_heading(page, heading);
    for (size_t i = 0; i < shown; i++) {
        const struct mpiq_behaviour *line = &all->items[i];
        mpiq_columns_row(table, line_style(line));
        mpiq_put_ranks(&cell, &line->ranks, MPIQ_MOST_RANGES);
        mpiq_columns_set(table, 0, &cell);
        mpiq_columns_set_string(
            table, 1, line->example->stuck ? "stuck" : mpiq_rank_activity_word(line->example->activity));
        mpiq_put_call(page->job, &cell, line->example);
        mpiq_columns_set(table, 2, &cell);
        mpiq_put_duration(&cell, line->since);
        mpiq_columns_set(table, 3, &cell);
        /* Of a rank outside MPI it is said where it is, which may be more than a line of its source. */
        if (line->example->call || !line->what)
            mpiq_put_site(page->job, &cell, line->example->site);
        else
            put_what(page, &cell, line);
        mpiq_columns_set(table, 4, &cell);
        if (line->example->call)
            put_what(page, &cell, line);
        else
            mpiq_put_last_call(&cell, &line->last);
        mpiq_columns_set(table, 5, &cell);
    }
    mpiq_columns_print(table, 2, true);
    if (shown < all->count) {
        struct mpiq_rank_set rest _cleanup_(mpiq_rank_set_deinit) = {0};
        for (size_t i = shown; i < all->count; i++)
            page->out.failed |= !mpiq_rank_set_add_set(&rest, &all->items[i].ranks);
        mpiq_buffer_printf(&cell, "%zu more lines, for ", all->count - shown);
        mpiq_put_who(&cell, &rest, 4);
        mpiq_buffer_string(&cell, " (mpiq ranks shows every rank)");
        mpiq_print(page, 2, "%s", mpiq_buffer_text(&cell));
    }
}

void mpiq_put_notes(struct mpiq_page *page, const char *heading, const struct mpiq_note *notes, size_t count,
                    size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = count <= most + 1 ? count : most;
    if (count == 0)
        return;
    mpiq_print_heading(page, heading);
    for (size_t i = 0; i < shown; i++) {
        if (notes[i].ranks.size > 0) {
            mpiq_put_who(&text, &notes[i].ranks, MPIQ_MOST_RANGES);
            mpiq_buffer_string(&text, ": ");
        }
        mpiq_buffer_string(&text, notes[i].text);
        mpiq_print(page, 2, "%s", mpiq_buffer_text(&text));
        text.length = 0;
    }
    if (shown < count)
        mpiq_print(page, 2, "and %zu more: --json has them all", count - shown);
}

static bool is_cause(const struct mpiq_diagnosis *diagnosis, size_t index)
{
    return diagnosis->findings[index].consequence_of >= diagnosis->finding_count;
}

/* Whether the findings from `index` on are observations beside a proven deadlock. */
static bool is_beside(const struct mpiq_diagnosis *diagnosis, size_t index)
{
    return diagnosis->verdict == MPIQ_VERDICT_DEADLOCK && diagnosis->findings[0].proven &&
           !diagnosis->findings[index].proven;
}

/* The causes, numbered; what follows from one is shown below it. */
static void put_causes(struct mpiq_page *page, const struct mpiq_limits *limits)
{
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    size_t count = 0;
    size_t number = 0;
    bool beside = false;

    for (size_t i = 0; i < diagnosis->finding_count; i++)
        count += is_cause(diagnosis, i);
    size_t shown = count <= limits->findings + 1 ? count : limits->findings;
    for (size_t i = 0; i < diagnosis->finding_count && number < shown; i++) {
        if (!is_cause(diagnosis, i))
            continue;
        if (!beside && is_beside(diagnosis, i)) {
            beside = true;
            mpiq_print_heading(page, "Also seen, not part of the proof");
        } else if (number == 0 || diagnosis->findings[i].evidence_count > 0) {
            mpiq_print_gap(page);
        }
        mpiq_put_cause(page, (uint32_t)i,
                       diagnosis->findings[i].kind == MPIQ_FINDING_STACKS_DIFFER ? 0 : number + 1,
                       number == 0 ? limits->lines_first : limits->lines_other, limits->consequences);
        number++;
    }
    if (shown < count)
        mpiq_print(page, 0, "%zu more causes: --json has all", count - shown);
}

/* Adds the ranks that the evidence of the findings shows. */
static bool add_shown(const struct mpiq_diagnosis *diagnosis, struct mpiq_rank_set *ret)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &diagnosis->findings[i];
        for (size_t k = 0; k < finding->evidence_count; k++) {
            if (!mpiq_rank_set_add_set(ret, &finding->evidence[k].ranks))
                return false;
        }
        bool told = finding->evidence_count > 0 || !is_cause(diagnosis, i);
        if (told && !mpiq_rank_set_add_set(ret, &finding->ranks))
            return false;
    }
    return true;
}

size_t mpiq_lines_of(const struct mpiq_buffer *buffer)
{
    size_t lines = 0;
    const char *at = buffer->bytes;
    const char *end = at ? at + buffer->length : NULL;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        lines++;
        at++;
    }
    return lines;
}

/* "Ranks 0-3 wait in MPI_Finalize, perhaps because of a known bug: …" */
static void put_known_hangs(struct mpiq_page *page)
{
    for (size_t i = 0; i < page->diagnosis->known_hang_count; i++) {
        const struct mpiq_hang_match *match = &page->diagnosis->known_hangs[i];
        struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
        mpiq_buffer_string(&text, match->ranks.size == 1 ? "Rank " : "Ranks ");
        mpiq_put_ranks(&text, &match->ranks, MPIQ_MOST_RANGES);
        mpiq_buffer_printf(&text, " %s in %s, %s.", match->ranks.size == 1 ? "waits" : "wait", match->call,
                           match->text);
        mpiq_print(page, 3, "%s", mpiq_buffer_text(&text));
    }
}

static void put_report(struct mpiq_page *page, const struct mpiq_behaviours *others, bool all,
                       const struct mpiq_limits *limits)
{
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    put_causes(page, limits);
    put_known_hangs(page);
    /* What they have done, the causes say. */
    bool over = diagnosis->verdict == MPIQ_VERDICT_FINISHED && !diagnosis->ended;
    if (!over)
        mpiq_put_behaviours(page, others, all ? "What the ranks do" : "What the other ranks do",
                            limits->behaviours);
    mpiq_put_notes(page, "What could not be read", diagnosis->notes, diagnosis->note_count, limits->notes);
    mpiq_put_notes(page, "Assumptions", diagnosis->assumptions, diagnosis->assumption_count, limits->notes);
    mpiq_show_help(page);
}

void mpiq_show_report(struct mpiq_page *page)
{
    struct mpiq_rank_set shown _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_behaviours others _cleanup_(mpiq_behaviours_deinit) = {0};
    size_t sets = sizeof limit_sets / sizeof *limit_sets;
    size_t begin = page->out.length;

    if (!add_shown(page->diagnosis, &shown) || !mpiq_behaviours_collect(page, &shown, &others)) {
        page->out.failed = true;
        return;
    }
    if (page->options->format == MPIQ_FORMAT_HTML) {
        put_report(page, &others, shown.size == 0, &html_limits);
        return;
    }
    for (size_t i = 0; i < sets; i++) {
        page->out.length = begin;
        put_report(page, &others, shown.size == 0, &limit_sets[i]);
        if (page->out.failed || mpiq_lines_of(&page->out) <= MPIQ_REPORT_LINES)
            break;
    }
}
