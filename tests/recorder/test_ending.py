# SPDX-License-Identifier: BSD-3-Clause
"""A rank in MPI_Finalize may still act, as long as it runs the program's callbacks."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from support import conditions
from support.conditions import ended, wait_until

HERE = pathlib.Path(__file__).resolve().parent


def look(pid):
    """(verdict, exit status, the two ranks); without an answer, where no rank could be read in time, nothing is known of them."""
    answer = conditions.run([os.environ["MPIQ"], "--json", str(pid)])
    report = json.loads(answer.stdout or '{"verdict": "unknown", "ranks": [{}, {}]}')
    return report["verdict"], answer.returncode, *report["ranks"]


def is_at_work(rank):
    return (rank.get("state"), rank.get("call"), rank.get("site", {}).get("function")) == ("computing", None, "send_late")


@pytest.mark.parametrize("recorded", [True, False], ids=["recorder", "plain"])
@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_a_message_sent_in_finalize(library, recorded, tmp_path):
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    program, go = tmp_path / "ending", tmp_path / "go"
    subprocess.run([f"mpicc.{library}", "-g", "-o", program, HERE / "ending.c"], check=True)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "MPIQ_RECORDER": str(pathlib.Path(os.environ["MPIQ_BUILD"]) / "recorder/libmpiq_record.so")}
    mpirun = [HERE / "prefix" / library / "bin" / "mpirun"] if recorded else [f"mpirun.{library}"]
    if recorded or library == "openmpi":
        mpirun.append("--oversubscribe")
    told = recorded or library == "openmpi" # of MPICH by itself stacks are all there is
    expected = ("running", 0) if told else ("unknown", 3)
    with subprocess.Popen([*mpirun, "-n", "2", program, go], env=environment, text=True,
                          stderr=subprocess.PIPE) as job:
        try:
            assert any("finalizing" in line for line in job.stderr)
            # The other may not be in its receive yet, and on a busy machine nothing may move between two looks.
            looks = []

            def are_in_place():
                looks.append(look(job.pid))
                verdict, status, first, second = looks[-1]
                assert (verdict, status) in (expected, ("unknown", 3)), looks[-1]
                return (verdict, status) == expected and second.get("call") == "MPI_Recv" and (recorded or is_at_work(first))

            wait_until(are_in_place, lambda: looks[-1])
            go.touch()
            assert ended(job) == 0
        finally:
            job.terminate()
