# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 at any moment at any process of ours: no rank stays stopped or traced, no process is left, the job's
result is right."""
import os
import pathlib
import random
import signal
import subprocess
import time
import uuid

import pytest

from support import job as jobs
from support.conditions import Deadline, ended
from support.harmless import assert_nothing_stopped, assert_right_result, end_marked, program

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3
# All of them: MPIQ_KILLS=200.
KILLS = int(os.environ.get("MPIQ_KILLS", "40"))
OURS = ("mpiq", "mpiq-reader", "mpiq-broker", "mpiq-dll-host")


@pytest.fixture
def checksum(line, programs):
    executable = line.compile([HERE.parent / "e2e" / "checksum.c"], programs / "checksum")
    with jobs.Job(line, [executable], RANKS) as job:
        job.wait_ready()
        yield job


def victim(generator, mark):
    """One of our processes; any kind as likely as another."""
    kinds = {}
    for pid in jobs.marked_processes(mark):
        if program(pid) in OURS:
            kinds.setdefault(program(pid), []).append(pid)
    if not kinds:
        return None, ""
    name = generator.choice(sorted(kinds))
    return generator.choice(kinds[name]), name


def seconds_of_a_look(mpiq, job, *options):
    """What one takes that nobody kills: moments are drawn from these."""
    begin = time.monotonic()
    mpiq(*options, "--pause", "0.02", job.pid)
    return time.monotonic() - begin


@pytest.mark.parametrize("options", [[], ["--stop"]], ids=["", "stop"])
def test_mpiq_killed_at_random_leaves_nothing(options, checksum, mpiq):
    generator = random.Random(12 + len(options))
    killed = {}
    longest = seconds_of_a_look(mpiq, checksum, *options)
    deadline = Deadline(500)
    while sum(killed.values()) < KILLS or KILLS >= 40 and set(killed) != set(OURS):
        assert not deadline.passed(), killed
        mark = f"mpiq-{uuid.uuid4().hex}"
        pid, name = None, ""
        process = mpiq.start(*options, "--pause", "0.02", checksum.pid, env={**os.environ, "MPIQ_TEST_JOB": mark})
        try:
            process.wait(generator.uniform(0, longest))
        except subprocess.TimeoutExpired:
            pid, name = victim(generator, mark)
            if pid:
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed[name] = killed.get(name, 0) + 1
                except ProcessLookupError:
                    pass
        # A job that works is running, whoever was killed; without one of its helpers mpiq may not know, nor where on a busy
        # machine nothing moves.  A signal may come when its process has just ended, and then changes nothing.
        allowed = {0, 3, -signal.SIGKILL} if pid == process.pid else {0, 3}
        assert ended(process) in allowed, (name, pid == process.pid)
        assert end_marked(mark) == []
        assert_nothing_stopped(checksum)
        if not pid: # it was over by itself
            longest = seconds_of_a_look(mpiq, checksum, *options)
    assert_right_result(checksum)
