/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_rows.h"

#include "command_line.h"

/* Those that look at a job. */
#define VIEWS                                                                                  \
    (ONE(COMMAND_REPORT) | ONE(COMMAND_WHY) | ONE(COMMAND_COLLECTIVES) | ONE(COMMAND_QUEUES) | \
     ONE(COMMAND_COMMS) | ONE(COMMAND_RANKS) | ONE(COMMAND_STACKS) | ONE(COMMAND_HISTORY))
#define WATCH ONE(COMMAND_WATCH)
#define RUN ONE(COMMAND_RUN)
#define READERS (VIEWS | ONE(COMMAND_SNAPSHOT) | ONE(COMMAND_DOCTOR) | ONE(COMMAND_ASK) | RUN | WATCH)

#define PLACE(member) offsetof(struct command_line, member)

const struct option_row option_rows[] = {
    {"json", 0, VALUE_NONE, NULL, PLACE(as_json), VIEWS | ONE(COMMAND_LATE), 0, NULL,
     "print the answer as JSON"},
    {"html", 0, VALUE_OUTPUT, "FILE", PLACE(html), VIEWS | ONE(COMMAND_LATE) | RUN, 0, NULL,
     "write the answer to FILE as a page"},
    {"json-to", 0, VALUE_OUTPUT, "FILE", PLACE(json), VIEWS | RUN, 0, NULL,
     "write the answer to FILE as JSON, beside the text"},
    {"ranks", 0, VALUE_RANKS, "LIST", PLACE(render.ranks), VIEWS | RUN | WATCH, 0, NULL,
     "show only these ranks: 0-3,7 or 0-46:2"},
    {"comm", 0, VALUE_TEXT, "NAME", PLACE(render.comm), ONE(COMMAND_COLLECTIVES) | ONE(COMMAND_COMMS), 0,
     NULL, "show only this communicator, by name or number"},
    {"hosts", 0, VALUE_TEXT, "LIST", PLACE(options.hosts), READERS, 0, NULL,
     "read the job's ranks on these hosts: n1,n2,n3 (by ssh)"},
    {"via", 0, VALUE_TEXT, "COMMAND", PLACE(options.via), READERS, 0, NULL,
     "with --hosts: the command that reaches a host: 'rsh {host}'"},
    {"wait", 0, VALUE_SECONDS, "SECONDS", PLACE(options.wait), READERS, 0.001, NULL,
     "time a host may take for each look (30)"},
    {"fanout", 0, VALUE_NUMBER, "NUMBER", PLACE(options.fanout), READERS, 0, NULL,
     "how many hosts to connect to at a time (64)"},
    {"all", 0, VALUE_NONE, NULL, PLACE(render.all), READERS, 0, NULL,
     "show the library's internal traffic too"},
    {"threads", 0, VALUE_NONE, NULL, PLACE(options.all_threads), ONE(COMMAND_STACKS) | ONE(COMMAND_SNAPSHOT),
     0, NULL, "read all threads of each rank, also those that say nothing about MPI"},
    {"stop", 0, VALUE_NONE, NULL, PLACE(options.stop), READERS & ~WATCH, 0, NULL,
     "stop each process while it is read"},
    {"pause", 0, VALUE_SECONDS, "SECONDS", PLACE(options.pause), READERS, 0, NULL,
     "time between the two looks (0.25)"},
    {"dll", 0, VALUE_LIBRARY, "PATH", PLACE(options.dll), READERS, 0, NULL,
     "read all ranks with this message-queue library"},
    {"objects", 0, VALUE_OBJECTS, "DIR", 0, READERS, 0, NULL,
     "for core files: programs and libraries may be opened below DIR"},
    {"color", 0, VALUE_CHOICE, "WHEN", PLACE(color), ALL_COMMANDS, 0, "auto always never",
     "auto, always or never"},
    {"at", 0, VALUE_SECONDS, "SECONDS", PLACE(options.at), READERS & ~RUN, 0, NULL,
     "for a trace: what the ranks do so long after its start"},
    {"stall-after", 0, VALUE_SECONDS, "SECONDS", PLACE(options.stall_after), VIEWS | WATCH, 0, NULL,
     "call a job stalled after this long without progress (60)"},
    {"otf2", 0, VALUE_NEW_DIRECTORY, "DIR", PLACE(otf2), ONE(COMMAND_HISTORY) | RUN, 0, NULL,
     "write the last calls of all ranks (run: of a job that hangs) as an OTF2 trace"},
    {"output", 'o', VALUE_OUTPUT, "FILE", PLACE(output), ONE(COMMAND_SNAPSHOT), 0, NULL, "the file to write"},
    {"plain", 0, VALUE_NONE, NULL, PLACE(plain), WATCH | ONE(COMMAND_HISTORY) | RUN, 0, NULL,
     "no screen: watch prints a line for each look, run --step takes its keys as lines from standard input; "
     "history: ASCII alone"},
    {"interval", 0, VALUE_SECONDS, "SECONDS", PLACE(interval), WATCH, 0.1, NULL,
     "time from look to look (looking takes 1 % of a processor)"},
    {"hang-after", 0, VALUE_SECONDS, "SECONDS", PLACE(hang_after), RUN, HANG_AFTER_LEAST, NULL,
     "end a job in which nothing has moved for this long (300)"},
    {"keep", 0, VALUE_NONE, NULL, PLACE(keep), RUN, 0, NULL, "report a hung job, but do not end it"},
    {"snapshot", 0, VALUE_OUTPUT, "FILE", PLACE(output), RUN, 0, NULL,
     "where a hung job's snapshot goes (mpiq-JOBID.mpiq)"},
    {"strict", 0, VALUE_NONE, NULL, PLACE(strict), RUN, 0, NULL,
     "sends wait for their receive and collectives for all members, so that a program that finishes only by "
     "luck "
     "hangs"},
    {"check", 0, VALUE_CHECK, "leaks", PLACE(check), RUN, 0, "leaks",
     "when the job ends, report lost messages, requests never completed, calls that do not agree, objects "
     "never "
     "freed; =leaks: objects never freed are errors, too"},
    {"step", 0, VALUE_NONE, NULL, PLACE(step), RUN, 0, NULL,
     "for learners: hold each rank before each MPI call, until a key lets it go on"},
    {"break", 0, VALUE_BREAK, "WHERE", PLACE(breaks), RUN, 0, NULL,
     "with --step, a breakpoint: MPI_Bcast, ring.c:20, comm=rows, rank=3 (as often as you like)"},
    {"help", 'h', VALUE_HELP, NULL, 0, ALL_COMMANDS, 0, NULL, "show the page on a command"},
    {"version", 'V', VALUE_VERSION, NULL, 0, ALL_COMMANDS, 0, NULL, "show the version"},
    {"wire", 0, VALUE_WIRE, "IN,OUT", 0, READERS, 0, NULL, NULL},
    {"options-with-values", 0, VALUE_LIST, NULL, 0, ALL_COMMANDS, 0, NULL, NULL}, /* gdb's */
    {0},
};

bool option_needs_value(const struct option_row *row)
{
    return row->value && row->kind != VALUE_CHECK;
}
