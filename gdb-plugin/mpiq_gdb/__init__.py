# SPDX-License-Identifier: BSD-3-Clause
"""gdb's mpi commands.

gdb has the process: its memory, symbols, types and stacks.  mpiq has the understanding.  A command here
starts mpiq, serves it gdb's inferiors over the wire (docs/WIRE.md) and shows its answer; nothing in this
package knows how an MPI library looks inside.

    settings   inferiors   user_frame           what gdb is set to and holds
    symbols    types       stacks    process    one inferior, as the wire asks about it
    wire       mpiq        command              the protocol, the process behind it, what commands share
    report … snapshot, attach, rank, functions  the commands, one module a subject
"""

import os

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load():
    """Registers the commands, settings and convenience functions with gdb."""
    from . import process, settings
    from . import report, why, collectives, queues, comms, ranks, job_stacks, history, snapshot
    from . import message, attach, rank, functions, handles
    for module in (process, settings, report, why, collectives, queues, comms, ranks, job_stacks, history, snapshot,
                   message, attach, rank, functions, handles):
        module.register()
