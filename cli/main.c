/* SPDX-License-Identifier: BSD-3-Clause */
/* main - the mpiq command: the command line in, libmpiq's answer out. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options.h"
#include "progress.h"
#include "record.h"
#include "run.h"
#include "say.h"
#include "watch.h"

/* COLUMNS, for those who show the text elsewhere, else the terminal's; 0: as wide as it gets. */
static int width_of_text(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int wanted = columns ? atoi(columns) : 0;
    if (wanted > 0)
        return wanted;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}

/* Whether it is read on a terminal whose locale has more than ASCII. */
static bool shows_utf8(const struct command_line *line)
{
    if (line->plain || !isatty(STDOUT_FILENO))
        return false;
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool ret = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    if (locale)
        freelocale(locale);
    return ret;
}

static enum mpiq_view view_of(enum command command)
{
    switch (command) {
    case COMMAND_WHY:
        return MPIQ_VIEW_WHY;
    case COMMAND_COLLECTIVES:
        return MPIQ_VIEW_COLLECTIVES;
    case COMMAND_QUEUES:
        return MPIQ_VIEW_QUEUES;
    case COMMAND_COMMS:
        return MPIQ_VIEW_COMMS;
    case COMMAND_RANKS:
        return MPIQ_VIEW_RANKS;
    case COMMAND_STACKS:
        return MPIQ_VIEW_STACKS;
    case COMMAND_HISTORY:
        return MPIQ_VIEW_HISTORY;
    default:
        return MPIQ_VIEW_REPORT;
    }
}

/* The same look as JSON, in the file of --json-to. */
static int answer_json(const struct command_line *line, struct mpiq_job *job)
{
    struct mpiq_render_options render = line->render;
    char *text = NULL;
    render.format = MPIQ_FORMAT_JSON;
    struct mpiq_error *error = mpiq_job_render(job, view_of(line->command), &render, &text);
    if (error)
        return say_error(error);
    int status = put_out(line->json, text);
    free(text);
    return status;
}

/* The text, in the file of --html or on stdout; takes it. */
static int put_answer(const struct command_line *line, char *text)
{
    int status = put_out(line->html, text);
    free(text);
    if (status == EXIT_FINE && line->html)
        fprintf(stderr, "mpiq: wrote the page %s\n", line->html);
    return status;
}

static int put_file(struct mpiq_error *error, const char *what, const char *path, const char *name)
{
    if (error)
        return say_error(error);
    fprintf(stderr, "mpiq: wrote the %s %s%s\n", what, path, name);
    return EXIT_FINE;
}

static int answer(struct command_line *line, struct mpiq_job *job, struct progress *progress)
{
    char *text = NULL;
    if (line->command == COMMAND_SNAPSHOT) {
        progress_show(progress, "writing the snapshot");
        struct mpiq_error *error = mpiq_job_snapshot(job, line->output);
        progress_end(progress);
        return put_file(error, "snapshot", line->output, "");
    }
    if (line->otf2) {
        progress_show(progress, "writing the trace");
        struct mpiq_error *error = mpiq_job_otf2(job, line->otf2);
        progress_end(progress);
        return put_file(error, "trace", line->otf2, "/traces.otf2");
    }
    progress_show(progress, line->html ? "writing the page" : "writing the answer");
    struct mpiq_error *error = mpiq_job_render(job, view_of(line->command), &line->render, &text);
    progress_end(progress);
    if (error)
        return say_error(error);
    int status = put_answer(line, text);
    if (status == EXIT_FINE && line->json)
        status = answer_json(line, job);
    return status == EXIT_FINE ? mpiq_job_exit_status(job) : status;
}

/* ---- commands: each says on a terminal what it is at, if it takes long ----------------------------------
 */

static int late(struct command_line *line, struct progress *progress)
{
    char *text = NULL;
    struct mpiq_error *error = mpiq_late(&line->options, &line->render, &text);
    progress_end(progress);
    return error ? say_error(error) : put_answer(line, text);
}

static int doctor(struct command_line *line, struct progress *progress)
{
    char *text = NULL;
    struct mpiq_error *error = mpiq_doctor(&line->options, &text);
    progress_end(progress);
    if (error)
        return say_error(error);
    int status = put_out(NULL, text);
    free(text);
    return status;
}

static int look(struct command_line *line, struct progress *progress)
{
    struct mpiq_job *job = NULL;
    struct mpiq_error *error = mpiq_job_look(&line->options, &job);
    if (error)
        progress_end(progress);
    int status = error ? say_error(error) : answer(line, job, progress);
    mpiq_job_destroy(job);
    return status;
}

static int with_progress(struct command_line *line, int (*command)(struct command_line *, struct progress *))
{
    struct progress progress;
    progress_start(&progress);
    line->options.progress = progress_show;
    line->options.argument = &progress;
    line->render.width = width_of_text();
    line->render.utf8 = shows_utf8(line);
    return command(line, &progress);
}

static int ask(struct command_line *line)
{
    char *text = NULL;
    struct mpiq_error *error = mpiq_ask(&line->options, line->question, &text);
    if (error)
        return say_error(error);
    int status = put_out(NULL, text);
    if (status == EXIT_FINE)
        status = put_out(NULL, "\n");
    free(text);
    return status;
}

/* What mpiq starts on each host of a job: its answer, a failure included, is on standard output. */
static int collect(int count, char **words)
{
    struct mpiq_error *error = mpiq_collect(count, words);
    return error ? say_error(error) : EXIT_FINE;
}

int main(int argc, char **argv)
{
    struct command_line line;
    bool help = argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    if (argc > 1 && strcmp(argv[1], "record") == 0 && !help)
        return record(argc, argv);
    if (argc > 1 && strcmp(argv[1], "collect") == 0)
        return collect(argc - 2, argv + 2);
    int status = parse_command_line(argc, argv, &line);
    if (status >= 0)
        return status;
    switch (line.command) {
    case COMMAND_DOCTOR:
        return with_progress(&line, doctor);
    case COMMAND_LATE:
        return with_progress(&line, late);
    case COMMAND_RUN:
        return run(&line);
    case COMMAND_WATCH:
        return watch(&line);
    case COMMAND_ASK:
        return ask(&line);
    default:
        return with_progress(&line, look);
    }
}
