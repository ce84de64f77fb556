/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/diagnose.h"
#include "recording.h"
#include "report/report.h"
#include "words/sentences.h"

struct answered {
    const struct mpiq_job_state *job;
    struct mpiq_diagnosis *diagnosis;
};

static struct answered diagnose(const struct mpiq_job_state *job)
{
    struct answered answered = {.job = job};
    expect_no_error(mpiq_diagnose(job, NULL, &answered.diagnosis), "the diagnosis");
    expect_no_error(mpiq_write_sentences(job, answered.diagnosis), "the sentences");
    return answered;
}

__attribute__((noinline)) static char *render(const struct answered *answered, enum mpiq_view view,
                                              enum mpiq_format format, const struct mpiq_chain *chain)
{
    const struct mpiq_report_options options = {.format = format};
    char *text = NULL;
    expect_no_error(mpiq_report_render(answered->job, answered->diagnosis, view, chain, &options, &text),
                    "the report");
    return text;
}

const char *answer_library(const struct mpiq_job_state *job)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i].library)
            return mpiq_job_string(job, job->ranks[i].library);
    }
    return "";
}

/* "Open MPI 4.1.4 in /usr/lib/libmpi.so.40", as the headline has it, or without the file; the caller frees
 * it.
 */
static char *library_words(const struct mpiq_job_state *job, bool file)
{
    struct mpiq_buffer words = {0};
    mpiq_buffer_string(&words, answer_library(job));
    for (uint32_t i = 0; i < job->rank_count && file; i++) {
        if (job->ranks[i].library_file) {
            mpiq_buffer_printf(&words, " in %s", mpiq_job_string(job, job->ranks[i].library_file));
            break;
        }
    }
    char *text = NULL;
    expect_no_error(mpiq_buffer_end(&words, &text), "the library");
    return text;
}

/* The length of the address in quotes that text begins with; 0: it does not. */
static size_t address_length(const char *text)
{
    if (strncmp(text, "\"0x", 3) != 0)
        return 0;
    size_t digits = strspn(text + 3, "0123456789abcdef");
    return text[3 + digits] == '"' ? digits + 4 : 0;
}

/* Appends so much of a text, with what differs between libraries left out. */
static void add_neutral(struct mpiq_buffer *ret, const struct mpiq_job_state *job, const char *text,
                        size_t length)
{
    char *whole _cleanup_free_ = library_words(job, true);
    char *name _cleanup_free_ = library_words(job, false);
    for (const char *end = text + length; text < end;) {
        size_t address = address_length(text);
        if (*whole && strncmp(text, whole, strlen(whole)) == 0) {
            mpiq_buffer_string(ret, "LIBRARY");
            text += strlen(whole);
        } else if (*name && strncmp(text, name, strlen(name)) == 0) {
            mpiq_buffer_string(ret, "LIBRARY");
            text += strlen(name);
        } else if (address > 0) {
            mpiq_buffer_string(ret, "\"0x\"");
            text += address;
        } else {
            mpiq_buffer_char(ret, *text++);
        }
    }
}

/* What follows the first line and the empty one behind it: other views have it, too. */
static const char *without_headline(const char *text)
{
    const char *end = strstr(text, "\n\n");
    return end ? end + 2 : text;
}

static bool first_of(const struct mpiq_rank_set *set, struct mpiq_rank_range *ret)
{
    if (set->count > 0)
        *ret = set->ranges[0];
    return set->count > 0;
}

/* The chain from the rank to look at first, or else from one of those the first finding is about. */
static void add_why(struct mpiq_buffer *ret, const struct answered *answered)
{
    struct mpiq_rank_range range = {0};
    if (answered->diagnosis->finding_count == 0)
        return;
    const struct mpiq_finding *first = &answered->diagnosis->findings[0];
    if (!first_of(&first->suspects, &range) && !first_of(&first->missing, &range) &&
        !first_of(&first->ranks, &range))
        return;
    struct mpiq_chain *chain = NULL;
    uint32_t process = mpiq_job_process(answered->job, range.world, range.first);
    expect_no_error(mpiq_why(answered->job, answered->diagnosis, process, &chain), "why");
    expect_no_error(mpiq_write_chain(answered->job, answered->diagnosis, chain), "the chain");
    char *text _cleanup_free_ = render(answered, MPIQ_VIEW_WHY, MPIQ_FORMAT_TEXT, chain);
    const char *own = without_headline(text);
    const char *end = strstr(own, "\n\n");
    mpiq_buffer_printf(ret, "\nwhy %u\n", (unsigned)range.first);
    add_neutral(ret, answered->job, own, end ? (size_t)(end - own) + 1 : strlen(own));
    mpiq_chain_destroy(chain);
}

static void add_queues(struct mpiq_buffer *ret, const struct answered *answered)
{
    char *text _cleanup_free_ = render(answered, MPIQ_VIEW_QUEUES, MPIQ_FORMAT_TEXT, NULL);
    const char *own = without_headline(text);
    mpiq_buffer_string(ret, "\nqueues\n");
    add_neutral(ret, answered->job, own, strlen(own));
}

/* Breaks a finding's line where a list or one of its items begins. */
static void add_broken(struct mpiq_buffer *ret, const struct mpiq_job_state *job, const char *line,
                       size_t length)
{
    static const char *const breaks[] = {"\"sites\":[", "\"evidence\":[", "\"calls\":[",
                                         "\"steps\":[", "{\"ranks\":",    "\"text\":\"Rank"};
    const char *begin = line, *end = line + length;
    for (const char *at = line + 1; at < end; at++) {
        bool broken = false;
        for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++)
            broken |= strncmp(at, breaks[i], strlen(breaks[i])) == 0;
        if (broken) {
            add_neutral(ret, job, begin, (size_t)(at - begin));
            mpiq_buffer_string(ret, "\n ");
            begin = at;
        }
    }
    add_neutral(ret, job, begin, (size_t)(end - begin));
}

/* The fields of all findings. */
static void add_findings(struct mpiq_buffer *ret, const struct answered *answered)
{
    char *json _cleanup_free_ = render(answered, MPIQ_VIEW_REPORT, MPIQ_FORMAT_JSON, NULL);
    const char *begin = strstr(json, "\n\"findings\":["), *end = strstr(json, "\n\"communicators\":");
    if (!begin || !end)
        give_up("the JSON report has no findings");
    mpiq_buffer_char(ret, '\n');
    for (const char *line = begin + 1; line < end;) {
        size_t length = strcspn(line, "\n");
        add_broken(ret, answered->job, line, length);
        mpiq_buffer_char(ret, '\n');
        line += length + 1;
    }
}

void answer_add(const struct mpiq_job_state *job, struct mpiq_buffer *ret)
{
    struct answered answered = diagnose(job);
    char *text _cleanup_free_ = render(&answered, MPIQ_VIEW_REPORT, MPIQ_FORMAT_TEXT, NULL);
    add_neutral(ret, job, text, strlen(text));
    add_why(ret, &answered);
    add_queues(ret, &answered);
    add_findings(ret, &answered);
    mpiq_diagnosis_destroy(answered.diagnosis);
}

char *answer_json(const struct mpiq_job_state *job)
{
    char *json = answer_in(job, MPIQ_VIEW_REPORT, MPIQ_FORMAT_JSON);
    for (char *at = json; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    return json;
}

char *answer_in(const struct mpiq_job_state *job, enum mpiq_view view, enum mpiq_format format)
{
    struct answered answered = diagnose(job);
    char *text = render(&answered, view, format, NULL);
    mpiq_diagnosis_destroy(answered.diagnosis);
    return text;
}
