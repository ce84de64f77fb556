# SPDX-License-Identifier: BSD-3-Clause
"""mpi rank N"""

import gdb

from . import attach, command, inferiors, job, user_frame, world


class Rank(gdb.Command):
    """Go to a rank: to the frame of your program that called MPI.
Usage: mpi rank [N]

Attaches to the rank if gdb has not (it stops then, until "mpi detach").  A rank that
is not in MPI is shown at the innermost frame of your program.  Without N it is the
rank that is selected now."""

    def __init__(self):
        super().__init__("mpi rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        words = gdb.string_to_argv(argument)
        if len(words) > 1 or (words and not words[0].isdigit()):
            raise gdb.GdbError("mpi rank takes one rank: mpi rank 3")
        if words:
            rank = int(words[0])
            inferior = attach.rank_inferior(rank)
        else:
            inferior = command.chosen_inferior()
            rank = world.rank_of(inferior)
        if inferiors.is_running(inferior):
            raise gdb.GdbError("rank %s, inferior %d, is running: stop it first" % (rank, inferior.num))
        user_frame.select(inferior)
        gdb.write("[Rank %s is inferior %d, process %d]\n"
                  % ("?" if rank is None else rank, inferior.num, inferior.pid))
        gdb.execute("frame")

    def complete(self, text, word):
        return job.complete_rank(text, word)


def register():
    Rank()
