/* SPDX-License-Identifier: BSD-3-Clause */
/* commands - the one list of mpiq's commands.  The parser, the pages of help, the completions of the shells
   and gdb's commands all come from it and from option_rows. */
#ifndef MPIQ_CLI_COMMANDS_H
#define MPIQ_CLI_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

enum command {
    COMMAND_REPORT,
    COMMAND_WHY,
    COMMAND_COLLECTIVES,
    COMMAND_QUEUES,
    COMMAND_COMMS,
    COMMAND_RANKS,
    COMMAND_STACKS,
    COMMAND_HISTORY,
    COMMAND_LATE,
    COMMAND_WATCH,
    COMMAND_SNAPSHOT,
    COMMAND_DOCTOR,
    COMMAND_RECORD,
    COMMAND_RUN,
    COMMAND_HELP,
    COMMAND_COLLECT,   /* hidden: one host's share of a job */
    COMMAND_ASK,       /* hidden: gdb's commands ask, see docs/WIRE.md */
    COMMAND_COMPLETION /* hidden: prints what a shell completes mpiq's words by */
};

/* A set of commands. */
#define ONE(command) (UINT32_C(1) << (command))
#define ALL_COMMANDS (~UINT32_C(0))

/* What a command takes beside its options. */
enum operands {
    TAKES_TARGETS,
    TAKES_RANK,     /* and then targets */
    TAKES_QUESTION, /* and then targets */
    TAKES_PROGRAM,  /* a command line; the first word that is no option begins it */
    TAKES_COMMAND   /* the word of a command, or nothing */
};

struct command_row {
    enum command command;
    const char *word;
    const char *arguments; /* as in the usage: "RANK"; "" */
    enum operands operands;
    const char *summary; /* one line; NULL: hidden */
    const char *about;   /* the paragraphs of its page */
    struct {
        const char *line;
        const char *says; /* what it does */
    } examples[2];
};

/* In the order of the overview; ends with a row without a word. */
extern const struct command_row command_rows[];

/* The row of a command. */
const struct command_row *command_row(enum command command);
/* By word; NULL if there is none. */
const struct command_row *command_named(const char *word);
/* "history and run". */
void name_commands(uint32_t commands, char *text, size_t size);

/* Options of so few commands name them in the overview and in errors. */
enum { FEW_COMMANDS = 3 };

#endif
