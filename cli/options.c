/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "completion.h"
#include "help.h"
#include "nearest.h"
#include "option_rows.h"
#include "say.h"

/* Getopt's number of the first row of option_rows: beyond all letters. */
enum { FIRST_OPTION = 256, MOST_OPTIONS = 64 };

/* What the command line is read into: the line, and which options were given. */
struct reading {
    struct command_line *line;
    struct option known[MOST_OPTIONS + 1];
    const struct option_row *given[MOST_OPTIONS];
    size_t given_count;
    bool help;
};

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("mpiq: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs(" (mpiq --help shows the usage)\n", stderr);
    va_end(arguments);
    return EXIT_USAGE;
}

static bool parse_seconds(const char *text, double *ret)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= 0 && value <= 1e6))
        return false;
    *ret = value;
    return true;
}

static bool parse_number(const char *text, unsigned *ret)
{
    char rest;
    unsigned value;
    if (strlen(text) > 6 || strspn(text, "0123456789") != strlen(text) ||
        sscanf(text, "%u%c", &value, &rest) != 1 || value == 0)
        return false;
    *ret = value;
    return true;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* In front of those that MPIQ_OBJECT_DIRS has, or would have. */
static bool add_objects(const char *path)
{
    const char *listed = getenv("MPIQ_OBJECT_DIRS"), *home = getenv("HOME");
    char here[PATH_MAX], *full = realpath(path, NULL), *value = NULL;
    int length = !full    ? -1
                 : listed ? asprintf(&value, "%s:%s", full, listed)
                          : asprintf(&value, "%s:%s:%s", full, home ? home : "",
                                     getcwd(here, sizeof here) ? here : "");
    bool good = length >= 0 && setenv("MPIQ_OBJECT_DIRS", value, 1) == 0;
    free(full);
    if (length >= 0)
        free(value);
    return good;
}

static bool parse_wire(const char *text, struct command_line *line)
{
    struct mpiq_wire wire;
    char rest;
    if (line->options.wire_count == MAX_WIRES || sscanf(text, "%d,%d%c", &wire.in, &wire.out, &rest) != 2)
        return false;
    line->wires[line->options.wire_count++] = wire;
    return true;
}

static bool is_one_of(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (; *list; list += strspn(list, " ")) {
        size_t end = strcspn(list, " ");
        if (end == length && strncmp(word, list, length) == 0)
            return true;
        list += end;
    }
    return false;
}

static int take_seconds(const struct option_row *row, const char *text, double *ret)
{
    if (parse_seconds(text, ret) && *ret >= row->least)
        return -1;
    if (row->least > 0.01)
        return refuse("--%s takes %g seconds or more, not '%s'", row->name, row->least, text);
    return refuse("--%s takes seconds%s, not '%s'", row->name, row->least > 0 ? ", more than 0" : "", text);
}

static int usage_error(struct mpiq_error *error)
{
    if (!error)
        return -1;
    say_error(error);
    return EXIT_USAGE;
}

static int take_new_directory(const struct option_row *row, const char *path)
{
    struct stat status;
    if (!*path)
        return refuse("--%s takes the path of a new directory", row->name);
    return lstat(path, &status) == 0
               ? refuse("--%s takes a directory that is not there yet: '%s' is", row->name, path)
               : -1;
}

static int take_objects(const struct option_row *row, const char *path)
{
    if (!is_directory(path))
        return refuse("--%s takes a directory, not '%s'", row->name, path);
    return add_objects(path) ? -1 : refuse("cannot use the directory '%s'", path);
}

static int take_check(const struct option_row *row, const char *text, struct command_line *line)
{
    line->check = true;
    line->leaks = line->leaks || text;
    return !text || is_one_of(text, row->choices)
               ? -1
               : refuse("--%s takes =leaks or nothing, not '%s'", row->name, text);
}

static int take_break(const char *text, struct command_line *line)
{
    if (line->break_count == MAX_BREAKS)
        return refuse("there are %d breakpoints already, which is the most", MAX_BREAKS);
    line->breaks[line->break_count++] = text;
    return usage_error(mpiq_check_break(text));
}

/* One option and its value, which is checked as far as that can be done before anything is read; -1 to go on.
 */
static int take_option(const struct option_row *row, char *value, struct reading *reading)
{
    struct command_line *line = reading->line;
    void *place = (char *)line + row->place;
    if (reading->given_count < MOST_OPTIONS)
        reading->given[reading->given_count++] = row;
    switch (row->kind) {
    case VALUE_NONE:
        *(bool *)place = true;
        return -1;
    case VALUE_SECONDS:
        return take_seconds(row, value, place);
    case VALUE_NUMBER:
        return parse_number(value, place)
                   ? -1
                   : refuse("--%s takes a number from 1 on, not '%s'", row->name, value);
    case VALUE_OBJECTS:
        return take_objects(row, value);
    case VALUE_CHECK:
        return take_check(row, value, line);
    case VALUE_BREAK:
        return take_break(value, line);
    case VALUE_WIRE:
        return parse_wire(value, line) ? -1
                                       : refuse("--%s takes two descriptors, not '%s'", row->name, value);
    case VALUE_HELP:
        reading->help = true;
        return -1;
    case VALUE_VERSION:
        return put_out(NULL, "mpiq " MPIQ_VERSION "\n");
    case VALUE_LIST:
        return help_options_with_values();
    case VALUE_CHOICE:
        if (!is_one_of(value, row->choices))
            return refuse("--%s takes %s, not '%s'", row->name, row->summary, value);
        break;
    default:
        break;
    }
    *(const char **)place = value;
    return -1;
}

/* What costs a look at the file system, once the whole line makes sense. */
static int check_value(const struct option_row *row, const struct command_line *line)
{
    const char *value =
        row->kind == VALUE_RANKS || row->kind == VALUE_OUTPUT || row->kind == VALUE_NEW_DIRECTORY
            ? *(const char *const *)((const char *)line + row->place)
            : NULL;
    if (row->kind == VALUE_LIBRARY)
        return usage_error(mpiq_check_dll(&line->options));
    if (row->kind == VALUE_RANKS)
        return usage_error(mpiq_check_ranks(value));
    if (row->kind == VALUE_OUTPUT)
        return usage_error(mpiq_check_output(value));
    return row->kind == VALUE_NEW_DIRECTORY ? take_new_directory(row, value) : -1;
}

/* What getopt could not make sense of: word is where it has come to. */
static int refuse_option(int option, const char *word)
{
    const char *nearest = NULL, *name = word + strspn(word, "-");
    char letters[MOST_OPTIONS];
    int length = (int)strcspn(name, "="), like = 0;
    if (optopt > 0 && optopt < FIRST_OPTION && option == '?')
        return refuse("there is no option '-%c'", optopt);
    if (option == ':')
        return refuse("%s needs a value", word);
    if (optopt)
        return refuse("%.*s takes no value", (int)strcspn(word, "="), word);
    snprintf(letters, sizeof letters, "%.*s", length, name);
    for (const struct option_row *row = option_rows; row->name && word[0] == '-'; row++) {
        like += row->summary && strncmp(row->name, name, (size_t)length) == 0;
        if (row->summary)
            keep_nearest(letters, row->name, &nearest);
    }
    if (like > 1)
        return refuse("'%s' is ambiguous", word);
    return nearest ? refuse("there is no option '%s': did you mean '--%s'?", word, nearest)
                   : refuse("there is no option '%s'", word);
}

static bool is_pid_or_file(const char *word)
{
    return word[strspn(word, "0123456789")] == '\0' || strpbrk(word, "/.:") || access(word, F_OK) == 0;
}

static int refuse_command(const char *word)
{
    const char *nearest = NULL;
    for (const struct command_row *row = command_rows; row->word; row++) {
        if (row->summary)
            keep_nearest(word, row->word, &nearest);
    }
    return nearest ? refuse("there is no command '%s': did you mean '%s'?", word, nearest)
                   : refuse("there is no command '%s'", word);
}

/* The command word, if the first argument is one. */
static int take_command(int argc, char **argv, struct command_line *line)
{
    const struct command_row *row = optind < argc ? command_named(argv[optind]) : NULL;
    if (row) {
        line->command = row->command;
        optind++;
        return -1;
    }
    return optind == argc || is_pid_or_file(argv[optind]) ? -1 : refuse_command(argv[optind]);
}

/* Options that would have no effect are refused: the user expected something of them. */
static int check_options(const struct reading *reading)
{
    const struct command_line *line = reading->line;
    char commands[256];
    for (size_t i = 0; i < reading->given_count; i++) {
        const struct option_row *row = reading->given[i];
        if (row->commands & ONE(line->command))
            continue;
        if (line->command == COMMAND_RUN && row->place == offsetof(struct command_line, as_json))
            return refuse("run leaves stdout to the job: --json-to FILE writes JSON");
        if (line->command == COMMAND_RUN && row->place == offsetof(struct command_line, options.stall_after))
            return refuse("--stall-after has no meaning with run: see --hang-after");
        name_commands(row->commands, commands, sizeof commands);
        if (__builtin_popcount(row->commands) <= FEW_COMMANDS)
            return refuse("--%s goes with %s only", row->name, commands);
        return refuse("%s takes no --%s", command_row(line->command)->word, row->name);
    }
    if (line->break_count > 0 && !line->step)
        return refuse("--break goes with --step only");
    if (line->command == COMMAND_RUN && line->plain && !line->step)
        return refuse("run takes --plain with --step only");
    if (line->step && line->check)
        return refuse("use --step or --check, not both");
    if (line->html && line->as_json)
        return refuse("use --json or --html, not both");
    return -1;
}

/* What would be found wrong when all ranks have been read. */
static int check_values(const struct reading *reading)
{
    int status = -1;
    for (size_t i = 0; i < reading->given_count && status < 0; i++)
        status = check_value(reading->given[i], reading->line);
    return status;
}

/* A number that is no process's: somebody expects an answer on two ranks. */
static bool is_rank(const char *word)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s", word);
    return word[strspn(word, "0123456789")] == '\0' && (strlen(word) > 20 || access(path, F_OK) != 0);
}

static int check(int argc, char **argv, const struct reading *reading)
{
    struct command_line *line = reading->line;
    int status = check_options(reading);
    if (status < 0)
        status = check_values(reading);
    if (status >= 0)
        return status;
    bool all_ranks = line->command == COMMAND_HISTORY && line->otf2;
    if (line->command == COMMAND_WHY || (line->command == COMMAND_HISTORY && !all_ranks)) {
        const char *word = line->command == COMMAND_WHY ? "why" : "history";
        if (optind == argc)
            return refuse("%s needs a rank: mpiq %s 3", word, word);
        line->render.rank = argv[optind++];
        struct mpiq_error *error = mpiq_check_ranks(line->render.rank);
        if (error)
            return say_error(error);
        if (optind < argc && is_rank(argv[optind]))
            return refuse(line->command == COMMAND_WHY
                              ? "%s takes one rank: '%s' is no pid of a process here"
                              : "%s takes one list of ranks, 0-3,7: '%s' is no pid of a process here",
                          word, argv[optind]);
    }
    if (line->command == COMMAND_ASK) {
        if (optind == argc)
            return refuse("ask needs a question");
        line->question = argv[optind++];
    }
    if (line->command == COMMAND_SNAPSHOT && !line->output)
        return refuse("snapshot needs a file: mpiq snapshot -o job.mpiq");
    if (line->command == COMMAND_COMPLETION) {
        if (optind + 1 != argc)
            return refuse("completion needs the name of a shell: bash, zsh or fish");
        return print_completion(argv[optind]);
    }
    if (line->command == COMMAND_RUN) {
        if (optind == argc)
            return refuse("run needs a command: mpiq run -- mpirun -n 4 ./solver");
        line->program = &argv[optind];
        return -1;
    }
    line->options.targets = (const char *const *)&argv[optind];
    line->options.target_count = (size_t)(argc - optind);
    return -1;
}

static bool wants_color(const struct command_line *line)
{
    if (strcmp(line->color, "auto") != 0)
        return strcmp(line->color, "always") == 0;
    const char *terminal = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;
}

/* mpiq help, mpiq help COMMAND, mpiq COMMAND --help. */
static int help(int argc, char **argv, const struct command_line *line, bool about_command)
{
    const char *word = line->command == COMMAND_HELP && optind < argc ? argv[optind] : NULL;
    if (word)
        return command_named(word) ? help_page(command_named(word)) : refuse_command(word);
    return about_command ? help_page(command_row(line->command)) : help_overview();
}

/* getopt's form of option_rows; its numbers are FIRST_OPTION and their indexes. */
static void list_options(struct reading *reading)
{
    size_t count = 0;
    for (const struct option_row *row = option_rows; row->name && count < MOST_OPTIONS; row++, count++) {
        int value = option_needs_value(row) ? required_argument
                    : row->value            ? optional_argument
                                            : no_argument;
        reading->known[count] = (struct option){row->name, value, NULL, FIRST_OPTION + (int)count};
    }
}

/* By getopt's number or letter; NULL: none. */
static const struct option_row *option_of(int option)
{
    if (option >= FIRST_OPTION)
        return &option_rows[option - FIRST_OPTION];
    for (const struct option_row *row = option_rows; row->name; row++) {
        if (row->letter == option)
            return row;
    }
    return NULL;
}

int parse_command_line(int argc, char **argv, struct command_line *ret)
{
    *ret = (struct command_line){.options = MPIQ_OPTIONS_DEFAULT,
                                 .render = MPIQ_RENDER_OPTIONS_DEFAULT,
                                 .hang_after = 300,
                                 .color = "auto"};
    struct reading reading = {.line = ret};
    list_options(&reading);
    /* Options may follow the command and the targets.  But after "run", the first word that is not an option
       begins the user's command line. */
    const struct command_row *first = argc > 1 ? command_named(argv[1]) : NULL;
    bool program = first && first->operands == TAKES_PROGRAM;
    int skip = program ? 1 : 0, option, status = -1;
    optind = 1;
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc - skip, argv + skip, program ? "+:o:hV" : ":o:hV",
                                               reading.known, NULL)) != -1) {
        const struct option_row *row = option == '?' || option == ':' ? NULL : option_of(option);
        status = row ? take_option(row, optarg, &reading) : refuse_option(option, argv[skip + optind - 1]);
    }
    optind += skip;
    int words = optind;
    if (program)
        ret->command = first->command;
    else if (status < 0)
        status = take_command(argc, argv, ret);
    if (status < 0 && (reading.help || ret->command == COMMAND_HELP))
        return help(argc, argv, ret, reading.help && (program || optind > words));
    if (status >= 0)
        return status;
    ret->options.wires = ret->wires;
    ret->render.format = ret->as_json ? MPIQ_FORMAT_JSON : ret->html ? MPIQ_FORMAT_HTML : MPIQ_FORMAT_TEXT;
    ret->render.color = wants_color(ret);
    ret->render.all_threads = ret->options.all_threads;
    return check(argc, argv, &reading);
}
