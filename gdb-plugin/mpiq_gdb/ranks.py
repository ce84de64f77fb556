# SPDX-License-Identifier: BSD-3-Clause
"""mpi ranks"""

from . import command


class Ranks(command.Question):
    """One line per rank: its process, and where it is.
Usage: mpi ranks [--ranks LIST] [--json] [TARGET]...

"mpi rank N" goes to one of them.  TARGET is as for "mpi report"."""

    subcommand = "ranks"


def register():
    Ranks()
