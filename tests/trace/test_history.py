# SPDX-License-Identifier: BSD-3-Clause
"""A hung job's last calls, written as a trace and read back: the same verdict, causes and places as live."""
import contextlib
import os
import shutil
import subprocess

import pytest

import archive
from support import answers, built
from support.conditions import wait_until

SOLVER = answers.ROOT / "examples" / "solver.c"
RANKS = 4

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1",
               "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(name="solver", params=["mpich", "openmpi"])
def fixture_solver(request, mpiq, tmp_path):
    """The hung solver under the recorder: its launcher's pid."""
    compiler, mpirun = f"mpicc.{request.param}", f"mpirun.{request.param}"
    if not shutil.which(compiler) or not shutil.which(mpirun):
        pytest.skip(f"{compiler} is not installed")
    built.built("lib/trace/mpiq-trace-writer")
    program, ready = tmp_path / "solver", tmp_path / "ready"
    subprocess.run([compiler, "-g", "-o", program, SOLVER], check=True, capture_output=True)
    environment = {**os.environ, **ENVIRONMENT, "MPIQ_RECORDER": str(built.recorder())}
    more = ["--oversubscribe"] if request.param == "openmpi" else []
    with subprocess.Popen([mpirun, *more, "-n", str(RANKS), mpiq.path, "record", "--", program, "--hang", "--ready", ready],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as job:
        try:
            wait_until(lambda: ready.exists() and len(ready.read_text().split()) == RANKS)
            wait_until(lambda: mpiq("report", job.pid).status == 1)
            yield job.pid
        finally:
            job.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(20)
            if job.poll() is None:
                job.kill()


def causes(answer):
    """The findings that are causes: what, who, and where."""
    found = []
    for finding in answer["findings"]:
        if "consequence_of" not in finding:
            sites = sorted((site.get("call"), os.path.basename(site.get("file", "")), site.get("line"), site["ranks"])
                           for site in finding.get("sites", []))
            found.append((finding["kind"], finding.get("ranks"), finding.get("missing"), finding.get("suspects"), sites))
    return found


def test_what_is_written_is_read_back(mpiq, solver, tmp_path):
    live = mpiq.json("report", solver)
    answer = mpiq("history", "--otf2", tmp_path / "trace", solver)
    assert answer.status == 0, answer.err
    anchor = tmp_path / "trace" / "traces.otf2"
    assert answer.err == f"mpiq: wrote the trace {anchor}\n"
    back = mpiq.json("report", anchor)
    assert back["verdict"] == live["verdict"] == "deadlock"
    assert causes(back) == causes(live)
    assert archive.events(anchor) # otf2-print has nothing to complain of
    assert sorted(file.name for file in (tmp_path / "trace").iterdir()) == ["traces", "traces.def", "traces.otf2"]


def test_a_directory_that_is_there(mpiq, solver, tmp_path):
    answer = mpiq("history", "--otf2", tmp_path, solver)
    assert answer.status == 2 and "a directory that is not there yet" in answer.err
