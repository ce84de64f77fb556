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
#include "looker.h"
#include "say.h"
#include "screen.h"

enum { TYPED_ROOM = 200, MESSAGE_ROOM = 512, OUTPUT_ROOM = 1 << 16, OUTPUT_LINES = 6 };

static const double tick = 0.05; /* seconds from one reading of the ranks to the next */
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
    const char *refused = screen_check();
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
    if (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO))
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
    int none = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
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

static const struct mpiq_job *last_job(const struct step *step)
{
    return step->looks.count > 0 ? step->looks.kept[step->looks.count - 1] : NULL;
}

static void note_error(struct step *step, struct mpiq_error *error)
{
    if (error)
        snprintf(step->message, sizeof step->message, "%s", mpiq_error_message(error));
    mpiq_error_destroy(error);
}

static char *render(struct step *step)
{
    struct mpiq_render_options options = step->line->render;
    char *text = NULL;
    options.width = screen_width();
    options.format = MPIQ_FORMAT_TEXT;
    if (step->helping)
        return strdup(help);
    if (step->reporting && last_job(step))
        note_error(step, mpiq_job_render(last_job(step), MPIQ_VIEW_REPORT, &options, &text));
    else
        note_error(step, mpiq_stepper_text(step->stepper, last_job(step), &options, &step->selected, &text));
    return text;
}

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

/* ---- keys ------------------------------------------------------------------------------------------------
 */

static const char break_prompt[] = "breakpoint", delete_prompt[] = "delete breakpoint number";

static void take_typed(struct step *step)
{
    if (step->asking == break_prompt)
        note_error(step, mpiq_stepper_break(step->stepper, step->typed));
    else if (!mpiq_stepper_unbreak(step->stepper, (unsigned)strtoul(step->typed, NULL, 10)))
        snprintf(step->message, sizeof step->message, "there is no breakpoint %s", step->typed);
}

static void take_character(struct step *step, int key)
{
    size_t length = strlen(step->typed);
    if (key == KEY_ESCAPE) {
        step->asking = NULL;
    } else if (key == KEY_ERASE) {
        step->typed[length - (length > 0)] = '\0';
    } else if (key == KEY_RETURN) {
        if (length > 0)
            take_typed(step);
        step->asking = NULL;
    } else if (key >= ' ' && key <= '~' && length + 1 < TYPED_ROOM) {
        step->typed[length] = (char)key;
        step->typed[length + 1] = '\0';
    }
}

static void go(struct step *step, bool all, enum mpiq_step_how how)
{
    if (all) {
        if (mpiq_stepper_go_all(step->stepper, how) == 0)
            snprintf(step->message, sizeof step->message, "no rank is held before a call");
    } else if (!mpiq_stepper_go_one(step->stepper, how)) {
        snprintf(step->message, sizeof step->message, "this rank is not held before a call");
    }
    step->next = now() + looks_interval(&step->looks);
}

static void begin_look(struct step *step)
{
    if (!step->looking || step->looker.busy)
        return;
    uint64_t motion = mpiq_stepper_motion(step->stepper);
    step->looked = motion == step->motion ? step->looked + 1 : 1;
    step->motion = motion;
    step->next = now() + looks_interval(&step->looks);
    looker_go(&step->looker);
}

/* False: the user is done. */
static bool take_key(struct step *step, int key)
{
    if (key == KEY_ANOTHER_SIZE)
        return true;
    step->message[0] = '\0';
    if (step->asking) {
        take_character(step, key);
        return true;
    }
    if (step->helping || step->reporting) {
        bool down = key == KEY_LINE_DOWN || key == KEY_SCREEN_DOWN;
        if (down || key == KEY_LINE_UP || key == KEY_SCREEN_UP) {
            step->top = down ? step->top + 1 : step->top - (step->top > 0);
            return true;
        }
        step->helping = step->reporting = false;
        step->top = 0;
        if (key == KEY_ESCAPE || key == '?' || key == 'r')
            return true;
    }
    switch (key) {
    case 'q':
        return false;
    case 's':
    case KEY_RETURN:
        go(step, false, MPIQ_STEP_NEXT);
        break;
    case 'a':
    case ' ':
        go(step, true, MPIQ_STEP_NEXT);
        break;
    case 'o':
    case 'O':
        go(step, key == 'O', MPIQ_STEP_OTHER);
        break;
    case 'c':
    case 'C':
        go(step, key == 'c', MPIQ_STEP_RUN);
        break;
    case 'p':
        mpiq_stepper_pause(step->stepper);
        break;
    case 'b':
    case 'd':
        step->asking = key == 'b' ? break_prompt : delete_prompt;
        step->typed[0] = '\0';
        break;
    case 'l':
        begin_look(step);
        break;
    case 'r':
        step->reporting = last_job(step) != NULL;
        step->top = 0;
        if (!step->reporting)
            snprintf(step->message, sizeof step->message, "there was no look yet");
        break;
    case '?':
        step->helping = true;
        step->top = 0;
        break;
    case KEY_LINE_UP:
    case KEY_LINE_DOWN:
        mpiq_stepper_select(step->stepper, key == KEY_LINE_UP ? -1 : 1);
        break;
    case KEY_SCREEN_UP:
    case KEY_SCREEN_DOWN:
        mpiq_stepper_select(step->stepper, key == KEY_SCREEN_UP ? -10 : 10);
        break;
    default:
        break;
    }
    return true;
}

/* ---- the screen ------------------------------------------------------------------------------------------
 */

/* Looks tell lines, and what follows for the job as a whole. */
static bool begin_looks(struct step *step, pid_t launcher)
{
    static char target[16];
    static const char *targets[] = {target};
    snprintf(target, sizeof target, "%d", (int)launcher);
    step->line->options.targets = targets;
    step->line->options.target_count = 1;
    struct mpiq_error *error = looks_init(&step->looks, step->line);
    if (!error)
        return looker_start(&step->looker, &step->looks);
    note_error(step, error);
    return false;
}

static void end_look(struct step *step)
{
    if (!looker_ended(&step->looker))
        return;
    if (step->looker.job) {
        mpiq_stepper_learn(step->stepper, step->looker.job);
        looks_keep(&step->looks, step->looker.job);
    }
    mpiq_error_destroy(step->looker.error); /* ranks that have not come yet, or have gone, are no news */
    step->looker.job = NULL;
    step->looker.error = NULL;
}

/* Draws only what has changed; a terminal far away is slow. */
static void refresh_text(struct step *step)
{
    char *text = render(step);
    free(step->text);
    step->text = text;
}

bool step_screen(struct step *step, pid_t launcher, bool (*ended)(void *), void *argument)
{
    const char *refused = screen_open(step->line->render.color);
    bool over = false;
    if (refused) {
        fprintf(stderr, "mpiq: %s\n", refused);
        mpiq_stepper_end(step->stepper);
        return false;
    }
    step->looking = begin_looks(step, launcher);
    while (!(over = ended(argument))) {
        mpiq_stepper_take(step->stepper);
        if (step->looking)
            end_look(step);
        /* What a look says of the job comes from two readings: both of ranks as they stand now. */
        if (now() >= step->next && (step->looked < 2 || mpiq_stepper_motion(step->stepper) != step->motion ||
                                    mpiq_stepper_wants_look(step->stepper)))
            begin_look(step);
        refresh_text(step);
        draw(step);
        int key = screen_key(step->looking && step->looker.busy ? step->looker.told[0] : -1, tick);
        if (key != KEY_NOTHING && !take_key(step, key))
            break;
    }
    mpiq_stepper_end(step->stepper);
    screen_close();
    if (step->looking && step->looker.busy) {
        struct timespec nap = {.tv_nsec = 10000000};
        while (step->looker.busy && !looker_ended(&step->looker))
            nanosleep(&nap, NULL);
    }
    if (step->looking)
        looker_stop(&step->looker);
    looks_deinit(&step->looks);
    step->looking = false;
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
