# SPDX-License-Identifier: BSD-3-Clause
"""mpi comms"""

from . import command


class Comms(command.Question):
    """Communicators and their members.
Usage: mpi comms [--all] [--json] [TARGET]...

With --all (or "set mpi internal on") those that the MPI library keeps for itself
are shown too.  TARGET is as for "mpi report"."""

    subcommand = "comms"


def register():
    Comms()
