# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests need: mpiq, Open MPI of each line, the example solver, running and hung."""
import pathlib
import shutil

import pytest

from support import conditions
from support import job as jobs
from support import built
from support import libraries
from support.answers import Mpiq
from support.built import mpiq_program
from support.solver_job import SOLVER, SolverJob

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="session", params=libraries.for_most_tests())
def line(request):
    """An Open MPI: this machine's under the recorder, or a patched one."""
    return built.line(request.param)


@pytest.fixture(scope="session")
def mpiq():
    return Mpiq(mpiq_program())


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="session")
def solver(line, programs):
    return line.compile([SOLVER], programs / line.name / "solver")


@pytest.fixture(scope="module")
def hung(line, solver):
    """The solver after its wrong turn; for tests that leave it as it is."""
    with SolverJob(line, solver, "--hang") as job:
        job.wait_for_last_step()
        job.stand_still()
        job.step_back()
        yield job


@pytest.fixture(scope="module")
def cores(hung, tmp_path_factory):
    """A core file of each rank, in the order of ranks."""
    if shutil.which("gcore") is None:
        pytest.skip("gcore is not installed: it comes with gdb")
    directory = tmp_path_factory.mktemp("cores")
    for rank, pid in sorted(hung.pids.items()):
        done = conditions.run(["gcore", "-o", directory / f"core-{rank}", str(pid)], seconds=120)
        assert done.returncode == 0, done.stderr
    return sorted(directory.glob("core-*"))


@pytest.fixture(scope="module")
def running(line, solver):
    """The solver, which goes on for longer than any test."""
    with SolverJob(line, solver, "--steps", "100000000") as job:
        job.wait_for_state(0, "R")
        yield job


@pytest.fixture
def start(line):
    """Starts jobs that end with the test: start(command, ranks)."""
    started = []

    def launch(command, ranks, **options):
        started.append(jobs.Job(line, command, ranks, **options))
        return started[-1]

    yield launch
    for job in started:
        job.end()
