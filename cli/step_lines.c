/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step mode without a screen: keys come as lines, "s" or "s 3", and what the ranks do is printed once it
 * has changed and stays.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "screen.h"
#include "step_private.h"

static const char help[] = "s [RANK]  let that rank, or the one that is marked, make its call\n"
                           "a         let all ranks make their calls\n"
                           "o [RANK]  let the rank go on until it makes another call\n"
                           "O         the same for all ranks\n"
                           "C [RANK]  let the rank run to the next breakpoint\n"
                           "c         let all ranks run to the next breakpoint\n"
                           "p         hold ranks that run before their next call\n"
                           "b WHERE   set a breakpoint: MPI_Bcast, ring.c:20, comm=rows, rank=3\n"
                           "d NUMBER  delete a breakpoint\n"
                           "l         look now: who waits for whom\n"
                           "r         the report of the last look\n"
                           "q         quit; the job goes on\n";

struct lines {
    char text[TYPED_ROOM];
    size_t length;
    bool ended; /* there is no more */
};

/* What has come by then, of standard input or the looker. */
static void read_more(const struct step *step, struct lines *lines)
{
    struct pollfd ends[] = {
        {.fd = lines->ended ? -1 : STDIN_FILENO, .events = POLLIN},
        {.fd = step->looking && step->looker.busy ? step->looker.told[0] : -1, .events = POLLIN}};
    size_t room = sizeof lines->text - 1 - lines->length;
    if (poll(ends, 2, (int)(STEP_TICK * 1e3)) <= 0 || !ends[0].revents || room == 0)
        return;
    ssize_t length = read(STDIN_FILENO, lines->text + lines->length, room);
    lines->ended = length <= 0;
    lines->length += length > 0 ? (size_t)length : 0;
}

/* The next whole line; false: there is none yet.  One without its end is too long, or the last. */
static bool next_line(struct lines *lines, char ret[TYPED_ROOM])
{
    char *end = memchr(lines->text, '\n', lines->length);
    bool whole = end || lines->length == sizeof lines->text - 1 || (lines->ended && lines->length > 0);
    size_t length = end ? (size_t)(end - lines->text) : lines->length;
    if (!whole)
        return false;
    memcpy(ret, lines->text, length);
    ret[length] = '\0';
    lines->length -= length + (end != NULL);
    memmove(lines->text, lines->text + length + (end != NULL), lines->length);
    return true;
}

static void print_report(struct step *step)
{
    step->reporting = true;
    char *text = step_render(step, 0);
    step->reporting = false;
    fputs(text ? text : "", stdout);
    free(text);
}

/* False: the user is done. */
static bool take_line(struct step *step, const char *line)
{
    char key = line[0] ? line[0] : 's';
    const char *rest = line[0] ? line + 1 + strspn(line + 1, " ") : "";
    bool of_rank = strchr("soC", key), typed = key == 'b' || key == 'd';
    bool good = true;
    step->message[0] = '\0';
    if (!strchr("saoOcCpbdlrq?", key) || (*rest && !of_rank && !typed)) {
        snprintf(step->message, sizeof step->message, "'%s' is not a key: ? shows them", line);
    } else if (typed) {
        snprintf(step->typed, sizeof step->typed, "%s", rest);
        step_take_typed(step, key);
    } else if (*rest && !mpiq_stepper_choose(step->stepper, rest)) {
        snprintf(step->message, sizeof step->message, "there is no rank %s", rest);
    } else if (key == '?') {
        fputs(help, stdout);
    } else if (key == 'r' && step->looks.count > 0) {
        print_report(step);
    } else {
        good = step_key(step, key);
    }
    if (step->message[0])
        printf("%s\n", step->message);
    fflush(stdout);
    return good;
}

/* What is printed, and when. */
struct printing {
    char *text;     /* that was printed last */
    double changed; /* when the ranks last did something else */
    double since;   /* when what they do was printed last, or was no news */
    double taken;   /* when a line was taken last */
    bool whole;     /* all ranks are there, nothing changes, and a look has told what it can */
    bool seen;      /* what they do is printed */
};

static void print_news(struct step *step, struct printing *printing)
{
    static const double settled = 0.2, latest = 2;
    char *text = step_render(step, 0);
    bool some, complete = mpiq_stepper_complete(step->stepper, &some);
    printing->changed = text && step->text && strcmp(text, step->text) == 0 ? printing->changed : now();
    printing->whole = complete && !step_wants_look(step) && now() - printing->changed >= settled;
    free(step->text);
    step->text = text;
    printing->seen = !text || (printing->text && strcmp(text, printing->text) == 0);
    printing->since = printing->seen ? now() : printing->since;
    if (printing->seen || (!printing->whole && now() - printing->since < latest))
        return;
    free(printing->text);
    printing->text = strdup(text);
    printing->seen = true;
    printf("%s\n", text);
    fflush(stdout);
}

/* Whether the next line may be taken: what the one before it did is done and printed.  One that lets ranks go
   waits until nothing changes any more. */
static bool is_time_for(const struct lines *lines, const struct printing *printing)
{
    static const double enough = 2, much = 10;
    bool goes = lines->length > 0 && strchr("saoOcC\n", lines->text[0]);
    if (printing->whole || lines->length == 0)
        return printing->whole;
    return printing->seen && (goes ? now() - printing->changed >= much : now() - printing->taken >= enough);
}

bool step_lines(struct step *step, bool (*ended)(void *), void *argument)
{
    struct lines lines = {0};
    struct printing printing = {.changed = now(), .since = now(), .taken = now()};
    char line[TYPED_ROOM];
    bool over = false, done = false;
    while (!done && !(over = ended(argument))) {
        step_take(step);
        print_news(step, &printing);
        read_more(step, &lines);
        if (!is_time_for(&lines, &printing))
            continue;
        bool there = next_line(&lines, line);
        printing.taken = there ? now() : printing.taken;
        done = there ? !take_line(step, line) : lines.ended;
    }
    free(printing.text);
    return over;
}
