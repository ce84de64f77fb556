# SPDX-License-Identifier: BSD-3-Clause
"""$mpi_rank(), $mpi_size(), $mpi_pid(RANK)"""

import gdb

from . import command, job, world


class RankFunction(gdb.Function):
    """$mpi_rank (): the selected inferior's rank in MPI_COMM_WORLD."""

    def __init__(self):
        super().__init__("mpi_rank")

    def invoke(self):
        chosen = command.chosen_inferior()
        rank = world.rank_of(chosen)
        if rank is None: # a launcher that does not put it into the environment
            rank = next((rank for rank, (pid, _) in job.processes().items() if pid == chosen.pid), None)
        if rank is None:
            raise gdb.GdbError("the rank of inferior %d is not known" % chosen.num)
        return rank


class SizeFunction(gdb.Function):
    """$mpi_size (): the number of ranks in the selected inferior's MPI_COMM_WORLD."""

    def __init__(self):
        super().__init__("mpi_size")

    def invoke(self):
        size = world.size_of(command.chosen_inferior())
        return len(job.processes()) if size is None else size


class PidFunction(gdb.Function):
    """$mpi_pid (RANK): the process of a rank of the selected inferior's job."""

    def __init__(self):
        super().__init__("mpi_pid")

    def invoke(self, rank):
        processes = job.processes()
        if int(rank) not in processes:
            raise gdb.GdbError("there is no rank %d in this job" % int(rank))
        return processes[int(rank)][0]


def register():
    RankFunction()
    SizeFunction()
    PidFunction()
