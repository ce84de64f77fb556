# SPDX-License-Identifier: BSD-3-Clause
"""A patched Open MPI on PML ucx: what its records prove, what they do not, and a job that does not hang.
MPIQ_OMPI_UCX names the prefix of one: `ompi-patch/build` makes none, since not every machine has UCX."""
import os
import pathlib
import re
import subprocess

import pytest

import corpus
from support import job as jobs
from support import libraries

UCX = os.environ.get("MPIQ_OMPI_UCX")
LOOKS = int(os.environ.get("MPIQ_LOOKS", "7"))


class Line(libraries.Line):
    """It, with the options that make it take UCX on one machine."""

    def launch(self, ranks, exported, directory, two_hosts=False):
        return super().launch(ranks, exported, directory, two_hosts) + libraries.OPTIONS["ucx"]


@pytest.fixture(name="case", scope="module")
def fixture_case(programs):
    """Starts a case of the corpus; gives the job once all ranks are ready."""
    if not UCX:
        pytest.skip("MPIQ_OMPI_UCX names no patched Open MPI that has PML ucx")
    said = subprocess.run([pathlib.Path(UCX) / "bin" / "mpirun", "--version"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    line = Line(re.search(r"\d+\.\d+", said)[0], UCX)
    started = []

    def start(name):
        case = next(case for case in corpus.load() if case.name == name)
        executable = corpus.compile_family(line, case.family, programs / "ucx")
        started.append(jobs.Job(line, [executable, case.program], case.ranks))
        started[-1].wait_ready()
        return started[-1]

    yield start
    for job in started:
        job.end()


@pytest.mark.parametrize("name, told", [
    # One rank is in another collective than the others: no message on its way can change that.
    ("barrier_allreduce_swapped", "rank 1 called MPI_Allreduce"),
    # Two communicators' barriers in opposite order: each waits for a member that is in the other one.
    ("barriers_in_opposite_order_4", "entered in opposite order"),
])
def test_what_needs_no_message_is_proven(case, mpiq, name, told):
    job = case(name)
    job.stand_still()
    answer = mpiq("--json", job.pid)
    assert (answer.status, answer.json["verdict"]) == (1, "deadlock")
    assert answer.json["job"]["source"] == "patched"
    finding = answer.json["findings"][0]
    assert finding["proven"] and told in finding["text"]


def test_a_broadcast_may_be_under_way(case, mpiq):
    """Who waits in MPI_Bcast for a message that may come is not proven to be stuck."""
    job = case("bcast_skipped")
    job.stand_still()
    answer = mpiq("--json", job.pid)
    assert answer.json["verdict"] in ("unknown", "stalled")
    assert any("MPI_Bcast" in finding["text"] for finding in answer.json["findings"])


def test_receives_say_what_they_wait_for(case, mpiq):
    """The message may be under way: nothing is proven, and queues are not called empty."""
    job = case("wrong_tag")
    job.stand_still()
    answer = mpiq("--json", job.pid)
    assert (answer.status, answer.json["verdict"]) == (3, "unknown")
    waiting = [wait for rank in answer.json["ranks"] for wait in rank["waits_for"]["of"]]
    assert {wait["kind"] for wait in waiting} == {"receive"} and all(wait["tag"] >= 0 for wait in waiting)
    assert "Message queues are not known: PML ucx keeps its own." in mpiq(job.pid).out
    assert "no information: PML ucx" in mpiq("queues", job.pid).out


@pytest.mark.parametrize("name", ["halo_nonblocking", "every_collective_in_turn"])
def test_a_job_that_goes_on_is_never_called_stuck(case, mpiq, name):
    job = case(name)
    verdicts = {mpiq.json(job.pid)["verdict"] for _ in range(LOOKS)}
    assert verdicts <= {"running", "unknown"}, verdicts
