/* SPDX-License-Identifier: BSD-3-Clause */
/* command_line - what the user asked for, as a structure. */
#ifndef MPIQ_CLI_COMMAND_LINE_H
#define MPIQ_CLI_COMMAND_LINE_H

#include <stdbool.h>

#include "commands.h"
#include "exit_status.h"
#include "mpiq.h"

/* Seconds: in less, a job that is busy may not be seen moving. */
enum { HANG_AFTER_LEAST = 5 };

/* As many breakpoints as a rank has room for. */
enum { MAX_BREAKS = 16 };

/* As many processes as one debugger may hold. */
enum { MAX_WIRES = 4096 };

struct command_line {
    enum command command;
    struct mpiq_options options;
    struct mpiq_render_options render;
    const char *question; /* of ask */
    const char *json;     /* of --json-to; NULL */
    const char *output;   /* of snapshot -o and run --snapshot; NULL */
    const char *html;     /* of --html; NULL */
    const char *otf2;     /* of --otf2; NULL */
    double hang_after;    /* of run, in seconds */
    double interval;      /* of watch, in seconds; 0: as suits the job */
    bool plain;           /* lines instead of a screen; of history: ASCII alone */
    bool as_json;         /* --json is on the command line */
    bool keep;            /* of run: let the hung job live */
    bool strict;          /* of run: what may wait, waits */
    bool check;           /* of run: findings of a job that ended */
    bool step;            /* of run: ranks are held before each call */
    size_t break_count;   /* of --break */
    const char *breaks[MAX_BREAKS];
    bool leaks;        /* of run: and objects never freed are an error */
    char **program;    /* of run: what follows "--", ends with NULL */
    const char *color; /* "auto", "always", "never" */
    struct mpiq_wire wires[MAX_WIRES];
};

#endif
