# SPDX-License-Identifier: BSD-3-Clause
"""mpi collectives [COMM]"""

import os

import gdb

from . import command, job


def _is_target(word):
    """Whether it is a pid, or files: no communicator then."""
    return word.isdigit() or "/" in word or os.path.exists(word) or command.is_pattern(word)


class Collectives(command.Question):
    """How often each rank called each collective, and which ranks are in one now.
Usage: mpi collectives [COMM] [--ranks LIST] [--json] [TARGET]...

COMM is the name of a communicator, in quotes if it contains spaces; without COMM all
are shown.  TARGET is as for "mpi report"."""

    subcommand = "collectives"

    def sort(self, words):
        names = [word for word in words if not _is_target(word)]
        if len(names) > 1:
            raise gdb.GdbError("mpi collectives takes one communicator, not %d: a name with spaces goes in quotes"
                               % len(names))
        targets = [word for word in words if word not in names]
        return ["--comm", names[0]] if names else [], [], targets

    def complete(self, text, word):
        return job.complete_communicator(text, word)


def register():
    Collectives()
