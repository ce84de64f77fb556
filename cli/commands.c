/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

#include <stdio.h>
#include <string.h>

const struct command_row command_rows[] = {
    {COMMAND_REPORT,
     "report",
     "",
     TAKES_TARGETS,
     "what is stuck and why (the default)",
     "The first line is the verdict: deadlock, stalled, running, finished or unknown.  Then come the causes, "
     "each "
     "with the ranks that show it, what follows from it, and the rank to look at first.",
     {{"mpiq", "says why your only MPI job on this machine hangs"},
      {"mpiq report --html page.html slurm:4711", "writes the report on a Slurm job as a page"}}},
    {COMMAND_WHY,
     "why",
     "RANK",
     TAKES_RANK,
     "the chain of waits from one rank to the cause",
     "Follows what RANK waits for from rank to rank, up to the cause.  A rank of a spawned world is written "
     "w1:3.",
     {{"mpiq why 3", "says what rank 3 of your only MPI job waits for, and who has to act"},
      {"mpiq why 0 core.*", "says it of rank 0 of a job that has left core files"}}},
    {COMMAND_COLLECTIVES,
     "collectives",
     "",
     TAKES_TARGETS,
     "how often each rank called each collective, and who is in one",
     "One table for each communicator: how often its members called each collective, and which of them are "
     "in one "
     "now.  Counts need the patch or the recorder.",
     {{"mpiq collectives", "shows all communicators of your only MPI job"},
      {"mpiq collectives --comm MPI_COMM_WORLD 12345", "shows one of them, of the job of process 12345"}}},
    {COMMAND_QUEUES,
     "queues",
     "",
     TAKES_TARGETS,
     "pending sends, posted receives, unexpected messages",
     "What the MPI library of each rank holds in its message queues: envelopes only, never contents.",
     {{"mpiq queues --ranks 0-3,7", "shows the queues of five ranks"},
      {"mpiq queues --json job.mpiq", "prints those of a snapshot as JSON"}}},
    {COMMAND_COMMS,
     "comms",
     "",
     TAKES_TARGETS,
     "communicators and their members",
     "Name, size and members of each communicator, with the number by which --comm takes it.",
     {{"mpiq comms", "lists the communicators of your only MPI job"},
      {"mpiq comms --all 12345", "lists the library's own, too"}}},
    {COMMAND_RANKS,
     "ranks",
     "",
     TAKES_TARGETS,
     "one line for each rank: where it is",
     "Pid, host, state, MPI call and place in the source of each rank.",
     {{"mpiq ranks", "shows all ranks of your only MPI job"},
      {"mpiq ranks --ranks 0-46:2 slurm:4711", "shows every second rank of a Slurm job"}}},
    {COMMAND_STACKS,
     "stacks",
     "",
     TAKES_TARGETS,
     "the stacks of all ranks as one tree, the rarest branch first",
     "What ranks share stands once; where they part, each branch says which ranks are in it.  Of each rank "
     "it "
     "has the threads that are in MPI, else the first one.  Where waiting ranks differ only inside the MPI "
     "library their places are counted; --all shows them.",
     {{"mpiq stacks", "shows where all ranks of your only MPI job are, inside MPI and outside"},
      {"mpiq stacks --threads --ranks 3 slurm:4711", "shows all threads of one rank of a Slurm job"}}},
    {COMMAND_HISTORY,
     "history",
     "RANKS",
     TAKES_RANK,
     "their last MPI calls: all under the recorder, collectives with the patch",
     "The last MPI calls of each of RANKS (3, or 0-3,7) with time, duration, communicator, peer, tag, bytes "
     "and source "
     "line.  Under the recorder these are all calls, with a patched library the collectives.  Of a loop, the "
     "last round "
     "is shown, with how often it went round.  The last column says which receive took a message, and which "
     "send it came from.  With --otf2 and without RANKS, the calls of all ranks are "
     "written as a "
     "trace.",
     {{"mpiq history 0-3,7", "shows what five ranks called before they got stuck"},
      {"mpiq history --otf2 trace 12345", "writes the calls of all ranks as trace/traces.otf2"}}},
    {COMMAND_LATE,
     "late",
     "TRACE",
     TAKES_TARGETS,
     "where the ranks of an OTF2 trace lost time waiting, and who was late",
     "Wait states with Scalasca's names and formulas, and what each delay cost the other ranks.",
     {{"mpiq late scorep-run/traces.otf2", "says who was late in a trace of Score-P"},
      {"mpiq late --json trace/traces.otf2", "prints it as JSON"}}},
    {COMMAND_WATCH,
     "watch",
     "",
     TAKES_TARGETS,
     "what the ranks do, again and again, on the whole screen; snapshots and traces are played back",
     "A cell for each rank, and below them who waits for whom; ? shows the keys.  It never stops a process, "
     "and goes on if a rank or a host "
     "is lost.  Of a list of snapshots each is a look; a trace is looked at in 60 steps from its start to "
     "its end, or every --interval SECONDS of it.",
     {{"mpiq watch", "shows your only MPI job on the whole terminal"},
      {"mpiq watch --plain slurm:4711", "prints one line for each look at a Slurm job"}}},
    {COMMAND_SNAPSHOT,
     "snapshot",
     "-o FILE",
     TAKES_TARGETS,
     "write what was read to a file, for later or for another machine",
     "A snapshot holds the state of all ranks and the envelopes of messages (peer, tag, size), never their "
     "contents.  Every other command takes it as a TARGET; several snapshots of one job are read as one.",
     {{"mpiq snapshot -o job.mpiq", "writes down your only MPI job on this machine"},
      {"mpiq report job.mpiq", "reports on it, on any machine"}}},
    {COMMAND_DOCTOR,
     "doctor",
     "",
     TAKES_TARGETS,
     "what this machine and this job allow, and what would help",
     "Says what mpiq may read here, how it would read each rank, and what to install or to set to know more.",
     {{"mpiq doctor", "looks at this machine and your MPI job on it"},
      {"mpiq doctor core.*", "says what can be read of core files"}}},
    {COMMAND_RECORD,
     "record",
     "-- PROGRAM...",
     TAKES_PROGRAM,
     "run an MPI program under the recorder",
     "Stands between the launcher and the program.  The recorder works with any MPI library, without "
     "compiling "
     "anything again, and makes reports as good as with the patch.",
     {{"mpirun -n 4 mpiq record -- ./solver", "starts four ranks under the recorder"},
      {"srun mpiq record -- ./solver input.dat", "does so in a Slurm job"}}},
    {COMMAND_RUN,
     "run",
     "-- COMMAND...",
     TAKES_PROGRAM,
     "start a job under the recorder, report when it hangs, and end it",
     "A job counts as hung if two looks prove a deadlock, or if nothing has moved for --hang-after seconds.  "
     "Then the "
     "report goes to standard error and to the files of --html and --json-to, a snapshot is left, and the "
     "job is "
     "ended.",
     {{"mpiq run -- mpirun -n 4 ./solver", "starts a job and watches it"},
      {"mpiq run --strict --check -- mpirun -n 4 ./solver",
       "finds bugs that only luck hides, and what is left over at the end"}}},
    {COMMAND_HELP,
     "help",
     "[COMMAND]",
     TAKES_COMMAND,
     "a page on one command, with examples; mpiq COMMAND --help is the same",
     "Without COMMAND, lists all commands and options.",
     {{"mpiq help", "lists all commands and options"}, {"mpiq help run", "shows the page on mpiq run"}}},
    {.command = COMMAND_COLLECT, .word = "collect", .operands = TAKES_PROGRAM},
    {.command = COMMAND_ASK, .word = "ask", .operands = TAKES_QUESTION},
    {.command = COMMAND_COMPLETION, .word = "completion", .operands = TAKES_COMMAND},
    {0},
};

const struct command_row *command_row(enum command command)
{
    const struct command_row *row = command_rows;
    while (row->command != command || !row->word)
        row++;
    return row;
}

const struct command_row *command_named(const char *word)
{
    for (const struct command_row *row = command_rows; row->word; row++) {
        if (strcmp(row->word, word) == 0)
            return row;
    }
    return NULL;
}

void name_commands(uint32_t commands, char *text, size_t size)
{
    size_t length = 0;
    int count = __builtin_popcount(commands);
    text[0] = '\0';
    for (const struct command_row *row = command_rows; row->word && length < size; row++) {
        if (!(commands & ONE(row->command)))
            continue;
        count--;
        const char *behind = count > 1 ? ", " : count == 1 ? " and " : "";
        length += (size_t)snprintf(&text[length], size - length, "%s%s", row->word, behind);
    }
}
