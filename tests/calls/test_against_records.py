# SPDX-License-Identifier: BSD-3-Clause
"""What MPI calls were given by their callers' code, against what the recorder saw: hung programs of the corpus.

Nothing that is told may be wrong.  MPIQ_CALLS=all takes every program that hangs; else those of three families.
"""
import os
import shutil
import subprocess

import pytest
from support import call_records
from support import job as jobs
from support import libraries

import hung

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
