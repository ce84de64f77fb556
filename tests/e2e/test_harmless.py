# SPDX-License-Identifier: BSD-3-Clause
"""Whatever happens to mpiq or to gdb, the job goes on and comes to the right result."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import uuid

import job as jobs
import pytest
from answers import ROOT

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3
ROUNDS = 4000
FEWEST_KILLS = 5


@pytest.fixture(scope="session")
def checksum(line, programs):
    return line.compile([HERE / "checksum.c"], programs / line.name / "checksum")


@pytest.fixture(scope="session")
def right_result(line, checksum):
    """What the program prints when nobody looks at it."""
    with jobs.Job(line, [checksum, ROUNDS], RANKS) as job:
        assert job.wait(120) == 0
        return job.output()


def thread_states(pid):
    """The states of all threads: R S D T t Z."""
    states = set()
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            states.add((thread / "stat").read_text().rsplit(")", 1)[1].split()[0])
        except OSError:
            pass
    return states


def assert_nothing_stopped(job):
    """No thread of a rank stays stopped or traced."""
    end = time.monotonic() + 10
    while job.process.poll() is None:
        stopped = {pid for pid in job.ready if jobs.carries(pid, job.mark) and thread_states(pid) & {"T", "t"}}
        if not stopped:
            return
        assert time.monotonic() < end, f"threads of {stopped} were left stopped"
        time.sleep(0.05)


def end_marked(mark):
    """What is left of those that carry the mark a while after they should have ended."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        left = jobs.marked_processes(mark)
        if not left:
            return []
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left


def kill_at_random_moments(job, start, longest, seed):
    """Starts and kills it until the job has ended; how often that was."""
    generator = random.Random(seed)
    kills = 0
    while job.process.poll() is None:
        mark = f"mpiq-{uuid.uuid4().hex}"
        process = start(mark)
        try:
            process.wait(generator.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
        process.wait()
        assert end_marked(mark) == [], "helpers outlived the one who started them"
        assert_nothing_stopped(job)
    return kills


@pytest.mark.parametrize("options", [[], ["--stop"], ["--json", "--pause", "0"]], ids=["", "stop", "no-pause"])
def test_mpiq_killed(options, start, checksum, right_result, mpiq):
    job = start([checksum, ROUNDS], RANKS)
    job.wait_ready()
    kills = kill_at_random_moments(
        job, lambda mark: mpiq.start(*options, job.pid, env={**os.environ, "MPIQ_TEST_JOB": mark}), 0.5, 1)
    assert job.wait(60) == 0
    assert job.output() == right_result
    assert kills >= FEWEST_KILLS


def test_mpiq_not_killed(start, checksum, right_result, mpiq):
    """Looked at again and again, and stopped while it is read."""
    job = start([checksum, ROUNDS], RANKS)
    job.wait_ready()
    looks = 0
    while job.process.poll() is None:
        answer = mpiq("--json", "--stop", job.pid)
        if job.process.poll() is None:
            assert answer.json["verdict"] in ("running", "finished"), answer.out
            looks += 1
    assert job.wait(60) == 0
    assert job.output() == right_result
    assert looks > 0


def test_gdb_killed(start, checksum, right_result):
    """gdb dies with our commands at work in it: the rank goes on."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    job = start([checksum, ROUNDS], RANKS)
    job.wait_ready()

    def start_gdb(mark):
        rank = next(pid for pid, rank in job.ready.items() if rank == 1)
        return subprocess.Popen(
            ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(rank),
             "-ex", f"source {ROOT / 'gdb-plugin' / 'mpi.py'}", "-ex", "mpi report"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "MPIQ_TEST_JOB": mark})

    kills = kill_at_random_moments(job, start_gdb, 2, 2)
    assert job.wait(60) == 0
    assert job.output() == right_result
    assert kills > 0
