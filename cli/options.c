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

#include "say.h"

static const char help[] =
    "usage: mpiq [COMMAND] [OPTION...] [TARGET...]\n"
    "\n"
    "Says why an MPI job hangs.  TARGET is the pid of a launcher or of any rank, slurm:JOB[.STEP],\n"
    "core files, snapshots, or an OTF2 trace (traces.otf2); without one, your only MPI job on\n"
    "this machine.\n"
    "\n"
    "  report             what is stuck and why (the default)\n"
    "  why RANK           the chain of waits from one rank to the cause\n"
    "  collectives        how often each rank called each collective, and who is in one\n"
    "  queues             pending sends, posted receives, unexpected messages\n"
    "  comms              communicators and their members\n"
    "  ranks              one line for each rank: where it is\n"
    "  history RANK       its last MPI calls: all under the recorder, collectives with the patch\n"
    "  late TRACE         where the ranks of an OTF2 trace lost time waiting, and who was late\n"
    "  watch              what the ranks do, again and again, on the whole screen; a list of\n"
    "                     snapshots is played back\n"
    "  snapshot -o FILE   write what was read to a file, for later or for another machine\n"
    "  doctor             what this machine and this job allow, and what would help\n"
    "  record -- PROGRAM  run an MPI program under the recorder: mpirun -n 4 mpiq record -- ./solver\n"
    "  run -- COMMAND...  start a job, report when it hangs, and end it\n"
    "\n"
    "  --json             print the answer as JSON\n"
    "  --html FILE        write the report to FILE as a page\n"
    "  --ranks LIST       show only these ranks: 0-3,7 or 0-46:2\n"
    "  --comm NAME        for collectives and comms: only this communicator, by name or number\n"
    "  --hosts LIST       read the job's ranks on these hosts: n1,n2,n3 (by ssh)\n"
    "  --via COMMAND      with --hosts: the command that reaches a host: 'rsh {host}'\n"
    "  --wait SECONDS     time a host may take for each look (30)\n"
    "  --fanout NUMBER    how many hosts to connect to at a time (64)\n"
    "  --all              show the library's internal traffic too\n"
    "  --stop             stop each process while it is read\n"
    "  --pause SECONDS    time between the two looks (0.25)\n"
    "  --dll PATH         read all ranks with this message-queue library\n"
    "  --color WHEN       auto, always or never\n"
    "  --otf2 DIR         for history (without RANK) and run (of a job that hangs): write the last\n"
    "                     calls of all ranks as an OTF2 trace\n"
    "  --at SECONDS       for a trace: what the ranks do so long after its start\n"
    "  --plain            for watch: print one line for each look\n"
    "  --interval SECONDS for watch: time from look to look (looking takes 1 % of a processor)\n"
    "  --stall-after SEC  call a job stalled after this long without progress (60)\n"
    "  --json-to FILE     write the answer to FILE as JSON, beside the text\n"
    "  --hang-after SEC   for run: end a job in which nothing has moved for this long (300)\n"
    "  --keep             for run: report a hung job, but do not end it\n"
    "  --snapshot FILE    for run: where a hung job's snapshot goes (mpiq-JOBID.mpiq)\n"
    "  --strict           for run: sends wait for their receive and collectives for all\n"
    "                     members, so that a program that finishes only by luck hangs\n"
    "  --check            for run: when the job ends, report lost messages, requests never\n"
    "                     completed, calls that do not agree, objects never freed\n"
    "  --check=leaks      the same; objects never freed are errors, too\n"
    "  --objects DIR      for core files: programs and libraries may be opened below DIR\n"
    "\n"
    "Exit status: 0 running or finished, 1 deadlock, 2 wrong usage, 3 nothing or too little\n"
    "could be read, 4 stalled.  snapshot and doctor: 0 on success.  run: the command's own\n"
    "status, or 123 if --check found an error, 124 if the job hung and was ended, 125 if mpiq\n"
    "failed, 126 or 127 if the command could not be run, 130 after ^C.\n";

enum {
    OPTION_JSON = 256,
    OPTION_JSON_TO,
    OPTION_HTML,
    OPTION_RANKS,
    OPTION_COMM,
    OPTION_HOSTS,
    OPTION_VIA,
    OPTION_WAIT,
    OPTION_FANOUT,
    OPTION_ALL,
    OPTION_STOP,
    OPTION_PAUSE,
    OPTION_DLL,
    OPTION_COLOR,
    OPTION_STALL_AFTER,
    OPTION_HANG_AFTER,
    OPTION_KEEP,
    OPTION_STRICT,
    OPTION_CHECK,
    OPTION_SNAPSHOT,
    OPTION_OBJECTS,
    OPTION_LIST,
    OPTION_AT,
    OPTION_OTF2,
    OPTION_PLAIN,
    OPTION_INTERVAL,
    OPTION_WIRE
};

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPTION_JSON},
    {"html", required_argument, NULL, OPTION_HTML},
    {"ranks", required_argument, NULL, OPTION_RANKS},
    {"comm", required_argument, NULL, OPTION_COMM},
    {"hosts", required_argument, NULL, OPTION_HOSTS},
    {"via", required_argument, NULL, OPTION_VIA},
    {"wait", required_argument, NULL, OPTION_WAIT},
    {"fanout", required_argument, NULL, OPTION_FANOUT},
    {"all", no_argument, NULL, OPTION_ALL},
    {"stop", no_argument, NULL, OPTION_STOP},
    {"pause", required_argument, NULL, OPTION_PAUSE},
    {"dll", required_argument, NULL, OPTION_DLL},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"stall-after", required_argument, NULL, OPTION_STALL_AFTER},
    {"hang-after", required_argument, NULL, OPTION_HANG_AFTER},
    {"keep", no_argument, NULL, OPTION_KEEP},
    {"strict", no_argument, NULL, OPTION_STRICT},
    {"check", optional_argument, NULL, OPTION_CHECK},
    {"snapshot", required_argument, NULL, OPTION_SNAPSHOT},
    {"objects", required_argument, NULL, OPTION_OBJECTS},
    {"options-with-values", no_argument, NULL, OPTION_LIST}, /* gdb's */
    {"json-to", required_argument, NULL, OPTION_JSON_TO},
    {"wire", required_argument, NULL, OPTION_WIRE}, /* gdb's: see docs/WIRE.md */
    {"at", required_argument, NULL, OPTION_AT},
    {"otf2", required_argument, NULL, OPTION_OTF2},
    {"plain", no_argument, NULL, OPTION_PLAIN},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const struct {
    const char *word;
    enum command command;
} commands[] = {
    {"report", COMMAND_REPORT}, {"why", COMMAND_WHY},           {"collectives", COMMAND_COLLECTIVES},
    {"queues", COMMAND_QUEUES}, {"comms", COMMAND_COMMS},       {"ranks", COMMAND_RANKS},
    {"doctor", COMMAND_DOCTOR}, {"snapshot", COMMAND_SNAPSHOT}, {"run", COMMAND_RUN},
    {"ask", COMMAND_ASK},       {"history", COMMAND_HISTORY},   {"late", COMMAND_LATE},
    {"watch", COMMAND_WATCH},
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

static bool parse_fanout(const char *text, unsigned *ret)
{
    char rest;
    unsigned value;
    if (strlen(text) > 6 || sscanf(text, "%u%c", &value, &rest) != 1 || value == 0)
        return false;
    *ret = value;
    return true;
}

/* For gdb, whose commands take the same options: those that another word follows. */
static int list_options(void)
{
    puts("-o");
    for (const struct option *row = long_options; row->name; row++) {
        if (row->has_arg == required_argument)
            printf("--%s\n", row->name);
    }
    return EXIT_FINE;
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

/* One option; -1 to go on. */
static int take_option(int option, struct command_line *line)
{
    switch (option) {
    case OPTION_JSON:
        line->render.format = MPIQ_FORMAT_JSON;
        return -1;
    case OPTION_JSON_TO:
        line->json = optarg;
        return -1;
    case OPTION_HTML:
        line->html = optarg;
        return -1;
    case OPTION_RANKS:
        line->render.ranks = optarg;
        return -1;
    case OPTION_COMM: /* collectives and comms take it: see check_options */
        line->render.comm = optarg;
        return -1;
    case OPTION_HOSTS:
        line->options.hosts = optarg;
        return -1;
    case OPTION_VIA:
        line->options.via = optarg;
        return -1;
    case OPTION_WAIT:
        return parse_seconds(optarg, &line->options.wait) && line->options.wait > 0
                   ? -1
                   : refuse("--wait takes seconds, not '%s'", optarg);
    case OPTION_FANOUT:
        return parse_fanout(optarg, &line->options.fanout)
                   ? -1
                   : refuse("--fanout takes a number of hosts, not '%s'", optarg);
    case OPTION_ALL:
        line->render.all = true;
        return -1;
    case OPTION_STOP:
        line->options.stop = true;
        return -1;
    case OPTION_PAUSE:
        return parse_seconds(optarg, &line->options.pause)
                   ? -1
                   : refuse("--pause takes seconds, not '%s'", optarg);
    case OPTION_STALL_AFTER:
        line->stall_given = true;
        return parse_seconds(optarg, &line->options.stall_after)
                   ? -1
                   : refuse("--stall-after takes seconds, not '%s'", optarg);
    case OPTION_HANG_AFTER:
        line->hang_given = true;
        return parse_seconds(optarg, &line->hang_after) && line->hang_after >= HANG_AFTER_LEAST
                   ? -1
                   : refuse("--hang-after takes 5 seconds or more, not '%s'", optarg);
    case OPTION_DLL:
        line->options.dll = optarg;
        return -1;
    case OPTION_COLOR:
        line->color = optarg;
        if (strcmp(optarg, "auto") == 0 || strcmp(optarg, "always") == 0 || strcmp(optarg, "never") == 0)
            return -1;
        return refuse("--color takes auto, always or never, not '%s'", optarg);
    case OPTION_KEEP:
        line->keep = true;
        return -1;
    case OPTION_STRICT:
        line->strict = true;
        return -1;
    case OPTION_CHECK:
        line->check = true;
        line->leaks = line->leaks || optarg;
        return !optarg || strcmp(optarg, "leaks") == 0
                   ? -1
                   : refuse("--check takes =leaks or nothing, not '%s'", optarg);
    case OPTION_SNAPSHOT:
        line->output = optarg;
        line->snapshot_given = true;
        return -1;
    case OPTION_OBJECTS:
        if (!is_directory(optarg))
            return refuse("--objects takes a directory, not '%s'", optarg);
        return add_objects(optarg) ? -1 : refuse("cannot use the directory '%s'", optarg);
    case OPTION_LIST:
        return list_options();
    case OPTION_OTF2:
        line->otf2 = optarg;
        return -1;
    case OPTION_PLAIN:
        line->plain = true;
        return -1;
    case OPTION_INTERVAL:
        return parse_seconds(optarg, &line->interval) && line->interval >= 0.1
                   ? -1
                   : refuse("--interval takes 0.1 seconds or more, not '%s'", optarg);
    case OPTION_AT:
        return parse_seconds(optarg, &line->options.at)
                   ? -1
                   : refuse("--at takes seconds after the trace's start, not '%s'", optarg);
    case OPTION_WIRE:
        return parse_wire(optarg, line) ? -1 : refuse("--wire takes two descriptors, not '%s'", optarg);
    case 'o':
        line->output = optarg;
        return -1;
    case 'h':
        return put_out(NULL, help);
    case 'V':
        return put_out(NULL, "mpiq " MPIQ_VERSION "\n");
    default:
        return EXIT_USAGE; /* refuse_option says which */
    }
}

/* What getopt could not make sense of: word is where it has come to. */
static int refuse_option(int option, const char *word)
{
    if (optopt > 0 && optopt < OPTION_JSON && option == '?')
        return refuse("there is no option '-%c'", optopt);
    if (option == ':')
        return refuse("%s needs a value", word);
    if (optopt)
        return refuse("%.*s takes no value", (int)strcspn(word, "="), word);
    int like = 0;
    for (const struct option *row = long_options; row->name && word[0] == '-'; row++)
        like += strncmp(row->name, word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "=")) == 0;
    return refuse(like > 1 ? "'%s' is ambiguous" : "there is no option '%s'", word);
}

static bool is_pid_or_file(const char *word)
{
    return word[strspn(word, "0123456789")] == '\0' || strpbrk(word, "/.:") || access(word, F_OK) == 0;
}

/* The command word, if the first argument is one. */
static int take_command(int argc, char **argv, struct command_line *line)
{
    const char *word = optind < argc ? argv[optind] : "report";
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(word, commands[i].word) == 0) {
            line->command = commands[i].command;
            optind += optind < argc;
            return -1;
        }
    }
    return is_pid_or_file(word) ? -1 : refuse("there is no command '%s'", word);
}

/* Options that would have no effect are refused: the user expected something of them. */
static int check_options(const struct command_line *line)
{
    bool renders = line->command != COMMAND_SNAPSHOT && line->command != COMMAND_DOCTOR;
    if (line->command != COMMAND_RUN &&
        (line->keep || line->hang_given || line->strict || line->check || line->snapshot_given))
        return refuse("%s goes with run only", line->snapshot_given ? "--snapshot"
                                               : line->keep         ? "--keep"
                                               : line->strict       ? "--strict"
                                               : line->check        ? "--check"
                                                                    : "--hang-after");
    if (line->stall_given && (!renders || line->command == COMMAND_RUN))
        return refuse("--stall-after has no meaning with %s", line->command == COMMAND_RUN
                                                                  ? "run: see --hang-after"
                                                              : line->command == COMMAND_DOCTOR ? "doctor"
                                                                                                : "snapshot");
    if (line->command != COMMAND_COLLECTIVES && line->command != COMMAND_COMMS && line->render.comm)
        return refuse("--comm goes with collectives and comms only");
    if ((line->plain || line->interval > 0) && line->command != COMMAND_WATCH)
        return refuse("%s goes with watch only", line->plain ? "--plain" : "--interval");
    if (line->command == COMMAND_WATCH &&
        (line->html || line->json || line->render.format == MPIQ_FORMAT_JSON))
        return refuse("watch shows looks: --html and --json go with report");
    if (line->otf2 && line->command != COMMAND_HISTORY && line->command != COMMAND_RUN)
        return refuse("--otf2 goes with history and run only");
    if (line->command == COMMAND_LATE && (line->html || line->render.ranks || line->options.at >= 0))
        return refuse("late takes no %s", line->html ? "--html" : line->render.ranks ? "--ranks" : "--at");
    if (line->command != COMMAND_SNAPSHOT && line->output && !line->snapshot_given)
        return refuse("-o goes with snapshot only");
    if (line->command == COMMAND_RUN && line->render.format == MPIQ_FORMAT_JSON)
        return refuse("run leaves stdout to the job: --json-to FILE writes JSON");
    if (!renders && (line->html || line->render.format == MPIQ_FORMAT_JSON))
        return refuse("%s cannot answer in %s", line->command == COMMAND_DOCTOR ? "doctor" : "snapshot",
                      line->html ? "HTML" : "JSON");
    if (!renders && line->render.ranks)
        return refuse("%s is about all ranks: it takes no --ranks",
                      line->command == COMMAND_DOCTOR ? "doctor" : "snapshot");
    if (line->html && line->render.format == MPIQ_FORMAT_JSON)
        return refuse("use --json or --html, not both");
    return -1;
}

/* What would be found wrong when all ranks have been read. */
static int check_values(const struct command_line *line)
{
    const char *const paths[] = {line->html, line->json, line->output};
    struct mpiq_error *error = line->render.ranks ? mpiq_check_ranks(line->render.ranks) : NULL;
    if (!error)
        error = mpiq_check_dll(&line->options);
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !error; i++)
        error = paths[i] ? mpiq_check_output(paths[i]) : NULL;
    if (!error)
        return -1;
    say_error(error);
    return EXIT_USAGE;
}

/* A number that is no process's: somebody expects an answer on two ranks. */
static bool is_rank(const char *word)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s", word);
    return word[strspn(word, "0123456789")] == '\0' && (strlen(word) > 20 || access(path, F_OK) != 0);
}

static int check(int argc, char **argv, struct command_line *line)
{
    int status = check_options(line);
    if (status < 0)
        status = check_values(line);
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
            return refuse("%s takes one rank: '%s' is no pid of a process here", word, argv[optind]);
    }
    if (line->command == COMMAND_ASK) {
        if (optind == argc)
            return refuse("ask needs a question");
        line->question = argv[optind++];
    }
    if (line->command == COMMAND_SNAPSHOT && !line->output)
        return refuse("snapshot needs a file: mpiq snapshot -o job.mpiq");
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

int parse_command_line(int argc, char **argv, struct command_line *ret)
{
    *ret = (struct command_line){.options = MPIQ_OPTIONS_DEFAULT,
                                 .render = MPIQ_RENDER_OPTIONS_DEFAULT,
                                 .hang_after = 300,
                                 .color = "auto"};
    /* Options may follow the command and the targets.  But after "run", the first word that is not an option
       begins the user's command line. */
    bool run = argc > 1 && strcmp(argv[1], "run") == 0;
    int skip = run ? 1 : 0, option, status = -1;
    optind = 1;
    opterr = 0;
    while (status < 0 && (option = getopt_long(argc - skip, argv + skip, run ? "+:o:hV" : ":o:hV",
                                               long_options, NULL)) != -1)
        status = option == '?' || option == ':' ? refuse_option(option, argv[skip + optind - 1])
                                                : take_option(option, ret);
    optind += skip;
    if (run)
        ret->command = COMMAND_RUN;
    else if (status < 0)
        status = take_command(argc, argv, ret);
    if (status >= 0)
        return status;
    ret->options.wires = ret->wires;
    if (ret->html && ret->render.format != MPIQ_FORMAT_JSON)
        ret->render.format = MPIQ_FORMAT_HTML;
    ret->render.color = wants_color(ret);
    return check(argc, argv, ret);
}
