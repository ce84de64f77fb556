# SPDX-License-Identifier: BSD-3-Clause
"""mpi history RANK"""

import gdb

from . import command, job


class History(command.Question):
    """The last MPI calls of one rank.
Usage: mpi history RANK [--json] [TARGET]...

All calls for a rank under mpiq's recorder; only the last collectives with a patched
library.  TARGET is as for "mpi report"."""

    subcommand = "history"

    def sort(self, words):
        if not words:
            raise gdb.GdbError("mpi history needs a rank: mpi history 3")
        return [], words[:1], words[1:]

    def complete(self, text, word):
        return job.complete_rank(text, word)


def register():
    History()
