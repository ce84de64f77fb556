# SPDX-License-Identifier: BSD-3-Clause
"""Looked at all the time, by an mpiq that is killed half of the time: the job comes to the right result.

For 8 seconds; MPIQ_TORTURE=60 goes on for a minute, and for a thousand looks."""
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import time
import uuid

import job as jobs
import pytest
from test_harmless import assert_nothing_stopped, assert_right_result, end_marked

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 3
SECONDS = int(os.environ.get("MPIQ_TORTURE", "8"))
LOOKS = SECONDS * 1000 // 60
AT_ONCE = 2
LONGEST = 0.3
OPTIONS = [[], ["--stop"], ["--json"], ["--stop", "--json"]]


@pytest.fixture(params=["checksum", "signals"])
def sturdy(request, line, programs):
    """A job that knows its right result, at work."""
    executable = line.compile([HERE / f"{request.param}.c"], programs / line.name / request.param, "-lrt")
    with jobs.Job(line, [executable], RANKS) as job:
        job.wait_ready()
        yield job


def look(job, mpiq, seed, mark):
    """One look; "killed", or mpiq's exit status."""
    generator = random.Random(seed)
    said = job.directory / f"look-{seed}"
    with open(said, "wb") as out:
        process = mpiq.start("--pause", "0.02", *OPTIONS[seed % len(OPTIONS)], job.pid, stdout=out,
                             env={**os.environ, "MPIQ_TEST_JOB": mark})
    if generator.random() < 0.5:
        try:
            process.wait(generator.uniform(0, LONGEST))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "killed"
    status = process.wait(180) # a machine may be busy
    # Another of us may just hold a rank still, which is no news about the job.
    held = status == 1 and re.match(r'stalled: |{"schema":1,"verdict":"stalled"', said.read_text())
    return "held" if held else status


def test_torture(sturdy, mpiq):
    begin = time.monotonic()
    mark = f"mpiq-{uuid.uuid4().hex}"
    ends = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        while len(ends) < LOOKS or time.monotonic() < begin + SECONDS:
            assert sturdy.process.poll() is None, sturdy.output()
            seeds = range(len(ends), len(ends) + 10 * AT_ONCE)
            ends += pool.map(lambda seed: look(sturdy, mpiq, seed, mark), seeds)
    spent = time.monotonic() - begin
    # 0: it runs.  3: two that look at once are in each other's way.
    assert set(ends) <= {0, 3, "held", "killed"}, ends
    assert ends.count("killed") > len(ends) // 5 and ends.count(0) > len(ends) // 5
    assert end_marked(mark) == []
    assert_nothing_stopped(sturdy)
    assert_right_result(sturdy)
    print(f"{len(ends)} looks in {spent:.0f} s, {ends.count('killed')} killed, {ends.count(0)} said that it runs; "
          f"{sturdy.output().strip()}")
