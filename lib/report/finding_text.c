/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/finding_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/behaviour.h"
#include "report/columns.h"
#include "words/hint.h"
#include "words/wait_text.h"
#include "words/quantities.h"
#include "words/nouns.h"

#define INDENT 5

static void put_line(struct mpiq_page *page, struct mpiq_buffer *text)
{
    mpiq_print(page, INDENT, "%s", mpiq_buffer_text(text));
    text->length = 0;
}

/* As a sentence names them: "ranks 1 and 3". */
static void put_set(struct mpiq_buffer *text, const struct mpiq_rank_set *set)
{
    mpiq_put_ranks_named(text, &(struct mpiq_ranks){set->ranges, set->count, set->size});
}

static size_t shown_of(size_t count, size_t most)
{
    return count <= most + 1 && most > 0 ? count : most;
}

static void put_rest(struct mpiq_page *page, size_t count, size_t shown, const char *noun)
{
    if (shown > 0 && shown < count)
        mpiq_print(page, INDENT, "... and %zu more %s", count - shown, noun);
}

/* "ranks 0,2-63  in MPI_Bcast  at solver.c:88 step", one below the other. */
static void put_sites(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    static const struct mpiq_column headings[] = {
        {.heading = "who"}, {.heading = "call"}, {.heading = "place"}};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->site_count, most);

    for (size_t i = 0; i < shown; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        mpiq_columns_row(table, MPIQ_STYLE_NONE);
        mpiq_put_who(&cell, &site->ranks, MPIQ_MOST_RANGES);
        mpiq_columns_set(table, 0, &cell);
        if (site->call)
            mpiq_buffer_printf(&cell, "in %s", site->call);
        mpiq_columns_set(table, 1, &cell);
        if (site->file || site->function) {
            mpiq_buffer_string(&cell, site->file ? "at " : "in ");
            mpiq_put_place(&cell, site->file, site->line, site->function, NULL);
            if (site->called_at) {
                mpiq_buffer_string(&cell, ", called at ");
                mpiq_put_site(page->job, &cell, site->called_at - 1);
            }
        }
        mpiq_columns_set(table, 2, &cell);
    }
    mpiq_columns_print(table, INDENT, false);
    put_rest(page, finding->site_count, shown, "places");
}

/* Whether the places above say who is in that call already. */
static bool said_by_sites(const struct mpiq_finding *finding, const struct mpiq_finding_call *call)
{
    for (size_t i = 0; i < finding->site_count; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        if (site->call && strcmp(site->call, call->collective) == 0 &&
            mpiq_rank_set_equal(&site->ranks, &call->ranks))
            return true;
    }
    return false;
}

static void put_calls(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->call_count, most);
    for (size_t i = 0; i < shown; i++) {
        if (said_by_sites(finding, &finding->calls[i]))
            continue;
        mpiq_buffer_printf(&text, "%s: ", finding->calls[i].collective);
        mpiq_put_who(&text, &finding->calls[i].ranks, MPIQ_MOST_RANGES);
        put_line(page, &text);
    }
    put_rest(page, finding->call_count, shown, "calls");
}

static void put_values(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->value_count, most);
    for (size_t i = 0; i < shown; i++) {
        mpiq_buffer_printf(&text, "%s %s: ", finding->field ? finding->field : "value",
                           finding->values[i].value);
        mpiq_put_who(&text, &finding->values[i].ranks, MPIQ_MOST_RANGES);
        put_line(page, &text);
    }
    put_rest(page, finding->value_count, shown, "values");
}

void mpiq_put_step(const struct mpiq_page *page, struct mpiq_buffer *buffer, const struct mpiq_step *step)
{
    mpiq_buffer_string(buffer, "rank ");
    mpiq_put_process(page->job, buffer, step->process);
    size_t before = buffer->length;
    mpiq_buffer_string(buffer, " (");
    size_t begun = buffer->length;
    mpiq_put_site(page->job, buffer, step->site);
    if (step->since >= 0) {
        mpiq_buffer_string(buffer, buffer->length > begun ? ", for " : "for ");
        mpiq_put_duration(buffer, step->since);
    }
    if (buffer->length > begun)
        mpiq_buffer_char(buffer, ')');
    else
        buffer->length = before;
    if (step->waits_for.size > 0) {
        mpiq_buffer_string(buffer, " waits for ");
        put_set(buffer, &step->waits_for);
    }
    if (step->why)
        mpiq_buffer_printf(buffer, ": %s", step->why);
}

static void put_steps(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->step_count, most);
    for (size_t i = 0; i < shown; i++) {
        mpiq_put_step(page, &text, &finding->steps[i]);
        put_line(page, &text);
    }
    put_rest(page, finding->step_count, shown, "steps: mpiq why RANK shows the chain from a rank");
}

/* "rank 5, with tag 98, 40 bytes, on halves": the other side of an operation, and what it is. */
static void put_envelope(const struct mpiq_page *page, struct mpiq_buffer *text,
                         const struct mpiq_near_miss *miss)
{
    const struct mpiq_job_operation *operation = &page->job->operations[miss->operation];
    if (operation->peer != MPIQ_NONE) {
        mpiq_buffer_string(text, "rank ");
        mpiq_put_process(page->job, text, operation->peer);
    } else {
        mpiq_buffer_string(text, operation->any ? "any rank" : "a rank that is not known");
    }
    mpiq_buffer_printf(text, " with %s",
                       mpiq_tag_words((char[MPIQ_TAG_WORDS]){0}, operation->tag_any, operation->tag));
    if (operation->bytes >= 0)
        mpiq_buffer_printf(text, ", %s", mpiq_size_text(operation->bytes, (char[MPIQ_SIZE_ROOM]){0}));
    if (miss->differs == MPIQ_MISS_COMMUNICATOR) {
        mpiq_buffer_string(text, ", on ");
        mpiq_put_communicator(page->job, text, operation->comm);
    }
    mpiq_buffer_printf(text, ": only the %s differs", mpiq_miss_word(miss->differs));
}

static void put_miss(const struct mpiq_page *page, struct mpiq_buffer *text,
                     const struct mpiq_near_miss *miss)
{
    const struct mpiq_job_operation *operation = &page->job->operations[miss->operation];
    bool receives = operation->kind == MPIQ_OPERATION_RECEIVE || operation->kind == MPIQ_OPERATION_PROBE;
    bool arrived = operation->queue == MPIQ_QUEUE_UNEXPECTED;
    mpiq_buffer_string(text, "almost: rank ");
    mpiq_put_process(page->job, text, arrived ? miss->holder : miss->process);
    mpiq_buffer_string(text, arrived    ? " has an unexpected message from "
                             : receives ? " waits to receive from "
                                        : " sends to ");
    put_envelope(page, text, miss);
}

enum { MOST_MISSES = 3 };

/* Near misses that read the same, such as a message sent again and again. */
struct like_misses {
    struct mpiq_buffer text;
    size_t count;
};

static void put_like_misses(struct mpiq_page *page, struct like_misses *like)
{
    if (like->count > 1)
        mpiq_buffer_string(&like->text, " (several of them)"); /* no finding keeps all of very many */
    put_line(page, &like->text);
    mpiq_buffer_deinit(&like->text);
}

static void put_misses(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    struct like_misses likes[MOST_MISSES + 1];
    size_t room = shown_of(finding->near_miss_count, most < MOST_MISSES ? most : MOST_MISSES);
    size_t count = 0, told = 0;
    for (size_t i = 0; i < finding->near_miss_count; i++) {
        if (finding->near_misses[i].operation >= page->job->operation_count)
            continue;
        put_miss(page, &text, &finding->near_misses[i]);
        size_t k = 0;
        while (k < count && strcmp(mpiq_buffer_text(&likes[k].text), mpiq_buffer_text(&text)) != 0)
            k++;
        if (k == count && count < room && count < sizeof likes / sizeof *likes) {
            likes[count] = (struct like_misses){.text = mpiq_buffer_part(&page->out)};
            mpiq_buffer_string(&likes[count++].text, mpiq_buffer_text(&text));
        }
        if (k < count) {
            likes[k].count++;
            told++;
        }
        text.length = 0;
    }
    for (size_t k = 0; k < count; k++)
        put_like_misses(page, &likes[k]);
    put_rest(page, finding->near_miss_count, told, "like that");
}

/* What there is to say of a finding without evidence lines. */
static void put_details(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    if (finding->step_count == 0)
        put_sites(page, finding, most);
    put_calls(page, finding, most);
    put_values(page, finding, most);
    put_steps(page, finding, most);
    put_misses(page, finding, most);
}

/* The call they are in; of ranks outside MPI, and of those that poll, what they do. */
static void put_activity(struct mpiq_buffer *cell, const struct mpiq_evidence *evidence)
{
    mpiq_buffer_string(cell, evidence->call);
    if (!evidence->call)
        mpiq_buffer_string(cell, mpiq_rank_activity_word(evidence->activity));
    else if (evidence->activity == MPIQ_ACTIVITY_POLLING)
        mpiq_buffer_string(cell, " (polling)");
    else if (mpiq_is_stopped(evidence->activity))
        mpiq_buffer_printf(cell, " (%s)", mpiq_rank_activity_word(evidence->activity));
}

/* Of a rank that is missing from a collective and waits for one that is in it: says so. */
static void put_waited_for(const struct mpiq_page *page, struct mpiq_buffer *cell,
                           const struct mpiq_finding *finding, const struct mpiq_evidence *evidence)
{
    const struct mpiq_waits_for *wait = evidence->wait;
    if (finding->kind != MPIQ_FINDING_COLLECTIVE_INCOMPLETE || evidence->note || !wait ||
        wait->part_count != 1 || wait->parts[0].peer == MPIQ_NONE || wait->parts[0].relative)
        return;
    struct mpiq_world_rank peer = mpiq_job_world_rank(page->job, wait->parts[0].peer);
    if (mpiq_rank_set_contains(&finding->ranks, peer.world, peer.rank))
        mpiq_buffer_printf(cell, ", which is in that %s", finding->collective ? finding->collective : "call");
}

static void put_evidence(struct mpiq_page *page, const struct mpiq_finding *finding, size_t indent,
                         size_t most)
{
    static const struct mpiq_column headings[] = {
        {.heading = ""}, {.heading = ""}, {.heading = ""}, {.heading = ""}, {.heading = ""}};
    struct mpiq_columns *table _cleanup_(mpiq_columns_cleanup) =
        mpiq_columns_create(page, headings, sizeof headings / sizeof *headings);
    struct mpiq_buffer cell _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t shown = shown_of(finding->evidence_count, most);

    for (size_t i = 0; i < shown; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        mpiq_columns_row(table, MPIQ_STYLE_NONE);
        mpiq_put_who(&cell, &evidence->ranks, MPIQ_MOST_RANGES);
        mpiq_columns_set(table, 0, &cell);
        put_activity(&cell, evidence);
        mpiq_columns_set(table, 1, &cell);
        mpiq_put_site(page->job, &cell, evidence->site);
        mpiq_columns_set(table, 2, &cell);
        mpiq_put_duration(&cell, evidence->since);
        mpiq_columns_set(table, 3, &cell);
        mpiq_put_evidence_detail(page->job, &cell, evidence);
        put_waited_for(page, &cell, finding, evidence);
        mpiq_columns_set(table, 4, &cell);
    }
    mpiq_columns_print(table, indent, false);
    put_rest(page, finding->evidence_count, shown, "groups of ranks: --json has all");
    if (finding->unlisted.size > 0) {
        mpiq_put_who(&cell, &finding->unlisted, MPIQ_MOST_RANGES);
        mpiq_print(page, indent, "and %s, each elsewhere: mpiq ranks has them", mpiq_buffer_text(&cell));
    }
}

uint32_t mpiq_finding_cause(const struct mpiq_diagnosis *diagnosis, uint32_t index)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        uint32_t next = diagnosis->findings[index].consequence_of;
        if (next >= diagnosis->finding_count)
            break;
        index = next;
    }
    return index;
}

static void put_consequences(struct mpiq_page *page, uint32_t cause, size_t most)
{
    const struct mpiq_diagnosis *diagnosis = page->diagnosis;
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    size_t count = 0;
    size_t told = 0;
    for (uint32_t i = 0; i < diagnosis->finding_count; i++)
        count += i != cause && mpiq_finding_cause(diagnosis, i) == cause;
    size_t shown = shown_of(count, most);
    bool folded = shown > 0 && page->options->format == MPIQ_FORMAT_HTML;
    if (folded)
        mpiq_buffer_printf(
            &page->out, "<details class=\"follows\"><summary>What follows from it (%zu)</summary>\n", count);
    for (uint32_t i = 0; i < diagnosis->finding_count && told < shown; i++) {
        if (i == cause || mpiq_finding_cause(diagnosis, i) != cause)
            continue;
        mpiq_buffer_string(&text, "Follows: ");
        mpiq_buffer_string(&text, diagnosis->findings[i].text);
        mpiq_put_full_stop(&text);
        mpiq_print_line(page, (struct mpiq_paragraph){.indent = INDENT - 2, .hang = INDENT},
                        mpiq_buffer_text(&text));
        text.length = 0;
        told++;
    }
    if (shown > 0 && shown < count)
        mpiq_print(page, INDENT - 2, "%zu more consequences: --json has all", count - shown);
    if (folded)
        mpiq_buffer_string(&page->out, "</details>\n");
}

static void put_suspects(struct mpiq_page *page, const struct mpiq_finding *finding)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (finding->suspects.size == 0)
        return;
    mpiq_buffer_string(&text, "Look at ");
    put_set(&text, &finding->suspects);
    mpiq_buffer_string(&text, " first.");
    mpiq_print_line(page,
                    (struct mpiq_paragraph){.indent = INDENT - 2, .hang = INDENT, .style = MPIQ_STYLE_BAD},
                    mpiq_buffer_text(&text));
}

/* Ranks in different calls, by their stacks alone: a hint, which has neither a number nor a suspect. */
static void put_hint(struct mpiq_page *page, const struct mpiq_finding *finding, size_t most)
{
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    if (finding->evidence_count > 0)
        put_evidence(page, finding, INDENT - 2, most);
    else
        put_sites(page, finding, most);
    mpiq_put_hint(page->job, &text, finding);
    mpiq_print(page, INDENT - 2, "%s", mpiq_buffer_text(&text));
}

/* The line of evidence that shows a suspect; without one the first. */
static const struct mpiq_evidence *telling_evidence(const struct mpiq_finding *finding)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (mpiq_rank_set_overlaps(&finding->evidence[i].ranks, &finding->suspects))
            return &finding->evidence[i];
    }
    return finding->evidence_count > 0 ? &finding->evidence[0] : NULL;
}

static void put_source_line(struct mpiq_page *page, int32_t number, bool here, const char *line,
                            size_t length)
{
    char *text _cleanup_free_ = strndup(line, length);
    if (!text) {
        mpiq_buffer_fail(&page->out);
        return;
    }
    mpiq_buffer_printf(&page->out, "%s%5" PRId32 "  ", here ? "<span class=\"here\">" : "", number);
    mpiq_put_escaped(&page->out, MPIQ_ESCAPE_HTML, text);
    mpiq_buffer_string(&page->out, here ? "</span>\n" : "\n");
}

/* Of a page: the line to read, and those around it, where the source may be read. */
static void put_excerpt(struct mpiq_page *page, const struct mpiq_finding *finding)
{
    const struct mpiq_evidence *evidence = telling_evidence(finding);
    struct mpiq_excerpt excerpt = {0};
    if (page->options->format != MPIQ_FORMAT_HTML || !page->options->excerpt || !evidence ||
        evidence->site == MPIQ_NONE || evidence->ranks.count == 0)
        return;
    const struct mpiq_site *site = &page->job->sites[evidence->site];
    const char *file = mpiq_job_string(page->job, site->file);
    const struct mpiq_rank_range *range = &evidence->ranks.ranges[0];
    uint32_t process = mpiq_job_process(page->job, range->world, range->first);
    if (!file || site->line <= 0 || process == MPIQ_NONE ||
        !page->options->excerpt(page->options->excerpt_context, process, file, site->line, &excerpt))
        return;
    mpiq_buffer_string(&page->out, "<figure class=\"source\"><figcaption>");
    mpiq_put_html(&page->out, file);
    mpiq_buffer_string(&page->out, "</figcaption><pre>");
    int32_t number = excerpt.first;
    for (const char *line = excerpt.text; *line; number++) {
        size_t length = strcspn(line, "\n");
        put_source_line(page, number, number == site->line, line, length);
        line += length + (line[length] == '\n');
    }
    mpiq_buffer_string(&page->out, "</pre></figure>\n");
    free(excerpt.text);
}

static void put_cause(struct mpiq_page *page, uint32_t index, size_t number, size_t lines,
                      size_t consequences)
{
    const struct mpiq_finding *finding = &page->diagnosis->findings[index];
    struct mpiq_buffer text _cleanup_(mpiq_buffer_deinit) = mpiq_buffer_part(&page->out);
    char lead[32] = "";

    if (finding->kind == MPIQ_FINDING_STACKS_DIFFER) {
        put_hint(page, finding, lines);
        return;
    }
    if (number > 0)
        snprintf(lead, sizeof lead, "%zu. ", number);
    mpiq_put_sentence(&text, finding->text);
    mpiq_print_line(
        page,
        (struct mpiq_paragraph){.hang = 3, .lead = lead, .lead_style = MPIQ_STYLE_BOLD, .element = "h3"},
        mpiq_buffer_text(&text));
    if (finding->evidence_count > 0)
        put_evidence(page, finding, INDENT, lines);
    else
        put_details(page, finding, lines);
    put_excerpt(page, finding);
    put_consequences(page, index, consequences);
    put_suspects(page, finding);
}

void mpiq_put_cause(struct mpiq_page *page, uint32_t index, size_t number, size_t lines, size_t consequences)
{
    bool html = page->options->format == MPIQ_FORMAT_HTML;
    if (html)
        mpiq_buffer_printf(&page->out, "<article class=\"cause%s\">\n",
                           page->diagnosis->findings[index].proven ? " proven" : "");
    put_cause(page, index, number, lines, consequences);
    if (html)
        mpiq_buffer_string(&page->out, "</article>\n");
}
