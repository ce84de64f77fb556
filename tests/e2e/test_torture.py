# SPDX-License-Identifier: BSD-3-Clause
"""Looked at all the time, by an mpiq that is killed half of the time: the job comes to the right result.

For 8 seconds; MPIQ_TORTURE=60 goes on for a minute, and for a thousand looks."""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import time
import uuid

import pytest

from support import job as jobs
from support.answers import EXIT_STATUS
from support.conditions import Deadline, ended
from support.harmless import assert_nothing_stopped, assert_right_result, end_marked

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3
SECONDS = int(os.environ.get("MPIQ_TORTURE", "8"))
LOOKS = SECONDS * 1000 // 60
AT_ONCE = 2
ENDS = (0, "killed") # each for a fifth of the looks at least
OPTIONS = [[], ["--stop"], ["--json"], ["--stop", "--json"]]


@pytest.fixture(params=["checksum", "signals"])
def sturdy(request, line, programs):
    """A job that knows its right result, at work."""
    executable = line.compile([HERE / f"{request.param}.c"], programs / line.name / request.param, "-lrt")
    with jobs.Job(line, [executable], RANKS) as job:
        job.wait_ready()
        yield job


class Looks:
    """Looks at a job, of which half are to be killed in their course."""

    def __init__(self, job, mpiq, mark):
        self.job = job
        self.mpiq = mpiq
        self.mark = mark
        self.seconds = [0.1] # that each lasted which was let be

    def one(self, seed):
        """"killed", or mpiq's exit status."""
        generator = random.Random(seed)
        begin = time.monotonic()
        process = self.mpiq.start("--pause", "0.02", *OPTIONS[seed % len(OPTIONS)], self.job.pid,
                                  env={**os.environ, "MPIQ_TEST_JOB": self.mark})
        if generator.random() < 0.5:
            try:
                return process.wait(generator.uniform(0, self.seconds[-1]))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return "killed"
        status = ended(process, 120)
        self.seconds.append(time.monotonic() - begin)
        return status


def test_torture(sturdy, mpiq):
    begin = time.monotonic()
    mark = f"mpiq-{uuid.uuid4().hex}"
    looks = Looks(sturdy, mpiq, mark)
    ends = []
    deadline = Deadline(max(120, 10 * SECONDS))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        while len(ends) < LOOKS or time.monotonic() < begin + SECONDS or min(map(ends.count, ENDS)) < LOOKS // 5:
            assert sturdy.process.poll() is None, sturdy.output()
            assert not deadline.passed(), ends
            seeds = range(len(ends), len(ends) + 10 * AT_ONCE)
            ends += pool.map(looks.one, seeds)
    spent = time.monotonic() - begin
    # However many look at it: it runs, or, with no processor between two looks, nothing is known.
    assert set(ends) <= {*ENDS, EXIT_STATUS["unknown"]}, ends
    assert end_marked(mark) == []
    assert_nothing_stopped(sturdy)
    assert_right_result(sturdy)
    print(f"{len(ends)} looks in {spent:.0f} s, {ends.count('killed')} killed, {ends.count(0)} said that it runs; "
          f"{sturdy.output().strip()}")
