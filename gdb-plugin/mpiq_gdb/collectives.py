# SPDX-License-Identifier: BSD-3-Clause
"""mpi collectives"""

from . import command


class Collectives(command.Question):
    """How often each rank called each collective, and which ranks are in one now.
Usage: mpi collectives [--ranks LIST] [--json] [TARGET]...

TARGET is as for "mpi report"."""

    subcommand = "collectives"


def register():
    Collectives()
