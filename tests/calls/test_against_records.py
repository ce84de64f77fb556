# SPDX-License-Identifier: BSD-3-Clause
"""What MPI calls were given by their callers' code, against what the recorder saw: hung programs of the corpus.

Nothing that is told may be wrong.  MPIQ_CALLS=all takes every program that hangs; else those of three families.
"""
import os
import pathlib
import shutil
import subprocess

import pytest
from support import call_records
from support import job as jobs
from support import libraries

import corpus
import hung

JUMP = pathlib.Path(__file__).with_name("jump.c")
LINES = ["openmpi+record", "mpich+record"]


@pytest.mark.parametrize("name", LINES)
def test_arguments_agree_with_records(name, mpiq, tmp_path):
    """No argument that is told differs from the recorder's, and some are told."""
    if not shutil.which(f"mpirun.{name.split('+', maxsplit=1)[0]}") or not shutil.which("zstd"):
        pytest.skip("the MPI library or zstd is not installed")
    line = libraries.line(name)
    wrong, told, requests = [], 0, 0
    for case, executable in hung.programs(line, tmp_path, os.environ.get("MPIQ_CALLS") == "all"):
        snapshot = tmp_path / f"{case.name}.mpiq"
        with jobs.Job(line, [executable, case.program], case.ranks) as job:
            job.wait_ready(case.ranks + case.get("spawned", 0))
            job.stand_still()
            job.step_back()
            subprocess.run([mpiq, "snapshot", "-o", snapshot, str(job.pid)], check=False, capture_output=True)
        differ, some, some_requests = call_records.differences_in(snapshot)
        wrong += [f"{case.name}, {text}" for text in differ]
        told, requests = told + some, requests + some_requests
    print(f"{name}: {told} arguments told, {requests} requests")
    assert not wrong, "\n".join(wrong)
    assert told > 0 and requests > 0


@pytest.mark.parametrize("name", LINES)
def test_a_variable_may_come_back_with_another_request(name, mpiq, tmp_path):
    """After a second return of setjmp() nothing is known of what was in memory at the first."""
    if not shutil.which(f"mpirun.{name.split('+', maxsplit=1)[0]}") or not shutil.which("zstd"):
        pytest.skip("the MPI library or zstd is not installed")
    line = libraries.line(name)
    executable = line.compile([JUMP, corpus.HERE / "corpus.c"], tmp_path / "jump", f"-I{corpus.HERE}")
    snapshot = tmp_path / "jump.mpiq"
    with jobs.Job(line, [executable, "waits_after_a_jump"], 2) as job:
        job.wait_ready()
        job.stand_still()
        job.step_back()
        subprocess.run([mpiq, "snapshot", "-o", snapshot, str(job.pid)], check=False, capture_output=True)
    wrong, _, _ = call_records.differences_in(snapshot)
    assert not wrong, "\n".join(wrong)
    assert any("MPI_Wait" in thread.get("mpi_call", "") for state in call_records.rank_states(snapshot)
               for thread in state.get("threads", []))
