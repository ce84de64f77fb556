# SPDX-License-Identifier: BSD-3-Clause
"""The commands on an MPICH job under mpiq's recorder: what gdb says of a library that knows nothing of mpiq."""
import os
import shutil

import pytest

import gdb_session
from hung_job import HERE, HungJob
from support import libraries
from support.built import recorder

RANKS = 4
PREFIX = HERE.parent / "recorder" / "prefix" / "mpich"


@pytest.fixture(scope="module", name="recorded")
def fixture_recorded(tmp_path_factory):
    if not shutil.which("mpicc.mpich"):
        pytest.skip("mpicc.mpich is not installed")
    os.environ.setdefault("MPIQ_RECORDER", str(recorder()))
    line = libraries.Line("4.1", PREFIX)
    program = line.compile([HERE / "wrong_turn.c"], tmp_path_factory.mktemp("mpich") / "wrong_turn")
    with HungJob(line, [program], RANKS) as job:
        yield job.stuck()


def says(mpiq, job, command):
    said = gdb_session.run([command], pid=job.pids[1], MPIQ=mpiq)
    return said.out


def test_report(recorded, mpiq):
    text = says(mpiq, recorded, "mpi report")
    assert "deadlock: none of the 4 ranks can continue (MPICH " in text and "recorder" in text
    one = next(line for line in text.splitlines() if line.lstrip().startswith("rank 1 "))
    assert "MPI_Recv" in one and "wrong_turn.c:" in one and "waits for tag 99 from rank 3" in one, text
    assert "collective 7 on MPI_COMM_WORLD" in text
    # Rank 3 went on to the next line without sending, which is why rank 1 never comes.
    assert "1. Rank 3 never sent the message with tag 99 that rank 1 is waiting for." in text


def test_queues(recorded, mpiq):
    """The receive that hangs, and the message that nobody has received."""
    text = says(mpiq, recorded, "mpi queues")
    receives, unexpected = text.split("Posted receives")[1].split("Unexpected messages")
    assert "MPI_COMM_WORLD" in receives and " 99 " in receives, text
    assert "MPI_COMM_WORLD" in unexpected and " 7 " in unexpected, text


def test_collectives(recorded, mpiq):
    text = says(mpiq, recorded, "mpi collectives")
    bcast = next(line for line in text.splitlines() if "MPI_Bcast" in line)
    assert "0,2-3" in text and " 6 " in f"{bcast} ", text


def test_history(recorded, mpiq):
    text = says(mpiq, recorded, "mpi history 1")
    assert "Last MPI calls of rank 1" in text
    last = [line for line in text.splitlines() if "MPI_" in line][-1]
    assert "MPI_Recv" in last and "so far" in last and "wrong_turn.c:" in last, text
