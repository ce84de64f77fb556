# SPDX-License-Identifier: BSD-3-Clause
"""Communicators with long names that are not ASCII: whatever the library cuts off, the ranks are read."""
import pathlib
import shutil

import pytest

from support import built, libraries

SOURCE = pathlib.Path(__file__).with_name("names.c")
NAMES = ["\u00e9" * 31, "\ufffd" * 21] # 63 bytes at most


@pytest.fixture(scope="module", params=[*libraries.for_most_tests(), "openmpi", "mpich+record"])
def line(request):
    if "mpich" in request.param and not shutil.which("mpirun.mpich"):
        pytest.skip("no MPICH is installed")
    return built.line(request.param)


def names(answer):
    """Those of the communicators on which rank 0 and rank 1 receive."""
    cycle, = answer.json["findings"]
    assert (cycle["kind"], cycle["ranks"]) == ("wait_cycle", "0-1"), answer.out
    return [entry["waits_for"]["of"][0]["communicator"] for entry in cycle["evidence"]]


def test_a_name_that_is_cut(start, line, programs, mpiq, tmp_path):
    job = start([line.compile([SOURCE], programs / line.name / "names")], 2)
    job.wait_ready()
    job.step_back()
    answer = mpiq.until(lambda answer: answer.status == 1, job.pid, never=("running", "stalled"))
    assert names(answer) == NAMES
    snapshot = tmp_path / "names.mpiq"
    assert mpiq("snapshot", job.pid, "-o", snapshot).status == 0
    assert names(mpiq("--json", snapshot)) == NAMES
