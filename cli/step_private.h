/* SPDX-License-Identifier: BSD-3-Clause */
/* step_private - what the files of the step mode share: what is known of the ranks, and what keys do. */
#ifndef MPIQ_CLI_STEP_PRIVATE_H
#define MPIQ_CLI_STEP_PRIVATE_H

#include "looker.h"
#include "step.h"

enum { TYPED_ROOM = 200, MESSAGE_ROOM = 512 };

/* Seconds from one reading of the ranks to the next. */
#define STEP_TICK 0.05

struct step {
    struct command_line *line;
    struct mpiq_stepper *stepper;
    int output;    /* what the job prints: a memory file; -1: none of it goes to the terminal */
    off_t relayed; /* bytes of it that are on the terminal */
    struct looks looks;
    struct looker looker;
    bool looking;       /* there is a looker */
    uint64_t motion;    /* the stepper's, when a look last began */
    unsigned looked;    /* looks at ranks that have not moved since */
    double next;        /* when the next look may begin */
    char *text;         /* what is shown of the ranks */
    size_t selected;    /* its line */
    const char *asking; /* what is being typed; NULL */
    char typed[TYPED_ROOM];
    char message[MESSAGE_ROOM];
    bool helping;
    bool reporting; /* the report of the last look is shown */
    size_t top;     /* first line that is shown */
};

/* Looks at the job below the launcher, as far as that is possible, until they are ended. */
void step_begin_looks(struct step *step, pid_t launcher);
void step_end_looks(struct step *step);
/* What the ranks do now; takes the look that has ended, and begins one that would tell more. */
void step_take(struct step *step);
/* Whether a look that has not ended would tell more. */
bool step_wants_look(const struct step *step);
/* What is to be shown, in so many columns (0: as many as it takes); the caller frees it.  NULL: the message
   says why not. */
char *step_render(struct step *step, int width);
/* Without a screen, until the command has ended (true) or the user is done. */
bool step_lines(struct step *step, bool (*ended)(void *), void *argument);

/* Does what the key says.  False: the user is done. */
bool step_key(struct step *step, int key);
/* Sets (key 'b') or deletes ('d') the breakpoint that is typed. */
void step_take_typed(struct step *step, int key);
/* Keeps what is wrong as the message to show; takes error, NULL is fine. */
void step_note_error(struct step *step, struct mpiq_error *error);

#endif
