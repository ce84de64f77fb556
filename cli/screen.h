/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen - the terminal as a whole: text of libmpiq's, keys.
 *
 * A process has one.  It leaves to others what is shown.
 */
#ifndef MPIQ_CLI_SCREEN_H
#define MPIQ_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Beside characters as they are typed. */
enum screen_key {
    KEY_NOTHING = -1,
    KEY_ANOTHER_SIZE = 0x1000,
    KEY_LINE_UP,
    KEY_LINE_DOWN,
    KEY_SCREEN_UP,
    KEY_SCREEN_DOWN,
    KEY_STEP_BACK,
    KEY_STEP_ON,
    KEY_ESCAPE,
    KEY_ERASE,
    KEY_RETURN
};

/* Why there can be no screen, as screen_open; NULL: there can. */
const char *screen_check(void);
/* Takes the terminal over.  Else why not, a sentence without a full stop: static. */
const char *screen_open(bool color);
/* Gives it back as it was. */
void screen_close(void);

int screen_width(void);
int screen_height(void);

/* Waits for a key, for `other` to have something to read, or for that long; KEY_NOTHING: no key.  other may
   be -1. */
int screen_key(int other, double seconds);

/* Everything drawn until screen_show is one picture. */
void screen_clear(void);
/* Lines of a text, from its line `first` on, at most `count` of them, below line `top`.  Its sequences for
   bold, reverse and colours (SGR) are obeyed, every other control character is a '?'.  How many lines the
   text has. */
size_t screen_text(const char *text, size_t first, int top, int count);
/* One line without any sequences, in reverse if `bar`. */
void screen_line(int line, const char *text, bool bar);
void screen_show(void);

#endif
