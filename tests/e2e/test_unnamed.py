# SPDX-License-Identifier: BSD-3-Clause
"""Ranks whose environment no longer says who they are, as setproctitle() leaves it: they have not ended.  And others whose
environment says that they are ranks."""
import pathlib
import shutil

import pytest

from support import built, libraries

SOURCE = pathlib.Path(__file__).with_name("unnamed.c")
DAEMON = pathlib.Path(__file__).with_name("daemon.c")
RANKS = 4


@pytest.fixture(scope="module", params=[*libraries.for_most_tests(), "mpich+record"])
def line(request):
    if "mpich" in request.param and not shutil.which("mpirun.mpich"):
        pytest.skip("no MPICH is installed")
    return built.line(request.param)


@pytest.fixture(scope="module")
def unnamed(line, programs):
    return line.compile([SOURCE], programs / line.name / "unnamed")


def begun(start, unnamed, first):
    job = start([unnamed, str(first)], RANKS)
    job.wait_ready()
    job.step_back()
    return job


def test_one_is_told_by_the_others(start, unnamed, mpiq):
    """It is the only one that it can be: read as any rank."""
    job = begun(start, unnamed, 3)
    answer = mpiq.until(lambda answer: answer.status == 0, job.pid, never=("deadlock", "stalled"))
    assert answer.json["job"]["ranks_seen"] == RANKS
    rank = next(rank for rank in answer.json["ranks"] if rank["rank"] == 3)
    assert (rank["state"], job.ready[rank["pid"]]) == ("computing", 3)


def test_of_two_nobody_knows_which_is_which(start, unnamed, mpiq):
    job = begun(start, unnamed, 2)
    answer = mpiq("--json", job.pid)
    assert (answer.status, answer.json["verdict"]) == (3, "unknown"), answer.out
    assert [rank["state"] for rank in answer.json["ranks"] if rank["rank"] >= 2] == ["unreadable"] * 2
    text = " ".join(mpiq(job.pid).out.split())
    pid = min(pid for pid, rank in job.ready.items() if rank >= 2)
    assert f"ranks 2-3: process: it may be process {pid}, whose environment does not say which rank it is" in text, text


def test_a_daemon_is_not_the_rank(start, line, programs, mpiq):
    """What rank 0 has left behind has its environment and maps its libraries."""
    job = start([line.compile([DAEMON], programs / line.name / "daemon")], RANKS)
    job.wait_ready()
    job.step_back()
    answer = mpiq.until(lambda answer: answer.status == 1, job.pid, never=("running", "stalled"))
    assert answer.json["job"]["ranks_seen"] == RANKS
    assert answer.json["findings"][0]["ranks"] in ("1", "0,2-3"), answer.out
