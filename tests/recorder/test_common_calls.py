# SPDX-License-Identifier: BSD-3-Clause
"""The common calls through mpif.h, `use mpi`, `use mpi_f08` and mpi4py: the recorder notes each as it was called."""
import collections
import os
import shutil
import subprocess

import pytest

from test_every_call import HERE, Call, history_of, is_collective, states_of

WORLD, ROW = "MPI_COMM_WORLD", "row"
FORTRAN = {"mpif": "-DBY_MPIF", "module": "-DBY_MODULE", "f08": "-DBY_F08"}


def expected(other):
    """Name, communicator, peer or root, tag, bytes."""
    calls = [("Comm_dup", WORLD), ("Comm_set_name", ROW),
             ("Irecv", ROW, other, 1, 32), ("Send", ROW, other, 1, 12), ("Wait", ROW, other, 1),
             ("Isend", ROW, other, 2, 8), ("Recv", ROW, other, 2, 8), ("Wait", ROW, other, 2),
             ("Sendrecv", ROW, other, 3, 16),
             ("Send", WORLD, other, 4, 20), ("Probe", WORLD, other, 4), ("Recv", WORLD, other, 4, 20),
             ("Recv_init", ROW, other, 5, 24), ("Ssend_init", ROW, other, 5, 24), ("Startall", None), ("Waitall", None),
             ("Request_free", ROW, other, 5), ("Request_free", ROW, other, 5),
             ("Barrier", WORLD), ("Bcast", WORLD, 1, None, 16), ("Reduce", WORLD, 0, None, 8),
             ("Allreduce", WORLD, None, None, 12), ("Gather", WORLD, 1, None, 4), ("Scatter", WORLD, 0, None, 8),
             ("Allgather", WORLD, None, None, 12), ("Alltoall", WORLD, None, None, 16), ("Scan", WORLD, None, None, 20),
             ("Iallreduce", ROW, None, None, 24), ("Wait", ROW), ("Ibarrier", ROW), ("Wait", ROW),
             ("Comm_split", WORLD), ("Comm_free", None),
             ("Irecv", ROW, other, 31, 28), ("Recv_init", ROW, other, 32, 32)]
    return [Call(*(f"MPI_{name}", None, *rest, *[None] * (4 - len(rest)))) for name, *rest in calls]


def check(states):
    for rank, state in enumerate(states):
        calls = expected(1 - rank)
        assert [call._replace(line=None) for call in history_of(state)] == calls
        for comm in state["communicators"]:
            counts = {one["collective"]: one["count"] for one in comm.get("counts", [])}
            assert counts == collections.Counter(call.name for call in calls if call.comm == comm["name"] and
                                                 is_collective(call.name))
        left = {one["tag"]: (one["peer_local"], one["bytes"], one.get("inactive", False))
                for one in state["operations"]}
        assert left == {31: (1 - rank, 28, False), 32: (1 - rank, 32, True)}


@pytest.mark.parametrize("kind", FORTRAN)
@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_fortran(library, kind, tmp_path):
    if not shutil.which(f"mpif90.{library}"):
        pytest.skip(f"mpif90.{library} is not installed")
    program = tmp_path / "common_calls"
    subprocess.run([f"mpif90.{library}", "-g", "-w", "-fallow-argument-mismatch", FORTRAN[kind], f"-J{tmp_path}", "-o",
                    program, HERE / "common_calls.F90"], check=True)
    check(states_of(library, [program, tmp_path / "ready"], tmp_path, os.environ))


def test_python(tmp_path):
    python = "/usr/bin/python3"
    known = subprocess.run([python, "-c", "import mpi4py"], capture_output=True, check=False)
    if known.returncode or not shutil.which("mpirun.openmpi"):
        pytest.skip("there is no mpi4py here")
    check(states_of("openmpi", [python, HERE / "common_calls.py", tmp_path / "ready"], tmp_path, os.environ))
