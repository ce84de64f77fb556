# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the user's that are called like MPI's are the user's."""
import gdb_session
from hung_job import HERE, HungJob


def test_rank_goes_to_the_users_own_mpi_exchange(line, build_folder, mpiq):
    program = line.compile([HERE / "own_names.c"], build_folder / ("own_names-" + line.name))
    with HungJob(line, [program], 2) as job:
        job.stuck()
        said = gdb_session.run(["mpi rank 1", "info frame", "print value"], pid=job.pids[0], MPIQ=mpiq)
    assert " in mpi_exchange (rank=" in said.out, said.both
    assert "own_names.c:" in said.out
    assert "$1 = 1" in said.out
