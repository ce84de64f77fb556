/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "say.h"
#include "screen.h"
#include "step_private.h"

enum { OUTPUT_ROOM = 1 << 16, OUTPUT_LINES = 6 };

static const char keys[] =
    "s step rank  a step all  c run to breakpoint  o on until another call  b break  q quit  ? keys";

static const char help[] =
    "up, down   choose a rank\n"
    "s, Return  let this rank make its call, and hold it before its next one\n"
    "a, space   the same for all ranks\n"
    "o          let this rank go on until it makes another call: out of a loop of MPI_Test\n"
    "O          the same for all ranks\n"
    "c          let all ranks run to the next breakpoint\n"
    "C          let this rank run to the next breakpoint\n"
    "p          hold ranks that run before their next call\n"
    "b          set a breakpoint: MPI_Bcast, ring.c:20, comm=rows, rank=3, or several with commas\n"
    "d          delete a breakpoint, by its number\n"
    "l          look now: who waits for whom\n"
    "r          the report of that look\n"
    "q          quit; the job goes on\n"
    "\n"
    "Dots lead from a rank that is held to the ranks that its call is about, lines from a rank in a call to\n"
    "those that it waits for.\n";

/* ---- the job's streams -----------------------------------------------------------------------------------
 */

struct step *step_start(struct command_line *line, struct mpiq_remains *remains)
{
    struct step *step = calloc(1, sizeof *step);
    struct mpiq_error *error = NULL;
    const char *refused = line->plain ? NULL : screen_check();
    if (!step || refused || !remains) {
        fprintf(stderr, "mpiq: %s\n",
                !step     ? "out of memory"
                : refused ? refused
                          : "ranks cannot be held: there is no memory that they could share with mpiq");
        free(step);
        return NULL;
    }
    step->line = line;
    step->output = -1;
    if (line->plain) /* there is no screen that changes */
        line->interval = 0.2;
    if (!line->plain && (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO)))
        step->output = memfd_create("mpiq-output", MFD_CLOEXEC);
    if (step->output >= 0)
        fcntl(step->output, F_SETFL, O_APPEND);
    error = mpiq_stepper_create(remains, &step->stepper);
    for (size_t i = 0; i < line->break_count && !error; i++)
        error = mpiq_stepper_break(step->stepper, line->breaks[i]);
    if (!error)
        return step;
    say_error(error);
    step_end(step);
    return NULL;
}

void step_take_streams(const struct step *step)
{
    int none = step->line->plain || isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    bool out = isatty(STDOUT_FILENO), err = isatty(STDERR_FILENO);
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    if (step->output >= 0 && out)
        dup2(step->output, STDOUT_FILENO);
    if (step->output >= 0 && err)
        dup2(step->output, STDERR_FILENO);
}

/* What is new, to the terminal: the screen is closed.  The memory is given back. */
static void relay(struct step *step)
{
    static char bytes[OUTPUT_ROOM];
    ssize_t length;
    off_t before = step->relayed;
    while (step->output >= 0 && (length = pread(step->output, bytes, sizeof bytes, step->relayed)) > 0) {
        fwrite(bytes, 1, (size_t)length, stdout);
        step->relayed += length;
    }
    if (step->relayed == before)
        return;
    fflush(stdout);
    fallocate(step->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, step->relayed);
}

/* The last lines of it, as the caller's to free; NULL: there are none. */
static char *last_output(const struct step *step, size_t lines)
{
    enum { ROOM = 8192 };
    off_t size = step->output < 0 ? 0 : lseek(step->output, 0, SEEK_END);
    off_t from = size > ROOM ? size - ROOM : 0;
    char *text = size > 0 ? malloc(ROOM + 1) : NULL;
    ssize_t length = text ? pread(step->output, text, ROOM, from) : -1;
    if (length <= 0) {
        free(text);
        return NULL;
    }
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    char *begin = text + length;
    while (begin > text && (begin[-1] != '\n' || --lines > 0))
        begin--;
    memmove(text, begin, (size_t)(text + length - begin) + 1);
    return text;
}

/* ---- drawing ---------------------------------------------------------------------------------------------
 */

/* The line of the selected rank, and its data, are on the screen. */
static void scroll(struct step *step, size_t room)
{
    if (step->helping || step->reporting)
        return;
    if (step->selected + 2 > step->top + room)
        step->top = step->selected + 2 - room;
    if (step->selected < step->top + 5) /* with the lines on the whole, if possible */
        step->top = step->selected < room ? 0 : step->selected;
}

static void draw(struct step *step)
{
    int height = screen_height();
    size_t lines = height > 16 ? OUTPUT_LINES : 2;
    char *output = last_output(step, lines), state[MESSAGE_ROOM + TYPED_ROOM];
    size_t below = output ? lines + 1 : 0, room = height > (int)below + 3 ? (size_t)height - below - 2 : 1;
    scroll(step, room);
    screen_clear();
    screen_text(step->text ? step->text : "", step->top, 0, (int)room);
    if (output) {
        screen_line((int)room, " what the job has printed", true);
        screen_text(output, 0, (int)room + 1, (int)lines);
    }
    if (step->asking)
        snprintf(state, sizeof state, "%s: %s_", step->asking, step->typed);
    else
        snprintf(state, sizeof state, "%s", step->message);
    screen_line(height - 2, state, true);
    screen_line(height - 1, keys, false);
    screen_show();
    free(output);
}

/* ---- the screen ------------------------------------------------------------------------------------------
 */

/* Until the command has ended (true) or the user is done. */
static bool show_screen(struct step *step, bool (*ended)(void *), void *argument)
{
    while (!ended(argument)) {
        step_take(step);
        char *text = step->helping ? strdup(help) : step_render(step, screen_width());
        free(step->text);
        step->text = text;
        draw(step);
        int key = screen_key(step->looking && step->looker.busy ? step->looker.told[0] : -1, STEP_TICK);
        if (key != KEY_NOTHING && !step_key(step, key))
            return false;
    }
    return true;
}

bool step_through(struct step *step, pid_t launcher, bool (*ended)(void *), void *argument)
{
    const char *refused = step->line->plain ? NULL : screen_open(step->line->render.color);
    if (refused) {
        fprintf(stderr, "mpiq: %s\n", refused);
        mpiq_stepper_end(step->stepper);
        return false;
    }
    step_begin_looks(step, launcher);
    bool over = (step->line->plain ? step_lines : show_screen)(step, ended, argument);
    mpiq_stepper_end(step->stepper);
    screen_close();
    step_end_looks(step);
    relay(step);
    return over;
}

void step_tend(struct step *step)
{
    if (!step)
        return;
    mpiq_stepper_take(step->stepper);
    relay(step);
}

void step_end(struct step *step)
{
    if (!step)
        return;
    relay(step);
    if (step->output >= 0)
        close(step->output);
    mpiq_stepper_destroy(step->stepper);
    free(step->text);
    free(step);
}
