# SPDX-License-Identifier: BSD-3-Clause
"""mpi report"""

import gdb

from . import command, inferiors, job


def suspects(report):
    """The ranks to look at first, of the most important cause that names any; "" if none does."""
    for finding in report.get("findings", []):
        if finding.get("suspects") and "consequence_of" not in finding:
            return str(finding["suspects"])
    return ""


def _way_to(ranks):
    """A line that says how to go to the suspects."""
    first = job.first_rank(ranks)
    if first is None:
        return ""
    return "To go to rank %d: mpi rank %d\n" % (first, first)


class Report(command.Question):
    """What is stuck in the MPI job, and why.
Usage: mpi report [--ranks LIST] [--json] [--all] [TARGET]...

Without TARGET the report is about the job of gdb's process or core.  Attaching to one
rank is enough: the others are read without stopping them.  TARGET is the pid of
a launcher or of a rank, core files (core.*), or snapshots."""

    subcommand = "report"

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        options, targets = command.split_words(argument)
        if "--json" in options or targets:
            super().invoke(argument, from_tty)
            return
        # One look, shown twice: as text for the person, as JSON for the ranks to go to.
        with job.scratch_file() as kept:
            text = command.ask("report", ["--color", command.color(from_tty), "--json-to", kept] + options)
            command.check(text, "mpi report")
            gdb.write(text.output)
            found = suspects(job.learn_file(kept))
        if found and inferiors.attached():
            gdb.write("\n" + _way_to(found))


def register():
    Report()
