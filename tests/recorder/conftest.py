# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks of a program under the recorder, on each MPI library that is here, read through the recorder's DLL."""
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest
from built import built, recorder

HERE = pathlib.Path(__file__).resolve().parent


def dump(pid):
    return json.loads(subprocess.run([built("tests/rank/rank-dump"), pid], check=True, capture_output=True).stdout)


@pytest.fixture(name="states", params=["mpich", "openmpi"])
def fixture_states(request, tmp_path):
    """The states of the two ranks of the module's PROGRAM, in the order of ranks: once both have said that they are
    ready, and the module's settled() is true of them, if it has one."""
    library, source = request.param, HERE / request.module.PROGRAM
    settled = getattr(request.module, "settled", lambda states: True)
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    program, ready = tmp_path / source.stem, tmp_path / "ready"
    subprocess.run([f"mpicc.{library}", "-g", "-o", program, source], check=True)
    environment = {**os.environ, "MPIQ_RECORDER": str(recorder()),
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    mpirun = HERE / "prefix" / library / "bin" / "mpirun"
    with subprocess.Popen([mpirun, "--oversubscribe", "-n", "2", program, ready], env=environment) as job:
        try:
            end = time.monotonic() + 60
            states = []
            while len(states) < 2 or not settled(states):
                assert job.poll() is None and time.monotonic() < end
                time.sleep(0.05)
                pids = dict(line.split() for line in ready.read_text().splitlines()) if ready.exists() else {}
                states = [dump(pids[rank]) for rank in "01"] if len(pids) == 2 else []
            yield states
        finally:
            job.terminate()
