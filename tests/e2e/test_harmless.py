# SPDX-License-Identifier: BSD-3-Clause
"""Whatever happens to mpiq or to gdb, the job goes on and comes to the right result."""
import os
import pathlib
import random
import shutil
import subprocess
import threading
import uuid

import pytest

from support import job as jobs
from support.answers import ROOT
from support.conditions import Deadline, wait_until
from support.harmless import assert_nothing_stopped, assert_right_result, end_marked

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


def kill_at_random_moments(job, start, longest, seed):
    """Starts something on the job and kills it, again and again."""
    generator = random.Random(seed)
    kills = 0
    deadline = Deadline(300)
    while kills < KILLS:
        assert not deadline.passed(), f"only {kills} were alive when their time to be killed came"
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
        # On a busy machine nothing may move between two readings: then nothing is known.
        mpiq.until(lambda answer: answer.json["verdict"] == "running", *options, checksum.pid,
                   never=("deadlock", "stalled", "finished"))
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
        wait_until(lambda: attached.exists() or process.poll() is not None, "gdb at the rank", seconds=120, every=0.005)
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
            # A rank that gets no processor between the two looks is not seen to poll.
            answer = mpiq.until(lambda answer: answer.json["verdict"] == "deadlock", *options, "--pause", "0.01", hung.pid,
                                never=("stalled", "finished"))
            assert {rank["state"] for rank in answer.json["ranks"]} == {"blocked"}
            assert not answer.json["notes"]
    finally:
        done.set()
        other.join()
