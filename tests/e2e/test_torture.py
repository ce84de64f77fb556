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
from support.harmless import assert_nothing_stopped, assert_right_result, end_marked

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3
SECONDS = int(os.environ.get("MPIQ_TORTURE", "8"))
LOOKS = SECONDS * 1000 // 60
AT_ONCE = 2
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
        status = process.wait(180) # a machine may be busy
        self.seconds.append(time.monotonic() - begin)
        return status


def test_torture(sturdy, mpiq):
    begin = time.monotonic()
    mark = f"mpiq-{uuid.uuid4().hex}"
    looks = Looks(sturdy, mpiq, mark)
    ends = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        while len(ends) < LOOKS or time.monotonic() < begin + SECONDS:
            assert sturdy.process.poll() is None, sturdy.output()
            seeds = range(len(ends), len(ends) + 10 * AT_ONCE)
            ends += pool.map(looks.one, seeds)
    spent = time.monotonic() - begin
    # 0: it runs, however many look at it.
    assert set(ends) <= {0, "killed"}, ends
    assert ends.count("killed") > len(ends) // 5 and ends.count(0) > len(ends) // 5
    assert end_marked(mark) == []
    assert_nothing_stopped(sturdy)
    assert_right_result(sturdy)
    print(f"{len(ends)} looks in {spent:.0f} s, {ends.count('killed')} killed, {ends.count(0)} said that it runs; "
          f"{sturdy.output().strip()}")
