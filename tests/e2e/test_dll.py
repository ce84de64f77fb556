# SPDX-License-Identifier: BSD-3-Clause
"""mpiq --dll: the release's own message-queue library is read, a bad one costs no more than its answer."""
import os
import signal
import uuid

import pytest

from support import job as jobs
from support import libraries
from support.built import built
from support.conditions import ended, wait_until
from support.harmless import end_marked
from support.solver_job import SOLVER, SolverJob


@pytest.fixture(scope="module", params=["4.1-stock", "5.0-stock"])
def stock(request, programs):
    """The hung solver on an unpatched library, and that library's own DLL."""
    line = libraries.lines().get(request.param)
    dll = line and line.prefix / "lib" / "openmpi" / "libompi_dbg_msgq.so"
    if not line or not dll.exists():
        pytest.skip(f"{libraries.PREFIX_VARIABLES[request.param]} names no Open MPI with its DLL")
    solver = line.compile([SOLVER], programs / line.name / "solver")
    with SolverJob(line, solver, "--hang") as job:
        job.wait_for_last_step()
        job.stand_still()
        yield job, dll


def test_what_such_a_library_does_not_record(stock, mpiq):
    """No receive is said not to be waited for, and who is in a collective is told by the stacks."""
    job, _ = stock
    posted = mpiq.json("queues", job.pid)["ranks"][1]["receives"][0]
    assert posted.get("blocked", True)
    text = mpiq("collectives", job.pid).out
    assert "How often collectives were called is not known for ranks 0-3" in text
    assert "\n  now in MPI_Bcast: ranks 0,2-3\n  now in MPI_Recv: rank 1\n" in text


def bad(name):
    return built(f"tests/rank/{name}_dll.so")


@pytest.fixture
def any_hung(line, hung):
    """The hung solver on one library: what a DLL of nobody's does is the same on each."""
    if line.name != libraries.for_most_tests()[0]:
        pytest.skip(f"it is the same on {libraries.for_most_tests()[0]}")
    return hung


def test_the_stock_dll_by_mpiq(stock, mpiq):
    job, dll = stock
    comms = mpiq.json("comms", "--dll", dll, job.pid)["communicators"]
    assert {comm["name"]: comm["members"] for comm in comms}["MPI_COMM_WORLD"] == "0-3"
    ranks = mpiq.json("queues", "--dll", dll, job.pid)["ranks"]
    assert [len(rank["receives"]) for rank in ranks] == [0, 1, 0, 0]
    posted = ranks[1]["receives"][0]
    assert (posted["peer"], posted["tag"], posted["bytes"]) == (3, 99, 8)
    assert posted["communicator"] == "MPI_COMM_WORLD"


# What each does, by place and manner (tests/rank/plain_dll.h), and how it is told.
@pytest.mark.parametrize("name, where, words", [
    ("crashing", "11", "crashed (signal 11, Segmentation fault) while preparing for the program"),
    ("crashing", "22", "crashed (signal 6, Aborted) while preparing for the process"),
    pytest.param("looping", "21", "timed out after", marks=pytest.mark.whole), # for half a minute of processor time
    ("lying", "11", "the program cannot be prepared for reading: error 4242"),
])
def test_with_a_bad_dll_the_stacks_still_show_what_ranks_do(name, where, words, any_hung, mpiq):
    """No rank is left out: what it is doing is known from its stack, and why there is no more is said.  That
    ranks which are seen in a call twice run on, nobody says."""
    mark = f"mpiq-{uuid.uuid4().hex}"
    answer = mpiq("--dll", bad(name), any_hung.pid, env={**os.environ, "MPIQ_TEST_WHERE": where, "MPIQ_TEST_JOB": mark})
    assert answer.status == 3, answer.out + answer.err
    assert answer.out.startswith("unknown: only stacks and the arguments of calls could be read (")
    # Where only queues cannot be read, the ranks are.
    assert ("; 0 of 4 ranks read)" in answer.out) == (name != "lying"), answer.out
    assert words in " ".join(answer.out.split()), answer.out
    assert "MPI_Bcast" in answer.out and "MPI_Recv" in answer.out
    assert end_marked(mark) == []


def test_a_looping_dll_ends_with_mpiq(any_hung, mpiq):
    """However mpiq ends, and whatever the helper's DLL is at."""
    for number in (signal.SIGKILL, signal.SIGINT):
        mark = f"mpiq-{uuid.uuid4().hex}"
        process = mpiq.start("--dll", bad("looping"), any_hung.pid,
                             env={**os.environ, "MPIQ_TEST_WHERE": "21", "MPIQ_TEST_JOB": mark})
        wait_until(lambda: len(jobs.marked_processes(mark)) >= 2 or process.poll() is not None, "a helper")
        assert process.poll() is None
        process.send_signal(number)
        ended(process)
        assert end_marked(mark) == []
