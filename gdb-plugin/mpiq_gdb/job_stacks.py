# SPDX-License-Identifier: BSD-3-Clause
"""mpi stacks"""

from . import command


class Stacks(command.Question):
    """The stacks of all ranks as one tree, the rarest branch first.
Usage: mpi stacks [--all] [--threads] [--ranks LIST] [--json] [TARGET]...

What ranks share stands once.  Where they part, each branch says which ranks are in
it.  With --all the frames inside the MPI library are shown where they differ, too.
With --threads all threads of each rank are shown, not only those in MPI.
TARGET is as for "mpi report"."""

    subcommand = "stacks"


def register():
    Stacks()
