# SPDX-License-Identifier: BSD-3-Clause
"""A hung job on a machine that has no processor to give: whatever cannot be read, it is never called running.

MPIQ_LOOKS says how many looks (10), MPIQ_BURNERS how many processes compete with the job for one processor (4), to which
all of them and mpiq are bound: other tests run on the others."""
import collections
import contextlib
import os
import subprocess
import sys

import pytest

from support import job as jobs
from support.solver_job import SOLVER

LOOKS = int(os.environ.get("MPIQ_LOOKS", "10"))
BURNERS = int(os.environ.get("MPIQ_BURNERS", "4"))


@contextlib.contextmanager
def one_processor():
    """What is started within has one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def load(count):
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


@pytest.mark.parametrize("library", ["openmpi", "mpich"])
def test_a_hung_job_is_never_running(mpiq, programs, library, tmp_path):
    """Debian's Open MPI as it is; MPICH under the recorder."""
    program = programs / f"busy-{library}"
    try:
        subprocess.run([f"mpicc.{library}", "-g", "-o", program, SOLVER, "-lm"], check=True)
    except FileNotFoundError:
        pytest.skip(f"mpicc.{library} is not installed")
    record = [mpiq.path, "record", "--"] if library == "mpich" else []
    mark = f"busy-{os.getpid()}-{library}"
    command = [f"mpirun.{library}", *(["--oversubscribe"] if library == "openmpi" else []), "-n", "4", *record,
               program, "--hang"]
    with (tmp_path / "out").open("w") as out, one_processor():
        launcher = subprocess.Popen(command, stdout=out, stderr=out,
                                    env={**os.environ, **jobs.AS_ROOT, "MPIQ_TEST_JOB": mark})
        try:
            mpiq.until(lambda answer: answer.status == 1, launcher.pid)
            verdicts = collections.Counter()
            with load(BURNERS):
                for _ in range(LOOKS):
                    answer = mpiq("report", str(launcher.pid))
                    verdicts[answer.status] += 1
                    assert answer.status in (1, 3, 4), answer.out
                    assert (answer.status == 1) == answer.out.startswith("deadlock: "), answer.out
                    if "could not be read" in answer.out:
                        assert "all 4 ranks read" not in answer.out
            print(dict(verdicts))
        finally:
            launcher.terminate()
            try:
                launcher.wait(30)
            except subprocess.TimeoutExpired:
                launcher.kill()
                launcher.wait()
