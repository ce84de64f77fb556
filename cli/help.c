/* SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_status.h"
#include "option_rows.h"
#include "say.h"

enum { WIDTH = 96, INDENT = 2, COLUMN = 25 };

/* Text from column `at` on, wrapped behind `column`, with its last line ended. */
static void write_wrapped(FILE *out, const char *text, size_t at, size_t column)
{
    while (*text) {
        size_t length = strcspn(text, " "), gap = strspn(text + length, " ");
        if (at > column && at + length > WIDTH) {
            fprintf(out, "\n%*s", (int)column, "");
            at = column;
        }
        bool last = !text[length + gap];
        bool fits = !last && at + length + gap + strcspn(text + length + gap, " ") <= WIDTH;
        fprintf(out, "%.*s", (int)(length + (fits ? gap : 0)), text);
        at += length + gap;
        text += length + gap;
    }
    fputc('\n', out);
}

/* A name and what it means, side by side; below each other if the name is long. */
static void write_row(FILE *out, const char *name, const char *text)
{
    size_t at = INDENT + strlen(name);
    fprintf(out, "%*s%s", INDENT, "", name);
    if (at + 1 >= COLUMN) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", (int)(COLUMN - at), "");
    write_wrapped(out, text, COLUMN, COLUMN);
}

static void write_option(FILE *out, const struct option_row *row, bool overview)
{
    char name[64], letter[8] = "", commands[256], text[512];
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const char *before = row->kind == VALUE_CHECK ? "[=" : row->value ? " " : "";
    snprintf(name, sizeof name, "%s--%s%s%s%s", letter, row->name, before, row->value ? row->value : "",
             row->kind == VALUE_CHECK ? "]" : "");
    if (overview && __builtin_popcount(row->commands) <= FEW_COMMANDS) {
        name_commands(row->commands, commands, sizeof commands);
        snprintf(text, sizeof text, "for %s: %s", commands, row->summary);
    } else {
        snprintf(text, sizeof text, "%s", row->summary);
    }
    write_row(out, name, text);
}

static void write_options(FILE *out, uint32_t commands)
{
    for (const struct option_row *row = option_rows; row->name; row++) {
        if (row->summary && (row->commands & commands))
            write_option(out, row, commands == ALL_COMMANDS);
    }
}

static int put_text(FILE *out, char **text, size_t *length)
{
    bool good = out && !ferror(out);
    if (out && fclose(out) != 0)
        good = false;
    int status = EXIT_NOTHING_READ;
    if (good && *length)
        status = put_out(NULL, *text);
    else
        fprintf(stderr, "mpiq: out of memory\n");
    free(*text);
    return status;
}

static const char targets[] = "TARGET is the pid of a launcher or of any rank, slurm:JOB[.STEP], core files, "
                              "snapshots, or an OTF2 trace "
                              "(traces.otf2); without one, your only MPI job on this machine.";

static const char status_of_look[] =
    "Exit status: 0 running or finished, 1 deadlock, 2 wrong usage, 3 nothing or too little could be read, 4 "
    "stalled.";

static const char status_of_run[] =
    "Exit status of run: the command's own, or 123 if --check found an error, 124 if the job hung and was "
    "ended, 125 "
    "if mpiq failed, 126 or 127 if the command could not be run, 130 after ^C.";

int help_overview(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return put_text(NULL, &text, &length);
    fputs("usage: mpiq [COMMAND] [OPTION...] [TARGET...]\n\n", out);
    write_wrapped(out, "Says why an MPI job hangs.", 0, 0);
    write_wrapped(out, targets, 0, 0);
    fputc('\n', out);
    for (const struct command_row *row = command_rows; row->word; row++) {
        char name[64];
        if (!row->summary)
            continue;
        snprintf(name, sizeof name, "%s%s%s", row->word, *row->arguments ? " " : "", row->arguments);
        write_row(out, name, row->summary);
    }
    fputc('\n', out);
    write_options(out, ALL_COMMANDS);
    fputc('\n', out);
    write_wrapped(out, status_of_look, 0, 0);
    write_wrapped(out, "snapshot and doctor: 0 on success.", 0, 0);
    write_wrapped(out, status_of_run, 0, 0);
    fputs("\nmpiq help COMMAND shows a command's own options, and examples.\n", out);
    return put_text(out, &text, &length);
}

static void write_usage(FILE *out, const struct command_row *row)
{
    bool options = row->command != COMMAND_RECORD && row->command != COMMAND_HELP;
    bool behind = row->operands == TAKES_PROGRAM || row->operands == TAKES_COMMAND;
    fprintf(out, "usage: mpiq %s", row->word);
    if (*row->arguments && !behind)
        fprintf(out, " %s", row->arguments);
    if (options)
        fputs(" [OPTION...]", out);
    if (*row->arguments && behind)
        fprintf(out, " %s", row->arguments);
    fputs(behind || row->command == COMMAND_LATE ? "\n\n" : " [TARGET...]\n\n", out);
}

int help_page(const struct command_row *row)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = row->summary ? open_memstream(&text, &length) : NULL;
    if (!row->summary)
        return help_overview();
    if (!out)
        return put_text(NULL, &text, &length);
    bool own_options = row->command != COMMAND_RECORD && row->command != COMMAND_HELP;
    write_usage(out, row);
    write_wrapped(out, row->about, 0, 0);
    fputs("\nExamples:\n", out);
    for (size_t i = 0; i < sizeof row->examples / sizeof *row->examples; i++) {
        fprintf(out, "%*s%s\n%*s", INDENT, "", row->examples[i].line, 3 * INDENT, "");
        write_wrapped(out, row->examples[i].says, 3 * INDENT, 3 * INDENT);
    }
    if (own_options) {
        fputs("\nOptions:\n", out);
        write_options(out, ONE(row->command));
    }
    if (own_options && row->operands != TAKES_PROGRAM && row->command != COMMAND_LATE) {
        fputc('\n', out);
        write_wrapped(out, targets, 0, 0);
    }
    if (row->command == COMMAND_RUN || (own_options && row->operands != TAKES_PROGRAM &&
                                        row->command != COMMAND_SNAPSHOT && row->command != COMMAND_DOCTOR)) {
        fputc('\n', out);
        write_wrapped(out, row->command == COMMAND_RUN ? status_of_run : status_of_look, 0, 0);
    }
    return put_text(out, &text, &length);
}

int help_options_with_values(void)
{
    for (const struct option_row *row = option_rows; row->name; row++) {
        if (option_needs_value(row) && row->letter)
            printf("-%c\n", row->letter);
        if (option_needs_value(row))
            printf("--%s\n", row->name);
    }
    return put_out(NULL, "");
}
