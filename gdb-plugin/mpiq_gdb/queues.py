# SPDX-License-Identifier: BSD-3-Clause
"""mpi queues [RANK…]"""

from . import command, job


class Queues(command.Question):
    """Pending sends, posted receives and unexpected messages.
Usage: mpi queues [RANKS]... [--all] [--json] [FILE]...

RANKS, such as 0-3,7, leaves out the others.  With --all (or "set mpi internal on")
the internal messages of collectives are shown too.  FILE is a core file or a
snapshot.  "mpi message RANK" lists a rank's messages one by one, and shows their
contents."""

    subcommand = "queues"

    def sort(self, words):
        ranks = [word for word in words if command.is_ranks(word)]
        files = [word for word in words if word not in ranks]
        return ["--ranks", ",".join(ranks)] if ranks else [], [], files

    def complete(self, text, word):
        return job.complete_rank(text, word)


def register():
    Queues()
