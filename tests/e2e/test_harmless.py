# SPDX-License-Identifier: BSD-3-Clause
"""Whatever happens to mpiq or to gdb, the job goes on and comes to the right result."""
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import uuid

import job as jobs
import pytest
from answers import ROOT

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3
KILLS = 10
LOOKS = 5


@pytest.fixture
def checksum(line, programs):
    """The job that knows its right result, at work."""
    executable = line.compile([HERE / "checksum.c"], programs / line.name / "checksum")
    with jobs.Job(line, [executable], RANKS) as job:
        job.wait_ready()
        yield job


def assert_right_result(job):
    """Told to stop, it ends by itself and has gone through every round undisturbed."""
    assert job.process.poll() is None, job.output()
    (job.directory / "stop").touch()
    assert job.wait(120) == 0, job.output()
    assert re.fullmatch(r"right after [1-9]\d* rounds\n", job.output())


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


def program(pid):
    """The name of a process's program; empty once it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def end_marked(mark):
    """What is left of those that carry the mark a while after they should have ended.

    Not gdb's own children: it forks one to learn what ptrace can do, which stops itself and stays so where gdb
    is killed at that moment."""
    end = time.monotonic() + 10
    while True:
        left = jobs.marked_processes(mark)
        if not left or time.monotonic() > end:
            break
        time.sleep(0.05)
    programs = {pid: program(pid) for pid in left}
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [f"{pid} {name}" for pid, name in programs.items() if name not in ("", "gdb")]


def kill_at_random_moments(job, start, longest, seed):
    """Starts something on the job and kills it, again and again."""
    generator = random.Random(seed)
    kills = 0
    end = time.monotonic() + 300
    while kills < KILLS:
        assert time.monotonic() < end, f"only {kills} were alive when their time to be killed came"
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


@pytest.mark.parametrize("options", [[], ["--stop"], ["--json", "--pause", "0"]], ids=["", "stop", "no-pause"])
def test_mpiq_killed(options, checksum, mpiq):
    kill_at_random_moments(
        checksum,
        lambda mark: mpiq.start(*options, checksum.pid, env={**os.environ, "MPIQ_TEST_JOB": mark}), 0.4, 1)
    assert_right_result(checksum)


@pytest.mark.parametrize("options", [[], ["--stop"]], ids=["", "stop"])
def test_mpiq_not_killed(options, checksum, mpiq):
    """Looked at again and again, also stopped while it is read: it is running, and goes on."""
    for _ in range(LOOKS):
        assert mpiq.json(*options, checksum.pid)["verdict"] == "running"
    assert_nothing_stopped(checksum)
    assert_right_result(checksum)


def test_gdb_killed(checksum, tmp_path):
    """gdb dies with our commands at work in it: the rank goes on."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    rank = next(pid for pid, rank in checksum.ready.items() if rank == 1)

    # Not before: gdb itself, killed as it attaches, leaves the process stopped.
    def start_gdb(mark):
        attached = tmp_path / mark
        process = subprocess.Popen(
            ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(rank),
             "-ex", f"shell touch {attached}",
             "-ex", f"source {ROOT / 'gdb-plugin' / 'mpi.py'}", "-ex", "mpi report"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "MPIQ_TEST_JOB": mark})
        while not attached.exists() and process.poll() is None:
            time.sleep(0.005)
        return process

    kill_at_random_moments(checksum, start_gdb, 0.5, 2)
    assert_right_result(checksum)


def test_two_at_once(hung, mpiq):
    """Somebody else's mpiq at work on the same ranks is no stop of theirs, and keeps nobody from an answer."""
    done = threading.Event()

    def look_again_and_again():
        while not done.is_set():
            mpiq("--stop", "--pause", "0", hung.pid)

    other = threading.Thread(target=look_again_and_again)
    other.start()
    try:
        for options in [[], ["--stop"]] * LOOKS:
            report = mpiq.json(*options, "--pause", "0.01", hung.pid)
            assert report["verdict"] == "deadlock"
            assert {rank["state"] for rank in report["ranks"]} == {"blocked"}
            assert not report["notes"]
    finally:
        done.set()
        other.join()
