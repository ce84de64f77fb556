# SPDX-License-Identifier: BSD-3-Clause
"""An MPI library that mpiq knows nothing about: Debian's MPICH, stripped.  Each rank's call and line."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("MPIQ_MPICH", "/")) # where its Debian packages are unpacked
LIBRARIES = ROOT / "usr/lib/x86_64-linux-gnu"
INCLUDES = ROOT / "usr/include/x86_64-linux-gnu/mpich"
LAUNCHER = ROOT / "usr/bin/mpiexec.hydra"

pytestmark = pytest.mark.skipif(not LAUNCHER.exists() or not (INCLUDES / "mpi.h").exists(),
                                reason="no MPICH of Debian's here (mpich, libmpich-dev), nor in MPIQ_MPICH")


def build(source, target):
    compiler = "gfortran" if source.suffix == ".f90" else "gcc"
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    libraries = ["-lmpichfort", "-lmpich"] if compiler == "gfortran" else ["-lmpich"]
    modules = [f"-J{target.parent}"] if compiler == "gfortran" else []
    subprocess.run([compiler, "-g", "-O1", f"-I{INCLUDES}", *modules, source, "-o", target, f"-L{LIBRARIES}",
                    f"-Wl,-rpath-link={LIBRARIES}", *libraries], check=True)
    return target


class Job:
    """Three ranks under Hydra, in a session of their own."""

    def __init__(self, program, *arguments):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARIES)}
        self.process = subprocess.Popen([LAUNCHER, "-n", "3", program, *arguments], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT) # Hydra ends its ranks
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def line_of(source, what):
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if what in line)


def settled(mpiq, job, calls, seconds=30):
    """The answer once each rank is where it stays."""
    end = time.monotonic() + seconds
    while True:
        answer = mpiq("--json", job.process.pid)
        ranks = answer.json["ranks"] if answer.out else []
        if [rank.get("call", "") for rank in ranks] == calls or time.monotonic() > end:
            return answer
        time.sleep(0.2)


@pytest.mark.parametrize("name, function", [("hang_mpich.c", "mpi_exchange"), ("hang_mpif.f90", "hang"),
                                            ("hang_f08.f90", "exchange")])
def test_each_ranks_call_and_line(mpiq, tmp_path, name, function):
    source = HERE / name
    program = build(source, tmp_path / source.stem)
    with Job(program) as job:
        answer = settled(mpiq, job, ["MPI_Barrier", "MPI_Recv", "MPI_Barrier"])
    assert answer.status == 3
    assert answer.json["verdict"] == "unknown"
    assert answer.json["job"]["mpi"].startswith("MPICH ")
    assert answer.json["job"]["source"] == "stacks"
    assert answer.json["job"]["size"] == 3
    barrier, receive = line_of(source, "line of the barrier"), line_of(source, "line of the receive")
    assert [(rank["rank"], rank["call"], rank["site"]["line"], rank["site"]["function"])
            for rank in answer.json["ranks"]] == [
        (0, "MPI_Barrier", barrier, function), (1, "MPI_Recv", receive, function), (2, "MPI_Barrier", barrier, function)]


def test_mpiq_alone_finds_the_job(mpiq, tmp_path):
    program = build(HERE / "hang_mpich.c", tmp_path / "hang")
    with Job(program) as job:
        settled(mpiq, job, ["MPI_Barrier", "MPI_Recv", "MPI_Barrier"])
        answer = mpiq()
    if "several MPI jobs" in answer.err:
        pytest.skip("other MPI jobs run on this machine")
    assert answer.status == 3
    assert "MPI_Recv" in answer.out and "MPI_Barrier" in answer.out


def test_a_job_that_computes_runs(mpiq, tmp_path):
    source = HERE / "hang_mpich.c"
    program = build(source, tmp_path / "compute")
    with Job(program, "compute") as job:
        end = time.monotonic() + 30
        while True:
            answer = mpiq("--json", job.process.pid)
            done = answer.status == 0 and all(rank.get("site", {}).get("function") == "mpi_work"
                                              for rank in answer.json["ranks"])
            if done or time.monotonic() > end:
                break
            time.sleep(0.2)
    assert answer.status == 0
    assert [(rank["state"], rank["site"]["function"]) for rank in answer.json["ranks"]] == [("computing", "mpi_work")] * 3
