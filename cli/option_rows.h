/* SPDX-License-Identifier: BSD-3-Clause */
/* option_rows - the one list of mpiq's options: their values, where a value goes and the commands that take
 * them. */
#ifndef MPIQ_CLI_OPTION_ROWS_H
#define MPIQ_CLI_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands.h"

/* What a value has to be, which is checked before anything is read. */
enum value_kind {
    VALUE_NONE,          /* sets a bool */
    VALUE_TEXT,          /* any */
    VALUE_RANKS,         /* a list of ranks */
    VALUE_CHOICE,        /* one of `choices` */
    VALUE_SECONDS,       /* a double, `least` or more */
    VALUE_NUMBER,        /* an unsigned, 1 or more */
    VALUE_LIBRARY,       /* the path of a library that is there */
    VALUE_OUTPUT,        /* the path of a file that can be written */
    VALUE_NEW_DIRECTORY, /* the path of a directory that is not there */
    VALUE_OBJECTS,       /* a directory, to be searched by those that read objects */
    VALUE_BREAK,         /* a breakpoint; there may be several */
    VALUE_CHECK,         /* "leaks" or none */
    VALUE_WIRE,          /* two descriptors; gdb's, see docs/WIRE.md */
    VALUE_HELP,          /* the three that only print something */
    VALUE_VERSION,
    VALUE_LIST
};

struct option_row {
    const char *name; /* without dashes */
    char letter;      /* 0: none */
    enum value_kind kind;
    const char *value;   /* what its value is called: FILE; NULL: it has none */
    size_t place;        /* in struct command_line */
    uint32_t commands;   /* those that take it */
    double least;        /* of seconds */
    const char *choices; /* separated by blanks */
    const char *summary; /* NULL: hidden */
};

/* In the order of the overview; ends with a row without a name. */
extern const struct option_row option_rows[];

/* Whether another word follows the option: `--check` takes "=leaks" or nothing. */
bool option_needs_value(const struct option_row *row);

#endif
