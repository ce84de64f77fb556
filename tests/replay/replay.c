/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay - diagnoses every recorded case of the corpus again, and wants the whole answer to be the recorded
 * one.
 *
 *   replay RECORDED ANSWERS          compares; says which cases differ, on which libraries, and where
 *   replay --write RECORDED ANSWERS  writes what is answered now
 *   replay --json RECORDED [LINE]    prints "LINE CASE DATE COMMIT JSON" for each
 *   replay --pages RECORDED LINE DIRECTORY   writes DIRECTORY/CASE.html, .txt, .json and .screen (of mpiq
 * watch) for each
 *
 * RECORDED has LINE/FAMILY.zst, ANSWERS FAMILY.txt: for each case the answers, each with the libraries that
 * have it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/cleanup.h"
#include "recording.h"

enum { DIFF_LINES = 6 };

static const char case_mark[] = "==== ", answer_mark[] = "---- ";

struct names {
    char **items;
    size_t count;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0)
            return true;
    }
    return false;
}

static void add_name(struct names *names, const char *name, size_t length)
{
    char *copy = need(strndup(name, length));
    if (has_name(names, copy)) {
        free(copy);
        return;
    }
    names->items = need(realloc(names->items, (names->count + 1) * sizeof(char *)));
    names->items[names->count++] = copy;
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* The entries of a directory without their suffix, sorted; only those that have it. */
static struct names list(const char *directory, const char *suffix)
{
    struct names names = {0};
    DIR *open = opendir(directory);
    if (!open)
        give_up("%s cannot be read: %s", directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(open));) {
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        if (entry->d_name[0] != '.' && length > end && strcmp(entry->d_name + length - end, suffix) == 0)
            add_name(&names, entry->d_name, length - end);
    }
    closedir(open);
    if (names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    return names;
}

/* The recordings of one family on all libraries, each of which is items[i]. */
struct family {
    const struct names *lines;
    struct recordings *of_line;
};

static struct recordings read_pack(const char *recorded, const char *line, const char *family)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s.zst", recorded, line, family);
    return recordings_read(path, NULL);
}

static struct family read_family(const char *recorded, const struct names *lines, const char *name)
{
    struct family family = {.lines = lines, .of_line = need(calloc(lines->count, sizeof(struct recordings)))};
    for (size_t i = 0; i < lines->count; i++)
        family.of_line[i] = read_pack(recorded, lines->items[i], name);
    return family;
}

static void family_deinit(struct family *family)
{
    for (size_t i = 0; i < family->lines->count; i++)
        recordings_deinit(&family->of_line[i]);
    free(family->of_line);
}

static const struct recording *find_recording(const struct recordings *recordings, const char *name)
{
    for (size_t i = 0; i < recordings->count; i++) {
        if (strcmp(recordings->items[i].name, name) == 0)
            return &recordings->items[i];
    }
    return NULL;
}

/* Which library each column is, and of which mpiq and day its recordings are. */
static void add_header(struct mpiq_buffer *ret, const struct family *family)
{
    mpiq_buffer_string(
        ret, "SPDX-License-Identifier: BSD-3-Clause\n"
             "What mpiq says about the recorded cases.  ./dev record --answers writes this file.\n\n");
    for (size_t i = 0; i < family->lines->count; i++) {
        const struct recordings *recordings = &family->of_line[i];
        struct names when = {0};
        for (size_t j = 0; j < recordings->count; j++) {
            char text[256];
            int length = snprintf(text, sizeof text, "%s at %s", recordings->items[j].date,
                                  recordings->items[j].commit);
            add_name(&when, text, (size_t)length);
        }
        if (when.count > 0)
            mpiq_buffer_printf(ret, "%s: %s, recorded", family->lines->items[i],
                               answer_library(recordings->items[0].job));
        for (size_t j = 0; j < when.count; j++)
            mpiq_buffer_printf(ret, "%s %s", j == 0 ? "" : ",", when.items[j]);
        if (when.count > 0)
            mpiq_buffer_char(ret, '\n');
        free_names(&when);
    }
}

/* All answers about a case: one after another, each for the libraries that have it. */
static void add_case(struct mpiq_buffer *ret, const struct family *family, const char *name)
{
    size_t count = family->lines->count;
    char **answers = need(calloc(count, sizeof(char *)));
    for (size_t i = 0; i < count; i++) {
        const struct recording *recording = find_recording(&family->of_line[i], name);
        struct mpiq_buffer answer = {0};
        if (!recording)
            continue;
        answer_add(recording->job, &answer);
        expect_no_error(mpiq_buffer_end(&answer, &answers[i]), name);
    }
    mpiq_buffer_printf(ret, "\n%s%s\n", case_mark, name);
    for (size_t i = 0; i < count; i++) {
        if (!answers[i])
            continue;
        mpiq_buffer_printf(ret, "%s%s", answer_mark, family->lines->items[i]);
        for (size_t j = i + 1; j < count; j++) {
            if (answers[j] && strcmp(answers[i], answers[j]) == 0) {
                mpiq_buffer_printf(ret, " %s", family->lines->items[j]);
                free(mpiq_steal(answers[j]));
            }
        }
        mpiq_buffer_printf(ret, "\n%s", answers[i]);
        free(answers[i]);
    }
    free(answers);
}

/* The text of a family's file. */
static char *family_text(const char *recorded, const struct names *lines, const char *name, size_t *cases)
{
    struct family family = read_family(recorded, lines, name);
    struct names known = {0};
    struct mpiq_buffer text = {0};
    add_header(&text, &family);
    for (size_t i = 0; i < lines->count; i++) {
        *cases += family.of_line[i].count;
        for (size_t j = 0; j < family.of_line[i].count; j++)
            add_name(&known, family.of_line[i].items[j].name, strlen(family.of_line[i].items[j].name));
    }
    for (size_t i = 0; i < known.count; i++)
        add_case(&text, &family, known.items[i]);
    free_names(&known);
    family_deinit(&family);
    char *whole = NULL;
    expect_no_error(mpiq_buffer_end(&text, &whole), name);
    return whole;
}

static char *read_text(const char *path)
{
    FILE *file _cleanup_fclose_ = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!file || getdelim(&text, &room, '\0', file) < 0)
        return need(strdup(""));
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        give_up("%s cannot be written: %s", path, strerror(errno));
}

/* The section of a case in a family's text: its length, or 0 with *ret at the end. */
static size_t find_case(const char *text, const char *name, const char **ret)
{
    char head[256];
    snprintf(head, sizeof head, "\n%s%s\n", case_mark, name);
    const char *begin = strstr(text, head);
    *ret = begin ? begin + 1 : text + strlen(text);
    if (!begin)
        return 0;
    const char *end = strstr(begin + 1, "\n==== ");
    return end ? (size_t)(end - begin) : strlen(begin + 1);
}

static const char *next_line(const char *line, const char *end)
{
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    return stop ? stop + 1 : end;
}

static void print_lines(char mark, const char *begin, const char *end)
{
    for (int i = 0; i < DIFF_LINES && begin < end; i++) {
        const char *next = next_line(begin, end);
        printf("  %c %.*s\n", mark, (int)strcspn(begin, "\n"), begin);
        begin = next;
    }
}

/* Prints where two sections begin to differ, under which libraries. */
static void print_difference(const char *name, const char *old, size_t old_length, const char *new_text,
                             size_t new_length)
{
    const char *old_end = old + old_length, *new_end = new_text + new_length;
    const char *lines = "";
    while (old < old_end && new_text < new_end) {
        const char *old_next = next_line(old, old_end), *new_next = next_line(new_text, new_end);
        if (old_next - old != new_next - new_text || memcmp(old, new_text, (size_t)(old_next - old)) != 0)
            break;
        if (strncmp(old, answer_mark, strlen(answer_mark)) == 0)
            lines = old + strlen(answer_mark);
        old = old_next;
        new_text = new_next;
    }
    printf("%s (%.*s) has another answer\n", name, (int)strcspn(lines, "\n"), lines);
    print_lines('-', old, old_end);
    print_lines('+', new_text, new_end);
}

static void add_cases_of(struct names *names, const char *text)
{
    for (const char *at = text; (at = strstr(at, "\n==== "));) {
        at += 1 + strlen(case_mark);
        add_name(names, at, strcspn(at, "\n"));
    }
}

/* How many cases of the family differ. */
static size_t compare(const char *family, const char *old, const char *now)
{
    struct names names = {0};
    size_t different = 0;
    add_cases_of(&names, old);
    add_cases_of(&names, now);
    for (size_t i = 0; i < names.count; i++) {
        const char *old_case, *new_case;
        size_t old_length = find_case(old, names.items[i], &old_case);
        size_t new_length = find_case(now, names.items[i], &new_case);
        if (old_length == new_length && memcmp(old_case, new_case, old_length) == 0)
            continue;
        char name[512];
        snprintf(name, sizeof name, "%s %s", family, names.items[i]);
        print_difference(name, old_case, old_length, new_case, new_length);
        different++;
    }
    if (different == 0 && strcmp(old, now) != 0) {
        printf("%s.txt: what it says of the recordings is not up to date\n", family);
        different++;
    }
    free_names(&names);
    return different;
}

static int replay(const char *recorded, const char *answers, bool write)
{
    struct names lines = list(recorded, ""), families = {0};
    size_t cases = 0, different = 0;
    for (size_t i = 0; i < lines.count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", recorded, lines.items[i]);
        struct names of_line = list(path, ".zst");
        for (size_t j = 0; j < of_line.count; j++)
            add_name(&families, of_line.items[j], strlen(of_line.items[j]));
        free_names(&of_line);
    }
    for (size_t i = 0; i < families.count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.txt", answers, families.items[i]);
        char *text _cleanup_free_ = family_text(recorded, &lines, families.items[i], &cases);
        char *old _cleanup_free_ = read_text(path);
        if (!write)
            different += compare(families.items[i], old, text);
        else if (strcmp(old, text) != 0)
            write_text(path, text);
    }
    free_names(&families);
    free_names(&lines);
    printf("%zu recordings replayed, %zu cases with another answer%s\n", cases, different,
           different ? ": if it is right, ./dev record --answers writes it" : "");
    return different > 0 || cases == 0;
}

static void print_json(const char *recorded, const char *only)
{
    struct names lines = list(recorded, "");
    for (size_t i = 0; i < lines.count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", recorded, lines.items[i]);
        if (only && strcmp(only, lines.items[i]) != 0)
            continue;
        struct names families = list(path, ".zst");
        for (size_t j = 0; j < families.count; j++) {
            struct recordings recordings = read_pack(recorded, lines.items[i], families.items[j]);
            for (size_t k = 0; k < recordings.count; k++) {
                const struct recording *one = &recordings.items[k];
                char *json _cleanup_free_ = answer_json(one->job);
                printf("%s %s %s %s %s\n", lines.items[i], one->name, one->date, one->commit, json);
            }
            recordings_deinit(&recordings);
        }
        free_names(&families);
    }
    free_names(&lines);
}

static void write_page(const char *directory, const struct recording *one, enum mpiq_view view,
                       enum mpiq_format format, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", directory, one->name, suffix);
    char *text _cleanup_free_ = answer_in(one->job, view, format);
    write_text(path, text);
}

static void write_pages(const char *recorded, const char *line, const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", recorded, line);
    struct names families = list(path, ".zst");
    for (size_t j = 0; j < families.count; j++) {
        struct recordings recordings = read_pack(recorded, line, families.items[j]);
        for (size_t k = 0; k < recordings.count; k++) {
            write_page(directory, &recordings.items[k], MPIQ_VIEW_REPORT, MPIQ_FORMAT_HTML, "html");
            write_page(directory, &recordings.items[k], MPIQ_VIEW_REPORT, MPIQ_FORMAT_TEXT, "txt");
            write_page(directory, &recordings.items[k], MPIQ_VIEW_REPORT, MPIQ_FORMAT_JSON, "json");
            write_page(directory, &recordings.items[k], MPIQ_VIEW_SCREEN, MPIQ_FORMAT_TEXT, "screen");
        }
        recordings_deinit(&recordings);
    }
    free_names(&families);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--pages") == 0) {
        write_pages(argv[2], argv[3], argv[4]);
        return 0;
    }
    if (argc >= 3 && argc <= 4 && strcmp(argv[1], "--json") == 0) {
        print_json(argv[2], argv[3]);
        return 0;
    }
    bool write = argc == 4 && strcmp(argv[1], "--write") == 0;
    if (argc != 3 && !write)
        give_up("usage: replay [--write] RECORDED ANSWERS, replay --json RECORDED [LINE], or replay --pages "
                "RECORDED LINE "
                "DIRECTORY");
    return replay(argv[argc - 2], argv[argc - 1], write);
}
