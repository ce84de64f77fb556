/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch_screen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "looker.h"
#include "say.h"
#include "screen.h"

/* What a key shows. */
static const struct shown {
    int key;
    enum mpiq_view view;
    bool of_rank; /* asks for a rank */
} views[] = {
    {'m', MPIQ_VIEW_SCREEN, false},      {'r', MPIQ_VIEW_REPORT, false}, {'w', MPIQ_VIEW_WHY, true},
    {'u', MPIQ_VIEW_QUEUES, false},      {'h', MPIQ_VIEW_HISTORY, true}, {'a', MPIQ_VIEW_RANKS, false},
    {'c', MPIQ_VIEW_COLLECTIVES, false}, {'o', MPIQ_VIEW_COMMS, false},  {'t', MPIQ_VIEW_STACKS, false},
};

static const char keys[] =
    "q quit  ? keys  m map  r report  w why  u queues  h history  c collectives  a ranks  "
    "space pause  s snapshot";

static const char help[] =
    "m, Esc        the map: what each rank does, who waits for whom, communicators\n"
    "r             the report: what is stuck and why\n"
    "w RANK        why: the chain of waits from one rank to the cause\n"
    "u             queues: pending sends, posted receives, unexpected messages\n"
    "h RANK        history: the last MPI calls of one rank\n"
    "c             collectives: how often each rank called each of them, and who is in one\n"
    "o             communicators and their members\n"
    "a             all ranks, one line each\n"
    "t             the tree of all stacks\n"
    "\n"
    "Return        look now\n"
    "space         pause; go on with the latest look\n"
    "left, right   step back through the last looks, and on\n"
    "up, down      scroll, also by PgUp and PgDn\n"
    "s             save the look that is shown as a snapshot\n"
    "p             save its report as a page\n"
    "q             quit; the job goes on\n";

enum { RANK_ROOM = 24, MESSAGE_ROOM = 512, FRAME = 3 };

struct watching {
    struct looks *looks;
    struct looker looker;
    const struct shown *shown;
    const struct shown *asking; /* whose rank is being typed; NULL */
    char typed[RANK_ROOM];
    char rank[RANK_ROOM]; /* of why and history */
    size_t back;          /* looks before the last one that is shown */
    size_t top;           /* first line of the text that is shown */
    size_t lines;         /* that the text has */
    double next;          /* when the next look begins */
    bool paused;
    bool helping;               /* the keys are shown */
    bool ended;                 /* there is nothing more to look at */
    char message[MESSAGE_ROOM]; /* of the last key */
    char trouble[MESSAGE_ROOM]; /* of a look that failed; "" */
};

static volatile sig_atomic_t asked_to_end;

static void note_end(int number)
{
    asked_to_end = number;
}

/* Takes error. */
static void note_error(char text[MESSAGE_ROOM], struct mpiq_error *error)
{
    snprintf(text, MESSAGE_ROOM, "%s", mpiq_error_message(error));
    mpiq_error_destroy(error);
}

/* The look that is shown; NULL: there is none yet. */
static const struct mpiq_job *shown_job(const struct watching *watching, const struct mpiq_job **before)
{
    const struct looks *looks = watching->looks;
    size_t end = looks->count - watching->back;
    *before = end > 1 ? looks->kept[end - 2] : NULL;
    return end > 0 ? looks->kept[end - 1] : NULL;
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* What is shown as text; the caller frees it.  NULL: `message` says why not. */
static char *render(struct watching *watching)
{
    struct mpiq_render_options options = watching->looks->line->render;
    char *text = NULL;
    const struct mpiq_job *job = shown_job(watching, &options.before);
    options.width = screen_width();
    options.height = screen_height() - FRAME;
    options.rank = watching->rank;
    if (watching->helping)
        return strdup(help);
    if (!job)
        return NULL;
    struct mpiq_error *error = mpiq_job_render(job, watching->shown->view, &options, &text);
    if (error) {
        note_error(watching->message, error);
        return NULL;
    }
    return text;
}

static void draw_state(const struct watching *watching, char *text, size_t size)
{
    const struct looks *looks = watching->looks;
    size_t number = looks->taken - watching->back;
    if (watching->asking)
        snprintf(text, size, "rank: %s_", watching->typed);
    else if (watching->message[0])
        snprintf(text, size, "%s", watching->message);
    else if (watching->trouble[0] && watching->back == 0)
        snprintf(text, size, "%s", watching->trouble);
    else if (looks->taken == 0)
        snprintf(text, size, "reading the ranks");
    else if (watching->back > 0)
        snprintf(text, size, "look %zu of %zu%s", number, looks->taken, watching->paused ? ", paused" : "");
    else if (watching->ended)
        snprintf(text, size, "look %zu, the last one", number);
    else if (watching->paused)
        snprintf(text, size, "look %zu, paused", number);
    else
        snprintf(text, size, "look %zu, every %.0f s", number, looks_interval(looks));
}

/* The text fills all but two lines: what is going on, and the keys. */
static void draw(struct watching *watching, const char *text)
{
    char state[MESSAGE_ROOM + 32];
    int height = screen_height();
    int room = height > 2 ? height - 2 : 1;
    screen_clear();
    watching->lines = screen_text(text ? text : "", watching->top, 0, room);
    draw_state(watching, state, sizeof state);
    if (height > 2)
        screen_line(height - 2, state, true);
    if (height > 1)
        screen_line(height - 1, keys, false);
    screen_show();
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static void scroll_by(struct watching *watching, int lines)
{
    size_t room = screen_height() > 2 ? (size_t)screen_height() - 2 : 1;
    size_t most = watching->lines > room ? watching->lines - room : 0;
    if (lines < 0)
        watching->top -= watching->top < (size_t)-lines ? watching->top : (size_t)-lines;
    else
        watching->top += (size_t)lines;
    if (watching->top > most)
        watching->top = most;
}

static void step(struct watching *watching, bool back)
{
    if (back && watching->back + 1 < watching->looks->count)
        watching->back++;
    else if (!back && watching->back > 0)
        watching->back--;
    watching->paused |= back;
}

/* A name that nothing has yet, "mpiq-20261125-140322.mpiq", in the directory that mpiq was started in. */
static void save(struct watching *watching, bool page)
{
    char name[64], stamp[32];
    time_t seconds = time(NULL);
    struct tm local;
    struct mpiq_render_options options = watching->looks->line->render;
    const struct mpiq_job *job = shown_job(watching, &options.before);
    char *text = NULL;
    if (!job)
        return;
    localtime_r(&seconds, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(name, sizeof name, "mpiq-%s.%s", stamp, page ? "html" : "mpiq");
    options.format = MPIQ_FORMAT_HTML;
    struct mpiq_error *error =
        page ? mpiq_job_render(job, MPIQ_VIEW_REPORT, &options, &text) : mpiq_job_snapshot(job, name);
    if (!error && page)
        error = mpiq_write_file(name, text);
    free(text);
    if (error)
        note_error(watching->message, error);
    else
        snprintf(watching->message, sizeof watching->message, "wrote %s", name);
}

static void show(struct watching *watching, const struct shown *shown)
{
    watching->shown = shown;
    watching->helping = false;
    watching->top = 0;
}

/* The digits of a rank, "3" or "w1:3", until Return or Escape. */
static void take_digit(struct watching *watching, int key)
{
    size_t length = strlen(watching->typed);
    if (key == KEY_ESCAPE) {
        watching->asking = NULL;
    } else if (key == KEY_ERASE) {
        watching->typed[length - (length > 0)] = '\0';
    } else if (key == KEY_RETURN) {
        if (length > 0)
            memcpy(watching->rank, watching->typed, sizeof watching->rank);
        show(watching, watching->asking);
        watching->asking = NULL;
    } else if (((key >= '0' && key <= '9') || key == 'w' || key == ':') && length + 1 < RANK_ROOM) {
        watching->typed[length] = (char)key;
        watching->typed[length + 1] = '\0';
    }
}

static bool take_view(struct watching *watching, int key)
{
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        if (views[i].key != key)
            continue;
        watching->asking = views[i].of_rank ? &views[i] : NULL;
        watching->typed[0] = '\0';
        if (!views[i].of_rank)
            show(watching, &views[i]);
        return true;
    }
    return false;
}

/* False: the user is done. */
static bool take_key(struct watching *watching, int key)
{
    int screen = screen_height() - FRAME;
    if (key != KEY_ANOTHER_SIZE)
        watching->message[0] = '\0';
    if (watching->asking && key != KEY_ANOTHER_SIZE) {
        take_digit(watching, key);
        return true;
    }
    if (take_view(watching, key))
        return true;
    switch (key) {
    case 'q':
        return false;
    case KEY_ESCAPE:
        show(watching, &views[0]);
        break;
    case '?':
        watching->helping = !watching->helping;
        watching->top = 0;
        break;
    case KEY_RETURN:
        watching->next = 0;
        watching->back = 0;
        watching->paused = false;
        break;
    case ' ':
        watching->paused = !watching->paused;
        watching->back = watching->paused ? watching->back : 0;
        break;
    case KEY_STEP_BACK:
    case KEY_STEP_ON:
        step(watching, key == KEY_STEP_BACK);
        break;
    case KEY_LINE_UP:
    case KEY_LINE_DOWN:
        scroll_by(watching, key == KEY_LINE_UP ? -1 : 1);
        break;
    case KEY_SCREEN_UP:
    case KEY_SCREEN_DOWN:
        scroll_by(watching, key == KEY_SCREEN_UP ? -screen : screen);
        break;
    case 's':
    case 'p':
        save(watching, key == 'p');
        break;
    default:
        break;
    }
    return true;
}

/* ---- looks --------------------------------------------------------------------------------------------- */

static void begin_look(struct watching *watching)
{
    watching->next = now(); /* until it is known what a look costs */
    looker_go(&watching->looker);
}

/* False: the first one has failed, and there is nothing to show. */
static bool end_look(struct watching *watching, struct mpiq_error **ret)
{
    struct mpiq_error *error = watching->looker.error;
    struct mpiq_job *job = watching->looker.job;
    bool gone = error && mpiq_error_is_gone(error);
    watching->looker.error = NULL;
    watching->looker.job = NULL;
    if (!error)
        looks_keep(watching->looks, job);
    if (!error && watching->back > 0 && watching->back + 1 < watching->looks->count)
        watching->back++; /* the one that is shown stays */
    watching->next += looks_interval(watching->looks);
    if (error && watching->looks->taken == 0) {
        *ret = error;
        return false;
    }
    if (!error)
        watching->trouble[0] = '\0';
    watching->ended = gone || looks_at_end(watching->looks);
    if (error)
        note_error(watching->trouble, error);
    return true;
}

static struct mpiq_error *go_on(struct watching *watching)
{
    struct mpiq_error *error = NULL;
    char *text = NULL;
    bool fresh = true;
    begin_look(watching);
    while (!asked_to_end) {
        bool busy = watching->looker.busy;
        if (fresh) {
            free(text);
            text = render(watching);
        }
        draw(watching, text);
        double rest = watching->next - now();
        int key = screen_key(busy ? watching->looker.told[0] : -1, busy || watching->paused ? 3600 : rest);
        fresh = key != KEY_NOTHING;
        if (looker_ended(&watching->looker)) {
            fresh = true;
            if (!end_look(watching, &error))
                break;
        }
        if (key != KEY_NOTHING && !take_key(watching, key))
            break;
        if (!watching->looker.busy && !watching->paused && !watching->ended && now() >= watching->next)
            begin_look(watching);
    }
    free(text);
    return error;
}

int watch_screen(struct looks *looks)
{
    static struct watching watching;
    struct sigaction action = {.sa_handler = note_end};
    const char *refused = screen_open(looks->line->render.color);
    if (refused) {
        fprintf(stderr, "mpiq: %s: --plain prints a line for each look\n", refused);
        return EXIT_USAGE;
    }
    watching = (struct watching){.looks = looks, .shown = &views[0], .rank = "0"};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    struct mpiq_error *error = NULL;
    bool started = looker_start(&watching.looker, looks);
    if (started)
        error = go_on(&watching);
    screen_close();
    if (!started)
        fprintf(stderr, "mpiq: cannot start to watch: %m\n");
    if (watching.looker.busy)
        _exit(EXIT_FINE); /* what reads ranks sees our end, and leaves them as they were */
    if (started)
        looker_stop(&watching.looker);
    return error ? say_error(error) : started ? EXIT_FINE : EXIT_NOTHING_READ;
}
