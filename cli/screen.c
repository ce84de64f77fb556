/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen.h"

#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

static SCREEN *terminal;
static bool colored;

const char *screen_check(void)
{
    int found = 0;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return "a screen needs a terminal";
    const char *name = getenv("TERM");
    if (!name || !*name || setupterm(NULL, STDOUT_FILENO, &found) != OK)
        return "this terminal is not known (TERM)";
    const char *move = tigetstr("cup");
    if (!move || move == (char *)-1) /* NOLINT */
        return "this terminal cannot show a screen (TERM)";
    return NULL;
}

const char *screen_open(bool color)
{
    const char *refused = screen_check();
    if (refused)
        return refused;
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal)
        return "this terminal cannot be used (TERM)";
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    colored = color && has_colors() && start_color() == OK && use_default_colors() == OK;
    return NULL;
}

void screen_close(void)
{
    if (!terminal)
        return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

int screen_width(void)
{
    return COLS;
}

int screen_height(void)
{
    return LINES;
}

static int key_of(int key)
{
    switch (key) {
    case ERR:
        return KEY_NOTHING;
    case KEY_RESIZE:
        clearok(curscr, TRUE); /* what a terminal makes of its lines then, only it knows */
        return KEY_ANOTHER_SIZE;
    case KEY_UP:
        return KEY_LINE_UP;
    case KEY_DOWN:
        return KEY_LINE_DOWN;
    case KEY_PPAGE:
        return KEY_SCREEN_UP;
    case KEY_NPAGE:
        return KEY_SCREEN_DOWN;
    case KEY_LEFT:
        return KEY_STEP_BACK;
    case KEY_RIGHT:
        return KEY_STEP_ON;
    case '\033':
        return KEY_ESCAPE;
    case KEY_BACKSPACE:
    case '\b':
    case 127:
        return KEY_ERASE;
    case KEY_ENTER:
    case '\r':
    case '\n':
        return KEY_RETURN;
    default:
        return key < 256 ? key : KEY_NOTHING;
    }
}

int screen_key(int other, double seconds)
{
    struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    int key = key_of(getch());
    if (key != KEY_NOTHING)
        return key;
    /* A signal, of a new size or to end, ends the wait. */
    int ready = poll(ends, 2, seconds > 0 ? (int)(seconds * 1e3) + 1 : 0);
    /* A terminal that has gone answers for ever. */
    if (ready > 0 && ends[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        return 'q';
    return key_of(getch());
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* One of 256 colours, on terminals that have eight: its nearest. */
static int nearest(int color)
{
    static const struct {
        int color;
        int basic;
    } basics[] = {{32, COLOR_BLUE}, {214, COLOR_YELLOW}, {36, COLOR_CYAN}, {175, COLOR_MAGENTA}};
    for (size_t i = 0; i < sizeof basics / sizeof *basics && color >= 8 && COLORS < 256; i++) {
        if (basics[i].color == color)
            return basics[i].basic;
    }
    return color < COLORS ? color : -1;
}

static chtype color_of(int color)
{
    int number = nearest(color);
    if (!colored || number < 0 || number + 1 >= COLOR_PAIRS)
        return 0;
    init_pair((short)(number + 1), (short)number, -1);
    return COLOR_PAIR(number + 1);
}

/* "1;38;5;32" as attributes, beside those that are on. */
static chtype attributes(chtype now, const char *numbers)
{
    enum { BOLD = 1, REVERSE = 7, COLOR = 30, EXTENDED = 38 };
    while (*numbers && *numbers != 'm') {
        char *end;
        long number = strtol(numbers, &end, 10);
        if (number == 0)
            now = 0;
        else if (number == BOLD)
            now |= A_BOLD;
        else if (number == REVERSE)
            now |= A_REVERSE;
        else if (number == EXTENDED && strncmp(end, ";5;", 3) == 0)
            now |= color_of((int)strtol(end + 3, &end, 10));
        else if (number >= COLOR && number < EXTENDED)
            now |= color_of((int)number - COLOR);
        numbers = *end == ';' ? end + 1 : end;
        if (*numbers != 'm' && (*numbers < '0' || *numbers > '9'))
            break;
    }
    return now;
}

void screen_clear(void)
{
    erase();
}

size_t screen_text(const char *text, size_t first, int top, int count)
{
    size_t line = 0;
    int column = 0;
    chtype style = 0;
    for (const char *at = text; *at; at++) {
        size_t sequence = at[0] == '\033' && at[1] == '[' ? strspn(at + 2, "0123456789;") : 0;
        if (*at == '\n') {
            line++;
            column = 0;
        } else if (*at == '\033' && at[1] == '[' && at[2 + sequence] == 'm') {
            style = attributes(style, at + 2);
            at += 2 + sequence;
        } else {
            char shown = *at;
            if (shown < ' ' || shown > '~')
                shown = '?';
            if (line >= first && line - first < (size_t)count && column < COLS)
                mvaddch(top + (int)(line - first), column, (chtype)shown | style);
            column++;
        }
    }
    return line + (column > 0);
}

void screen_line(int line, const char *text, bool bar)
{
    for (int column = 0; column < COLS; column++) {
        char shown = *text ? *text++ : ' ';
        if (shown < ' ' || shown > '~')
            shown = '?';
        mvaddch(line, column, (chtype)shown | (bar ? A_REVERSE : 0));
    }
}

void screen_show(void)
{
    refresh();
}
