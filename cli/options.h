/* SPDX-License-Identifier: BSD-3-Clause */
/* options - the command line of mpiq, as a structure. */
#ifndef MPIQ_CLI_OPTIONS_H
#define MPIQ_CLI_OPTIONS_H

#include <stdbool.h>

#include "exit_status.h"
#include "mpiq.h"

enum command {
    COMMAND_REPORT,
    COMMAND_WHY,
    COMMAND_COLLECTIVES,
    COMMAND_QUEUES,
    COMMAND_COMMS,
    COMMAND_RANKS,
    COMMAND_HISTORY,
    COMMAND_SNAPSHOT,
    COMMAND_DOCTOR,
    COMMAND_RUN,
    COMMAND_LATE,
    COMMAND_WATCH,
    COMMAND_ASK /* gdb's commands ask: see docs/WIRE.md */
};

/* Seconds: in less, a job that is busy may not be seen moving. */
enum { HANG_AFTER_LEAST = 5 };

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
    bool plain;           /* of watch: lines instead of a screen */
    bool hang_given;      /* --hang-after is on the command line */
    bool stall_given;     /* --stall-after is */
    bool snapshot_given;  /* --snapshot is */
    bool keep;            /* of run: let the hung job live */
    bool strict;          /* of run: what may wait, waits */
    bool check;           /* of run: findings of a job that ended */
    bool leaks;           /* of run: and objects never freed are an error */
    char **program;       /* of run: what follows "--", ends with NULL */
    const char *color;    /* "auto", "always", "never" */
    struct mpiq_wire wires[MAX_WIRES];
};

/* Fills *ret from the arguments, whose strings it points into.  Returns -1 to continue, or the exit status
   if there is nothing more to do: help and version were printed on stdout, or wrong usage on stderr. */
int parse_command_line(int argc, char **argv, struct command_line *ret);

#endif
