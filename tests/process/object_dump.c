/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object-dump - what lib/process/ reads in one ELF file's debug information, for comparisons and for a person
 * who wonders.
 *
 *   object-dump FILE <QUESTIONS
 *
 * Each line of input is a question: "type NAME", "member NAME|MEMBER", or "line 0xADDRESS" (the file's own
 * address).  Answers go to standard output, the milliseconds that all of them took to standard error.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "process/lines.h"
#include "process/object.h"
#include "process/types.h"

static void answer_line(struct mpiq_object *object, uint64_t address)
{
    size_t count = 0;
    mpiq_object_lock();
    const __typeof__(*mpiq_lines_at(object, address, &count)) *places =
        mpiq_lines_at(object, address, &count);
    for (size_t i = 0; places && i < count; i++)
        printf("0x%" PRIx64 " %s %s:%d%s\n", address, places[i].function ? places[i].function : "?",
               places[i].file ? places[i].file : "?", places[i].line, places[i].inlined ? " inlined" : "");
    mpiq_object_unlock();
}

static void answer_type(struct mpiq_object *object, const char *name, const char *member)
{
    uint64_t number = 0;
    const struct mpiq_type *type = mpiq_types_find(object, name);
    if (!type)
        printf("%s: none\n", name);
    else if (!(member ? mpiq_type_member(type, member, &number) : mpiq_type_size(type, &number)))
        printf("%s %s: not known\n", name, member ? member : "size");
    else
        printf("%s %s %" PRIu64 "\n", name, member ? member : "size", number);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    struct mpiq_object *object = NULL;
    char question[4096];
    if (argc != 2)
        return 2;
    double start = now();
    struct mpiq_error *error = mpiq_object_open(argv[1], argv[1], &object);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        mpiq_error_destroy(error);
        return 1;
    }
    while (fgets(question, sizeof question, stdin)) {
        question[strcspn(question, "\n")] = '\0';
        char *bar = strchr(question, '|');
        if (strncmp(question, "line ", 5) == 0) {
            answer_line(object, strtoull(question + 5, NULL, 0));
        } else if (strncmp(question, "member ", 7) == 0 && bar) {
            *bar = '\0';
            answer_type(object, question + 7, bar + 1);
        } else if (strncmp(question, "type ", 5) == 0) {
            answer_type(object, question + 5, NULL);
        }
    }
    fprintf(stderr, "%.1f ms\n", now() - start);
    mpiq_object_clear();
    return 0;
}
