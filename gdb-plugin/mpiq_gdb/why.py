# SPDX-License-Identifier: BSD-3-Clause
"""mpi why RANK"""

import gdb

from . import command, job


class Why(command.Question):
    """Why one rank waits: the chain from it to the cause.
Usage: mpi why RANK [TARGET]...

TARGET is as for "mpi report"."""

    subcommand = "why"

    def sort(self, words):
        if not words:
            raise gdb.GdbError("mpi why needs a rank: mpi why 3")
        return [], words[:1], words[1:]

    def complete(self, text, word):
        return job.complete_rank(text, word)


def register():
    Why()
