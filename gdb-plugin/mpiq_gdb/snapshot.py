# SPDX-License-Identifier: BSD-3-Clause
"""mpi snapshot FILE"""

import os

import gdb

from . import command


class Snapshot(command.Question):
    """Write what can be read of the job now to a file, for later or for another machine.
Usage: mpi snapshot FILE [TARGET]...

"mpi report FILE" shows it, here or on another machine.  It
holds envelopes of messages, never their contents."""

    subcommand = "snapshot"

    def sort(self, words):
        if not words:
            raise gdb.GdbError("mpi snapshot needs a file: mpi snapshot job.mpiq")
        return ["-o", os.path.expanduser(words[0])], [], words[1:]


def register():
    Snapshot()
